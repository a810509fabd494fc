"""What a run's further arms say of its main one: respondent B, pair by pair, and replicates, finding by finding."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, Literal

import numpy as np
import pandas as pd

from enquete.analysis.agreement import Kappa, stratified_kappa, weighted_kappa
from enquete.analysis.diagnostics import ALPHA
from enquete.analysis.preference import PositionBias, WinRate, position_bias, win_rate
from enquete.analysis.probes import Replicated, VarianceComponents, fewest, judge_claim, variance_components
from enquete.locale import N_, tell
from enquete.reports import declarations as d
from enquete.reports.analyses import Findings, compared_columns, find, read_results
from enquete.reports.analyses import headlines as declared_headlines
from enquete.reports.context import Found
from enquete.reports.declarations import Row
from enquete.reports.evaluation import Evaluation, Headline, Shown, evaluations
from enquete.reports.gaps import NOTHING_CAUGHT, GapLog
from enquete.reports.health_checks import rounds
from enquete.reports.markdown import MISSING, number
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Names, Results
from enquete.respondents.critic import STAND_IN
from enquete.respondents.kinds import KINDS
from enquete.runs.answer_pairs import COSTS, UNTOLD, PairRecord, pair_records
from enquete.runs.planning import CRITIC
from enquete.state.asking import Arm, Language

PAIRS = "pairs.csv"
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


# --- Respondent A against respondent B as it is read ------------------------------------------------------------------

PREFERENCE = "preference"
AGAINST = N_("Respondent A against respondent B")
RUBRICS: Mapping[str, str] = {
    "realistic": N_("believable for the person"), "style": N_("way of speaking"), "clarity": N_("clarity"),
    "empathic": N_("regard for others"), "interpretive": N_("interpretation"),
    "creative": N_("thoughts of one's own"),
}  # fmt: skip
CRITIC_VERDICTS: Mapping[str, str] = {
    "usable": N_("usable"), "unusable": N_("unusable"), "not decided": N_("not decided: too few pairs"),
    "not judged": N_("not judged"),
}  # fmt: skip
CONCLUSIONS: Mapping[str, str] = {
    "first_place": N_(
        "The critic is unusable: it prefers whichever answer stands first. Win rates are not interpreted."
    ),
    "place": N_("The critic is unusable: its verdicts go with the place of an answer. Win rates are not interpreted."),
    "nothing": N_("No pair was judged in both orders; nothing can be said of the two."),
    "B": N_("Respondent B is preferred."),
    "A": N_("Respondent A is preferred."),
    "neither": N_("Neither respondent is preferred: the interval of the win rate includes one half."),
}
ALL = ""
"""Stands for all methodologies and kinds of question together."""

COMPARED = d.Presentation(
    title=AGAINST,
    tables=(
        d.Table(name="costs", title=N_("Respondents"), key=("side",), columns=(
            d.text("side", N_("Respondent")), d.text("model", N_("Model")),
            d.number("temperature", N_("Temperature"), digits=1), d.number("score", N_("mean grade")),
            d.integer("n_scores", "n"), d.integer("wins", N_("wins")), d.integer("tokens", N_("tokens")),
            d.number("tokens_a_win", N_("tokens a win"), digits=0), d.number("usd", "USD", digits=4),
            d.number("usd_a_win", N_("USD a win"), digits=4)),
            views=(d.View(at="section", heading="", columns=d.names(
                "side model temperature score n_scores wins tokens tokens_a_win usd_a_win")),)),
        d.Table(name="rates", title=N_("Win rates of respondent B"), key=("methodology", "question_type"), columns=(
            d.reference("methodology", N_("Methodology"), to="methodology"),
            d.code("question_type", N_("Question"),
                   {ALL: N_("all"), **{name: kind.label for name, kind in KINDS.items()}}),
            d.text("label", N_("Pairs")), d.integer("n", "n"), d.integer("n_agents", N_("agents")),
            d.integer("wins_a", N_("A wins")), d.integer("ties", N_("ties")), d.integer("wins_b", N_("B wins")),
            d.share("rate", N_("win rate of B (one half: neither)")), d.share("low", N_("lower bound")),
            d.share("high", N_("upper bound")), d.number("strength", N_("strength B − A")),
            d.integer("alike", N_("both the same"))),
            views=(d.View(at="section", heading="", columns=d.names(
                "methodology question_type n n_agents wins_a ties wins_b rate low high strength alike"), note=N_(
                "Win rate: wins and half of the ties, of the pairs that differ; Wilson's interval at 95%, corrected "
                "for several answers of one agent. Strength: Bradley–Terry, on the logit scale; 0: equally "
                "strong.")),)),
        d.Table(name="agreement", title=N_("Closed answers of both"), key=("methodology",), columns=(
            d.reference("methodology", N_("Methodology"), to="methodology"),
            d.integer("n", N_("closed answers of both")), d.share("exact_share", N_("the same")),
            d.number("kappa", N_("weighted κ within items"))),
            views=(d.View(at="section", heading=""),)),
    ),
    facts=(
        d.text("critic"), d.code("rubric", N_("grades"), RUBRICS), d.flag("stand_in"), d.text("stopped"),
        d.integer("n_pairs"), d.integer("alike"), d.integer("unread"), d.integer("unannotated"),
        d.code("conclusion", N_("conclusion"), CONCLUSIONS), d.code("verdict", N_("critic"), CRITIC_VERDICTS),
        d.integer("judged_twice"), d.integer("splits"), d.integer("first"), d.share("split_rate"),
        d.share("split_low"), d.share("split_high"), d.integer("n_again"), d.share("exact_again"),
        d.number("kappa_again"),
    ),
    texts=(
        d.TextBlock(at="section", where="stand_in", says=N_(
            "The critic of this run is a stand-in without a model ({critic}): it judges by a planted quality and "
            "reads no answer. What follows shows how a comparison looks and says nothing about the respondents.")),
        d.TextBlock(at="section", where="stopped == stopped", says=N_(
            "The critic was stopped by a bug: {stopped}. What it had judged is here.")),
        d.TextBlock(at="section", word="conclusion", says=CONCLUSIONS),
        d.TextBlock(at="section", says=N_(
            "Every question was put to a second respondent too; its answers are in no other result of this report. The "
            "critic {critic} graded both answers from 1 to 5 ({rubric}) and compared them in both orders: a win needs "
            "both, a split is a tie. {n_pairs} pairs; in {alike} both say the same, which is not judged; {unread} "
            "without a verdict.")),
        d.TextBlock(at="section", after="costs", says=N_("The critic itself: {verdict}.")),
        d.TextBlock(at="section", after="costs", where="split_rate == split_rate", says=N_(
            "In {splits} of {judged_twice} pairs judged in both orders its verdict went with the place ({split_rate}, "
            "95% interval {split_low} to {split_high}; {first} times with the first). From one half on, as with a "
            "coin, a critic is unusable.")),
        d.TextBlock(at="section", after="costs", where="n_again > 0", says=N_(
            "Asked once more about {n_again} of the pairs, in the same order, it said the same in {exact_again} (κ, "
            "corrected for chance: {kappa_again}).")),
        d.TextBlock(at="section", after="agreement", where="unannotated > 0", says=N_(
            "The memory has no record of the answers of {unannotated:pair|pairs}; nothing was noted there.")),
    ),
    charts=(d.Chart(
        name="win-rates", title=N_("How often respondent B's answer is preferred to respondent A's"), needs=("rates",),
        draw="enquete.reports.pictures:rates",
        alt=N_("Respondent B wins {rate} of {n} pairs, ties counted half; 95% interval {low} to {high}."),
    ),),
)  # fmt: skip
ALL_PAIRS = N_("all pairs that differ")


def preference_results(comparison: RespondentComparison | None, names: Names, language: Language) -> Results | None:
    """None for a run without a second respondent. Win rates of an unusable critic are not told."""
    if comparison is None:
        return None
    bias, again = comparison.bias, comparison.again
    facts = {
        "critic": comparison.critic, "rubric": comparison.rubric, "stand_in": comparison.stand_in,
        "stopped": comparison.stopped or None, "n_pairs": len(comparison.pairs), "alike": comparison.rates[0].alike,
        "unread": comparison.unread, "unannotated": comparison.unannotated, "conclusion": conclusion(comparison),
        "verdict": bias.verdict, "judged_twice": bias.n, "splits": bias.splits, "first": bias.first,
        "split_rate": bias.rate, "split_low": bias.low, "split_high": bias.high, "n_again": again.n,
        "exact_again": again.exact_share, "kappa_again": again.kappa,
    }  # fmt: skip
    rates = [
        {"methodology": rate.methodology, "question_type": rate.question_type, "alike": rate.alike,
         "label": _label(rate, names, language), **asdict(rate.found)}
        for rate in comparison.rates if comparison.usable and rate.found.n
    ]  # fmt: skip
    agreement = [
        {"methodology": row.methodology, "n": row.n, "exact_share": row.exact_share, "kappa": row.kappa}
        for row in comparison.agreements
    ]
    costs = [{**asdict(c), "tokens_a_win": c.tokens_a_win, "usd_a_win": c.usd_a_win} for c in comparison.costs]
    analysis = d.shaped(COMPARED, {"costs": costs, "rates": rates, "agreement": agreement}, facts)
    methodologies = {**names.methodologies, ALL: tell(N_("all"), language)}
    return Results(PREFERENCE, COMPARED, analysis, replace(names, methodologies=methodologies), language)


def _label(rate: Rate, names: Names, language: Language) -> str:
    if rate.methodology and rate.question_type in KINDS:
        title = names.of("methodology", rate.methodology, language)
        return f"{title}: {tell(KINDS[rate.question_type].label, language)}"
    return tell(ALL_PAIRS, language)


def conclusion(comparison: RespondentComparison) -> str:
    """What may be said of the two: a level of CONCLUSIONS."""
    whole, bias = comparison.rates[0].found, comparison.bias
    if not comparison.usable:
        return "first_place" if bias.first == bias.splits else "place"
    if whole.low is None or whole.high is None:
        return "nothing"
    return "B" if whole.low > 0.5 else "A" if whole.high < 0.5 else "neither"


# --- What a run's replicates say: where its answers vary, and which findings hold when all is asked again -------------
# A replicate is an arm that was asked everything again under another seed or by another model. The
# methodologies' verdicts are made anew from every replicate alone, with that arm in the main arm's place. The main
# arm chose what to claim and is no witness of it: `judge_claim` counts the replicates only.

ResultsOfRun = Mapping[str, Found]

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


@dataclass(frozen=True)
class Replicates:
    """arms: the main arm first; empty where the run has no replicate."""

    arms: tuple[str, ...] = ()
    headlines: Sequence[tuple[Headline, ReplicatedFinding]] = ()
    shared_t0: bool = False  # an earlier run's T0 is that of all arms
    spread: tuple[AnswerVariance, ...] = ()

    @property
    def judged(self) -> list[ReplicatedFinding]:
        return [finding for _, finding in self.headlines]


def replicate(reading: RunReading, frame: pd.DataFrame, main: Findings, log: GapLog = NOTHING_CAUGHT) -> Replicates:
    """Findings over the replicates of a run, and where its answers vary; empty without replicates. frame: all arms."""
    arms = [arm for arm in reading.record.arms if arm.role == "replicate"]
    if not arms:
        return Replicates()
    earlier, by_method = taken_over(frame, reading.own_runs), evaluations(reading.record.methods)
    again: list[ResultsOfRun] = []
    for arm in arms:
        rows, arm_log = standing_in(frame, arm.id, earlier), log.for_arm(arm.id)
        findings = find(reading, rows, arm_log, arm=arm)
        again.append(alike(by_method, findings, main, arm_log))
    language, shared_t0 = reading.language, frozenset(earlier.loc[earlier["phase"].eq("T0"), "methodology"])
    main_log = log.for_arm(reading.record.main.id)
    claims = headlines(by_method, main.results, language, main_log)
    others = [
        headlines(by_method, results, language, log.for_arm(arm.id)) for arm, results in zip(arms, again, strict=True)
    ]
    return Replicates(
        (reading.record.main.id, *(arm.id for arm in arms)),
        judged_headlines(claims, others, shared_t0),
        bool(shared_t0),
        tuple(spreads(frame)),
    )


def alike(
    by_method: Mapping[str, Evaluation], findings: Findings, main: Findings, log: GapLog = NOTHING_CAUGHT
) -> ResultsOfRun:
    """A replicate's findings, with arbitrary names (of groups, say) as in the main arm's."""
    results = dict(findings.results)
    for name in findings.analyses.keys() & main.analyses.keys():
        rename, presentation = by_method[name].alike, by_method[name].presentation
        if rename is None:
            continue
        own = results.pop(name)  # under names of its own it could not be compared
        with log.catch(name, "replicates"):
            renamed = rename(findings.analyses[name], main.analyses[name])
            results[name] = {**own, **renamed.as_json(presentation)}
    return results


def headlines(
    by_method: Mapping[str, Evaluation], results: ResultsOfRun, language: Language, log: GapLog = NOTHING_CAUGHT
) -> dict[str, Headline]:
    """All that a run measures, by id; the main arm's results decide which of them are headlines (`leads`)."""
    by_id: dict[str, Headline] = {}
    for name, result in results.items():
        with log.catch(name, "replicates"):
            told = read_results(name, by_method[name].presentation, result, language)
            by_id |= {headline.id: replace(headline, methodology=name) for headline in declared_headlines(told)}
    return by_id


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


# --- Replicates as they are read: whether a finding held, its figure in every run, and where answers vary -------------

REPLICATES = "replicates"
LISTED = 6  # figures of replicates that a cell lists one by one
ROWS = 60

REPLICATE_VERDICTS: Mapping[str, str] = {
    "stable": N_("stable"), "fragile": N_("fragile"), "not decided": N_("not decided"),
    "not judged": N_("not judged"),
}  # fmt: skip
SOURCES: Mapping[str, str] = {
    "agent": N_("agent"), "item": N_("item"), "model": N_("model"), "replicate": N_("replicate"),
    "residual": N_("residual"),
}  # fmt: skip
"""Of variance."""
SAYS = {"same": N_("as in the main arm"), "other": N_("something else"), "missing": N_("not measured")}

REPEATED = d.Presentation(
    title=N_("Replicates"),
    tables=(
        d.Table(name="findings", title=N_("Headline findings of the methodologies"), key=("finding",), columns=(
            d.text("finding", N_("id")), d.reference("methodology", N_("Methodology"), to="methodology"),
            d.text("label", N_("Finding")), d.text("main", N_("Main arm")), d.text("further", N_("Further runs")),
            d.integer("n_agreeing", N_("agree")), d.integer("n", "n"), d.of("n_agreeing", "n", N_("agree")),
            d.integer("n_missing", N_("not measured")), d.p_value("chance", N_("Chance")),
            d.code("verdict", N_("Verdict"), REPLICATE_VERDICTS)),
            views=(d.View(at="appendix", top=ROWS, columns=d.names(
                "methodology label main further n_agreeing_of_n chance verdict")),)),
        d.Table(name="runs", title=N_("Findings by run"), key=("finding", "run"), columns=(
            d.text("finding", N_("id")), d.text("label", N_("Finding")),
            d.reference("methodology", N_("Methodology"), to="methodology"),
            d.integer("run", N_("further run")), d.text("main", N_("main arm")), d.text("said", N_("further run")),
            d.code("says", N_("further run"), SAYS), d.share("agreeing", N_("found again in")))),
        d.Table(name="variance", title=N_("Where closed answers vary"), key=("methodology", "phase", "source"),
            columns=(
                d.reference("methodology", N_("Methodology"), to="methodology"), d.text("phase", N_("Phase")),
                d.text("source", N_("id")), d.several("of", N_("source"), levels=SOURCES),
                d.share("share", N_("share of variance")), d.integer("n", "n")),
            views=(d.View(at="appendix", columns=d.names("methodology phase of share n"), note=N_(
                "Shares of the variance of closed answers (rekeyed, as shares of the scale's width, before any "
                "feedback). A dash: this design cannot tell the source apart.")),)),
    ),
    facts=(
        d.text("main"), d.several("further"), d.integer("n_runs"), d.integer("n_asked"), d.share("alpha"),
        d.integer("least"), d.flag("shared_t0"), d.integer("n_findings"), d.integer("n_alike"), d.integer("n_stable"),
        d.integer("n_fragile"), d.integer("n_undecided"), d.integer("n_unjudged"),
    ),
    texts=(
        d.TextBlock(at="appendix", says=N_(
            "Everything was asked {n_asked} times: by the main arm {main} and again by {further}. Every finding was "
            "made anew from each run alone. The main arm chose which groups, items and themes a finding names, and so "
            "it always speaks for it; only the further runs are counted.")),
        d.TextBlock(at="appendix", says=N_(
            "Chance is the probability that at least as many agree if a further run agrees as often as not (sign "
            "test). Stable: at most {alpha}, so {least} of {least} at the earliest. Fragile: so few agree as would be "
            "seen in at most {alpha} of cases for a finding that holds in 90% of runs (0 of 2, 1 of 3, 2 of 5). Not "
            "decided: neither. A run that does not make the finding of its answers does not agree.")),
        d.TextBlock(at="appendix", where="n_runs < least", says=N_(
            "With {n_runs:further run|further runs} no finding can be called stable; that takes at least {least}.")),
        d.TextBlock(at="appendix", says=N_(
            "The unit of inference is the run: only here there are several. They share agents and wording, in the "
            "Delphi also the main arm's themes and the medians that were fed back; they say nothing about people.")),
        d.TextBlock(at="appendix", where="shared_t0", says=N_(
            "All runs measure change from the same earlier T0. So they agree by its error of measurement too: findings "
            "about change are not decided, and what chance does is not known.")),
        d.TextBlock(at="appendix", where="n_findings > 0", says=N_(
            "Findings: {n_findings}; stable {n_stable}, fragile {n_fragile}, not decided {n_undecided}, not judged "
            "{n_unjudged}. Where nothing but chance is at work, up to {alpha} of findings are called stable.")),
        d.TextBlock(at="appendix", where="n_findings == 0", says=N_("There are no findings to judge.")),
    ),
    charts=(d.Chart(
        name="findings", title=N_("Replicates: what further runs say of the main arm's findings"), needs=("runs",),
        draw="enquete.reports.pictures:findings", at="appendix",
        over=d.View(at="appendix", order=("agreeing", "finding")),
        alt=N_("{n_findings:finding|findings} over {n_runs:further run|further runs}; {n_alike} of them are found "
               "again in all."),
    ),),
)  # fmt: skip


def replicate_results(
    replicates: Replicates, by_method: Mapping[str, Evaluation], names: Names, language: Language
) -> Results | None:
    """None for a run without replicates."""
    if not replicates.arms:
        return None
    main, *further = replicates.arms
    judged = replicates.judged
    verdicts = Counter(finding.held.verdict for finding in judged)
    facts = {
        "main": main, "further": further, "n_runs": len(further), "n_asked": len(replicates.arms), "alpha": ALPHA,
        "least": fewest(), "shared_t0": replicates.shared_t0, "n_findings": len(judged),
        "n_alike": sum(finding.held.n_agreeing == finding.held.n for finding in judged),
        "n_stable": verdicts["stable"], "n_fragile": verdicts["fragile"], "n_undecided": verdicts["not decided"],
        "n_unjudged": verdicts["not judged"],
    }  # fmt: skip
    rows = list(_findings(replicates, by_method, language))
    variance = [
        {"methodology": spread.methodology, "phase": spread.phase, "source": component.source,
         "of": component.source.split(" × "), "share": component.share, "n": spread.found.n}
        for spread in replicates.spread for component in spread.found.components
    ]  # fmt: skip
    tables = {
        "findings": [row for row, _ in rows], "runs": [run for _, runs in rows for run in runs], "variance": variance,
    }  # fmt: skip
    return Results(REPLICATES, REPEATED, d.shaped(REPEATED, tables, facts), names, language)


def _findings(
    replicates: Replicates, by_method: Mapping[str, Evaluation], language: Language
) -> Iterator[tuple[Row, list[Row]]]:
    """A finding over the runs, and in each of them."""
    for headline, finding in replicates.headlines:
        label = compared_columns(by_method[headline.methodology].presentation)[headline.kind].label
        held = finding.held
        what = {
            "finding": f"{headline.methodology}/{headline.id}", "methodology": headline.methodology,
            "label": f"{tell(label, language)}: {headline.about[0]}", "main": _told(finding.main, language),
        }  # fmt: skip
        runs = [
            {
                **what, "run": run, "said": _told(shown, language),
                "says": "missing" if agrees is None else "same" if agrees else "other",
                "agreeing": held.n_agreeing / held.n if held.n else None,
            }
            for run, (shown, agrees) in enumerate(zip(finding.further, finding.agreeing, strict=True), start=1)
        ]  # fmt: skip
        counted = {name: value for name, value in asdict(held).items() if name not in ("as_few", "reason")}
        yield {**what, **counted, "further": _over_runs(finding, language)}, runs


def _over_runs(finding: ReplicatedFinding, language: Language) -> str:
    """Figures of the further runs one by one, or the lowest and the highest; words with how often they were said."""
    if any(isinstance(shown, str) for shown in finding.further):
        counted = Counter(_told(shown, language) or MISSING for shown in finding.further)
        return "; ".join(f"{told} ({n})" for told, n in counted.most_common())
    known = [figure for figure in finding.further if isinstance(figure, int | float)]
    if known and len(finding.further) > LISTED:
        low, high = (_told(end, language) for end in (min(known), max(known)))
        return tell(N_("{low} to {high} ({n})"), language).format(low=low, high=high, n=len(known))
    return "; ".join(_told(figure, language) or MISSING for figure in finding.further)


def _told(value: object, language: Language) -> str | None:
    return None if value is None else value if isinstance(value, str) else number(value, language)
