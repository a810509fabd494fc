"""From open answers to at most `max_themes` themes: batches that fit the context, a merge, traceable themes.

Batches are formed from the sorted statements and merged in their order, so the themes depend on neither timing nor
concurrency. `code_themes` runs the whole over a desk, by a model or by the rule.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from itertools import pairwise
from typing import Any, Literal, TypeVar

from pydantic import BaseModel

from enquete.respondents.roles import Role
from enquete.respondents.themes.coded import (
    BatchInput,
    BatchThemes,
    CodedThemes,
    DraftTheme,
    MergedThemes,
    MergeInput,
    Statement,
    Theme,
    theme_id,
)
from enquete.respondents.themes.coding_prompts import batch_schema, handles, merge_prompt, merge_schema, theme_prompt
from enquete.respondents.themes.rule_coder import code_by_rule, merge_by_rule
from enquete.state.interview_context import InterviewerTask

MAX_CHARS = 12_000
MERGE_AT_ONCE = 60  # drafts in one merge: the answer must name each of them

MAX_OUTPUT_TOKENS = 4000  # 15 themes with the numbers of a full batch take about 2,000

CODER = Role("theme", theme_prompt, BatchThemes, code_by_rule, batch_schema, max_output_tokens=MAX_OUTPUT_TOKENS)
MERGER = Role("theme", merge_prompt, MergedThemes, merge_by_rule, merge_schema, max_output_tokens=MAX_OUTPUT_TOKENS)

T = TypeVar("T", bound=BaseModel)
Stopped = Literal["short", "failed"]
Work = Callable[[InterviewerTask[Any]], Awaitable[Any]]
"""`Desk.work`: the task's result, "short" or "failed"."""


def batches(statements: Sequence[Statement], max_chars: int = MAX_CHARS) -> list[list[Statement]]:
    """Statements sorted by id, cut into batches of at most `max_chars` characters of text; a longer one stands alone.

    Empty texts are left out, because they can voice nothing. Raises ValueError on a doubled id.
    """
    ordered = sorted((s for s in statements if s.text.strip()), key=lambda s: s.id)
    for one, other in pairwise(ordered):
        if one.id == other.id:
            raise ValueError(f"statement {one.id!r} occurs more than once; one statement per participant and question")
    filled: list[list[Statement]] = []
    room = 0
    for statement in ordered:
        if not filled or len(statement.text) > room:
            filled.append([])
            room = max_chars
        filled[-1].append(statement)
        room -= len(statement.text)
    return filled


def resolve(batch: BatchInput, found: BatchThemes) -> list[DraftTheme]:
    """The drafts with full statement ids for the prompt's handles ("s3", "[S3]" and full ids are understood).

    What is neither stays as it is, so that `assemble` can count it.
    """
    by_handle = handles(batch.statements)
    return [
        theme.model_copy(update={"statement_ids": [by_handle.get(bare(name), name) for name in theme.statement_ids]})
        for theme in found.themes
    ]


def merge_groups(drafts: Sequence[DraftTheme], at_once: int = MERGE_AT_ONCE) -> list[list[DraftTheme]]:
    """Drafts in their order, cut into groups that one merge can take."""
    return [list(drafts[start : start + at_once]) for start in range(0, len(drafts), at_once)]


def merged_drafts(drafts: Sequence[DraftTheme], merged: MergedThemes) -> list[DraftTheme]:
    """The merged themes as drafts of the next merge, with their members' statements; unclaimed drafts follow unchanged.

    A draft claimed twice goes to the first claimant. Members that do not exist are left out.
    """
    claimed: set[int] = set()
    combined: list[DraftTheme] = []
    for theme in merged.themes:
        members = [m for m in dict.fromkeys(theme.members) if 0 <= m < len(drafts) and m not in claimed]
        claimed.update(members)
        ids = list(dict.fromkeys(name for m in members for name in drafts[m].statement_ids))
        combined.append(DraftTheme(label=theme.label, description=theme.description, statement_ids=ids))
    return combined + [draft for m, draft in enumerate(drafts) if m not in claimed]


def assemble(
    drafts: Sequence[DraftTheme],
    merged: MergedThemes,
    statements: Sequence[Statement],
    max_themes: int = 15,
) -> CodedThemes:
    """The final themes: every one traceable to statements that exist, the most voiced first, at most `max_themes`.

    drafts: what was merged last, in the order its numbers refer to. Ids and members that do not exist, themes without
    statements or label, duplicates and themes beyond the limit are dropped and counted; what no theme holds is `uncoded`.
    """
    known = {s.id for s in statements}
    combined = merged_drafts(drafts, merged)
    unknown = sum(not 0 <= m < len(drafts) for theme in merged.themes for m in theme.members)
    unknown += sum(name not in known for draft in drafts for name in draft.statement_ids)
    themes = [_theme(draft, known) for draft in combined]
    voiced = sorted((t for t in themes if t.statements and t.label), key=lambda t: (-len(t.statements), t.id))
    different = _without_duplicates(voiced)
    kept = different[:max_themes]
    coded = {name for theme in kept for name in theme.statements}
    return CodedThemes(
        themes=kept,
        uncoded=sorted(known - coded),
        unknown_ids=unknown,
        dropped_empty=len(themes) - len(voiced),
        dropped_duplicates=len(voiced) - len(different),
        dropped_over_limit=len(different) - len(kept),
    )


async def code_themes(
    work: Work, topic: str, statements: Sequence[Statement], max_themes: int = 15, *, label: str
) -> CodedThemes | Stopped:
    """Code all batches at once, merge group by group until one group is left, assemble.

    work: the desk's `work`; its calls are filed under purpose "theme", subjects "<label>/batch 3" and
    "<label>/merge 2/1" (level, group), so `label` must differ between codings of one methodology and phase. "short" or
    "failed" if any of them was, with nothing lost: settled calls are found again. No statement at all is no call and
    no theme.
    """

    def merge_input(drafts: Sequence[DraftTheme]) -> MergeInput:
        return MergeInput(topic=topic, themes=list(drafts), max_themes=max_themes)

    inputs = [BatchInput(topic=topic, statements=b, max_themes=max_themes) for b in batches(statements)]
    found = await _all(work, [CODER.task(f"{label}/batch {i}", data) for i, data in enumerate(inputs, 1)])
    if isinstance(found, str):
        return found
    drafts = [draft for data, result in zip(inputs, found, strict=True) for draft in resolve(data, result)]
    level = 1
    while len(groups := merge_groups(drafts)) > 1:
        tasks = [MERGER.task(f"{label}/merge {level}/{i}", merge_input(g)) for i, g in enumerate(groups, 1)]
        merges = await _all(work, tasks)
        if isinstance(merges, str):
            return merges
        shorter = [draft for g, merged in zip(groups, merges, strict=True) for draft in merged_drafts(g, merged)]
        if len(shorter) >= len(drafts):  # a model that merges nothing must not keep us here
            break
        drafts, level = shorter, level + 1
    if len(inputs) < 2:
        return assemble(drafts, MergedThemes(themes=[]), statements, max_themes)
    last = await _all(work, [MERGER.task(f"{label}/merge {level}/1", merge_input(drafts))])
    return last if isinstance(last, str) else assemble(drafts, last[0], statements, max_themes)


async def _all(work: Work, tasks: Sequence[InterviewerTask[T]]) -> list[T] | Stopped:
    results = await asyncio.gather(*(work(task) for task in tasks))
    for state in ("failed", "short"):
        if state in [result for result in results if isinstance(result, str)]:
            return "failed" if state == "failed" else "short"
    return list(results)


def bare(name: str) -> str:
    """A statement's or theme's number as the prompt wrote it: "[S3]" → "s3"; anything else without its outer spaces."""
    stripped = name.strip().strip("[]()<>").strip()
    return stripped.casefold() if stripped[:1] in "sStT" and stripped[1:].isdigit() else name.strip()


def _theme(draft: DraftTheme, known: set[str]) -> Theme:
    label, answers = " ".join(draft.label.split()), sorted(set(draft.statement_ids) & known)
    description = " ".join(draft.description.split())
    return Theme(id=theme_id(label, answers), label=label, description=description, statements=answers)


def _without_duplicates(themes: Sequence[Theme]) -> list[Theme]:
    # The same answers under another label stay: with few agents one answer may voice two themes.
    first: dict[str, Theme] = {}
    for theme in themes:
        first.setdefault(theme.label.casefold(), theme)
    return list(first.values())
