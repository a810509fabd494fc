"""Result tables of the two waves: answers in, one DataFrame a table out.

`analyse` prepares the answers once (`WaveData`) and calls one function a table. What a column means is in
`reports/columns.yaml`, sentences are in `findings.py`, the section of the report is in `report.md.j2`.

Only a T0 that was measured before the simulation gives drift. A reconstructed T0 gives an experience effect: the same
estimates without tests and intervals. With a placebo arm, what is tested is the change beyond the one that a neutral
memory brings. Statements stand as they are worded; families and agents on rekeyed values. Every estimate stands beside
its n.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.change import delta_matrix, drift_per_agent, holm, population_drift, wilcoxon
from enquete.analysis.inference import ALPHA, detectable_change, max_t, selected_intervals, shrink_sd
from enquete.analysis.panel import frequencies
from enquete.analysis.sign_flips import mean_change
from enquete.instruments.scales import Scale
from enquete.locale import N_
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext, answering, chosen, responded, shallow, wide
from enquete.reports.declarations import Analysis, compared, on_scale, shape_results
from enquete.reports.findings import FEWEST
from enquete.reports.group_tables import declare_group_tables
from enquete.state.asking import Language

WAVES = ("T0", "T1")
QUOTED_COMMENTS = 5
"""Comments of a wave that are quoted, evenly spread over the population."""
FEWEST_PAIRS = 7
"""Below, no change can be significant: all of one sign, p = 2/2⁶ in a family of three on the page is .09."""
KINDS = ("drift", "experience_effect")
"""What a difference between the waves may be called; columns of single agents begin with it."""

TESTED = "p p_adjusted test detectable detectable_share"

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("longitudinal")
TABLES = (
    GLOSSARY.table(
        "items", N_("Statements"), key="item", label="wording",
        columns="item wording family reverse_keyed control scale_min scale_max",
    ),
    GLOSSARY.table(
        "families", N_("Families of statements"), key="family", label="label", columns="family label n_items",
    ),
    GLOSSARY.table(
        "waves", N_("Waves"), key="phase", columns="phase n_answers n_planned n n_total n_with_memory",
    ),
    GLOSSARY.table(
        "changes", N_("Change from T0 to T1, by statement"), key="item", replicates=("outcome",),
        columns="item scale scale_place measure size n n_total n_changed before after change sd low high outcome "
                f"{TESTED} alone_low alone_high p_alone rank_biserial p_holm",
        note=N_("Alone: the mean change with the interval of the sign-flip test beside it, so that the interval leaves "
                "0 out where p < .05; Holm over the statements. p: max-T, which the report corrects further."),
    ),
    GLOSSARY.table(
        "placebo", N_("Change beyond a neutral memory"), key="item",
        columns=f"item scale scale_place measure size n n_total n_changed main placebo change sd low high {TESTED}",
    ),
    GLOSSARY.table(
        "answers", N_("Answers by statement and wave"), key="item phase",
        columns="item phase scale scale_place n_on_scale scale_min scale_max n n_total mean low high median sd "
                "agreeing confidence place",
        note=N_("As answered, not rekeyed. {above}: answers above the middle of the scale."),
    ),
    GLOSSARY.table(
        "distribution", N_("Distribution of the answers"), key="item phase value",
        columns="item phase value n share",
    ),
    *declare_group_tables(GLOSSARY, N_("Answers by group, last wave"), by="item"),
    *declare_group_tables(GLOSSARY, N_("Change by group"), by="item", about="change"),
    GLOSSARY.table(
        "family_changes", N_("Change by family"), key="family",
        columns="family n n_total mean weighted low high p p_holm",
        note=N_("Rekeyed; an agent counts once. Weighted: agents without memory count {memoryless_weight}."),
    ),
    GLOSSARY.table(
        "agents", N_("Change by agent"), key="participant", one_agent=True,
        columns="participant n_items memory drift_abs drift_signed experience_effect_abs experience_effect_signed "
                "share_changed",
        agents=("drift_abs", "drift_signed", "experience_effect_abs", "experience_effect_signed"),
    ),
    GLOSSARY.table(
        "comments", N_("Open comments"), key="phase participant", one_agent=True,
        columns="phase participant stakeholder_type text quoted",
    ),
)  # fmt: skip
FACTS = GLOSSARY.facts(
    "kind design interpretable tested reasons no_memory has_placebo own_baseline n_placebo too_few all_alike n_items "
    "last_phase only_phase above points widest n n_total comment n_paired n_only_t0 n_only_t1 n_neither pairs "
    "pairs_total n_matched n_lost n_new n_changed n_agents n_without_pairs n_memoryless memoryless_weight mean_abs "
    "mean_abs_unweighted mean_signed mean_signed_unweighted share_changed share_changed_unweighted"
)


def analyse(
    frame: pd.DataFrame, instrument: LongitudinalInstrument, settings: object, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of one or two waves.

    Args:
        frame: one row an answer. Rows of an arm whose role is "placebo" are read for the change beyond a neutral
            memory alone; every other row counts as the main arm's.
        instrument: what was asked.
        settings: none are made of this methodology.
        context: what the baseline is, what spoils the comparison, and what agents are compared by.
    """
    study = WaveData.prepare(frame, instrument, context)
    groups = context.groups_of(study.main)
    waves = count_waves(study)
    tables: dict[str, pd.DataFrame] = {
        "items": list_items(study),
        "families": list_families(study),
        "waves": waves,
        "answers": summarise_answers(study),
        "distribution": count_answers(study),
        "comments": list_comments(study),
        **compared(study.values[study.last_wave], groups, "item", ends=study.scales.ends),
    }
    facts = state_facts(study, waves)
    if len(study.waves) < len(WAVES):
        facts |= {"kind": "one_wave", "design": "one_wave", "reasons": [], "tested": False, "has_placebo": False}
        return shape_results(TABLES, FACTS, tables, facts)

    change = AnswerChange.between(study)
    design = StudyDesign.judge(study)
    neutral = NeutralMemory.read(study, change) if design.interpretable else None
    agents = describe_drift(study, change)
    tables |= {
        "changes": measure_changes(study, change, design, is_on_page=neutral is None),
        "placebo": measure_beyond_neutral_memory(study, change, neutral),
        "family_changes": measure_family_changes(study, change, design, agents["weight"]),
        "agents": list_agents(agents, design),
        **compare_changes(study, change, design, groups),
    }
    facts |= state_facts_of_change(study, change, design, neutral, agents)
    return shape_results(TABLES, FACTS, tables, facts)


@dataclass(frozen=True)
class StatementScales:
    """The scale of every statement and what it is called.

    Attributes:
        scales: by statement, in the instrument's order.
        names: by statement: “1–5”.
        order: the different names, that of most statements first.
    """

    scales: Mapping[str, Scale]
    names: Mapping[str, str]
    order: tuple[str, ...]

    @classmethod
    def of(cls, instrument: LongitudinalInstrument, language: Language) -> StatementScales:
        """Name the scales; two of the same points are told apart by the words at their ends."""
        scales = {item.item_id: instrument.scale_of(item.item_id) for item in instrument.items}
        spans = {item: f"{scale.min}–{scale.max}" for item, scale in scales.items()}
        names = {}
        for item, scale in scales.items():
            same_span = [other for name, other in scales.items() if spans[name] == spans[item]]
            if all(other == scale for other in same_span):
                names[item] = spans[item]
            else:
                ends = " … ".join(scale.labels[end].in_(language) for end in (scale.min, scale.max))
                names[item] = f"{spans[item]}, {ends}"
        by_frequency = Counter(names.values()).most_common()
        return cls(scales, names, tuple(name for name, _ in by_frequency))

    @property
    def commonest(self) -> Scale:
        return next(scale for item, scale in self.scales.items() if self.names[item] == self.order[0])

    @property
    def ends(self) -> dict[str, tuple[int, int]]:
        """Both ends of the scale, by statement."""
        return {item: (scale.min, scale.max) for item, scale in self.scales.items()}

    @property
    def widths(self) -> dict[str, int]:
        """Points between the ends of the scale, by statement."""
        return {item: scale.max - scale.min for item, scale in self.scales.items()}

    def place(self, item: str) -> int:
        """Return the place of a statement's scale among the different ones, 1 that of most statements."""
        return self.order.index(self.names[item]) + 1

    def count_statements(self, item: str) -> int:
        """Return how many statements are on the scale of this one."""
        return sum(name == self.names[item] for name in self.names.values())

    def describe(self, item: str) -> dict[str, Any]:
        """Return what a table of changes says of a statement's scale."""
        measure = "agreement" if self.scales[item].measures_agreement else "answer"
        return {"scale": self.names[item], "scale_place": self.place(item), "measure": measure}


@dataclass(frozen=True)
class WaveData:
    """The answers of all waves, prepared once for all tables.

    Attributes:
        instrument: what was asked.
        context: what else an analysis may know.
        main: one row an answer of the main arm.
        placebo: the same of agents who were asked with a neutral memory.
        waves: the rows of the main arm by wave, of waves that have any.
        values: by wave, participants × statements, NaN where there is no answer.
        scales: of the statements.
    """

    instrument: LongitudinalInstrument
    context: AnalysisContext
    main: pd.DataFrame
    placebo: pd.DataFrame
    waves: Mapping[str, pd.DataFrame]
    values: Mapping[str, pd.DataFrame]
    scales: StatementScales

    @classmethod
    def prepare(cls, frame: pd.DataFrame, instrument: LongitudinalInstrument, context: AnalysisContext) -> WaveData:
        is_placebo = frame["arm_role"].eq("placebo")
        main, placebo = chosen(frame, ~is_placebo), chosen(frame, is_placebo)
        parts = {wave: chosen(main, main["phase"].eq(wave)) for wave in WAVES}
        waves = {wave: rows for wave, rows in parts.items() if len(rows)}
        values = {wave: pivot_answers(rows, instrument) for wave, rows in waves.items()}
        scales = StatementScales.of(instrument, context.language)
        return cls(instrument, context, main, placebo, waves, values, scales)

    @property
    def last_wave(self) -> str:
        return list(self.waves)[-1]


def pivot_answers(rows: pd.DataFrame, instrument: LongitudinalInstrument, column: str = "value") -> pd.DataFrame:
    """Return participants in the population's order × statements in the instrument's, NaN where there is no answer."""
    return wide(rows, [item.item_id for item in instrument.items], column=column)


@dataclass(frozen=True)
class AnswerChange:
    """Both waves, participants × statements, NaN where an answer is missing.

    Attributes:
        before, after: the answers as worded.
        worded: T1 − T0 as worded, in the population's order.
        rekeyed: the same of rekeyed answers.
        memory: whether a participant had a memory at T1.
    """

    before: pd.DataFrame
    after: pd.DataFrame
    worded: pd.DataFrame
    rekeyed: pd.DataFrame
    memory: pd.Series[bool]

    @classmethod
    def between(cls, study: WaveData) -> AnswerChange:
        first, last = (study.waves[wave] for wave in WAVES)
        people = pd.concat([last, first])["participant"].unique()
        before, after = (study.values[wave] for wave in WAVES)
        turned = [pivot_answers(rows, study.instrument, "value_rekeyed") for rows in (first, last)]
        memory = last.drop_duplicates("participant").set_index("participant")["memory_available"]
        return cls(
            before,
            after,
            delta_matrix(before, after).reindex(people),
            delta_matrix(*turned).reindex(people),
            memory,
        )

    @cached_property
    def answered_before(self) -> set[str]:
        return set(self.before.dropna(how="all").index)

    @cached_property
    def answered_after(self) -> set[str]:
        return set(self.after.dropna(how="all").index)

    @property
    def n_paired(self) -> int:
        """Agents who answered in both waves."""
        return len(self.answered_before & self.answered_after)


@dataclass(frozen=True)
class StudyDesign:
    """What the two waves can show. Nothing inferential is told where it would claim what the design cannot show."""

    kind: str
    reasons: list[str]
    no_memory: bool

    @classmethod
    def judge(cls, study: WaveData) -> StudyDesign:
        after = study.waves["T1"]
        answered = after[after["value"].notna()]
        no_memory = bool(len(answered)) and not answered["memory_available"].any()
        kind = "experience_effect" if study.context.baseline == "reconstructed" else "drift"
        return cls(kind, list(study.context.incomparable), no_memory)

    @property
    def interpretable(self) -> bool:
        return not (self.reasons or self.no_memory)

    @property
    def tested(self) -> bool:
        """Whether the change itself may be tested: only drift is."""
        return self.kind == "drift" and self.interpretable


@dataclass(frozen=True)
class NeutralMemory:
    """The two waves of the agents who were asked at T1 with a neutral memory, as worded.

    Against a placebo that starts from the same T0, T0 cancels out: what is compared is T1 with the agents' own and with
    a neutral memory, which a reconstructed T0 does not spoil.

    Attributes:
        own_baseline: whether the arm has a T0 of its own; else both arms start from the main arm's.
        before, after: participants × statements.
    """

    own_baseline: bool
    before: pd.DataFrame
    after: pd.DataFrame

    @classmethod
    def read(cls, study: WaveData, change: AnswerChange) -> NeutralMemory | None:
        """Return the first placebo arm by name; None where no placebo arm has an answer at T1."""
        rows = study.placebo
        answered = rows[rows["phase"].eq("T1") & rows["value"].notna()]
        if answered.empty:
            return None
        arm = rows[rows["arm"].eq(min(answered["arm"]))]
        first, last = (arm[arm["phase"].eq(wave)] for wave in WAVES)
        own_baseline = bool(first["value"].notna().any())
        after = pivot_answers(last, study.instrument).dropna(how="all")
        before = pivot_answers(first, study.instrument).dropna(how="all") if own_baseline else change.before
        return cls(own_baseline, before.reindex(after.index), after)


def list_items(study: WaveData) -> pd.DataFrame:
    """Return the statements, with family, keying and scale."""
    rows = [
        {
            "item": item.item_id,
            "wording": item.wording.in_(study.context.language),
            "family": item.family,
            "reverse_keyed": item.reverse_coded,
            "control": item.control,
            "scale_min": study.scales.scales[item.item_id].min,
            "scale_max": study.scales.scales[item.item_id].max,
        }
        for item in study.instrument.items
    ]
    return pd.DataFrame(rows)


def list_families(study: WaveData) -> pd.DataFrame:
    """Return the families of statements, with how many statements each has."""
    rows = []
    for family, items in statements_by_family(study.instrument).items():
        label = study.instrument.families[family].label.in_(study.context.language)
        rows.append({"family": family, "label": label, "n_items": len(items)})
    return pd.DataFrame(rows)


def statements_by_family(instrument: LongitudinalInstrument) -> dict[str, list[str]]:
    """Return the statement ids of every family, in the instrument's order."""
    return {
        family: [item.item_id for item in instrument.items if item.family == family] for family in instrument.families
    }


def count_waves(study: WaveData) -> pd.DataFrame:
    """Return per wave: answers and agents, of how many, and how many agents had a memory."""
    rows = []
    for wave, answers in study.waves.items():
        counts = answering(answers)
        with_memory = answers.loc[answers["memory_available"], "participant"]
        rows.append(
            {
                "phase": wave,
                "n_answers": counts["n_responded"],
                "n_planned": counts["n_total"],
                "n": counts["agents_responded"],
                "n_total": counts["agents_total"],
                "n_with_memory": with_memory.nunique(),
            }
        )
    return pd.DataFrame(rows)


def summarise_answers(study: WaveData) -> pd.DataFrame:
    """Return mean, spread and share above the middle of every statement in every wave, as answered.

    Intervals hold for whichever statement is singled out. Places are those of the last wave, among the statements on
    the commonest scale.
    """
    return pd.concat([_summarise_wave(study, wave) for wave in study.waves], ignore_index=True)


def _summarise_wave(study: WaveData, wave: str) -> pd.DataFrame:
    scales, values = study.scales, study.values[wave]
    n, means, sds = values.notna().sum(), values.mean(), values.std()
    bounds = selected_intervals(n, means, sds).set_index(values.columns)
    confidence = study.waves[wave].groupby("item_id")["confidence"].mean()
    places: dict[str, str] = {}
    if wave == study.last_wave:
        ranked = [item for item in scales.scales if scales.place(item) == 1 and n[item] >= FEWEST]
        places = place_statements(means[ranked], of_agreement=scales.commonest.measures_agreement)

    rows = []
    for item, scale in scales.scales.items():
        answers = values[item].dropna()
        low, high = bounds.loc[item, ["low", "high"]].clip(scale.min, scale.max)
        rows.append(
            {
                "item": item,
                "phase": wave,
                "scale": scales.names[item],
                "scale_place": scales.place(item),
                "n_on_scale": scales.count_statements(item),
                "scale_min": scale.min,
                "scale_max": scale.max,
                "n": n[item],
                "n_total": len(values),
                "mean": means[item],
                "low": low,
                "high": high,
                "median": answers.median(),
                "sd": sds[item],
                "agreeing": answers.gt((scale.min + scale.max) / 2).mean(),
                "confidence": confidence.get(item),
                "place": places.get(item),
            }
        )
    return pd.DataFrame(rows)


def place_statements(means: pd.Series[float], *, of_agreement: bool) -> dict[str, str]:
    """Return which statements have the highest and the lowest mean; {} where all are alike.

    Args:
        means: by statement, of one scale.
        of_agreement: whether the scale measures agreement, so that the places are named after it.
    """
    rounded = means.dropna().round(9)
    if rounded.nunique() < 2:
        return {}
    most, least = ("most_agreement", "least_agreement") if of_agreement else ("highest", "lowest")
    places: dict[str, str] = {}
    for name, end in ((most, rounded.max()), (least, rounded.min())):
        items = [str(item) for item in rounded.index[rounded.eq(end)]]
        places |= dict.fromkeys(items, name if len(items) == 1 else f"{name}_tied")
    return places


def count_answers(study: WaveData) -> pd.DataFrame:
    """Return how many agents chose each point of the scale, per statement and wave."""
    rows = []
    for wave, values in study.values.items():
        for item, scale in study.scales.scales.items():
            answers = values[item].dropna().to_numpy(dtype=float)
            counts = frequencies(answers, scale.min, scale.max)
            for value, n in zip(scale.points, counts.tolist(), strict=True):
                share = n / answers.size if answers.size else None
                rows.append({"item": item, "phase": wave, "value": value, "n": n, "share": share})
    return pd.DataFrame(rows)


def list_comments(study: WaveData) -> pd.DataFrame:
    """Return the open comments in the population's order; those that are quoted are evenly spread over it."""
    comment = study.instrument.comment
    if comment is None:
        return pd.DataFrame()
    parts = []
    for wave, rows in study.waves.items():
        comments = responded(rows[rows["item_id"].eq(comment.item_id)])
        step = max(1, -(-len(comments) // QUOTED_COMMENTS))
        part = comments[["participant", "stakeholder_type", "text"]].reset_index(drop=True)
        parts.append(part.assign(phase=wave, quoted=part.index % step == 0))
    return pd.concat(parts, ignore_index=True)


def measure_changes(study: WaveData, change: AnswerChange, design: StudyDesign, *, is_on_page: bool) -> pd.DataFrame:
    """Return the change of every statement: over all of them (max-T), and alone by the sign-flip test beside it.

    Args:
        study, change, design: what was asked, and what may be said of it.
        is_on_page: whether p stands for the page's correction; where a placebo is tested, the bare change is not.
    """
    tests = run_change_tests(change.worded, study.scales.widths, has_interval=design.tested, is_on_page=is_on_page)
    alone = {item: mean_change(change.worded[item].to_numpy()) for item in tests["item"]}
    p_holm = holm([each.p for each in alone.values()])
    rows = []
    for item, adjusted in zip(tests["item"], p_holm, strict=True):
        is_paired = change.worded[item].notna()
        before, after = (values[item].reindex(is_paired.index)[is_paired] for values in (change.before, change.after))
        rows.append(
            {
                **study.scales.describe(item),
                "before": before.mean(),
                "after": after.mean(),
                "alone_low": alone[item].low,
                "alone_high": alone[item].high,
                "p_alone": alone[item].p,
                "p_holm": adjusted,
                "rank_biserial": wilcoxon(before, after).rank_biserial,
            }
        )
    return pd.concat([tests, pd.DataFrame(rows)], axis=1)


def run_change_tests(
    delta: pd.DataFrame, widths: Mapping[str, int], *, has_interval: bool, is_on_page: bool
) -> pd.DataFrame:
    """Return the mean change of each statement with an interval that holds for whichever is singled out, and max-T.

    Args:
        delta: participants × statements.
        widths: of the scales, by statement.
        has_interval: whether intervals may be told.
        is_on_page: as in `measure_changes`.
    """
    tests = max_t(delta)
    width = pd.Series(widths).reindex(tests.index)
    bounds = selected_intervals(tests["n"], tests["mean"], tests["sd"]).set_index(tests.index)
    shrunk_sd, prior_dof = shrink_sd(tests["sd"] / width, tests["n"] - 1)
    own_sd = pd.Series(shrunk_sd, index=tests.index) * width
    effective_tests = max(1.0, float(tests["tests"].max())) if len(tests) else 1.0

    may_test = has_interval and is_on_page
    is_tested = tests["n"].ge(FEWEST_PAIRS) & may_test
    is_sure = is_tested & tests["p_adjusted"].lt(ALPHA)
    outcome = pd.Series("untested", index=tests.index, dtype=object)
    outcome = outcome.mask(is_tested, "unmoved")
    outcome = outcome.mask(is_sure & tests["mean"].gt(0), "risen").mask(is_sure & tests["mean"].le(0), "fallen")

    detectable = []
    for item in tests.index:
        found = None
        if is_tested[item]:
            n = int(tests.loc[item, "n"])
            found = detectable_change(n, own_sd[item], tests=effective_tests, dof=n - 1 + prior_dof)
        detectable.append(on_scale(found, (0, widths[str(item)])))

    table = pd.DataFrame(
        {
            "item": tests.index.astype(str),
            "size": tests["mean"].abs() / width,
            "n": tests["n"],
            "n_total": len(delta),
            "n_changed": tests["n_changed"],
            "change": tests["mean"],
            "sd": tests["sd"],
            "low": bounds["low"].clip(-width) if has_interval else None,
            "high": bounds["high"].clip(upper=width) if has_interval else None,
            "outcome": outcome,
            "p": tests["p_adjusted"].where(is_tested),
            "test": tests["test"] if may_test else None,
        }
    )
    return pd.concat([table.reset_index(drop=True), pd.DataFrame(detectable)], axis=1)


def measure_beyond_neutral_memory(study: WaveData, change: AnswerChange, neutral: NeutralMemory | None) -> pd.DataFrame:
    """Return what the agents' own memories changed beyond neutral ones, over the answers that both arms have."""
    if neutral is None:
        return pd.DataFrame()
    with_neutral = delta_matrix(neutral.before, neutral.after).reindex(neutral.after.index)
    with_own = change.worded.reindex(neutral.after.index)
    is_paired = with_own.notna() & with_neutral.notna()
    tests = run_change_tests(with_own - with_neutral, study.scales.widths, has_interval=True, is_on_page=True)
    scales = pd.DataFrame([study.scales.describe(item) for item in tests["item"]])
    table = pd.concat([tests.drop(columns="outcome"), scales], axis=1)
    return table.assign(
        main=table["item"].map(with_own.where(is_paired).mean()),
        placebo=table["item"].map(with_neutral.where(is_paired).mean()),
    )


def compare_changes(
    study: WaveData, change: AnswerChange, design: StudyDesign, groups: pd.Series[str]
) -> dict[str, pd.DataFrame]:
    """Return the mean change of every group, and tests of their differences where the change may be tested.

    Args:
        study, change, design: what was asked, and what may be said of it.
        groups: by participant.
    """
    both_ways = {item: (-width, width) for item, width in study.scales.widths.items()}
    tables = compared(change.worded, groups, "item", about="change", ends=both_ways)
    return tables if design.tested else {**tables, "change_group_tests": pd.DataFrame()}


def measure_family_changes(
    study: WaveData, change: AnswerChange, design: StudyDesign, weights: pd.Series[float]
) -> pd.DataFrame:
    """Return the mean rekeyed change of every family; an agent counts once however many statements it answered.

    Args:
        study, change, design: what was asked, and what may be said of it.
        weights: of agents, for the weighted mean.
    """
    rows: list[dict[str, Any]] = []
    for family, items in statements_by_family(study.instrument).items():
        scores = change.rekeyed[items].mean(axis=1)
        scored = scores.dropna()
        weight = weights.reindex(scored.index).to_numpy(dtype=float)
        alone = mean_change(scored.to_numpy())
        rows.append(
            {
                "family": family,
                "n": len(scored),
                "n_total": len(scores),
                "mean": scored.mean(),
                "weighted": np.average(scored, weights=weight) if weight.sum() > 0 else None,
                "low": alone.low if design.tested else None,
                "high": alone.high if design.tested else None,
                "p": alone.p if design.tested else None,
            }
        )
    p_holm = holm([row["p"] for row in rows])
    return pd.DataFrame([{**row, "p_holm": adjusted} for row, adjusted in zip(rows, p_holm, strict=True)])


def describe_drift(study: WaveData, change: AnswerChange) -> pd.DataFrame:
    """Return how far each agent moved, indexed by participant; see `drift_per_agent`."""
    ends = {item: (float(low), float(high)) for item, (low, high) in study.scales.ends.items()}
    return drift_per_agent(change.rekeyed, ends, change.memory, study.context.memoryless_weight)


def list_agents(agents: pd.DataFrame, design: StudyDesign) -> pd.DataFrame:
    """Return agents with a pair of answers; columns are named by what the change may be called."""
    if not design.interpretable:
        return pd.DataFrame()
    paired = agents[agents["n_items"] > 0]
    table = paired[["n_items", "memory", "share_changed"]].rename_axis("participant").reset_index()
    for kind in KINDS:
        is_kind = kind == design.kind
        table[f"{kind}_abs"] = paired["mean_abs"].to_numpy() if is_kind else np.nan
        table[f"{kind}_signed"] = paired["mean_signed"].to_numpy() if is_kind else np.nan
    return table


def state_facts(study: WaveData, waves: pd.DataFrame) -> dict[str, Any]:
    """Return the facts of any study, of one wave or two."""
    language, comment = study.context.language, study.instrument.comment
    scales = list(study.scales.scales.values())
    pairing = {name: study.context.pairing.get(name) for name in ("matched", "lost", "new", "changed")}
    joined = {f"n_{name}": len(agents) if isinstance(agents, list) else agents for name, agents in pairing.items()}
    return {
        "n_items": len(study.instrument.items),
        "last_phase": study.last_wave,
        "only_phase": study.last_wave if len(study.waves) == 1 else None,
        "above": "agree" if all(scale.measures_agreement for scale in scales) else "above",
        "points": _name_points(scales, language),
        "widest": max(study.scales.widths.values()),
        "n": int(waves.loc[waves["phase"].eq(study.last_wave), "n"].iloc[0]),
        "n_total": len(study.values[study.last_wave]),
        "comment": comment.wording.in_(language) if comment else None,
        **joined,
    }


def _name_points(scales: list[Scale], language: Language) -> list[str] | None:
    """Return what the points of the scale are called; None where statements are on several scales."""
    first, *others = scales
    if any(other != first for other in others):
        return None
    return [f"{point.value} {point.label}".rstrip() for point in first.options(language)]


def state_facts_of_change(
    study: WaveData, change: AnswerChange, design: StudyDesign, neutral: NeutralMemory | None, agents: pd.DataFrame
) -> dict[str, Any]:
    """Return the facts of a study with two waves: what they can show, who answered in both, and means over agents."""
    pairs = int(change.worded.notna().to_numpy().sum())
    has_changed = change.worded.fillna(0).to_numpy().any()
    without_memory = design.kind == "experience_effect" and design.no_memory
    either = change.answered_before | change.answered_after
    return {
        "kind": design.kind,
        "design": "experience_without_memory" if without_memory else design.kind,
        "interpretable": design.interpretable,
        "tested": design.tested,
        "reasons": design.reasons,
        "no_memory": design.no_memory,
        "has_placebo": neutral is not None,
        "own_baseline": neutral.own_baseline if neutral else None,
        "n_placebo": len(neutral.after) if neutral else None,
        "too_few": design.tested and 0 < change.n_paired < FEWEST_PAIRS,
        "all_alike": design.tested and pairs > 0 and not has_changed,
        "n_paired": change.n_paired,
        "n_only_t0": len(change.answered_before - change.answered_after),
        "n_only_t1": len(change.answered_after - change.answered_before),
        "n_neither": len(change.worded) - len(either),
        "pairs": pairs,
        "pairs_total": change.worded.size,
        **shallow(population_drift(agents, study.context.memoryless_weight)),
    }
