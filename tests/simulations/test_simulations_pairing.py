"""Expected pairs by hand: left position -> right position."""

import pytest

from enquete.simulations.agents import AgentRecord, pair


def records(*described: str) -> list[AgentRecord]:
    """ "Ann" or "Ann/username" or "Ann//uuid", in file order."""
    parts = [(*text.split("/"), "", "")[:3] for text in described]
    return [AgentRecord("f", f"entry {i}", i, name, user, uuid) for i, (name, user, uuid) in enumerate(parts)]


@pytest.mark.parametrize(
    ("left", "right", "pairs"),
    [
        (("Ann", "Bob"), ("Ann", "Bob"), {0: 0, 1: 1}),
        (("Ann", "Cid"), ("Ann", "Bob", "Cid"), {0: 0, 1: 2}),
        (("Ann", "Ann"), ("Ann", "Ann"), {0: 0, 1: 1}),
        (("Ann/a", "Ann/b"), ("Ann/b", "Ann/a"), {0: 1, 1: 0}),  # usernames tell equal names apart
        (("Ann//1", "Ann//2"), ("Ann//2", "Ann//1"), {0: 1, 1: 0}),  # and so do uuids
        (("Ann", "Ann", "Bob"), ("Zed", "Ann", "Ann", "Bob"), {2: 3}),  # shifted: equal names are not guessed
        (("Ann", "Ann"), ("Ann",), {}),  # which of the two?
        (("Ann//1",), ("Ann//2",), {}),  # two uuids are two entities
        (("/x", "/y"), ("Ann/y", "Bob/x"), {0: 1, 1: 0}),  # no name column
        (("", ""), ("Ann", "Bob"), {0: 0, 1: 1}),  # nothing but the position
        (("",), ("Ann", "Bob"), {}),
    ],
)
def test_pairs(left: tuple[str, ...], right: tuple[str, ...], pairs: dict[int, int]) -> None:
    assert pair(records(*left), records(*right)).pairs == pairs


def test_records_left_alone_are_doubtful_only_where_there_is_a_candidate() -> None:
    assert pair(records("Ann", "Bob"), records("Ann")).doubtful() == []
    ((mine, other),) = pair(records("Ann", "Bob"), records("Ann", "Bert")).doubtful()
    assert (mine.name, other.name) == ("Bob", "Bert")
