"""What best–worst choices give: findings, section, figures, checks, a probe, findings per agent, a measure for claims, a headline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from enquete.analysis.health.diagnostics import judged
from enquete.analysis.health.thresholds import FREE, Threshold
from enquete.locale import N_, said, tell
from enquete.reports.context import Found, figure, listed
from enquete.reports.crossing.claims import Finding, Measure
from enquete.reports.evaluation import Evaluation, Headline
from enquete.reports.health.checks import Humans, Made, OwnCheck, gaps
from enquete.reports.health.occasions import phases
from enquete.reports.health.probes import Arms
from enquete.reports.key_findings import KeyFinding
from enquete.reports.markdown import number
from enquete.state.asking import Language
from enquete_best_worst.analysis import analyse, choices
from enquete_best_worst.figures import figures, ranked

WORDS = {
    "most": N_(
        "Most important of all is “{label}”: score {score} (−1 to 1; 95% interval {low} to {high}; n = {n}/{total})."
    ),
    "first": N_("most important of all: “{0}” (score)"),
}
"""German in locale/de.po of this package."""

FIRM = OwnCheck(
    Threshold(
        "mean of (Σ(best − worst)² − r) / (f − r) over agents; r at random, f of one firm order", (0.25, None), FREE,
        {"agents": 10}, "SE ≈ .4/√10 = .13 for answers at random", "proposal", "this package's",
        "an order that holds over the sets is an opinion; choices at random spread over all objects alike", 0.0,
    ),
    "share",
    (N_("firmness of orders"), N_("An agent's choices hardly follow an order: almost as if they were guessed.")),
)  # fmt: skip
KEPT = OwnCheck(
    Threshold(
        "share of sets with the same best when the options are shown in reverse", (0.70, None), FREE,
        {"answers": 50, "agents": 5}, "SE ≤ .5/√50 = .07", "proposal", "this package's",
        "what matters most does not depend on where it stands in a list", None,
    ),
    "share",
    (N_("the same choice with options reversed"), N_("The choice depends on where something stands in the list.")),
)  # fmt: skip


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """What matters most to all, with its interval over agents."""
    first = next(iter(ranked(found)), None)
    n, total = found["agents_responded"], found["agents_total"]
    if first is None or figure(first, "low") is None or not isinstance(n, int) or not isinstance(total, int):
        return
    numbers = {name: float(first[name]) for name in ("score", "low", "high")}
    shown = {name: number(value, language) for name, value in numbers.items()}
    text = tell(WORDS["most"], language).format(label=first["label"], n=n, total=total, **shown)
    yield KeyFinding(
        "most", text, "position", abs(numbers["score"]), n, total, figure="scores", numbers={**numbers, "n": n}
    )


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    return {"ranked": ranked(found)}


def health(found: Found, rows: pd.DataFrame, humans: Humans) -> Made:
    """Whether choices follow an order; gaps."""
    firm = [value for one in listed(found, "agents") if (value := figure(one, "firmness")) is not None]
    mean = sum(firm) / len(firm) if firm else None
    yield phases(rows)[0], judged("firmness", mean, {"agents": len(firm)}, rule=FIRM.rule)
    yield from gaps(rows)


def probed(arms: Arms) -> Made:
    """Options reversed: is the best of a set still the best?"""
    if "options_reversed" not in arms.asked:
        return
    both = choices(arms.main).merge(choices(arms.asked["options_reversed"]), on=["participant", "item_id"])
    same = both["best_x"].eq(both["best_y"])
    counts = {"answers": len(both), "agents": int(both["participant"].nunique())}
    yield phases(arms.main)[0], judged("option_order", float(same.mean()), counts, rule=KEPT.rule)


def scores(found: Found) -> pd.DataFrame:
    """Participants × labels of objects."""
    labels = {str(one["object"]): str(one["label"]) for one in listed(found, "objects")}
    own = {str(one["participant"]): one["scores"] for one in listed(found, "agents")}
    return pd.DataFrame.from_dict(own, orient="index").rename(columns=labels).astype(float)


def agents(found: Found, rows: pd.DataFrame) -> Iterator[Finding]:
    """What matters most to each agent, where one object does."""
    own = scores(found)
    top = own.idxmax(axis=1)[own.eq(own.max(axis=1), axis=0).sum(axis=1).eq(1)]
    name = N_("most important (best–worst)")
    yield Finding("best_object", "categorical", name, top)


def measures(found: Found, rows: pd.DataFrame) -> Iterator[Measure]:
    """How much the object matters that matters most to all: does it to every group?"""
    first = next(iter(ranked(found)), None)
    if first is not None:
        label = str(first["label"])
        heading = said(N_("Importance of “{label}”"), label=label)
        rests_on = ("results.json → best_worst.agents[*].scores",)
        yield Measure("importance", heading, scores(found)[label], evidence=rows, rests_on=rests_on)


def headlines(found: Found, language: Language) -> Iterator[Headline]:
    """What matters most to all."""
    first = next(iter(ranked(found)), None)
    if first is not None:
        yield Headline("best_worst.first", "first", first["object"], first["score"], (str(first["label"]),))


EVALUATION = Evaluation(
    analyse=analyse,
    findings=findings,
    section="enquete_best_worst:section.md.j2",
    shown=shown,
    figures=figures,
    health=health,
    probed=probed,
    checks={"firmness": FIRM, "option_order": KEPT},
    agents=agents,
    measures=measures,
    headlines=headlines,
    sentences={"first": WORDS["first"]},
)
