"""Every setting of a run: what was recorded beats the environment, what is named beats both and is recorded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from enquete.ledger.folders import LEDGER
from enquete.ledger.ledger import Ledger
from enquete.runs.run_session import using
from enquete.runs.run_settings import RUN_SETTINGS, RunSettings, recorded_settings, resolve_run_machine, settings_of
from enquete.state.errors import LedgerError
from enquete.state.request import RunRequest, fields_about, parse_request
from enquete.state.settings import Environment, Machine
from tests.support.new_runs import begin_run

RECORDED = RunSettings(
    base_url="http://begun.example/v1", concurrency=3, limits={"m": {"concurrency": 2}}, timeout_s=7, patience_s=11,
    waits_for_server=True, assume_completed=True, executor="processes:2", shard_size=5,
    zep_url="http://zep.example", prices=None, local_context=4096,
)  # fmt: skip
ELSEWHERE = {
    "LLM_BASE_URL": "http://other.example/v1", "ENQUETE_CONCURRENCY": "9",
    "ENQUETE_LIMITS": '{"m": {"concurrency": 9}}',
    "ENQUETE_PATIENCE_S": "99", "ENQUETE_EXECUTOR": "local", "LLM_API_KEY": "here",
}  # fmt: skip
NAMED: dict[str, Any] = {
    "base_url": "http://named.example/v1", "concurrency": 4, "limits": {"n": {"concurrency": 1}}, "timeout_s": 8,
    "patience_s": 12, "executor": "local", "shard_size": 6,
}  # fmt: skip


def resolve(monkeypatch: pytest.MonkeyPatch, **named: Any) -> RunSettings:
    for name, value in ELSEWHERE.items():
        monkeypatch.setenv(name, value)
    machine = resolve_run_machine(parse_request(**named), Environment.read(), RECORDED)
    assert machine.api_key is not None  # keys are the environment's, always
    return settings_of(machine)


def test_another_environment_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    assert resolve(monkeypatch) == RECORDED


@pytest.mark.parametrize("name", NAMED)
def test_what_is_named_changes_that_alone(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Of limits those of the models that are named."""
    wanted = RECORDED.model_dump(mode="json") | {name: NAMED[name]}
    if name == "limits":
        wanted["limits"] = RECORDED.model_dump(mode="json")["limits"] | {"n": NAMED["limits"]["n"]}
    found = resolve(monkeypatch, **{name: NAMED[name]}).model_dump(mode="json")
    assert RunSettings.model_validate(found) == RunSettings.model_validate(wanted)


def test_every_setting_about_driving_is_recorded() -> None:
    """But for the caps, which the ledger keeps by themselves, and where the results are."""
    elsewhere = {"root", "out", "budget_tokens", "budget_usd"}
    driving = {*fields_about("driving"), "shard_size"} - elsewhere
    assert driving <= RunSettings.model_fields.keys()
    assert driving - {"assume_completed"} == NAMED.keys()


def test_what_only_an_environment_says_is_its_own_where_it_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENQUETE_LOCAL_CONTEXT", "2048")
    monkeypatch.setenv("ZEP_API_URL", "http://moved.example")
    found = resolve(monkeypatch)
    assert (found.local_context, found.zep_url) == (2048, "http://moved.example")


def test_a_run_that_was_never_begun_takes_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENQUETE_CONCURRENCY", "9")
    assert resolve_run_machine(RunRequest(), Environment.read(), None).concurrency == 9


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin_run(tmp_path / "runs" / "run_test")


async def open_session(run: Path, machine: Machine | None = None) -> Machine:
    async with using(str(run), machine) as run_session:
        return run_session.machine


def test_a_session_opens_as_the_last_one_that_named_something(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider's own server stays that server, too, whatever an environment says later."""
    asyncio.run(open_session(run, Machine(concurrency=3, timeout_s=7)))
    for name, value in ELSEWHERE.items():
        monkeypatch.setenv(name, value)
    machine = asyncio.run(open_session(run))
    assert (machine.concurrency, machine.timeout_s, machine.base_url) == (3, 7, None)
    recorded = recorded_settings(run)
    assert recorded is not None
    assert (recorded.concurrency, recorded.base_url) == (3, None)


def test_settings_that_cannot_be_read_are_damage(run: Path) -> None:
    async def spoil() -> None:
        ledger = Ledger(run / LEDGER, "run_test")
        await ledger.note(RUN_SETTINGS, '{"concurrency": "many"}')
        await ledger.close()

    asyncio.run(spoil())
    with pytest.raises(LedgerError, match="not a readable ledger"):
        recorded_settings(run)
