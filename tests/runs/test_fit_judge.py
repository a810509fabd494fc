"""Where words say no or cannot tell whether questions fit, the run's model is asked once, in the run's ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import enquete
from enquete.state.errors import Unfit
from tests.support.model_server import ModelServer
from tests.support.studies import call_keys

pytestmark = pytest.mark.usefixtures("no_reports")

BANK = Path(__file__).parents[1] / "data" / "sim_683e8059ab27"


def _says(verdict: str) -> ModelServer:
    def script(body: dict[str, list[dict[str, str]]]) -> str | None:
        return verdict if "These questionnaires are to be put to them" in body["messages"][-1]["content"] else None

    return ModelServer(script=script)


def _asked(server: ModelServer, out: Path, **more: object) -> enquete.Run:
    """A pack on another topic, by words."""
    asked = {"methods": ["longitudinal"], "language": "en", "agents": ["UK"], "phase": "T1", "model": "m"}
    return enquete.conduct_interviews(BANK, out=out, base_url=server.base_url, **asked, **more)


def _verdict(fits: bool) -> str:
    return json.dumps({"verdicts": [{"name": "longitudinal", "fits": fits}]})


@pytest.fixture(autouse=True)
def _checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENQUETE_FIT")


def test_the_model_overrules_the_words_and_is_asked_once(tmp_path: Path) -> None:
    with _says(_verdict(True)) as server:
        run = _asked(server, tmp_path / "o")
        again = _asked(server, tmp_path / "o")
        assert (
            sum("questionnaires are to be put" in call.body["messages"][-1]["content"] for call in server.requests) == 1
        )
    assert again.run_id == run.run_id
    assert run.record.fit is not None
    assert (run.record.fit.methods, run.record.fit.by) == ([], "m")
    assert [key[3] for key in call_keys(run.folder)].count("fit") == 1
    assert run.spent["tokens"] == server.tokens  # counted with everything else


def test_a_no_leaves_nothing_of_the_run_and_what_cannot_be_read_the_words_verdict(tmp_path: Path) -> None:
    with _says(_verdict(False)) as server:
        with pytest.raises(Unfit, match=r"(?s)As m judges, the questions \(longitudinal\).*fit=any"):
            _asked(server, tmp_path / "o")
        assert not [*(tmp_path / "o").glob("*/runs/*")]
        assert server.count() == 1
    with _says("Perhaps.") as server, pytest.raises(Unfit, match="nothing of that occurs in the simulation"):
        _asked(server, tmp_path / "o")


def test_the_estimate_has_that_request_unless_any_fit_is_meant(tmp_path: Path) -> None:
    asked = {"methods": ["longitudinal"], "language": "en", "agents": ["UK"], "phase": "T1", "model": "m"}
    for fit, times in ((None, 1), ("any", 0)):
        expected = enquete.estimate(
            BANK, out=tmp_path, base_url="http://127.0.0.1:9/v1", **asked, **({"fit": fit} if fit else {})
        )
        assert [line.purpose for line in expected.lines].count("fit") == times
