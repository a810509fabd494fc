"""What the panel's results are: tables of themes, ratings and dissent, and what is read of them where.

Quartiles are of type 7. Limits of consensus and dispute are the instrument's (`disagreement:`).
"""

from __future__ import annotations

from enquete.locale import N_
from enquete.reports.declarations import (
    Chart,
    Finding,
    Presentation,
    Spread,
    Table,
    TextBlock,
    View,
    adjusted_p,
    code,
    flag,
    group_finding,
    group_tables,
    integer,
    interval,
    names,
    number,
    of,
    p_value,
    reference,
    several,
    share,
    text,
)

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


def state(item: str, is_rated: bool) -> str:
    if item in AFTER_A_RATING and not is_rated:
        return "open"
    if item in NOT_APPLICABLE:
        return "not_applicable"
    return "filled" if item in FILLED else "partly" if item in PARTLY else "open"


# --- tables -----------------------------------------------------------------------------------------------------------


VERDICTS = {"consensus": N_("consensus"), "open": N_("open"), "disagreement": N_("disputed")}
STANDS = {"camps": N_("camps"), "hold_outs": N_("hold-outs"), "scattered": N_("opinions are spread")}
SIDES = {"below": N_("below"), "above": N_("above")}
ORDERS = {"mean": N_("by mean"), "consensus": N_("by agreement")}
STATES = {"filled": N_("filled"), "partly": N_("in part"), "open": N_("open"), "not_applicable": N_("not applicable")}
OUTCOMES = {"closer": N_("nearer"), "farther": N_("farther"), "neither": N_("neither")}
CODINGS = {"done": N_("done"), "off": N_("not wanted"), "missing": N_("missing")}
ENDINGS = {
    "set": N_("rounds were set"), "consensus": N_("consensus"), "convergence": N_("ratings settled"),
    "max_rounds": N_("last possible round"),
}  # fmt: skip

THEME = reference("theme", N_("Theme"), to="themes")
DIMENSION = reference("dimension", N_("Dimension"), to="dimension")
ITEM = text("item", N_("item"), means=N_("id of the rating's item in all_responses.csv"))
ROUND = integer("round", N_("Round"))
N, TOTAL = integer("n", "n"), integer("n_total", "N")
N_OF = of("n", "n_total", "n / N")
PAIRS = integer("n_paired", N_("pairs"), means=N_("agents who rated in both rounds"))
PAIRS_OF = of("n_paired", "n_total", N_("pairs / N"))
A = number("agreement", "A", means=N_("van der Eijk's agreement: 1 unanimous, 0 spread evenly, −1 two camps"))
IQR = number("iqr", "IQR", means=N_("quartile distance, type 7"))
AGENT, GROUP = reference("participant", N_("agent"), to="agent"), reference("stakeholder_type", N_("group"), to="group")

ROUNDS = Table(
    name="rounds", title=N_("Rounds"), key=("round",),
    columns=(
        ROUND, integer("n_responded", N_("answers")), integer("n_planned", N_("planned answers")), N, TOTAL,
        of("n_responded", "n_planned", N_("answers / planned")), of("n", "n_total", N_("agents / all")),
        integer("n_consensus", N_("themes in consensus")), integer("n_open", N_("open")),
        integer("n_disputed", N_("disputed")),
        number("w", N_("Kendall's W"), means=N_("agreement of the agents' rankings of the themes")),
        text("first_at", N_("first answer")), text("last_at", N_("last answer")),
    ),
    views=(
        View(at="section", heading="", where="round > 1", columns=names("round n_consensus n_open n_disputed w")),
        View(at="appendix", columns=names("round n_responded_of_n_planned n_of_n_total")),
    ),
)  # fmt: skip

THEMES = Table(
    name="themes", title=N_("Themes"), key=("theme",), label="label",
    columns=(
        text("theme", N_("id")), text("label", N_("Theme")), text("description", N_("Description")),
        integer("n_agents", N_("agents")), integer("n_statements", N_("statements")),
        integer("rank", N_("rank"), means=N_("first place of the theme among those agreed upon: by IQR, then median")),
        integer("rank_to", N_("rank, last shared place")),
    ),
    views=(
        View(at="appendix", columns=names("label description n_agents n_statements"),
             note=N_("Every statement with its theme: exports/delphi/statements.csv.")),
        View(at="digest", columns=names("label n_agents rank")),
    ),
)  # fmt: skip

STATEMENTS = Table(
    name="statements", title=N_("Statements by theme"), key=("theme", "participant", "item"), one_agent=True,
    columns=(THEME, AGENT, ITEM, integer("place", N_("place"), means=N_("of the statement among those of its theme")),
        text("text", N_("statement"))),
)  # fmt: skip

SECOND_CODING = Table(
    name="second_coding", title=N_("Second coding"), key=("theme",),
    columns=(THEME, integer("n_first", N_("first")), integer("n_second", N_("second")), integer("n_both", N_("both")),
        number("alpha", "α")),
    views=(View(at="appendix", order=("alpha",), top=5),),
)  # fmt: skip

RATINGS = Table(
    name="ratings", title=N_("Ratings by theme"), key=("theme", "dimension", "round"),
    columns=(
        THEME, DIMENSION, ROUND, ITEM, integer("rank", N_("Rank")), N, TOTAL, N_OF,
        number("median", N_("median"), digits=1), number("q1", N_("lower quartile"), digits=1),
        number("q3", N_("upper quartile"), digits=1), IQR, number("mean", N_("mean")), number("sd", "SD"),
        number("mean_low", N_("mean, lower bound")), number("mean_high", N_("mean, upper bound")), A,
        number("tastle_wierman", N_("Tastle–Wierman")), number("bimodality", N_("bimodality")),
        share("top_share", N_("top two points")),
        flag("agreed", N_("small spread"), means=N_("IQR within the instrument's limit")),
        flag("polarised", N_("polarised"), means=N_("A below the instrument's limit, or two sides that lie apart"),
            replicates=True),
        code("label", N_("Verdict"), levels=VERDICTS, replicates=True),
        code("stand", N_("dissent"), levels=STANDS, means=N_("who stands where on a disputed rating: camps only where "
                                                             "A is below 0 beyond chance")),
        integer("tied", N_("themes with this median"), means=N_("undisputed ones, of the round and dimension")),
        integer("scale_min", N_("scale from")), integer("scale_max", N_("scale to")),
    ),
    views=(
        View(at="section", heading="", where="round == @last_round", order=("rank", "-mean"),
             spread=Spread(column="dimension", rows=("theme",), cells=names("median iqr agreement label"))),
        View(at="appendix", where="round == @last_round", order=names("dimension theme"), by=("dimension",),
             columns=names("theme n_of_n_total mean sd tastle_wierman bimodality top_share polarised"),
             note=N_("Earlier rounds are in exports/delphi/ratings.csv.")),
        View(at="digest", where="round == @last_round", columns=names("theme dimension median iqr agreement label"),
             order=("rank", "-mean"), top=20),
        View(at="memory", where="round == @last_round and dimension == @main_dimension",
             says=N_("theme “{theme}”: {dimension}: median {median}, IQR {iqr} (round {round}, {n} of {n_total} "
                     "agents).")),
    ),
    note=N_("A: van der Eijk's agreement (1 unanimous, 0 uniform, −1 two camps). Consensus: IQR ≤ {consensus_iqr}. "
            "Disputed: IQR > {disagreement_iqr}, A < {polarised_below}, or a third of the panel at least on either of "
            "two sides that lie apart."),
)  # fmt: skip

DISTRIBUTION = Table(
    name="distribution", title=N_("Distribution of the ratings"), key=("theme", "dimension", "round", "value"),
    columns=(THEME, DIMENSION, ROUND, ITEM, integer("value", N_("rating")), integer("n", N_("agents")), share("share",
        N_("share"))),
)  # fmt: skip

STABILITY = Table(
    name="stability", title=N_("Stability between rounds"), key=("theme", "dimension", "round"),
    columns=(
        THEME, DIMENSION, ROUND, PAIRS, TOTAL, PAIRS_OF, number("kappa", N_("weighted κ")),
        share("share_changed", N_("changed")),
        share("net_change", N_("net change"), means=N_("share that would have to move to turn one histogram into the "
                                                       "other")),
        flag("stable", N_("stable")), number("delta_cv", "ΔCV"), p_value("p"), p_value("p_holm", "p (Holm)"),
        p_value("p_bh", "p (BH)"),
    ),
    views=(View(at="appendix", by=names("dimension round"), order=names("dimension round theme"),
                columns=names("theme kappa share_changed net_change stable p_holm")),),
    note=N_("Within the same agents, against the round before. Stable: net change of the histogram ≤ 15% (Scheibe, "
            "Skutsch & Schofer 1975). κ with "
            "quadratic weights; p of Wilcoxon's test, corrected over the ratings of the round."),
)  # fmt: skip

CONVERGENCE = Table(
    name="convergence", title=N_("Convergence from the first to the last round of rating"), key=("theme", "dimension"),
    columns=(
        THEME, DIMENSION, ITEM, integer("from_round", N_("from round")), integer("to_round", N_("to round")), PAIRS,
        TOTAL, PAIRS_OF, number("iqr_first", N_("IQR before")), number("iqr_second", N_("IQR after")),
        number("delta_iqr", "ΔIQR"), integer("n_moved", N_("changed")), integer("n_off_median", N_("off the median")),
        integer("n_toward", N_("came closer to it")), integer("n_away", N_("went away from it")),
        share("share_toward", N_("share that came closer")),
    ),
    views=(View(at="appendix", by=("dimension",), order=names("dimension theme"),
                columns=names("theme iqr_first iqr_second n_moved n_off_median n_toward")),),
    note=N_("The median is the one that was fed back. Whoever answers again comes closer to a median by chance alone; "
            "whether feedback did it is tested apart, against the medians of the others."),
)  # fmt: skip

REVISION = Table(
    name="revision", title=N_("What feedback did"), key=("direction",),
    columns=(
        code("direction", N_("to the medians of the others"), levels=OUTCOMES, replicates=True), N, TOTAL,
        number("before", N_("distance before")), number("after", N_("distance after")),
        number("nearer", N_("nearer by"), means=N_("points that ratings came nearer to the others' medians, mean over "
                                                   "agents")),
        number("nearer_low", N_("lower bound")), number("nearer_high", N_("upper bound")), p_value("p"), adjusted_p(),
        integer("n_unchanged", N_("agents who left every rating unchanged")),
        integer("n_ratings_same", N_("ratings left unchanged")),
        integer("n_ratings", N_("ratings given in both rounds")),
    ),
    views=(
        View(at="appendix", columns=names("direction before after nearer p_adjusted n_unchanged n_ratings_same "
            "n_ratings")),
        View(at="digest"),
    ),
    note=N_("Against the first medians of the others; p by exchanging an agent's rounds, which answering anew leaves "
            "as it is."),
)  # fmt: skip

DISSENT = Table(
    name="dissent", title=N_("What stays disputed"), key=("theme", "dimension"),
    columns=(
        THEME, DIMENSION, ITEM, code("kind", N_("dissent"), levels=STANDS),
        code("label", N_("Verdict"), levels=VERDICTS), N, TOTAL, IQR, A,
        number("median_shown", N_("median shown"), digits=1), number("distance", N_("distance"), digits=1), PAIRS,
        integer("n_holding_out", N_("hold-outs")), integer("n_below", N_("below")), integer("n_above", N_("above")),
        integer("n_between", N_("between")), integer("n_stayed", N_("stayed from the round before")),
        integer("low_at", N_("lower camp up to")), integer("high_at", N_("upper camp from")),
        p_value("p", means=N_("how often the most divided of so many even spreads looks so")), adjusted_p(),
        share("above_share", N_("share of the upper camp")), share("above_low", N_("lower bound")),
        share("above_high", N_("upper bound")), number("mean_gap", N_("mean distance from the median")),
    ),
    views=(
        View(at="appendix", where="label == 'disagreement'", order=("agreement",), top=20,
             columns=names("theme dimension kind median_shown n_below n_between n_above n_stayed"),
             empty=N_("No theme is disputed after the last round.")),
        View(at="appendix", heading=N_("Hold-outs on undisputed themes"), where="label != 'disagreement'",
            order=("-n_holding_out",), top=5,
             columns=names("theme dimension n_holding_out n_paired median_shown n_below n_above")),
        View(at="digest", where="label == 'disagreement'", columns=names("theme dimension kind n_below n_above "
                                                                         "agreement"), order=("agreement",), top=5),
    ),
    note=N_("Camps: a third of the raters at least on either of two sides that lie apart, as no even spread looks; "
            "else opinions are spread. Hold-outs: in both rounds at least half the scale's width off the median fed "
            "back, on the same side, no closer than before, and fewer than half of the raters there."),
)  # fmt: skip

STANDING = Table(
    name="standing", title=N_("Who stands where, in their words"), key=("theme", "dimension", "participant"),
        one_agent=True,
    columns=(
        THEME, DIMENSION, AGENT, GROUP, code("side", N_("side"), levels=SIDES), integer("value", N_("rating")),
        integer("before", N_("before")), flag("stayed", N_("stayed")), text("reason", N_("reason")),
        integer("place", N_("place"), means=N_("those who stayed and give a reason first")),
    ),
    views=(View(at="appendix", where="dimension == @main_dimension and place <= 2", by=("theme", "side"),
        quote="reason",
                who=names("participant stakeholder_type value")),),
)  # fmt: skip

DISSENT_BY_GROUP = Table(
    name="dissent_by_group", title=N_("Who stands where, by group"), key=("theme", "dimension", "stakeholder_type"),
    columns=(THEME, DIMENSION, GROUP, integer("n_below", N_("low")), integer("n_above", N_("high")), integer("n",
        N_("rated"))),
    views=(View(at="appendix", where="dimension == @main_dimension and n_below + n_above > 0",
                spread=Spread(column="theme", rows=("stakeholder_type",), cells=names("n_below n_above"))),),
)  # fmt: skip

RANKING = Table(
    name="ranking", title=N_("How firm the ranking is"), key=("by", "dimension", "theme"),
    columns=(
        code("by", N_("ranked"), levels=ORDERS), DIMENSION, THEME, number("rank", N_("rank"), digits=1),
        number("low", N_("rank, lower bound"), digits=1), number("high", N_("rank, upper bound"), digits=1),
        interval("low", "high", "95%", digits=1),
        share("p_top", N_("P(rank ≤ {top})"), means=N_("share of resampled panels with the theme among the first")),
    ),
    views=(View(at="appendix", where="dimension == @main_dimension", order=("theme",),
                spread=Spread(column="by", rows=("theme",), cells=names("rank low_to_high p_top")),
                note=N_("Bootstrap over agents ({draws} draws); themes that tie have their mean rank. Mean Kendall τ-b "
                        "with the order observed: {tau_mean} (mean), {tau_consensus} (agreement).")),),
)  # fmt: skip

CONCORDANCE = Table(
    name="concordance", title=N_("Concordance of the rankings (Kendall's W)"), key=("round", "dimension"),
    columns=(
        ROUND, DIMENSION, integer("n", N_("agents")), integer("n_dropped", N_("with gaps")),
        integer("n_themes", N_("Themes")), number("w", "W"), flag("moderate", N_("W of at least .5"), replicates=True),
        number("chi2", "χ²"), p_value("p"),
    ),
    views=(View(at="appendix", columns=names("round dimension n n_dropped n_themes w chi2 p")),),
)  # fmt: skip

GROUPS, GROUP_TESTS = group_tables(THEME, N_("Ratings by group"))

ACCORD = Table(
    name="accord", title=N_("ACCORD checklist"), key=("item",),
    columns=(text("item", N_("Item")), code("asks", N_("asks for"), levels=ASKS),
             code("state", N_("state"), levels=STATES), code("answer", N_("answer from the run"), levels=ANSWERS)),
    views=(View(at="appendix"),),
    note=N_("ACCORD (Gattrell et al. 2024) lists 35 items for reports of consensus exercises, here in our own words. "
            "Check against the original list before publishing."),
)  # fmt: skip

AGENTS = Table(
    name="agents", title=N_("The panel's agents"), key=("participant",), one_agent=True,
    columns=(
        AGENT, share("delphi_held_out", N_("share of Delphi ratings that the agent holds out on"), agents=True),
        number("delphi_gap", N_("mean distance from the median in the Delphi"), agents=True),
    ),
)  # fmt: skip

FACTS = (
    integer("last_round"), reference("main_dimension", "", to="dimension"), several("dimensions", to="dimension"),
    integer("scale_min"), integer("scale_max"), integer("n_themes"), integer("n_judged"),
    integer("n_consensus", N_("themes in consensus")), integer("n_open"), integer("n_disputed"), N, TOTAL,
    number("consensus_iqr", digits=1), number("disagreement_iqr", digits=1), number("polarised_below", digits=1),
    integer("n_rounds"), integer("n_questions"), integer("uncoded"), integer("dropped"),
    code("second_coding_state", "", levels=CODINGS), number("alpha"), integer("coded_twice"), share("coded_alike"),
    integer("not_coded_again"), code("ended", "", levels=ENDINGS), share("ended_agreement"), share("ended_stable"),
    integer("top"), integer("draws"), number("tau_mean"), number("tau_consensus"), several("models"),
    several("respondents"), several("instrument_hash"), integer("n_with_memory"), text("first_at"), text("last_at"),
)  # fmt: skip
"""What sentences and notes are told over. draws, tau: of the bootstrap of the ranking; coded_twice: answers that both
codings have."""

TEXTS = (
    TextBlock(at="section", where="n_themes == 0", says=N_("No themes have been formed yet, so nothing was rated.")),
    TextBlock(at="section", where="n_themes > 0", says=N_(
        "The agents answered open questions, rated the themes formed of their answers on {dimensions} "
        "({scale_min}–{scale_max}), were told median and interquartile range (IQR) of all, and rated again. Consensus "
        "is an IQR of {consensus_iqr} at most; disputed is an IQR above {disagreement_iqr}, an agreement A below "
        "{polarised_below} (1: of one mind, −1: two camps) or two sides that lie apart.")),
    TextBlock(at="section", after="ratings", word="ended", says={
        "consensus": N_("The panel ended after round {last_round} by consensus: {ended_agreement} of the ratings are "
                        "agreed."),
        "convergence": N_("The panel ended after round {last_round} because ratings had settled: {ended_stable} of "
                          "the agents hardly changed theirs."),
        "max_rounds": N_("The panel ended with its last possible round, {last_round}: {ended_agreement} of the ratings "
                         "are agreed, {ended_stable} of the agents hardly changed theirs."),
    }),
    TextBlock(at="appendix", after="themes", where="uncoded > 0", says=N_("Answers of round 1 that belong to no theme: "
                                                                     "{uncoded}.")),
    TextBlock(at="appendix", after="second_coding", word="second_coding_state", says={
        "done": N_("{coded_twice} answers were given to the themes a second time, in another order and without "
                   "knowledge of the first. Krippendorff's α = {alpha} (MASI; from .80 reliable, from .67 tentative); "
                   "{coded_alike} of the answers have exactly the same themes. The same model coded both times: an "
                   "upper bound of what two people would find. Not compared: {not_coded_again}."),
        "off": N_("No second coding was wanted; how reliable the themes are was not measured."),
        "missing": N_("There is no second coding; how reliable the themes are was not measured."),
    }),
)  # fmt: skip

FINDINGS = (
    group_finding(
        THEME,
        N_("“{theme}” divides the groups: mean {main_dimension} {mean_highest} among {highest}, {mean_lowest} among "
           "{lowest}, on {scale_min}–{scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No theme is rated differently by the groups (adjusted {p}); a difference of {detectable} points "
                "would have been found four times in five (n = {n}/{n_total})."),
        size="(mean_highest - mean_lowest) / (@scale_max - @scale_min)", chart="convergence",
    ),
    Finding(
        name="camps", table="dissent", kind="difference", p="p", within="given",
        test="a split as wide among even spreads",
        where="kind == 'camps' and dimension == @main_dimension and n_below >= 5 and n_above >= 5",
        order=("agreement",), top=2, size="(1 - agreement) / 2", estimate="above_share", low="above_low",
        high="above_high", items="item", chart="dissent",
        says=N_("“{theme}” splits the panel: {n_below} agents rate its {dimension} {low_at} or less, {n_above} "
                "agents {high_at} or more ({above_share}, 95% interval {above_low} to {above_high}; A = {agreement}, "
                "adjusted {p}; n = {n}/{n_total})."),
    ),
    Finding(
        name="agreed", n="n", estimate="n_consensus", size="n_consensus / n_judged", where="n_judged > 0",
        chart="convergence", scale="0, n_judged",
        says=N_("The panel agrees on the {main_dimension} of {n_consensus} of {n_judged} themes (interquartile range "
                "at most {consensus_iqr}); still disputed: {n_disputed} (n = {n}/{n_total})."),
    ),
    Finding(
        name="highest", table="ratings",
        where="round == @last_round and dimension == @main_dimension and label != 'disagreement' and n >= 5",
        order=("-median", "-mean"), size="abs(median - (scale_min + scale_max) / 2) / ((scale_max - scale_min) / 2)",
        estimate="mean", low="mean_low", high="mean_high", items="item", chart="ranking", scale="scale_min, scale_max",
        says=N_("Undisputed and highest in {dimension}: “{theme}”, median {median} (undisputed themes with this "
                "median: {tied}; mean {mean}, 95% interval {mean_low} to {mean_high} for the highest of all; n = "
                "{n}/{n_total})."),
    ),
    Finding(
        name="revision", table="revision", kind="difference", word="direction", p="p",
        size="abs(nearer) / (@scale_max - @scale_min)", test="exchange of rounds", estimate="nearer", low="nearer_low",
        high="nearer_high", chart="convergence", scale="scale_min - scale_max, scale_max - scale_min",
        says={
            "closer": N_("Feedback drew the panel together: ratings came {nearer} points nearer to the others' "
                         "medians (95% interval {nearer_low} to {nearer_high}, adjusted {p}; n = {n}/{n_total})."),
            "farther": N_("Feedback drove the panel apart: ratings stood {before} points from the others' medians "
                          "before it and {after} after it (adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("No effect of the feedback was found: ratings stood {before} points from the others' medians before "
                "it and {after} after it (adjusted {p}; n = {n}/{n_total})."),
    ),
)  # fmt: skip

CHARTS = (
    Chart(name="convergence", title=N_("Delphi: median and quartiles of every theme, by round"), needs=("ratings",),
        draw="enquete.graphs.delphi.charts:convergence",
          alt=N_("Medians and quartiles of {n_themes} themes by round; in round {last_round} {n_consensus} of "
                 "{n_judged} themes are in consensus.")),
    Chart(name="dissent", title=N_("Delphi: how ratings are spread on the themes that stay disputed"), needs=("dissent",
        "distribution"),
          draw="enquete.graphs.delphi.charts:dissent", over=View(at="section", where="label == 'disagreement'",
              order=("agreement",)),
          alt=N_("Distributions of the disputed ratings of round {last_round}; most divided: “{theme}” ({dimension}), "
                 "A = {agreement}.")),
    Chart(name="ranking", title=N_("Delphi: ranking of themes by agreement, with 95% intervals"), needs=("ranking",),
        draw="enquete.graphs.delphi.charts:ranking",
          over=View(at="section", where="by == 'consensus' and dimension == @main_dimension and rank == rank",
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

PRESENTATION = Presentation(
    tables=(ROUNDS, THEMES, STATEMENTS, SECOND_CODING, RATINGS, DISTRIBUTION, REVISION, DISSENT, DISSENT_BY_GROUP,
        STANDING, GROUP_TESTS, GROUPS,
            CONVERGENCE, STABILITY, RANKING, CONCORDANCE, ACCORD, AGENTS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
)  # fmt: skip
