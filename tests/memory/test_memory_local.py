"""The embedded memory: found by words, written once, annotated by merging, whatever was killed in between."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from enquete.memory.local import FILE, LocalMemory
from enquete.memory.preferences import standings
from enquete.memory.recalled import Preference, Record


def said(name: str, who: str, text: str, **more: object) -> Record:
    return Record(
        id=name, kind="interview", text=text, sim_id="s", run_id="r", participant=f"agent:{who}", agent_name=who, **more
    )  # type: ignore[arg-type]


MARIE = said("r/T1/marie", "Marie Holm", "Agent Marie Holm (interview/likert/T1): the quota must fall")
OLAF = said("r/T1/olaf", "Olaf Jensen", "Agent Olaf Jensen (interview/likert/T1): quotas ruin the harbour")


def test_an_episode_is_found_by_agent_and_topic_and_written_once(tmp_path: Path) -> None:
    with LocalMemory.opened(tmp_path) as memory:
        assert memory.remember([MARIE, OLAF]) == 2
        assert memory.remember([MARIE.model_copy(update={"text": "changed"})]) == 0
    with LocalMemory.opened(tmp_path, read_only=True) as memory:
        assert {one.id for one in memory.search("quota")} == {MARIE.id, OLAF.id}  # a word counts as a beginning
        assert [one.id for one in memory.search("quota", agent="olaf")] == [OLAF.id]
        assert [one.id for one in memory.search("", agent="agent:Marie Holm")] == [MARIE.id]
        assert memory.search('harbour" OR 1 NEAR(')
        assert memory.search("nothing-of-this") == []
        found = memory.record(MARIE.id)
        assert found is not None
        assert found.text == MARIE.text
        assert found.at


def test_looking_creates_nothing(tmp_path: Path) -> None:
    with LocalMemory.opened(tmp_path, read_only=True) as memory:
        assert memory.search("quota") == []
        assert memory.preferences() == []
    assert not list(tmp_path.iterdir())


def test_annotations_are_merged_and_weigh(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with LocalMemory.opened(tmp_path) as memory:
        twin = said("twin", "Olaf Jensen", OLAF.text)
        memory.remember([OLAF, twin])
        assert memory.annotate("twin", {"respondent_id": "b"})
        assert memory.annotate("twin", {"critic_score": 5})
        kept = memory.record("twin")
        assert kept is not None
        assert kept.model_extra == {"respondent_id": "b", "critic_score": 5}
        assert kept.text == OLAF.text
        assert [one.id for one in memory.search("harbour")] == ["twin", OLAF.id]  # (5 − 3) · 0.05 more
        with caplog.at_level(logging.WARNING, "enquete"):
            assert not memory.annotate("nobody", {"critic_score": 1})
    assert "no record nobody" in caplog.text


def test_a_kill_between_index_and_record_loses_nothing(tmp_path: Path) -> None:
    with LocalMemory.opened(tmp_path) as memory:
        memory._connection.execute(
            "INSERT INTO words VALUES(?,?,?,?)", (MARIE.id, "interview", "Marie Holm", MARIE.text)
        )
        assert memory.search("quota") == []
        assert memory.remember([MARIE]) == 1
        assert [one.id for one in memory.search("quota")] == [MARIE.id]
        assert [one.id for one in memory.undelivered("graph")] == [MARIE.id]


def test_markers_stand_by_graph(tmp_path: Path) -> None:
    with LocalMemory.opened(tmp_path) as memory:
        memory.remember([MARIE, OLAF, said("x", "Olaf", "an answer").model_copy(update={"kind": "answer"})])
        memory.mark("one", MARIE.id, "sent")
        memory.mark("one", OLAF.id, "sending")
        assert memory.delivered("one") == {MARIE.id: "sent", OLAF.id: "sending"}
        assert [one.id for one in memory.undelivered("one")] == [OLAF.id]
        assert [one.id for one in memory.undelivered("two")] == [MARIE.id, OLAF.id]
        assert memory.search("answer") == []
        memory.mark("one", OLAF.id, "")
        assert memory.delivered("one") == {MARIE.id: "sent"}
    assert (tmp_path / FILE).is_file()


def compared(run: str, question: str, winner: str, kind: str = "scale") -> Preference:
    return Preference.model_validate({
        "question_id": question, "run_id": run, "answer_id_a": "1", "answer_id_b": "2", "methodology": "m",
        "question_type": kind, "stakeholder_type": "NGO", "a": "large, 0.7", "b": "small, 0.5", "winner": winner,
    })  # fmt: skip


def test_preferences_accumulate_over_runs(tmp_path: Path) -> None:
    for run, winners in (("r1", "aat"), ("r2", "b")):
        with LocalMemory.opened(tmp_path) as memory:
            for number, letter in enumerate(winners):
                memory.remember_preference(compared(run, f"q{number}", {"t": "tie"}.get(letter, letter)))
            memory.remember_preference(compared(run, "q0", winners[0]))  # the same pair once more is no other pair
    with LocalMemory.opened(tmp_path, read_only=True) as memory:
        first, second = standings(memory.preferences())
    assert (first.configuration, first.n, first.wins, first.ties, first.rate) == ("large, 0.7", 4, 2, 1, 0.625)
    assert (second.configuration, second.wins, second.rate) == ("small, 0.5", 1, 0.375)
