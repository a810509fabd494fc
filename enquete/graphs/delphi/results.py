"""What the panel gives (reports/evaluation.py): tables of themes, ratings and dissent, and what is read of them where.

Quartiles are of type 7. Limits of consensus and dispute are the instrument's (`disagreement:`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from pydantic import JsonValue, ValidationError

from enquete.analysis.agreement import kendall_w
from enquete.analysis.coherence import answer_stability
from enquete.analysis.estimates import mean_of, share_interval
from enquete.analysis.feedback import camps, hold_outs, medians_of_others
from enquete.analysis.inference import detectable_change, selected_intervals
from enquete.analysis.panel import (
    By,
    PanelMeasure,
    camps_p,
    converge,
    frequencies,
    has_camps,
    is_consensus,
    is_disagreement,
    panel_measures,
    rank_consensus,
    rank_robustness,
)
from enquete.analysis.probes import false_median
from enquete.analysis.quality import unrevised
from enquete.analysis.sign_flips import mean_change
from enquete.graphs.delphi.instrument import NO_FEEDBACK, DelphiInstrument, DelphiSettings
from enquete.locale import N_
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext, Files, ItemFacts, answering, shallow
from enquete.reports.evaluation import Evaluation
from enquete.reports.health_checks import (
    Arms,
    Humans,
    Made,
    answers,
    checkable,
    each,
    gaps,
    missing,
    occasion,
    phases,
    repeated,
    rounds,
    scales,
)
from enquete.reports.views import dictionaries
from enquete.reports.writing import lines
from enquete.respondents.rule_coder import SecondCoding
from enquete.respondents.themes import agreement
from enquete.state.asking import RESPONDED

# --- Tables, and what is read of them where --------------------------------------------------------------------------

ASKS = {
    "T1": N_("Title names the exercise and its method"),
    "I1": N_("Why a consensus exercise"),
    "I2": N_("Aim, audience, geographical scope"),
    "I3": N_("If an update: of what, and why"),
    "M1": N_("Protocol registered in advance"),
    "M2": N_("Who directs the exercise, with which expertise"),
    "M3": N_("Choice and number of panellists, and who chose"),
    "M4": N_("How panellists were invited"),
    "M5": N_("Part played by the public and those affected"),
    "M6": N_("Where questions and material come from"),
    "M7": N_("Systematic search of the literature"),
    "M8": N_("Which evidence panellists were given"),
    "M9": N_("Procedure by which consensus was sought"),
    "M10": N_("Form of questions and answers, reasons, new proposals"),
    "M11": N_("Purpose of each step"),
    "M12": N_("What counts as consensus, and why"),
    "M13": N_("Whether what was agreed was voted on again"),
    "M14": N_("How answers were collected, singly or in a group"),
    "M15": N_("How answers were processed"),
    "M16": N_("Piloting of material and questionnaire"),
    "M17": N_("Feedback after each step"),
    "M18": N_("Anonymity: where, towards whom, how ensured"),
    "M19": N_("Whether those directing it took part in decisions"),
    "M20": N_("Incentives to take part"),
    "M21": N_("Adaptations for better access"),
    "R1": N_("When each step took place, duration, delays"),
    "R2": N_("Deviations from the protocol"),
    "R3": N_("Panellists by step: number, response, characteristics"),
    "R4": N_("Outcome in words and figures"),
    "R5": N_("What was changed or removed, when and why"),
    "D1": N_("Strengths and limits of the exercise"),
    "D2": N_("Relation to existing literature"),
    "O1": N_("Endorsing organisations"),
    "O2": N_("Conflicts of interest and how they were handled"),
    "O3": N_("Funding and the funder's role"),
}
"""What an item asks for."""

ANSWERS = {
    "I2": N_("Aim and audience are to be added."),
    "M1": N_("The questionnaire is fixed (hash {instrument_hash}). A registration is to be added."),
    "M3": N_("All {n_total} agents of the run. How its population came about is to be added."),
    "M4": N_("Nobody was invited: the agents come from the simulation or a personas file."),
    "M5": N_("They played no part: simulated agents answered, no people."),
    "M6": N_(
        "{n_questions} open questions; the themes come from the answers to them. Who wrote the questions is "
        "to be added."
    ),
    "M8": N_("No summary of evidence; each agent had its persona, {n_with_memory} also a memory of the simulation."),
    "M9": N_("Delphi of {n_rounds} rounds."),
    "M10": N_(
        "Round 1: {n_questions} open questions. Then every theme on {dimensions}; from round 3 on with a "
        "reason. No new themes could be proposed after round 1."
    ),
    "M11": N_("Round 1 gathers themes, round 2 rates them, from round 3 on the ratings are reviewed after feedback."),
    "M12": N_(
        "Consensus: IQR ≤ {consensus_iqr}. Disputed: IQR > {disagreement_iqr}, A < {polarised_below}, or a "
        "split. The reasons for these limits are to be added."
    ),
    "M13": N_("Yes: all themes were rated in every round, agreed ones too."),
    "M14": N_("Every agent singly, in writing, by {models} ({respondents})."),
    "M15": N_(
        "Open answers were coded into {n_themes} themes by the model or, without one, by rule; ratings were "
        "summed up by median and IQR (type 7). Second coding: {second_coding_state}, α = {alpha}."
    ),
    "M17": N_("Median, IQR and n of every theme in the round before, and one's own ratings."),
    "M18": N_("Among the agents: only summary figures were fed back. The report names agents; they are no persons."),
    "M19": N_("No: themes and feedback were fixed by the program, nobody stepped in."),
    "M20": N_("Not applicable: no people."),
    "M21": N_("Not applicable: no people."),
    "R1": N_("{first_at} to {last_at}. Start and duration of the analysis are to be added."),
    "R3": N_("{n_total} agents; those of every step are in the table of rounds."),
    "R4": N_(
        "In the end {n_consensus} of {n_judged} themes in consensus, {n_disputed} disputed, {n_open} open; "
        "figures and reasons in the Delphi section."
    ),
    "R5": N_(
        "Coding dropped {dropped} themes (empty, double or over the limit); {uncoded} answers are without a "
        "theme. Nothing was changed after that."
    ),
    "D1": N_(
        "The agents share a model: their consensus is weak evidence, tests describe the run. The discussion "
        "is to be added."
    ),
}
"""What the run itself answers, over the facts of its Delphi."""

FILLED = frozenset(("M4", "M5", "M8", "M9", "M10", "M11", "M13", "M14", "M15", "M17", "M18", "M19", "R3", "R4", "R5"))
PARTLY = frozenset(("I2", "M1", "M3", "M6", "M12", "R1", "D1"))
NOT_APPLICABLE = frozenset(("M20", "M21"))
AFTER_A_RATING = frozenset(("M17", "R4"))
"""Items that the record answers only once the themes have been rated."""


def accord_state(item: str, is_rated: bool) -> str:
    if item in AFTER_A_RATING and not is_rated:
        return "open"
    if item in NOT_APPLICABLE:
        return "not_applicable"
    return "filled" if item in FILLED else "partly" if item in PARTLY else "open"


# --- tables -----------------------------------------------------------------------------------------------------------


VERDICTS = {"consensus": N_("consensus"), "open": N_("open"), "disagreement": N_("disputed")}
STANDS = {"camps": N_("camps"), "hold_outs": N_("hold-outs"), "scattered": N_("opinions are spread")}
SIDES = {"below": N_("below"), "above": N_("above")}


def _at_ends(low_at: float, high_at: float, low: int, high: int) -> str:
    """Whether a camp is a single point at an end of the scale, of which nothing lies beyond."""
    if low_at <= low:
        return "both_ends" if high_at >= high else "low_end"
    return "high_end" if high_at >= high else "inner"


AT_ENDS = {
    "inner": N_("neither"), "low_end": N_("the lower one"), "high_end": N_("the upper one"), "both_ends": N_("both"),
}  # fmt: skip
RANKED_BY = {"mean": N_("by mean"), "consensus": N_("by agreement")}
STATES = {"filled": N_("filled"), "partly": N_("in part"), "open": N_("open"), "not_applicable": N_("not applicable")}
OUTCOMES = {"closer": N_("nearer"), "farther": N_("farther"), "neither": N_("neither")}
CODINGS = {"done": N_("done"), "off": N_("not wanted"), "missing": N_("missing")}
ENDINGS = {
    "set": N_("rounds were set"), "consensus": N_("consensus"), "convergence": N_("ratings settled"),
    "max_rounds": N_("last possible round"),
}  # fmt: skip

THEME = d.reference("theme", N_("Theme"), to="themes")
DIMENSION = d.reference("dimension", N_("Dimension"), to="dimension")
ITEM = d.text("item", N_("item"), means=N_("id of the rating's item in all_responses.csv"))
ROUND = d.integer("round", N_("Round"))
N, TOTAL = d.integer("n", "n"), d.integer("n_total", "N")
N_OF = d.of("n", "n_total", "n / N")
PAIRS = d.integer("n_paired", N_("pairs"), means=N_("agents who rated in both rounds"))
PAIRS_OF = d.of("n_paired", "n_total", N_("pairs / N"))
A = d.number("agreement", "A", means=N_("van der Eijk's agreement: 1 unanimous, 0 spread evenly, −1 two camps"))
IQR = d.number("iqr", "IQR", means=N_("quartile distance, type 7"))
AGENT = d.reference("participant", N_("agent"), to="agent")

ROUNDS = d.Table(
    name="rounds", title=N_("Rounds"), key=("round",),
    columns=(
        ROUND, d.integer("n_responded", N_("answers")), d.integer("n_planned", N_("planned answers")), N, TOTAL,
        d.of("n_responded", "n_planned", N_("answers / planned")), d.of("n", "n_total", N_("agents / all")),
        d.integer("n_consensus", N_("themes in consensus")), d.integer("n_open", N_("open")),
        d.integer("n_disputed", N_("disputed")),
        d.number("w", N_("Kendall's W ({main_dimension})"),
            means=N_("agreement of the agents' rankings of the themes")),
        d.text("first_at", N_("first answer")), d.text("last_at", N_("last answer")),
    ),
    views=(
        d.View(at="section", heading="", where="round > 1", columns=d.names("round n_consensus n_open n_disputed w")),
        d.View(at="appendix", columns=d.names("round n_responded_of_n_planned n_of_n_total")),
    ),
)  # fmt: skip

THEMES = d.Table(
    name="themes", title=N_("Themes"), key=("theme",), label="label",
    columns=(
        d.text("theme", N_("id")), d.text("label", N_("Theme")), d.text("description", N_("Description")),
        d.integer("n_agents", N_("agents")), d.integer("n_statements", N_("statements")),
        d.integer("rank", N_("rank"),
            means=N_("first place of the theme among those agreed upon: by IQR, then median")),
        d.integer("rank_to", N_("rank, last shared place")),
    ),
    views=(
        d.View(at="appendix", columns=d.names("label description n_agents n_statements"),
             note=N_("Every statement with its theme: exports/delphi/statements.csv.")),
        d.View(at="digest", columns=d.names("label n_agents rank")),
    ),
)  # fmt: skip

STATEMENTS = d.Table(
    name="statements", title=N_("Statements by theme"), key=("theme", "participant", "item"), one_agent=True,
    columns=(THEME, AGENT, ITEM, d.integer("place", N_("place"), means=N_("of the statement among those of its theme")),
        d.text("text", N_("statement"))),
)  # fmt: skip

SECOND_CODING = d.Table(
    name="second_coding", title=N_("Second coding"), key=("theme",),
    columns=(THEME, d.integer("n_first", N_("first")), d.integer("n_second", N_("second")),
        d.integer("n_both", N_("both")),
        d.number("alpha", "α")),
    views=(d.View(at="appendix", order=("alpha",), top=5),),
)  # fmt: skip

RATINGS = d.Table(
    name="ratings", title=N_("Ratings by theme"), key=("theme", "dimension", "round"),
    columns=(
        THEME, DIMENSION, ROUND, ITEM, d.integer("rank", N_("Rank")), N, TOTAL, N_OF,
        d.number("median", N_("median"), digits=1), d.number("q1", N_("lower quartile"), digits=1),
        d.number("q3", N_("upper quartile"), digits=1), IQR, d.number("mean", N_("mean")), d.number("sd", "SD"),
        d.number("mean_low", N_("mean, lower bound")), d.number("mean_high", N_("mean, upper bound")), A,
        d.number("tastle_wierman", N_("Tastle–Wierman")), d.number("bimodality", N_("bimodality")),
        d.share("top_share", N_("top two points")),
        d.flag("agreed", N_("small spread"), means=N_("IQR within the instrument's limit")),
        d.flag("polarised", N_("polarised"), means=N_("A below the instrument's limit, or two sides that lie apart"),
            replicates=True),
        d.code("label", N_("Verdict"), levels=VERDICTS, replicates=True),
        d.code("stand", N_("dissent"), levels=STANDS,
            unless_sure={"camps": "scattered"}, test_in=("dissent", ("theme", "dimension")),
            means=N_("who stands where on a disputed rating: camps only where "
                                                             "A is below 0 beyond chance")),
        d.integer("tied", N_("themes with this median"), means=N_("undisputed ones, of the round and dimension")),
        d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")),
    ),
    views=(
        d.View(at="section", heading="", where="round == @last_round", order=("rank", "-mean"),
             spread=d.Spread(column="dimension", rows=("theme",), cells=d.names("median iqr agreement label"))),
        d.View(at="appendix", where="round == @last_round", order=d.names("dimension theme"), by=("dimension",),
             columns=d.names("theme n_of_n_total mean sd tastle_wierman bimodality top_share polarised"),
             note=N_("Earlier rounds are in exports/delphi/ratings.csv.")),
        d.View(at="digest", where="round == @last_round", columns=d.names("theme dimension median iqr agreement label"),
             order=("rank", "-mean"), top=20),
        d.View(at="memory", where="round == @last_round and dimension == @main_dimension",
             says=N_("theme “{theme}”: {dimension}: median {median}, IQR {iqr} (round {round}, {n} of {n_total} "
                     "agents).")),
    ),
    note=N_("A: van der Eijk's agreement (1 unanimous, 0 uniform, −1 two camps). Consensus: IQR ≤ {consensus_iqr}. "
            "Disputed: IQR > {disagreement_iqr}, A < {polarised_below}, or a third of the panel at least on either of "
            "two sides that lie apart."),
)  # fmt: skip

DISTRIBUTION = d.Table(
    name="distribution", title=N_("Distribution of the ratings"), key=("theme", "dimension", "round", "value"),
    columns=(THEME, DIMENSION, ROUND, ITEM, d.integer("value", N_("rating")), d.integer("n", N_("agents")),
        d.share("share",
        N_("share"))),
)  # fmt: skip

STABILITY = d.Table(
    name="stability", title=N_("Stability between rounds"), key=("theme", "dimension", "round"),
    columns=(
        THEME, DIMENSION, ROUND, PAIRS, TOTAL, PAIRS_OF, d.number("kappa", N_("weighted κ")),
        d.share("share_changed", N_("changed")),
        d.share("net_change", N_("net change"), means=N_("share that would have to move to turn one histogram into the "
                                                       "other")),
        d.flag("stable", N_("stable")), d.number("delta_cv", "ΔCV"), d.p_value("p"), d.p_value("p_holm", "p (Holm)"),
        d.p_value("p_bh", "p (BH)"),
    ),
    views=(d.View(at="appendix", by=d.names("dimension round"), order=d.names("dimension round theme"),
                columns=d.names("theme kappa share_changed net_change stable p_holm")),),
    note=N_("Within the same agents, against the round before. Stable: net change of the histogram ≤ 15% (Scheibe, "
            "Skutsch & Schofer 1975). κ with "
            "quadratic weights; p of Wilcoxon's test, corrected over the ratings of the round."),
)  # fmt: skip

CONVERGENCE = d.Table(
    name="convergence", title=N_("Convergence from the first to the last round of rating"), key=("theme", "dimension"),
    columns=(
        THEME, DIMENSION, ITEM, d.integer("from_round", N_("from round")), d.integer("to_round", N_("to round")), PAIRS,
        TOTAL, PAIRS_OF, d.number("iqr_first", N_("IQR before")), d.number("iqr_second", N_("IQR after")),
        d.number("delta_iqr", "ΔIQR"), d.integer("n_moved", N_("changed")),
        d.integer("n_off_median", N_("off the median")),
        d.integer("n_toward", N_("came closer to it")), d.integer("n_away", N_("went away from it")),
        d.share("share_toward", N_("share that came closer")),
    ),
    views=(d.View(at="appendix", by=("dimension",), order=d.names("dimension theme"),
                columns=d.names("theme iqr_first iqr_second n_moved n_off_median n_toward")),),
    note=N_("The median is the one that was fed back. Whoever answers again comes closer to a median by chance alone; "
            "whether feedback did it is tested apart, against agents who rated again without it."),
)  # fmt: skip

REVISION = d.Table(
    name="revision", title=N_("How ratings moved"), key=("direction",),
    columns=(
        d.code("direction", N_("to the medians that were fed back"), levels=OUTCOMES, replicates=True), N, TOTAL,
        d.integer("n_toward", N_("ratings nearer")), d.integer("n_away", N_("ratings farther")),
        d.number("before", N_("distance before")), d.number("after", N_("distance after")),
        d.number("nearer", N_("nearer by"), means=N_("points that ratings came nearer to the medians that were fed "
                                                   "back, mean over agents")),
        d.number("nearer_low", N_("lower bound")), d.number("nearer_high", N_("upper bound")),
        d.integer("n_unchanged", N_("agents who left every rating unchanged")),
        d.integer("n_ratings_same", N_("ratings left unchanged")),
        d.integer("n_ratings", N_("ratings given in both rounds")),
    ),
    views=(
        d.View(at="appendix",
             columns=d.names("n_toward n_away n_ratings before after nearer n_unchanged n_ratings_same")),
        d.View(at="digest"),
    ),
    note=N_("This describes and names no cause: answers that are less noisy the second time come nearer to a median, "
            "too. An effect of feedback is told only against agents who rated again without it."),
)  # fmt: skip

EFFECT = d.Table(
    name="feedback_effect", title=N_("What feedback did"), key=("verdict",),
    columns=(
        d.code("verdict", N_("with feedback, to the medians of the others"), levels=OUTCOMES, replicates=True,
            unless_sure={"closer": "neither", "farther": "neither"}),
        N, TOTAL,
        d.number("with_feedback", N_("distance with feedback")), d.number("without", N_("distance without feedback")),
        d.number("difference", N_("nearer by"),
            means=N_("points that ratings lie nearer to the others' first medians than without feedback, mean over "
                     "agents")),
        d.number("low", N_("lower bound")), d.number("high", N_("upper bound")), d.interval("low", "high", "95%"),
        d.number("sd", "SD"), d.p_value("p"), d.adjusted_p(),
        *d.detectable(N_("effect that would be found four times in five")),
    ),
    views=(
        d.View(at="appendix", columns=d.names("verdict n with_feedback without difference low_to_high p_adjusted")),
        d.View(at="digest"),
    ),
    note=N_("The same agents rated again with feedback and, apart from it, without; p and interval by sign flips of "
            "agents."),
)  # fmt: skip

DISSENT = d.Table(
    name="dissent", title=N_("What stays disputed"), key=("theme", "dimension"),
    columns=(
        THEME, DIMENSION, ITEM, d.code("kind", N_("dissent"), levels=STANDS, unless_sure={"camps": "scattered"}),
        d.code("label", N_("Verdict"), levels=VERDICTS), N, TOTAL, IQR, A,
        d.number("median_shown", N_("median shown"), digits=1), d.number("distance", N_("distance"), digits=1), PAIRS,
        d.integer("n_holding_out", N_("hold-outs")), d.integer("n_below", N_("below")),
        d.integer("n_above", N_("above")),
        d.integer("n_between", N_("between")), d.integer("n_stayed", N_("stayed from the round before")),
        d.integer("low_at", N_("lower camp up to")), d.integer("high_at", N_("upper camp from")),
        d.code("ends", N_("camps at the ends of the scale"), levels=AT_ENDS),
        d.p_value("p", means=N_("how often the most divided of so many even spreads looks so")), d.adjusted_p(),
        d.share("above_share", N_("share of the upper camp")), d.share("above_low", N_("lower bound")),
        d.share("above_high", N_("upper bound")), d.number("mean_gap", N_("mean distance from the median")),
    ),
    views=(
        d.View(at="appendix", where="label == 'disagreement'", order=("agreement",), top=20,
             columns=d.names("theme dimension kind median_shown n_below n_between n_above n_stayed"),
             empty=N_("No theme is disputed after the last round.")),
        d.View(at="appendix", heading=N_("Hold-outs on undisputed themes"), where="label != 'disagreement'",
            order=("-n_holding_out",), top=5,
             columns=d.names("theme dimension n_holding_out n_paired median_shown n_below n_above")),
        d.View(at="digest", where="label == 'disagreement'", columns=d.names("theme dimension kind n_below n_above "
                                                                         "agreement"), order=("agreement",), top=5),
    ),
    note=N_("Camps: a third of the raters at least on either of two sides that lie apart, as no even spread looks; "
            "else opinions are spread. Hold-outs: in both rounds at least half the scale's width off the median fed "
            "back, on the same side, no closer than before, and fewer than half of the raters there."),
)  # fmt: skip

STANDING = d.Table(
    name="standing", title=N_("Who stands where, in their words"), key=("theme", "dimension", "participant"),
        one_agent=True,
    columns=(
        THEME, DIMENSION, AGENT, d.STAKEHOLDER_TYPE,
        d.code("side", N_("side"), levels=SIDES), d.integer("value", N_("rating")),
        d.integer("before", N_("before")), d.flag("stayed", N_("stayed")), d.text("reason", N_("reason")),
        d.integer("place", N_("place"), means=N_("those who stayed and give a reason first")),
    ),
    views=(d.View(at="appendix", where="dimension == @main_dimension and place <= 2", by=("theme", "side"),
        quote="reason",
                who=d.names("participant stakeholder_type value")),),
)  # fmt: skip

DISSENT_BY_GROUP = d.Table(
    name="dissent_by_group", title=N_("Who stands where, by group"), key=("theme", "dimension", "group"),
    columns=(THEME, DIMENSION, d.reference("group", N_("group"), to="group"), d.integer("n_below", N_("low")),
        d.integer("n_above", N_("high")), d.integer("n", N_("rated"))),
    views=(d.View(at="appendix", where="dimension == @main_dimension and n_below + n_above > 0",
                spread=d.Spread(column="theme", rows=("group",), cells=d.names("n_below n_above"))),),
)  # fmt: skip

RANKING = d.Table(
    name="ranking", title=N_("How firm the ranking is"), key=("by", "dimension", "theme"),
    columns=(
        d.code("by", N_("ranked"), levels=RANKED_BY), DIMENSION, THEME, d.number("rank", N_("rank"), digits=1),
        d.number("low", N_("rank, lower bound"), digits=1), d.number("high", N_("rank, upper bound"), digits=1),
        d.interval("low", "high", "95%", digits=1),
        d.share("p_top", N_("P(rank ≤ {top})"), means=N_("share of resampled panels with the theme among the first")),
    ),
    views=(d.View(at="appendix", where="dimension == @main_dimension", order=("theme",),
                spread=d.Spread(column="by", rows=("theme",), cells=d.names("rank low_to_high p_top")),
                note=N_("Bootstrap over agents ({draws} draws); themes that tie have their mean rank. Mean Kendall τ-b "
                        "with the order observed: {tau_mean} (mean), {tau_consensus} (agreement).")),),
)  # fmt: skip

CONCORDANCE = d.Table(
    name="concordance", title=N_("Concordance of the rankings (Kendall's W)"), key=("round", "dimension"),
    columns=(
        ROUND, DIMENSION, d.integer("n", N_("agents")), d.integer("n_dropped", N_("with gaps")),
        d.integer("n_themes", N_("Themes")), d.number("w", "W"),
        d.flag("moderate", N_("W of at least .5"), replicates=True),
        d.number("chi2", "χ²"), d.p_value("p"),
    ),
    views=(d.View(at="appendix", columns=d.names("round dimension n n_dropped n_themes w chi2 p")),),
)  # fmt: skip

GROUPS, GROUP_TESTS = d.group_tables(THEME, N_("Ratings by group"))

ACCORD = d.Table(
    name="accord", title=N_("ACCORD checklist"), key=("item",),
    columns=(d.text("item", N_("Item")), d.code("asks", N_("asks for"), levels=ASKS),
             d.code("state", N_("state"), levels=STATES), d.code("answer", N_("answer from the run"), levels=ANSWERS)),
    views=(d.View(at="appendix"),),
    note=N_("ACCORD (Gattrell et al. 2024) lists 35 items for reports of consensus exercises, here in our own words. "
            "Check against the original list before publishing."),
)  # fmt: skip

AGENTS = d.Table(
    name="agents", title=N_("The panel's agents"), key=("participant",), one_agent=True,
    columns=(
        AGENT, d.share("delphi_held_out", N_("share of Delphi ratings that the agent holds out on"), agents=True),
        d.number("delphi_gap", N_("mean distance from the median in the Delphi"), agents=True),
    ),
)  # fmt: skip

FACTS = (
    d.integer("last_round"), d.reference("main_dimension", "", to="dimension"), d.several("dimensions", to="dimension"),
    d.integer("scale_min"), d.integer("scale_max"), d.integer("n_themes"), d.integer("n_judged"),
    d.integer("n_consensus", N_("themes in consensus")), d.integer("n_open"), d.integer("n_disputed"), N, TOTAL,
    d.number("consensus_iqr", digits=1), d.number("disagreement_iqr", digits=1), d.number("polarised_below", digits=1),
    d.integer("n_rounds"), d.integer("n_questions"), d.integer("uncoded"), d.integer("dropped"),
    d.code("second_coding_state", "", levels=CODINGS), d.number("alpha"), d.integer("coded_twice"),
    d.share("coded_alike"),
    d.integer("not_coded_again"), d.code("ended", "", levels=ENDINGS), d.share("ended_agreement"),
    d.share("ended_stable"),
    d.integer("top"), d.integer("draws"), d.number("tau_mean"), d.number("tau_consensus"), d.several("models"),
    d.several("respondents"), d.several("instrument_hash"), d.integer("n_with_memory"), d.text("first_at"),
    d.text("last_at"),
)  # fmt: skip
"""What sentences and notes are told over. draws, tau: of the bootstrap of the ranking; coded_twice: answers that both
codings have."""

TEXTS = (
    d.TextBlock(at="section", where="n_themes == 0", says=N_("No themes have been formed yet, so nothing was rated.")),
    d.TextBlock(at="section", where="n_themes > 0", says=N_(
        "The agents answered open questions, rated the themes formed of their answers on {dimensions} "
        "({scale_min}–{scale_max}), were told median and interquartile range (IQR) of all, and rated again. Consensus "
        "is an IQR of {consensus_iqr} at most; disputed is an IQR above {disagreement_iqr}, an agreement A below "
        "{polarised_below} (1: of one mind, −1: two camps) or two sides that lie apart.")),
    d.TextBlock(at="section", after="ratings", word="ended", says={
        "consensus": N_("The panel ended after round {last_round} by consensus: {ended_agreement} of the ratings are "
                        "agreed."),
        "convergence": N_("The panel ended after round {last_round} because ratings had settled: {ended_stable} of "
                          "the agents hardly changed theirs."),
        "max_rounds": N_("The panel ended with its last possible round, {last_round}: {ended_agreement} of the ratings "
                         "are agreed, {ended_stable} of the agents hardly changed theirs."),
    }),
    d.TextBlock(at="appendix", after="themes", where="uncoded > 0",
        says=N_("Answers of round 1 that belong to no theme: "
                                                                     "{uncoded}.")),
    d.TextBlock(at="appendix", after="second_coding", word="second_coding_state", says={
        "done": N_("{coded_twice} answers were given to the themes a second time, in another order and without "
                   "knowledge of the first. Krippendorff's α = {alpha} (MASI; from .80 reliable, from .67 tentative); "
                   "{coded_alike} of the answers have exactly the same themes. The same model coded both times: an "
                   "upper bound of what two people would find. Not compared: {not_coded_again}."),
        "off": N_("No second coding was wanted; how reliable the themes are was not measured."),
        "missing": N_("There is no second coding; how reliable the themes are was not measured."),
    }),
)  # fmt: skip

FINDINGS = (
    d.group_finding(
        THEME,
        N_("“{theme}” divides the groups: mean {main_dimension} {mean_highest} among {highest}, {mean_lowest} among "
           "{lowest}, on {scale_min}–{scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No theme is rated differently by the groups ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="(mean_highest - mean_lowest) / (@scale_max - @scale_min)", chart="convergence",
    ),
    d.Finding(
        name="camps", table="dissent", kind="difference", p="p", within="given",
        test="a split as wide among even spreads",
        where="kind == 'camps' and dimension == @main_dimension and n_below >= 5 and n_above >= 5",
        order=("agreement",), top=2, size="(1 - agreement) / 2", estimate="above_share", low="above_low",
        high="above_high", items="item", chart="dissent", word="ends",
        says={
            "inner": N_("“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at} or less, {n_above} "
                        "agents {high_at} or more ({above_share}, 95% interval {above_low} to {above_high}; A = "
                        "{agreement}, adjusted {p}; n = {n}/{n_total})."),
            "low_end": N_("“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at}, {n_above} "
                          "agents {high_at} or more ({above_share}, 95% interval {above_low} to {above_high}; A = "
                          "{agreement}, adjusted {p}; n = {n}/{n_total})."),
            "high_end": N_("“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at} or less, "
                           "{n_above} agents {high_at} ({above_share}, 95% interval {above_low} to {above_high}; A = "
                           "{agreement}, adjusted {p}; n = {n}/{n_total})."),
            "both_ends": N_("“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at}, {n_above} "
                            "agents {high_at} ({above_share}, 95% interval {above_low} to {above_high}; A = "
                            "{agreement}, adjusted {p}; n = {n}/{n_total})."),
        },
    ),
    d.Finding(
        name="agreed", n="n", estimate="n_consensus", size="n_consensus / n_judged", where="n_judged > 0",
        chart="convergence", scale="0, n_judged",
        says=N_("The panel agrees on the {main_dimension} of {n_consensus} of {n_judged} themes (interquartile range "
                "at most {consensus_iqr}); still disputed: {n_disputed} (n = {n}/{n_total})."),
    ),
    d.Finding(
        name="highest", table="ratings",
        where="round == @last_round and dimension == @main_dimension and label != 'disagreement' and n >= 5",
        order=("-median", "-mean"), size="abs(median - (scale_min + scale_max) / 2) / ((scale_max - scale_min) / 2)",
        estimate="mean", low="mean_low", high="mean_high", items="item", chart="ranking", scale="scale_min, scale_max",
        simultaneous=True,
        says=N_("Undisputed and highest in {dimension}: “{theme}”, median {median} (undisputed themes with this "
                "median: {tied}; mean {mean}, simultaneous 95% interval {mean_low} to {mean_high}; n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
        name="revision", table="feedback_effect", kind="difference", word="verdict", p="p",
        size="abs(difference) / (@scale_max - @scale_min)", test="sign flips", estimate="difference", low="low",
        high="high", chart="convergence", scale="scale_min - scale_max, scale_max - scale_min",
        says={
            "closer": N_("Feedback drew the panel together: ratings ended {difference} points nearer to the others' "
                         "medians than the same agents' ratings without it (95% interval {low} to {high}, "
                         "adjusted {p}; n = {n}/{n_total})."),
            "farther": N_("Feedback drove the panel apart: ratings ended {with_feedback} points from the others' "
                          "medians, {without} without feedback (adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("No effect of the feedback was found: ratings ended {with_feedback} points from the others' medians "
                "with it, {without} without (adjusted {p}; n = {n}/{n_total}); {power}."),
    ),
    d.Finding(
        name="moved", table="revision", where="n_ratings > 0 and n > 1",
        size="abs(nearer) / (@scale_max - @scale_min)",
        estimate="nearer", low="nearer_low", high="nearer_high", chart="convergence",
        scale="scale_min - scale_max, scale_max - scale_min",
        says=N_("When rating again, agents brought {n_toward} of {n_ratings} ratings nearer to the panel's median and "
                "{n_away} farther from it, on average {nearer} points nearer (95% interval {nearer_low} to "
                "{nearer_high}; n = {n}/{n_total})."),
    ),
)  # fmt: skip

CHARTS = (
    d.Chart(name="convergence", title=N_("Delphi: median and quartiles of every theme, by round"), needs=("ratings",),
        draw="enquete.graphs.delphi.charts:convergence",
          alt=N_("Medians and quartiles of {n_themes} themes by round; in round {last_round} {n_consensus} of "
                 "{n_judged} themes are in consensus.")),
    d.Chart(name="dissent", title=N_("Delphi: how ratings are spread on the themes that stay disputed"),
        needs=("dissent",
        "distribution"),
          draw="enquete.graphs.delphi.charts:dissent", over=d.View(at="section", where="label == 'disagreement'",
              order=("agreement",)),
          alt=N_("Distributions of the disputed ratings of round {last_round}; most divided: “{theme}” ({dimension}), "
                 "A = {agreement}.")),
    d.Chart(name="ranking", title=N_("Delphi: ranking of themes by agreement, with 95% intervals"), needs=("ranking",),
        draw="enquete.graphs.delphi.charts:ranking",
          over=d.View(at="section", where="by == 'consensus' and dimension == @main_dimension and rank == rank",
              order=("rank",)),
          alt=N_("Ranks of {n_themes} themes by agreement on {dimension}; first: “{theme}”.")),
)  # fmt: skip

GLOSSARY = {
    N_("theme"): N_("what several answers to the open questions say, named by a sentence of theirs or by the model"),
    N_("quartile distance (IQR)"): N_(
        "the width of the middle half of the ratings; 0 where at least half of the panel is at one"
    ),
    N_("agreement A"): N_(
        "how far the ratings have one peak (van der Eijk 2001): 1 all alike, 0 spread evenly, −1 two camps"
    ),
    N_("Kendall's W"): N_("how alike the agents rank the themes: 0 not at all, 1 completely"),
}

PRESENTATION = d.Presentation(
    tables=(ROUNDS, THEMES, STATEMENTS, SECOND_CODING, RATINGS, DISTRIBUTION, REVISION, EFFECT, DISSENT,
        DISSENT_BY_GROUP, STANDING, GROUP_TESTS, GROUPS,
            CONVERGENCE, STABILITY, RANKING, CONCORDANCE, ACCORD, AGENTS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS, primary=("revision", "camps"),
)  # fmt: skip


# --- What the panel makes of its themes: ratings by round, what feedback did, dissent with its words, ranked
# consensus
# Quartiles are of type 7. Measured by: every theme traces back to the answers that voice it, every figure stands beside
# its n, and who holds out is quoted in their own words.

READ = ["round", "participant", "stakeholder_type", "item_id", "status", "value", "text"]
"""What ratings are analysed by: rows of a narrow table are chosen at a fraction of the cost."""
FIRST_RATING = 2
TOP = 5
"""Places whose occupation is bootstrapped."""
ORDERS: tuple[By, ...] = ("mean", "consensus")
MODERATE = 0.5
"""Kendall's W from which a panel's rankings agree moderately (Schmidt 1997)."""
DROPPED = ("dropped_empty", "dropped_duplicates", "dropped_over_limit")


def analyse(
    frame: pd.DataFrame, instrument: DelphiInstrument, settings: DelphiSettings | None, context: AnalysisContext
) -> d.Analysis:
    """Tables over the main arm's rows; those of the arm without feedback are read for what feedback did alone."""
    is_control = frame["arm_role"].eq("variant") if "arm_role" in frame else pd.Series(False, index=frame.index)
    control, frame = frame[is_control], frame[~is_control]
    rows = frame[READ]
    rounds = {number: rows[rows["round"].eq(number)] for number in sorted(int(n) for n in rows["round"].unique())}
    panel = Panel.of(rounds, instrument, context.pinned)
    ratings = list(panel.ratings())
    dissent, groups = list(panel.dissent()), context.groups_of(frame)
    tables = {
        "rounds": [panel.round_of(number, rows, frame, ratings) for number, rows in rounds.items()],
        "themes": panel.ranked_themes(ratings),
        "statements": panel.statements(),
        "ratings": _with_ranks(panel, ratings, dissent),
        "distribution": panel.distribution(),
        "stability": panel.stability(),
        "convergence": panel.convergence(),
        "revision": panel.revision(),
        "feedback_effect": panel.effect(control),
        "dissent": [stand.row for stand in dissent],
        "dissent_by_group": [
            row for stand in dissent if stand.row["label"] == "disagreement" for row in stand.by_group(groups)
        ],
        "standing": [row for stand in dissent for row in stand.people()],
        "concordance": panel.concordance(),
        "agents": panel.agents(dissent),
        **panel.between_groups(groups),
    }
    coding, tables["second_coding"] = panel.second_coding(settings)
    ranking, tables["ranking"] = panel.ranking()
    last = [row for row in ratings if row["round"] == panel.last and row["dimension"] == panel.main and row["label"]]
    counts = {name: sum(row["label"] == label for row in last) for label, name in COUNTED.items()}
    tables["accord"] = [
        {"item": item, "asks": item, "state": state, "answer": item if state != "open" and item in ANSWERS else None}
        for item in ASKS
        for state in [accord_state(item, panel.last is not None)]
    ]
    people = frame.loc[~frame["participant"].duplicated()]
    facts = {
        "last_round": panel.last, "main_dimension": panel.main, "dimensions": panel.dimensions,
        "scale_min": panel.scale[0], "scale_max": panel.scale[1], "n_themes": len(panel.themes), "n_judged": len(last),
        **counts, "n": min((row["n"] for row in last), default=0), "n_total": len(people),
        **instrument.disagreement.model_dump(include={"consensus_iqr", "disagreement_iqr", "polarised_below"}),
        "n_rounds": len(rounds) if instrument.rounds == "auto" else instrument.rounds,
        "n_questions": len(instrument.questions), **_left_over(context.pinned.get("themes")), **coding, **ranking,
        **_ended(context.pinned, panel.last), "models": _distinct(frame, "model"),
        "respondents": _distinct(frame, "respondent"), "instrument_hash": _distinct(frame, "instrument_hash"),
        **_times(tables["rounds"]),
        "n_with_memory": int(people["memory_available"].sum()) if "memory_available" in people else None,
    }  # fmt: skip
    return d.shaped(PRESENTATION, tables, facts)


COUNTED = {"consensus": "n_consensus", "open": "n_open", "disagreement": "n_disputed"}


def item_of(theme: str, dimension: str) -> str:
    return f"theme:{theme}/{dimension}"


@dataclass(frozen=True)
class Panel:
    """Themes as they were pinned, and their ratings by round: participants × item ids, NaN where there is none."""

    themes: list[d.Row]  # theme, label, description, statements
    instrument: DelphiInstrument
    rows: Mapping[int, pd.DataFrame]
    tables: Mapping[int, pd.DataFrame]
    pinned: Mapping[str, JsonValue]

    @classmethod
    def of(
        cls, rounds: Mapping[int, pd.DataFrame], instrument: DelphiInstrument, pinned: Mapping[str, JsonValue]
    ) -> Panel:
        """rounds: the rows of each round."""
        themes = _themes(pinned.get("themes"))
        tables = {number: _table(rows, themes, instrument) for number, rows in rounds.items() if number >= FIRST_RATING}
        return cls(themes, instrument, rounds, tables, pinned)

    @cached_property
    def dimensions(self) -> list[str]:
        return [dimension.dimension_id for dimension in self.instrument.dimensions]

    @property
    def main(self) -> str:
        """Consensus is ranked by importance where it is asked."""
        return "importance" if "importance" in self.dimensions else self.dimensions[0]

    @property
    def scale(self) -> tuple[int, int]:
        scale = self.instrument.scale_of(self.main)
        return scale.min, scale.max

    @cached_property
    def last(self) -> int | None:
        """The last round in which anybody rated."""
        return max((n for n, table in self.tables.items() if table.notna().to_numpy().any()), default=None)

    @property
    def revised(self) -> int | None:
        """The last round, if it is one of revision."""
        return self.last if self.last is not None and self.last > FIRST_RATING else None

    @cached_property
    def items(self) -> dict[str, tuple[str, str]]:
        return {
            item_of(theme["theme"], dimension): (theme["theme"], dimension)
            for theme in self.themes
            for dimension in self.dimensions
        }

    @cached_property
    def ends(self) -> dict[str, tuple[int, int]]:
        """The lowest and the highest point by item."""
        scales = {item: self.instrument.scale_of(dimension) for item, (_, dimension) in self.items.items()}
        return {item: (scale.min, scale.max) for item, scale in scales.items()}

    def rated(self, item: str, number: int) -> pd.Series[float]:
        """One item's ratings in a round, NaN where there is none."""
        table = self.tables[number]
        return table[item] if item in table else pd.Series(np.nan, index=table.index)

    def shown(self, number: int, item: str) -> float | None:
        """The median of a round as the panel was shown it; late answers have not changed it."""
        feedback = self.pinned.get(f"feedback/{number}")
        figures = feedback.get(item) if isinstance(feedback, dict) else None
        median = figures.get("median") if isinstance(figures, dict) else None
        return float(median) if isinstance(median, int | float) else None

    # --- rounds and themes --------------------------------------------------------------------------------------------

    def round_of(self, number: int, rows: pd.DataFrame, frame: pd.DataFrame, ratings: list[d.Row]) -> d.Row:
        known = answering(rows)
        main = [row for row in ratings if row["round"] == number and row["dimension"] == self.main]
        w = kendall_w(self._main_table(number)).w if number in self.tables else None
        asked = pd.Series(dtype=object)
        if "asked_at" in frame:
            asked = frame.loc[frame["round"].eq(number) & frame["status"].isin(RESPONDED), "asked_at"]
        times = sorted(time for time in asked if time)
        return {
            "round": number, "n_responded": known["n_responded"], "n_planned": known["n_total"],
            "n": known["agents_responded"], "n_total": known["agents_total"], "w": w,
            "first_at": times[0] if times else None, "last_at": times[-1] if times else None,
            **{name: sum(row["label"] == label for row in main) if main else None for label, name in COUNTED.items()},
        }  # fmt: skip

    def ranked_themes(self, ratings: list[d.Row]) -> list[d.Row]:
        """Themes agreed upon have a rank, in the main dimension of the last round: by IQR, then median; ties share
        places."""
        agreed = {
            row["theme"]: row
            for row in ratings
            if (row["round"], row["dimension"], row["label"]) == (self.last, self.main, "consensus")
        }
        places: dict[str, tuple[int, int]] = {}
        if agreed:
            figures = pd.DataFrame.from_dict(agreed, orient="index")[["iqr", "median"]].astype(float)
            ranked = rank_consensus(figures, at_most=self.instrument.disagreement.consensus_iqr)
            places = {
                str(t): (int(a), int(b))
                for t, a, b in zip(ranked.index, ranked["rank"], ranked["rank_to"], strict=True)
            }
        return [
            {
                **{key: theme[key] for key in ("theme", "label", "description")},
                "n_agents": len({statement.rpartition("|")[0] for statement in theme["statements"]}),
                "n_statements": len(theme["statements"]),
                **dict(zip(("rank", "rank_to"), places.get(theme["theme"], (None, None)), strict=True)),
            }
            for theme in self.themes
        ]  # fmt: skip

    def statements(self) -> Iterator[d.Row]:
        """Every answer of round 1 with the themes that it voices."""
        first = self.rows.get(1)
        if first is None:
            return
        texts = first[["participant", "item_id", "text"]].itertuples(index=False)
        words = {f"{who}|{item}": (who, item, text) for who, item, text in texts}
        for theme in self.themes:
            known = [words[statement] for statement in theme["statements"] if statement in words]
            for place, (who, item, statement) in enumerate(known, 1):
                yield {"theme": theme["theme"], "participant": who, "item": item, "place": place, "text": statement}

    def second_coding(self, settings: DelphiSettings | None) -> tuple[d.Row, list[d.Row]]:
        """Agreement of the two codings over the statements that both have.

        Krippendorff's α by theme (given or not) and over sets of themes (MASI). A statement that a coder gave to no
        theme is coded, with no theme; one that the second coder left out of its reply is counted and not compared.
        """
        if settings is not None and not settings.second_coding:
            return {"second_coding_state": "off"}, []
        stored = self.pinned.get("second_coding")
        try:
            again = SecondCoding.model_validate(stored) if isinstance(stored, Mapping) else None
        except ValidationError:
            again = None
        if again is None:
            return {"second_coding_state": "missing"}, []
        coded = asdict(agreement({theme["theme"]: theme["statements"] for theme in self.themes}, again))
        rows = [
            {key: theme[key] for key in ("theme", "n_first", "n_second", "n_both", "alpha")}
            for theme in coded["themes"]
        ]
        return {
            "second_coding_state": "done", "alpha": coded["alpha"], "coded_twice": coded["n"],
            "coded_alike": coded["identical_share"], "not_coded_again": len(again.uncoded),
        }, rows  # fmt: skip

    # --- ratings ------------------------------------------------------------------------------------------------------

    @cached_property
    def measures(self) -> list[PanelMeasure]:
        limits = self.instrument.disagreement
        return panel_measures(
            self.tables, self.ends, consensus_iqr=limits.consensus_iqr, polarised_below=limits.polarised_below
        )

    def ratings(self) -> Iterator[d.Row]:
        """Per theme, dimension and round: figures of the spread, and three verdicts that none derives from another.

        agreed: IQR within the instrument's limit. polarised: A below its limit, or a split. `label` sums up for the
        reader: disagreement, consensus, or open in between; two camps are never a consensus; fewer than two raters are
        neither.
        """
        bounds = self._bounds()
        for measure in self.measures:
            item, spread, several = measure.item, measure.spread, measure.spread.n > 1
            low, high = bounds[item, measure.round]
            yield {
                **self._about(measure), "item": item, "n": spread.n, "n_total": spread.n + spread.n_missing,
                "scale_min": self.ends[item][0], "scale_max": self.ends[item][1],
                **{key: getattr(spread, key) for key in SPREAD}, "tastle_wierman": spread.consensus, "mean_low": low,
                "mean_high": high, "agreed": measure.consensus if several else None,
                "polarised": measure.polarised if several else None, "label": self._label(measure), "stand": None,
            }  # fmt: skip

    def _about(self, measure: PanelMeasure) -> d.Row:
        theme, dimension = self.items[measure.item]
        return {"theme": theme, "dimension": dimension, "round": measure.round}

    def _bounds(self) -> dict[tuple[str, int], tuple[float, float]]:
        """Bounds of each mean that hold for the theme with the highest of all, by item and round."""
        bounds: dict[tuple[str, int], tuple[float, float]] = {}
        for round_ in self.tables:
            for dimension in self.dimensions:
                scale = self.instrument.scale_of(dimension)
                measures = [m for m in self.measures if m.round == round_ and self.items[m.item][1] == dimension]
                figures = pd.DataFrame([shallow(m.spread) for m in measures], columns=["n", "mean", "sd"]).astype(float)
                intervals = selected_intervals(
                    figures["n"], figures["mean"], figures["sd"], selected="highest", ends=(scale.min, scale.max)
                )
                for measure, low, high in zip(measures, intervals["low"], intervals["high"], strict=True):
                    bounds[measure.item, round_] = (low, high)
        return bounds

    def _label(self, measure: PanelMeasure) -> str | None:
        limits = self.instrument.disagreement
        if measure.spread.n < 2:
            return None
        if is_disagreement(measure.spread, iqr_above=limits.disagreement_iqr, polarised_below=limits.polarised_below):
            return "disagreement"
        return "consensus" if is_consensus(measure.spread.iqr, at_most=limits.consensus_iqr) else "open"

    def distribution(self) -> Iterator[d.Row]:
        for measure in self.measures:
            low, high = self.ends[measure.item]
            counts = frequencies(self.rated(measure.item, measure.round).to_numpy(dtype=float), low, high)
            for value, n in enumerate(counts.tolist(), low):
                share = n / measure.spread.n if measure.spread.n else None
                yield {**self._about(measure), "item": measure.item, "value": value, "n": n, "share": share}

    def stability(self) -> Iterator[d.Row]:
        for measure in self.measures:
            stability, spread = measure.stability, measure.spread
            if stability is not None:
                yield {
                    **self._about(measure), "n_total": spread.n + spread.n_missing,
                    **{key: getattr(stability, key) for key in STABLE}, "kappa": stability.kappa.kappa,
                    "p": stability.wilcoxon.p, "p_holm": measure.p_holm, "p_bh": measure.p_bh,
                }  # fmt: skip

    def convergence(self) -> Iterator[d.Row]:
        """From the first rating to the last revision, over the panelists who gave both."""
        if self.revised is None or FIRST_RATING not in self.tables:
            return
        for item, (theme, dimension) in self.items.items():
            first, second = (self.rated(item, n) for n in (FIRST_RATING, self.revised))
            known = shallow(converge(first, second, median=self.shown(FIRST_RATING, item)))
            yield {
                "theme": theme, "dimension": dimension, "item": item, "from_round": FIRST_RATING,
                "to_round": self.revised, "n_total": len(second), **{key: known[key] for key in CONVERGED},
            }  # fmt: skip

    def concordance(self) -> Iterator[d.Row]:
        """Kendall's W over the themes, per dimension and round; raters with a gap are left out and counted."""
        for round_, table in self.tables.items():
            for dimension in self.dimensions:
                kendall = kendall_w(table.reindex(columns=self._of(dimension)).to_numpy(dtype=float))
                yield {
                    "round": round_, "dimension": dimension, "n": kendall.n_raters, "n_dropped": kendall.n_dropped,
                    "n_themes": kendall.n_items, "w": kendall.w, "chi2": kendall.chi2, "p": kendall.p,
                    "moderate": None if kendall.w is None else kendall.w >= MODERATE,
                }  # fmt: skip

    def ranking(self) -> tuple[d.Row, list[d.Row]]:
        """How firm the order of the themes is in the last round, per dimension: by mean rating, and by IQR then
        median."""
        rows: list[d.Row] = []
        facts: d.Row = {}
        for dimension in self.dimensions if self.last is not None else ():
            table = self._by_theme(self._of(dimension))
            for by in ORDERS if table.shape[1] else ():
                robust = rank_robustness(table, k=min(TOP, table.shape[1]), by=by)
                if dimension == self.main:
                    facts |= {"top": robust.k, "draws": robust.draws, f"tau_{by}": robust.tau_mean}
                for theme in robust.themes:
                    rows.append({"by": by, "dimension": dimension, **{key: getattr(theme, key) for key in RANKED}})
        return facts, rows

    def _by_theme(self, items: list[str]) -> pd.DataFrame:
        """Those of the items that the last round has, named by their themes."""
        table = self.tables[self.last or 0]
        listed = [item for item in items if item in table]
        return table[listed].rename(columns={item: self.items[item][0] for item in listed})

    def _of(self, dimension: str) -> list[str]:
        return [item for item, (_, of) in self.items.items() if of == dimension]

    def _main_table(self, number: int) -> np.ndarray:
        return self.tables[number].reindex(columns=self._of(self.main)).to_numpy(dtype=float)

    # --- tests --------------------------------------------------------------------------------------------------------

    def revision(self) -> Iterator[d.Row]:
        """Return how far ratings moved to the medians that were fed back. It describes; a cause is told by `effect`."""
        if self.revised is None or FIRST_RATING not in self.tables:
            return
        first, last = self.tables[FIRST_RATING].align(self.tables[self.revised], join="outer")
        medians = pd.Series({item: self.shown(FIRST_RATING, str(item)) for item in first}, dtype=float)
        medians = medians.fillna(first.median())
        both = first.notna() & last.notna()
        before, after = ((ratings - medians).abs().where(both) for ratings in (first, last))
        nearer = before - after
        agents, found = both.any(axis=1), mean_of(nearer.mean(axis=1))
        direction = "neither"
        if found.low is not None and found.high is not None:
            direction = "closer" if found.low > 0 else "farther" if found.high < 0 else "neither"
        changed = both & first.ne(last)
        yield {
            "direction": direction, "n": int(agents.sum()), "n_total": len(agents),
            "n_toward": int(nearer.gt(0).to_numpy().sum()), "n_away": int(nearer.lt(0).to_numpy().sum()),
            "before": before.mean(axis=1).mean(), "after": after.mean(axis=1).mean(), "nearer": found.mean,
            "nearer_low": found.low, "nearer_high": found.high,
            "n_unchanged": int((agents & ~changed.any(axis=1)).sum()),
            "n_ratings_same": int((both & ~changed).to_numpy().sum()), "n_ratings": int(both.to_numpy().sum()),
        }  # fmt: skip

    def effect(self, control: pd.DataFrame) -> Iterator[d.Row]:
        """Return what feedback did: last ratings with it against the same agents' without, control's rows.

        T is the mean over agents of their mean |y − M| − |x − M| over the items that they rated in all three, x with
        feedback and y without, M the median of the *others'* first ratings. H₀: for an agent x and y are as likely the
        other way round; M is the same for both, so that flipping the sign of an agent's mean is exact.
        """
        if self.revised is None or FIRST_RATING not in self.tables or control.empty:
            return
        again = _table(control[control["round"].eq(self.revised)], self.themes, self.instrument)
        first = self.tables[FIRST_RATING]
        last, again = (ratings.reindex(index=first.index, columns=first.columns) for ratings in
            (self.tables[self.revised], again))  # fmt: skip
        medians = medians_of_others(first)
        rated = first.notna() & last.notna() & again.notna() & medians.notna()
        with_feedback, without = ((ratings - medians).abs().where(rated).mean(axis=1) for ratings in (last, again))
        nearer = without - with_feedback
        found = mean_change(nearer.to_numpy())
        if found.mean is None:
            return
        sd = float(nearer.dropna().std()) if found.n > 1 else 0.0
        yield {
            "verdict": "closer" if found.mean > 0 else "farther" if found.mean < 0 else "neither", "n": found.n,
            "n_total": len(first), "with_feedback": with_feedback.mean(), "without": without.mean(),
            "difference": found.mean, "low": found.low, "high": found.high, "sd": sd, "p": found.p,
            **d.on_scale(detectable_change(found.n, sd, dof=found.n - 1), self.scale),
        }  # fmt: skip

    def between_groups(self, groups: pd.Series[str]) -> dict[str, Any]:
        """Each theme in the last round, on the dimension that themes are ranked by. groups: by participant."""
        if self.last is None:
            return {}
        values = self._by_theme(self._of(self.main))
        items = {theme: item_of(str(theme), self.main) for theme in values}
        return d.compared(values, groups, "theme", items, ends=dict.fromkeys(values, self.scale))

    # --- dissent ------------------------------------------------------------------------------------------------------

    def dissent(self) -> Iterator[Stand]:
        """Who stands where after the last revision, on what is disputed and on other ratings on which somebody holds
        out."""
        if self.revised is None:
            return
        asked = dict(iter(self.rows[self.revised].groupby("item_id", sort=False)))
        for measure in self.measures:
            if measure.round == self.revised and measure.item in asked:
                stand = self._stand(measure, asked[measure.item])
                if stand.row["label"] == "disagreement" or stand.row["n_holding_out"]:
                    yield stand

    def _stand(self, measure: PanelMeasure, rows: pd.DataFrame) -> Stand:
        item, last, spread, (low, high) = measure.item, measure.round - 1, measure.spread, self.ends[measure.item]
        final = self.rated(item, measure.round)
        before = self.rated(item, last).reindex(final.index) if last in self.tables else final * np.nan
        holding = hold_outs(final, before, median=self.shown(last, item), distance=(high - low) / 2)
        counts = frequencies(final.to_numpy(dtype=float), low, high)
        split = camps(final, polarised=has_camps(counts))
        if split is not None:
            stood = before.le(split.low) & final.le(split.low) | before.ge(split.high) & final.ge(split.high)
            sides, stayed, kind = (split.below, split.above), frozenset(map(str, before.index[stood])), "camps"
        else:
            # Against a panel without a middle nobody holds out.
            sides = ((), ()) if self._label(measure) == "disagreement" else (holding.below, holding.above)
            stayed = frozenset((*sides[0], *sides[1]))
            kind = "hold_outs" if stayed else "scattered"
        figures = share_interval(len(sides[1]), spread.n) if kind == "camps" else {}
        theme, dimension = self.items[item]
        row = {
            "theme": theme, "dimension": dimension, "item": item, "kind": kind, "label": self._label(measure),
            "n": spread.n, "n_total": spread.n + spread.n_missing, "iqr": spread.iqr, "agreement": spread.agreement,
            "median_shown": holding.median, "distance": holding.distance, "n_paired": holding.n_paired,
            "n_holding_out": len(stayed) if kind == "hold_outs" else 0, "n_below": len(sides[0]),
            "n_above": len(sides[1]), "n_stayed": len(stayed & {*sides[0], *sides[1]}), "mean_gap": holding.mean_gap,
            "n_between": split.n_between if split else None, "low_at": split.low if split else None,
            "high_at": split.high if split else None,
            "ends": _at_ends(split.low, split.high, low, high) if split else None,
            "p": min(1.0, (camps_p(counts) or 1.0) * len(self.themes)) if split else None,  # of the most divided of all
            **{f"above_{key}": figures.get(key) for key in ("share", "low", "high")},
        }  # fmt: skip
        return Stand(row, sides, stayed, before, rows, holding.median or 0.0)

    def agents(self, dissent: list[Stand]) -> Iterator[d.Row]:
        """On which share of its last ratings an agent holds out, and its mean distance from the medians it was
        shown."""
        if self.revised is None:
            return
        table = self.tables[self.revised]
        medians = pd.Series({item: self.shown(self.revised - 1, str(item)) for item in table}, dtype=float)
        gap = table.sub(medians.fillna(table.median())).abs().mean(axis=1)
        camped = [stand.row["item"] for stand in dissent if stand.row["kind"] == "camps"]
        single = table.drop(columns=[item for item in camped if item in table])
        held = pd.Series(0, index=table.index)
        for stand in dissent:
            if stand.row["kind"] == "hold_outs":
                held = held.add(pd.Series(1, index=[*stand.sides[0], *stand.sides[1]]), fill_value=0)
        share = held / single.notna().sum(axis=1).replace(0, np.nan)
        for who in table.index[table.notna().any(axis=1)]:
            yield {"participant": who, "delphi_held_out": share.get(who), "delphi_gap": gap[who]}


SPREAD = ("median", "q1", "q3", "iqr", "mean", "sd", "agreement", "bimodality", "top_share")
CONVERGED = d.names("n_paired iqr_first iqr_second delta_iqr n_moved n_off_median n_toward n_away share_toward")
STABLE = ("n_paired", "share_changed", "net_change", "stable", "delta_cv")
RANKED = ("theme", "rank", "low", "high", "p_top")


@dataclass(frozen=True)
class Stand:
    """Who stands below and above on one item, and who of them stood there in the round before. Distances are from the
    median that the panel was shown."""

    row: d.Row
    sides: tuple[tuple[str, ...], tuple[str, ...]]
    stayed: frozenset[str]
    before: pd.Series[float]
    rows: pd.DataFrame  # answers of the last round
    median: float

    def people(self) -> Iterator[d.Row]:
        """Everybody on a side, those first who stayed and give a reason, and came no closer."""
        members = {row["participant"]: row for row in self.rows.to_dict("records")}

        def last(who: str) -> tuple[bool, bool, bool]:
            closer = abs(members[who]["value"] - self.median) < abs(self.before[who] - self.median)
            return members[who]["text"] == "", bool(closer), who not in self.stayed

        for side, people in zip(("below", "above"), self.sides, strict=True):
            for place, who in enumerate(sorted(people, key=last), 1):
                row = members[who]
                yield {
                    "theme": self.row["theme"], "dimension": self.row["dimension"], "participant": who, "side": side,
                    "value": row["value"], "before": self.before[who], "stayed": who in self.stayed,
                    "reason": row["text"] or None, "stakeholder_type": row["stakeholder_type"], "place": place,
                }  # fmt: skip

    def by_group(self, groups: pd.Series[str]) -> Iterator[d.Row]:
        """Who rated, and who of them stands on which side."""
        rated = self.rows[self.rows["value"].notna()]
        below, above = (rated["participant"].isin(side) for side in self.sides)
        counts = pd.DataFrame({"n_below": below, "n_above": above, "n": True})
        counts = counts.groupby(rated["participant"].map(groups).rename("group")).sum()
        for row in dictionaries(counts.sort_index().reset_index()):
            yield {"theme": self.row["theme"], "dimension": self.row["dimension"], **row}


def _themes(stored: JsonValue) -> list[d.Row]:
    listed = stored.get("themes") if isinstance(stored, dict) else stored
    return [
        {"theme": str(theme["id"]), "label": str(theme["label"]), "description": str(theme.get("description", "")),
         "statements": [str(each) for each in theme.get("statements") or []]}  # type: ignore[union-attr]
        for theme in (listed if isinstance(listed, list) else [])
        if isinstance(theme, dict)
    ]  # fmt: skip


def _table(rows: pd.DataFrame, themes: list[d.Row], instrument: DelphiInstrument) -> pd.DataFrame:
    table = rows.pivot(index="participant", columns="item_id", values="value").astype(float)
    items = [item_of(theme["theme"], d.dimension_id) for theme in themes for d in instrument.dimensions]
    return table.reindex(index=rows["participant"].unique(), columns=[item for item in items if item in table])


def _with_ranks(panel: Panel, ratings: list[d.Row], dissent: list[Stand]) -> list[d.Row]:
    """Each rating with its theme's rank, and how many undisputed themes share its median."""
    ranks = {row["theme"]: row["rank"] for row in panel.ranked_themes(ratings)}
    kinds = {stand.row["item"]: stand.row["kind"] for stand in dissent}
    settled = [
        (row["round"], row["dimension"], row["median"]) for row in ratings if row["label"] in ("consensus", "open")
    ]
    return [
        {**row, "rank": ranks.get(row["theme"]), "tied": settled.count((row["round"], row["dimension"], row["median"])),
         "stand": kinds.get(row["item"]) if row["round"] == panel.revised else None}
        for row in ratings
    ]  # fmt: skip


def _left_over(coded: JsonValue) -> d.Row:
    """How much coding left uncoded or dropped; None before it."""
    if not isinstance(coded, dict):
        return {}
    return {"uncoded": _count(coded.get("uncoded")), "dropped": sum(_count(coded.get(key)) or 0 for key in DROPPED)}


def _count(value: JsonValue) -> int | None:
    return len(value) if isinstance(value, list) else value if isinstance(value, int) else None


def _ended(pinned: Mapping[str, JsonValue], last: int | None) -> d.Row:
    """Why a panel that may have gone on did not."""
    stored = pinned.get(f"exit/{last}")
    if not isinstance(stored, dict):
        return {"ended": "set"}
    details: Any = stored.get("details") or {}
    agreement, stable = details.get("agreement"), details.get("stable_share")
    return {"ended": stored.get("reason"), "ended_agreement": agreement, "ended_stable": stable}


def _times(rounds: list[d.Row]) -> d.Row:
    """When the first and the last answer came."""
    first, last = ([row[end] for row in rounds if row[end]] for end in ("first_at", "last_at"))
    return {"first_at": min(first, default=None), "last_at": max(last, default=None)}


def _distinct(frame: pd.DataFrame, column: str) -> list[str]:
    return sorted({str(value) for value in frame[column].unique() if value}) if column in frame else []


def item_facts(item_id: str, instrument: DelphiInstrument) -> ItemFacts:
    """A rating belongs to its theme ('theme:<id>') and dimension, and has the dimension's scale; a question has
    none."""
    theme, _, dimension = item_id.rpartition("/")
    if dimension not in {d.dimension_id for d in instrument.dimensions} or not theme.startswith("theme:"):
        return ItemFacts()
    scale = instrument.scale_of(dimension)
    return ItemFacts(family=theme, dimension=dimension, scale_min=scale.min, scale_max=scale.max)


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Themes of round 1, ratings of round 2, revisions after it, and what converged."""
    return {
        "round1_themes.jsonl": results.rows("themes"),
        "round2_ratings.jsonl": lines(frame[frame["round"].eq(2)]),
        "round3_revisions.jsonl": lines(frame[frame["round"].gt(2)]),
        "convergence.json": results.without("themes", "flags"),
    }


# --- health -----------------------------------------------------------------------------------------------------------


FALSE_MEDIAN = "false_median"


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Panelists whose revision left all as it was; ratings before feedback as anywhere, revised ones for gaps alone."""
    rows = checkable(rows)
    for phase in phases(rows):
        of_phase = occasion(rows, phase)
        rated = rounds(of_phase)
        if len(rated) > 1:
            first, last = (answers(occasion(of_phase, phase, number)) for number in (rated[0], rated[-1]))
            yield from each(phase, (unrevised(first, last), answer_stability(first, last)))
        else:
            yield from each(phase, (missing(name, "no_revision") for name in ("unrevised", "answer_stability")))
        if rated:
            yield from each(phase, scales(occasion(of_phase, phase, rated[0]), humans))
    yield from gaps(rows)


# --- probes ----------------------------------------------------------------------------------------------------------


def probed(arms: Arms) -> Made:
    """Ratings asked again, and a false median."""
    yield from repeated(arms)
    yield from _false_median(arms)


def _false_median(arms: Arms) -> Made:
    """The pull of a median that nobody gave, against that of the panel's own."""
    if FALSE_MEDIAN not in arms.others:
        return
    bogus, main = arms.others[FALSE_MEDIAN], str(arms.main["arm"].iloc[0])
    for phase in phases(bogus):
        told = rounds(occasion(bogus, phase))[-1]
        rated = [number for number in rounds(occasion(arms.main, phase)) if number <= told]
        if len(rated) < 2 or rated[-1] != told:
            yield phase, missing("false_median", "no_revision")
            continue
        first, last = (answers(occasion(arms.main, phase, number)) for number in rated[-2:])
        true, false = (_medians(arms, arm) for arm in (main, FALSE_MEDIAN))
        followed = answers(occasion(bogus, phase, told))
        yield phase, false_median(first, last, followed, true_median=true, bogus_median=false)


def _medians(arms: Arms, arm: str) -> dict[str, float]:
    """Item → median that this arm's panel was shown in the round that the false ones were shown in."""
    rounds = (int(name.partition("/")[2]) for name in arms.pinned(FALSE_MEDIAN) if name.startswith("feedback/"))
    feedback = arms.pinned(arm).get(f"feedback/{max(rounds, default='')}")
    items = feedback if isinstance(feedback, Mapping) else {}
    medians = {str(item): row.get("median") for item, row in items.items() if isinstance(row, Mapping)}
    return {item: float(median) for item, median in medians.items() if isinstance(median, int | float)}


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    probed=probed,
    reads_variants=(NO_FEEDBACK,),
)
