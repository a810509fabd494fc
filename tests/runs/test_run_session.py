"""One open session per run and process; its lock keeps other processes out and dies with its holder."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from pydantic import SecretStr

from enquete.ledger.folders import LEDGER, is_held
from enquete.ledger.ledger import Ledger
from enquete.models.prices import OPENAI_URL
from enquete.runs.model_server import server_url
from enquete.runs.run_session import using
from enquete.state.asking import Arm
from enquete.state.errors import LedgerError, RunLocked, SettingsError
from enquete.state.settings import Machine
from tests.support.ledgers import call, prompt
from tests.support.new_runs import begin_run, record

pytestmark = pytest.mark.anyio

LLM = Arm(respondent="llm", model="m")


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin_run(tmp_path / "runs" / "run_test")


async def test_it_is_opened_once_and_closed_by_the_last(run: Path) -> None:
    async with using(str(run)) as outer, using(str(run)) as inner:
        assert inner is outer
        async with using(str(run), Machine(concurrency=3)) as same:
            assert same is outer
        await outer.ledger.set_stage("", "", "started", "still open")
    async with using(str(run)) as later:
        assert later is not outer
        assert later.ledger.stages()["", ""].note == "still open"


def test_nodes_that_come_and_go_at_the_same_time_never_meet_a_closed_or_locked_run(run: Path) -> None:
    """Parallel branches without the façade around them: one may close just when another opens."""
    draw = random.Random(5)

    async def node(number: int) -> None:
        for turn in range(10):
            await asyncio.sleep(draw.random() * 0.01)
            async with using(str(run)) as run_session:
                await run_session.ledger.set_stage(f"node {number}", "T1", "done", f"turn {turn}")
                run_session.ledger.write(lambda connection: None)  # nobody waits for it, so closing takes a while

    async def work() -> None:
        await asyncio.gather(*(node(number) for number in range(6)))

    asyncio.run(work())
    ledger = Ledger.reading(run / LEDGER, "run_test")
    assert {stage.note for stage in ledger.stages().values()} == {"turn 9"}
    ledger.close_reading()


def test_what_was_in_flight_when_a_process_died_is_swept_on_opening(run: Path) -> None:
    async def dies() -> None:
        async with using(str(run)) as run_session:
            await run_session.ledger.reserve(call(), prompt(), "m", 700)

    async def goes_on() -> int:
        async with using(str(run)) as run_session:
            return run_session.budget.spent

    asyncio.run(dies())
    assert asyncio.run(goes_on()) == 700


@contextmanager
def another_process(run: Path, root: Path) -> Iterator[subprocess.Popen[str]]:
    """Holds the run's lock until it is killed."""
    code = (
        "import sys, time; from pathlib import Path; from enquete.ledger.folders import held\n"
        "with held(Path(sys.argv[1])): print('held', flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(run)], stdout=subprocess.PIPE, text=True, cwd=root)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


async def open_and_close(run: Path) -> None:
    async with using(str(run)):
        pass


def test_another_process_is_kept_out_until_the_holder_is_killed(run: Path, root: Path) -> None:
    with another_process(run, root) as holder:
        for _ in range(2):  # a refusal leaves nothing behind that would refuse or admit the next
            with pytest.raises(RunLocked, match="run_test is being driven by another process"):
                asyncio.run(open_and_close(run))
        os.kill(holder.pid, signal.SIGKILL)
        holder.wait()
        asyncio.run(open_and_close(run))


def test_no_file_can_be_removed_to_get_round_the_lock(run: Path, root: Path) -> None:
    with another_process(run, root):
        for file in run.iterdir():
            if not file.name.startswith(LEDGER):
                file.unlink()
        (run / "lock").unlink(missing_ok=True)
        with pytest.raises(RunLocked):
            asyncio.run(open_and_close(run))
        assert is_held(run)
    assert not is_held(run)


def test_a_bug_or_a_ledger_that_cannot_be_opened_lets_go_of_the_lock(run: Path, tmp_path: Path) -> None:
    intact = (run / LEDGER).read_bytes()
    (run / LEDGER).write_bytes(b"noise" * 1000)
    with pytest.raises(LedgerError, match=r"ledger\.sqlite"):
        asyncio.run(open_and_close(run))
    (run / LEDGER).write_bytes(intact)
    asyncio.run(open_and_close(run))

    async def work() -> None:
        with pytest.raises(ValueError, match="in a node"):
            async with using(str(run)):
                raise ValueError("in a node")

    asyncio.run(work())
    asyncio.run(open_and_close(run))


class TestServer:
    def test_the_named_one_openai_s_where_there_is_a_key_and_none_without_a_model(self) -> None:
        assert server_url(record(arms=[Arm()]), Machine()) is None
        assert server_url(record(arms=[LLM]), Machine(offline=True)) is None
        assert server_url(record(arms=[Arm(), LLM]), Machine(api_key=SecretStr("k"))) == OPENAI_URL
        assert server_url(record(arms=[LLM]), Machine(base_url="http://localhost:1/v1/")) == "http://localhost:1/v1"

    @pytest.mark.parametrize(
        "machine", [Machine(), Machine(base_url="localhost/v1"), Machine(base_url="http://u:p@h/v1")]
    )
    def test_none_or_a_bad_one_is_refused(self, machine: Machine) -> None:
        with pytest.raises(SettingsError, match="LLM_BASE_URL"):
            server_url(record(arms=[LLM]), machine)

    def test_a_run_with_a_model_is_not_opened_without_a_server(self, tmp_path: Path) -> None:
        run = begin_run(tmp_path / "run_llm", arms=[LLM])
        with pytest.raises(SettingsError, match="LLM_API_KEY or LLM_BASE_URL"):
            asyncio.run(open_and_close(run))
