"""What discovery interviews give: a record for each agent, what is known of each field, how records fill, what was contradicted.

all_responses.csv has the interviews' words; what was read in them stands in the tables. Where a rule read more than
RULE_AT_MOST of the answers there is no finding on content: a rule knows words, not meanings.
"""

from __future__ import annotations

from enquete.locale import N_
from enquete.reports import declarations as d
from enquete.reports.group_tables import group_finding, group_tables

TYPES = {
    "text": N_("text"), "texts": N_("texts"), "number": N_("number"), "boolean": N_("yes or no"),
    "choice": N_("choice"), "choices": N_("choices"), "object": N_("part"), "list": N_("list"),
}  # fmt: skip
STOPS = {"": N_("not ended"), "complete": N_("complete"), "budget": N_("budget of questions"), "refused": N_("refused")}
PROBLEMS = {
    "unknown": N_("fields that the schema does not have"), "unfit": N_("values that do not fit their field"),
    "not_said": N_("values that nobody said"),
}  # fmt: skip
FIELD = d.reference("path", N_("Field"), to="fields")
AGENT = d.reference("participant", N_("Agent"), to="agent")
GROUP = d.reference("stakeholder_type", N_("group"), to="group")
N, TOTAL = d.integer("n", "n"), d.integer("n_total", "N")
LOW, HIGH = d.share("low", N_("lower bound")), d.share("high", N_("upper bound"))

FIELDS = d.Table(
    name="fields", title=N_("What is known, by field"), key=("path",), label="label",
    columns=(
        d.text("path", N_("path")), d.text("label", N_("Field")), d.code("type", N_("kind"), TYPES),
            d.text("unit", N_("unit")),
        d.flag("required", N_("required")), d.integer("n", N_("known of")), TOTAL, d.of("n", "n_total", N_("known of")),
        d.integer("asked", N_("asked for")), d.number("first_question", N_("after question"), digits=1),
        d.integer("different", N_("different values")), d.integer("n_yes", N_("yes")),
            d.share("yes_share", N_("share of yes")), LOW, HIGH,
        d.number("median", N_("median"), digits=1), d.number("q1", N_("lower quartile"), digits=1),
        d.number("q3", N_("upper quartile"), digits=1),
    ),
    views=(
        d.View(at="section", heading="", where="type != 'object'",
               columns=d.names("label n_of_n_total first_question different n_yes median q1 q3 unit")),
        d.View(at="digest", where="type != 'object'", columns=d.names("label n n_total different median")),
    ),
)  # fmt: skip

NAMED = d.Table(
    name="named", title=N_("What was named"), key=("path", "value"),
    columns=(
        FIELD, d.text("value", N_("what was said")), d.integer("place", N_("place")), d.integer("agents", N_("agents")),
        N, TOTAL, d.share("share", N_("share")), LOW, HIGH, d.integer("tied", N_("as often named")),
        d.flag("first", N_("most named"), replicates=True),
        d.flag("told", N_("required, or known of half of the agents")),
    ),
    views=(
        d.View(at="section", where="place <= 3", columns=d.names("path value agents share")),
        d.View(at="appendix", by=("path",), most=10, columns=d.names("value agents n share")),
        d.View(at="digest", where="first", columns=d.names("path value agents n"), top=20),
    ),
)  # fmt: skip

RECORDS = d.Table(
    name="records", title=N_("Records"), key=("participant",),
    columns=(
        AGENT, GROUP, d.flag("complete", N_("complete")), d.code("stop", N_("ended"), STOPS),
        d.integer("questions", N_("Questions")), d.several("missing", N_("still missing")),
        d.integer("n_values", N_("values read")), d.nested("record", N_("record")),
    ),
    views=(d.View(at="appendix", columns=d.names("participant questions complete missing"), top=50),),
    note=N_("Complete when: {complete_when}."),
)  # fmt: skip

SAID = d.Table(
    name="said", title=N_("Values and the words they rest on"), key=("participant", "turn", "path", "value"),
    one_agent=True,
    columns=(
        AGENT, d.integer("turn", N_("question")), d.text("path", N_("path")), d.text("field", N_("Field")),
        d.text("value", N_("value")), d.text("quote", N_("words")),
    ),
)  # fmt: skip

CONTRADICTIONS = d.Table(
    name="contradictions", title=N_("Contradictions"), key=("participant", "turn", "path"),
    columns=(
        AGENT, d.integer("turn", N_("question")), d.text("path", N_("Field")), d.text("earlier", N_("first")),
        d.text("later", N_("then")), d.flag("asked", N_("asked about it")), d.text("now", N_("in the record")),
    ),
    views=(d.View(at="appendix", columns=d.names("participant path earlier later asked"), top=30),),
)  # fmt: skip

CURVE = d.Table(
    name="curve", title=N_("Records after each question"), key=("question",),
    columns=(
        d.integer("question", N_("questions asked")), d.integer("complete", N_("complete records")), TOTAL,
        d.share("complete_share", N_("complete records")), d.share("known", N_("fields known, on average")),
    ),
)  # fmt: skip

LEFT_OUT = d.Table(
    name="left_out", title=N_("Left out of the records"), key=("kind",),
    columns=(d.code("kind", N_("what"), PROBLEMS), d.integer("n", N_("values"))), views=(d.View(at="appendix"),),
)  # fmt: skip

TURNS = d.Table(
    name="turns", title=N_("Transcripts"), key=("participant", "turn"),
    columns=(
        AGENT, d.integer("turn", N_("turn")), d.text("about", N_("Field")), d.text("question", N_("question")),
            d.text("answer", N_("answer")),
        d.text("status", N_("status")), d.nested("found", N_("found")), d.nested("by", N_("by")),
            d.text("stop", N_("ended")),
    ),
    views=(d.View(at="appendix", heading=N_("The first interviews verbatim"), where="participant in @first_three",
        by=("participant",),
                  quote="answer", who=("turn", "question")),),
)  # fmt: skip

GROUPS, GROUP_TESTS = group_tables(FIELD, N_("Of whom a field is known, by group"), share=True)

FACTS = (
    d.text("ds"), d.text("title"), d.text("objective"), d.text("complete_when"), d.integer("budget"), N, TOTAL,
    d.integer("complete", N_("complete records")), d.integer("spent"), d.number("questions", digits=1),
    d.integer("read_by_rule"), d.integer("answers_read"), d.flag("content"), d.integer("contradicting"),
    d.integer("not_said"), d.integer("values"), d.several("first_three"), d.integer("shown_complete"),
    d.integer("last_question"), d.share("last_known"),
)  # fmt: skip
"""content: findings on content may be told, a model read most answers. not_said, values: read, left out or kept."""

FINDINGS = (
    d.Finding(
        name="complete", where="n >= 5", size="complete / n", estimate="complete", chart="completeness", scale="0, n",
        says=N_("{complete} of {n} records of “{title}” are complete, after {questions} questions on average (n = "
                "{n}/{n_total} interviews)."),
    ),
    d.Finding(
        name="by_rule", kind="null", where="n >= 5 and not content",
        says=N_("What was said on “{title}” is read by words only: a rule stood in for the model and read "
                "{read_by_rule} of {answers_read} answers (n = {n}/{n_total})."),
    ),
    group_finding(
        FIELD, size="mean_highest - mean_lowest", chart="coverage",
        says=N_("Groups tell differently of “{path}”: known of {mean_highest} of {highest}, {mean_lowest} of "
                "{lowest} (adjusted {p}; n = {n}/{n_total})."),
        null=N_("No field is known of some groups more than of others (adjusted {p}; a difference of {detectable} "
                "would have been found four times in five)."),
    ),
    d.Finding(
        name="named", table="named", where="first and told and tied == 1 and n >= 5 and @content", order=("-share",),
        top=3, size="share", estimate="share", low="low", high="high",
        says=N_("{path}: most named “{value}”, by {agents} agents ({share}, 95% interval {low} to {high}; n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
        name="yes", table="fields", where="type == 'boolean' and n >= 5 and @content", order=("-n",), top=2,
        size="yes_share", estimate="yes_share", low="low", high="high",
        says=N_("{label}: yes for {n_yes} agents ({yes_share}, 95% interval {low} to {high}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="number", table="fields", where="type == 'number' and n >= 5 and @content", order=("-n",), top=2,
        estimate="median", says=N_("{label}: median {median} {unit}, middle half {q1} to {q3} (n = {n}/{n_total})."),
    ),
    d.Finding(
        name="contradictions", where="n >= 5 and contradicting > 0 and content", size="contradicting / n",
        says=N_("{contradicting} agents contradicted themselves about something; each was asked which holds (n = "
                "{n}/{n_total})."),
    ),
)  # fmt: skip

CHARTS = (
    d.Chart(
        name="completeness", title=N_("Discovery: records after each question"), needs=("curve",),
        draw="enquete.graphs.discovery.charts:completeness",
        alt=N_("{shown_complete} of {n} records are complete after {last_question} questions; {last_known} of the "
               "fields are known."),
    ),
    d.Chart(
        name="coverage", title=N_("Discovery: what is known, by field and group"), needs=("fields",),
        draw="enquete.graphs.discovery.charts:coverage",
        over=d.View(at="section", where="type != 'object'", order=("-n",)),
        alt=N_("Agents of whom a field is known; of most: {label}, {n} of {n_total}."),
    ),
)  # fmt: skip

PRESENTATION = d.Presentation(
    tables=(FIELDS, NAMED, GROUP_TESTS, GROUPS, RECORDS, SAID, CONTRADICTIONS, CURVE, LEFT_OUT, TURNS), facts=FACTS,
        findings=FINDINGS,
    charts=CHARTS,
    texts=(
        d.Text(at="section", where="n > 0", says=N_(
            "Each agent was interviewed one to one to fill a record, “{title}”: after every answer the next question "
            "asked for what was still "
            "missing, {budget} questions at most. {complete} of {n} records are complete, after {questions} questions "
            "on average.")),
        d.Text(at="section", where="read_by_rule > 0", says=N_(
            "A rule stood in for the model and read {read_by_rule} of {answers_read} answers: it knows words, not "
            "meanings.")),
    ),
)  # fmt: skip
