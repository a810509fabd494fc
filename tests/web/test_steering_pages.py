"""Beginning and deleting a run from its pages, in this process; what a form means as a request."""

from __future__ import annotations

import html
import json
import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from enquete.interfaces.web.pages import request_of
from enquete.ledger.folders import held
from enquete.methods.registry import methodologies
from enquete.state.errors import SettingsError
from tests.interfaces.conftest import DATA
from tests.support.populations import mirofish_folder
from tests.web.test_web_pages import HOSTILE, OWN, browsing

pytestmark = pytest.mark.usefixtures("no_reports")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return mirofish_folder(tmp_path_factory.mktemp("root") / "simulations" / "sim_a", 3, status="completed")


@pytest.fixture(scope="module")
def client(folder: Path) -> Iterator[TestClient]:
    with browsing(folder.parents[1]) as client:
        client.headers.update(OWN)
        yield client


def test_a_form_offers_every_methodology_that_ships_an_instrument_and_means_what_was_said_in_it(
    client: TestClient,
) -> None:
    request = request_of(
        [("methods", "laddering"), ("methods", "delphi"), ("types", "ngo"), ("sample", "5"), ("stratify", "true"),
         ("budget_tokens", "2 000 000"), ("where", " "), ("replicate_models", "a, b,"), ("instrument.delphi", "mine"),
         ("set.laddering.turns", "3"), ("set.diversity.x", "1"), ("root", "/etc"), ("set.none.x", "1")]
    )  # fmt: skip
    assert request == {
        "methods": ["laddering", "delphi"], "types": ["ngo"], "sample": 5, "stratify": True, "budget_tokens": 2_000_000,
        "replicate_models": ["a", "b"], "instruments": {"delphi": "mine"}, "settings": {"laddering": {"turns": 3}},
    }  # fmt: skip
    with pytest.raises(SettingsError, match="methods: none is ticked; tick at least one of longitudinal"):
        request_of([("language", "en")])
    assert request_of([("methodology", "delphi")]) == {}  # that one anew
    for wrong, message in ((("sample", "none"), "sample: "), (("instrument.delphi", "../x"), "instruments.delphi")):
        with pytest.raises(SettingsError, match=message):
            request_of([("methods", "delphi"), wrong])
    page = client.get("/simulations/sim_a/").text
    assert set(re.findall(r'name="methods" value="([^"]+)"', page)) <= set(methodologies())
    checked = re.findall(r'name="methods" value="([^"]+)" checked', page)
    assert checked == [name for name, methodology in methodologies().items() if methodology.default]


@pytest.mark.parametrize(("field", "message"), [("sample=-1", "sample"), ("where=" + "x", "x"), ("seed=9e9", "seed")])
def test_what_cannot_be_asked_is_said_above_the_form_as_it_was_filled_in(
    client: TestClient, field: str, message: str
) -> None:
    answer = client.post(
        "/simulations/sim_a/estimate",
        content=f"methods=scenario&budget_usd=7.25&{field}",
        headers={"Content-Type": "application/x-www-form-urlencoded"},
    )
    assert answer.status_code == 400
    assert message in re.findall(r'id="error">([^<]*)<', answer.text)[0]
    assert 'value="7.25"' in answer.text


def test_questions_are_drafted_read_and_taken_into_the_form(folder: Path, client: TestClient) -> None:
    ward = DATA / "sim_5ad1e6c0b742"
    shutil.copytree(ward, folder.parent / ward.name)
    place = f"/simulations/{ward.name}/"
    assert client.get(f"{place}drafts").headers["location"] == place
    assert 'action="/simulations/sim_5ad1e6c0b742/draft"' in client.get(place).text
    many = client.post(f"{place}draft", data={"themes": ", ".join(f"theme {n}" for n in range(9))})
    assert (many.status_code, "themes: " in many.text, "theme 8" in many.text) == (
        400,
        True,
        True,
    )  # what was typed stays
    form = {"topic": "Die Station = the ward", "themes": "Dienstplan = the roster, Pausen = breaks"}
    assert client.post(f"{place}draft", data=form).headers["location"] == f"{place}drafts"
    page = client.get(f"{place}drafts").text
    assert "the roster" in page
    assert "the ward" in page
    assert "DRAFT, by rule from what the agents of sim_5ad1e6c0b742 wrote" in page
    hidden = re.findall(r'type="hidden" name="([^"]+)" value="([^"]+)"', page)
    named = dict(hidden)["instrument.longitudinal"]
    assert named == "drafts-sim_5ad1e6c0b742/longitudinal"
    filled = client.post(f"{place}change", data={name: value for name, value in hidden if name != "methods"}).text
    assert f'<option value="{named}" selected>' in filled
    assert f'href="{place}drafts"' in filled
    refused = client.post(f"{place}draft")
    assert (refused.status_code, "is there already" in refused.text) == (400, True)


def test_a_run_is_weighed_begun_and_deleted(client: TestClient, folder: Path) -> None:
    asked = {"methods": "poll", "language": "en", "more": HOSTILE}
    weighed = client.post("/simulations/sim_a/estimate", data=asked)
    assert "synthetic answers: nothing is paid" in weighed.text
    assert 'name="more" value="&lt;script&gt;alert(1)&lt;/script&gt; \\u202e' in weighed.text
    assert not (folder / "interviews").exists()
    assert client.post("/simulations/sim_a/change", data=asked).text.count("checked") == 1

    run = client.post("/simulations/sim_a/begin", data=asked).headers["location"]
    assert 'data-status="completed"' in stopped(client, run)
    page = client.get(run).text
    assert "synthetic answers" in page
    assert "data-events" not in page  # nothing to follow any more
    again = client.post("/simulations/sim_a/begin", data=asked).headers["location"]
    assert again == f"{run}?shown=1"
    assert "nobody was asked again" in client.get(again).text
    assert client.post(f"{run}resume", data={"budget_tokens": "x"}).status_code == 400

    ledger = folder / "interviews" / "runs" / run.split("/")[3] / "ledger.sqlite"
    assert "calls a second" not in page
    with held(ledger.parent):  # as if another process went on with it
        until = time.monotonic() + 30
        while "calls a second" not in (page := client.get(f"{run}progress").text) and time.monotonic() < until:
            time.sleep(0.1)  # what a page says may be a second old
    assert re.search(r"<span>\d+\.\d calls a second</span>", page)
    assert "Delete this run?" in client.get(f"{run}delete").text
    assert ledger.exists()
    assert client.post(f"{run}delete").headers["location"] == "/simulations/sim_a/"
    assert not ledger.exists()
    assert "Nobody has been interviewed yet." in client.get("/").text


def test_a_person_takes_a_seat_and_answers_in_the_page(client: TestClient, folder: Path) -> None:
    """At a table of three synthetic participants, for one round: asked alone, in the round, and alone again."""
    name = json.loads((folder / "reddit_profiles.json").read_text("utf-8"))[0]["name"]
    asked = {"methods": "roundtable", "language": "en", "set.roundtable.people": name, "set.roundtable.rounds": "1",
             "set.roundtable.size": "3"}  # fmt: skip
    run = client.post("/simulations/sim_a/begin", data=asked).headers["location"]
    ranked = 0
    for _ in range(6):
        page = stopped(client, run)
        if 'data-status="waiting"' not in page:
            break
        seat = client.get(f"{run}seat").text  # the only person's
        assert name in seat
        for administration in ("Delete this run", "tokens of at most", f'href="{run}', "Simulations</a>"):
            assert administration not in seat
        there = html.unescape(re.findall(r'<form method="post" action="([^"]+)"', seat)[-1])
        assert client.post(f"{run}seat?who=nobody").status_code == 404
        fields = dict.fromkeys(re.findall(r'<textarea[^>]* name="([^"]+)"', seat), "Yes, it should.")
        fields |= dict.fromkeys(re.findall(r'name="([^"]+)" type="number"', seat), "0.5")
        fields |= dict(reversed(re.findall(r'type="radio" name="([^"]+)" value="([^"]+)"', seat)))
        places = re.findall(r'<select name="([^"]+)"', seat)
        if places:
            ranked += 1
            twice = client.post(there, data={**fields, **dict.fromkeys(places, "1")})
            assert (twice.status_code, "give each option a place of its own" in twice.text) == (400, True)
            fields |= {place: str(number) for number, place in enumerate(reversed(places), 1)}
        assert client.post(there, data=fields).headers["location"] == there
    assert 'data-status="completed"' in page
    assert ranked == 2  # before and after
    assert "Nothing more is asked of you" in client.get(f"{run}seat").text


def stopped(client: TestClient, run: str) -> str:
    """A run's progress once nobody is being asked."""
    deadline = time.monotonic() + 60
    while re.search(r'data-status="(running|writing_up|pausing)"', page := client.get(f"{run}progress").text):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    return page
