"""What the interviews' results are: concepts, links and ladders, each with the words it comes from, and what
is read of them where.

n: interviews begun, agents with an answered turn; agents: of these. A share's interval holds for one that is singled
out of all (Wilson's, corrected over the rows of its table).
"""

from __future__ import annotations

from enquete.locale import N_
from enquete.reports import declarations as d

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
LARGER = {"more": N_("more"), "fewer": N_("fewer"), "as_many": N_("as many"), "unclear": N_("no difference found")}
KINDS = {"judged": N_("judged"), "signal": N_("signal"), "chosen": N_("chosen next"), "runner_up": N_("runner-up")}
FIRSTS = {"alone": N_("named most"), "tied": N_("among those named most")}
CODERS = {"model": N_("a model"), "rule": N_("a rule"), "failed": N_("a rule, for the model's could not be read")}

CONCEPT, AGENT = (
    d.reference("concept", N_("Concept"), to="concepts"),
    d.reference("participant", N_("Agent"), to="agent"),
)
FIRST = d.reference("first", N_("named most"), to="concepts")
TYPE, AGENTS, N, TOTAL = (
    d.reference("type", N_("Kind"), to="types"),
    d.integer("agents", N_("Agents")),
    d.integer("n", "n"),
    d.integer("n_total", "N"),
)
FOCUS, DIFFERENT = d.text("focus", N_("asked about")), N_("different concepts")
SHARE = (d.share("share", N_("share")), d.share("low", N_("lower bound")), d.share("high", N_("upper bound")))
MOST = d.code("tie", N_("place"), levels=FIRSTS, means=N_("ties are named as such"))
ITEM, ITEMS = d.text("item", N_("turn")), d.several("items", N_("turns"), means=N_("items in which it was said"))
TURN, WORDS = (
    d.integer("turn", N_("Turn")),
    d.several("quotes", N_("words"), means=N_("what was said, one an utterance")),
)
SAID = (d.several("utterances", N_("utterances"), means=N_("agent#turn of each time that it was said")), WORDS)
CONFIDENCE = d.number("confidence", N_("confidence"), means=N_("of whoever read the answer"))


def measures(prefix: str = "") -> tuple[d.Column, ...]:
    """Columns of what ways of asking are compared by."""
    return tuple(
        d.share(prefix + m, label) if m == "coverage" else d.number(prefix + m, label, digits=1)
        for m, label in MEASURED.items()
    )


TYPES = d.Table(
    name="types", title=N_("Kinds of concepts"), key=("type",), label="label",
    columns=(
        d.text("type", N_("id")), d.text("label", N_("Kind of concept")),
        d.integer("rung", N_("rung"), means=N_("of the ladder")),
        d.flag("terminal", N_("end of a chain")), d.integer("different", DIFFERENT), FIRST, AGENTS,
        d.number("alpha", "α", means=N_("Krippendorff's α of the model's two codings")),
    ),
    views=(
        d.View(at="section", heading="", where="different > 0", columns=d.names("label different first agents")),
        d.View(at="appendix", where="alpha == alpha", columns=d.names("label different alpha"),
            heading=N_("Agreement of two codings")),
        d.View(at="digest", where="different > 0", columns=d.names("label different first agents")),
    ),
)  # fmt: skip

CONCEPTS = d.Table(
    name="concepts", title=N_("Concepts"), key=("concept",), label="label",
    columns=(
        d.text("concept", N_("id")), d.text("label", N_("Concept")), TYPE, AGENTS, *SHARE,
        d.interval("low", "high", "95%"),
        MOST, d.number("abstractness", N_("Abstractness"), means=N_("incoming of all direct links of the concept")),
        d.number("centrality", N_("Centrality"), means=N_("its direct links among all")),
        d.number("prestige", N_("Prestige"), means=N_("its incoming direct links among all")),
        d.text("opposite", N_("other pole")),
        d.text("definition", N_("Definition")), d.several("wordings", N_("Wordings")), ITEMS,
        d.integer("level", N_("level on the map"), means=N_("row of the value map, the lowest 0")),
        d.integer("place", N_("place on the level")),
    ),
    views=(
        d.View(at="appendix", where="@climbs == True",
            columns=d.names("label type agents share abstractness centrality "
                                                                   "prestige"), top=15),
        d.View(at="appendix", where="@climbs == False", columns=d.names("label type agents share"), top=15),
        d.View(at="digest", columns=d.names("label type agents share"), top=15),
        d.View(at="memory", where="agents > 1 and @by_rule == False", top=5,
            says=N_("“{label}” ({type}) was named by {agents} of {n} agents.")),
    ),
    note=N_("Abstractness: incoming among the concept's direct links; centrality and prestige: its links, or incoming "
            "ones, among all."),
)  # fmt: skip

RELATIONS = d.Table(
    name="relations", title=N_("Kinds of links"), key=("relation",), label="label",
    columns=(d.text("relation", N_("id")), d.text("label", N_("Link"))),
)  # fmt: skip

IMPLICATIONS = d.Table(
    name="implications", title=N_("Implication matrix"), key=("source", "target"),
    columns=(
        d.reference("source", N_("From"), to="concepts"), d.reference("relation", N_("Link"), to="relations"),
        d.reference("target", N_("To"), to="concepts"),
        d.integer("direct", N_("direct"), means=N_("agents who link the two directly")),
        d.integer("indirect", N_("indirect"), means=N_("agents who link them only by way of others")), *SHARE,
        ITEMS, d.flag("shown", N_("on the map")),
    ),
    views=(
        d.View(at="section", heading="", where="shown and @climbs and direct > 0",
            columns=d.names("source relation target direct share"), top=8,
             note=N_("Agents who gave the link, the strongest {shown} of {rows} on the map.")),
        d.View(at="appendix", where="shown", columns=d.names("source relation target direct indirect"), top=15,
            heading=N_("Value map"),
             note=N_("Links that {cut_off} agents at least gave, {map_share} of all given; here {shown} of {rows}.")),
        d.View(at="digest", where="shown", columns=d.names("source relation target direct share"), top=15),
        d.View(at="memory", where="direct > 1 and shown and @by_rule == False", top=5,
             says=N_("“{source}” {relation} “{target}”, said {direct} of {n} agents.")),
    ),
)  # fmt: skip

GROUPS, GROUP_TESTS = d.group_tables(CONCEPT, N_("Who names which concept"), share=True)

COMPARED = d.Table(
    name="strategies_compared", title=N_("Ways of asking"), key=("strategy",),
    columns=(d.code("strategy", N_("Asked"), levels=ASKED), N, *measures()),
    views=(d.View(at="section", heading="", note=N_("Means over agents whom all ways interviewed to the end, by one "
                                                  "codebook.")),),
)  # fmt: skip

ADAPTING = d.Table(
    name="adapting", title=N_("Whether adapting helped"), key=("strategy", "measure"),
    columns=(
        d.code("strategy", N_("compared with"), levels=ASKED), d.code("measure", N_("measure"), levels=MEASURED), N,
        d.number("mean", N_("adaptive more by"), digits=1), d.number("low", N_("lower bound"), digits=1),
        d.number("high", N_("upper bound"), digits=1),
        d.interval("low", "high", "95%", digits=1), d.number("size", N_("difference"), digits=1),
        d.code("direction", N_("adaptive found"), levels=LARGER, replicates=True,
            unless_sure={"more": "unclear", "fewer": "unclear"}),
        d.number("detectable", N_("detectable"), digits=1,
            means=N_("difference that would be found four times in five")),
        d.p_value("p"), d.adjusted_p(),
    ),
    views=(
        d.View(at="section", heading="", where="measure == 'richness' and n < 5",
             says=N_("Whether adapting helped cannot be said of {n} agents: it takes five interviewed by both.")),
        d.View(at="appendix", columns=d.names("strategy measure n mean low_to_high p_adjusted")),
    ),
)  # fmt: skip

COVERAGE = d.Table(
    name="coverage", title=N_("Coverage of the topic"), key=("element",), label="label",
    columns=(
        d.text("element", N_("id")), d.text("label", N_("Element")), d.text("kind", N_("Kind")), AGENTS, N,
        d.of("agents", "n", N_("Agents")),
        d.flag("most", N_("most speak of it"), replicates=True), d.integer("concepts", DIFFERENT),
        d.several("types", N_("kinds of concepts"), to="types"),
        d.number("depth", N_("Depth"), means=N_("longest chain of kinds of concepts as a share of all, mean of those "
                                              "who spoke of it")),
    ),
    views=(d.View(at="appendix", columns=d.names("label agents_of_n concepts depth")),
        d.View(at="digest", columns=d.names("label agents concepts"))),
    note=N_("Depth: longest connected chain of kinds of concepts, as a share of all kinds."),
)  # fmt: skip

SATURATION = d.Table(
    name="saturation", title=N_("Saturation"), key=("interviews",), one_agent=True,
    columns=(d.integer("interviews", N_("after interviews")), AGENT, d.integer("concepts", DIFFERENT),
        d.integer("new", N_("of these new")),
             d.flag("mark", N_("told"))),
    views=(d.View(at="appendix", where="mark", columns=d.names("interviews concepts new")),),
)  # fmt: skip

STRATEGIES = d.Table(
    name="strategies", title=N_("How it was asked"), key=("strategy",), label="label",
    columns=(d.text("strategy", N_("id")), d.text("label", N_("Strategy")), d.integer("used", N_("used")),
             d.integer("yielded", N_("with yield"), means=N_("the answer brought something new")),
             d.share("rate", N_("share"))),
    views=(d.View(at="appendix", columns=d.names("label used yielded rate")),),
)  # fmt: skip

WORK = d.Table(
    name="work", title=N_("Who did the interviewer's work"), key=("work",),
    columns=(d.code("work", N_("Work"), levels=WORKS), d.integer("model", N_("model")),
        d.integer("fallback", N_("fallback")),
             d.integer("rule", N_("rule (a stand-in)"))),
    views=(d.View(at="appendix"),),
)  # fmt: skip

DROPS = d.Table(
    name="dropped", title=N_("Read, but left out"), key=("why",),
    columns=(d.code("why", N_("why"), levels=DROPPED), d.integer("n", N_("times"))), views=(d.View(at="appendix"),),
)  # fmt: skip

TRANSLATED = d.Table(
    name="translated", title=N_("Files of another program: what became of their keys"), key=("file", "key"),
    columns=(
        d.text("file", N_("file")), d.text("key", N_("key")), d.code("fate", N_("what became of it"), levels=FATES),
        d.text("into", N_("here"), means=N_("of a dead key the nearest that there is")),
    ),
    views=(d.View(at="appendix", where="fate != 'translated'", columns=d.names("file key fate into")),),
)  # fmt: skip

ENDS = d.Table(
    name="stops", title=N_("How interviews ended"), key=("stop",),
    columns=(d.code("stop", N_("End"), levels=STOPS), d.integer("n", N_("Interviews"))), views=(d.View(at="appendix"),),
)  # fmt: skip

INTERVIEWS = d.Table(
    name="interviews", title=N_("Interview by interview"), key=("participant",), one_agent=True,
    columns=(
        AGENT, d.integer("turns", N_("Turns")), d.code("stop", N_("End"), levels=STOPS),
        d.integer("named", N_("concepts in its own words")),
        d.integer("laddering_concepts", N_("different concepts in the interview"), agents=True),
        d.integer("links", N_("Links")),
        d.integer("retracted", N_("taken back")), d.integer("chain", N_("Longest chain"),
            means=N_("kinds of concepts that hang together")),
        d.share("complete", N_("ladders completed"),
            means=N_("concepts on the lowest rung from which a chain climbs to "
                                                            "an end")),
        d.integer("elements", N_("elements spoken of")), d.integer("elements_total", N_("elements")),
        d.of("elements", "elements_total", N_("Elements")), d.share("breadth", N_("share of the elements")),
        d.number("laddering_depth", N_("depth of the ladders"), agents=True, means=N_("mean over all elements")),
        d.integer("focus_changes", N_("changes of focus")),
    ),
    views=(d.View(at="appendix",
        columns=d.names("participant turns laddering_concepts links elements_of_elements_total "
                                             "chain complete stop"),
                top=50),),
)  # fmt: skip

NODES = d.Table(
    name="nodes", title=N_("Concepts in the agents' words"), key=("participant", "node"), one_agent=True,
    columns=(
        AGENT, d.text("node", N_("id")), CONCEPT, TYPE, d.text("text", N_("Words")), TURN, ITEM,
        d.text("quote", N_("said")),
        CONFIDENCE, d.flag("retracted", N_("taken back")), d.several("elements", N_("elements"), to="coverage"), *SAID,
    ),
    views=(d.View(at="appendix", where="concept in ['c1', 'c2', 'c3', 'c4', 'c5', 'c6'] and not retracted",
        order=("concept",),
                by=("concept",), quote="quote", who=d.names("participant turn"), most=2,
                note=N_("The first two quotations of the concepts named most; all are in tables/nodes.csv.")),),
)  # fmt: skip

EDGES = d.Table(
    name="edges", title=N_("Links in the agents' words"), key=("participant", "source", "target", "relation"),
    one_agent=True,
    columns=(
        AGENT, d.text("source", N_("From")), d.text("target", N_("To")),
        d.reference("relation", N_("Link"), to="relations"),
        TURN, CONFIDENCE, d.flag("retracts", N_("takes back")), d.flag("contrast", N_("other pole")), *SAID,
    ),
)  # fmt: skip

TURNS = d.Table(
    name="turns", title=N_("Turn by turn"), key=("participant", "turn"), one_agent=True,
    columns=(
        AGENT, TURN, ITEM, d.text("question", N_("Question")), d.text("strategy", N_("Strategy")),
        d.text("technique", N_("technique")), FOCUS, d.text("answer", N_("Answer")), d.text("status", N_("status")),
        d.text("response_depth", N_("depth")), d.several("new_concepts", N_("new concepts")),
        d.integer("new_links", N_("new links")), d.integer("merged", N_("said before")),
        d.text("sentiment", N_("sentiment")),
        d.several("topics", N_("topics")), d.code("stop", N_("End"), levels=STOPS),
        *(d.text(f"by_{work}", label) for work, label in WORKS.items()),
        d.several("fallback", N_("done by the fallback")),
    ),
)  # fmt: skip

SIGNALS = d.Table(
    name="signals", title=N_("Judgements, signals and scores"), key=d.names("participant turn kind name focus"),
    one_agent=True,
    columns=(AGENT, TURN, d.code("kind", N_("kind"), levels=KINDS), d.text("name", N_("of what")), FOCUS,
        d.number("number", N_("value")),
             d.text("word", N_("word"), means=N_("a reason, a value that is a word, or the parts of a score"))),
)  # fmt: skip

FACTS = (
    d.text("topic", N_("topic")), d.text("method", N_("method")), d.text("concept", N_("concept file")),
    d.text("methodology", N_("methodology file")), d.several("ladder", N_("rungs"), to="types"),
    d.reference("top_rung", "", to="types"), d.flag("climbs", N_("ladder")),
    d.code("strategy", N_("Asked"), levels=ASKED),
    d.flag("compared", N_("ways of asking compared")), N, TOTAL, d.integer("n_over", N_("interviews that are over")),
    d.integer("n_answered"), d.integer("n_asked"), d.integer("n_concepts", N_("concepts")),
    d.code("most_named", "", levels=FIRSTS), d.integer("n_late"),
    d.integer("n_late_new", N_("new in the last quarter")),
    d.code("coding", N_("coded by"), levels=CODERS), d.integer("n_rest"), d.several("failed_types", to="types"),
    d.integer("cut_off", N_("cut-off of the map")), d.integer("cut_off_wanted"), d.integer("n_shown"),
    d.integer("n_links"),
    d.share("map_share", N_("links on the map")), d.share("map_repeated", N_("links given by two agents or more")),
    d.integer("n_barren"), d.integer("n_answers"), d.integer("n_unread"), d.integer("n_empty"), d.integer("n_found"),
    d.integer("n_invented"), d.integer("n_by_rule"), d.integer("n_read"), d.integer("n_dead"),
    d.flag("by_rule", N_("read by a rule")), *measures("mean_"),
)  # fmt: skip

TEXTS = (
    d.TextBlock(at="section", word="climbs", says={
        "True": N_("Each agent was interviewed one to one on “{topic}” ({method}); every answer was broken down into "
                   "concepts on the rungs {ladder} and links between them, from which the next question was computed."),
        "False": N_("Each agent was interviewed one to one on “{topic}” ({method}); every answer was broken down into "
                    "concepts and links between them, from which the next question was computed."),
    }),
    d.TextBlock(at="section", where="n_by_rule > 0", says=N_(
        "A rule stood in for the model and read {n_by_rule} of {n_read} answers: it knows words, not meanings, so the "
        "tables show how an interview works, not what was meant.")),
    d.TextBlock(at="section", where="n_by_rule == 0",
        says=N_("A link counts once an agent; concepts in nearly equal words are one.")),
    d.TextBlock(at="section", where="n_concepts == 0", says=N_("No concept has been found in the answers yet.")),
    d.TextBlock(at="appendix", where="n > 0 and mean_coverage == mean_coverage", says=N_(
        "{n_over} of {n} interviews begun are over ({n_total} agents), on average with {mean_turns} turns, "
        "{mean_richness} concepts, {mean_links} links and {mean_coverage} of the elements.")),
    d.TextBlock(at="appendix", where="n > 0 and mean_coverage != mean_coverage", says=N_(
        "{n_over} of {n} interviews begun are over ({n_total} agents), on average with {mean_turns} turns, "
        "{mean_richness} concepts and {mean_links} links.")),
    d.TextBlock(at="section", where="n_dead > 0", says=N_(
        "The files of another program were read as they are; {n_dead} of their keys name a signal that there is not "
        "here and count for nothing (appendix).")),
    d.TextBlock(at="appendix", word="strategy", says={
        "random": N_("Strategy and concept were chosen at random (comparison)."),
        "static": N_("A fixed script of the same length was asked, whatever was answered (comparison)."),
    }),
    d.TextBlock(at="appendix", after="concepts", word="coding", where="n_concepts > 0", says={
        "model": N_("Codes are a model's ({n_rest} are a rule's, for concepts that it gave none)."),
        "rule": N_("Codes are a rule's, a stand-in that knows stems of words, not meanings: read codebook.yaml, edit "
                   "it, and apply it again."),
        "failed": N_("The model's codes could not be read ({failed_types}). Codes are a rule's, a stand-in that knows "
                     "stems of words, not meanings: read codebook.yaml, edit it, and apply it again."),
    }),
    d.TextBlock(at="appendix", after="implications", where="map_repeated < .5", says=N_(
        "Only {map_repeated} of the links were given by two agents or more: too few repetitions for a map of a group, "
        "it shows single voices.")),
    d.TextBlock(at="appendix", after="implications",
        where="cut_off_wanted != cut_off and cut_off_wanted == cut_off_wanted",
        says=N_(
        "The cut-off was meant to be {cut_off_wanted}; with {cut_off} the map can be read.")),
    d.TextBlock(at="appendix", after="work", where="n_answers > 0", says=N_(
        "Of {n_answers} answers {n_unread} were read by nobody and {n_empty} gave no concept; of {n_found} concepts "
        "{n_invented} were left out because nobody said them.")),
)  # fmt: skip

KNOWN = "@n >= 5 and @by_rule == False"
FINDINGS = (
    d.Finding(
        name="by_rule", kind="null", where="by_rule == True and n >= 5",
        says=N_("What leads to what is not known: a rule stood in for the model and read {n_by_rule} of {n_read} "
                "answers (n = {n}/{n_total} interviews)."),
    ),
    d.Finding(
        name="nothing", kind="null", where="n_concepts == 0 and n >= 5 and by_rule == False",
        says=N_("No concept was found in the {n_answers} answers (n = {n}/{n_total} interviews)."),
    ),
    d.group_finding(
        CONCEPT,
        N_("“{concept}” is named by {mean_highest} of {highest} and {mean_lowest} of {lowest} (effect {effect}, "
           "adjusted {p}; n = {n}/{n_total})."),
        null=N_("No concept is named by one group more than by another ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
        size="mean_highest - mean_lowest", where="@by_rule == False", chart="concepts",
    ),
    d.Finding(
        name="link", table="implications", where=f"direct > 1 and @climbs and {KNOWN}", estimate="share", low="low",
        high="high", size="share", items="items", top=2, chart="value_map",
        says=N_("“{source}” {relation} “{target}” in {direct} interviews ({share}, 95% interval {low} to {high} for "
                "one of all links; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="end", table="concepts", where=f"agents > 1 and @climbs and type == @top_rung and {KNOWN}",
        estimate="share", low="low", high="high", size="share", items="items", chart="value_map",
        says=N_("As {type} “{label}” is {tie}, in {agents} interviews ({share}, 95% interval {low} to {high}; n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
        name="concept", table="concepts", where=KNOWN, estimate="share", low="low", high="high", size="share",
        items="items", chart="concepts",
        says=N_("Of all concepts “{label}” is {most_named}, in {agents} interviews ({share}, 95% interval {low} to "
                "{high}; n = {n}/{n_total})."),
    ),
    d.Finding(
        name="saturation", where="n >= 5 and by_rule == False and n_concepts > 0", estimate="n_late_new",
        size="n_late_new / n_concepts", scale="0, n_concepts", chart="saturation",
        says=N_("The last quarter of the interviews brought {n_late_new} of {n_concepts} different concepts (n = "
                "{n}/{n_total})."),
    ),
    d.Finding(
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

DRAW = "enquete.methods.laddering.charts:{}".format
CHARTS = (
    d.Chart(name="value_map", title=N_("Laddering: concepts and how they hang together"),
        needs=("implications", "concepts"),
          draw=DRAW("value_map"), over=d.View(at="section", where="shown"),
          alt=N_("Map of {n_shown} concepts and {n_links} links; strongest: “{source}” {relation} “{target}”, "
                 "{direct} agents.")),
    d.Chart(name="concepts", title=N_("Laddering: concepts by the agents who name them"), needs=("concepts",),
        draw=DRAW("concepts"),
        over=d.View(at="section", top=20),
        alt=N_("Share of {n} agents who name each concept; most: {label}, {share}.")),
    d.Chart(name="coverage", title=N_("Laddering: agents who speak of each element of the topic"), needs=("coverage",),
        draw=DRAW("coverage"),
          over=d.View(at="appendix", order=("-agents",)), at="appendix",
          alt=N_("Agents who speak of each element, of {n}; most: {label}, {agents}.")),
    d.Chart(name="saturation", title=N_("Laddering: distinct concepts after each interview"), needs=("saturation",),
        draw=DRAW("saturation"),
          over=d.View(at="appendix", order=("-interviews",)), at="appendix",
          alt=N_("{concepts} distinct concepts after {interviews} interviews; the last quarter of them brought "
                 "{n_late_new}.")),
)  # fmt: skip

GLOSSARY = {
    N_("ladder"): N_("a chain from what something is, over what follows from it, to why that matters to someone"),
    N_("value map"): N_("the links between concepts that at least as many agents gave as the cut-off says"),
    N_("saturation"): N_("how few new concepts each further interview brings"),
}

PRESENTATION = d.Presentation(
    tables=(IMPLICATIONS, TYPES, GROUP_TESTS, GROUPS, COMPARED,
        ADAPTING, CONCEPTS, NODES,
        COVERAGE, SATURATION, ENDS, INTERVIEWS, STRATEGIES, WORK, DROPS, TRANSLATED, RELATIONS,
                EDGES, TURNS, SIGNALS),
    facts=FACTS, texts=TEXTS, findings=FINDINGS, charts=CHARTS, primary=("groups",),
)  # fmt: skip
