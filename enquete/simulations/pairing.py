"""Which record of one file is the same agent as which record of another, without ever trusting the index alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from enquete.simulations.records import Record
from enquete.simulations.texts import fold

Key = Callable[[Record], Hashable | None]


@dataclass
class Pairing:
    """Positions into `left` and `right`: `pairs` left -> right, and what stayed alone on either side."""

    left: Sequence[Record]
    right: Sequence[Record]
    pairs: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left_alone: dict[int, Record] = dict(enumerate(self.left))
        self.right_alone: dict[int, Record] = dict(enumerate(self.right))

    @property
    def shifted(self) -> bool:
        return any(self.left[a].index != self.right[b].index for a, b in self.pairs.items())

    def join(self, a: int, b: int) -> None:
        self.pairs[a] = b
        del self.left_alone[a], self.right_alone[b]

    def doubtful(self) -> list[tuple[Record, Record]]:
        """Records that stayed alone although the other side has a candidate: same name several times, or same index."""
        by_name = {fold(record.name): record for record in self.right_alone.values() if record.name}
        by_index = {record.index: record for record in self.right_alone.values()}
        candidates = [(r, by_name.get(fold(r.name)) or by_index.get(r.index)) for r in self.left_alone.values()]
        return [(record, other) for record, other in candidates if other is not None]


def pair(left: Sequence[Record], right: Sequence[Record]) -> Pairing:
    """Join by uuid, then by name and username, then by a name unique on both sides; by position only within equal names.

    Two agents may bear the same name: they are told apart by uuid or username, and by position only as long as
    nothing else is shifted, because a shift would silently swap them.
    """
    pairing = Pairing(left, right)
    join_unique(pairing, lambda record: record.uuid or None)
    join_unique(pairing, lambda record: (fold(record.name), fold(record.username)) if record.username else None)
    join_unique(pairing, lambda record: fold(record.name) or None)
    join_nameless(pairing)
    if not pairing.shifted:
        join_positions(pairing)
    return pairing


def join_unique(pairing: Pairing, key: Key) -> None:
    right = unique(pairing.right_alone, key)
    for value, a in unique(pairing.left_alone, key).items():
        if value in right and compatible(pairing.left[a], pairing.right[right[value]]):
            pairing.join(a, right[value])


def unique(records: Mapping[int, Record], key: Key) -> dict[Hashable, int]:
    keys = {position: value for position, record in records.items() if (value := key(record)) is not None}
    counts = Counter(keys.values())
    return {value: position for position, value in keys.items() if counts[value] == 1}


def join_nameless(pairing: Pairing) -> None:
    """Some twitter CSVs carry no name column: there the username identifies."""
    nameless = any_nameless(pairing.left) or any_nameless(pairing.right)
    if nameless:
        join_unique(pairing, lambda record: fold(record.username) or None)


def any_nameless(records: Iterable[Record]) -> bool:
    return any(not record.name for record in records)


def join_positions(pairing: Pairing) -> None:
    """Same index and the same name (equally often on both sides); or no name at all on one side of equally long files."""
    left = Counter(fold(record.name) for record in pairing.left_alone.values())
    right = Counter(fold(record.name) for record in pairing.right_alone.values())
    by_index = {record.index: b for b, record in pairing.right_alone.items()}
    for a, mine in list(pairing.left_alone.items()):
        b = by_index.get(mine.index)
        if b is None or b not in pairing.right_alone or not compatible(mine, pairing.right[b]):
            continue
        name, other = fold(mine.name), fold(pairing.right[b].name)
        same_name = name == other and left[name] == right[name]
        no_name = not (name and other) and len(pairing.left) == len(pairing.right)
        if same_name or no_name:
            pairing.join(a, b)


def compatible(a: Record, b: Record) -> bool:
    """Two different uuids are two entities, whatever their names."""
    return not (a.uuid and b.uuid) or a.uuid == b.uuid
