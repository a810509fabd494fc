"""The matching buffer: which of two answers to a question comes first does not matter, and it never grows beyond its size."""

from __future__ import annotations

from collections import OrderedDict
from typing import Final, Generic, Literal, TypeVar

T = TypeVar("T")
Side = Literal["a", "b"]
SIZE: Final = 100


class MatchingBuffer(Generic[T]):
    """Answers that wait for the other respondent's, by question. The oldest goes where there is no more room."""

    def __init__(self, size: int = SIZE):
        self._size = size
        self._waiting: OrderedDict[str, tuple[Side, T]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, question: str, side: Side, answer: T) -> tuple[T, T] | None:
        """(A's, B's) once both are here. The same answer offered again takes its own place."""
        held = self._waiting.pop(question, None)
        if held is not None and held[0] != side:
            return (answer, held[1]) if side == "a" else (held[1], answer)
        self._waiting[question] = (side, answer)
        return None

    def evicted(self) -> list[tuple[Side, T]]:
        """What has to leave, the oldest first."""
        surplus = max(0, len(self._waiting) - self._size)
        return [self._waiting.popitem(last=False)[1] for _ in range(surplus)]

    def rest(self) -> list[tuple[Side, T]]:
        """What is still waiting when nothing more will come; the buffer is empty then."""
        left = list(self._waiting.values())
        self._waiting.clear()
        return left
