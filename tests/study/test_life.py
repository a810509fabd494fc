"""The life of a study of five agents: T0 when the simulation is ready, everything else when it has completed."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import enquete
from enquete.graphs.registry import methodologies
from enquete.ledger.canonical import latest
from enquete.locale import tell
from tests.support.populations import mirofish_folder, set_status
from tests.support.studies import stored_answers

AGENTS = 5


def test_the_life_of_a_study(tmp_path: Path) -> None:
    language = "en"
    sim = mirofish_folder(tmp_path / "sim_5", AGENTS, status="running")
    ready = enquete.conduct_interviews(sim, language=language)
    assert (ready.status, ready.exit_code) == ("awaiting_simulation", 4)
    assert {row[:2] for row in stored_answers(ready.folder)} == {("longitudinal", "T0")}
    assert ready.report  # what is there is written up, marked partial
    assert latest(sim / "interviews") == {}

    set_status(sim, "completed")
    done = enquete.resume(ready.resume_token, sim=str(sim))
    assert (done.status, done.exit_code, done.run_id) == ("completed", 0, ready.run_id)
    asked = {(stage.methodology, stage.phase) for stage in done.stages}
    assert asked == {("longitudinal", "T0"), *((name, "T1") for name, one in methodologies().items() if one.default)}
    assert all((stage.outcome, stage.responded, stage.total) == ("done", AGENTS, AGENTS) for stage in done.stages)

    exports = done.path / "exports"
    with (exports / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(done.responses) == len(stored_answers(done.folder))
    assert {row["status"] for row in table} == {"ok"}

    codebook = json.loads((exports / "codebook.json").read_text("utf-8"))
    (described,) = (one for one in codebook["resources"] if one["name"] == "all_responses")
    assert [column["name"] for column in described["schema"]["fields"]] == list(table[0])

    episodes = [json.loads(line) for line in (exports / "episodes.jsonl").read_text("utf-8").splitlines()]
    told = {(e["participant"], e["methodology"], e["phase"]) for e in episodes if e["participant"]}
    assert told == {(row["participant"], row["methodology"], row["phase"]) for row in table}

    for methodology in (one for one in methodologies().values() if one.default):
        assert tell(methodology.title, language) in done.report
    default = {name for name, one in methodologies().items() if one.default}
    assert {key.split("/")[-1] for key in latest(sim / "interviews")} == {"synthesis", *default}
