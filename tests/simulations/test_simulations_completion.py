import json
from pathlib import Path

import pytest

from enquete.simulations.action_log import summarise_logs
from enquete.simulations.locate import completion, count_from
from enquete.simulations.population import load_population
from tests.simulations.conftest import post, write_folder, write_log

START, END = {"event_type": "simulation_start", "total_rounds": 672}, {"event_type": "simulation_end"}


def run_state(folder: Path, status: object) -> None:
    (folder / "run_state.json").write_text(json.dumps({"runner_status": status}))


@pytest.mark.parametrize("word", ["completed", "COMPLETED", " Completed "])
def test_completed_is_completed(tmp_path: Path, word: str) -> None:
    run_state(tmp_path, word)
    assert completion(tmp_path).completed


@pytest.mark.parametrize(
    "word",
    [
        "idle", "starting", "running", "paused", "stopping", "stopped", "failed", "profiles_ready", "awaiting-finish",
        "?",
    ],
)  # fmt: skip
def test_any_other_word_is_not_even_if_the_logs_have_ended(tmp_path: Path, word: str) -> None:
    run_state(tmp_path, word)
    write_log(tmp_path, "reddit", [START, END])
    assert not completion(tmp_path).completed
    assumed = completion(tmp_path, assume_completed=True)
    assert assumed.completed
    assert assumed.assumed


def test_how_far_it_came_and_what_stopped_it_is_kept_with_the_assumption(tmp_path: Path) -> None:
    state = {"runner_status": "failed", "current_round": 592, "total_rounds": 2160, "error": "RateLimitError:\n  429"}
    (tmp_path / "run_state.json").write_text(json.dumps(state))
    ending = completion(tmp_path, assume_completed=True)
    assert (ending.assumed, ending.status, ending.progress, ending.error) == (
        True, "failed", (592, 2160), "RateLimitError: 429",
    )  # fmt: skip


DONE = {"current_round": 40, "total_rounds": 40, "twitter_completed": True, "reddit_completed": True}


@pytest.mark.parametrize(
    ("state", "over"),
    [
        ({}, True),
        ({"runner_status": "stopped"}, True),
        ({"runner_status": "running"}, False),
        ({"runner_status": "failed", "error": "RateLimitError"}, False),
        ({"reddit_completed": False, "reddit_current_round": 12}, False),
        ({"reddit_completed": False}, True),  # one platform alone was simulated
        ({"current_round": 39}, False),
        ({"total_rounds": None}, False),
        ({"twitter_completed": False, "reddit_completed": False}, False),
    ],
)
def test_a_stale_step_of_ending_is_completed_where_everything_is_done(
    tmp_path: Path, state: dict[str, object], over: bool
) -> None:
    (tmp_path / "run_state.json").write_text(json.dumps({"runner_status": "stopping", **DONE, **state}))
    ending = completion(tmp_path)
    assert ending.completed is over
    assert ("all rounds are done" in ending.reason) is over


def test_a_database_without_any_state_is_what_a_finished_simulation_left(tmp_path: Path) -> None:
    source = Path(__file__).parents[1] / "data" / "sim_oasisreal0001"
    (tmp_path / "reddit_simulation.db").write_bytes((source / "reddit_simulation.db").read_bytes())
    ending = completion(tmp_path)
    assert (ending.completed, ending.status) == (True, "database")
    (tmp_path / "state.json").write_text("{}")
    assert not completion(tmp_path).completed  # a simulator writes run_state.json as soon as it starts


@pytest.mark.parametrize("content", [None, "{", "[]", '{"runner_status": null}', '{"runner_status": {"a": 1}}'])
def test_logs_decide_where_run_state_cannot_be_read(tmp_path: Path, content: str | None) -> None:
    if content is not None:
        (tmp_path / "run_state.json").write_text(content)
    write_log(tmp_path, "reddit", [START, END])
    assert completion(tmp_path).completed
    write_log(tmp_path, "twitter", [START, post(0, "Ann", "Hello")])
    ending = completion(tmp_path)
    assert not ending.completed
    assert "twitter/actions.jsonl" in ending.reason


def test_a_resumed_run_has_not_ended(tmp_path: Path) -> None:
    write_log(tmp_path, "reddit", [START, END, START])
    assert not completion(tmp_path).completed


def test_state_json_is_never_asked(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"status": "completed"}')
    assert completion(tmp_path).status == "not_started"


def counted(folder: Path) -> int:
    return count_from(folder, summarise_logs(folder))


def test_actions_are_counted(data: Path, tmp_path: Path, oasis_run: Path) -> None:
    # 213 + 142: run_state.json's own counters
    assert counted(data / "sim_683e8059ab27") == 355
    interview = {**post(0, "Ann", "x"), "action_type": "INTERVIEW"}
    write_log(tmp_path / "s", "reddit", [START, post(0, "Ann", "a"), interview, END], tail='{"round": 1, "agen')
    assert counted(tmp_path / "s") == 1
    # 30 actions in reddit's log; twitter's trace holds 61 rows: 12 sign_up, 22 refresh, 1 interview, 26 actions
    (oasis_run / "twitter" / "actions.jsonl").unlink()
    assert counted(oasis_run) == 30 + 26


# What MiroFish's newest versions leave behind. Made by hand from its public code (simulation_runner.py writes
# run_state.json, action_logger.py the logs) and from the state that its issues #769, #817 and PR #819 quote.

ENDED = {"runner_status": "running", "current_round": 3, "total_rounds": 3,
         "twitter_current_round": 3, "reddit_current_round": 3, "twitter_running": False, "reddit_running": False,
         "twitter_completed": True, "reddit_completed": True, "completed_at": None, "error": None}  # fmt: skip
INGESTION = "Zep graph ingestion failed: 2 batches could not be written"


def rounds(number: int, *, closed: bool = True, end: bool = True, planned: int = 3) -> list[dict[str, object]]:
    """A log with its round events; its start states the rounds before `max_rounds` cuts them short."""
    lines: list[dict[str, object]] = [{"event_type": "simulation_start", "total_rounds": 144}]
    for place in range(number + 1):
        lines.append({"round": place, "event_type": "round_start"})
        lines.append({**post(0, "Ann", f"Post {place}."), "round": place})
        if closed or place < number:
            lines.append({"round": place, "event_type": "round_end", "actions_count": 1})
    return [*lines, {"event_type": "simulation_end", "total_rounds": planned}] if end else lines


def ended_folder(
    folder: Path, state: dict[str, object], logs: dict[str, list[dict[str, object]]] | None = None
) -> Path:
    for platform, lines in (logs or {"twitter": rounds(3), "reddit": rounds(3)}).items():
        write_log(folder, platform, lines)
    (folder / "run_state.json").write_text(json.dumps({**ENDED, **state}))
    return folder


@pytest.mark.parametrize(
    "word", ["running", "idle", "starting", "paused", "stopping", "stopped", "awaiting_finish", "profiles_ready"]
)
def test_any_status_but_failed_is_completed_where_all_platforms_have_and_the_logs_end(
    tmp_path: Path, word: str
) -> None:
    ending = completion(ended_folder(tmp_path, {"runner_status": word}))
    assert (ending.completed, ending.assumed, ending.status, ending.note) == (True, False, word, "")
    assert ending.reason == (
        f"run_state.json: runner_status is '{word}', but its platforms are completed and all rounds are done"
    )


@pytest.mark.parametrize(
    ("state", "logs", "over"),
    [
        ({"reddit_completed": False}, None, False),  # its monitor has not read so far, or it went on
        ({}, {"twitter": rounds(3), "reddit": rounds(2)}, False),  # stopped early, which writes simulation_end too
        ({}, {"twitter": rounds(3), "reddit": rounds(3, closed=False, end=False)}, False),  # in the last round
        ({}, {"twitter": rounds(3)}, False),  # reddit was started, and its log is gone
        ({}, {"twitter": rounds(3, end=False), "reddit": rounds(3, end=False)}, True),  # the last round is closed
        ({"reddit_completed": False, "reddit_current_round": 0}, {"twitter": rounds(3)}, True),  # twitter alone
        ({"total_rounds": None}, None, True),  # the logs' ends state how many there were
        ({"error": "the server was shut down"}, None, True),
        ({}, {"twitter": [*rounds(3), START], "reddit": rounds(3)}, False),  # taken up again
    ],
)
def test_every_platform_that_was_started_has_to_end_with_the_last_round(
    tmp_path: Path, state: dict[str, object], logs: dict[str, list[dict[str, object]]] | None, over: bool
) -> None:
    assert completion(ended_folder(tmp_path, state, logs)).completed is over


@pytest.mark.parametrize(
    ("error", "over"),
    [
        (INGESTION, True),
        ("图谱记忆写入失败", True),
        ("RateLimitError: 429", False),
        ("CUDA out of memory", False),
        ("进程退出码: 1, 错误: File graph.py: zep", False),
        ("", False),
    ],
)
def test_failed_is_completed_with_a_note_where_only_the_graph_could_not_be_written(
    tmp_path: Path, error: str, over: bool
) -> None:
    folder = write_folder(tmp_path / "sim_1", config=["Ann"], reddit=["Ann"])
    ended_folder(folder, {"runner_status": "failed", "error": error})
    ending = completion(folder)
    assert (ending.completed, bool(ending.note)) == (over, over)
    warned = [issue.message for issue in load_population(folder).issues if issue.file == "run_state.json"]
    assert warned == ([ending.note] if over else [])
    if over:
        assert error in ending.note
    (folder / "run_state.json").write_text(
        json.dumps({**ENDED, "runner_status": "failed", "error": error, "reddit_completed": False})
    )
    assert not completion(folder).completed
