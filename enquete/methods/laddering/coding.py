"""Codes by a model: the concepts of all interviews, type by type, through the coder that Delphi has, too
(respondents/themes).

Batches propose codes, merges join them; then every concept, up to two hundred a type, is given to the codes once more
by a coder who was not shown who was given to them: agreement is Krippendorff's α between the two. A type whose coding
fails has the rule's codes (network.py). Measured by: tests of the shared coder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.methods.laddering.interview import LadderingInterview
from enquete.methods.laddering.knowledge import KnowledgeGraph
from enquete.methods.laddering.network import Place, PooledConcept, numbered, pool, without_opposites
from enquete.methods.laddering.settings import InterviewMethod
from enquete.respondents import rule_coder as rules
from enquete.respondents.roles import normal
from enquete.respondents.themes import Work, agreement, assign_themes, code_themes
from enquete.state.asking import Language
from enquete.state.interview_context import REHEARSAL, InterviewContext, InterviewerTask

PINNED = "codes"
MOST_CODES = 40  # of one type


class Code(BaseModel):
    """A code as the file holds it; `agents` is for the reader and is counted anew."""

    model_config = ConfigDict(extra="forbid")

    id: str
    label: str = Field(min_length=1)
    type: str
    definition: str = ""
    agents: int = 0
    wordings: list[str] = Field(min_length=1)
    opposite: str = ""


class Codebook(BaseModel):
    model_config = ConfigDict(extra="forbid")

    codes: list[Code]


class Coded(BaseModel):
    """As it is pinned. alpha: by type, of the two codings; None where there is nothing to tell apart. failed: types of
    which no coding could be read."""

    codes: list[Code]
    alpha: dict[str, float | None] = {}
    failed: list[str] = []


async def code_concepts(
    context: InterviewContext,
    interviews: Sequence[LadderingInterview],
    method: InterviewMethod,
    topic: str,
    language: Language,
) -> Literal["end", "short"]:
    """Pin the codes of all interviews. A coding that fails leaves the rule's codes: no answer waits for it."""
    if context.pinned(PINNED) is not None:
        return "end"
    work: Work = partial(_rehearsed, context) if context.run == REHEARSAL else context.work
    codes, alpha, failed = list[Code](), dict[str, float | None](), list[str]()
    for kind, texts in _by_type(interviews).items():
        about = f"{topic}: {method.node_types[kind].label.in_(language)}"
        statements = [rules.Statement(id=f"{kind}|{place:05}", text=text) for place, text in enumerate(texts)]
        first = await code_themes(work, about, statements, MOST_CODES, label=f"codes/{kind}")
        if first == "short":
            return "short"
        if isinstance(first, str):
            failed.append(kind)
            continue
        briefs = [
            rules.ThemeBrief(id=theme.id, label=theme.label, description=theme.description) for theme in first.themes
        ]
        again = await assign_themes(work, about, briefs, statements, label=f"codes/{kind}/second")
        if again == "short":
            return "short"
        codes += _codes(kind, first, {statement.id: statement.text for statement in statements}, len(codes))
        coding = {theme.id: theme.statements for theme in first.themes}
        alpha[kind] = None if isinstance(again, str) else agreement(coding, again).alpha
    await context.pin(PINNED, Coded(codes=codes, alpha=alpha, failed=failed).model_dump(mode="json"))
    return "end"


async def _rehearsed(context: InterviewContext, task: InterviewerTask[Any]) -> Any:
    """Work of a coder as a rehearsal does it: replies as long as a model's, without the rule's seconds of
    clustering."""
    return await context.work(replace(task, rule=STAND_INS[task.result]))


def _threes(data: rules.BatchInput) -> rules.BatchThemes:
    """A code for every three concepts, in the order they come."""
    groups = [data.statements[start : start + 3] for start in range(0, len(data.statements), 3)]
    return rules.BatchThemes(themes=[
        rules.DraftTheme(label=group[0].text, description=group[-1].text, statement_ids=[each.id for each in group])
        for group in groups
    ])  # fmt: skip


def _firsts(data: rules.AssignInput) -> rules.Assignments:
    return rules.Assignments(assignments=[rules.Assignment(statement=s.id, themes=["t1"]) for s in data.statements])


STAND_INS: Mapping[type[BaseModel], Any] = {
    rules.BatchThemes: _threes,
    rules.MergedThemes: lambda data: rules.MergedThemes(themes=[]),
    rules.Assignments: _firsts,
}


def _by_type(interviews: Iterable[LadderingInterview]) -> Mapping[str, list[str]]:
    """Different words of each type, in their order."""
    words: dict[str, dict[str, str]] = {}
    for interview in interviews:
        for node in interview.graph.standing.nodes.values():
            words.setdefault(node.type, {}).setdefault(normal(node.text), node.text)
    return {kind: [texts[name] for name in sorted(texts)] for kind, texts in sorted(words.items())}


def _codes(kind: str, coded: rules.CodedThemes, texts: Mapping[str, str], before: int) -> Iterator[Code]:
    """One code a concept: that of the most voiced theme it was given to; opposites are held apart, as without a
    model."""
    given: set[str] = set()
    number = before
    for theme in coded.themes:
        fresh = [texts[name] for name in theme.statements if name not in given]
        given.update(theme.statements)
        for part, group in enumerate(without_opposites(fresh, range(len(fresh)))):
            number += 1
            wordings = [fresh[place] for place in group]
            label = theme.label if not part else wordings[0]
            yield Code(id=f"c{number}", label=label, type=kind, definition=theme.description, wordings=wordings)


def concepts_of(
    interviews: Sequence[LadderingInterview], stored: JsonValue
) -> tuple[list[PooledConcept], dict[str, Any]]:
    """The codes that a model gave, the rule's for concepts it gave none; who coded, the definitions and the
    agreement."""
    coded = Coded.model_validate(stored) if isinstance(stored, dict) else Coded(codes=[])
    if not coded.codes:
        return pool(interviews), {"by": "rule", "alpha": {}, "definitions": {}, "by_rule": 0, "failed": coded.failed}
    codes = [code for code in assigned(Codebook(codes=coded.codes), interviews)[0] if code.members]
    taken = {place for code in codes for place in code.members}
    rest = pool(only(interviews, lambda place: place not in taken))
    written = {code.id: code.definition for code in coded.codes}
    definition = {code.members: written[code.id] for code in codes}
    concepts = numbered([*codes, *rest])
    definitions = {code.id: definition[code.members] for code in concepts if code.members in definition}
    by = {"by": "model", "alpha": coded.alpha, "definitions": definitions, "by_rule": len(rest), "failed": coded.failed}
    return concepts, by


def assigned(book: Codebook, interviews: Sequence[LadderingInterview]) -> tuple[list[PooledConcept], int]:
    """The codes with the concepts whose words they list, the most widespread first, and how many concepts no code
    lists.

    Words that two codes list are the code's of the concept's own type.
    """
    homes: dict[str, list[Code]] = {}
    for code in book.codes:
        for text in code.wordings:
            homes.setdefault(normal(text), []).append(code)
    members: dict[str, list[Place]] = {code.id: [] for code in book.codes}
    uncoded = 0
    for interview in interviews:
        for node in interview.graph.standing.nodes.values():
            codes = homes.get(normal(node.text), [])
            uncoded += not codes
            for code in sorted(codes, key=lambda home: home.type != node.type)[:1]:
                members[code.id].append((interview.unit, node.id))
    concepts = [
        PooledConcept(code.id, code.label, code.type, tuple(members[code.id]), tuple(code.wordings), code.opposite)
        for code in book.codes
    ]
    return sorted(concepts, key=lambda concept: -concept.agents), uncoded


def only(interviews: Sequence[LadderingInterview], wanted: Callable[[Place], bool]) -> list[LadderingInterview]:
    """With these concepts alone, and the links between them."""
    selected = []
    for interview in interviews:
        whole = interview.graph.standing
        nodes = {name: node for name, node in whole.nodes.items() if wanted((interview.unit, name))}
        edges = {key: edge for key, edge in whole.edges.items() if {edge.source, edge.target} <= nodes.keys()}
        selected.append(LadderingInterview(interview.unit, graph=KnowledgeGraph(nodes, edges)))
    return selected
