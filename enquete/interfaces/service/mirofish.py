"""What the interview pages in the history of MiroFish's front end read of this API: `Step4bInterviews.vue`,
`interviews/*Panel.vue` and `api/interview.js` of github.com/666ghj/MiroFish, which speak HTTP.

They call the paths of this API, so nothing here is a path: a panel's numbers (`data.aggregate`), the three words of a
task that they poll, and what they call a methodology. Findings are known by what is in them, not by who found it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AliasChoices, BaseModel, Field

from enquete.interfaces.service.status import StatusWord
from enquete.reports.context import Found

METHODOLOGY = AliasChoices("methodology", "subagent")
"""Their word for it in a re-run is the second."""

TaskStatus: TypeAlias = Literal["running", "completed", "failed"]
TASK_STATUS: Mapping[StatusWord, TaskStatus] = {
    "running": "running",
    "pausing": "running",
    "writing_up": "running",
    "completed": "completed",
    "awaiting_simulation": "completed",
    "waiting": "failed",
    "paused": "failed",
    "failed": "failed",
}
"""They poll until one of the last two: whatever goes on no more by itself is one of them. A run that awaits the simulation has
asked what can be asked by then."""


class ItemChange(BaseModel):
    """T1 − T0 of an item's answers as they were given (not rekeyed), in scale points; `n` agents answered twice."""

    mean_delta: float | None
    n: int


class Cluster(BaseModel):
    """Agents that think alike. `agent_ids`: as the simulation counts them, else their names here."""

    cluster_id: int
    label: Annotated[str, Field(description="empty where all agents are one group, because no types were found")]
    n: int
    agent_ids: list[int | str]


class Theme(BaseModel):
    """What a panel's open answers were gathered into."""

    theme_id: str
    label: str


class ScenarioPlace(BaseModel):
    """A scenario between what is wished and what is expected, in scale points. `n`: agents who rated it, in the dimension that
    fewer rated."""

    n: int
    mean_desirability: float | None
    mean_plausibility: float | None
    sd_desirability: float | None
    sd_plausibility: float | None


class Aggregate(BaseModel):
    """A panel's numbers; what this methodology has none of is empty. `n_r1`: agents who answered in the first round."""

    per_item: dict[str, ItemChange]
    clusters: list[Cluster]
    themes: list[Theme]
    n_r1: int
    n_r2: int
    n_r3: int
    polarity: dict[str, ScenarioPlace]


def aggregate_of(found: Found, agent_ids: Mapping[str, int | None]) -> Aggregate:
    """`found`: a methodology's findings. `agent_ids`: the simulation's own index by participant."""
    rounds = {one["round"]: one["n"] for one in _rows(found, "rounds", has="round n n_consensus")}
    answered = {f"n_r{n}": int(rounds.get(n) or 0) for n in (1, 2, 3)}
    return Aggregate(
        per_item=_changes(found),
        clusters=_clusters(found, agent_ids),
        themes=[
            Theme(theme_id=str(one["theme"]), label=str(one["label"]))
            for one in _rows(found, "themes", has="theme label n_statements")
        ],
        polarity=_places(found),
        **answered,
    )


def _changes(found: Found) -> dict[str, ItemChange]:
    rows = _rows(found, "changes", has="item n change")
    return {str(one["item"]): ItemChange(mean_delta=one["change"], n=one["n"]) for one in rows}


def _clusters(found: Found, agent_ids: Mapping[str, int | None]) -> list[Cluster]:
    """The types, labelled by what they are for (+) and against (−); where there are none, all agents that were compared."""
    names = {str(one["item"]): str(one["label"]) for one in _rows(found, "items", has="item label")}
    groups = [
        (" / ".join(f"{sign} {names.get(one[end], one[end])}" for sign,
            end in (("+", "pro"), ("−", "con")) if one[end]), one["members"])
        for one in _rows(found, "types", has="type members pro con")
    ]  # fmt: skip
    if not groups and _rows(found, "structure", has="what found outcome"):
        apart = {str(one["participant"]) for one in _rows(found, "left_out", has="participant reason")}
        groups = [("", compared)] if (compared := [who for who in agent_ids if who not in apart]) else []
    return [
        Cluster(cluster_id=n, label=label, n=len(members), agent_ids=[_agent(who, agent_ids) for who in members])
        for n, (label, members) in enumerate(groups)
    ]


def _agent(who: str, agent_ids: Mapping[str, int | None]) -> int | str:
    number = agent_ids.get(who)
    return who if number is None else number


def _places(found: Found) -> dict[str, ScenarioPlace]:
    """Its dimensions may have other names in an instrument: the facts say which of them is which."""
    rated = {str(one["item"]): one for one in _rows(found, "ratings", has="dimension item n mean sd")}
    wish, plausible = found.get("desirability"), found.get("plausibility")
    places = {}
    for item, own in rated.items():
        place = item.rpartition("/")[0]
        other = rated.get(f"{place}/{plausible}")
        if own["dimension"] == wish and other is not None:
            places[place] = ScenarioPlace(
                n=min(own["n"], other["n"]),
                mean_desirability=own["mean"],
                mean_plausibility=other["mean"],
                sd_desirability=own["sd"],
                sd_plausibility=other["sd"],
            )
    return places


def _rows(found: Found, table: str, has: str) -> list[Mapping[str, Any]]:
    """The rows of a table that have these fields: another methodology may call something else by the same name."""
    rows, wanted = found.get(table), set(has.split())
    return [one for one in rows if isinstance(one, dict) and one.keys() >= wanted] if isinstance(rows, list) else []
