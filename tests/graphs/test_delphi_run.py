"""Delphi as it is conducted: the second coding is the last call, may be left out, and never costs the study its
answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.graphs.delphi.instrument import DelphiInstrument, DelphiSettings
from enquete.graphs.delphi.procedure import Delphi
from enquete.instruments.load import load_shipped
from enquete.state.errors import SettingsError
from tests.support import unwritten
from tests.support.model_server import ModelServer
from tests.support.populations import BareDesk
from tests.support.studies import call_keys, personas, stored_answers

SECOND = "round 1/second/"


def interview(tmp_path: Path, **more: Any) -> enquete.Run:
    return enquete.conduct_interviews(
        personas(tmp_path, 4), methods=["delphi"], **{"out": str(tmp_path / "out"), **more}
    )


def themes_called(run: enquete.Run) -> list[str]:
    return [subject for _, _, _, purpose, subject, _ in call_keys(run.folder) if purpose == "theme"]


def test_the_second_coding_comes_last_and_can_be_left_out(tmp_path: Path) -> None:
    run = interview(tmp_path)
    *earlier, last = call_keys(run.folder)
    assert last[4] == f"{SECOND}batch 1"
    assert not any(key[4].startswith(SECOND) for key in earlier)
    found = run.results["delphi"]
    assert (found["second_coding_state"], found["coded_twice"]) == ("done", 16)
    off = interview(tmp_path, out=str(tmp_path / "off"), settings={"delphi": {"second_coding": False}})
    assert not any(subject.startswith(SECOND) for subject in themes_called(off))
    assert off.results["delphi"]["second_coding_state"] == "off"
    assert stored_answers(off.folder) == stored_answers(run.folder)


def test_a_second_arm_is_not_coded(tmp_path: Path) -> None:
    arms = [enquete.Arm(temperature=0), enquete.Arm(id="b", role="b", seed=5)]
    run = unwritten.interview(personas(tmp_path, 4), methods=["delphi"], out=str(tmp_path / "out"), arms=arms)
    assert {key[2] for key in call_keys(run.folder) if key[4].startswith(SECOND)} == {"main"}


def test_a_model_codes_the_second_time_over_http(tmp_path: Path) -> None:
    with ModelServer() as server:
        run = interview(tmp_path, model="m", base_url=server.base_url)
    assert run.status == "completed"
    assert run.results["delphi"]["second_coding_state"] == "done"
    assert themes_called(run)[-1] == f"{SECOND}batch 1"


def test_a_second_coding_that_cannot_be_read_leaves_the_study_without_it(tmp_path: Path) -> None:
    def reply(body: dict[str, Any]) -> str | None:
        return "no JSON today" if "assignments" in body["messages"][-1]["content"] else None

    with ModelServer(script=reply) as server:
        run = interview(tmp_path, model="m", base_url=server.base_url)
    assert run.status == "completed"
    assert run.results["delphi"]["second_coding_state"] == "missing"
    assert {row[5] for row in stored_answers(run.folder)} == {"ok"}


def test_the_plan_counts_the_second_coding_only_where_it_is_made() -> None:
    instrument = load_shipped(DelphiInstrument, "delphi")

    def calls(agents: int, wanted: bool) -> tuple[int, int]:
        procedure = Delphi(instrument, DelphiSettings(second_coding=wanted), "de")
        return procedure.plan(BareDesk(agents)).calls["theme"]  # type: ignore[arg-type]

    on, off = calls(10, True), calls(10, False)
    # 10 agents × 4 questions; a batch holds at least one statement, a call may take 3 attempts, merges as many again
    assert off == (1, 40 * 2 * 3)
    assert on == (2, 40 * 2 * 3 + 40 * 3)
    assert calls(1000, True) == (2, 4000 * 2 * 3 + 200 * 3)


def test_a_wrong_setting_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="second_coding"):
        interview(tmp_path, settings={"delphi": {"second_coding": "perhaps"}})
