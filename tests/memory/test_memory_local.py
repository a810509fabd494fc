"""The memory: episodes are found by words where runs wrote them; answers are annotated by merging; markers,
preferences."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from enquete.memory.recall import LocalMemory, MemoryRecord, Preference, episodes, search, standings
from tests.support.episodes import write_episodes


def record_of(name: str, who: str, text: str, **more: object) -> MemoryRecord:
    return MemoryRecord(
        id=name, kind="interview", text=text, sim_id="s", run_id="r", participant=f"agent:{who}", agent_name=who, **more
    )


MARIE = record_of("r/T1/marie", "Marie Holm", "Agent Marie Holm (interview/likert/T1): the quota must fall")
OLAF = record_of("r/T1/olaf", "Olaf Jensen", "Agent Olaf Jensen (interview/likert/T1): quotas ruin the harbour")


def test_an_episode_is_found_by_agent_and_topic_and_once_who_is_named_first(tmp_path: Path) -> None:
    write_episodes(tmp_path, MARIE, OLAF)
    write_episodes(tmp_path, MARIE.model_copy(update={"text": "changed"}), run="s")  # a later run's file names it too
    write_episodes(tmp_path, record_of("r/T1/ida", "Ida", "the quota"), run="t", complete=False)
    records = list(episodes(tmp_path))
    assert records == [MARIE, OLAF]
    assert {hit.id for hit in search(records, "quota")} == {MARIE.id, OLAF.id}  # a word counts as a beginning
    assert search(records, "quota", agent="olaf") == [OLAF]
    assert search(records, "", agent="agent:Marie Holm") == [MARIE]
    assert search(records, 'harbour" OR 1 NEAR(') == [OLAF]
    assert search(records, "nothing-of-this") == []
    assert search(records, "", limit=1) == [OLAF]
    twins = [record_of(name, name, "the quota must fall") for name in ("Marie", "Olaf", "Ida")]
    assert search(twins, "quota olaf")[0] == twins[1]


def test_looking_creates_nothing(tmp_path: Path) -> None:
    with LocalMemory.opened(tmp_path, read_only=True) as memory:
        assert memory.undelivered("graph") == []
        assert memory.preferences() == []
    assert not list(tmp_path.iterdir())


def test_annotations_are_merged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with LocalMemory.opened(tmp_path) as memory:
        memory.remember([OLAF])
        memory.remember([OLAF.model_copy(update={"text": "changed"})])
        assert memory.annotate(OLAF.id, {"respondent_id": "b"})
        assert memory.annotate(OLAF.id, {"critic_score": 5})
        with caplog.at_level(logging.WARNING, "enquete"):
            assert not memory.annotate("nobody", {"critic_score": 1})
    with LocalMemory.opened(tmp_path, read_only=True) as memory:
        kept = memory.record(OLAF.id)
    assert kept.model_extra == {"respondent_id": "b", "critic_score": 5}
    assert kept.text == OLAF.text
    assert "no record nobody" in caplog.text


def test_markers_stand_by_graph(tmp_path: Path) -> None:
    write_episodes(tmp_path, MARIE, OLAF)
    with LocalMemory.opened(tmp_path) as memory:
        memory.mark("one", MARIE.id, "sent")
        memory.mark("one", OLAF.id, "sending")
        assert memory.delivered("one") == {MARIE.id: "sent", OLAF.id: "sending"}
        assert [record.id for record in memory.undelivered("one")] == [OLAF.id]
        assert [record.id for record in memory.undelivered("two")] == [MARIE.id, OLAF.id]
        memory.mark("one", OLAF.id, "")
        assert memory.delivered("one") == {MARIE.id: "sent"}


def test_what_is_noted_of_a_run_is_forgotten_with_it(tmp_path: Path) -> None:
    with LocalMemory.opened(tmp_path) as memory:
        for run in ("r", "r2"):
            memory.remember([record_of(f"{run}/a", "Ida", "x")])
            memory.mark("one", f"{run}/a", "sent")
            memory.remember_preference(compared(run, "q", "a"))
        memory.forget({"r"})
        assert (memory.record("r/a"), memory.record("r2/a") is not None) == (None, True)
        assert memory.delivered("one") == {"r2/a": "sent"}
        assert [preference.run_id for preference in memory.preferences()] == ["r2"]


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
