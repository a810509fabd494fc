"""What discussions give: how far each group agreed and why it ended, who moved and toward whom against those who only
read, reason and conformity beside people's, which arguments were made and who answered them.

All of a run share a model: intervals and tests are over agents of this run, no inference about people.
"""

from __future__ import annotations

from enquete.graphs.roundtable.agreement import ACTIONS, LEVELS, RECOMMENDED
from enquete.graphs.roundtable.modes import STANCES
from enquete.locale import N_
from enquete.reports import declarations as d
from enquete.reports.declarations import group_finding, group_tables

BEFORE, AFTER = "before", "after"
"""Names of the two private stages, beside the rounds' numbers."""
STAGES = {BEFORE: N_("Privately before"), AFTER: N_("Privately after")}
ROUND = N_("Round {round}")
EXITS = {
    "consensus": N_("agreed"), "convergence": N_("nobody moved any more"), "confidence": N_("agreed and sure"),
    "max_rounds": N_("last round"), "closed": N_("closed by the moderator"), "": N_("not over"),
}  # fmt: skip
SIGNS = {"all_sure": N_("all sure"), "one_side": N_("all on one side"), "same_words": N_("same words")}
COMPOSED = {
    "mixed": N_("mixed across types"), "type": N_("one type each"), "views": N_("the most different views together"),
    "hand": N_("put together by hand"),
}  # fmt: skip
DECIDES = {
    "words": N_("Where a model read the rounds the rule still decides when a discussion ends; both readings are "
        "recorded."),
    "meaning": N_("What positions mean, as a model reads them, decides when a discussion ends; the rule, by words, is "
                  "a check. Where no model read a round nothing is decided by it."),
}  # fmt: skip
HOW = {"took_up": N_("took it up"), "countered": N_("countered")}
SIDES = {"discussed": N_("discussed"), "read": N_("only read")}
MEASURES = {
    "same_person": N_("r of a participant's ratings before and after"), "changed": N_("share of ratings that changed"),
    "mean_change": N_("mean change, share of the scale"), "spread": N_("spread after ÷ before"),
    "toward_group": N_("of the changed ratings, closer to the group"),
    "profiles": N_("r between participants afterwards"),
}  # fmt: skip
DIRECTIONS = {"rose": N_("rose"), "fell": N_("fell"), "same": N_("stayed the same")}
VERDICTS = {"more": N_("more move by discussing than by reading"),
    "less": N_("fewer move by discussing than by reading"),
            "same": N_("as many move by discussing as by reading")}  # fmt: skip

AGENT = d.reference("participant", N_("Agent"), to="agent")
TYPE = d.reference("stakeholder_type", N_("group"), to="group")
TABLE = d.text("group", N_("Group"))
ROLE = d.text("role", N_("role"))
N, TOTAL = d.integer("n", "n"), d.integer("n_total", "N")
CONFIDENCE = d.number("confidence", N_("confidence"))

DISCUSSIONS = d.Table(
    name="discussions", title=N_("The groups"), key=("group",),
    columns=(
        TABLE, d.integer("n", N_("participants")), d.integer("rounds", N_("Rounds")), d.flag("over", N_("over")),
        d.code("exit", N_("ended because"), EXITS), d.number("before", N_("Agreement before")),
        d.number("first", N_("first round")), d.number("last", N_("last round")), d.number("after", N_("after")),
        d.integer("positions", N_("Positions")), d.flag("groupthink", N_("groupthink")),
        d.several("signs", N_("Signs of groupthink"), levels=SIGNS),
        d.code("recommendation", N_("recommended"), RECOMMENDED), d.code("stance", N_("held"), STANCES),
        d.integer("held", N_("by")), d.code("level", N_("Consensus"), LEVELS),
        d.code("action", N_("what to do"), ACTIONS), d.number("reason_before", N_("reason before")),
        d.number("reason_after", N_("reason after")), d.nested("exit_details", N_("details")),
    ),
    views=(
        d.View(at="section", heading="", top=12,
               columns=d.names("group n rounds exit before first last after positions signs stance held level action")),
        d.View(at="appendix", columns=d.names("group n rounds exit before first last after positions signs stance held "
                                              "level action reason_before reason_after")),
        d.View(at="appendix", heading=N_("Groupthink"), where="groupthink", columns=("group", "recommendation")),
        d.View(at="digest", columns=d.names("group n exit last stance held level action"), top=20),
    ),
)  # fmt: skip

SEATS = d.Table(
    name="seats", title=N_("Who sat where"), key=("group", "participant"),
    columns=(TABLE, AGENT, TYPE, d.integer("number", N_("number")), ROLE),
)  # fmt: skip

ROUNDS = d.Table(
    name="rounds", title=N_("Agreement by round"), key=("group", "round"),
    columns=(
        TABLE, d.integer("round", N_("Round")), d.number("agreement", N_("Agreement by rule")),
        d.integer("positions", N_("Positions by rule")), d.integer("largest", N_("largest")), N,
        d.number("mean_confidence", N_("mean confidence")), d.number("read", N_("by the model")),
        d.integer("camps", N_("camps by the model")), d.several("conflicts", N_("Conflicts that it names")),
        d.share("differs", N_("pairs that the two put together otherwise")),
    ),
    views=(d.View(at="appendix", where="read == read", heading=N_("Agreement, read by a model as well"),
                  columns=d.names("group round agreement read positions camps conflicts differs")),),
    note=N_("{decides}"),
)  # fmt: skip

GROUPINGS = d.Table(
    name="groupings", title=N_("Positions grouped by what they mean"), key=("group", "round", "participant"),
    columns=(
        TABLE, d.integer("round", N_("Round")), d.flag("last", N_("last round")), AGENT,
        d.integer("camp", N_("by the model")),
        d.text("says", N_("position")), d.text("quote", N_("in their own words")), d.integer("cluster", N_("by rule")),
    ),
    views=(
        d.View(at="section", where="last", top=12, columns=d.names("group participant camp says quote cluster")),
        d.View(at="appendix", columns=d.names("group round participant camp says quote cluster")),
    ),
    note=N_("A model grouped them; the words it quotes were found in the answer itself. The rule compares words alone "
        "and is a check."),
)  # fmt: skip

MODELS = d.Table(
    name="speaking_models", title=N_("Which model spoke"), key=("model",),
    columns=(
        d.text("model", N_("model")), d.several("participants", N_("for"), to="agent"), d.integer("turns", N_("turns")),
        d.number("confidence", N_("mean confidence")), d.integer("violations", N_("not kept to the mode")),
    ),
    views=(d.View(at="section"), d.View(at="digest")),
)  # fmt: skip

BETWEEN_MODELS = d.Table(
    name="between_models", title=N_("Agreement within and between models"), key=("first", "second"),
    columns=(
        d.code("how", N_("compared"), {"within": N_("within one model"), "between": N_("between two models")}),
        d.text("first", N_("model")), d.text("second", N_("and")), d.integer("pairs", N_("pairs")),
        d.share("alike_first", N_("same side, first round")), d.share("alike_last", N_("same side, last round")),
    ),
    views=(d.View(at="section"), d.View(at="digest")),
    note=N_("Pairs of participants who took a side: one position by meaning, where a model "
            "grouped them, else the same stance, else like words. That "
            "speakers of one model agree is weaker evidence than that different ones do."),
)  # fmt: skip

SWITCHES = d.Table(
    name="switches", title=N_("Models that were given up"), key=("participant", "from"),
    columns=(
        d.text("session", N_("Group")), AGENT, d.integer("round", N_("from round")), d.integer("turn", N_("turn")),
        d.text("from", N_("model")), d.text("to", N_("taken over by")), d.text("why", N_("because")),
    ),
    views=(d.View(at="section"),),
)  # fmt: skip

CURVE = d.Table(
    name="curve", title=N_("Mean agreement"), key=("stage",),
    columns=(
        d.text("stage", N_("stage"), means=N_("before and after: privately; else the round")),
        d.integer("place", N_("place")), d.number("agreement", N_("agreement")),
        d.integer("talking", N_("groups still talking")), d.integer("n", N_("groups")),
    ),
)  # fmt: skip

POSITIONS = d.Table(
    name="positions", title=N_("Where everybody stood"), key=("group", "participant", "stage"),
    columns=(
        TABLE, AGENT, TYPE, d.integer("number", N_("number")), ROLE, d.flag("reads", N_("only read")),
        d.text("stage", N_("stage")), d.code("stance", N_("stance"), STANCES), CONFIDENCE,
        d.integer("cluster", N_("position, the largest 1")), d.text("position", N_("position")),
    ),
)  # fmt: skip

MOVES = d.Table(
    name="moves", title=N_("Who moved"), key=("group", "participant"),
    columns=(
        TABLE, AGENT, TYPE, d.flag("reads", N_("only read")), d.code("before", N_("before"), STANCES),
        d.code("after", N_("after"), STANCES), d.number("confidence_before", N_("confidence before")),
        d.number("confidence_after", N_("confidence after")), d.number("surer", N_("surer by")),
        d.number("kept", N_("likeness of positions")), d.flag("moved", N_("moved")),
        d.several("toward", N_("toward"), to="agent"), d.text("argument", N_("argument")),
        d.text("moved_by", N_("moved most by, in their own words")),
    ),
    views=(d.View(at="appendix", where="moved and not reads", top=40,
                  columns=d.names("participant group before after surer toward moved_by")),),
    note=N_("Toward whom is a likeness of positions, no proof of a cause."),
)  # fmt: skip

PERSUASION = d.Table(
    name="persuasion", title=N_("Who moved toward whom"), key=("group", "mover", "toward"),
    columns=(
        TABLE, d.reference("mover", N_("who moved"), to="agent"),
        d.reference("mover_type", N_("group of who moved"), to="group"),
        d.reference("toward", N_("toward the position that was held by"), to="agent"),
        d.reference("toward_type", N_("group"), to="group"),
        d.number("weight", N_("weight"), means=N_("a move toward several counts in equal parts")),
        d.text("argument", N_("argument")),
    ),
)  # fmt: skip

MOVEMENT = d.Table(
    name="movement", title=N_("Before and after, asked privately"), key=("side",),
    columns=(
        d.code("side", N_("who"), SIDES), N, TOTAL, d.integer("moved", N_("another position")),
        d.share("share", N_("share")), d.share("low", N_("lower bound")), d.share("high", N_("upper bound")),
        d.number("surer", N_("surer, mean")),
    ),
    views=(d.View(at="section", where="n > 0", columns=d.names("side n moved share surer")), d.View(at="digest")),
)  # fmt: skip

BEYOND = d.Table(
    name="beyond_reading", title=N_("Discussing against reading"), key=("verdict",),
    columns=(
        d.code("verdict", N_("direction"), VERDICTS, replicates=True),
        d.share("discussed", N_("moved of who discussed")), d.share("read", N_("moved of who read")),
        d.share("difference", N_("difference")), N, TOTAL, d.text("test", N_("test")), d.p_value("p"), d.adjusted_p(),
        d.share("detectable", N_("detectable")),
    ),
    views=(d.View(at="appendix"),),
)  # fmt: skip

REASON = d.Table(
    name="reason", title=N_("Deliberative reason (adjusted)"), key=("side",),
    columns=(
        d.code("side", N_("who"), SIDES), d.number("before", N_("before")), d.number("after", N_("after")),
        d.code("direction", N_("direction"), DIRECTIONS, replicates=True), d.integer("groups", N_("groups")),
        d.integer("rising", N_("rising in")),
    ),
    views=(d.View(at="appendix"),),
)  # fmt: skip

CONFORMITY = d.Table(
    name="conformity", title=N_("Conformity, beside people's"), key=("measure",),
    columns=(
        d.code("measure", N_("measure"), MEASURES), d.number("discussed", N_("discussed")),
        d.number("read", N_("only read")),
        d.number("people", N_("people"), means=N_("means over panels that were asked before and after deliberating "
                                                  "(deliberr)")),
    ),
    views=(d.View(at="appendix"),),
    note=N_("People: means over panels that were asked before and after deliberating (deliberr)."),
)  # fmt: skip

ARGUMENTS = d.Table(
    name="arguments", title=N_("Arguments"), key=("id", "group"),
    columns=(
        d.text("id", N_("id")), d.text("label", N_("Argument")), TABLE, d.integer("turn", N_("turn")),
        d.several("raised", N_("raised by"), to="agent"), d.integer("answered", N_("answers")),
        d.several("took_up", N_("taken up by"), to="agent"), d.several("countered", N_("countered by"), to="agent"),
    ),
    views=(
        d.View(at="section", order=("-answered",), top=8, columns=d.names("label group raised took_up countered")),
        d.View(at="digest", order=("-answered",), top=5, columns=d.names("label group answered")),
    ),
)  # fmt: skip

TAKEN_UP = d.Table(
    name="arguments_answered", title=N_("Arguments over all groups"), key=("id",),
    columns=(d.text("id", N_("id")), d.text("label", N_("Argument")), d.integer("groups", N_("raised in groups")),
        d.integer("answered", N_("answers"))),
)  # fmt: skip

CHECKS = d.Table(
    name="checks", title=N_("Whether the mode was played"), key=("check",),
    columns=(d.text("check", N_("Check")), d.integer("n", N_("Answers"))), views=(d.View(at="appendix"),),
    note=N_("{asked_again} of {public_turns} answers were asked for once more because they did not keep to the mode; "
            "{not_kept} still did not and stand as they are."),
)  # fmt: skip

REMARKS = d.Table(
    name="remarks", title=N_("Remarks of the moderator"), key=("group", "round"),
    columns=(TABLE, d.integer("round", N_("before round")), d.text("text", N_("remark"))),
    views=(d.View(at="appendix"),),
)  # fmt: skip

TURNS = d.Table(
    name="turns", title=N_("Transcripts"), key=("group", "turn"),
    columns=(
        TABLE, d.integer("turn", N_("turn")), d.integer("round", N_("Round")), d.flag("private", N_("private")), AGENT,
        d.integer("number", N_("number")), ROLE, d.text("status", N_("status")), d.flag("retried", N_("asked twice")),
        d.code("stance", N_("stance"), STANCES), CONFIDENCE, d.text("position", N_("position")),
        d.text("reasoning", N_("reasoning")), d.nested("response", N_("response")), d.nested("by", N_("by")),
        d.text("model", N_("model")),
    ),
    views=(d.View(at="appendix", heading=N_("The first discussions verbatim"), where="group in @first_two",
        by=("group", "round", "private"),
                  quote="position", who=("participant", "stance", "model")),),
)  # fmt: skip

AGENTS = d.Table(
    name="agents", title=N_("Agents"), key=("participant",), one_agent=True,
    columns=(
        AGENT, d.code("roundtable_before", N_("stance before the roundtable, asked privately"), STANCES, agents=True),
        d.number("roundtable_moved", N_("whether the agent left the roundtable with another position"), agents=True),
        d.code("after", N_("stance after the roundtable"), STANCES),
    ),
)  # fmt: skip

MEASURE = d.reference("measure", N_("What"), to="compared")
COMPARED = d.Table(
    name="compared", title=N_("What groups are compared on"), key=("measure",), label="label",
    columns=(d.text("measure", N_("id")), d.code("label", N_("What"),
        {"moved": N_("left with another position"), "before": N_("yes before")})),
    files=False,
)  # fmt: skip
GROUPS, GROUP_TESTS = group_tables(MEASURE, N_("By group of the agents"), share=True)

FACTS = (
    d.text("question"), d.text("mode"), d.text("mode_title"), d.flag("assigned"), d.flag("judges_groupthink"),
    d.code("decides", "", DECIDES), d.code("compose", "", COMPOSED), d.number("consensus_limit"), d.integer("begun"),
    d.integer("over"), d.integer("planned"), d.integer("n"), d.integer("n_total"), d.integer("people"),
    d.integer("readers"), d.integer("unseated"), d.several("unknown"), d.number("first_agreement"),
    d.number("last_agreement"), d.integer("agreed"), d.integer("settled"), d.integer("groupthink_groups"),
    d.integer("judged_groups"), d.integer("minority"), d.integer("joined"), d.number("reason_before"),
    d.number("reason_after"), d.integer("reason_rising"), d.integer("reason_groups"), d.number("people_before"),
    d.number("people_after"), d.number("spread"), d.integer("spread_n"), d.integer("public_turns"),
    d.integer("asked_again"), d.integer("not_kept"), d.integer("silent"), d.integer("said"), d.integer("uncoded"),
    d.integer("n_arguments"), d.integer("unanswered"), d.several("first_two"), d.nested("layers"), d.nested("models"),
    d.code("held_after", "", STANCES, replicates=True), d.text("most_toward"), d.number("n_moves"),
)  # fmt: skip

FINDINGS = (
    d.Finding(
        name="beyond", table="beyond_reading", kind="difference", p="p", word="verdict", size="abs(difference)",
        test="test", estimate="difference", scale="-1, 1", chart="positions", where="n >= 5",
        says={
            "more": N_("Discussing moved more than reading: {discussed} of those who discussed left with another "
                       "position, {read} of those who only read (adjusted {p}; n = {n}/{n_total})."),
            "less": N_("Discussing moved fewer than reading: {discussed} of those who discussed left with another "
                       "position, {read} of those who only read (adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("That discussing moves more than reading was not found: {discussed} against {read} (adjusted {p}); "
                "{detectable} more would have been found four times in five (n = {n}/{n_total})."),
    ),
    group_finding(
        MEASURE, size="mean_highest - mean_lowest", chart="positions",
        says=N_("Groups of agents differ, {measure}: {mean_highest} of {highest}, {mean_lowest} of {lowest} "
                "(adjusted {p}; n = {n}/{n_total})."),
        null=N_("No group of agents moved or began otherwise than the others (adjusted {p}; {detectable} more would "
                "have been found four times in five)."),
    ),
    d.Finding(
        name="moved", table="movement", where="side == 'discussed' and n >= 5", size="share", estimate="share",
        low="low", high="high", chart="positions",
        says=N_("{moved} of {n} participants left the discussion with another position ({share}, 95% interval {low} "
                "to {high}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="agreement", where="n >= 5 and first_agreement == first_agreement and not assigned",
        size="abs(last_agreement - first_agreement)", chart="agreement",
        says=N_("Agreement in the groups went from {first_agreement} at first to {last_agreement} in the end (0 to "
                "1); {agreed} of {begun} groups ended in agreement, {settled} because nobody moved any more (n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
        name="agreement_assigned", where="n >= 5 and first_agreement == first_agreement and assigned",
        size="abs(last_agreement - first_agreement)", chart="agreement",
        says=N_("Agreement in the groups, asked privately, went from {first_agreement} before to {last_agreement} "
                "after (0 to 1); in the discussion stances were assigned (n = {n}/{n_total})."),
    ),
    d.Finding(
        name="groupthink", where="n >= 5 and groupthink_groups > 0", size="groupthink_groups / judged_groups",
        chart="agreement",
        says=N_("{groupthink_groups} of {judged_groups} groups show signs of groupthink: the same position in the "
                "same words, or all of them sure (n = {n}/{n_total} participants)."),
    ),
    d.Finding(
        name="reason", where="n >= 5 and reason_before == reason_before and reason_after == reason_after",
        size="abs(reason_after - reason_before)",
        says=N_("Deliberative reason went from {reason_before} to {reason_after} (people: {people_before} to "
                "{people_after}) and rose in {reason_rising} of {reason_groups} groups (n = {n}/{n_total})."),
    ),
    d.Finding(
        name="argument", table="arguments_answered", where="answered > 0 and @n >= 5", order=("-answered",),
        size="answered / n",
        says=N_("Most taken up: “{label}”, raised in {groups} groups and answered by {answered} participants (n = "
                "{n}/{n_total})."),
        n="", n_total="",
    ),
)  # fmt: skip

CHARTS = (
    d.Chart(name="agreement", title=N_("Roundtable: agreement, privately and after each round"), needs=("curve",),
            draw="enquete.graphs.roundtable.charts:agreement",
            alt=N_("Mean agreement of {begun} groups goes from {first_agreement} to {last_agreement}.")),
    d.Chart(name="persuasion", title=N_("Roundtable: who moved toward whom"), needs=("persuasion",),
        draw="enquete.graphs.roundtable.charts:persuasion",
            alt=N_("{n_moves} moves toward another participant's position; most toward {most_toward}."), at="appendix"),
    d.Chart(name="positions", title=N_("Roundtable: where everybody stood, stance and confidence"),
        needs=("positions",),
            draw="enquete.graphs.roundtable.charts:positions", alt=N_("Stance and confidence of {n} participants at "
                                                                      "every stage.")),
)  # fmt: skip

GLOSSARY = {
    N_("agreement"): N_("Of a round, 0 to 1: how many take the same position, by its words and side, and how alike "
                        "their confidence is."),
    N_("groupthink"): N_("Two of three signs: all are sure, all take one position, all say it in the same words. A "
                         "reason to look, not a proof."),
    N_("deliberative reason index"): N_("Whether those who weigh the considerations alike also rank the options "
                                        "alike; 1: entirely. In the adjusted form, which is not positive where "
                                        "everybody answers at random."),
    N_("readers"): N_("Agents who only read what a group said, and were asked before and after like its participants."),
}  # fmt: skip

TEXTS = (
    d.TextBlock(at="section", where="begun == 0", says=N_("No group has discussed yet.")),
    d.TextBlock(at="section", where="begun > 0 and people > 0", says=N_(
        "{n} participants, {people} of them people, discussed in {begun} groups, {compose}, in the mode "
        "“{mode_title}”: {question}")),
    d.TextBlock(at="section", where="begun > 0 and people == 0", says=N_(
        "{n} agents discussed in {begun} groups, {compose}, in the mode “{mode_title}”: {question}")),
    d.TextBlock(at="section", where="readers > 0", says=N_("{readers} more only read what a group said.")),
    d.TextBlock(at="section", where="unseated > 0", says=N_("{unseated} agents had no seat.")),
    d.TextBlock(at="section", where="begun > 0", says=N_(
        "Agreement is by the words of positions and the side taken, 0 to 1; before and after were asked privately. "
        "The consensus counts people: by their "
        "stances where they have any, else by a model's reading, else by words, which are never a high one.")),
    d.TextBlock(at="section", where="begun > 0 and assigned", says=N_(
        "In this mode stances were assigned: what was said to the group is a part that was played, so the consensus, "
        "and agreement before and after, are from the private answers.")),
    d.TextBlock(at="section", after="movement", where="minority > 0", says=N_(
        "{joined} of {minority} participants whose stance was in their group's minority had the majority's "
        "afterwards.")),
    d.TextBlock(at="section", after="arguments", where="n_arguments > 0",
        says=N_("{unanswered} of {n_arguments} arguments were answered by nobody.")),
)  # fmt: skip

PRESENTATION = d.Presentation(
    tables=(DISCUSSIONS, MOVEMENT, BEYOND, ARGUMENTS, TAKEN_UP, MOVES, PERSUASION, COMPARED, GROUP_TESTS, GROUPS,
        REASON, CONFORMITY, GROUPINGS, ROUNDS, CURVE, SEATS,
            POSITIONS, CHECKS, REMARKS, MODELS, BETWEEN_MODELS, SWITCHES, TURNS, AGENTS),
    facts=FACTS, findings=FINDINGS, charts=CHARTS, texts=TEXTS,
)  # fmt: skip
