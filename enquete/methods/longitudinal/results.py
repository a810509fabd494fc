"""What the waves give (reports/evaluation.py): statements with their change, where agents stand, groups, agents, and
what is read of them where.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from enquete.analysis.change import (
    delta_matrix,
    drift_per_agent,
    holm,
    population_drift,
    wilcoxon,
)
from enquete.analysis.coherence import answer_stability
from enquete.analysis.inference import ALPHA, detectable_change, max_t, selected_intervals, shrink_sd
from enquete.analysis.panel import frequencies
from enquete.analysis.probes import negative_control, placebo_exposure
from enquete.analysis.quality import direction_flips, zero_drift
from enquete.analysis.sign_flips import MeanChange, mean_change
from enquete.instruments.scales import Scale
from enquete.locale import N_
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.reports import context as reading
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext, Files, ItemFacts, answering, chosen, responded
from enquete.reports.evaluation import Evaluation
from enquete.reports.findings import FEWEST
from enquete.reports.health_checks import (
    PLACEBO,
    Arms,
    Humans,
    Made,
    answers,
    any_other,
    checkable,
    closed,
    each,
    missing,
    occasion,
    repeated,
)
from enquete.reports.writing import lines
from enquete.state.asking import Language

# --- Tables, and what is read of them where --------------------------------------------------------------------------

KINDS = {"drift": N_("drift"), "experience_effect": N_("experience effect"), "one_wave": N_("one wave")}
OUTCOMES = {
    "risen": N_("risen"), "fallen": N_("fallen"), "unmoved": N_("no change found"), "untested": N_("not tested"),
}  # fmt: skip
PLACES = {
    "highest": N_("highest"), "highest_tied": N_("highest, shared"), "lowest": N_("lowest"),
    "lowest_tied": N_("lowest, shared"), "most_agreement": N_("strongest agreement"),
    "most_agreement_tied": N_("strongest agreement, shared"), "least_agreement": N_("weakest agreement"),
    "least_agreement_tied": N_("weakest agreement, shared"),
}  # fmt: skip

ITEM = d.reference("item", N_("Statement"), to="items")
FAMILY = d.reference("family", N_("Family"), to="families")
PHASE = d.text("phase", N_("Wave"))
N, TOTAL, N_OF = d.integer("n", "n"), d.integer("n_total", "N"), d.of("n", "n_total", "n / N")
PAIRS = d.of("n", "n_total", N_("pairs / agents"))
SCALE = d.text("scale", N_("scale"))
SCALE_PLACE = d.integer("scale_place", N_("place of the scale"),
    means=N_("1: the scale that most statements are on; statements are ranked within their scale alone"))  # fmt: skip
MEASURES = {"agreement": N_("Agreement with"), "answer": N_("The mean answer to")}
MEASURE = d.code("measure", N_("measured"), levels=MEASURES,
    means=N_("agreement where the ends of the scale say so, else what the scale says"))  # fmt: skip
LOW = d.number("low", N_("lower bound"), means=N_("95% interval that holds for whichever row is singled out of all"))
HIGH, ENDS = d.number("high", N_("upper bound"), means=LOW.means), d.interval("low", "high", "95%")
TESTED = (
    d.p_value("p", means=N_("max-T over sign flips of agents, corrected over all statements")), d.adjusted_p(),
    d.text("test", N_("test")),
    *d.detectable(N_("mean change that would be found four times in five")),
)  # fmt: skip

ITEMS = d.Table(
    name="items", title=N_("Statements"), key=("item",), label="wording",
    columns=(
        d.text("item", N_("id")), d.text("wording", N_("Statement")), FAMILY,
        d.flag("reverse_keyed", N_("keyed against its family")), d.flag("control", N_("control")),
        d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")),
    ),
)  # fmt: skip
FAMILIES = d.Table(
    name="families", title=N_("Families of statements"), key=("family",), label="label",
    columns=(d.text("family", N_("id")), d.text("label", N_("Family")), d.integer("n_items", N_("statements"))),
)  # fmt: skip

WAVES_TABLE = d.Table(
    name="waves", title=N_("Waves"), key=("phase",),
    columns=(
        PHASE, d.integer("n_answers", N_("answers")), d.integer("n_planned", N_("planned answers")), N, TOTAL,
        d.of("n_answers", "n_planned", N_("answers / planned")), d.of("n", "n_total", N_("agents / all")),
        d.integer("n_with_memory", N_("with memory")),
    ),
    views=(d.View(at="appendix", columns=d.names("phase n_answers_of_n_planned n_of_n_total n_with_memory")),),
)  # fmt: skip

CHANGES = d.Table(
    name="changes", title=N_("Change from T0 to T1, by statement"), key=("item",),
    columns=(
        ITEM, SCALE, SCALE_PLACE, MEASURE,
        d.share("size", N_("of the scale"), means=N_("size of the change, a share of the scale's width")), N,
        TOTAL, PAIRS, d.integer("n_changed", N_("changed")),
        d.number("before", "T0", means=N_("mean of those who answered both times")),
        d.number("after", "T1", means=N_("the same at T1")),
        d.number("change", "T1 − T0", means=N_("mean change as worded, in scale points")), d.number("sd", "SD"), LOW,
        HIGH,
        ENDS,
        d.code("outcome", N_("outcome"), levels=OUTCOMES, replicates=True,
            unless_sure={"risen": "unmoved", "fallen": "unmoved"},
            means=N_("by the adjusted p, as on page one; not tested where a neutral memory is, see there")),
        *TESTED,
        d.number("alone_low", N_("lower bound, alone"), means=N_("95% interval of this statement alone, by the test "
                                                                 "beside it")),
        d.number("alone_high", N_("upper bound, alone")), d.interval("alone_low", "alone_high", N_("95%, alone")),
        d.p_value("p_alone", N_("p, alone"), means=N_("sign flips of the mean change of this statement alone")),
        d.number("rank_biserial", N_("rank-biserial r")), d.p_value("p_holm", "p (Holm)"),
    ),
    views=(
        d.View(at="section", heading="", where="@tested == True", order=("p",), top=20,
             columns=d.names("item n before after change low_to_high p_adjusted")),
        d.View(at="section", heading="", where="@tested == False", top=20,
             columns=d.names("item n_of_n_total before after change")),
        d.View(at="appendix", heading=N_("Each statement alone"), where="@tested == True",
             columns=d.names("item n_changed change alone_low_to_alone_high rank_biserial p_alone p_holm detectable")),
        d.View(at="digest", order=("p",), top=20,
            columns=d.names("item n before after change low high outcome p_adjusted")),
    ),
    note=N_("Alone: the mean change with the interval of the sign-flip test beside it, so that the interval leaves 0 "
            "out where p < .05; Holm over the statements. p: max-T, which the report corrects further."),
)  # fmt: skip

PLACEBO_CHANGES = d.Table(
    name="placebo", title=N_("Change beyond a neutral memory"), key=("item",),
    columns=(
        ITEM, SCALE, SCALE_PLACE, MEASURE,
        d.share("size", N_("of the scale"), means=N_("size of the change, a share of the scale's width")), N,
        TOTAL, PAIRS, d.integer("n_changed", N_("differ")),
        d.number("main", N_("own memory"), means=N_("mean change, as worded")),
        d.number("placebo", N_("neutral memory")),
        d.number("change", N_("difference")), d.number("sd", "SD"), LOW, HIGH, ENDS, *TESTED,
    ),
    views=(
        d.View(at="section", order=("p",), top=20,
             columns=d.names("item n_of_n_total main placebo change low_to_high p_adjusted")),
        d.View(at="digest", order=("p",), top=20, columns=d.names("item n main placebo change low high p_adjusted")),
    ),
)  # fmt: skip

ANSWERS = d.Table(
    name="answers", title=N_("Answers by statement and wave"), key=("item", "phase"),
    columns=(
        ITEM, PHASE, SCALE, SCALE_PLACE, d.integer("n_on_scale", N_("statements on the scale")),
        d.integer("scale_min", N_("scale from")), d.integer("scale_max", N_("scale to")), N, TOTAL,
        N_OF, d.number("mean", N_("mean")), LOW, HIGH, ENDS, d.number("median", N_("median"), digits=1),
        d.number("sd", "SD"),
        d.share("agreeing", "{above}", means=N_("answers above the middle of the scale")),
        d.number("confidence", N_("confidence"), means=N_("mean, 0 to 1, as agents say")),
        d.code("place", N_("place"), levels=PLACES,
            means=N_("of the last wave, among statements on the commonest scale")),
    ),
    views=(
        d.View(at="section", heading="", where="phase == @only_phase", top=20,
             columns=d.names("item n_of_n_total mean low_to_high median agreeing")),
        d.View(at="appendix", where="@only_phase != phase",
             spread=d.Spread(column="phase", rows=("item",), cells=d.names("mean low_to_high sd agreeing"))),
        d.View(at="digest", where="phase == @only_phase", top=20,
            columns=d.names("item n mean low high agreeing")),
    ),
    note=N_("As answered, not rekeyed. {above}: answers above the middle of the scale."),
)  # fmt: skip

DISTRIBUTION = d.Table(
    name="distribution", title=N_("Distribution of the answers"), key=("item", "phase", "value"),
    columns=(ITEM, PHASE, d.integer("value", N_("answer")), d.integer("n", N_("agents")),
        d.share("share", N_("share"))),
)  # fmt: skip

FAMILY_CHANGES = d.Table(
    name="family_changes", title=N_("Change by family"), key=("family",),
    columns=(
        FAMILY, N, TOTAL, PAIRS,
        d.number("mean", N_("mean change"), means=N_("of agents' means over the family, rekeyed")),
        d.number("weighted", N_("weighted"), means=N_("agents without memory count {memoryless_weight}")),
        d.number("low", N_("lower bound"), means=N_("95% interval of this family alone, by the test beside it")),
        d.number("high", N_("upper bound")), ENDS, d.p_value("p", means=N_("sign flips of the mean change")),
        d.p_value("p_holm", "p (Holm)"),
    ),
    views=(d.View(at="appendix", columns=d.names("family mean low_to_high weighted p p_holm")),),
    note=N_("Rekeyed; an agent counts once. Weighted: agents without memory count {memoryless_weight}."),
)  # fmt: skip

GROUPS, GROUP_TESTS = d.group_tables(ITEM, N_("Answers by group, last wave"))
CHANGE_GROUPS, CHANGE_GROUP_TESTS = d.group_tables(ITEM, N_("Change by group"), about="change")

AGENTS = d.Table(
    name="agents", title=N_("Change by agent"), key=("participant",), one_agent=True,
    columns=(
        d.reference("participant", N_("agent"), to="agent"), d.integer("n_items", N_("pairs")),
        d.flag("memory", N_("with memory")),
        d.number("drift_abs", N_("change a statement"), agents=True, means=N_("mean absolute change, scale points")),
        d.number("drift_signed", N_("change a statement, directed"), agents=True,
            means=N_("mean change of rekeyed answers")),
        d.number("experience_effect_abs", N_("experience effect a statement"), agents=True),
        d.number("experience_effect_signed", N_("experience effect a statement, directed"), agents=True),
        d.share("share_changed", N_("answers changed")),
    ),
    views=(
        d.View(at="appendix", where="drift_abs > 0", order=("-drift_abs",), top=10,
             columns=d.names("participant n_items drift_abs drift_signed share_changed")),
        d.View(at="appendix", where="experience_effect_abs > 0", order=("-experience_effect_abs",), top=10,
             columns=d.names("participant n_items experience_effect_abs experience_effect_signed share_changed")),
    ),
)  # fmt: skip

COMMENTS = d.Table(
    name="comments", title=N_("Open comments"), key=("phase", "participant"), one_agent=True,
    columns=(
        PHASE, d.reference("participant", N_("agent"), to="agent"),
        d.STAKEHOLDER_TYPE, d.text("text", N_("comment")),
        d.flag("quoted", N_("quoted in the report")),
    ),
    views=(d.View(at="appendix", where="quoted", by=("phase",), quote="text",
        who=d.names("participant stakeholder_type"),
                note=N_("“{comment}” Five a wave, evenly spread; all are in exports/longitudinal/comments.csv.")),),
)  # fmt: skip

FACTS = (
    d.code("kind", N_("what the difference is"), levels=KINDS),
    d.code("design", "", levels={**KINDS, "experience_without_memory": N_("no memory in either wave")}),
    d.flag("interpretable", N_("change can be interpreted")),
    d.flag("tested", N_("change is tested")), d.several("reasons", N_("why not")),
    d.flag("no_memory", N_("nobody had a memory at T1")), d.flag("has_placebo", N_("with a placebo arm")),
    d.flag("own_baseline", N_("the placebo arm has a T0 of its own")),
    d.integer("n_placebo", N_("agents with a placebo")),
    d.flag("too_few"), d.flag("all_alike", N_("nobody changed an answer")),
    d.integer("n_items", N_("statements")),
    d.text("last_phase", N_("last wave")),
    d.text("only_phase"), d.code("above", "", levels={"agree": N_("agree"), "above": N_("above the middle")}),
    d.several("points", N_("points of the scale, in words")),
    d.integer("widest", N_("width of the widest scale")), N, TOTAL, d.text("comment", N_("open question")),
    d.integer("n_paired", N_("agents in both waves")), d.integer("n_only_t0", N_("only at T0")),
    d.integer("n_only_t1", N_("only at T1")), d.integer("n_neither", N_("at neither")),
    d.integer("pairs", N_("pairs of answers")), d.integer("pairs_total", N_("possible pairs")),
    d.integer("n_matched", N_("agents of T0 found at T1")), d.integer("n_lost", N_("lost")),
    d.integer("n_new", N_("new")),
    d.integer("n_changed", N_("with another persona")), d.integer("n_agents", N_("agents with a pair")),
    d.integer("n_without_pairs", N_("without a pair")), d.integer("n_memoryless", N_("without memory")),
    d.number("memoryless_weight", N_("weight of agents without memory"), digits=1),
    d.number("mean_abs", N_("mean absolute change, weighted")), d.number("mean_abs_unweighted", N_("unweighted")),
    d.number("mean_signed", N_("mean change rekeyed, weighted")), d.number("mean_signed_unweighted", N_("unweighted")),
    d.share("share_changed", N_("answers changed, weighted")), d.share("share_changed_unweighted", N_("unweighted")),
)  # fmt: skip

TEXTS = (
    d.TextBlock(at="flag", where="kind == 'experience_effect'", says=N_(
        "Longitudinal: nothing happened in the simulation between T0 (the same personas without memory) and T1. "
        "Differences are an experience effect, not drift.")),
    d.TextBlock(at="flag", where="interpretable == False and no_memory == False",
         says=N_("Longitudinal: the change cannot be interpreted. {reasons}.")),
    d.TextBlock(at="flag", where="no_memory == True", says=N_(
        "Longitudinal: the change cannot be interpreted. No agent that answered at T1 had a memory.")),
    d.TextBlock(at="section", word="design", says={
        "one_wave": N_("{n} of {n_total} agents rated {n_items} statements once; nothing can be said about change. In "
                       "brackets: 95% intervals that hold for all statements together."),
        "drift": N_("{n} of {n_total} agents rated {n_items} statements before (T0) and after (T1) the simulation. In "
                    "brackets: 95% intervals that hold for all statements together."),
        "experience_without_memory": N_(
            "**Experience effect, not drift.** {n} of {n_total} agents rated {n_items} statements. Nothing happened in "
            "the simulation between T0 and T1, and at T1 no agent had a memory either: what differs is the noise of "
            "asking the same personas twice."),
        "experience_effect": N_(
            "**Experience effect, not drift.** {n} of {n_total} agents rated {n_items} statements. Nothing happened in "
            "the simulation between T0 and T1: at T0 the same personas answered without any memory. The differences "
            "show what memory changes in the answers; they are not tested unless a neutral memory stands beside them."),
    }),
    d.TextBlock(at="section", where="interpretable == False and no_memory == False",
         says=N_("**The change cannot be interpreted.** {reasons}.")),
    d.TextBlock(at="section", where="no_memory == True", says=N_(
        "**The change cannot be interpreted.** No agent that answered at T1 had a memory, so nothing of the simulation "
        "can show in the answers.")),
    d.TextBlock(at="section", after="changes", where="has_placebo == True", says=N_(
        "{n_placebo} agents were also asked at T1 with a neutral memory. Tested is what goes beyond it.")),
    d.TextBlock(at="appendix", after="waves", where="n_paired >= 0", says=N_(
        "{n_paired} agents answered in both waves ({n_only_t0} only at T0, {n_only_t1} only at T1, {n_neither} at "
        "neither); {pairs} of {pairs_total} possible pairs of answers are complete.")),
    d.TextBlock(at="appendix", after="family_changes", where="n_agents > 0", says=N_(
        "An agent changed a statement by {mean_abs_unweighted} points on average (weighted {mean_abs}), directed "
        "{mean_signed_unweighted} ({mean_signed}); {share_changed_unweighted} of the answers changed "
        "({share_changed}). Without memory: {n_memoryless} of {n_agents}, who count {memoryless_weight} in brackets.")),
)  # fmt: skip

FINDINGS = (
    d.Finding(
        name="drift", table="changes", kind="difference", p="p", within="given", order=("-size",), top=4,
        word="outcome", size="size", estimate="change", low="low", high="high", test="test", items="item",
        chart="drift", scale="-widest, widest", simultaneous=True,
        says={
            "risen": N_("{measure} “{item}” rose from a mean of {before} to {after} (change {change}, simultaneous "
                        "95% interval {low} to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."),
            "fallen": N_("{measure} “{item}” fell from a mean of {before} to {after} (change {change}, simultaneous "
                         "95% interval {low} to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("No change of a statement was found between T0 and T1 ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
    ),
    d.Finding(
        name="beyond", table="placebo", kind="difference", p="p", within="given", order=("-size",), top=4, size="size",
        estimate="change", low="low", high="high", test="test", items="item", chart="placebo", scale="-widest, widest",
        simultaneous=True,
        says=N_("{measure} “{item}” changed by {change} points more with the agents' own memories than with neutral "
                "ones (simultaneous 95% interval {low} to {high}; scale {scale}; adjusted {p}; n = {n}/{n_total})."),
        null=N_("No statement is answered otherwise with the own memory than with a neutral one ({tests} tested, "
                "smallest adjusted {p}; n = {n}/{n_total}); {power}."),
    ),
    d.Finding(
        name="unmoved", where="all_alike == True", kind="null", n="n_paired", chart="answers",
        says=N_("Nobody changed an answer to any of {n_items} statements between T0 and T1 (n = "
                "{n_paired}/{n_total})."),
    ),
    d.Finding(
        name="too_few", where="too_few == True and all_alike == False", kind="null", n="n_paired", chart="answers",
        says=N_("{n_paired} agents are too few to tell whether a statement changed: had all moved alike, chance "
                "could not be ruled out."),
    ),
    d.group_finding(
        ITEM,
        N_("“{item}” is judged differently by groups: mean {mean_highest} among {highest}, {mean_lowest} among "
           "{lowest}, on {scale_min}–{scale_max} (share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No statement is judged differently by the groups ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="(mean_highest - mean_lowest) / @widest", chart="groups",
    ),
    d.group_finding(
        ITEM,
        N_("Groups changed differently on “{item}”: by {mean_highest} among {highest}, {mean_lowest} among {lowest} "
           "(share of variance {effect}, adjusted {p}; n = {n}/{n_total})."),
        null=N_("No statement moved differently among the groups ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="(mean_highest - mean_lowest) / @widest", chart="change_groups", about="change", after="drift",
    ),
    *(
        d.Finding(
            name=end, table="answers", word="place",
            where=f"place in ('{end}', '{end}_tied', '{agreement}', '{agreement}_tied')",
            size="abs(mean - (scale_min + scale_max) / 2) / ((scale_max - scale_min) / 2)", estimate="mean", low="low",
            high="high", items="item", chart="answers", scale="scale_min, scale_max", simultaneous=True,
            says={end: alone, f"{end}_tied": tied, agreement: agreed, f"{agreement}_tied": agreed_tied},
        )
        for end, alone, tied, agreement, agreed, agreed_tied in (
            (
                "highest",
                N_("Highest mean of {n_on_scale} statements on {scale}: “{item}”, {mean} (simultaneous 95% interval "
                   "{low} to {high}; n = {n}/{n_total})."),
                N_("Highest mean of {n_on_scale} statements on {scale}, shared with others: “{item}”, {mean} "
                   "(simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."),
                "most_agreement",
                N_("Of {n_on_scale} statements on {scale}, agreement is strongest with “{item}”: mean {mean} "
                   "(simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."),
                N_("Of {n_on_scale} statements on {scale}, agreement is strongest, as with others, with “{item}”: mean "
                   "{mean} (simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."),
            ),
            (
                "lowest",
                N_("Lowest mean of {n_on_scale} statements on {scale}: “{item}”, {mean} (simultaneous 95% interval "
                   "{low} to {high}; n = {n}/{n_total})."),
                N_("Lowest mean of {n_on_scale} statements on {scale}, shared with others: “{item}”, {mean} "
                   "(simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."),
                "least_agreement",
                N_("Of {n_on_scale} statements on {scale}, agreement is weakest with “{item}”: mean {mean} "
                   "(simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."),
                N_("Of {n_on_scale} statements on {scale}, agreement is weakest, as with others, with “{item}”: mean "
                   "{mean} (simultaneous 95% interval {low} to {high}; n = {n}/{n_total})."),
            ),
        )
    ),
)  # fmt: skip

CHARTS = (
    d.Chart(name="drift", title=N_("Longitudinal: means before and after, and change with 95% interval"),
        needs=("changes",),
          draw="enquete.methods.longitudinal.charts:drift",
          over=d.View(at="section", where="n > 0", order=("scale_place", "-change")),
          alt=N_("Change of {n_items} statements from T0 to T1; largest rise on {scale}: “{item}”, {change}.")),
    d.Chart(name="placebo", title=N_("Longitudinal: change beyond a neutral memory, with 95% interval"),
        needs=("placebo",),
          draw="enquete.methods.longitudinal.charts:placebo",
          over=d.View(at="section", where="n > 0", order=("scale_place", "-change")),
          alt=N_("Change of statements with the own memory less that with a neutral one; highest on {scale}: {item}, "
                 "{change}.")),
    d.Chart(name="answers", title=N_("Longitudinal: all answers by statement and wave"),
        needs=("answers", "distribution"),
          draw="enquete.methods.longitudinal.charts:answers",
          over=d.View(at="section", where="phase == @last_phase and n > 0", order=("scale_place", "-mean")),
          alt=N_("Answers to {n_items} statements; highest mean on {scale}: “{item}”, {mean}, {agreeing} {above}.")),
    *(
        d.Chart(name=name, title=title, needs=(name,), draw=f"enquete.methods.longitudinal.charts:{name}", alt=alt,
              over=d.View(at="section", order=("item",)))
        for name, title, alt in (
            ("groups", N_("Longitudinal: mean answer by statement and group, last wave"),
             N_("Means of {n_items} statements by group; first: “{item}” in {group}, {mean}.")),
            ("change_groups", N_("Longitudinal: mean change by statement and group"),
             N_("Change of {n_items} statements by group; first: “{item}” in {group}, {mean}.")),
        )
    ),
)  # fmt: skip

GLOSSARY = {
    N_("drift"): N_("change of the same agents' answers to a statement from T0 to T1"),
    N_("experience effect"): N_(
        "the same difference where T0 was asked of personas without any memory; it is not drift"
    ),
    N_("as worded, rekeyed"): N_(
        "the answer to the statement as it stands; turned round where it is keyed against its family"
    ),
    N_("family"): N_("statements on one subject, whose rekeyed answers are averaged"),
}

PRESENTATION = d.Presentation(
    tables=(ITEMS, FAMILIES, WAVES_TABLE, CHANGES, PLACEBO_CHANGES, ANSWERS, DISTRIBUTION, GROUP_TESTS, GROUPS,
            CHANGE_GROUP_TESTS, CHANGE_GROUPS, FAMILY_CHANGES, AGENTS, COMMENTS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
)  # fmt: skip


# --- What moved between T0 and T1: statements, families, groups and agents; and where the agents stand in each wave ---
# Only a T0 that was measured before the simulation gives drift. A reconstructed T0 gives an experience effect: the same
# estimates without tests and intervals. With a placebo arm, what is tested is the change beyond the one that a neutral
# memory brings. Statements stand as they are worded; families and agents on rekeyed values. Every estimate stands
# beside its n.

WAVES = ("T0", "T1")
"""Id of the probe arm that asks the same again with nothing in between."""
LISTED = 5
"""Comments of a wave that are quoted, evenly spread over the population."""
FEWEST_PAIRS = 7
"""Below, no change can be significant: all of one sign, p = 2/2⁶ in a family of three on the page is .09."""


def analyse(
    frame: pd.DataFrame, instrument: LongitudinalInstrument, settings: object, context: AnalysisContext
) -> d.Analysis:
    """Tables over one or two waves.

    Rows of an arm whose role is "placebo" may stand in the frame: they are read for the change beyond a placebo alone.
    Every other row counts as the main arm's.
    """
    placebo = frame["arm_role"].eq("placebo")
    main = chosen(frame, ~placebo)
    rows = {wave: part for wave in WAVES if len(part := chosen(main, main["phase"].eq(wave)))}
    values = {wave: wide(part, instrument, "value") for wave, part in rows.items()}
    last = list(rows)[-1]
    groups = context.groups_of(main)
    ends = {item: (scale.min, scale.max) for item in _ids(instrument) for scale in [instrument.scale_of(item)]}
    on = Scales.of(instrument, context.language)
    answers = [row for wave in rows for row in _answers(wave, rows[wave], values[wave], on, wave == last)]
    tables: dict[str, Any] = {
        "items": _items(instrument, context), "families": _families(instrument, context), "answers": answers,
        "waves": [_wave(wave, part) for wave, part in rows.items()], "comments": _comments(rows, instrument),
        "distribution": [row for wave in rows for row in _distribution(wave, values[wave], instrument)],
        **d.compared(values[last], groups, "item", ends=ends),
    }  # fmt: skip
    facts: d.Row = {
        **_points(instrument, context), "kind": "one_wave", "above": _word_above(instrument),
        "n_items": len(instrument.items), "last_phase": last,
        "only_phase": last if len(rows) == 1 else None, "widest": max(high - low for low, high in ends.values()),
        "n": next(row["n"] for row in tables["waves"] if row["phase"] == last), "n_total": len(values[last]),
        "comment": instrument.comment.wording.in_(context.language) if instrument.comment else None, "reasons": [],
        "tested": False, "has_placebo": False, **_joined_populations(context),
    }  # fmt: skip
    if len(rows) == len(WAVES):
        design = Design(Change.between(rows["T0"], rows["T1"], instrument), instrument, context, rows["T1"], on)
        more, known = design.results(chosen(frame, placebo), groups)
        tables |= more
        facts |= known
    without_memory = facts["kind"] == "experience_effect" and facts.get("no_memory")
    facts["design"] = "experience_without_memory" if without_memory else facts["kind"]
    return d.shaped(PRESENTATION, tables, facts)


def wide(rows: pd.DataFrame, instrument: LongitudinalInstrument, column: str) -> pd.DataFrame:
    """Participants in the population's order × items in the instrument's; NaN where there is no answer."""
    return reading.wide(rows, _ids(instrument), column=column)


def _points(instrument: LongitudinalInstrument, context: AnalysisContext) -> d.Row:
    """What the points of the scale are called, where all statements are on one."""
    first, *others = (instrument.scale_of(item) for item in _ids(instrument))
    if any(other != first for other in others):
        return {}
    return {"points": [f"{point.value} {point.label}".rstrip() for point in first.options(context.language)]}


def _word_above(instrument: LongitudinalInstrument) -> str:
    """What an answer above the middle is called: it agrees only where all scales are of agreement."""
    scales = (instrument.scale_of(item) for item in _ids(instrument))
    return "agree" if all(scale.measures_agreement for scale in scales) else "above"


@dataclass(frozen=True)
class Scales:
    """The scale of every statement, what it is called, and the different ones, the commonest first."""

    scales: Mapping[str, Scale]
    names: Mapping[str, str]
    order: tuple[str, ...]

    @classmethod
    def of(cls, instrument: LongitudinalInstrument, language: Language) -> Scales:
        """“1–5”; two scales of the same points are told apart by the words at their ends."""
        scales = {item: instrument.scale_of(item) for item in _ids(instrument)}
        spans = {item: f"{scale.min}–{scale.max}" for item, scale in scales.items()}
        names = {}
        for item, scale in scales.items():
            others = (other for name, other in scales.items() if spans[name] == spans[item])
            ends = " … ".join(scale.labels[end].in_(language) for end in (scale.min, scale.max))
            names[item] = f"{spans[item]}, {ends}" if any(other != scale for other in others) else spans[item]
        counted = Counter(names.values())
        return cls(scales, names, tuple(name for name, _ in counted.most_common()))

    @property
    def commonest(self) -> Scale:
        return next(scale for item, scale in self.scales.items() if self.names[item] == self.order[0])

    def place(self, item: str) -> int:
        return self.order.index(self.names[item]) + 1

    def size(self, item: str) -> int:
        """How many statements are on the scale of this one."""
        return sum(name == self.names[item] for name in self.names.values())

    def about(self, item: str) -> d.Row:
        measure = "agreement" if self.scales[item].measures_agreement else "answer"
        return {"scale": self.names[item], "scale_place": self.place(item), "measure": measure}


def _ids(instrument: LongitudinalInstrument) -> list[str]:
    return [item.item_id for item in instrument.items]


# --- what was asked and answered -------------------------------------------------------------------------------------


def _items(instrument: LongitudinalInstrument, context: AnalysisContext) -> Iterator[d.Row]:
    for item in instrument.items:
        scale = instrument.scale_of(item.item_id)
        yield {
            "item": item.item_id, "wording": item.wording.in_(context.language), "family": item.family,
            "reverse_keyed": item.reverse_coded, "control": item.control, "scale_min": scale.min,
            "scale_max": scale.max,
        }  # fmt: skip


def _families(instrument: LongitudinalInstrument, context: AnalysisContext) -> Iterator[d.Row]:
    for family, items in members(instrument).items():
        label = instrument.families[family].label.in_(context.language)
        yield {"family": family, "label": label, "n_items": len(items)}


def members(instrument: LongitudinalInstrument) -> dict[str, list[str]]:
    """Item ids of every family, in the instrument's order."""
    return {
        family: [item.item_id for item in instrument.items if item.family == family] for family in instrument.families
    }


def _wave(wave: str, rows: pd.DataFrame) -> d.Row:
    known = answering(rows)
    return {
        "phase": wave, "n_answers": known["n_responded"], "n_planned": known["n_total"], "n": known["agents_responded"],
        "n_total": known["agents_total"], "n_with_memory": rows.loc[rows["memory_available"], "participant"].nunique(),
    }  # fmt: skip


def _answers(wave: str, rows: pd.DataFrame, values: pd.DataFrame, on: Scales, is_last: bool) -> list[d.Row]:
    """As answered. Intervals hold for whichever statement is singled out; places are those of the last wave, among the
    statements on the commonest scale."""
    scales = on.scales
    n, means, sds = values.notna().sum(), values.mean(), values.std()
    bounds = selected_intervals(n, means, sds)
    confidence = rows.groupby("item_id")["confidence"].mean()
    ranked = [item for item in scales if on.place(item) == 1 and n[item] >= FEWEST]
    places = _places(means[ranked], of_agreement=on.commonest.measures_agreement) if is_last else {}
    answers = []
    for place, (item, scale) in enumerate(scales.items()):
        ratings = values[item].dropna()
        low, high = bounds.loc[place, ["low", "high"]].clip(scale.min, scale.max)
        answers.append({
            "item": item, "phase": wave, "scale": on.names[item], "scale_place": on.place(item),
            "n_on_scale": on.size(item), "scale_min": scale.min, "scale_max": scale.max,
            "n": n[item], "n_total": len(values), "mean": means[item], "low": low, "high": high,
            "median": ratings.median(), "sd": sds[item], "agreeing": ratings.gt((scale.min + scale.max) / 2).mean(),
            "confidence": confidence.get(item), "place": places.get(item),
        })  # fmt: skip
    return answers


def _places(means: pd.Series[float], *, of_agreement: bool) -> dict[str, str]:
    """Which statements have the highest and the lowest mean, or the strongest and weakest agreement; ties are named as
    ties. {} where all are alike."""
    rounded = means.dropna().round(9)
    if rounded.nunique() < 2:
        return {}
    most, least = ("most_agreement", "least_agreement") if of_agreement else ("highest", "lowest")
    ends = {most: rounded.index[rounded.eq(rounded.max())], least: rounded.index[rounded.eq(rounded.min())]}
    return {str(item): name if len(items) == 1 else f"{name}_tied" for name, items in ends.items() for item in items}


def _distribution(wave: str, values: pd.DataFrame, instrument: LongitudinalInstrument) -> Iterator[d.Row]:
    for item in _ids(instrument):
        scale, ratings = instrument.scale_of(item), values[item].dropna().to_numpy(dtype=float)
        for value, n in zip(scale.points, frequencies(ratings, scale.min, scale.max).tolist(), strict=True):
            share = n / ratings.size if ratings.size else None
            yield {"item": item, "phase": wave, "value": value, "n": n, "share": share}


def _comments(rows: Mapping[str, pd.DataFrame], instrument: LongitudinalInstrument) -> Iterator[d.Row]:
    """In the population's order; those that are quoted evenly spread over it."""
    for wave, part in rows.items() if instrument.comment else ():
        comments = responded(part[part["item_id"].eq(instrument.comment.item_id)])  # type: ignore[union-attr]
        step = max(1, -(-len(comments) // LISTED))
        columns = (comments[name] for name in ("participant", "stakeholder_type", "text"))
        for place, (who, kind, comment) in enumerate(zip(*columns, strict=True)):
            about = {"phase": wave, "participant": who, "stakeholder_type": kind}
            yield {**about, "text": comment, "quoted": place % step == 0}


def _joined_populations(context: AnalysisContext) -> d.Row:
    """How the agents of T1 were joined to those of T0."""
    known = {f"n_{key}": context.pairing.get(key) for key in ("matched", "lost", "new", "changed")}
    return {key: len(agents) if isinstance(agents, list) else agents for key, agents in known.items()}


# --- change ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Change:
    """Both waves; participants × items, NaN where missing. Series are by participant."""

    raw: Mapping[str, pd.DataFrame]
    delta: pd.DataFrame  # T1 − T0 as worded, in the population's order
    turned: pd.DataFrame  # the same, rekeyed
    memory: pd.Series[bool]  # at T1

    @classmethod
    def between(cls, first: pd.DataFrame, second: pd.DataFrame, instrument: LongitudinalInstrument) -> Change:
        """first, second: the rows of T0 and T1."""
        rows = dict(zip(WAVES, (first, second), strict=True))
        raw, rekeyed = (
            {wave: wide(rows[wave], instrument, column) for wave in WAVES} for column in ("value", "value_rekeyed")
        )
        people = pd.concat([second, first])["participant"].unique()
        memory = second.drop_duplicates("participant").set_index("participant")["memory_available"]
        worded, turned = (delta_matrix(values["T0"], values["T1"]).reindex(people) for values in (raw, rekeyed))
        return cls(raw, worded, turned, memory)


@dataclass(frozen=True)
class Design:
    """What the two waves can show, and the tables of it."""

    change: Change
    instrument: LongitudinalInstrument
    context: AnalysisContext
    after: pd.DataFrame  # rows of T1
    on: Scales

    def results(self, placebo: pd.DataFrame, groups: pd.Series[str]) -> tuple[dict[str, Any], d.Row]:
        """Nothing inferential where it would claim what the design cannot show.

        Against a placebo that starts from the same T0, T0 cancels out: what is compared is T1 with the own and with a
        neutral memory, which a reconstructed T0 does not spoil.
        """
        answered = self.after[self.after["value"].notna()]
        no_memory = bool(len(answered)) and not answered["memory_available"].any()
        kind = "experience_effect" if self.context.baseline == "reconstructed" else "drift"
        reasons = list(self.context.incomparable)
        interpretable = not (reasons or no_memory)
        tested = kind == "drift" and interpretable
        beside = Placebo.of(placebo, self.change, self.instrument) if interpretable else None
        ranges = {item: scale.max - scale.min for item, scale in self._scales.items()}
        agents = drift_per_agent(
            self.change.turned, {item: (float(scale.min), float(scale.max)) for item, scale in self._scales.items()},
            self.change.memory, self.context.memoryless_weight,
        )  # fmt: skip
        both_ways = {item: (-width, width) for item, width in ranges.items()}
        by_group = d.compared(self.change.delta, groups, "item", about="change", ends=both_ways)
        changes = _tested(self.change.delta, ranges, tested=tested, on_page=beside is None)
        tables = {
            "changes": [{**row, **self._around(row["item"])} for row in changes],
            "change_groups": by_group["change_groups"],
            "change_group_tests": by_group["change_group_tests"] if tested else [],
            "family_changes": list(self._by_family(agents["weight"], tested=tested)),
            "placebo": [] if beside is None else list(self._beyond(beside, ranges)),
            "agents": self._agents(agents, kind) if interpretable else [],
        }
        paired = self._paired()
        facts = {
            "kind": kind, "interpretable": interpretable, "reasons": reasons, "no_memory": no_memory, "tested": tested,
            "has_placebo": beside is not None, "own_baseline": beside.own_baseline if beside else None,
            "n_placebo": len(beside.after) if beside else None,
            "too_few": tested and 0 < paired["n_paired"] < FEWEST_PAIRS,
            "all_alike": tested and paired["pairs"] > 0 and not self.change.delta.fillna(0).to_numpy().any(), **paired,
            **reading.shallow(population_drift(agents, self.context.memoryless_weight)),
        }  # fmt: skip
        return tables, facts

    @cached_property
    def _scales(self) -> dict[str, Scale]:
        return {item: self.instrument.scale_of(item) for item in _ids(self.instrument)}

    def _paired(self) -> d.Row:
        """Agents by the waves that they answered, and pairs of answers."""
        first, second = (set(self.change.raw[wave].dropna(how="all").index) for wave in WAVES)
        delta = self.change.delta
        return {
            "n_paired": len(first & second), "n_only_t0": len(first - second), "n_only_t1": len(second - first),
            "n_neither": len(delta) - len(first | second), "pairs": int(delta.notna().to_numpy().sum()),
            "pairs_total": delta.size,
        }  # fmt: skip

    def _around(self, item: str) -> d.Row:
        """Return the means of the pairs, and the sign-flip test of this statement alone with its interval."""
        both = self.change.delta[item].notna()
        before, after = (self.change.raw[wave][item].reindex(both.index)[both] for wave in WAVES)
        alone = self._alone[item]
        return {
            **self.on.about(item), "before": before.mean(), "after": after.mean(),
            "alone_low": alone.low, "alone_high": alone.high, "p_alone": alone.p, "p_holm": self._p_holm[item],
            "rank_biserial": wilcoxon(before, after).rank_biserial,
        }  # fmt: skip

    @cached_property
    def _alone(self) -> Mapping[str, MeanChange]:
        return {str(item): mean_change(self.change.delta[item].to_numpy()) for item in self.change.delta}

    @cached_property
    def _p_holm(self) -> Mapping[str, float | None]:
        return dict(zip(self._alone, holm([alone.p for alone in self._alone.values()]), strict=True))

    def _by_family(self, weight: pd.Series[float], *, tested: bool) -> Iterator[d.Row]:
        """An agent counts once however many items of the family it answered."""
        families: list[d.Row] = []
        for family, items in members(self.instrument).items():
            scores = self.change.turned[items].mean(axis=1)
            scored = scores.dropna()
            w = weight.reindex(scored.index).to_numpy(dtype=float)
            alone = mean_change(scored.to_numpy())
            families.append({
                "family": family, "n": len(scored), "n_total": len(scores), "mean": scored.mean(),
                "weighted": np.average(scored, weights=w) if w.sum() > 0 else None,
                "low": alone.low if tested else None, "high": alone.high if tested else None,
                "p": alone.p if tested else None,
            })  # fmt: skip
        for row, adjusted in zip(families, holm([row["p"] for row in families]), strict=True):
            yield {**row, "p_holm": adjusted}

    def _agents(self, agents: pd.DataFrame, kind: str) -> Iterator[d.Row]:
        """By participant, in the population's order. The columns are named by what the change may be called."""
        names = ("drift", "experience_effect")
        for who, row in agents[agents["n_items"] > 0].iterrows():
            yield {
                "participant": who, "n_items": row["n_items"], "memory": row["memory"],
                "share_changed": row["share_changed"],
                **{f"{name}_abs": row["mean_abs"] if name == kind else None for name in names},
                **{f"{name}_signed": row["mean_signed"] if name == kind else None for name in names},
            }  # fmt: skip

    # --- beyond a placebo --------------------------------------------------------------------------------------------

    def _beyond(self, arm: Placebo, ranges: Mapping[str, int]) -> Iterator[d.Row]:
        """Over the agents that the placebo arm asked, with the answers that both arms have."""
        placebo = delta_matrix(arm.before, arm.after).reindex(arm.after.index)
        main = self.change.delta.reindex(arm.after.index)
        both = main.notna() & placebo.notna()
        means = [changes.where(both).mean() for changes in (main, placebo)]
        for row in _tested(main - placebo, ranges, tested=True, on_page=True):
            item = row["item"]
            yield {
                **{key: value for key, value in row.items() if key != "outcome"}, "main": means[0][item],
                "placebo": means[1][item], **self.on.about(item),
            }  # fmt: skip


def _tested(delta: pd.DataFrame, ranges: Mapping[str, int], *, tested: bool, on_page: bool) -> Iterator[d.Row]:
    """Mean change of each column with its interval, which holds for whichever is singled out, and max-T over all.

    ranges: widths of scales.
    on_page: whether p stands for the page's correction; where a placebo is tested, the bare change is not.
    """
    tests = max_t(delta)
    bounds = selected_intervals(tests["n"], tests["mean"], tests["sd"]).set_index(tests.index)
    width = pd.Series(ranges).reindex(tests.index)
    own, prior = shrink_sd(tests["sd"] / width, tests["n"] - 1)
    tests = tests.assign(low=bounds["low"].clip(-width), high=bounds["high"].clip(upper=width), own=own * width)
    for item, row in zip(map(str, tests.index), tests.to_dict("records"), strict=True):
        p, n = row["p_adjusted"], int(row["n"])
        shown = tested and on_page
        outcome = "untested"
        if shown and n >= FEWEST_PAIRS:
            outcome = "unmoved" if not p < ALPHA else "risen" if row["mean"] > 0 else "fallen"
        yield {
            "item": item, "n": n, "n_total": len(delta), "n_changed": row["n_changed"], "change": row["mean"],
            "sd": row["sd"], "size": abs(row["mean"]) / ranges[item], "outcome": outcome,
            "low": row["low"] if tested else None, "high": row["high"] if tested else None,
            "p": p if shown and n >= FEWEST_PAIRS else None, "test": row["test"] if shown else None,
            **d.on_scale(
                detectable_change(n, row["own"], tests=max(1.0, row["tests"]), dof=n - 1 + prior)
                if shown and n >= FEWEST_PAIRS else None, (0, ranges[item])),
        }  # fmt: skip


@dataclass(frozen=True)
class Placebo:
    """The placebo arm's two waves, of the agents that it asked at T1, as worded."""

    own_baseline: bool  # whether it has a T0 of its own; else both arms start from the main arm's
    before: pd.DataFrame
    after: pd.DataFrame

    @classmethod
    def of(cls, rows: pd.DataFrame, change: Change, instrument: LongitudinalInstrument) -> Placebo | None:
        """rows: those of the placebo arms, of which the first by name is taken. None without an answer at T1."""
        answered = rows[rows["phase"].eq("T1") & rows["value"].notna()]
        if answered.empty:
            return None
        first_arm = rows[rows["arm"].eq(min(answered["arm"]))]
        waves = [first_arm[first_arm["phase"].eq(wave)] for wave in WAVES]
        is_own = bool(waves[0]["value"].notna().any())
        first, second = (wide(wave, instrument, "value").dropna(how="all") for wave in waves)
        before = first if is_own else change.raw["T0"]
        return cls(is_own, before.reindex(second.index), second)


OF_BOTH_WAVES = ("changes", "placebo", "family_changes", "change_groups", "change_group_tests")


def item_facts(item_id: str, instrument: LongitudinalInstrument) -> ItemFacts:
    """Family, keying and scale of a closed item; the comment has none of them."""
    if item_id not in {item.item_id for item in instrument.items}:
        return ItemFacts()
    scale = instrument.scale_of(item_id)
    family, reverse = instrument.family_of(item_id), instrument.reverse_coded(item_id)
    return ItemFacts(family=family, reverse_keyed=reverse, scale_min=scale.min, scale_max=scale.max)


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """The files of one phase: its rows, and what concerns it of the findings. T1 holds the change."""
    aggregate: d.Row = {key: results[key] for key in ("arms", "partial", "kind", "items", "families")}
    for table in ("waves", "answers", "distribution"):
        aggregate[table] = [row for row in results.rows(table) if row["phase"] == phase]
    if phase == "T1":
        aggregate |= {name: results[name] for name in (*PRESENTATION.facts, *OF_BOTH_WAVES)}
    return {"responses.jsonl": lines(frame), "aggregate.json": aggregate}


# --- health -----------------------------------------------------------------------------------------------------------


CONTROL = "negative_control"


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """Agents that never move or turn round; items that nothing should move, only where T0 was measured; whether waves
    hang together; each wave."""
    rows = checkable(rows)
    why = no_drift(analysis)
    before, after = (answers(occasion(rows, phase)) for phase in WAVES)
    both_waves = bool(len(before.participants) and len(after.participants))
    if both_waves:
        yield from each("", (zero_drift(before, after), direction_flips(before, after)))
    else:
        yield from each("", (missing(name, "one_wave") for name in ("zero_drift", "direction_flips")))
    named = zip(analysis.column("items", "item"), analysis.column("items", "control"), strict=True)
    controls = [item for item, is_control in named if is_control is True]
    both = set(before.items) & set(after.items)
    if not why and both.issuperset(controls) and controls:
        yield "", negative_control(before, after, controls)
    yield "", answer_stability(before, after) if both_waves else missing("answer_stability", "one_wave")
    del before, after
    yield from any_other(analysis, rows, humans)


def no_drift(analysis: d.Analysis) -> str:
    """Why there is no drift to look at; "" where there is."""
    kind = analysis.facts.get("kind")
    if kind == "experience_effect":
        return "reconstructed"
    if kind != "drift":
        return "one_wave"
    return "incomparable" if analysis.facts.get("interpretable") is False else ""


# --- probes ----------------------------------------------------------------------------------------------------------


def probed(arms: Arms) -> Made:
    """Each wave asked again, control items, and another memory."""
    yield from repeated(arms)
    yield from _controlled(arms)
    yield from _placebo(arms)


def _waves(rows: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return closed(occasion(rows, "T0")), closed(occasion(rows, "T1"))


def _controlled(arms: Arms) -> Made:
    """Drift of the control items, all items that the probe arm asks and the main arm does not."""
    if CONTROL not in arms.others:
        return
    before, after = _waves(arms.others[CONTROL])
    both = set(before["item_id"]) & set(after["item_id"])
    items = sorted(both - set(arms.main["item_id"])) or sorted(both)
    if items:
        yield "", negative_control(answers(before), answers(after), items)
    else:
        yield "", missing("negative_control", "one_wave")


def _placebo(arms: Arms) -> Made:
    """Drift under the real digest minus drift under a neutral one; T0 is the main arm's where the placebo was not asked
    then."""
    if PLACEBO not in arms.others:
        return
    before, after = _waves(arms.main)
    placebo_before, placebo_after = _waves(arms.others[PLACEBO])
    why = no_drift(arms.analysis) if arms.analysis.facts.get("kind") != "experience_effect" else ""
    why = why or ("" if len(placebo_after) else "one_wave")
    if why:
        yield "", missing("placebo_exposure", why)
        return
    neutral = placebo_before if len(placebo_before) else before
    yield "", placebo_exposure(*map(answers, (before, after, neutral, placebo_after)))


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    glossary=GLOSSARY,
    files=files,
    item_facts=item_facts,
    health=health,
    probed=probed,
)
