"""The agents of a large population: read some at a time where they are kept, never all in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import overload

from enquete.state.asking import Participant

FEW = 5000
"""Agents that are held in memory, as a list; of more than these none is held for long."""
PAGE = 250
"""Agents that are read together."""
MOST_PAGES = 8

Change = Callable[[Sequence[Participant]], Sequence[Participant]]
"""Of a page: the same agents, as somebody else sees them (with a memory, with another persona)."""


class PagedPeople(Sequence[Participant]):
    """Agents in their order. `read` gives those at places from `low` below `high`, `find` one by id: None where there
    is none. Safe between threads where these are."""

    def __init__(
        self,
        length: int,
        read: Callable[[int, int], Sequence[Participant]],
        find: Callable[[str], Participant | None],
    ) -> None:
        self._length, self._read, self._find = length, read, find
        self._pages: OrderedDict[int, Sequence[Participant]] = OrderedDict()
        self._lock = Lock()

    def __len__(self) -> int:
        return self._length

    @overload
    def __getitem__(self, place: int) -> Participant: ...
    @overload
    def __getitem__(self, place: slice) -> list[Participant]: ...
    def __getitem__(self, place: int | slice) -> Participant | list[Participant]:
        if isinstance(place, slice):
            low, high, step = place.indices(self._length)
            if step == 1:
                return list(self._read(low, high)) if high > low else []
            return [self[each] for each in range(low, high, step)]
        number = place + self._length if place < 0 else place
        if not 0 <= number < self._length:
            raise IndexError(f"there are {self._length} agents, none at {place}")
        return self._page(number // PAGE)[number % PAGE]

    def __iter__(self) -> Iterator[Participant]:
        for low in range(0, self._length, PAGE):
            yield from self._read(low, min(low + PAGE, self._length))

    def _page(self, number: int) -> Sequence[Participant]:
        with self._lock:
            page = self._pages.get(number)
            if page is None:
                page = self._read(number * PAGE, min((number + 1) * PAGE, self._length))
                self._pages[number] = page
                if len(self._pages) > MOST_PAGES:
                    self._pages.popitem(last=False)
            return page

    def with_id(self, participant_id: str) -> Participant:
        """Raises KeyError."""
        who = self._find(participant_id)
        if who is None:
            raise KeyError(participant_id)
        return who

    def changed(self, change: Change) -> PagedPeople:
        """The same agents, each page changed when it is read."""

        def find(participant_id: str) -> Participant | None:
            who = self._find(participant_id)
            return None if who is None else change([who])[0]

        return PagedPeople(self._length, lambda low, high: change(self._read(low, high)), find)
