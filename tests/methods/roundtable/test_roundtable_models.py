"""Four models of four servers at one table, over real HTTP: who is asked where, with which key; what stands by when one
is down; what estimate, ledger, table and report say of it. The seats have the shape of ai-roundtable's four providers,
made up here."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import enquete
from enquete.methods.roundtable.agreement import PairsOfModels, pairs_of_models
from enquete.methods.roundtable.modes import Response
from enquete.reports.run_reading import open_run
from enquete.state.errors import EnqueteError, SettingsError
from tests.methods.roundtable.callers import QUESTION, SEATS, python
from tests.support.bare_runs import results_alone, without_reports
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder
from tests.support.studies import personas

KEYS = {"ANTHROPIC_KEY": "key-of-claude", "GPT_KEY": "key-of-chatgpt", "GEMINI_KEY": "key-of-gemini"}


def label(model: str, server: ModelServer) -> str:
    return f"{model} ({server.base_url.removeprefix('http://').removesuffix('/v1')})"


@dataclass(frozen=True)
class Debate:
    root: Path
    servers: Mapping[str, ModelServer]
    begun: Any
    ended: Any

    @property
    def folder(self) -> Path:
        return self.root / "roundtables" / "four"

    @property
    def run(self) -> Path:
        return self.folder / "runs" / str(self.ended["run_id"])

    @property
    def labels(self) -> dict[str, str]:
        """Of those who spoke in the end."""
        models = {"Claude": "claude", "ChatGPT": "gpt-mini", "Gemini": "gemini", "Own": "own-7b"}
        at = {"Claude": "claude", "ChatGPT": "gemini", "Gemini": "gemini", "Own": "own"}
        return {name: label(model, self.servers[at[name]]) for name, model in models.items()}


@pytest.fixture(scope="module")
def debate(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Debate]:
    """Claude, ChatGPT, Gemini and a model of one's own without a key, two rounds; ChatGPT's server is down from the
    start, and a smaller model at Gemini's stands by. A budget that is short stops it once."""
    root = tmp_path_factory.mktemp("four")
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        servers = {
            name: stack.enter_context(ModelServer(seed=n)) for n, name in enumerate(("claude", "gpt", "gemini", "own"))
        }
        known = dict(zip((server.base_url for server in servers.values()), (*KEYS, ""), strict=True))
        for name, value in {
            **KEYS,
            "ENQUETE_MODEL_SERVERS": json.dumps(known),
            "LLM_API_KEY": "of-nobody-here",
            "ENQUETE_PATIENCE_S": "1",
            "ENQUETE_PRICES": str(root / "prices.yaml"),
        }.items():
            patch.setenv(name, value)
        (root / "prices.yaml").write_text(
            f"servers:\n  {servers['claude'].base_url}: {{claude: {{input: 3, output: 15}}}}\n"
        )
        servers["gpt"].vanish()
        seats = [
            {"name": "Claude", "model": "claude", "base_url": servers["claude"].base_url,
                "key_variable": "ANTHROPIC_KEY"},
            {"name": "ChatGPT", "model": "gpt", "base_url": servers["gpt"].base_url, "key_variable": "GPT_KEY",
                "temperature": 0.2,
             "alternates": [{"model": "gpt-mini", "base_url": servers["gemini"].base_url}]},
            {"name": "Gemini", "model": "gemini", "base_url": servers["gemini"].base_url},
            {"name": "Own", "model": "own-7b", "base_url": servers["own"].base_url, "persona": "A baker",
                "temperature": 0},
        ]  # fmt: skip
        given = {"roundtable_id": "four", "question": QUESTION, "mode": "adversarial", "rounds": 2, "personas": seats}
        with without_reports():
            begun = python(root, "start_roundtable", **given, budget_tokens=30_000, confirm=True)
        with results_alone(exports=True):
            ended = python(root, "continue_roundtable", roundtable_id="four", budget_tokens=3_000_000)
        yield Debate(root, servers, begun, ended)


def test_each_seat_asks_its_own_server_with_its_own_key_and_temperature(debate: Debate) -> None:
    asked = {
        (request.model, request.authorization.removeprefix("Bearer "), request.body["temperature"])
        for server in debate.servers.values()
        for request in server.requests
    }
    assert asked == {
        ("claude", KEYS["ANTHROPIC_KEY"], 0.7), ("claude", KEYS["ANTHROPIC_KEY"], 0),  # it codes the arguments, too
        ("gpt-mini", KEYS["GEMINI_KEY"], 0.2), ("gemini", KEYS["GEMINI_KEY"], 0.7), ("own-7b", "none", 0),
    }  # fmt: skip
    assert not any(
        "of-nobody-here" in request.authorization for server in debate.servers.values() for request in server.requests
    )
    prompts = {
        request.model: request.body["messages"][0]["content"] for s in debate.servers.values() for request in s.requests
    }
    assert "No role is given to you" in prompts["gemini"]
    assert "A baker" in prompts["own-7b"]
    assert "No role is given" not in prompts["own-7b"]


def test_a_pause_in_between_buys_nothing_twice(debate: Debate) -> None:
    assert (debate.begun["status"], debate.ended["status"]) == ("paused", "completed")
    with open_run(debate.run) as reading:
        (sent,) = reading.ledger.read("SELECT sum(sends) FROM calls WHERE status='settled'").fetchone()
        assert not reading.ledger.read("SELECT 1 FROM calls WHERE status='lost'").fetchall()
    assert sum(len(server.requests) for server in debate.servers.values()) == sent


def test_an_alternate_takes_the_seat_for_good_and_the_ledger_keeps_why(debate: Debate) -> None:
    with open_run(debate.run) as reading:
        calls = [
            call
            for call in reading.calls("roundtable", "T1")
            if call["purpose"] == "answer" and "chatgpt" in call["subject"]
        ]
        pinned = reading.pinned_values("main", "roundtable")
    gone, taken = label("gpt", debate.servers["gpt"]), debate.labels["ChatGPT"]
    first = [(call["status"], call["model"], call["attempt"]) for call in calls if call["subject"].split("|")[2] == "0"]
    assert first == [
        ("failed", gone, 0),
        ("settled", taken, 5),
    ]  # three attempts of a block and two more are the first one's
    assert {call["model"] for call in calls[1:]} == {taken}
    assert "could not be reached" in calls[0]["error"]
    (switch,) = [value for name, value in pinned.items() if name.startswith("switched/")]
    assert (switch["from"], switch["to"], switch["round"]) == (gone, taken, 0)
    (told,) = debate.ended["switched"]
    assert (told["name"], told["from"], told["to"]) == ("ChatGPT", gone, taken)
    assert KEYS["GPT_KEY"] not in json.dumps(debate.ended)


def test_replies_rows_and_report_say_which_model_said_what(debate: Debate) -> None:
    details = python(debate.root, "get_round_details", roundtable_id="four")
    assert {response["name"]: response["model"] for response in details["responses"]} == debate.labels
    assert details["model"] == ", ".join(debate.labels.values())
    detail = python(debate.root, "get_response_detail", roundtable_id="four", agent="Gemini")
    assert detail["model"] == debate.labels["Gemini"]
    folder = debate.folder / "synthesis" / debate.run.name
    rows = pd.read_csv(folder / "exports/all_responses.csv", encoding="utf-8-sig")
    told = set(zip(rows["agent_name"], rows["model"], rows["temperature"], strict=True))
    temperatures = {"Claude": 0.7, "ChatGPT": 0.2, "Gemini": 0.7, "Own": 0.0}
    assert told == {(name, model, temperatures[name]) for name, model in debate.labels.items()}
    report, appendix = ((folder / name).read_text("utf-8").replace("\\", "") for name in ("report.md", "appendix.md"))
    assert "Several language models answered" in report
    assert "4 agents share 4 models" in report
    assert "Models that were given up" in report
    spent = {line.split(" | ")[0]: line for line in appendix.splitlines() if line.startswith("| ")}
    # beside its requests: US dollars a million tokens of input and of output
    prices = {model: spent[f"| {model}"].split(" | ")[-2:] for model in debate.labels.values()}
    dear, *others = debate.labels.values()
    assert prices == {dear: ["3.00", "15.00 |"], **{model: ["–", "– |"] for model in others}}
    transcript = (debate.folder / "T1" / "roundtable" / debate.run.name / "transcript.jsonl").read_text("utf-8")
    assert {(turn["name"], turn["model"]) for turn in map(json.loads, transcript.splitlines())} == set(
        debate.labels.items()
    )


def test_agreement_is_shown_within_and_between_models(debate: Debate) -> None:
    """Four models have six pairs, none within one. By hand: a and b are of one model and differ, c agrees with a."""
    with open_run(debate.run) as reading:
        assert len(reading.procedure("roundtable").served(reading.settings("roundtable"))) == 5
    data = json.loads((debate.folder / "T1" / "roundtable" / debate.run.name / "roundtable.json").read_text("utf-8"))
    assert [pair["how"] for pair in data["between_models"]] == ["between"] * 6
    responses = {who: Response(position=who, stance=side) for who, side in {"a": "yes", "b": "no", "c": "yes"}.items()}
    assert pairs_of_models(responses, {"a": "x", "b": "x", "c": "y"}) == [
        PairsOfModels("x", "x", 1, 0), PairsOfModels("x", "y", 2, 1)
    ]  # fmt: skip
    assert pairs_of_models(responses, {"a": "x", "c": "y"}, [("a",), ("c",)]) == [PairsOfModels("x", "y", 1, 0)]


def test_agents_of_a_simulation_and_a_bare_model_sit_at_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The agents answer by the run's model, one of them by its own at the same server; prices are told for each
    before."""
    mirofish_folder(tmp_path / "simulations" / "sim_x", 3)
    profiles = json.loads((tmp_path / "simulations" / "sim_x" / "reddit_profiles.json").read_text())
    ada, ben = (profiles[place]["name"] for place in (1, 0))
    with ModelServer() as usual, ModelServer(seed=1) as other:
        monkeypatch.setenv("ENQUETE_MODEL_SERVERS", json.dumps({other.base_url: ""}))
        monkeypatch.setenv("LLM_BASE_URL", usual.base_url)
        monkeypatch.setenv("LLM_API_KEY", "of-the-run")
        given = {"sim_id": "sim_x", "agents": [ada, {"name": ben, "model": "second"}], "model": "first",
                 "personas": [{"name": "Guest", "model": "third", "base_url": other.base_url}]}  # fmt: skip
        with without_reports():
            done = python(
                tmp_path, "start_roundtable", roundtable_id="mixed", question=QUESTION, rounds=1, private=False, **given
            )
        assert (done["status"], done["groups"][0]["participants"]) == ("completed", [ada, ben, "Guest"])
        assert {call.model for call in usual.requests if "moderated roundtable" in str(call.body)} == {
            "first",
            "second",
        }
        assert {request.model for request in other.requests} == {"third"}
        assert {request.authorization for request in other.requests} == {"Bearer none"}
    responses = python(tmp_path, "get_round_details", roundtable_id="mixed")["responses"]
    assert {response["name"]: response["model"].partition(" (")[0] for response in responses} == {
        ada: "first", ben: "second", "Guest": "third",
    }  # fmt: skip


def test_the_estimate_prices_every_model_at_its_own_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is asked. By hand: the dear model's output is a hundred times the other's, at the same tokens."""
    prices = tmp_path / "prices.yaml"
    prices.write_text(
        "servers:\n  http://a.example/v1: {m: {input: 1, output: 1}}\n  http://b.example/v1: {m: {input: 100, output: "
        "100}}\n"
    )
    monkeypatch.setenv("ENQUETE_PRICES", str(prices))
    seats = [
        {"name": f"Person {n}", "model": "m", "base_url": f"http://{host}.example/v1"} for n, host in enumerate("ab")
    ]
    settings = {"compose": "hand", "members": "Person 0, Person 1", "seats": seats, "rounds": 1}
    expected = enquete.estimate(
        personas(tmp_path, 2), methods=["roundtable"], settings={"roundtable": settings}, language="en", model="m",
        base_url="http://a.example/v1", out=str(tmp_path / "out"),
    )  # fmt: skip
    lines = {line.model: line for line in expected.lines if line.purpose == "answer"}
    assert set(lines) == {"m (a.example)", "m (b.example)"}
    cheap, dear = lines["m (a.example)"], lines["m (b.example)"]
    assert cheap.calls.likely == dear.calls.likely == 3
    assert dear.usd.likely / dear.tokens.likely == pytest.approx(100 * cheap.usd.likely / cheap.tokens.likely)


def with_model(**given: Any) -> dict[str, Any]:
    return {"personas": [{**SEATS[0], **given}, SEATS[1]]}


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (with_model(model="m", key_variable="sk-live-123"),
            "key_variable of Ada: write the NAME of an environment variable"),
        (with_model(model="m", base_url="localhost"), "base_url of Ada: 'localhost' is no base URL"),
        (with_model(model="m", base_url="http://a/v1=2,http://b/v1"), "is no base URL; write one such as"),
        (with_model(model="m", base_url="https://u:pw@host/v1"), "'host/v1' is no base URL"),
        (with_model(key_variable="A_KEY"), "key_variable of Ada: named without a model"),
        (with_model(alternates=[{"model": "m"}]), "alternates of Ada: named without a model"),
        (with_model(model="m", alternates=[{"model": "m"}]), "'m' at the same server stands there twice"),
        (with_model(model="m", alternates=[{"temperature": 1}]), "alternates of Ada: each names its model"),
        (with_model(model="m", temperature=3), "temperature: 3 is not taken; write a number up to 2"),
        (with_model(model="m", modle="m"), "modle: there is no such field"),
        (with_model(model="m", base_url="http://listed.example/v1", key_variable="OTHER_KEY"), "may not be named here"),
        (with_model(model="m", base_url="http://elsewhere.example/v1"),
            "lists what may, in ENQUETE_MODEL_SERVERS: http://listed"),
        (with_model(model="m", base_url="http://listed.example/v1"), "key_variable: 'LISTED_KEY' is not set"),
        ({**with_model(model="m"), "people": ["Ada"]}, "Ada: a person's seat has no model"),
        ({**with_model(model="m"), "synthetic": True}, "synthetic: the seat of Ada names a model"),
        ({"personas": SEATS, "agents": ["Ada"]}, "agents: they are a simulation's; name its sim_id"),
        ({"personas": SEATS, "sim_id": "sim_x"}, "or both with `agents`"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_seat_is_said_before_any_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], says: str
) -> None:
    with ModelServer() as server:
        monkeypatch.setenv("ENQUETE_MODEL_SERVERS", '{"http://listed.example/v1": "LISTED_KEY"}')
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "m")
        with pytest.raises(EnqueteError) as caught:
            python(tmp_path, "start_roundtable", roundtable_id="new", question=QUESTION, **given)
        assert says in str(caught.value)
        assert "sk-live" not in str(caught.value)
        assert not server.requests
    assert not (tmp_path / "roundtables" / "new" / "roundtable.json").exists()


@pytest.mark.parametrize(
    ("seats", "more", "says"),
    [
        ([{"name": "Zoe", "model": "m"}], {}, "nobody is called 'Zoe'; there are Person 0, Person 1"),
        ([{"name": "Person 0", "model": "m"}] * 2, {}, "'Person 0' stands there twice"),
        ([{"name": "Person 0"}], {}, "names no model and no temperature"),
        ([{"name": "Person 0", "model": "m", "key_variable": "NOWHERE"}], {},
            "'NOWHERE' is not set, neither in the environment"),
        ([{"name": "Person 0", "model": "local"}], {}, "answers whole runs on this machine"),
        ([{"name": "Person 0", "model": "m"}], {"respondent": "synthetic"}, "no model answers in this run"),
    ],
)  # fmt: skip
def test_seats_of_a_run_are_checked_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seats: list[dict[str, Any]], more: dict[str, Any], says: str
) -> None:
    file, model = personas(tmp_path, 2), {} if more.get("respondent") else {"model": "m"}
    with ModelServer() as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        with pytest.raises(SettingsError, match=says):
            enquete.conduct_interviews(
            file, methods=["roundtable"], settings={"roundtable": {"seats": seats}}, language="en",
            out=str(tmp_path / "out"), **model, **more,
        )  # fmt: skip
    assert not server.requests
