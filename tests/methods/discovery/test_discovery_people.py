"""People who are interviewed: a model asks them and reads what they say where there is one, and they cost nothing
themselves."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from enquete.interfaces.web.models import PostBody
from enquete.interfaces.web.pages import fields_for
from enquete.methods.discovery.interview import DiscoverySettings
from enquete.methods.discovery.schema import load_schema
from enquete.study.method_operations import operate
from tests.methods.discovery import originals
from tests.support.model_server import ModelServer
from tests.support.studies import call_keys, run_folder

BOB = {"kind": "person", "name": "Bob"}
WARM = {"project_id": "p", "conversation_id": "bob", "ds_id": "warm-up-with-challenges"}
ANSWER = re.compile(r"\[\[answer:(\w+)\n(.*?)\n\1\]\]", re.DOTALL)


def reader(readings: dict[str, Any]) -> Callable[[dict[str, Any]], str | None]:
    """A model that reads these answers so, and gives no question that could be asked."""

    def script(body: dict[str, Any]) -> str:
        match = ANSWER.search(body["messages"][-1]["content"])
        return json.dumps({"record": readings.get(match[2], {})} if match else {"question": "", "about": ""})

    return script


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "simulations").mkdir()
    do(tmp_path, "start_project", project_id="p")
    return tmp_path


def do(root: Path, name: str, /, **given: Any) -> Any:
    return asyncio.run(operate(name, given, root, None))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[dict[str, Any]], ModelServer]]:
    """Makes a server that the environment names."""
    open_: list[ModelServer] = []

    def made(readings: dict[str, Any]) -> ModelServer:
        server = ModelServer(script=reader(readings)).__enter__()
        open_.append(server)
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "reader")
        return server

    yield made
    for server in open_:
        server.__exit__(None, None, None)


@pytest.mark.usefixtures("results_only")
def test_a_model_reads_what_a_person_says_and_only_the_interviewer_costs(root: Path, model: Any) -> None:
    """Not "We make craft beers, …" as the product's name, and “Nothing more, really.” is no value."""
    beers, more = "We make craft beers, twelve kinds, in small batches", "Nothing more, really."
    server = model({
        beers: {"product-or-service-name": {"value": "craft beers", "quote": "craft beers"},
                "scheduling-challenges": [{"value": "product-variation", "quote": "twelve kinds"}]},
    })  # fmt: skip
    do(root, "conduct_interview", **WARM, budget=2, respondent=BOB)
    first = do(root, "answer_interview", **WARM, answer=beers)
    assert first["ascr"] == {"product-or-service-name": "craft beers", "scheduling-challenges": ["product-variation"]}
    last = do(root, "answer_interview", **WARM, answer=more)
    assert (last["complete"], last["missing"]) == (False, ["one-more-thing"])
    keys = call_keys(run_folder(root / "projects" / "p" / "bob"))
    assert {purpose for _, _, _, purpose, *_ in keys} == {"question", "interpret"}
    assert len(server.requests) == len(keys)


STEPS = """1. <b>Mixing & Kneading</b> - Inputs: rye flour, water - Equipment: mixer
2. <b>Proving</b> - Inputs: dough (from mixing), yeast - Equipment: proving cabinet, baskets
3. <b>Baking</b> - Inputs: risen loaves - Equipment: deck oven
4. <b>Packing</b> (optional) - Inputs: paper bags - Equipment: bagging table"""
TIMES = """Here they are: #+begin_src HTML <table><tr><td>Mixing & Kneading</td><td>20-30 minutes</td></tr>
<tr><td>Proving</td><td>2-4 hours (longer in winter)</td></tr><tr><td>Baking</td><td>it varies</td></tr>
<tr><td>Packing</td><td>1 hour</td></tr></table> #+end_src"""


def steps(*durations: dict[str, str]) -> dict[str, Any]:
    """As a model of the originals' gives it: the whole of it each time, no quotes, annotated here and there."""
    made: list[dict[str, Any]] = [
        {"process-id": "mixing-and-kneading", "inputs": ["rye flour", "water"], "outputs": ["dough"],
            "resources": ["mixer"],
         "comment": "Everything into the mixer."},
        {"process-id": "proving", "inputs": [{"item-id": "dough", "from": "mixing-and-kneading"}, "yeast"],
         "outputs": ["risen loaves"], "resources": ["proving cabinet", "baskets"]},
        {"process-id": "baking", "inputs": [{"item-id": "risen loaves", "from": "proving"}], "outputs": ["warm bread"],
         "resources": ["deck oven"]},
        {"process-id": "packing", "optional?": {"val": True, "comment": "Said so.", "quote": "optional"},
         "inputs": [{"item-id": "warm bread", "from": "baking"}, "paper bags"], "outputs": ["bagged bread"],
         "resources": ["bagging table"]},
    ]  # fmt: skip
    for process, duration in zip(made, durations, strict=False):
        process["duration"] = duration
    return {
        "process-id": {"val": "bread-making", "comment": "Coined."},
        "subprocesses": [{**made_process, "subprocesses": []} for made_process in made],
    }


def leaves(record: Any) -> int:
    if isinstance(record, dict):
        return sum(leaves(part) for name, part in record.items() if name not in ("comment", "quote"))
    return sum(map(leaves, record)) if isinstance(record, list) else 1


@pytest.mark.usefixtures("results_only")
def test_a_whole_exchange_about_a_process_keeps_its_leaves_with_the_durations(root: Path, model: Any) -> None:
    """In the shape of the originals' own exchanges: steps in prose, then times in a table, read into the whole record
    each time. Of those nobody said, an output and a truth without words, nothing is kept."""
    durations = [
        {"units": "minutes", "value-string": "20-30"}, {"units": "hours", "value-string": "2-4 (longer in winter)"},
        {"value-string": "it varies"}, {"units": "hour", "value-string": "1"},
    ]  # fmt: skip
    whole = steps(*durations)
    model({STEPS: steps(), " ".join(TIMES.split("\n")): whole, TIMES: whole})
    name = do(root, "add_discovery_schema", definition=originals.PROCESS)["ds_id"]
    place = {"project_id": "p", "conversation_id": "bob", "ds_id": name}
    do(root, "conduct_interview", **place, budget=5, respondent=BOB)
    do(root, "answer_interview", **place, answer=STEPS)
    record = do(root, "answer_interview", **place, answer=TIMES)["ascr"]
    assert [process["duration"] for process in record["subprocesses"]] == durations
    assert record["subprocesses"][1]["inputs"] == [
        {"item-id": "dough", "from": "mixing-and-kneading"}, {"item-id": "yeast"}]  # fmt: skip
    # 32: names 1 + 4, inputs 10, outputs 4, equipment 5, times 7, optional 1. Nobody said the last output, nor quoted
    # that a step is optional.
    assert (leaves(whole), leaves(record)) == (32, 30)


@pytest.mark.usefixtures("unreported")
def test_a_schema_that_is_handed_over_is_named_from_then_on(root: Path) -> None:
    told = do(root, "add_discovery_schema", definition=originals.EVENTS)
    assert (told["ds_id"], told["questions"], told["fields"]["events.constituents.base"]) == (
        "process/events", 6, "choice",
    )  # fmt: skip
    assert "events.constituents.base: a closed list of 3, from its enumeration" in told["translated"]
    listed = {schema["ds_id"]: schema for schema in do(root, "list_discovery_schemas", project_id="p")["schemas"]}
    assert listed["process/events"]["state"] == "not begun"
    place = {"project_id": "p", "conversation_id": "c", "ds_id": "process/events"}
    known = {"events": {"val": [{"event-id": "class", "constituents": "none"}], "comment": "as the originals keep it"}}
    begun = do(root, "conduct_interview", **place, respondent=BOB, current_ascr=known)
    assert begun["ascr"] == {"events": [{"event-id": "class", "constituents": [{"constituent": "none"}]}]}
    with pytest.raises(Exception, match="is the id of a schema that is there already"):
        do(root, "add_discovery_schema", definition=load_schema("orm").model_dump(mode="json"))
    with pytest.raises(Exception, match="added here: process/events"):
        do(root, "conduct_interview", **{**place, "ds_id": "process/evnts"}, respondent=BOB)


def test_a_study_takes_a_schema_itself_from_the_page_and_over_http() -> None:
    """As text that the form's field for several lines holds, or as an object; a file still cannot be named."""
    (field,) = fields_for(DiscoverySettings, ["ds"])
    assert field.kind == "words"
    for given in (json.dumps(originals.PROCESS), originals.PROCESS):
        body = PostBody.model_validate({"methods": ["discovery"], "settings": {"discovery": {"ds": given}}})
        settings = DiscoverySettings.model_validate(
            body.request()["settings"]["discovery"], context={"own_folder": "nowhere"}
        )
        assert (settings.ds, settings.discovery.id) == ("process/bakery", "process/bakery")
        again = DiscoverySettings.model_validate(settings.model_dump(mode="json"))  # as a run's record keeps it
        assert again.discovery == settings.discovery
    with pytest.raises(ValidationError, match="a client can name no file"):
        PostBody.model_validate({"methods": ["discovery"], "settings": {"discovery": {"ds": "../schema.json"}}})
