"""How views are gathered: every agent sorts the statements, always as a whole, and places itself on the axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pydantic import BaseModel, JsonValue

from enquete.instruments.pack import Data, Pack, pack_on
from enquete.methods.diversity.instrument import DiversityInstrument, DiversitySettings
from enquete.respondents.ground_truth import answer_at, normal, persona_hash, side, type_of, uniform
from enquete.respondents.questions import Grid, grid_of
from enquete.state.asking import Answer, Block, Item, Language, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Procedure

SORT, AXES = "sort", "axes"


class Diversity(Procedure[DiversityInstrument, DiversitySettings]):
    """One round: the sort first, the axes after it."""

    answer_columns = ("placed", "notes")

    @cached_property
    def _items(self) -> tuple[tuple[Item, ...], tuple[Item, ...]]:
        return self.instrument.sort_items(self.language), self.instrument.axis_items(self.language)

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        texts, (sort, axes) = self.instrument.instructions, self._items
        grid: JsonValue = {str(column): places for column, places in self.instrument.distribution.items()}
        in_order = self.instrument.in_order
        sorted_ = Block(
            key=context.key(unit, SORT), instruction=texts.sort.in_(self.language), items=sort,
            constraint={"grid": grid}, in_order=in_order,
        )  # fmt: skip
        if not axes:
            return [sorted_]
        above = texts.axes.in_(self.language)
        return [sorted_, Block(key=context.key(unit, AXES), instruction=above, items=axes, in_order=in_order)]


# --- Synthetic respondents of the diversity study: planted archetypes, each agent with a legal sort of its own.
#
# An agent's view of every statement is its archetype's plus a deviation drawn from persona and statement; ranking the
# views fills the grid. What a pack does not plant is drawn by the names of archetype and statement or axis, so every
# instrument has kinds of sorts to be found. Every number comes from SHA-256, so order, concurrency and process play no
# part.

METHODOLOGY = "diversity"

NOISE = 0.8  # sd of an agent's own view of a statement, in columns, before it is ranked into the grid
AXIS_NOISE = 0.25  # sd of an agent's own place on an axis; one unit is half the axis
UNPLANTED = 1.7  # sd, in columns, of an archetype's view of a statement that nobody planted


class DiversityTruth(Data):
    """truth/diversity.yaml. Columns and places stand in the order of the archetypes; axes run from −1 (low pole) to 1.

    `loyalty`: share of an unnamed type's agents who hold their type's archetype; the others hold any.
    """

    archetypes: Mapping[str, tuple[str, ...]]  # the types that hold each
    loyalty: float = 1.0
    sort: Mapping[str, tuple[int, ...]] = {}
    axes: Mapping[str, tuple[float, ...]] = {}

    def view(self, archetype: str, statement: str) -> float:
        """The archetype's view of a statement, in columns of a grid from −3 to 3."""
        if statement in self.sort:
            return float(self.sort[statement][self._place(archetype)])
        return UNPLANTED * normal(METHODOLOGY, "statement", archetype, statement)

    def place(self, archetype: str, axis: str) -> float:
        """The archetype's place on an axis, −1 … 1."""
        if axis in self.axes:
            return self.axes[axis][self._place(archetype)]
        return 1.6 * uniform(METHODOLOGY, "axis", archetype, axis) - 0.8

    def _place(self, archetype: str) -> int:
        return list(self.archetypes).index(archetype)


@dataclass(frozen=True)
class PlantedSorts:
    """The truth of one instrument. `noise`: of an agent's views; on the axes in proportion. `sloppy`: share of
    statements put one column off, which breaks the grid (for tests of the repair)."""

    pack: Pack
    noise: float = NOISE
    sloppy: float = 0.0

    def __call__(self, who: Participant, block: Block, language: Language, seed: int) -> tuple[Answer, ...]:
        """One answer per item of the block, in its order."""
        grid = grid_of(block)
        if grid is None:
            return tuple(self._on_axis(who, item, seed) for item in block.items)
        sort = self._sorted(who, block.items, grid, seed)
        if self.sloppy:
            sort = {item: self._slipped(who, item, column, grid, seed) for item, column in sort.items()}
        return tuple(Answer(item.id, "ok", value=float(sort[item.id])) for item in block.items)

    @cached_property
    def truth(self) -> DiversityTruth:
        return self.pack.truth(METHODOLOGY, DiversityTruth)

    def archetype_of(self, who: Participant) -> str:
        """The planted archetype of an agent."""
        kind = type_of(who, self.pack)
        named = next((name for name, kinds in self.truth.archetypes.items() if kind in kinds), None)
        return named or side(
            tuple(self.truth.archetypes), kind, persona_hash(who), self.truth.loyalty, METHODOLOGY, "archetype"
        )

    def _sorted(self, who: Participant, items: tuple[Item, ...], grid: Grid, seed: int) -> Mapping[str, int]:
        """The grid filled from the lowest view to the highest."""
        archetype, persona = self.archetype_of(who), persona_hash(who)

        def view(item: Item) -> tuple[float, str]:
            noise = self.noise * normal(seed, METHODOLOGY, "view", item.id, persona)
            return self.truth.view(archetype, item.id) + noise, item.id

        columns = [column for column, places in sorted(grid.items()) for _ in range(places)]
        return {item.id: column for item, column in zip(sorted(items, key=view), columns, strict=True)}

    def _slipped(self, who: Participant, item: str, column: int, grid: Grid, seed: int) -> int:
        key = (seed, METHODOLOGY, "slip", item, persona_hash(who))
        if uniform(*key) >= self.sloppy:
            return column
        step = 1 if uniform(*key, "up") < 0.5 else -1
        return column + step if column + step in grid else column - step

    def _on_axis(self, who: Participant, item: Item, seed: int) -> Answer:
        noise = self.noise / NOISE * AXIS_NOISE * normal(seed, METHODOLOGY, "axis", item.id, persona_hash(who))
        return answer_at(self.truth.place(self.archetype_of(who), item.id) + noise, item, confidence=0.5)


def planted(instrument: DiversityInstrument, settings: BaseModel | None = None) -> PlantedSorts:
    """The truth of an instrument, by the pack that knows its topic."""
    return PlantedSorts(pack_on(instrument.topic))
