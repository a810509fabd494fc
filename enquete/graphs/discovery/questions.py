"""What to ask next, and in which words: chosen by what the record lacks, worded by a model or by a rule."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, JsonValue

from enquete.graphs.discovery.record import Contradiction, Path
from enquete.graphs.discovery.schema import DiscoverySchema, Node
from enquete.locale import N_, in_language
from enquete.respondents.quoting import fence, normal
from enquete.respondents.roles import Role
from enquete.state.asking import Language

MOST_WORDS = 60
LAST_TURNS = 8  # of the transcript that the interviewer sees

_WORDS: Mapping[str, str] = {
    "ask": N_("What can you tell me about this: {label}?"),
    "ask_again": N_("I would like to come back to this: {label}. What comes to mind when you think of it?"),
    "ask_once_more": N_("Once more, in your own words: {label} – how is that with you?"),
    "ask_of": N_("About “{entry}”: what can you tell me about {label}?"),
    "ask_of_again": N_("Back to “{entry}” for a moment: {label} – how is that?"),
    "more": N_("You have named {known}. What else belongs to it?"),
    "contradiction": N_(
        "On {label} you once said “{earlier}” and then “{later}”. Which of the two is right, or when does which hold?"
    ),
    "task": N_("Word the next question of an interview. It is to find out: {objective}"),
    "fields": N_("What is to be known (path: what it is)"),
    "lacks": N_("Still missing, the most pressing first"),
    "record": N_("Known so far"),
    "transcript": N_("The conversation so far"),
    "question": N_("Question"),
    "answer": N_("Answer"),
    "rules": N_(
        "Exactly one open question of at most {words} words, in the respondent's own words, without jargon and without "
        "suggesting an answer; repeat none that was asked. `about` is the path that it asks for."
    ),
}


class Target(BaseModel):
    """What a question may ask for. `asked`: how often it was already; `contradiction`: the two things said about it."""

    model_config = ConfigDict(frozen=True)

    path: Path
    label: str
    entry: str = ""  # of a list, that it is about
    question: str = ""
    known: tuple[str, ...] = ()  # keys of a list that has entries
    asked: int = 0
    closing: bool = False
    contradiction: Contradiction | None = None


class QuestionInput(BaseModel):
    """For wording a question. targets: the most pressing first."""

    objective: str
    fields: list[str]
    targets: list[Target]
    record: dict[str, Any]
    transcript: list[tuple[str, str]]
    language: Language = "en"


class QuestionOut(BaseModel):
    """`about`: the path of the target, its steps joined by a slash."""

    question: str
    about: str = ""


def targets(
    schema: DiscoverySchema,
    record: Mapping[str, Any],
    asked: Sequence[Path],
    open_: Sequence[Contradiction],
    optional: Sequence[Path],
    language: Language,
) -> list[Target]:
    """Contradictions first, each once; then what the completion lacks, by how often it was asked, then what
    is optional; what closes an interview comes last."""
    found = [
        _target(schema, one.path, asked, language).model_copy(update={"contradiction": one, "asked": 0})
        for one in open_
    ]
    lacking = [_target(schema, path, asked, language, record) for path in schema.completion.lacking(record)]
    if any(one.closing and one.asked for one in lacking):  # there is more, or nobody said that there is not
        lists = [node for node in schema.nodes.values() if node.field.type in ("list", "texts")]
        lacking += [_target(schema, node.path, asked, language, record) for node in lists]
    lacking += [_target(schema, path, asked, language) for path in optional]
    distinct: dict[Path, Target] = {}
    for one in lacking:
        distinct.setdefault(one.path, one)
    return [*found, *sorted(distinct.values(), key=lambda one: (one.asked, one.closing))]


def _target(
    schema: DiscoverySchema,
    path: Path,
    asked: Sequence[Path],
    language: Language,
    record: Mapping[str, Any] | None = None,
) -> Target:
    node = schema.at(path)
    if node is None:
        raise RuntimeError(f"the completion of {schema.id} lacks {path}, which is no field")
    entries = (record or {}).get(path[0]) if len(path) == 1 and node.field.type == "list" else None
    known = tuple(str(entry[str(node.field.key)]) for entry in entries or ())
    worded = (node.field.more if known else None) or node.field.question
    return Target(
        path=path,
        label=node.field.label.in_(language),
        entry=entry_of(schema, path),
        question=worded.in_(language) if worded else "",
        known=known,
        asked=sum(one == path for one in asked),
        closing=node.field.closing,
    )


def entry_of(schema: DiscoverySchema, path: Path) -> str:
    """The key of the innermost entry that a path runs through; "" for none."""
    entry, nodes, steps = "", schema.nodes, list(path)
    while steps:
        node = nodes[steps.pop(0)]
        if node.field.type == "list" and steps:
            entry = steps.pop(0)
        nodes = node.children
    return entry


def ask_by_rule(data: QuestionInput) -> QuestionOut:
    """About the most pressing: in the schema's own words the first time, in others after that."""
    words, target = in_language(_WORDS, data.language), data.targets[0]
    return QuestionOut(question=_worded(words, target), about="/".join(target.path))


def _worded(words: Mapping[str, str], target: Target) -> str:
    if target.contradiction is not None:
        earlier, later = (told_value(one) for one in (target.contradiction.earlier, target.contradiction.later))
        return words["contradiction"].format(label=target.label, earlier=earlier, later=later)
    if target.entry:
        return words["ask_of" if not target.asked else "ask_of_again"].format(entry=target.entry, label=target.label)
    if target.known:
        return f"{words['more'].format(known=', '.join(target.known))} {target.question}".strip()
    again = ("ask", "ask_again", "ask_once_more")[min(target.asked, 2)]
    return target.question if target.question and not target.asked else words[again].format(label=target.label)


def told_value(value: object) -> str:
    return (
        ", ".join(map(told_value, value))
        if isinstance(value, list | tuple)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def question_prompt(data: QuestionInput, language: Language) -> str:
    words = in_language(_WORDS, language)
    said = [
        f"{words['question']}: {asked}\n{words['answer']}: {answer}" for asked, answer in data.transcript[-LAST_TURNS:]
    ]
    record = json.dumps(data.record, ensure_ascii=False)
    parts = [
        words["task"].format(objective=data.objective),
        f"{words['fields']}:\n" + "\n".join(f"- {line}" for line in data.fields),
        f"{words['record']}:\n{fence('record', record)}" if data.record else "",
        f"{words['transcript']}:\n{fence('transcript', chr(10).join(said))}" if said else "",
        f"{words['lacks']}:\n{fence('missing', chr(10).join(_lacks(words, data.targets)))}",
        words["rules"].format(words=MOST_WORDS),
    ]
    return "\n\n".join(part for part in parts if part)


def _lacks(words: Mapping[str, str], wanted: Sequence[Target]) -> Iterator[str]:
    for target in wanted[:8]:
        yield f"- {'/'.join(target.path)}: {_worded(words, target) if target.contradiction else target.label}"


def question_schema(data: QuestionInput) -> dict[str, JsonValue]:
    paths: list[JsonValue] = list(dict.fromkeys("/".join(target.path) for target in data.targets))
    return {
        "type": "object",
        "properties": {"question": {"type": "string"}, "about": {"type": "string", "enum": paths}},
        "required": ["question", "about"],
        "additionalProperties": False,
    }


def fit_to_ask(data: QuestionInput, made: QuestionOut) -> QuestionOut | None:
    """One question that was not asked, about what is missing; else the rule asks."""
    text = " ".join(made.question.split())
    repeated = normal(text) in {normal(asked) for asked, _ in data.transcript}
    if not text or repeated or len(text.split()) > MOST_WORDS or len(re.findall(r"\?", text)) > 2:
        return None
    known = {"/".join(target.path) for target in data.targets}
    about = made.about if made.about in known else "/".join(data.targets[0].path)
    return QuestionOut(question=text, about=about)


def outline(schema: DiscoverySchema, language: Language) -> list[str]:
    """The fields as an interviewer reads them: path, what it is, unit, the closed list."""
    return [_line(node, language) for node in schema.walk()]


def _line(node: Node, language: Language) -> str:
    field = node.field
    told = (field.description or field.label).in_(language)
    unit = f" ({field.unit.in_(language)})" if field.unit else ""
    listed = "; ".join(f"{each} = {value.label.in_(language)}" for each, value in field.values.items())
    return f"{'/'.join(node.path)}: {told}{unit}{f' [{listed}]' if listed else ''}"


ASKER = Role(
    "question", question_prompt, QuestionOut, ask_by_rule, question_schema, fit_to_ask, setting="question", opens=True
)
