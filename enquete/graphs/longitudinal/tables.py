"""What the waves' results are: statements with their change, where agents stand, groups, agents, and what is read of
them where."""

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

KINDS = {"drift": N_("drift"), "experience_effect": N_("experience effect"), "one_wave": N_("one wave")}
OUTCOMES = {
    "risen": N_("risen"), "fallen": N_("fallen"), "unmoved": N_("no change found"), "untested": N_("not tested"),
}  # fmt: skip
PLACES = {
    "highest": N_("highest"), "highest_tied": N_("highest, shared"), "lowest": N_("lowest"),
    "lowest_tied": N_("lowest, shared"),
}  # fmt: skip
SCORES = {"all": N_("all statements"), "family": N_("family")}
REASONS = {
    "no_pairs": N_("no agent has both scores"), "few_before": N_("fewer than 2 agents at T0"),
    "few_retested": N_("fewer than 3 agents asked twice"), "no_variation": N_("agents do not differ"),
    "negative": N_("r_tt is negative: scores are noise"), "perfect": N_("r_tt is 1: there is no noise to compare with"),
    "no_retest": N_("nobody was asked twice"),
}  # fmt: skip

ITEM = reference("item", N_("Statement"), to="items")
FAMILY = reference("family", N_("Family"), to="families")
PHASE = text("phase", N_("Wave"))
N, TOTAL, N_OF = integer("n", "n"), integer("n_total", "N"), of("n", "n_total", "n / N")
PAIRS = of("n", "n_total", N_("pairs / agents"))
SCALE = text("scale", N_("scale"))
LOW = number("low", N_("lower bound"), means=N_("95% interval that holds for whichever row is singled out of all"))
HIGH, ENDS = number("high", N_("upper bound"), means=LOW.means), interval("low", "high", "95%")
TESTED = (
    p_value("p", means=N_("max-T over sign flips of agents, corrected over all statements")), adjusted_p(),
    text("test", N_("test")),
    number("detectable", N_("detectable"), means=N_("mean change that would be found four times in five")),
)  # fmt: skip

ITEMS = Table(
    name="items", title=N_("Statements"), key=("item",), label="wording",
    columns=(
        text("item", N_("id")), text("wording", N_("Statement")), FAMILY,
        flag("reverse_keyed", N_("keyed against its family")), flag("control", N_("control")),
        integer("scale_min", N_("scale from")), integer("scale_max", N_("scale to")),
    ),
)  # fmt: skip
FAMILIES = Table(
    name="families", title=N_("Families of statements"), key=("family",), label="label",
    columns=(text("family", N_("id")), text("label", N_("Family")), integer("n_items", N_("statements"))),
)  # fmt: skip

WAVES = Table(
    name="waves", title=N_("Waves"), key=("phase",),
    columns=(
        PHASE, integer("n_answers", N_("answers")), integer("n_planned", N_("planned answers")), N, TOTAL,
        of("n_answers", "n_planned", N_("answers / planned")), of("n", "n_total", N_("agents / all")),
        integer("n_with_memory", N_("with memory")),
    ),
    views=(View(at="appendix", columns=names("phase n_answers_of_n_planned n_of_n_total n_with_memory")),),
)  # fmt: skip

CHANGES = Table(
    name="changes", title=N_("Change from T0 to T1, by statement"), key=("item",),
    columns=(
        ITEM, SCALE, share("size", N_("of the scale"), means=N_("size of the change, a share of the scale's width")), N,
        TOTAL, PAIRS, integer("n_changed", N_("changed")),
        number("before", "T0", means=N_("mean of those who answered both times")),
        number("after", "T1", means=N_("the same at T1")),
        number("change", "T1 − T0", means=N_("mean change as worded, in scale points")), number("sd", "SD"), LOW, HIGH,
        ENDS,
        code("outcome", N_("outcome"), levels=OUTCOMES, replicates=True,
            means=N_("by max-T over the statements alone, p < .05")),
        *TESTED, number("hodges_lehmann", N_("Hodges–Lehmann")), number("hl_low", N_("lower bound")),
        number("hl_high", N_("upper bound")), interval("hl_low", "hl_high", "95%"),
        number("rank_biserial", N_("rank-biserial r")), p_value("p_wilcoxon", N_("p (Wilcoxon)")),
        p_value("p_holm", "p (Holm)"),
    ),
    views=(
        View(at="section", heading="", where="outcome != 'untested'", order=("p",), top=20,
             columns=names("item n before after change low_to_high p_adjusted")),
        View(at="section", heading="", where="outcome == 'untested'", top=20,
             columns=names("item n_of_n_total before after change")),
        View(at="appendix", heading=N_("Wilcoxon's test beside it"), where="outcome != 'untested'",
             columns=names("item n_changed hodges_lehmann hl_low_to_hl_high rank_biserial p_wilcoxon p_holm "
                           "detectable")),
        View(at="digest", order=("p",), top=20,
            columns=names("item n before after change low high outcome p_adjusted")),
    ),
    note=N_("Wilcoxon's signed-rank test, zeros left out, corrected by Holm over the statements; Hodges–Lehmann with "
            "the interval of that test. p: max-T, which the report corrects further."),
)  # fmt: skip

PLACEBO = Table(
    name="placebo", title=N_("Change beyond a neutral memory"), key=("item",),
    columns=(
        ITEM, SCALE, share("size", N_("of the scale"), means=N_("size of the change, a share of the scale's width")), N,
        TOTAL, PAIRS, integer("n_changed", N_("differ")),
        number("main", N_("own memory"), means=N_("mean change, as worded")), number("placebo", N_("neutral memory")),
        number("change", N_("difference")), number("sd", "SD"), LOW, HIGH, ENDS, *TESTED,
    ),
    views=(
        View(at="section", order=("p",), top=20,
             columns=names("item n_of_n_total main placebo change low_to_high p_adjusted")),
        View(at="digest", order=("p",), top=20, columns=names("item n main placebo change low high p_adjusted")),
    ),
)  # fmt: skip

ANSWERS = Table(
    name="answers", title=N_("Answers by statement and wave"), key=("item", "phase"),
    columns=(
        ITEM, PHASE, SCALE, integer("scale_min", N_("scale from")), integer("scale_max", N_("scale to")), N, TOTAL,
        N_OF, number("mean", N_("mean")), LOW, HIGH, ENDS, number("median", N_("median"), digits=1), number("sd", "SD"),
        share("agreeing", N_("agree"), means=N_("answers above the middle of the scale")),
        number("confidence", N_("confidence"), means=N_("mean, 0 to 1, as agents say")),
        code("place", N_("place"), levels=PLACES,
            means=N_("of the last wave, among statements on the commonest scale")),
    ),
    views=(
        View(at="section", heading="", where="phase == @only_phase", top=20,
             columns=names("item n_of_n_total mean low_to_high median agreeing")),
        View(at="appendix", where="@only_phase != phase",
             spread=Spread(column="phase", rows=("item",), cells=names("mean low_to_high sd agreeing"))),
        View(at="digest", where="phase == @only_phase", top=20,
            columns=names("item n mean low high agreeing")),
    ),
    note=N_("As answered, not rekeyed. Agree: answers above the middle of the scale."),
)  # fmt: skip

DISTRIBUTION = Table(
    name="distribution", title=N_("Distribution of the answers"), key=("item", "phase", "value"),
    columns=(ITEM, PHASE, integer("value", N_("answer")), integer("n", N_("agents")), share("share", N_("share"))),
)  # fmt: skip

FAMILY_CHANGES = Table(
    name="family_changes", title=N_("Change by family"), key=("family",),
    columns=(
        FAMILY, N, TOTAL, PAIRS,
        number("mean", N_("mean change"), means=N_("of agents' means over the family, rekeyed")),
        number("weighted", N_("weighted"), means=N_("agents without memory count {memoryless_weight}")),
        number("hodges_lehmann", N_("Hodges–Lehmann")), LOW, HIGH, ENDS, p_value("p_wilcoxon", N_("p (Wilcoxon)")),
        p_value("p_holm", "p (Holm)"),
    ),
    views=(View(at="appendix", columns=names("family mean weighted hodges_lehmann low_to_high p_wilcoxon p_holm")),),
    note=N_("Rekeyed; an agent counts once. Weighted: agents without memory count {memoryless_weight}."),
)  # fmt: skip

RELIABLE = Table(
    name="reliable", title=N_("Reliable change (RCI)"), key=("scores", "family"),
    columns=(
        code("scores", N_("Scores"), levels=SCORES), FAMILY, N, TOTAL, PAIRS, number("sd", "SD"), number("r", "r_tt"),
        number("r_low", N_("r_tt, lower bound")), number("r_high", N_("r_tt, upper bound")),
        interval("r_low", "r_high", "95%"), integer("r_n", N_("asked twice")), integer("n_up", N_("up")),
        integer("n_down", N_("down")), number("limit", N_("limit")), share("share_beyond", N_("beyond")),
        share("chance_low", N_("by noise, from")), share("chance_high", N_("by noise, to")),
        integer("n_placebo", N_("agents with a placebo")), share("share_placebo", N_("placebo beyond")),
        share("difference", N_("difference")), share("difference_low", N_("lower bound")),
        share("difference_high", N_("upper bound")), code("why_not", N_("no RCI because"), levels=REASONS),
    ),
    views=(
        View(
            at="appendix",
            columns=names("scores family n_of_n_total r r_low_to_r_high r_n n_up n_down share_beyond chance_low "
                          "chance_high share_placebo difference_low difference_high why_not"),
        ),
    ),
    note=N_("RCI = Δ / (SD·√(2(1 − r_tt))), limit ±{limit} (Student's t for the agents of the retest at "
            "{retest_phase}). Where nobody changes, {by_chance} of the agents lie beyond it on average all the same; "
            "by noise: that share if r_tt lay at an end of its interval. Which one of the agents has changed it does "
            "not say."),
)  # fmt: skip

GROUPS, GROUP_TESTS = group_tables(ITEM, N_("Agreement by group, last wave"))
CHANGE_GROUPS, CHANGE_GROUP_TESTS = group_tables(ITEM, N_("Change by group"), about="change")

AGENTS = Table(
    name="agents", title=N_("Change by agent"), key=("participant",), one_agent=True,
    columns=(
        reference("participant", N_("agent"), to="agent"), integer("n_items", N_("pairs")),
        flag("memory", N_("with memory")),
        number("drift_abs", N_("change a statement"), agents=True, means=N_("mean absolute change, scale points")),
        number("drift_signed", N_("change a statement, directed"), agents=True,
            means=N_("mean change of rekeyed answers")),
        number("experience_effect_abs", N_("experience effect a statement"), agents=True),
        number("experience_effect_signed", N_("experience effect a statement, directed"), agents=True),
        share("share_changed", N_("answers changed")),
        number("rci", "RCI", means=N_("reliable change index of all statements")),
    ),
    views=(
        View(at="appendix", where="drift_abs > 0", order=("-drift_abs",), top=10,
             columns=names("participant n_items drift_abs drift_signed share_changed rci")),
        View(at="appendix", where="experience_effect_abs > 0", order=("-experience_effect_abs",), top=10,
             columns=names("participant n_items experience_effect_abs experience_effect_signed share_changed")),
    ),
)  # fmt: skip

COMMENTS = Table(
    name="comments", title=N_("Open comments"), key=("phase", "participant"), one_agent=True,
    columns=(
        PHASE, reference("participant", N_("agent"), to="agent"),
        reference("stakeholder_type", N_("group"), to="group"), text("text", N_("comment")),
        flag("quoted", N_("quoted in the report")),
    ),
    views=(View(at="appendix", where="quoted", by=("phase",), quote="text", who=names("participant stakeholder_type"),
                note=N_("“{comment}” Five a wave, evenly spread; all are in exports/longitudinal/comments.csv.")),),
)  # fmt: skip

FACTS = (
    code("kind", N_("what the difference is"), levels=KINDS), flag("interpretable", N_("change can be interpreted")),
    flag("tested", N_("change is tested")), several("reasons", N_("why not")),
    flag("no_memory", N_("nobody had a memory at T1")), flag("has_placebo", N_("with a placebo arm")),
    flag("own_baseline", N_("the placebo arm has a T0 of its own")), integer("n_placebo", N_("agents with a placebo")),
    flag("too_few"), flag("all_alike", N_("nobody changed an answer")), flag("wants_retest"),
    text("retest_phase", N_("wave of the retest")), share("by_chance", N_("beyond the limit by noise")),
    number("limit", N_("limit of the RCI")), integer("n_items", N_("statements")), text("last_phase", N_("last wave")),
    text("only_phase"), several("points", N_("points of the scale, in words")),
    integer("widest", N_("width of the widest scale")), N, TOTAL, text("comment", N_("open question")),
    integer("n_paired", N_("agents in both waves")), integer("n_only_t0", N_("only at T0")),
    integer("n_only_t1", N_("only at T1")), integer("n_neither", N_("at neither")),
    integer("pairs", N_("pairs of answers")), integer("pairs_total", N_("possible pairs")),
    integer("n_matched", N_("agents of T0 found at T1")), integer("n_lost", N_("lost")), integer("n_new", N_("new")),
    integer("n_changed", N_("with another persona")), integer("n_agents", N_("agents with a pair")),
    integer("n_without_pairs", N_("without a pair")), integer("n_memoryless", N_("without memory")),
    number("memoryless_weight", N_("weight of agents without memory"), digits=1),
    number("mean_abs", N_("mean absolute change, weighted")), number("mean_abs_unweighted", N_("unweighted")),
    number("mean_signed", N_("mean change rekeyed, weighted")), number("mean_signed_unweighted", N_("unweighted")),
    share("share_changed", N_("answers changed, weighted")), share("share_changed_unweighted", N_("unweighted")),
)  # fmt: skip

TEXTS = (
    TextBlock(at="flag", where="kind == 'experience_effect'", says=N_(
        "Longitudinal: nothing happened in the simulation between T0 (the same personas without memory) and T1. "
        "Differences are an experience effect, not drift.")),
    TextBlock(at="flag", where="interpretable == False and no_memory == False",
         says=N_("Longitudinal: the change cannot be interpreted. {reasons}.")),
    TextBlock(at="flag", where="no_memory == True", says=N_(
        "Longitudinal: the change cannot be interpreted. No agent that answered at T1 had a memory.")),
    TextBlock(at="section", word="kind", says={
        "one_wave": N_("{n} of {n_total} agents rated {n_items} statements once; nothing can be said about change. In "
                       "brackets: 95% intervals that hold for all statements together."),
        "drift": N_("{n} of {n_total} agents rated {n_items} statements before (T0) and after (T1) the simulation. In "
                    "brackets: 95% intervals that hold for all statements together."),
        "experience_effect": N_(
            "**Experience effect, not drift.** {n} of {n_total} agents rated {n_items} statements. Nothing happened in "
            "the simulation between T0 and T1: at T0 the same personas answered without any memory. The differences "
            "show what memory changes in the answers; they are not tested unless a neutral memory stands beside them."),
    }),
    TextBlock(at="section", where="interpretable == False and no_memory == False",
         says=N_("**The change cannot be interpreted.** {reasons}.")),
    TextBlock(at="section", where="no_memory == True", says=N_(
        "**The change cannot be interpreted.** No agent that answered at T1 had a memory, so nothing of the simulation "
        "can show in the answers.")),
    TextBlock(at="section", after="changes", where="has_placebo == True", says=N_(
        "{n_placebo} agents were also asked at T1 with a neutral memory. Tested is what goes beyond it.")),
    TextBlock(at="appendix", after="waves", where="n_paired >= 0", says=N_(
        "{n_paired} agents answered in both waves ({n_only_t0} only at T0, {n_only_t1} only at T1, {n_neither} at "
        "neither); {pairs} of {pairs_total} possible pairs of answers are complete.")),
    TextBlock(at="appendix", after="family_changes", where="n_agents > 0", says=N_(
        "An agent changed a statement by {mean_abs_unweighted} points on average (weighted {mean_abs}), directed "
        "{mean_signed_unweighted} ({mean_signed}); {share_changed_unweighted} of the answers changed "
        "({share_changed}). Without memory: {n_memoryless} of {n_agents}, who count {memoryless_weight} in brackets.")),
    TextBlock(at="appendix", after="reliable", where="wants_retest == True", says=N_(
        "Without a retest arm it is not known how far answers vary of themselves: no reliable change index.")),
)  # fmt: skip

FINDINGS = (
    Finding(
        name="drift", table="changes", kind="difference", p="p", within="given", order=("-size",), top=4,
        word="outcome", size="size", estimate="change", low="low", high="high", test="test", items="item",
        chart="drift", scale="-widest, widest",
        says={
            "risen": N_("Agreement with “{item}” rose from {before} to {after} (change {change}, 95% interval {low} "
                        "to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."),
            "fallen": N_("Agreement with “{item}” fell from {before} to {after} (change {change}, 95% interval {low} "
                         "to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("No change of a statement was found between T0 and T1 ({tests} tested, smallest adjusted {p}); "
                "{detectable} points would have been found four times in five (n = {n}/{n_total})."),
    ),
    Finding(
        name="beyond", table="placebo", kind="difference", p="p", within="given", order=("-size",), top=4, size="size",
        estimate="change", low="low", high="high", test="test", items="item", chart="placebo", scale="-widest, widest",
        says=N_("The own memory moved agreement with “{item}” by {change} beyond a neutral one (95% interval {low} "
                "to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."),
        null=N_("No statement is answered otherwise with the own memory than with a neutral one ({tests} tested, "
                "smallest adjusted {p}); {detectable} points would have been found four times in five (n = "
                "{n}/{n_total})."),
    ),
    Finding(
        name="unmoved", where="all_alike == True", kind="null", n="n_paired", chart="answers",
        says=N_("Nobody changed an answer to any of {n_items} statements between T0 and T1 (n = "
                "{n_paired}/{n_total})."),
    ),
    Finding(
        name="too_few", where="too_few == True and all_alike == False", kind="null", n="n_paired", chart="answers",
        says=N_("{n_paired} agents are too few to tell whether a statement changed: had all moved alike, chance "
                "could not be ruled out."),
    ),
    group_finding(
        ITEM,
        N_("“{item}” is judged differently by groups: mean {mean_highest} among {highest}, {mean_lowest} among "
           "{lowest}, on {scale_min}–{scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No statement is judged differently by the groups (smallest adjusted {p}); a difference of "
                "{detectable} points would have been found four times in five (n = {n}/{n_total})."),
        size="(mean_highest - mean_lowest) / @widest", chart="groups",
    ),
    group_finding(
        ITEM,
        N_("Groups changed differently on “{item}”: by {mean_highest} among {highest}, {mean_lowest} among {lowest} "
           "(share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No statement moved differently among the groups (smallest adjusted {p}); a difference of "
                "{detectable} points would have been found four times in five (n = {n}/{n_total})."),
        size="(mean_highest - mean_lowest) / @widest", chart="change_groups", about="change", after="drift",
    ),
    *(
        Finding(
            name=end, table="answers", where=f"place in ('{end}', '{end}_tied')", word="place",
            size="abs(mean - (scale_min + scale_max) / 2) / ((scale_max - scale_min) / 2)", estimate="mean", low="low",
            high="high", items="item", chart="answers", scale="scale_min, scale_max",
            says={end: alone, f"{end}_tied": tied},
        )
        for end, alone, tied in (
            (
                "highest",
                N_("Agreement is strongest with “{item}”: mean {mean} (scale {scale}; 95% interval {low} to {high}; "
                   "n = {n}/{n_total})."),
                N_("Agreement is strongest, as with other statements, with “{item}”: mean {mean} (scale {scale}; 95% "
                   "interval {low} to {high}; n = {n}/{n_total})."),
            ),
            (
                "lowest",
                N_("Agreement is weakest with “{item}”: mean {mean} (scale {scale}; 95% interval {low} to {high}; n "
                   "= {n}/{n_total})."),
                N_("Agreement is weakest, as with other statements, with “{item}”: mean {mean} (scale {scale}; 95% "
                   "interval {low} to {high}; n = {n}/{n_total})."),
            ),
        )
    ),
)  # fmt: skip

CHARTS = (
    Chart(name="drift", title=N_("Longitudinal: means before and after, and change with 95% interval"),
        needs=("changes",),
          draw="enquete.graphs.longitudinal.charts:drift", over=View(at="section", where="n > 0", order=("-change",)),
          alt=N_("Change of {n_items} statements from T0 to T1; largest rise: “{item}”, {change}.")),
    Chart(name="placebo", title=N_("Longitudinal: change beyond a neutral memory, with 95% interval"),
        needs=("placebo",),
          draw="enquete.graphs.longitudinal.charts:placebo", over=View(at="section", where="n > 0", order=("-change",)),
          alt=N_("Change of statements with the own memory less that with a neutral one; highest: {item}, {change}.")),
    Chart(name="answers", title=N_("Longitudinal: all answers by statement and wave"),
        needs=("answers", "distribution"),
          draw="enquete.graphs.longitudinal.charts:answers",
          over=View(at="section", where="phase == @last_phase and n > 0", order=("-mean",)),
          alt=N_("Answers to {n_items} statements; highest mean: “{item}”, {mean}, {agreeing} agree.")),
    *(
        Chart(name=name, title=title, needs=(name,), draw=f"enquete.graphs.longitudinal.charts:{name}", alt=alt,
              over=View(at="section", order=("-mean",)))
        for name, title, alt in (
            ("groups", N_("Longitudinal: mean agreement by statement and group, last wave"),
             N_("Means of {n_items} statements by group; highest: “{item}” in {group}, {mean}.")),
            ("change_groups", N_("Longitudinal: mean change by statement and group"),
             N_("Change of {n_items} statements by group; largest rise: “{item}” in {group}, {mean}.")),
        )
    ),
)  # fmt: skip

GLOSSARY = {
    N_("drift"): N_("change of the same agents' answers to a statement from T0 to T1"),
    N_("experience effect"): N_(
        "the same difference where T0 was asked of personas without any memory; it is not drift"
    ),
    N_("as worded, rekeyed"): N_(
        "agreement with the statement as it stands; turned round where it is keyed against its family"
    ),
    N_("family"): N_("statements on one subject, whose rekeyed answers are averaged"),
}

PRESENTATION = Presentation(
    tables=(ITEMS, FAMILIES, WAVES, CHANGES, PLACEBO, ANSWERS, DISTRIBUTION, GROUP_TESTS, GROUPS, CHANGE_GROUP_TESTS,
            CHANGE_GROUPS, FAMILY_CHANGES, RELIABLE, AGENTS, COMMENTS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
)  # fmt: skip
