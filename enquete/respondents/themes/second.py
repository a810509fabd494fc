"""A second coding: the statements once more, by a coder who is shown the themes but not who was given to them.

Batches and themes stand in another order than in the first coding (by a hash of their ids), so that a habit of reading
from the top is not counted as agreement. Of many statements an even sample is coded. Measured by Krippendorff's α against
the first coding (analysis/coding_agreement.py). By a model it is a second reading of the same model, not a second mind.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from enquete.analysis.agreement import CodingAgreement, coding_agreement
from enquete.respondents.roles import Role
from enquete.respondents.themes.coded import (
    AssignInput,
    Assignment,
    Assignments,
    SecondCoding,
    Statement,
    ThemeBrief,
)
from enquete.respondents.themes.coding import MAX_OUTPUT_TOKENS, Stopped, Work, bare, batches
from enquete.respondents.themes.coding_prompts import assign_prompt, assign_schema, handles, theme_handles
from enquete.respondents.themes.rule_coder import features, sentences_of

MOST_STATEMENTS = 200
"""α of 200 statements is known to about ±.07 where three in four agree; more would cost calls and hardly move it."""

CLOSE = 0.08  # cosine similarity to a theme's words from which the rule lets a sentence raise it


def agreement(first: Mapping[str, Iterable[str]], again: SecondCoding) -> CodingAgreement:
    """Of the first coding, theme → statements, with the second over the statements that this one was given."""
    sets: dict[str, set[str]] = {name: set() for name in again.statements}
    for theme, statements in first.items():
        for name in statements:
            if name in sets:
                sets[name].add(theme)
    return coding_agreement(sets, again.statements)


def sample(statements: Sequence[Statement], most: int = MOST_STATEMENTS) -> list[Statement]:
    """At most `most` statements with a text, chosen and ordered by a hash of their ids: the same in every run."""
    spoken = [statement for statement in statements if statement.text.strip()]
    return sorted(spoken, key=lambda statement: _shuffled(statement.id))[:most]


async def assign_themes(
    work: Work, topic: str, themes: Sequence[ThemeBrief], statements: Sequence[Statement], *, label: str
) -> SecondCoding | Stopped:
    """Give a sample of the statements to the themes, batch by batch, and put the replies together.

    work: the desk's `work`; its calls are filed under purpose "theme", subjects "<label>/batch 3". "short" or "failed" if
    any of them was, with nothing lost: settled calls are found again. Without themes or statements there is no call.
    """
    chosen = sample(statements)
    briefs = sorted(themes, key=lambda theme: _shuffled(theme.id))
    inputs = (
        [AssignInput(topic=topic, themes=briefs, statements=batch) for batch in _reordered(chosen)] if briefs else []
    )
    tasks = [SECOND_CODER.task(f"{label}/batch {number}", data) for number, data in enumerate(inputs, 1)]
    results: list[Assignments | Stopped] = await asyncio.gather(*(work(task) for task in tasks))
    for stopped in ("failed", "short"):
        if stopped in [result for result in results if isinstance(result, str)]:
            return "failed" if stopped == "failed" else "short"
    found = [(data, one) for data, one in zip(inputs, results, strict=True) if not isinstance(one, str)]
    return _together(found, [statement.id for statement in chosen], len([s for s in statements if s.text.strip()]))


def _shuffled(name: str) -> str:
    return hashlib.sha256(f"second coding\x1f{name}".encode()).hexdigest()


def _reordered(statements: Sequence[Statement]) -> list[list[Statement]]:
    """Batches as of the first coding's size, of statements that did not stand together there."""
    renamed = {f"{place:06}": statement for place, statement in enumerate(statements)}
    stand_ins = [Statement(id=place, text=statement.text) for place, statement in renamed.items()]
    return [[renamed[one.id] for one in batch] for batch in batches(stand_ins)]


def _together(
    found: Sequence[tuple[AssignInput, Assignments]], sampled: Sequence[str], n_statements: int
) -> SecondCoding:
    """Replies with full ids. A statement named twice has the themes of both; what does not exist is counted."""
    coded: dict[str, set[str]] = {}
    unknown = 0
    for data, reply in found:
        statements = {**handles(data.statements), **{s.id: s.id for s in data.statements}}
        themes = {
            **{handle: t.id for handle, t in theme_handles(data.themes).items()},
            **{t.id: t.id for t in data.themes},
        }
        for one in reply.assignments:
            name = statements.get(bare(one.statement))
            known = [themes[key] for key in map(bare, one.themes) if key in themes]
            unknown += len(one.themes) - len(known) + (name is None)
            if name is not None:
                coded.setdefault(name, set()).update(known)
    return SecondCoding(
        statements={name: sorted(coded[name]) for name in sorted(coded)},
        n_sampled=len(sampled),
        n_statements=n_statements,
        uncoded=sorted(set(sampled) - coded.keys()),
        unknown_ids=unknown,
    )


def assign_by_rule(data: AssignInput) -> Assignments:
    """Without a model: every sentence raises the theme whose label and description are most like it, if any is. Deterministic.

    Likeness is that of `rule_coder`, the material is not: the first coding groups sentences among themselves, this one
    reads only what is written about the themes.
    """
    parts = [(i, part) for i, statement in enumerate(data.statements) for part in sentences_of(statement.text)]
    raised: list[set[int]] = [set() for _ in data.statements]
    if parts and data.themes:
        about = [f"{theme.label}. {theme.description}" for theme in data.themes]
        x = features([*about, *(part for _, part in parts)])
        likeness = np.asarray((x[len(about) :] @ x[: len(about)].T).todense())
        for (i, _), row in zip(parts, likeness, strict=True):
            if row.max() >= CLOSE:
                raised[i].add(int(row.argmax()))
    numbers = list(theme_handles(data.themes))
    return Assignments(
        assignments=[
            Assignment(statement=handle, themes=[numbers[k] for k in sorted(found)])
            for handle, found in zip(handles(data.statements), raised, strict=True)
        ]
    )


SECOND_CODER = Role(
    "theme", assign_prompt, Assignments, assign_by_rule, assign_schema, max_output_tokens=MAX_OUTPUT_TOKENS
)
