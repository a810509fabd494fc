"""Synthetic respondents of the diversity study: planted archetypes, each agent with a legal sort of its own.

An agent's view of every statement is its archetype's plus a deviation drawn from persona and statement; ranking the views
fills the grid. Every number comes from SHA-256, so order, concurrency and process play no part.
"""

from __future__ import annotations

from collections.abc import Mapping

from enquete.graphs.diversity.truth import TRUTH
from enquete.respondents.grid import Grid, grid_of
from enquete.respondents.planted import answer_at, normal, persona_hash, uniform
from enquete.respondents.stakeholders import type_of
from enquete.state.seam import Answer, Block, Item, Language, Participant

__all__ = ["TRUTH", "answer", "archetype_of"]

METHODOLOGY = "diversity"


def answer(
    who: Participant,
    block: Block,
    language: Language,
    seed: int,
    *,
    noise: float | None = None,
    sloppy: float = 0.0,
) -> tuple[Answer, ...]:
    """One answer per item of the block, in its order.

    noise: sd of an agent's own views in columns of the shipped grid, TRUTH.noise by default; on the axes in proportion.
    sloppy: share of statements put one column off, which breaks the grid (for tests of the repair).
    """
    noise = TRUTH.noise if noise is None else noise
    grid = grid_of(block)
    if grid is None:
        return tuple(_on_axis(who, item, seed, noise / TRUTH.noise * TRUTH.axis_noise) for item in block.items)
    sort = _sorted(who, block.items, grid, seed, noise)
    if sloppy:
        sort = {item: _slipped(who, item, column, grid, seed, sloppy) for item, column in sort.items()}
    return tuple(Answer(item.id, "ok", value=float(sort[item.id])) for item in block.items)


def archetype_of(who: Participant) -> str:
    """The planted archetype of an agent."""
    return TRUTH.archetype_of(type_of(who))


def _sorted(who: Participant, items: tuple[Item, ...], grid: Grid, seed: int, noise: float) -> Mapping[str, int]:
    """The grid filled from the lowest view to the highest."""
    archetype, persona = archetype_of(who), persona_hash(who)

    def view(item: Item) -> tuple[float, str]:
        own = noise * normal(seed, METHODOLOGY, "view", item.id, persona)
        return TRUTH.view(archetype, item.id) + own, item.id

    columns = [column for column, places in sorted(grid.items()) for _ in range(places)]
    return {item.id: column for item, column in zip(sorted(items, key=view), columns, strict=True)}


def _slipped(who: Participant, item: str, column: int, grid: Grid, seed: int, sloppy: float) -> int:
    key = (seed, METHODOLOGY, "slip", item, persona_hash(who))
    if uniform(*key) >= sloppy:
        return column
    step = 1 if uniform(*key, "up") < 0.5 else -1
    return column + step if column + step in grid else column - step


def _on_axis(who: Participant, item: Item, seed: int, noise: float) -> Answer:
    own = noise * normal(seed, METHODOLOGY, "axis", item.id, persona_hash(who))
    return answer_at(TRUTH.place(archetype_of(who), item.id) + own, item, confidence=0.5)
