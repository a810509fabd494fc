"""A ledger with an emptied page, read over HTTP: whichever path comes upon it says so, typed. Pages that hold what
is read: others are no matter."""

from __future__ import annotations

import shutil
from pathlib import Path

import httpx
import pytest

import enquete
from enquete.ledger.connection import PAGE
from enquete.ledger.folders import LEDGER
from tests.http.conftest import simulation
from tests.support.studies import run_folder

pytestmark = pytest.mark.usefixtures("no_reports")

METHOD = "poll"
PATHS = ("status", f"results/{METHOD}", "results/synthesis", "export.csv")


@pytest.mark.parametrize("share", [0.05, 0.5, 0.6])
def test_damage_is_typed_on_every_path(shared: httpx.Client, shared_root: Path, share: float) -> None:
    whole = shared_root / "simulations" / "sim_whole"
    if not whole.exists():
        simulation(shared_root, whole.name, status="completed")
        run = enquete.conduct_interviews(whole, respondent="synthetic", methods=[METHOD], language="en")
        data = shared.get(f"/api/interview/{whole.name}/status").json()["data"]  # of whoever drove it
        assert (data["run_id"], data["status"], data["started_by"]) == (run.run_id, "completed", "")
    torn = Path(shutil.copytree(whole, whole.with_name(f"sim_torn_{share * 100:.0f}")))
    ledger = run_folder(torn / "interviews") / LEDGER
    content = bytearray(ledger.read_bytes())
    page = int(len(content) / PAGE * share)
    content[page * PAGE : (page + 1) * PAGE] = bytes(PAGE)
    ledger.write_bytes(content)
    answers = [shared.get(f"/api/interview/{torn.name}/{path}") for path in PATHS]
    told = [answer.json()["details"]["type"] for answer in answers if answer.status_code != 200]
    # Without a report there is no table to give, whether or not the ledger is whole.
    assert {"DamagedLedger"} <= set(told) <= {"DamagedLedger", "NothingYet"}, [answer.text for answer in answers]
