"""What a run's further arms say of its main one: respondent B, pair by pair, and replicates, finding by finding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd
from pydantic import JsonValue

from enquete.analysis.agreement import Kappa, stratified_kappa, weighted_kappa
from enquete.analysis.preference import PositionBias, WinRate, position_bias, win_rate
from enquete.analysis.replicates import ALPHA, Replicated, VarianceComponents, fewest, judge_claim, variance_components
from enquete.ledger.ledger import Failure
from enquete.locale import N_, tell
from enquete.nodes.critic_pairs import COSTS, UNTOLD, PairRecord, pair_records
from enquete.nodes.planning import CRITIC
from enquete.reports.analyses import Findings, compared_columns, find, read_results
from enquete.reports.analyses import headlines as declared_headlines
from enquete.reports.context import Found, jsonable
from enquete.reports.evaluation import Evaluation, Headline, Shown, evaluations
from enquete.reports.health_checks import rounds
from enquete.reports.markdown import MISSING, share
from enquete.reports.run_reading import RunReading
from enquete.reports.views import render
from enquete.respondents.critic import STAND_IN
from enquete.respondents.kinds import KINDS
from enquete.state.asking import Arm, Language

PREFERENCE_FILE, PAIRS = "preference.json", "pairs.csv"
POINTS: Final[Mapping[str, float]] = {"A": 0.0, "tie": 0.5, "B": 1.0}


@dataclass(frozen=True, slots=True)
class Rate:
    """Of the pairs of one methodology and kind of question ("" for all) that say different things; `alike`: the
    others."""

    methodology: str
    question_type: str
    found: WinRate
    alike: int


@dataclass(frozen=True, slots=True)
class AnswerAgreement:
    """Of the closed answers of one methodology: κ within items, quadratic weights."""

    methodology: str
    n: int
    kappa: float | None
    exact_share: float | None


@dataclass(frozen=True, slots=True)
class Cost:
    """What a respondent's answers cost in all, and for each pair that it won; None where it won none, or a price is
    unknown."""

    side: Literal["A", "B"]
    model: str
    temperature: float
    wins: int
    score: float | None  # mean grade
    n_scores: int
    tokens: int
    usd: float | None

    @property
    def tokens_a_win(self) -> float | None:
        return self.tokens / self.wins if self.wins else None

    @property
    def usd_a_win(self) -> float | None:
        return self.usd / self.wins if self.wins and self.usd is not None else None


@dataclass(frozen=True)
class RespondentComparison:
    """rates: all pairs first. again: the critic's first verdict against its second, of the same pairs in the same
    order."""

    critic: str
    rubric: str
    stand_in: bool
    pairs: Sequence[PairRecord]
    rates: Sequence[Rate]
    agreements: Sequence[AnswerAgreement]
    costs: Sequence[Cost]
    bias: PositionBias
    again: Kappa
    unread: int  # pairs without a verdict in one of the orders
    stopped: str  # by which bug; "" where the critic came to its end
    unannotated: int  # pairs of which the memory has no record

    @property
    def usable(self) -> bool:
        """Whether win rates may be read."""
        return self.bias.verdict != "unusable"

    def as_json(self) -> JsonValue:
        costs = [{**asdict(one), "tokens_a_win": one.tokens_a_win, "usd_a_win": one.usd_a_win} for one in self.costs]
        return jsonable(
            {"critic": self.critic, "rubric": self.rubric, "stand_in": self.stand_in, "usable": self.usable,
             "pairs": len(self.pairs), "stopped": self.stopped, "unread": self.unread, "unannotated": self.unannotated,
             "win_rates": [asdict(one) for one in self.rates], "agreement": [asdict(one) for one in self.agreements],
             "costs": costs, "position_bias": asdict(self.bias), "repeat": asdict(self.again)}
        )  # fmt: skip


def preferences(reading: RunReading) -> RespondentComparison | None:
    """None in a run without a second respondent."""
    record, second = reading.record, reading.record.second
    if second is None or record.critic is None:
        return None
    pairs = list(pair_records(reading.ledger, second.id))
    noted = json.loads(reading.ledger.noted(f"{CRITIC}_{COSTS}") or "{}")
    first = [(one.forward, one.again) for one in pairs if one.forward and one.again]
    return RespondentComparison(
        critic=record.critic_model or STAND_IN,
        rubric=record.critic.rubric,
        stand_in=not record.critic_has_model,
        pairs=pairs,
        rates=list(_rates(pairs)),
        agreements=list(_agreements(pairs, record.methods)),
        costs=[_cost(side, arm, pairs, noted) for side, arm in (("A", record.main), ("B", second))],
        bias=position_bias([one.forward for one in pairs], [one.backward for one in pairs]),
        again=weighted_kappa([float(a == "A") for a, _ in first], [float(b == "A") for _, b in first]),
        stopped=stage.note
        if (stage := reading.ledger.stages().get(("", CRITIC))) and stage.outcome == "failed"
        else "",
        unread=sum(not one.winner for one in pairs),
        unannotated=int(reading.ledger.noted(UNTOLD) or 0),
    )


def _rates(pairs: Sequence[PairRecord]) -> Iterator[Rate]:
    yield _rate("", "", pairs)
    cells = dict.fromkeys((one.methodology, one.question_type) for one in pairs)
    for name, kind in cells:
        yield _rate(name, kind, [one for one in pairs if (one.methodology, one.question_type) == (name, kind)])


def _rate(name: str, kind: str, pairs: Sequence[PairRecord]) -> Rate:
    judged = [one for one in pairs if one.winner and not one.alike]
    found = win_rate([POINTS[one.winner] for one in judged], [one.participant for one in judged])
    return Rate(name, kind, found, sum(one.alike for one in pairs))


def _agreements(pairs: Sequence[PairRecord], methods: Iterable[str]) -> Iterator[AnswerAgreement]:
    """Of scales alone, each as a share of its width."""
    for name in methods:
        rows = [
            one for one in pairs if one.methodology == name and one.width and None not in (one.value_a, one.value_b)
        ]
        if not rows:
            continue
        item = [one.question_id.replace(f"/{one.participant}/", "/*/", 1) for one in rows]
        table = pd.DataFrame(
            {
                "item": item,
                "agent": [one.participant for one in rows],
                "a": [(one.value_a or 0.0) / (one.width or 1.0) for one in rows],
                "b": [(one.value_b or 0.0) / (one.width or 1.0) for one in rows],
            }
        )
        wide = {side: table.pivot_table(index="agent", columns="item", values=side).to_numpy() for side in ("a", "b")}
        exact = float(np.isclose(table["a"], table["b"]).mean())
        yield AnswerAgreement(name, len(rows), stratified_kappa(wide["a"], wide["b"]), exact)


def _cost(side: str, arm: Arm, pairs: Sequence[PairRecord], noted: Any) -> Cost:
    own = noted.get(side.lower(), {})
    scores = [score for one in pairs if (score := one.score_a if side == "A" else one.score_b) is not None]
    wins = Counter(one.winner for one in pairs)
    return Cost(
        "A" if side == "A" else "B", arm.model, arm.temperature, wins["A" if side == "A" else "B"],
        sum(scores) / len(scores) if scores else None, len(scores), int(own.get("tokens", 0)), own.get("usd"),
    )  # fmt: skip


def as_frame(pairs: Sequence[PairRecord]) -> pd.DataFrame:
    """A row a pair, for pairs.csv."""
    return pd.DataFrame([one.model_dump() for one in pairs], columns=list(PairRecord.model_fields))


# --- Respondent A against respondent B in words: the section of the report --------------------------------------------

AGAINST = N_("Respondent A against respondent B")
RUBRICS: Mapping[str, str] = {
    "realistic": N_("believable for the person"),
    "style": N_("way of speaking"),
    "clarity": N_("clarity"),
    "empathic": N_("regard for others"),
    "interpretive": N_("interpretation"),
    "creative": N_("thoughts of one's own"),
}
CRITIC_VERDICTS: Mapping[str, str] = {
    "usable": N_("usable"),
    "unusable": N_("unusable"),
    "not decided": N_("not decided: too few pairs"),
    "not judged": N_("not judged"),
}


def preference_section(found: RespondentComparison | None, titles: Mapping[str, str], language: Language) -> str:
    """Markdown; "" for a run without a second respondent. titles (Markdown): by methodology."""
    if found is None:
        return ""
    return render(
        "enquete.reports:preference.md.j2", language, found=found, titles=titles, rubric=RUBRICS[found.rubric],
        verdict=CRITIC_VERDICTS[found.bias.verdict], kinds={name: kind.label for name, kind in KINDS.items()},
        conclusion=conclusion(found, language),
    ).strip()  # fmt: skip


def conclusion(found: RespondentComparison, language: Language) -> str:
    """What may be said of the two, in a sentence."""
    whole = found.rates[0].found
    if not found.usable:
        return tell(_unusable(found.bias), language)
    if whole.low is None or whole.high is None:
        return tell(N_("No pair was judged in both orders; nothing can be said of the two."), language)
    if whole.low > 0.5:
        return tell(N_("Respondent B is preferred."), language)
    if whole.high < 0.5:
        return tell(N_("Respondent A is preferred."), language)
    return tell(N_("Neither respondent is preferred: the interval of the win rate includes one half."), language)


def _unusable(bias: PositionBias) -> str:
    if bias.first == bias.splits:
        return N_("The critic is unusable: it prefers whichever answer stands first. Win rates are not interpreted.")
    return N_("The critic is unusable: its verdicts go with the place of an answer. Win rates are not interpreted.")


# --- What a run's replicates say: where its answers vary, and which findings hold when all is asked again -------------
# A replicate is an arm that was asked everything again under another seed or by another model. The
# methodologies' verdicts are made anew from every replicate alone, with that arm in the main arm's place. The main
# arm chose what to claim and is no witness of it: `judge_claim` counts the replicates only.

Results = Mapping[str, Found]

ROLES = ("main", "replicate")


@dataclass(frozen=True, slots=True)
class AnswerVariance:
    """Variance components of the closed answers of one methodology and phase, before any feedback."""

    methodology: str
    phase: str
    found: VarianceComponents


@dataclass(frozen=True, slots=True)
class ReplicatedFinding:
    """A finding of the main arm with its figure in each run, and what the replicates make of it."""

    main: Shown
    further: tuple[Shown, ...]  # by replicate, in their order
    held: Replicated
    agreeing: tuple[bool | None, ...] = ()  # by replicate; None where it does not measure it

    def as_json(self) -> dict[str, JsonValue]:
        return {**asdict(self.held), "main": self.main, "further": list(self.further), "agreeing": list(self.agreeing)}


@dataclass(frozen=True)
class Replicates:
    """arms: the main arm first; empty where the run has no replicate."""

    arms: tuple[str, ...] = ()
    headlines: Sequence[tuple[Headline, ReplicatedFinding]] = ()
    shared_t0: bool = False  # an earlier run's T0 is that of all arms
    spread: tuple[AnswerVariance, ...] = ()
    bugs: tuple[Failure, ...] = ()

    @property
    def judged(self) -> list[ReplicatedFinding]:
        return [found for _, found in self.headlines]

    def as_json(self) -> JsonValue:
        listed = {
            one.id: {"methodology": one.methodology, "kind": one.kind, "about": list(one.about), **found.as_json()}
            for one, found in self.headlines
        }
        return jsonable(
            {"arms": list(self.arms), "alpha": ALPHA, "fewest": fewest(), "shared_t0": self.shared_t0,
                "headlines": listed,
             "variance_components": [asdict(one) for one in self.spread]}
        )  # fmt: skip


def replicate(reading: RunReading, frame: pd.DataFrame, main: Findings) -> Replicates:
    """Findings over the replicates of a run, and where its answers vary; empty without replicates. frame: all arms."""
    arms = [arm for arm in reading.record.arms if arm.role == "replicate"]
    if not arms:
        return Replicates()
    earlier, own = taken_over(frame, reading.own_runs), evaluations(reading.record.methods)
    again: list[Results] = []
    bugs: list[Failure] = []
    for arm in arms:
        rows = standing_in(frame, arm.id, earlier)
        found = find(reading, rows, arm=arm)
        bugs += found.bugs
        again.append(alike(own, found, main))
    language, shared_t0 = reading.language, frozenset(earlier.loc[earlier["phase"].eq("T0"), "methodology"])
    said = headlines(own, main.results, language)
    others = [headlines(own, one, language) for one in again]
    return Replicates(
        (reading.record.main.id, *(arm.id for arm in arms)),
        judged_headlines(said, others, shared_t0),
        bool(shared_t0),
        tuple(spreads(frame)),
        tuple(bugs),
    )


def alike(own: Mapping[str, Evaluation], found: Findings, main: Findings) -> Results:
    """A replicate's findings, with arbitrary names (of groups, say) as in the main arm's."""
    results = dict(found.results)
    for name in found.analyses.keys() & main.analyses.keys():
        if (rename := own[name].alike) is not None:
            renamed = rename(found.analyses[name], main.analyses[name])
            results[name] = {**results[name], **renamed.as_json(own[name].presentation)}
    return results


def headlines(own: Mapping[str, Evaluation], results: Results, language: Language) -> dict[str, Headline]:
    """All that a run measures, by id; the main arm's results decide which of them are headlines (`leads`)."""
    made = (
        replace(one, methodology=name)
        for name, found in results.items()
        if (presentation := own[name].presentation) is not None
        for one in declared_headlines(read_results(name, presentation, found, language))
    )
    return {one.id: one for one in made}


def taken_over(frame: pd.DataFrame, own_runs: Iterable[str]) -> pd.DataFrame:
    """Rows of the main arm that an earlier run measured; a T0 among them is that of every arm."""
    return frame[frame["arm_role"].eq("main") & ~frame["run_id"].isin(list(own_runs))]


def standing_in(frame: pd.DataFrame, arm: str, earlier: pd.DataFrame) -> pd.DataFrame:
    """The rows of one arm as if it were the main one; a T0 that an earlier run measured is everybody's."""
    own = frame[frame["arm"].eq(arm)]
    return pd.concat([earlier, own], ignore_index=True).assign(arm_role="main")


# --- findings --------------------------------------------------------------------------------------------------------


def judged_headlines(
    main: Mapping[str, Headline], again: Sequence[Mapping[str, Headline]], shared_t0: Collection[str] = ()
) -> list[tuple[Headline, ReplicatedFinding]]:
    """Each headline of the main arm by the replicates; one that a replicate does not measure is missing there."""
    found = []
    for name, one in main.items():
        if one.leads:
            others = [made.get(name) for made in again]
            said = [other.said if other else None for other in others]
            held = judge_claim(one.said, said, independent=_apart((one.methodology,), shared_t0))
            shown = tuple(other.shown if other else None for other in others)
            agreeing = tuple(None if each is None else each == one.said for each in said)
            found.append((one, ReplicatedFinding(one.shown, shown, held, agreeing)))
    return found


def _apart(methods: Sequence[str], shared_t0: Collection[str]) -> bool:
    """Whether the runs measure apart what the finding rests on: not where all measure change from the same T0.
    shared_t0: methodologies that do."""
    return not set(methods) & set(shared_t0)


# --- where answers vary ----------------------------------------------------------------------------------------------


def spreads(frame: pd.DataFrame) -> Iterator[AnswerVariance]:
    """Closed answers of main arm and replicates as shares of the scale's width, rekeyed, by methodology and phase."""
    rows = frame[frame["arm_role"].isin(ROLES) & frame["scale_min"].notna()]
    for (name, phase), own in rows.groupby(["methodology", "phase"], sort=False):
        first = rounds(own)[:1]
        before = own[own["round"].isin(first)]
        if before["arm"].nunique() > 1:
            yield AnswerVariance(str(name), str(phase), variance_components(_values(before)))


def _values(rows: pd.DataFrame) -> pd.DataFrame:
    low, high = (rows[end].astype(float) for end in ("scale_min", "scale_max"))
    value = np.asarray((rows["value_rekeyed"].astype(float) - low) / (high - low))
    renamed = rows.rename(columns={"participant": "agent", "item_id": "item", "arm": "replicate"})
    return renamed[["agent", "item", "model", "replicate"]].assign(value=value)


# --- Replicates in words: whether a finding held and what chance does, and the section with the figure of every run ---

REPLICATES_FILE = "replicates.json"
LISTED = 6  # figures of replicates that a cell lists one by one
ROWS = 60

REPLICATE_VERDICTS: Mapping[str, str] = {
    "stable": N_("stable"),
    "fragile": N_("fragile"),
    "not decided": N_("not decided"),
    "not judged": N_("not judged"),
}
SOURCES: Mapping[str, str] = {
    "agent": N_("agent"),
    "item": N_("item"),
    "model": N_("model"),
    "replicate": N_("replicate"),
    "residual": N_("residual"),
}
"""Of variance."""


@dataclass(frozen=True, slots=True)
class FindingOverRuns:
    """A finding over the runs. further: figures of the further runs, with how often where they are words; range: the
    lowest and the highest of them and how many, where they are too many to list."""

    main: Shown
    further: Sequence[tuple[Shown, int]]
    range: tuple[float, float, int] | None
    held: Replicated


def replicates_section(
    replicates: Replicates, own: Mapping[str, Evaluation], titles: Mapping[str, str], language: Language
) -> str:
    """The appendix's section, Markdown; "" for a run without replicates. own, titles (Markdown): by methodology."""
    if not replicates.arms:
        return ""
    main, *further = replicates.arms
    return render(
        "enquete.reports:replicates.md.j2", language, main=main, further=further, alpha=ALPHA, least=fewest(),
        shared_t0=replicates.shared_t0, n=Counter(one.held.verdict for one in replicates.judged),
        headlines=[(one, sentences(own[one.methodology], language),
            _row(found)) for one, found in replicates.headlines],
        spread=replicates.spread, titles=titles, most=ROWS, verdicts=REPLICATE_VERDICTS, sources=SOURCES,
        chance=lambda held: _chance(held, language),
    ).strip()  # fmt: skip


def sentences(own: Evaluation, language: Language) -> Mapping[str, str]:
    return {kind: tell(one.label, language) + ": {0}" for kind, one in compared_columns(own.presentation).items()}


def _row(found: ReplicatedFinding) -> FindingOverRuns:
    if any(isinstance(one, str) for one in found.further):
        return FindingOverRuns(found.main, Counter(found.further).most_common(), None, found.held)
    known = [one for one in found.further if isinstance(one, int | float)]
    between = (min(known), max(known), len(known)) if known and len(found.further) > LISTED else None
    return FindingOverRuns(found.main, [(one, 0) for one in found.further[:LISTED]], between, found.held)


def _chance(held: Replicated, language: Language) -> str:
    """Per cent, never rounded down to nothing."""
    if held.chance is None:
        return tell(N_("not known"), language) if held.n else MISSING
    return f"< {share(0.01, language)}" if held.chance < 0.005 else share(held.chance, language)
