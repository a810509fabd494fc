"""Checks of instrument health: every threshold, minimum and benchmark with source and reason, one table for code and
docs; and what a check and a verdict are.

What a check's bounds rest on is its `basis`, and a check that rests on a proposal alone is never worse than a caution:

- "people": calibrated on 26 panels of people (tests/support/people.py, tests/reports/README.md), none of which it calls
  bad;
- "chance": a test against the run's own data, its own noise, or an even spread;
- "published": a benchmark that was looked up;
- "definition": there is nothing to interpret otherwise;
- "proposal": this project's own.

Keys in square brackets are those of enquete/reports/bibliography.yaml. Points are those of a five-point scale: answers
on other scales are stretched, (x − midpoint)·4/(max − min). "Agents" are the unit of every minimum on spread over
agents, because answers of one agent are not independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

Bounds = tuple[float | None, float | None]
"""Lowest and highest value allowed; None where there is no such end."""

FREE: Bounds = (None, None)

Basis = Literal["people", "chance", "published", "definition", "proposal"]

MOST_GAPS = 0.05
SHIFT = 0.3  # points
ANSWERS_A_POINT = 5
LEAST_SHARED = 0.10  # mean r of two profiles as answered; people .20 and more
ANSWERS_FOR_SD = 20  # of an item
LEAST_PULL = 0.05
ALPHA = 0.05
SURELY = 0.01  # of a test that alone makes data not usable
SURE_FROM = 20  # agents: of 440 panels of 10 and 15 drawn from people's, 1% looked like none, of 20 no panel


@dataclass(frozen=True, slots=True)
class Threshold:
    """One row of the table. `least`: minimum by unit, below which the check is not computed; the first is its n."""

    formula: str
    caution: Bounds
    bad: Bounds
    least: Mapping[str, int]
    why_least: str
    basis: Basis  # of the bounds; a proposal alone never makes a check bad
    source: str
    why: str
    benchmark: float | None = None
    decisive: bool = field(default=False)  # bad alone makes the data not usable
    floor: bool = field(default=False)  # tells answers from chance: without one that does, nothing can be judged


_TEN = "22 panels of 10 and more people [deliberr]"
_NEVER = "none of 300 people in 13 groups [deliberr]"
_FLAG = "a flag to look at the answers, computed wherever there are any"
_KAPPA_LEAST = "SE(κ) ≈ (1 − κ²)/√n = .064 for κ = .6, n = 100; 10 agents, since κ rests on differences between them"

PLAUSIBILITY: Mapping[str, Threshold] = {
    "zero_drift": Threshold(
        "share of agents whose answers are all equal at T0 and T1", (None, 0.80), (None, 0.95), {"agents": 1}, _FLAG,
        "people", _NEVER, "a simulation that moves almost nobody was not remembered, or the answers were copied",
    ),
    "direction_flips": Threshold(
        "share of agents that cross the midpoint on at least half of their items", (None, 0.80), (None, 0.95),
        {"agents": 1}, _FLAG, "people", _NEVER, "opposite answers throughout point to a keying or prompt fault",
    ),
    "unrevised": Threshold(
        "share of panelists whose last ratings all equal their first", (None, 0.90), (None, 0.99), {"agents": 1}, _FLAG,
        "people", _NEVER, "feedback that nobody takes up makes later rounds a copy of the first",
    ),
    "rated_alike": Threshold(
        "share of agents that rate all items of one dimension alike, of those who rated all; caution where all do",
        FREE, FREE, {"agents": 1, "items": 2}, _FLAG, "proposal", "no benchmark of people was found",
        "scenarios that are not told apart were not read",
    ),
    "two_components": Threshold(
        "share of variance of the first two principal components", (0.30, None), FREE, {"agents": 2}, _FLAG,
        "proposal", "of 50 people it was .315, of as many random rows .178; it depends on the number of columns",
        "answers that share no structure make types doubtful; whether there is any at all is for coherence to say",
    ),
}  # fmt: skip

COHERENCE: Mapping[str, Threshold] = {
    "coherence": Threshold(
        "√(mean r² − its mean by chance) over pairs of items, r over agents, answers without the agent's own level (as "
        "distances from the item's mean, less the agent's mean of them) and in units of the agent's own spread, "
        "weighted by s²ᵢ·s²ⱼ; chance: one profile with each agent's own level and width of noise, 199 times. Bad if no "
        "item varies, or of 20 and more agents if the upper end (95%, one-sided) lies below the bound, or p ≥ .05 and "
        "that of r between agents' profiles as answered lies below .10; else too few agents if p ≥ .05",
        (0.075, None), FREE, {"agents": 10, "items": 5}, "of panels of 10 drawn from people's four in five are told "
        "from chance, of fewer hardly half; 5 items are ten pairs",
        "people", _TEN + ": .11 to .40, p ≤ .01 in 22 of 22; profiles as answered .20 to .62",
        "answers at random, one profile with noise, and levels of one's own with noise have nothing in common but "
        "items and agents. Not decisive: opinions may be firm and yet unrelated to each other, which only asking again "
        "tells from noise", None, False, True,
    ),
    "order_smoothness": Threshold(
        "r of two answers of an agent to items shown one after the other, less its mean over 199 random orders of the "
        "items; pairs as distances from the mean of all pairs of one family keyed alike, of one keyed oppositely, of "
        "two families. Over answers as distances from the agent's mean and from the item's; the smaller r and the "
        "larger p count. Beyond the bound with p < .01 bad, of fewer than 20 agents too few agents",
        (None, 0.15), (None, 0.15), {"agents": 10, "items": 8}, "8 items have 20,160 orders; 10 agents, as for "
        "coherence. Fewer items in orders of each agent's own need no test",
        "people", _TEN + ": −.11 to .12",
        "who repeats the answer before, whatever is asked, has not read; and that neighbours are answered alike then "
        "passes for opinions that hang together", None, True,
    ),
    "answer_stability": Threshold(
        "r between two waves or rounds of the same agents, answers as distances from the item's mean in each, without "
        "the agent's own level; bad if the upper end (95%, one-sided, over second waves handed to other agents) lies "
        "below the bound; else too few agents if p ≥ .05",
        (0.15, None), FREE, {"agents": 10, "answers": 50}, "10 agents, as for coherence",
        "people", "11 groups of 10 and more people [deliberr]: .31 to .52, with a deliberation in between",
        "who answers at random has no opinion that could last, and none that could change", None, False, True,
    ),
}  # fmt: skip

_CELLS = "20 answers: below, one case exceeds 5%; cells are tested exactly, at any size"
_MISSING: tuple[Basis, str] = (
    "published",
    "bad: more than the 15 to 20% that are common in educational and psychological studies [dong_peng_2013]; caution: "
    "a proposal",
)

QUALITY: Mapping[str, Threshold] = {
    "variance_ratio": Threshold(
        "median over items of SD(simulated)/SD(human), n − 1", (0.6, None), FREE, {"items": 1},
        "an item needs 20 answers: relative SE of an SD ≈ 1/√(2·19) = .16", "proposal",
        "models vary less than people [peng_2025] [bisbee_2023]; the bound is this project's",
        "models understate how far people differ", 1.0,
    ),
    "contentless": Threshold(
        "share of agents with a row of seven and more closed answers of which nine in ten are the same, or half of "
        "whose answers have no content: such rows, and texts that are no sentence, refer back, repeat scale, question "
        "or themselves, or are in another language",
        (None, MOST_GAPS), (None, 0.25), {"agents": 1}, "one agent who says nothing is one too many to pass over",
        "people", "none of 568 rows of people in 24 panels [deliberr]: at most .70 of a row on one value; texts: this "
            "project's rules",
        "an answer can be readable and say nothing", 0.0, True,
    ),
    "refusal_rate": Threshold(
        "refused / asked", (None, MOST_GAPS), (None, 0.20), {"answers": 20}, _CELLS, *_MISSING,
        "refusals are not at random", None, True,
    ),
    "missing_rate": Threshold(
        "(invalid + failed) / asked", (None, MOST_GAPS), (None, 0.20), {"answers": 20}, _CELLS, *_MISSING,
        "gaps are not at random", None, True,
    ),
    "human_jsd": Threshold(
        "mean over items of 1 − JSD₂(simulated, human marginals)", FREE, FREE, {"items": 1},
        "an item needs 5 answers a point", "chance", "an even spread over the same scale",
        "caution where the simulated answers are no nearer to people's than an even spread over the scale: that is the "
        "benchmark",
    ),
    "human_w1": Threshold(
        "mean over items of 1 − W₁(simulated, human marginals)/(K − 1)", FREE, FREE, {"items": 1},
        "an item needs 5 answers a point", "chance", "an even spread over the same scale",
        "as for human_jsd",
    ),
}  # fmt: skip

_PERSONA_LEAST = "5 agents, since personas are what is varied; the SE is part of the rule"
_PERSONA_SOURCE: tuple[Basis, str] = ("chance", "against the run's own retest")

PROBES: Mapping[str, Threshold] = {
    "test_retest": Threshold(
        "κ_w = 1 − Σ(x − y)² / Σ E, E the same expected by chance within each item; caution also if all are equal at T "
        "> 0",
        (0.60, None), (0.25, None), {"answers": 100, "agents": 10},
        _KAPPA_LEAST + "; with 100 answers of which 97% are stable, all are equal by chance in 5%",
        "people", "bad: people agree with themselves by .29 and more with a deliberation in between [deliberr]; "
        "caution: below substantial [landis_koch_1977]",
        "what a repeat does not reproduce is noise; a perfect repeat at T > 0 is more likely a cache", None, True, True,
    ),
    "option_order": Threshold(
        "κ_w(original, options reversed), over answers whose options were shown in another order", (0.70, None),
        (0.40, None),
        {"answers": 100, "agents": 10}, _KAPPA_LEAST, "published",
        "bad: at most fair [landis_koch_1977]; caution: a proposal",
        "an opinion does not depend on the order of the options", None, True,
    ),
    "option_order_shift": Threshold(
        "mean of reversed − original, in points, over the same answers", (-SHIFT, SHIFT), FREE,
        {"answers": 100, "agents": 10}, "SE ≈ 1/√100 = .1 for differences of SD 1: a third of the bound", "proposal",
        "no benchmark was found",
        "a shift shows a preference for a place", 0.0,
    ),
    "item_order": Threshold(
        "ICC(A,1) over the orders, sums of squares within items pooled", (0.75, None), (0.50, None),
        {"answers": 100, "agents": 10}, "SE(ICC) ≈ (1 − ICC²)/√n = .044 for ICC = .75, n = 100", "published",
        "bad: poor, caution: moderate [koo_li_2016]",
        "context effects of neighbouring items",
    ),
    "paraphrase": Threshold(
        "σ²_p/(σ²_a + σ²_p + σ²_e): share of variance between wordings of an item", (None, 0.10), FREE,
        {"answers": 100, "agents": 10, "contrasts": 10},
        "items × (wordings − 1) ≥ 10 degrees of freedom for σ²_p: relative SE √(2/10) = .45", "proposal",
        "models' answers change with small changes of the prompt [bisbee_2023]; the bound is this project's",
        "wording that explains more than a tenth speaks louder than the agents",
    ),
    "persona_swap": Threshold(
        "1 − κ(probe)/κ(retest), each κ_w with the main arm: share of the agreement on retest that is lost. Caution "
        "below the bound where κ(probe) surely lies above 0 (90%, one-sided), bad where it surely lies above half of "
        "κ(retest) (95%)",
        (0.8, None), FREE, {"answers": 50, "agents": 5}, _PERSONA_LEAST, *_PERSONA_SOURCE,
        "a respondent that answers alike under another's persona ignores it", None, True,
    ),
    "null_persona": Threshold(
        "as for persona_swap", (0.8, None), FREE, {"answers": 50, "agents": 5}, _PERSONA_LEAST, *_PERSONA_SOURCE,
        "a respondent that answers alike without a persona gives the model's own opinion", None, True,
    ),
    "negative_control": Threshold(
        "number of control items with a Holm-significant Wilcoxon drift (p < .05)", (None, 0), FREE, {"agents": 20},
        "20 pairs an item: the smallest p with six that moved is 2/2⁶ = .03", "chance",
        "Wilcoxon's test, Holm over the items [lipsitch_2010]; bad if such an item moves by more than .3 points",
        "a drift on what the simulation does not touch is a shared shock", 0.0, True,
    ),
    "placebo_exposure": Threshold(
        "mean |Δ| under the real digest minus mean |Δ| under a neutral one, in points, t interval of 95% over agents",
        (0.0, None), FREE,
        {"agents": 20}, "a t interval over 20 agents' means is robust to their skew", "chance", "in the run's own data",
        "without it change is not due to what was experienced. Information that enters no verdict: agents of one run "
        "share its shocks",
        0.0,
    ),
    "false_median": Threshold(
        "Σ s·sign(g)/Σ|g| toward the bogus median; s the revision, g the gap to the median shown", FREE, FREE,
        {"answers": 100, "agents": 10}, "SE ≈ .04 for revisions of SD .4 of the gap at 100 ratings with a gap",
        "proposal", "caution from half the pull of the true median. Most people follow a deceptive group response too "
        "[delphi_deception], and a Delphi agrees mainly by conforming [woudenberg_1991]",
        "whoever follows any number follows the number, not the panel; pulls below .05 are no pull",
    ),
}  # fmt: skip

THRESHOLDS: Mapping[str, Threshold] = {**PLAUSIBILITY, **COHERENCE, **QUALITY, **PROBES}
"""By name, in the order in which a table would show them."""


# --- One instrument-health check, how its value becomes a verdict, and how verdicts become one over all checks --------

Verdict = Literal["fine", "caution", "bad", "information", "not computed"]
Standing = Literal[
    "usable",
    "usable as far as checked",
    "usable with caution",
    "not usable",
    "cannot be judged",
    "interim",
    "nothing to judge",
]
Json: TypeAlias = "str | int | float | Sequence[Json] | Mapping[str, Json] | None"
Detail: TypeAlias = Mapping[str, Json]

DECIMALS = 12  # values are compared to this many: 3/10 computed as 0.30000000000000004 lies on the threshold
MOST_BAD = 1  # bad checks, none of them decisive, that still leave the data usable with caution
TOO_FEW = "too_few_"
NO_VARIATION = "no_variation"  # with it a lack of data; other reasons lie in the design, such as items keyed one way
COHERENT, BESIDES = "coherence", "order_smoothness"  # a pass of the first counts only with the second
RELIABILITY = "test_retest"  # the check without which noise and opinion cannot be told apart
NOT_TESTED = "reliability_not_tested"


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One check. Wording is presentation's: names and reason codes are keys."""

    name: str  # key of THRESHOLDS
    value: float | None
    n: int  # in the first unit of the check's `least`
    benchmark: float | None  # what people show, or chance gives
    threshold: Bounds  # lowest and highest value that is still fine
    verdict: Verdict
    reason_code: str  # "" where fine
    detail: Detail = field(default_factory=dict)


class Ruling(NamedTuple):
    """A verdict that rests on more than the value, such as a test."""

    verdict: Verdict
    reason_code: str


@dataclass(frozen=True, slots=True)
class Overall:
    """The standing of the data; reasons as "name:reason_code", the weightiest first."""

    verdict: Standing
    reasons: tuple[str, ...] = ()


NOTHING = Overall("nothing to judge")
NOT_USABLE: Standing = "not usable"
CANNOT_BE_JUDGED: Standing = "cannot be judged"
INTERIM = Overall("interim", ("not_finished",))


def judged(
    name: str,
    value: float | None,
    counts: Mapping[str, int],
    *,
    detail: Detail | None = None,
    caution: Bounds | None = None,
    bad: Bounds | None = None,
    benchmark: float | None = None,
    why_not: str = "",
    ruling: Ruling | None = None,
    rule: Threshold | None = None,
) -> Diagnostic:
    """The check `name` with its verdict; exactly on a threshold is still fine.

    counts: how much there was to go by, in every unit of the check's `least`. Below a minimum the check is not computed
    ("too_few_<unit>"), nor where `why_not` is given or the value is None ("undefined"). caution, bad, benchmark replace
    the table's where they depend on the data; `ruling` replaces the comparison. rule: of a check that is not in the
    table. What rests on a proposal alone is never worse than a caution.
    """
    rule = rule or THRESHOLDS[name]
    caution, bad = caution or rule.caution, bad or rule.bad
    benchmark = rule.benchmark if benchmark is None else benchmark
    detail = {**counts, **(detail or {})}
    short = next((f"{TOO_FEW}{unit}" for unit, least in rule.least.items() if counts[unit] < least), "")
    n = counts[next(iter(rule.least))]
    if why_not or short or value is None or not math.isfinite(value):
        return Diagnostic(name, None, n, benchmark, caution, "not computed", why_not or short or "undefined", detail)
    verdict, code = ruling or compared(value, caution, bad)
    if verdict == "bad" and rule.basis == "proposal":
        verdict = "caution"
    return Diagnostic(name, value, n, benchmark, caution, verdict, code, detail)


def compared(value: float, caution: Bounds, bad: Bounds) -> Ruling:
    """Bad outside `bad`, caution outside `caution`, with the code "below" or "above"."""
    for verdict, bounds in (("bad", bad), ("caution", caution)):
        if side := _side(value, bounds):
            return Ruling("bad" if verdict == "bad" else "caution", side)
    return Ruling("fine", "")


def _side(value: float, bounds: Bounds) -> str:
    low, high = bounds
    if low is not None and round(value - low, DECIMALS) < 0:
        return "below"
    if high is not None and round(value - high, DECIMALS) > 0:
        return "above"
    return ""


def overall(
    diagnostics: Iterable[Diagnostic], further: Mapping[str, Threshold] | None = None, not_tested: str = NOT_TESTED
) -> Overall:
    """What a set of checks, such as a methodology's, says about the data.

    Nothing to judge: no check was computed. Not usable: a decisive check is bad, or two or more others are, or of the
    checks that tell answers from chance (`Threshold.floor`) one is bad and none is passed. Cannot be judged: such a
    check, or the one that coherence counts only with, lacks agents, answers or variation, and none is passed. Usable
    with caution: a check is bad or calls for caution. Usable as far as checked: nothing of this, but no retest was
    computed. Usable: otherwise. A check that was not computed is never a pass and never a failure; nor is one that
    gives information only. further: rules of checks that are not in THRESHOLDS; not_tested: why there is no retest.
    Raises ValueError for a name that has no rule.
    """
    checks, rules = list(diagnostics), {**THRESHOLDS, **(further or {})}
    for check in checks:
        if check.name not in rules:
            raise ValueError(f"no such diagnostic: {check.name!r}; known are {', '.join(sorted(rules))}")
    bad = [check for check in checks if check.verdict == "bad"]
    bad.sort(key=lambda check: not rules[check.name].decisive)
    cautions = [check for check in checks if check.verdict == "caution"]
    reasons = tuple(f"{check.name}:{check.reason_code}" for check in (*bad, *cautions))
    floors = [check for check in checks if rules[check.name].floor]
    unsure = [check for check in checks if check.name == BESIDES and _lacks_data(check)]
    lacking = [check for check in floors if _lacks_data(check)] or unsure
    passed = any(_passed(check) and not (unsure and check.name == COHERENT) for check in floors)
    fell = any(check.verdict == "bad" for check in floors) and not passed
    if fell or len(bad) > MOST_BAD or any(rules[check.name].decisive for check in bad):
        return Overall("not usable", reasons)
    if lacking and not passed:
        return Overall("cannot be judged", (*(f"{check.name}:{check.reason_code}" for check in lacking), *reasons))
    if not any(check.verdict in ("fine", "caution", "bad") for check in checks):
        return NOTHING
    if reasons:
        return Overall("usable with caution", reasons)
    tested = any(check.name == RELIABILITY and check.verdict == "fine" for check in checks)
    return Overall("usable") if tested else Overall("usable as far as checked", (not_tested,))


def _lacks_data(check: Diagnostic) -> bool:
    return check.reason_code.startswith(TOO_FEW) or (check.verdict, check.reason_code) == ("not computed", NO_VARIATION)


def _passed(floor: Diagnostic) -> bool:
    """Told from chance, be it by little."""
    return floor.verdict == "fine" or (floor.verdict, floor.reason_code) == ("caution", "below")
