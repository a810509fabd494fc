"""What the interviews' results are: concepts, links, ladders and patterns, each with the words it comes from, and what
is read of them where.

n: interviews begun, agents with an answered turn; agents: of these. A share's interval holds for one that is singled
out of all (Wilson's, corrected over the rows of its table).
"""

from __future__ import annotations

from enquete.locale import N_
from enquete.reports.declarations import (
    Chart,
    Column,
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

STOPS = {
    "max_turns": N_("all turns held"), "closing": N_("with a closing question"),
    "shallow": N_("only short answers left"), "no_yield": N_("nothing new any more"),
    "same_depth": N_("no further depth"), "all_exhausted": N_("all concepts exhausted"),
    "nothing_left": N_("no question left"), "ended": N_("by the person"), "": N_("not over"),
}  # fmt: skip
DROPPED = {
    "unknown node type": N_("unknown node type"), "empty concept": N_("empty concept"),
    "relationship to an unknown concept": N_("relationship to an unknown concept"),
    "relationship that the methodology does not allow": N_("relationship that the methodology does not allow"),
    "concept that is not in the answer": N_("concept that is not in the answer"),
    "several concepts in one": N_("several concepts in one"),
}  # fmt: skip
"""Why what was read is left out, as knowledge.py counts it."""
FATES = {
    "translated": N_("translated"), "lent": N_("lent by a shipped methodology"), "ignored": N_("ignored"),
    "dead": N_("dead: no such signal"),
}  # fmt: skip
"""As translation.py tells them."""
WORKS = {"extract": N_("reading answers"), "signal": N_("judging answers"), "question": N_("wording questions")}
ASKED = {"scored": N_("adaptive questions"), "random": N_("random questions"), "static": N_("a fixed script")}
MEASURED = {
    "richness": N_("concepts an interview"), "links": N_("links an interview"), "coverage": N_("share of the elements"),
    "new_per_turn": N_("new concepts a turn"), "turns": N_("turns"),
}  # fmt: skip
SIDES = {"towards": N_("for a change"), "against": N_("against a change"), "even": N_("neither")}
LARGER = {"more": N_("more"), "fewer": N_("fewer"), "as_many": N_("as many")}
KINDS = {"judged": N_("judged"), "signal": N_("signal"), "chosen": N_("chosen next"), "runner_up": N_("runner-up")}
FIRSTS = {"alone": N_("named most"), "tied": N_("among those named most")}
CODERS = {"model": N_("a model"), "rule": N_("a rule"), "failed": N_("a rule, for the model's could not be read")}

CONCEPT, AGENT = reference("concept", N_("Concept"), to="concepts"), reference("participant", N_("Agent"), to="agent")
FIRST = reference("first", N_("named most"), to="concepts")
TYPE, AGENTS, N, TOTAL = (
    reference("type", N_("Kind"), to="types"),
    integer("agents", N_("Agents")),
    integer("n", "n"),
    integer("n_total", "N"),
)
FOCUS, DIFFERENT = text("focus", N_("asked about")), N_("different concepts")
SHARE = (share("share", N_("share")), share("low", N_("lower bound")), share("high", N_("upper bound")))
MOST = code("tie", N_("place"), levels=FIRSTS, means=N_("ties are named as such"))
ITEM, ITEMS = text("item", N_("turn")), several("items", N_("turns"), means=N_("items in which it was said"))
TURN, WORDS = integer("turn", N_("Turn")), several("quotes", N_("words"), means=N_("what was said, one an utterance"))
SAID = (several("utterances", N_("utterances"), means=N_("agent#turn of each time that it was said")), WORDS)
CONFIDENCE = number("confidence", N_("confidence"), means=N_("of whoever read the answer"))


def measures(prefix: str = "") -> tuple[Column, ...]:
    """Columns of what ways of asking are compared by."""
    return tuple(
        share(prefix + m, label) if m == "coverage" else number(prefix + m, label, digits=1)
        for m, label in MEASURED.items()
    )


TYPES = Table(
    name="types", title=N_("Kinds of concepts"), key=("type",), label="label",
    columns=(
        text("type", N_("id")), text("label", N_("Kind of concept")),
        integer("rung", N_("rung"), means=N_("of the ladder")),
        flag("terminal", N_("end of a chain")), integer("different", DIFFERENT), FIRST, AGENTS,
        number("alpha", "α", means=N_("Krippendorff's α of the model's two codings")),
    ),
    views=(
        View(at="section", heading="", where="different > 0", columns=names("label different first agents")),
        View(at="appendix", where="alpha == alpha", columns=names("label different alpha"),
            heading=N_("Agreement of two codings")),
        View(at="digest", where="different > 0", columns=names("label different first agents")),
    ),
)  # fmt: skip

CONCEPTS = Table(
    name="concepts", title=N_("Concepts"), key=("concept",), label="label",
    columns=(
        text("concept", N_("id")), text("label", N_("Concept")), TYPE, AGENTS, *SHARE, interval("low", "high", "95%"),
        MOST, number("abstractness", N_("Abstractness"), means=N_("incoming of all direct links of the concept")),
        number("centrality", N_("Centrality"), means=N_("its direct links among all")),
        number("prestige", N_("Prestige"), means=N_("its incoming direct links among all")),
        text("opposite", N_("other pole")),
        text("definition", N_("Definition")), several("wordings", N_("Wordings")), ITEMS,
        integer("level", N_("level on the map"), means=N_("row of the value map, the lowest 0")),
        integer("place", N_("place on the level")),
    ),
    views=(
        View(at="appendix", where="@climbs == True", columns=names("label type agents share abstractness centrality "
                                                                   "prestige"), top=15),
        View(at="appendix", where="@climbs == False", columns=names("label type agents share"), top=15),
        View(at="digest", columns=names("label type agents share"), top=15),
        View(at="memory", where="agents > 1 and @by_rule == False", top=5,
            says=N_("“{label}” ({type}) was named by {agents} of {n} agents.")),
    ),
    note=N_("Abstractness: incoming among the concept's direct links; centrality and prestige: its links, or incoming "
            "ones, among all."),
)  # fmt: skip

RELATIONS = Table(
    name="relations", title=N_("Kinds of links"), key=("relation",), label="label",
    columns=(text("relation", N_("id")), text("label", N_("Link"))),
)  # fmt: skip

IMPLICATIONS = Table(
    name="implications", title=N_("Implication matrix"), key=("source", "target"),
    columns=(
        reference("source", N_("From"), to="concepts"), reference("relation", N_("Link"), to="relations"),
        reference("target", N_("To"), to="concepts"),
        integer("direct", N_("direct"), means=N_("agents who link the two directly")),
        integer("indirect", N_("indirect"), means=N_("agents who link them only by way of others")), *SHARE,
        ITEMS, flag("shown", N_("on the map")),
    ),
    views=(
        View(at="section", heading="", where="shown and @climbs and direct > 0",
            columns=names("source relation target direct share"), top=8,
             note=N_("Agents who gave the link, the strongest {shown} of {rows} on the map.")),
        View(at="appendix", where="shown", columns=names("source relation target direct indirect"), top=15,
            heading=N_("Value map"),
             note=N_("Links that {cut_off} agents at least gave, {map_share} of all given; here {shown} of {rows}.")),
        View(at="digest", where="shown", columns=names("source relation target direct share"), top=15),
        View(at="memory", where="direct > 1 and shown and @by_rule == False", top=5,
             says=N_("“{source}” {relation} “{target}”, said {direct} of {n} agents.")),
    ),
)  # fmt: skip

FORCES = Table(
    name="forces", title=N_("Forces"), key=("force",),
    columns=(
        text("force", N_("Force")), code("side", N_("side"), levels=SIDES), AGENTS, N, of("agents", "n", N_("Agents")),
        integer("asked", N_("asked for it")), integer("codes", DIFFERENT), FIRST,
    ),
    views=(View(at="section", heading="", columns=names("force side agents_of_n asked codes first")),
        View(at="digest")),
)  # fmt: skip

BALANCE = Table(
    name="balance", title=N_("Balance of forces"), key=("direction",),
    columns=(
        code("direction", N_("named more"), levels=SIDES, replicates=True), N, TOTAL,
        integer("towards", N_("more for it")),
        integer("even", N_("as much")), integer("against", N_("more against it")),
        integer("decided", N_("one or the other")), *SHARE,
        number("mean", N_("mean balance"), means=N_("−1 all against a change, 1 all for it")), p_value("p"),
        adjusted_p(),
    ),
    views=(View(at="section", heading="", columns=names("n towards even against mean p_adjusted"),
                note=N_("Agents who name more for a change than against it, or the reverse; balance: −1 all against, "
                        "1 all for it.")),
           View(at="digest")),
)  # fmt: skip

STEPS = Table(
    name="steps", title=N_("Journey"), key=("step",),
    columns=(
        reference("step", N_("Step, in the order it was told"), to="concepts"), integer("place", N_("place")), AGENTS,
        integer("n", "n", means=N_("agents who told how they were there")), TOTAL, of("n", "n_total", "n / N"),
        number("mean", N_("Valence (1–5)")), number("low", N_("lower bound")), number("high", N_("upper bound")),
        flag("lowest", N_("lowest"), means=N_("of the steps that five agents at least told their feelings of")),
        reference("feeling", N_("felt most"), to="concepts"),
        reference("friction", N_("friction named most"), to="concepts"), integer("frictions", N_("frictions")),
    ),
    views=(View(at="section", heading="", columns=names("step agents mean n_of_n_total feeling friction"), top=10,
                note=N_("Of two steps the one stands first that more agents told first. Valence: of the answers that "
                        "tell how people felt there.")),
           View(at="digest", columns=names("step agents mean n"), top=10)),
)  # fmt: skip

PARTS = Table(
    name="parts", title=N_("Parts of an incident"), key=("part",), label="part",
    columns=(text("part", N_("Part of the incident")), integer("told", N_("incidents with it")),
        integer("tellings", N_("incidents told")),
             of("told", "tellings", N_("incidents told with it")), integer("different", DIFFERENT), FIRST),
    views=(View(at="section", heading="", columns=names("part told_of_tellings different first")),),
)  # fmt: skip

INCIDENTS = Table(
    name="incidents", title=N_("Incidents"), key=("incident", "part"),
    columns=(reference("incident", N_("Incident"), to="concepts"),
        reference("part", N_("Part of the incident"), to="parts"), AGENTS, FIRST,
             integer("told_by", N_("Agents"), means=N_("who tell the incident")), *SHARE, MOST,
             flag("centre", N_("the incident itself"))),
    views=(View(at="section", heading="", top=30,
        spread=Spread(column="part", rows=names("incident told_by"), cells=("first",)), note=N_(
                "The incidents told most, with what is told most of each part.")),
           View(at="digest", where="centre", columns=names("incident told_by share"), top=8)),
)  # fmt: skip

GROUPS, GROUP_TESTS = group_tables(CONCEPT, N_("Who names which concept"), share=True)

COMPARED = Table(
    name="strategies_compared", title=N_("Ways of asking"), key=("strategy",),
    columns=(code("strategy", N_("Asked"), levels=ASKED), N, *measures()),
    views=(View(at="section", heading="", note=N_("Means over agents whom all ways interviewed to the end, by one "
                                                  "codebook.")),),
)  # fmt: skip

ADAPTING = Table(
    name="adapting", title=N_("Whether adapting helped"), key=("strategy", "measure"),
    columns=(
        code("strategy", N_("compared with"), levels=ASKED), code("measure", N_("measure"), levels=MEASURED), N,
        number("mean", N_("adaptive more by"), digits=1), number("low", N_("lower bound"), digits=1),
        number("high", N_("upper bound"), digits=1),
        interval("low", "high", "95%", digits=1), number("size", N_("difference"), digits=1),
        code("direction", N_("adaptive found"), levels=LARGER, replicates=True),
        number("detectable", N_("detectable"), digits=1, means=N_("difference that would be found four times in five")),
        p_value("p"), adjusted_p(),
    ),
    views=(
        View(at="section", heading="", where="measure == 'richness' and n < 5",
             says=N_("Whether adapting helped cannot be said of {n} agents: it takes five interviewed by both.")),
        View(at="appendix", columns=names("strategy measure n mean low_to_high p_adjusted")),
    ),
)  # fmt: skip

INTERVIEWS_COMPARED = Table(
    name="interviews_compared", title=N_("Interviews by way of asking"), key=("participant", "strategy"),
    one_agent=True, columns=(AGENT, code("strategy", N_("Asked"), levels=ASKED), *measures()),
)  # fmt: skip

COVERAGE = Table(
    name="coverage", title=N_("Coverage of the topic"), key=("element",), label="label",
    columns=(
        text("element", N_("id")), text("label", N_("Element")), text("kind", N_("Kind")), AGENTS, N,
        of("agents", "n", N_("Agents")),
        flag("most", N_("most speak of it"), replicates=True), integer("concepts", DIFFERENT),
        several("types", N_("kinds of concepts"), to="types"),
        number("depth", N_("Depth"), means=N_("longest chain of kinds of concepts as a share of all, mean of those "
                                              "who spoke of it")),
    ),
    views=(View(at="appendix", columns=names("label agents_of_n concepts depth")),
        View(at="digest", columns=names("label agents concepts"))),
    note=N_("Depth: longest connected chain of kinds of concepts, as a share of all kinds."),
)  # fmt: skip

SATURATION = Table(
    name="saturation", title=N_("Saturation"), key=("interviews",), one_agent=True,
    columns=(integer("interviews", N_("after interviews")), AGENT, integer("concepts", DIFFERENT),
        integer("new", N_("of these new")),
             flag("mark", N_("told"))),
    views=(View(at="appendix", where="mark", columns=names("interviews concepts new")),),
)  # fmt: skip

STRATEGIES = Table(
    name="strategies", title=N_("How it was asked"), key=("strategy",), label="label",
    columns=(text("strategy", N_("id")), text("label", N_("Strategy")), integer("used", N_("used")),
             integer("yielded", N_("with yield"), means=N_("the answer brought something new")),
             share("rate", N_("share"))),
    views=(View(at="appendix", columns=names("label used yielded rate")),),
)  # fmt: skip

WORK = Table(
    name="work", title=N_("Who did the interviewer's work"), key=("work",),
    columns=(code("work", N_("Work"), levels=WORKS), integer("model", N_("model")), integer("fallback", N_("fallback")),
             integer("rule", N_("rule (a stand-in)"))),
    views=(View(at="appendix"),),
)  # fmt: skip

DROPS = Table(
    name="dropped", title=N_("Read, but left out"), key=("why",),
    columns=(code("why", N_("why"), levels=DROPPED), integer("n", N_("times"))), views=(View(at="appendix"),),
)  # fmt: skip

TRANSLATED = Table(
    name="translated", title=N_("Files of another program: what became of their keys"), key=("file", "key"),
    columns=(
        text("file", N_("file")), text("key", N_("key")), code("fate", N_("what became of it"), levels=FATES),
        text("into", N_("here"), means=N_("of a dead key the nearest that there is")),
    ),
    views=(View(at="appendix", where="fate != 'translated'", columns=names("file key fate into")),),
)  # fmt: skip

ENDS = Table(
    name="stops", title=N_("How interviews ended"), key=("stop",),
    columns=(code("stop", N_("End"), levels=STOPS), integer("n", N_("Interviews"))), views=(View(at="appendix"),),
)  # fmt: skip

INTERVIEWS = Table(
    name="interviews", title=N_("Interview by interview"), key=("participant",), one_agent=True,
    columns=(
        AGENT, integer("turns", N_("Turns")), code("stop", N_("End"), levels=STOPS),
        integer("named", N_("concepts in its own words")),
        integer("laddering_concepts", N_("different concepts in the interview"), agents=True),
        integer("links", N_("Links")),
        integer("retracted", N_("taken back")), integer("chain", N_("Longest chain"),
            means=N_("kinds of concepts that hang together")),
        share("complete", N_("ladders completed"), means=N_("concepts on the lowest rung from which a chain climbs to "
                                                            "an end")),
        integer("elements", N_("elements spoken of")), integer("elements_total", N_("elements")),
        of("elements", "elements_total", N_("Elements")), share("breadth", N_("share of the elements")),
        number("laddering_depth", N_("depth of the ladders"), agents=True, means=N_("mean over all elements")),
        number("laddering_balance", N_("balance of the forces"), agents=True,
            means=N_("−1 all against a change, 1 all for it")),
        integer("focus_changes", N_("changes of focus")),
    ),
    views=(View(at="appendix", columns=names("participant turns laddering_concepts links elements_of_elements_total "
                                             "chain complete stop"),
                top=50),),
)  # fmt: skip

NODES = Table(
    name="nodes", title=N_("Concepts in the agents' words"), key=("participant", "node"), one_agent=True,
    columns=(
        AGENT, text("node", N_("id")), CONCEPT, TYPE, text("text", N_("Words")), TURN, ITEM, text("quote", N_("said")),
        CONFIDENCE, flag("retracted", N_("taken back")), several("elements", N_("elements"), to="coverage"), *SAID,
    ),
    views=(View(at="appendix", where="concept in ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'] and not retracted",
        order=("concept",),
                by=("concept",), quote="quote", who=names("participant turn"), most=2,
                note=N_("The first two quotations of the concepts named most; all are in tables/nodes.csv.")),),
)  # fmt: skip

EDGES = Table(
    name="edges", title=N_("Links in the agents' words"), key=("participant", "source", "target", "relation"),
    one_agent=True,
    columns=(
        AGENT, text("source", N_("From")), text("target", N_("To")), reference("relation", N_("Link"), to="relations"),
        TURN, CONFIDENCE, flag("retracts", N_("takes back")), flag("contrast", N_("other pole")), *SAID,
    ),
)  # fmt: skip

TURNS = Table(
    name="turns", title=N_("Turn by turn"), key=("participant", "turn"), one_agent=True,
    columns=(
        AGENT, TURN, ITEM, text("question", N_("Question")), text("strategy", N_("Strategy")),
        text("technique", N_("technique")), FOCUS, text("answer", N_("Answer")), text("status", N_("status")),
        text("response_depth", N_("depth")), several("new_concepts", N_("new concepts")),
        integer("new_links", N_("new links")), integer("merged", N_("said before")), text("sentiment", N_("sentiment")),
        several("topics", N_("topics")), code("stop", N_("End"), levels=STOPS),
        *(text(f"by_{work}", label) for work, label in WORKS.items()), several("fallback", N_("done by the fallback")),
    ),
)  # fmt: skip

SIGNALS = Table(
    name="signals", title=N_("Judgements, signals and scores"), key=names("participant turn kind name focus"),
    one_agent=True,
    columns=(AGENT, TURN, code("kind", N_("kind"), levels=KINDS), text("name", N_("of what")), FOCUS,
        number("number", N_("value")),
             text("word", N_("word"), means=N_("a reason, a value that is a word, or the parts of a score"))),
)  # fmt: skip

FACTS = (
    text("topic", N_("topic")), text("method", N_("method")), text("concept", N_("concept file")),
    text("methodology", N_("methodology file")), several("ladder", N_("rungs"), to="types"),
    reference("top_rung", "", to="types"), flag("climbs", N_("ladder")), code("strategy", N_("Asked"), levels=ASKED),
    flag("compared", N_("ways of asking compared")), N, TOTAL, integer("n_over", N_("interviews that are over")),
    integer("n_answered"), integer("n_asked"), integer("n_concepts", N_("concepts")),
    code("most_named", "", levels=FIRSTS), integer("n_late"), integer("n_late_new", N_("new in the last quarter")),
    code("coding", N_("coded by"), levels=CODERS), integer("n_rest"), several("failed_types", to="types"),
    integer("cut_off", N_("cut-off of the map")), integer("cut_off_wanted"), integer("n_shown"), integer("n_links"),
    share("map_share", N_("links on the map")), share("map_repeated", N_("links given by two agents or more")),
    integer("n_barren"), integer("n_answers"), integer("n_unread"), integer("n_empty"), integer("n_found"),
    integer("n_invented"), integer("n_by_rule"), integer("n_read"), integer("n_dead"),
    flag("by_rule", N_("read by a rule")), *measures("mean_"), integer("n_told", N_("agents who told an incident")),
    integer("n_whole", N_("agents who told one with every part")), share("whole_share"), share("whole_low"),
    share("whole_high"),
)  # fmt: skip

TEXTS = (
    TextBlock(at="section", word="climbs", says={
        "True": N_("Each agent was interviewed one to one on “{topic}” ({method}); every answer was broken down into "
                   "concepts on the rungs {ladder} and links between them, from which the next question was computed."),
        "False": N_("Each agent was interviewed one to one on “{topic}” ({method}); every answer was broken down into "
                    "concepts and links between them, from which the next question was computed."),
    }),
    TextBlock(at="section", where="n_by_rule > 0", says=N_(
        "A rule stood in for the model and read {n_by_rule} of {n_read} answers: it knows words, not meanings, so the "
        "tables show how an interview works, not what was meant.")),
    TextBlock(at="section", where="n_by_rule == 0",
        says=N_("A link counts once an agent; concepts in nearly equal words are one.")),
    TextBlock(at="section", where="n_concepts == 0", says=N_("No concept has been found in the answers yet.")),
    TextBlock(at="appendix", where="n > 0 and mean_coverage == mean_coverage", says=N_(
        "{n_over} of {n} interviews begun are over ({n_total} agents), on average with {mean_turns} turns, "
        "{mean_richness} concepts, {mean_links} links and {mean_coverage} of the elements.")),
    TextBlock(at="appendix", where="n > 0 and mean_coverage != mean_coverage", says=N_(
        "{n_over} of {n} interviews begun are over ({n_total} agents), on average with {mean_turns} turns, "
        "{mean_richness} concepts and {mean_links} links.")),
    TextBlock(at="section", where="n_dead > 0", says=N_(
        "The files of another program were read as they are; {n_dead} of their keys name a signal that there is not "
        "here and count for nothing (appendix).")),
    TextBlock(at="appendix", word="strategy", says={
        "random": N_("Strategy and concept were chosen at random (comparison)."),
        "static": N_("A fixed script of the same length was asked, whatever was answered (comparison)."),
    }),
    TextBlock(at="appendix", after="concepts", word="coding", where="n_concepts > 0", says={
        "model": N_("Codes are a model's ({n_rest} are a rule's, for concepts that it gave none)."),
        "rule": N_("Codes are a rule's, a stand-in that knows stems of words, not meanings: read codebook.yaml, edit "
                   "it, and apply it again."),
        "failed": N_("The model's codes could not be read ({failed_types}). Codes are a rule's, a stand-in that knows "
                     "stems of words, not meanings: read codebook.yaml, edit it, and apply it again."),
    }),
    TextBlock(at="appendix", after="implications", where="map_repeated < .5", says=N_(
        "Only {map_repeated} of the links were given by two agents or more: too few repetitions for a map of a group, "
        "it shows single voices.")),
    TextBlock(at="appendix", after="implications",
        where="cut_off_wanted != cut_off and cut_off_wanted == cut_off_wanted",
        says=N_(
        "The cut-off was meant to be {cut_off_wanted}; with {cut_off} the map can be read.")),
    TextBlock(at="appendix", after="work", where="n_answers > 0", says=N_(
        "Of {n_answers} answers {n_unread} were read by nobody and {n_empty} gave no concept; of {n_found} concepts "
        "{n_invented} were left out because nobody said them.")),
)  # fmt: skip

KNOWN = "@n >= 5 and @by_rule == False"
FINDINGS = (
    Finding(
        name="by_rule", kind="null", where="by_rule == True and n >= 5",
        says=N_("What leads to what is not known: a rule stood in for the model and read {n_by_rule} of {n_read} "
                "answers (n = {n}/{n_total} interviews)."),
    ),
    Finding(
        name="nothing", kind="null", where="n_concepts == 0 and n >= 5 and by_rule == False",
        says=N_("No concept was found in the {n_answers} answers (n = {n}/{n_total} interviews)."),
    ),
    group_finding(
        CONCEPT,
        N_("“{concept}” is named by {mean_highest} of {highest} and {mean_lowest} of {lowest} (effect {effect}, "
           "adjusted {p}; n = {n}/{n_total})."),
        null=N_("No concept is named by one group more than by another ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="mean_highest - mean_lowest", where="@by_rule == False", chart="concepts",
    ),
    Finding(
        name="forces", table="balance", kind="difference", word="direction", p="p", where=KNOWN, test="sign test",
        estimate="share", low="low", high="high", size="abs(towards - against) / n", chart="forces",
        says={
            "towards": N_("{towards} of {decided} agents name more for a change than against it ({share}, 95% "
                          "interval {low} to {high}, adjusted {p}; n = {n}/{n_total})."),
            "against": N_("{against} of {decided} agents name more against a change than for it (adjusted {p}; n = "
                          "{n}/{n_total})."),
        },
        null=N_("Neither side of a change is named by more agents: more for it by {towards}, more against it by "
                "{against} (adjusted {p}; n = {n}/{n_total})."),
    ),
    Finding(
        name="journey", table="steps", where=f"lowest and {KNOWN}", estimate="mean", low="low", high="high",
        size="(3 - mean) / 2", scale="1, 5", chart="journey",
        says=N_("Lowest point of the journey: “{step}”, where answers about feelings have a mean valence of {mean} "
                "of 5 (95% interval {low} to {high} for the lowest of all; n = {n}/{n_total})."),
    ),
    Finding(
        name="whole", where="n_told > 0 and n >= 5 and by_rule == False", estimate="whole_share", low="whole_low",
        high="whole_high", size="whole_share", chart="incidents",
        says=N_("{n_whole} of {n_told} agents who told an incident told one from what led to it to what stays "
                "({whole_share}, 95% interval {whole_low} to {whole_high}; n = {n}/{n_total})."),
    ),
    Finding(
        name="incident", table="incidents", where=f"centre and told_by > 1 and {KNOWN}", estimate="share", low="low",
        high="high", size="share", chart="incidents",
        says=N_("Of the incidents “{incident}” is {tie}, in {told_by} interviews ({share}, 95% interval {low} to "
                "{high}; n = {n}/{n_total})."),
    ),
    Finding(
        name="link", table="implications", where=f"direct > 1 and @climbs and {KNOWN}", estimate="share", low="low",
        high="high", size="share", items="items", top=2, chart="value_map",
        says=N_("“{source}” {relation} “{target}” in {direct} interviews ({share}, 95% interval {low} to {high} for "
                "one of all links; n = {n}/{n_total})."),
    ),
    Finding(
        name="end", table="concepts", where=f"agents > 1 and @climbs and type == @top_rung and {KNOWN}",
        estimate="share", low="low", high="high", size="share", items="items", chart="value_map",
        says=N_("As {type} “{label}” is {tie}, in {agents} interviews ({share}, 95% interval {low} to {high}; n = "
                "{n}/{n_total})."),
    ),
    Finding(
        name="concept", table="concepts", where=KNOWN, estimate="share", low="low", high="high", size="share",
        items="items", chart="concepts",
        says=N_("Of all concepts “{label}” is {most_named}, in {agents} interviews ({share}, 95% interval {low} to "
                "{high}; n = {n}/{n_total})."),
    ),
    Finding(
        name="saturation", where="n >= 5 and by_rule == False and n_concepts > 0", estimate="n_late_new",
        size="n_late_new / n_concepts", scale="0, n_concepts", chart="saturation",
        says=N_("The last quarter of the interviews brought {n_late_new} of {n_concepts} different concepts (n = "
                "{n}/{n_total})."),
    ),
    Finding(
        name="adapting", table="adapting", kind="difference", word="direction", p="p", test="paired t", estimate="mean",
        low="low", high="high", size="size / @mean_richness", where="measure == 'richness' and @by_rule == False",
        top=2,
        says={
            "more": N_("Adapting helped: adaptive questions found {size} more concepts an interview than {strategy} "
                       "(95% interval {low} to {high}, adjusted {p}; n = {n}/{n_total})."),
            "fewer": N_("Adapting did not help: adaptive questions found {size} fewer concepts an interview than "
                        "{strategy} (adjusted {p}; n = {n}/{n_total})."),
        },
        null=N_("Whether adapting helped is not certain: adaptive questions found {mean} more concepts an interview "
                "than {strategy} (95% interval {low} to {high}, adjusted {p}; n = {n}/{n_total}); {power}."),
    ),
)  # fmt: skip

DRAW = "enquete.graphs.laddering.charts:{}".format
CHARTS = (
    Chart(name="forces", title=N_("Forces: what speaks for a change and what against it"), needs=("forces",),
        draw=DRAW("forces"),
          alt=N_("Agents who name each force, of {n}; first: {force}, {agents}.")),
    Chart(name="journey", title=N_("Journey: how people are at each step, in the order it was told"), needs=("steps",),
          draw=DRAW("journey"), over=View(at="section", where="n > 0", order=("mean",)),
          alt=N_("Mean valence along the steps; lowest: {step}, {mean} (n = {n}).")),
    Chart(name="incidents", title=N_("Incidents: how far along its chain each was told, by agents"),
        needs=("incidents",),
          draw=DRAW("incidents"), alt=N_("Agents who told each part of the incidents; told most: {incident}, by "
                                         "{told_by}.")),
    Chart(name="value_map", title=N_("Laddering: concepts and how they hang together"),
        needs=("implications", "concepts"),
          draw=DRAW("value_map"), over=View(at="section", where="shown"),
          alt=N_("Map of {n_shown} concepts and {n_links} links; strongest: “{source}” {relation} “{target}”, "
                 "{direct} agents.")),
    Chart(name="concepts", title=N_("Laddering: concepts by the agents who name them"), needs=("concepts",),
        draw=DRAW("concepts"),
        over=View(at="section", top=20),
        alt=N_("Share of {n} agents who name each concept; most: {label}, {share}.")),
    Chart(name="coverage", title=N_("Laddering: agents who speak of each element of the topic"), needs=("coverage",),
        draw=DRAW("coverage"),
          over=View(at="appendix", order=("-agents",)), at="appendix",
          alt=N_("Agents who speak of each element, of {n}; most: {label}, {agents}.")),
    Chart(name="saturation", title=N_("Laddering: distinct concepts after each interview"), needs=("saturation",),
        draw=DRAW("saturation"),
          over=View(at="appendix", order=("-interviews",)), at="appendix",
          alt=N_("{concepts} distinct concepts after {interviews} interviews; the last quarter of them brought "
                 "{n_late_new}.")),
)  # fmt: skip

GLOSSARY = {
    N_("ladder"): N_("a chain from what something is, over what follows from it, to why that matters to someone"),
    N_("value map"): N_("the links between concepts that at least as many agents gave as the cut-off says"),
    N_("saturation"): N_("how few new concepts each further interview brings"),
}

PRESENTATION = Presentation(
    tables=(FORCES, BALANCE, STEPS, PARTS, INCIDENTS, IMPLICATIONS, TYPES, GROUP_TESTS, GROUPS, COMPARED,
        ADAPTING, CONCEPTS, NODES,
        COVERAGE, SATURATION, ENDS, INTERVIEWS, STRATEGIES, WORK, DROPS, TRANSLATED, RELATIONS, INTERVIEWS_COMPARED,
                EDGES, TURNS, SIGNALS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS,
)  # fmt: skip
