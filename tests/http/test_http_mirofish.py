"""The interview pages of MiroFish's front end: what they call, and what they read of each answer, over real HTTP.

`Pages` does what `api/index.js`, `api/interview.js`, `Step4bInterviews.vue` and `interviews/*Panel.vue` do (commits
fede66ca and acaa0617 of 666ghj/MiroFish): its methods stand for theirs, and what a panel draws is what it would hand to
d3.
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections import defaultdict
from pathlib import Path
from statistics import fmean
from typing import Any, get_args

import httpx
import pytest

from enquete.interfaces.views import GOING_ON, StatusWord
from enquete.interfaces.web.models import TASK_STATUS, TaskStatus, aggregate_of
from tests.http.conftest import WAIT_S, serving, simulation
from tests.support.bare_runs import results_alone
from tests.support.model_server import ModelServer
from tests.support.populations import set_status

ORIGIN = "http://localhost:3000"
AGENTS = 4


class Rejected(Exception):
    """axios rejects: the pages' interceptor where `success` is false, axios itself where the code is none of 2xx."""


class Pages:
    """One simulation's step 4b in a browser."""

    def __init__(self, client: httpx.Client, sim_id: str):
        self._client = client
        self._path = f"/api/interview/{sim_id}"
        self.status: dict[str, Any] = {"status": "idle"}

    def _call(self, method: str, path: str, **more: Any) -> Any:
        headers = {"Origin": ORIGIN, "Accept": "application/json, text/plain, */*", "Accept-Language": "en"}
        response = self._client.request(method, self._path + path, headers=headers, **more)
        assert response.headers["access-control-allow-origin"] == ORIGIN, response.text
        answer = response.json()
        assert set(answer) >= {"success", "data", "error"}
        assert answer["success"] == response.is_success
        assert isinstance(answer["error"], str) != answer["success"]
        if not answer["success"]:
            raise Rejected(answer["error"])
        return answer["data"]

    def start_pre(self) -> str:
        return str(self._call("POST", "/pre")["task_id"])

    def start_post(self) -> str:
        return str(self._call("POST", "/post")["task_id"])

    def rerun(self, subagent: str) -> str:
        return str(self._call("POST", "/rerun", json={"subagent": subagent})["task_id"])

    def poll(self, task_id: str) -> str:
        """For ever, were there no end to the test."""
        deadline = time.monotonic() + WAIT_S
        while True:
            self.status = self._call("GET", "/status", params={"task_id": task_id})
            if self.status["status"] in ("completed", "failed"):
                return str(self.status["status"])
            assert time.monotonic() < deadline, self.status
            time.sleep(0.1)

    def aggregate(self, subagent: str) -> Any:
        return self._call("GET", f"/results/{subagent}")["aggregate"]

    def bars_of_items(self) -> dict[str, float]:
        return {
            item: row["mean_delta"] or 0 for item, row in (self.aggregate("longitudinal")["per_item"] or {}).items()
        }

    def dots_of_agents(self) -> dict[Any, Any]:
        clusters = self.aggregate("diversity")["clusters"] or []
        return {agent: cluster["cluster_id"] for cluster in clusters for agent in cluster["agent_ids"] or []}

    def bars_of_themes(self) -> list[tuple[str, str, float]]:
        """Each as high as its share of the first round."""
        data = self.aggregate("delphi")
        return [
            (theme["theme_id"], theme["label"], data["n_r3"] / (data["n_r1"] or 1)) for theme in data["themes"] or []
        ]

    def places_of_scenarios(self) -> dict[str, tuple[float, float, int]]:
        places = (self.aggregate("scenario")["polarity"] or {}).items()
        return {sid: (v["mean_plausibility"], v["mean_desirability"], v["n"]) for sid, v in places if v["n"] > 0}

    def report(self) -> str:
        return str(self._call("GET", "/results/synthesis")["report_markdown"])

    def table(self) -> list[dict[str, str]]:
        """A link, which is no call of axios."""
        return list(csv.DictReader(io.StringIO(self._client.get(self._path + "/export.csv").text)))


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Any:
    root = tmp_path_factory.mktemp("pages")
    (root / "simulations").mkdir()
    with serving(root, allow_origins=(ORIGIN,)) as opened:
        opened.root = root  # type: ignore[attr-defined]
        yield opened


@pytest.fixture(scope="module")
def pages(client: Any) -> Pages:
    """T0 while the simulation runs, everything else once it has completed."""
    folder = simulation(client.root, "shown", agents=AGENTS)
    opened = Pages(client, "shown")
    with pytest.raises(Rejected, match="nobody has been interviewed yet"):
        opened.aggregate("longitudinal")  # a panel loads as soon as it is shown
    with results_alone():
        assert opened.poll(opened.start_pre()) == "completed"
    set_status(folder, "completed")
    with results_alone(exports=True):
        assert opened.poll(opened.start_post()) == "completed"
    return opened


def cells(pages: Pages, methodology: str) -> dict[tuple[str, str, str, str], float]:
    """Value by phase, round, participant and item, from the file that the page links to."""
    return {
        (row["phase"], row["round"], row["participant"], row["item_id"]): float(row["value"])
        for row in pages.table()
        if row["methodology"] == methodology and row["value"]
    }


def test_items_are_drawn_by_their_mean_change(pages: Pages) -> None:
    """Against the answers themselves, T1 minus T0, by hand."""
    change = defaultdict(list)
    given = cells(pages, "longitudinal")
    for (phase, number, who, item), value in given.items():
        if phase == "T1":
            change[item].append(value - given["T0", number, who, item])
    drawn = pages.bars_of_items()
    assert len(drawn) > 10
    assert drawn == pytest.approx({item: fmean(change[item]) for item in drawn})
    assert any(drawn.values())


def test_agents_themes_and_the_report_are_drawn(pages: Pages) -> None:
    assert sorted(pages.dots_of_agents()) == list(range(AGENTS))  # the simulation's own numbers
    drawn = pages.bars_of_themes()
    assert len({theme for theme, _, _ in drawn}) == len(drawn) > 1
    assert all(label for _, label, _ in drawn)
    assert {share for _, _, share in drawn} == {1}
    assert pages.report().startswith("# ")


def test_scenarios_are_drawn_where_their_means_lie(pages: Pages) -> None:
    rated = defaultdict(list)
    for (_, _, _, item), value in cells(pages, "scenario").items():
        rated[item].append(value)
    assert pages.places_of_scenarios() == {
        scenario: (pytest.approx(fmean(rated[f"{scenario}/plausibility"])), pytest.approx(fmean(values)), AGENTS)
        for scenario, values in ((item.removesuffix("/desirability"), rated[item]) for item in list(rated))
        if f"{scenario}/desirability" in rated
    }


@pytest.mark.usefixtures("unreported")
def test_one_methodology_is_asked_anew_by_their_name_for_it(pages: Pages) -> None:
    before = pages.status["run_id"]
    assert pages.poll(pages.rerun("scenario")) == "completed"
    assert (pages.status["started_by"], pages.status["run_id"] == before) == ("rerun", False)
    with pytest.raises(Rejected, match="astrology"):
        pages.rerun("astrology")


def test_what_is_refused_is_said_in_a_sentence(client: Any, pages: Pages) -> None:
    with pytest.raises(Rejected, match="no simulation 'elsewhere'"):
        Pages(client, "elsewhere").start_post()
    simulation(client.root, "early", agents=2)
    with pytest.raises(Rejected, match="has not completed"):
        Pages(client, "early").start_post()
    with pytest.raises(Rejected, match="no run '4f2a'"):
        pages.poll("4f2a")  # of a server that is gone


def test_polling_ends_with_every_state_that_goes_on_no_more() -> None:
    words = get_args(StatusWord)
    assert TASK_STATUS.keys() == set(words)
    assert {word for word in words if TASK_STATUS[word] == "running"} == set(GOING_ON)
    assert set(TASK_STATUS.values()) == set(get_args(TaskStatus))


@pytest.mark.usefixtures("results_only")
def test_polling_ends_with_a_run_that_failed_and_with_one_that_was_paused(
    tmp_path: Path, slow_model: ModelServer
) -> None:
    """The key is rejected; then it is taken, and somebody pauses the run from elsewhere."""
    simulation(tmp_path, "slow", "completed", agents=2)
    slow_model.faults = {"http_401": 1.0}
    with serving(tmp_path, allow_origins=(ORIGIN,)) as client:
        pages = Pages(client, "slow")
        task = pages.start_post()
        assert (pages.poll(task), pages.status["run_status"]) == ("failed", "failed")
        assert "LLM_API_KEY" in pages.status["note"]
        assert not any(
            pages.bars_of_items().values()
        )  # nobody has answered: there is nothing to draw, and no panel fails
        assert (pages.dots_of_agents(), pages.bars_of_themes(), pages.places_of_scenarios()) == ({}, [], {})
        slow_model.faults = {}
        client.post("/api/interview/slow/resume", json={"resume_token": task})
        client.post(f"/api/interview/slow/runs/{task}/pause")
        assert (pages.poll(task), pages.status["run_status"]) == ("failed", "paused")


def test_archetypes_are_clusters_and_findings_of_another_kind_have_an_empty_aggregate() -> None:
    # A person's seat has no number there.
    agent_ids = {"agent:a": 3, "agent:b": 0, "person:Bob": None}
    data: dict = {
        "items": [{"item": "s1", "label": "rest"}, {"item": "s2", "label": "trade"}],
        "types": [{"type": "A", "members": ["agent:a", "agent:b"], "pro": "s1", "con": "s2"},
                  {"type": "B", "members": ["person:Bob"], "pro": None, "con": "s1"}],
        "structure": [{"what": "types", "found": 2, "outcome": "types"}],
        "left_out": [{"participant": "agent:b", "reason": "off_grid"}],
    }  # fmt: skip
    clusters = aggregate_of(data, agent_ids).clusters
    assert [(cluster.cluster_id, cluster.label, cluster.n, cluster.agent_ids) for cluster in clusters] == [
        (0, "+ rest / − trade", 2, [3, 0]),
        (1, "− rest", 1, ["person:Bob"]),
    ]
    alone = aggregate_of({**data, "types": []}, agent_ids).clusters
    assert [(cluster.label, cluster.n, cluster.agent_ids) for cluster in alone] == [("", 2, [3, "person:Bob"])]
    # Of a methodology that means something else by these names, say.
    data = {
        "themes": [{"title": "x"}], "kind": "poll", "changes": [{"change": 1}], "archetypes": 2, "poll": {"items": [1]},
        "types": 2, "polarity": "high", "structure": [],
    }  # fmt: skip
    empty = {"per_item": {}, "clusters": [], "themes": [], "n_r1": 0, "n_r2": 0, "n_r3": 0, "polarity": {}}
    assert json.loads(aggregate_of(data, {}).model_dump_json()) == empty
