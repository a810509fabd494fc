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
from enquete.analysis.diagnostics import ALPHA
from enquete.analysis.preference import PositionBias, WinRate, position_bias, win_rate
from enquete.analysis.probes import Replicated, VarianceComponents, fewest, judge_claim, variance_components
from enquete.ledger.ledger import Failure
from enquete.locale import N_, tell
from enquete.nodes.critic_graph import COSTS, UNTOLD, PairRecord, pair_records
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
    """Of the pairs of one methodology and kind of question ("" for all) that differ; `alike`: the others."""

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
    """What a respondent's answers cost in all, and for each pair won; None where none was, or a price is unknown."""

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
    """rates: all pairs first. again: the critic's first verdict against its second, in the same order."""

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
        costs = [{**asdict(c), "tokens_a_win": c.tokens_a_win, "usd_a_win": c.usd_a_win} for c in self.costs]
        return jsonable(
            {"critic": self.critic, "rubric": self.rubric, "stand_in": self.stand_in, "usable": self.usable,
             "pairs": len(self.pairs), "stopped": self.stopped, "unread": self.unread, "unannotated": self.unannotated,
             "win_rates": [asdict(row) for row in self.rates], "agreement": [asdict(row) for row in self.agreements],
             "costs": costs, "position_bias": asdict(self.bias), "repeat": asdict(self.again)}
        )  # fmt: skip


def preferences(reading: RunReading) -> RespondentComparison | None:
    """None in a run without a second respondent."""
    record, second = reading.record, reading.record.second
    if second is None or record.critic is None:
        return None
    pairs = list(pair_records(reading.ledger, second.id))
    noted = json.loads(reading.ledger.noted(f"{CRITIC}_{COSTS}") or "{}")
    first = [(pair.forward, pair.again) for pair in pairs if pair.forward and pair.again]
    return RespondentComparison(
        critic=record.critic_model or STAND_IN,
        rubric=record.critic.rubric,
        stand_in=not record.critic_has_model,
        pairs=pairs,
        rates=list(_rates(pairs)),
        agreements=list(_agreements(pairs, record.methods)),
        costs=[_cost(side, arm, pairs, noted) for side, arm in (("A", record.main), ("B", second))],
        bias=position_bias([pair.forward for pair in pairs], [pair.backward for pair in pairs]),
        again=weighted_kappa([float(a == "A") for a, _ in first], [float(b == "A") for _, b in first]),
        stopped=stage.note
        if (stage := reading.ledger.stages().get(("", CRITIC))) and stage.outcome == "failed"
        else "",
        unread=sum(not pair.winner for pair in pairs),
        unannotated=int(reading.ledger.noted(UNTOLD) or 0),
    )


def _rates(pairs: Sequence[PairRecord]) -> Iterator[Rate]:
    yield _rate("", "", pairs)
    cells = dict.fromkeys((pair.methodology, pair.question_type) for pair in pairs)
    for name, kind in cells:
        yield _rate(name, kind, [pair for pair in pairs if (pair.methodology, pair.question_type) == (name, kind)])


def _rate(name: str, kind: str, pairs: Sequence[PairRecord]) -> Rate:
    judged = [pair for pair in pairs if pair.winner and not pair.alike]
    rate = win_rate([POINTS[pair.winner] for pair in judged], [pair.participant for pair in judged])
    return Rate(name, kind, rate, sum(pair.alike for pair in pairs))


def _agreements(pairs: Sequence[PairRecord], methods: Iterable[str]) -> Iterator[AnswerAgreement]:
    """Of scales alone, each as a share of its width."""
    for name in methods:
        rows = [p for p in pairs if p.methodology == name and p.width and None not in (p.value_a, p.value_b)]
        if not rows:
            continue
        item = [pair.question_id.replace(f"/{pair.participant}/", "/*/", 1) for pair in rows]
        table = pd.DataFrame(
            {
                "item": item,
                "agent": [pair.participant for pair in rows],
                "a": [(pair.value_a or 0.0) / (pair.width or 1.0) for pair in rows],
                "b": [(pair.value_b or 0.0) / (pair.width or 1.0) for pair in rows],
            }
        )
        wide = {side: table.pivot_table(index="agent", columns="item", values=side).to_numpy() for side in ("a", "b")}
        exact = float(np.isclose(table["a"], table["b"]).mean())
        yield AnswerAgreement(name, len(rows), stratified_kappa(wide["a"], wide["b"]), exact)


def _cost(side: str, arm: Arm, pairs: Sequence[PairRecord], noted: Any) -> Cost:
    cost = noted.get(side.lower(), {})
    scores = [score for pair in pairs if (score := pair.score_a if side == "A" else pair.score_b) is not None]
    wins = Counter(pair.winner for pair in pairs)
    return Cost(
        "A" if side == "A" else "B", arm.model, arm.temperature, wins["A" if side == "A" else "B"],
        sum(scores) / len(scores) if scores else None, len(scores), int(cost.get("tokens", 0)), cost.get("usd"),
    )  # fmt: skip


def as_frame(pairs: Sequence[PairRecord]) -> pd.DataFrame:
    """A row a pair, for pairs.csv."""
    return pd.DataFrame([pair.model_dump() for pair in pairs], columns=list(PairRecord.model_fields))


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


def preference_section(comparison: RespondentComparison | None, titles: Mapping[str, str], language: Language) -> str:
    """Markdown; "" for a run without a second respondent. titles (Markdown): by methodology."""
    if comparison is None:
        return ""
    return render(
        "enquete.reports:preference.md.j2", language, comparison=comparison, titles=titles,
        rubric=RUBRICS[comparison.rubric], verdict=CRITIC_VERDICTS[comparison.bias.verdict],
        conclusion=conclusion(comparison, language), kinds={name: kind.label for name, kind in KINDS.items()},
    ).strip()  # fmt: skip


def conclusion(comparison: RespondentComparison, language: Language) -> str:
    """What may be said of the two, in a sentence."""
    whole = comparison.rates[0].found
    if not comparison.usable:
        return tell(_unusable(comparison.bias), language)
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
        return [finding for _, finding in self.headlines]

    def as_json(self) -> JsonValue:
        listed = {
            line.id: {"methodology": line.methodology, "kind": line.kind, "about": list(line.about), **held.as_json()}
            for line, held in self.headlines
        }
        return jsonable(
            {"arms": list(self.arms), "alpha": ALPHA, "fewest": fewest(), "shared_t0": self.shared_t0,
                "headlines": listed,
             "variance_components": [asdict(variance) for variance in self.spread]}
        )  # fmt: skip


def replicate(reading: RunReading, frame: pd.DataFrame, main: Findings) -> Replicates:
    """Findings over the replicates of a run, and where its answers vary; empty without replicates. frame: all arms."""
    arms = [arm for arm in reading.record.arms if arm.role == "replicate"]
    if not arms:
        return Replicates()
    earlier, by_method = taken_over(frame, reading.own_runs), evaluations(reading.record.methods)
    again: list[Results] = []
    bugs: list[Failure] = []
    for arm in arms:
        rows = standing_in(frame, arm.id, earlier)
        findings = find(reading, rows, arm=arm)
        bugs += findings.bugs
        again.append(alike(by_method, findings, main))
    language, shared_t0 = reading.language, frozenset(earlier.loc[earlier["phase"].eq("T0"), "methodology"])
    claims = headlines(by_method, main.results, language)
    others = [headlines(by_method, results, language) for results in again]
    return Replicates(
        (reading.record.main.id, *(arm.id for arm in arms)),
        judged_headlines(claims, others, shared_t0),
        bool(shared_t0),
        tuple(spreads(frame)),
        tuple(bugs),
    )


def alike(by_method: Mapping[str, Evaluation], findings: Findings, main: Findings) -> Results:
    """A replicate's findings, with arbitrary names (of groups, say) as in the main arm's."""
    results = dict(findings.results)
    for name in findings.analyses.keys() & main.analyses.keys():
        evaluation = by_method[name]
        if evaluation.alike is not None:
            renamed = evaluation.alike(findings.analyses[name], main.analyses[name])
            results[name] = {**results[name], **renamed.as_json(evaluation.presentation)}
    return results


def headlines(by_method: Mapping[str, Evaluation], results: Results, language: Language) -> dict[str, Headline]:
    """All that a run measures, by id; the main arm's results decide which of them are headlines (`leads`)."""
    made = (
        replace(headline, methodology=name)
        for name, result in results.items()
        for headline in declared_headlines(read_results(name, by_method[name].presentation, result, language))
    )
    return {headline.id: headline for headline in made}


def taken_over(frame: pd.DataFrame, own_runs: Iterable[str]) -> pd.DataFrame:
    """Rows of the main arm that an earlier run measured; a T0 among them is that of every arm."""
    return frame[frame["arm_role"].eq("main") & ~frame["run_id"].isin(list(own_runs))]


def standing_in(frame: pd.DataFrame, arm: str, earlier: pd.DataFrame) -> pd.DataFrame:
    """The rows of one arm as if it were the main one; a T0 that an earlier run measured is everybody's."""
    rows = frame[frame["arm"].eq(arm)]
    return pd.concat([earlier, rows], ignore_index=True).assign(arm_role="main")


# --- findings --------------------------------------------------------------------------------------------------------


def judged_headlines(
    main: Mapping[str, Headline], again: Sequence[Mapping[str, Headline]], shared_t0: Collection[str] = ()
) -> list[tuple[Headline, ReplicatedFinding]]:
    """Each headline of the main arm by the replicates; one that a replicate does not measure is missing there."""
    judged = []
    for name, headline in main.items():
        if headline.leads:
            others = [made.get(name) for made in again]
            claims = [other.said if other else None for other in others]
            # where all measure change from the same T0, the runs do not measure apart
            held = judge_claim(headline.said, claims, independent=headline.methodology not in shared_t0)
            shown = tuple(other.shown if other else None for other in others)
            agreeing = tuple(None if each is None else each == headline.said for each in claims)
            judged.append((headline, ReplicatedFinding(headline.shown, shown, held, agreeing)))
    return judged


# --- where answers vary ----------------------------------------------------------------------------------------------


def spreads(frame: pd.DataFrame) -> Iterator[AnswerVariance]:
    """Closed answers of main arm and replicates as shares of the scale's width, rekeyed, by methodology and phase."""
    rows = frame[frame["arm_role"].isin(ROLES) & frame["scale_min"].notna()]
    for (name, phase), group in rows.groupby(["methodology", "phase"], sort=False):
        first = rounds(group)[:1]
        before = group[group["round"].isin(first)]
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
    replicates: Replicates, by_method: Mapping[str, Evaluation], titles: Mapping[str, str], language: Language
) -> str:
    """The appendix's section, Markdown; "" for a run without replicates. titles: Markdown."""
    if not replicates.arms:
        return ""
    main, *further = replicates.arms
    return render(
        "enquete.reports:replicates.md.j2", language, main=main, further=further, alpha=ALPHA, least=fewest(),
        shared_t0=replicates.shared_t0, n=Counter(finding.held.verdict for finding in replicates.judged),
        headlines=[(headline, sentences(by_method[headline.methodology], language),
            _row(finding)) for headline, finding in replicates.headlines],
        spread=replicates.spread, titles=titles, most=ROWS, verdicts=REPLICATE_VERDICTS, sources=SOURCES,
        chance=lambda held: _chance(held, language),
    ).strip()  # fmt: skip


def sentences(evaluation: Evaluation, language: Language) -> Mapping[str, str]:
    columns = compared_columns(evaluation.presentation)
    return {kind: tell(column.label, language) + ": {0}" for kind, column in columns.items()}


def _row(finding: ReplicatedFinding) -> FindingOverRuns:
    if any(isinstance(shown, str) for shown in finding.further):
        return FindingOverRuns(finding.main, Counter(finding.further).most_common(), None, finding.held)
    known = [figure for figure in finding.further if isinstance(figure, int | float)]
    between = (min(known), max(known), len(known)) if known and len(finding.further) > LISTED else None
    return FindingOverRuns(finding.main, [(figure, 0) for figure in finding.further[:LISTED]], between, finding.held)


def _chance(held: Replicated, language: Language) -> str:
    """Per cent, never rounded down to nothing."""
    if held.chance is None:
        return tell(N_("not known"), language) if held.n else MISSING
    return f"< {share(0.01, language)}" if held.chance < 0.005 else share(held.chance, language)
