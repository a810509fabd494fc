"""What discussions give: how far each group agreed round by round and why it ended, who moved and toward whom, against
those who only read; which arguments were made and who answered them; their files, their health.

Discussions are rebuilt from their stored turns; one that was cut short counts with what it has.

What a discussion did: who moved between the private answers before and after, toward whom and on which argument; who
made and took up arguments.

Toward whom is a likeness of positions, not a cause: two may have moved for the same reason, which neither of them gave.

All of a run share a model: intervals and tests are over agents of this run, no inference about people.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import Any, cast

import numpy as np
import pandas as pd
import scipy

from enquete.analysis.diagnostics import FREE, Threshold, judged
from enquete.analysis.estimates import share_interval
from enquete.analysis.inference import detectable_share
from enquete.analysis.probes import sign
from enquete.analysis.vocabulary import content_words, jaccard
from enquete.locale import N_, decimals, in_language
from enquete.methods.roundtable.agreement import (
    ACTIONS,
    ALIKE,
    LEVELS,
    MEANING,
    RECOMMENDED,
    FourLayers,
    agreement,
    clusters,
    four_layers,
    groups_of,
    groupthink,
    likeness,
    mean_confidence,
    pairs_of_models,
    same_side,
    voiced,
)
from enquete.methods.roundtable.discussion import Discussion, Round, RoundtableSettings, RoundtableTurn, discussions
from enquete.methods.roundtable.instrument import CONSIDERATION, RoundtableInstrument
from enquete.methods.roundtable.modes import STANCES, Mode, Response, Stance
from enquete.reports import declarations as d
from enquete.reports.context import AnalysisContext, Files, ItemFacts, shallow
from enquete.reports.evaluation import Evaluation, Line, Transcript, lines_of
from enquete.reports.health_checks import Humans, Made, OwnCheck, any_other
from enquete.reports.writing import lines
from enquete.respondents.ledger_context import SWITCHED
from enquete.respondents.roles import RULE
from enquete.respondents.rule_coder import CodedThemes, Theme
from enquete.runs.conversations import ANSWERED, utterance_id
from enquete.state.asking import Language

# --- Tables, and what is read of them where --------------------------------------------------------------------------

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
VERDICTS = {"more": N_("more move by discussing than by reading"),
    "less": N_("fewer move by discussing than by reading"),
            "same": N_("as many move by discussing as by reading"),
            "unclear": N_("no difference found")}  # fmt: skip

AGENT = d.reference("participant", N_("Agent"), to="agent")
TYPE = d.STAKEHOLDER_TYPE
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
        d.code("recommendation", N_("recommended"), RECOMMENDED), d.code("stance", N_("stance held most"), STANCES),
        d.integer("held", N_("held by")), d.code("level", N_("Consensus"), LEVELS),
        d.code("action", N_("what to do"), ACTIONS), d.nested("exit_details", N_("details")),
    ),
    views=(
        d.View(at="section", heading="", top=12,
               columns=d.names("group n rounds exit before first last after positions signs stance held level action")),
        d.View(at="appendix", columns=d.names("group n rounds exit before first last after positions signs stance held "
                                              "level action")),
        d.View(at="appendix", heading=N_("Groupthink"), where="groupthink", columns=("group", "recommendation")),
        d.View(at="digest", columns=d.names("group n exit last stance held level action"), top=20),
    ),
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
        d.code("verdict", N_("direction"), VERDICTS, replicates=True,
            unless_sure={"more": "unclear", "less": "unclear", "same": "unclear"}),
        d.share("discussed", N_("moved of who discussed")), d.share("read", N_("moved of who read")),
        d.share("difference", N_("difference")), N, TOTAL, d.text(d.SIZES, N_("n of each group")),
        d.share(d.OF_ALL, N_("share of all")), d.text("test", N_("test")), d.p_value("p"), d.adjusted_p(),
        *d.detectable(N_("difference that would be found four times in five"), share=True),
    ),
    views=(d.View(at="appendix"),),
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

CHECKS_BY_RULE = d.Table(
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
        AGENT, d.code("roundtable_before", N_("stance before the roundtable, asked privately"), STANCES, agents=True,
            compared_in="group_tests"),
        d.number("roundtable_moved", N_("whether the agent left the roundtable with another position"), agents=True,
            compared_in="group_tests"),
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
GROUPS, GROUP_TESTS = d.group_tables(MEASURE, N_("By group of the agents"), share=True)

FACTS = (
    d.text("question"), d.text("mode"), d.text("mode_title"), d.flag("assigned"), d.flag("judges_groupthink"),
    d.code("decides", "", DECIDES), d.code("compose", "", COMPOSED), d.number("consensus_limit"), d.integer("begun"),
    d.integer("over"), d.integer("planned"), d.integer("n"), d.integer("n_total"), d.integer("people"),
    d.integer("readers"), d.integer("unseated"), d.several("unknown"), d.number("first_agreement"),
    d.number("last_agreement"), d.integer("agreed"), d.integer("settled"), d.integer("groupthink_groups"),
    d.integer("judged_groups"), d.integer("minority"), d.integer("joined"), d.integer("public_turns"),
    d.integer("asked_again"), d.integer("not_kept"), d.integer("silent"), d.integer("said"), d.integer("uncoded"),
    d.integer("n_arguments"), d.integer("unanswered"), d.several("first_two"), d.nested("layers"), d.nested("models"),
    d.code("held_after", "", STANCES, replicates=True),
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
        null=N_("That discussing moves more than reading was not found: {discussed} against {read} (adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
    ),
    d.group_finding(
        MEASURE, size="mean_highest - mean_lowest", chart="positions",
        says=N_("Groups of agents differ, {measure}: {mean_highest} of {highest}, {mean_lowest} of {lowest} "
                "(adjusted {p}; n = {n}/{n_total})."),
        null=N_("No group of agents moved or began otherwise than the others ({tests} tested, smallest adjusted {p}; "
                "n = {n}/{n_total}); {power}."),
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
                "1); {agreed} of {begun:group|groups} ended in agreement, {settled} because nobody moved any more (n = "
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
        name="argument", table="arguments_answered", where="answered > 0 and @n >= 5", order=("-answered",),
        size="answered / n",
        says=N_("Most taken up: “{label}”, raised in {groups:group|groups} and answered by "
                "{answered:participant|participants} (n = {n}/{n_total})."),
        n="", n_total="",
    ),
)  # fmt: skip

CHARTS = (
    d.Chart(name="agreement", title=N_("Roundtable: agreement, privately and after each round"), needs=("curve",),
            draw="enquete.methods.roundtable.charts:agreement",
            alt=N_("Mean agreement of {begun:group|groups} goes from {first_agreement} to {last_agreement}.")),
    d.Chart(name="positions", title=N_("Roundtable: where everybody stood, stance and confidence"),
        needs=("positions",),
            draw="enquete.methods.roundtable.charts:positions", alt=N_("Stance and confidence of {n} participants at "
                                                                      "every stage.")),
)  # fmt: skip

GLOSSARY = {
    N_("agreement"): N_("Of a round, 0 to 1: how many take the same position, by its words and side, and how alike "
                        "their confidence is."),
    N_("groupthink"): N_("Two of three signs: all are sure, all take one position, all say it in the same words. A "
                         "reason to look, not a proof."),
    N_("readers"): N_("Agents who only read what a group said, and were asked before and after like its participants."),
}  # fmt: skip

TEXTS = (
    d.TextBlock(at="section", where="begun == 0", says=N_("No group has discussed yet.")),
    d.TextBlock(at="section", where="begun > 0 and people > 0", says=N_(
        "{n} participants, {people:of them a person|of them people}, discussed in {begun:group|groups}, {compose}, in "
        "the mode “{mode_title}”: {question}")),
    d.TextBlock(at="section", where="begun > 0 and people == 0", says=N_(
        "{n} agents discussed in {begun:group|groups}, {compose}, in the mode “{mode_title}”: {question}")),
    d.TextBlock(at="section", where="readers > 0", says=N_("{readers} more only read what a group said.")),
    d.TextBlock(at="section", where="unseated > 0", says=N_("{unseated:agent|agents} had no seat.")),
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
    tables=(DISCUSSIONS, MOVEMENT, BEYOND, ARGUMENTS, TAKEN_UP, MOVES, COMPARED, GROUP_TESTS, GROUPS,
        GROUPINGS, ROUNDS, CURVE,
            POSITIONS, CHECKS_BY_RULE, REMARKS, MODELS, BETWEEN_MODELS, SWITCHES, TURNS, AGENTS),
    facts=FACTS, findings=FINDINGS, charts=CHARTS, texts=TEXTS,
)  # fmt: skip


# --- Who moved and toward whom ----------------------------------------------------------------------------------------

LEAST_WORDS = 2
"""New words that a position must share with an argument to have moved on it."""


@dataclass(frozen=True)
class Move:
    """One participant, before and after. `moved`: another stance, or where there are none a position that is another
    one.

    surer: change of the confidence it gives itself; kept: likeness of the two positions; toward: those whose position
    before it came closer to, more than one where they are equally close; argument: id of the argument that its new
    position takes up, "" where it takes up none.
    """

    participant: str
    before: Stance
    after: Stance
    confidence_before: float | None
    confidence_after: float | None
    kept: float
    moved: bool
    toward: tuple[str, ...] = ()
    argument: str = ""

    @property
    def surer(self) -> float | None:
        if self.confidence_before is None or self.confidence_after is None:
            return None
        return self.confidence_after - self.confidence_before


def moves(before: Round, after: Round, arguments: Sequence[Theme] = ()) -> list[Move]:
    """Of everybody who took a position both times."""
    first, last = voiced(before), voiced(after)
    return [_move(who, first, last[who], arguments) for who in first if who in last]


def _move(who: str, before: Mapping[str, Response], after: Response, arguments: Sequence[Theme]) -> Move:
    earlier = before[who]
    kept = likeness(earlier, after)
    moved = earlier.stance != after.stance if earlier.stance and after.stance else kept < ALIKE
    move = Move(who, earlier.stance, after.stance, earlier.confidence, after.confidence, kept, moved)
    if not moved:
        return move
    gains = {other: _near(after, r) - _near(earlier, r) for other, r in before.items() if other != who}
    most = max(gains.values(), default=0.0)
    toward = tuple(sorted(other for other, gain in gains.items() if most > 0 and gain >= most - 1e-9))
    return replace(move, toward=toward, argument=_taken_up(earlier, after, toward, arguments))


def _near(response: Response, other: Response) -> float:
    """0 on different sides, ½ to 1 on the same, by their words."""
    if not same_side(response, other):
        return 0.0
    return (1 + jaccard(content_words(response.position), content_words(other.position))) / 2


def _taken_up(before: Response, after: Response, toward: Sequence[str], arguments: Sequence[Theme]) -> str:
    """The argument, of those whom it moved toward, that shares most words with what it did not say before."""
    new = content_words(f"{after.position} {after.reasoning}") - content_words(f"{before.position} {before.reasoning}")
    shared = {
        theme.id: len(new & content_words(f"{theme.label} {theme.description}"))
        for theme in arguments
        if {statement.partition("|")[0] for statement in theme.statements} & set(toward)
    }
    best = max(shared.values(), default=0)
    return min(name for name, words in shared.items() if words == best) if best >= LEAST_WORDS else ""


# --- arguments: themes over key points, so that the same one has the same id in every group ---------------------------


def argument_rows(
    coded: CodedThemes, discussions: Sequence[Discussion], *, hear_one_another: bool
) -> list[dict[str, Any]]:
    """A row an argument and group, in the order of the themes: who made it when none of them had heard it from another,
    and who came back to it later, from its own side or the other one. hear_one_another: whether they do within a
    round."""
    rows = []
    for theme in coded.themes:
        statements = {statement.partition("|")[2].rpartition(".")[0] for statement in theme.statements}
        for talk in discussions:
            turns = [turn for turn in talk.public if utterance_id(talk.unit, turn.turn) in statements]
            if not turns:
                continue
            first = turns[0]
            together = [] if hear_one_another else [turn for turn in turns if turn.round == first.round]
            raised = dict.fromkeys(turn.participant for turn in (first, *together))
            later: dict[str, RoundtableTurn] = {}
            for turn in turns:
                if turn.participant not in raised:
                    later.setdefault(turn.participant, turn)
            agree = {who: same_side(first.response, turn.response) for who, turn in later.items()}
            rows.append({
                "id": theme.id, "label": theme.label, "group": talk.unit, "turn": first.turn, "raised": list(raised),
                "answered": len(later), "took_up": [who for who, same in agree.items() if same],
                "countered": [who for who, same in agree.items() if not same],
            })  # fmt: skip
    return rows


# --- What discussions give -------------------------------------------------------------------------------------------

VERBATIM = 2
"""Groups told verbatim in the appendix; all are in the transcript."""


def analyse(
    frame: pd.DataFrame, instrument: RoundtableInstrument, settings: RoundtableSettings, context: AnalysisContext
) -> d.Analysis:
    """Tables over the main arm's discussions."""
    run = Discussions.of(frame, settings, context)
    stored = context.pinned.get("arguments")
    coded = CodedThemes.model_validate(stored) if stored else CodedThemes(themes=[], uncoded=[])
    mode, language = settings.played.mode, context.language
    arguments = argument_rows(coded, run.groups, hear_one_another=mode.order == "sequential")
    moved = [(talk, move) for talk in run.groups for move in moves(talk.before, talk.afterwards, coded.themes)]
    read = [(talk, move) for talk in run.controls for move in moves(talk.before, talk.afterwards)]
    layers = {talk.unit: four_layers(talk, language, mode) for talk in run.groups}
    curve = _curve(run.groups, assigned=mode.assigns_stances)
    movement = [_movement("discussed", [move for _, move in moved]), _movement("read", [move for _, move in read])]
    tables = {
        "discussions": [_discussion(talk, layers[talk.unit], mode) for talk in run.groups],
        "rounds": [row for talk in run.groups for row in _rounds(talk)],
        "groupings": [row for talk in run.groups for row in _groupings(talk)],
        "curve": [{**point, "place": place} for place, point in enumerate(curve)],
        "positions": [row for talk in run.discussions for row in _positions(talk, run)],
        "moves": [run.moved(talk, move) for talk, move in (*moved, *read)],
        "movement": movement, "beyond_reading": _beyond(*movement),
        "arguments": arguments, "arguments_answered": _answered(arguments),
        "checks": _checks(run.discussions),
        "remarks": [
            {"group": talk.unit, "round": remark.round, "text": remark.answer}
            for talk in run.groups for remark in talk.remarks if remark.answer
        ],
        "turns": [row for talk in run.discussions for row in run.transcript(talk)],
        "agents": [
            {"participant": move.participant, "roundtable_before": move.before or None,
             "roundtable_moved": float(move.moved), "after": move.after or None} for _, move in moved
        ],
        "speaking_models": list(_speaking(run)),
        "between_models": _between_models(run),
        "switches": [pin for name, pin in sorted(context.pinned.items()) if name.startswith(SWITCHED)],
        "compared": [{"measure": name, "label": name} for name in ("moved", "before")],
        **_by_group([move for _, move in moved], context.groups_of(frame)),
    }  # fmt: skip
    facts = {
        "question": settings.question or instrument.question.in_(language), "mode": settings.mode,
        "mode_title": mode.title.in_(language), "assigned": mode.assigns_stances, "judges_groupthink": mode.groupthink,
        "decides": settings.agreement, "compose": settings.compose, "consensus_limit": settings.limits.consensus,
        **run.seats(), **_facts(run, tables, curve), "uncoded": len(coded.uncoded),
        "layers": {unit: layer.model_dump(mode="json") for unit, layer in layers.items()},
        "models": _models(run.discussions),
    }  # fmt: skip
    return d.shaped(PRESENTATION, tables, facts)


# --- discussions rebuilt ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Discussions:
    """The discussions of an arm, and who took part."""

    groups: Sequence[Discussion]
    controls: Sequence[Discussion]
    types: Mapping[str, str]
    seating: Mapping[str, Any]
    people: frozenset[str]
    models: Mapping[tuple[str, int], str]
    """By unit and turn; "" where a person answered."""

    def model_of(self, talk: Discussion, turn: RoundtableTurn) -> str:
        """Which model said this; "" where a person did, or nobody knows: an earlier run held it."""
        return turn.by.get(ANSWERED) or self.models.get((talk.unit, turn.turn), "")

    @cached_property
    def several(self) -> bool:
        """Whether more than one model spoke to a group."""
        return len({self.model_of(talk, turn) for talk in self.groups for turn in talk.spoken} - {""}) > 1

    @classmethod
    def of(cls, frame: pd.DataFrame, settings: RoundtableSettings, context: AnalysisContext) -> Discussions:
        people, turns = frame.drop_duplicates("participant"), frame.drop_duplicates(["session", "turn"])
        stored = context.pinned.get("groups")
        seating: Mapping[str, Any] = stored if isinstance(stored, dict) else {}
        opened = [talk for talk in discussions(context.pinned, settings.mode) if talk.turns]
        return cls(
            [talk for talk in opened if talk.seated],
            [talk for talk in opened if talk.reads],
            dict(zip(people["participant"].astype(str), people["stakeholder_type"].astype(str), strict=True)),
            seating,
            frozenset(frame.loc[frame["respondent"].eq("human"), "participant"].astype(str)),
            dict(zip(zip(turns["session"], turns["turn"], strict=True), turns["model"], strict=True)),
        )

    @property
    def discussions(self) -> list[Discussion]:
        return [*self.groups, *self.controls]

    def seats(self) -> d.Row:
        """Groups begun, over, and planned; participants in them, of these people; agents among the readers, and without
        a seat."""
        seated = {who for talk in self.groups for who in talk.participants}
        planned = self.seating.get("groups") or {talk.unit: None for talk in self.groups}
        unseated = len(self.seating.get("unseated") or [])
        return {
            "begun": len(self.groups), "over": sum(talk.over for talk in self.groups), "planned": len(planned),
            "n": len(seated), "people": len(seated & self.people), "readers": len(self.controls), "unseated": unseated,
            "n_total": len(seated) + unseated + len(self.controls), "unknown": list(self.seating.get("unknown") or []),
        }  # fmt: skip

    def moved(self, talk: Discussion, move: Move) -> d.Row:
        return {
            "group": talk.unit, "reads": bool(talk.reads), "stakeholder_type": self.types.get(move.participant),
            **shallow(move), "toward": list(move.toward), "surer": move.surer,
            "moved_by": talk.afterwards[move.participant].sections.get("moved_by") or None,
        }  # fmt: skip

    def transcript(self, talk: Discussion) -> Iterator[d.Row]:
        for turn in talk.spoken:
            response = turn.response.model_dump(mode="json")
            yield {
                "group": talk.unit, "turn": turn.turn, "round": turn.round, "private": turn.private,
                "participant": turn.participant, "number": turn.number, "role": turn.role, "status": turn.status,
                "retried": turn.retried, "by": dict(turn.by),
                "model": (self.model_of(talk, turn) or None) if self.several else None,
                **{name: response[name] for name in ("stance", "confidence", "position", "reasoning")},
                "response": response,
            }  # fmt: skip


# --- of each group ----------------------------------------------------------------------------------------------------


def _discussion(talk: Discussion, layers: FourLayers, mode: Mode) -> d.Row:
    """Agreement of assigned stances is none of the group's."""
    rounds, decision = talk.rounds(), layers.decision
    agreed = [] if mode.assigns_stances else _levels(rounds)
    signs = groupthink(rounds[-1]) if rounds and mode.groupthink else None
    return {
        "group": talk.unit, "n": len(talk.participants), "rounds": len(rounds), "over": talk.over,
        "exit": talk.exit.reason if talk.exit and talk.over else "",
        "exit_details": dict(talk.exit.details) if talk.exit else {}, "before": agreement(talk.before),
        "first": agreed[0] if agreed else None, "last": agreed[-1] if agreed else None,
        "after": agreement(talk.afterwards), "positions": len(clusters(rounds[-1])) if agreed else None,
        "groupthink": signs.detected if signs else None,
        "signs": list(signs.indicators) if signs and signs.detected else [],
        "recommendation": (signs.recommendation or None) if signs else None, "stance": decision.stance or None,
        "held": len(decision.held_by), "level": decision.consensus_level, "action": decision.action,
    }  # fmt: skip


def _levels(rounds: Iterable[Round]) -> list[float]:
    """Agreement of each, of which some positions were taken."""
    return [level for level in map(agreement, rounds) if level is not None]


def _rounds(talk: Discussion) -> Iterator[d.Row]:
    """By rule, and where a model read the round too, by the model."""
    analysed: dict[int, Mapping[str, Any]] = {
        turn.round: turn.weighed.analysed for turn in talk.spoken if turn.weighed and turn.weighed.analysed
    }
    for number, responses in enumerate(talk.rounds(), 1):
        alike, read = clusters(responses), analysed.get(number, {})
        is_model = bool(read) and read["by"] != RULE
        yield {
            "group": talk.unit, "round": number, "agreement": agreement(responses), "positions": len(alike),
            "largest": len(alike[0]) if alike else 0, "n": len(voiced(responses)),
            "mean_confidence": mean_confidence(responses), "read": read["agreement"] if is_model else None,
            "camps": len(set(read["camp_of"].values())) if is_model else None,
            "conflicts": list(read["conflicts"]) if is_model else [],
            "differs": dict(read.get("rule", {})).get("differs"),
        }  # fmt: skip


def _groupings(talk: Discussion) -> Iterator[d.Row]:
    """Where positions were grouped by meaning: each participant's group by the model, with the words it quotes for
    that, and by the rule."""
    last = max((turn.round for turn in talk.turns if turn.weighed), default=0)
    for turn in talk.turns:
        reading: Mapping[str, Any] = turn.weighed.analysed if turn.weighed else {}
        for speaker in talk.public if reading.get("basis") == MEANING else ():
            number = str(speaker.number)
            if speaker.round != turn.round or number not in reading["rule"]["camp_of"]:
                continue
            camp = reading["camp_of"].get(number)
            yield {
                "group": talk.unit, "round": turn.round, "last": turn.round == last, "participant": speaker.participant,
                "camp": camp, "says": reading.get("says", {}).get(str(camp)),
                "quote": reading.get("quotes", {}).get(number), "cluster": reading["rule"]["camp_of"][number],
            }  # fmt: skip


def _curve(groups: Sequence[Discussion], *, assigned: bool) -> list[d.Row]:
    """Mean agreement privately before, after each round, and privately after; a group that has ended stays where it
    ended. Rounds in which stances were assigned show no agreement of the group's."""
    courses = [course for talk in groups if (course := [] if assigned else _levels(talk.rounds()))]
    rounds = []
    for number in range(1, max(map(len, courses), default=0) + 1):
        levels = [course[min(number, len(course)) - 1] for course in courses]
        rounds.append(_mean(str(number), levels, sum(len(course) >= number for course in courses)))
    before = _mean(BEFORE, _levels(talk.before for talk in groups), 0)
    after = _mean(AFTER, _levels(talk.afterwards for talk in groups), 0)
    return [point for point in (before, *rounds, after) if point["n"]] if rounds or (before["n"] and after["n"]) else []


def _mean(stage: str, levels: Sequence[float], talking: int) -> d.Row:
    return {"stage": stage, "agreement": fmean(levels) if levels else None, "talking": talking, "n": len(levels)}


def _positions(talk: Discussion, run: Discussions) -> Iterator[dict[str, Any]]:
    """Where everybody stood at every stage: privately before, in the rounds, privately after. cluster: of positions
    that are alike at this stage, the largest 1."""
    numbered = {str(n): responses for n, responses in enumerate(talk.rounds(), 1)}
    stages = {BEFORE: talk.before, AFTER: talk.afterwards, **numbered}
    alike = {
        (stage, who): place
        for stage, responses in stages.items()
        for place, members in enumerate(clusters(responses), 1)
        for who in members
    }
    for turn in talk.spoken:
        stage, response = str(turn.stage), turn.response
        yield {
            "group": talk.unit, "participant": turn.participant, "stakeholder_type": run.types.get(turn.participant),
            "number": turn.number, "role": turn.role, "reads": bool(talk.reads), "stage": stage,
            "stance": response.stance or None, "confidence": response.confidence,
            "cluster": alike.get((stage, turn.participant)), "position": response.position,
        }  # fmt: skip


# --- of the models that speak -----------------------------------------------------------------------------------------


def _speaking(run: Discussions) -> Iterator[d.Row]:
    """Each with its seats, what it said, and how sure it says it is; nothing where one model speaks for all."""
    turns = [(run.model_of(talk, turn), turn) for talk in run.groups for turn in talk.spoken] if run.several else []
    for model in sorted({model for model, _ in turns} - {""}):
        spoken = [turn for speaks, turn in turns if speaks == model]
        sure = [turn.response.confidence for turn in spoken if turn.response.confidence is not None]
        who = list(dict.fromkeys(turn.participant for turn in spoken))
        yield {"model": model, "participants": who, "turns": len(spoken), "confidence": fmean(sure) if sure else None,
               "violations": sum(bool(turn.response.violations) for turn in spoken)}  # fmt: skip


def _between_models(run: Discussions) -> list[d.Row]:
    """In how many pairs both stood on the same side, in the first round and in the last one, over all groups."""
    if not run.several:
        return []
    sums: dict[tuple[str, str], list[int]] = {}
    for talk in run.groups:
        rounds, numbers = talk.rounds(), {turn.participant: turn.number for turn in talk.spoken}
        read = {
            turn.round: turn.weighed.analysed
            for turn in talk.turns
            if turn.weighed and turn.weighed.analysed.get("camp_of")
        }
        for place, number in ((0, 0), (2, len(rounds) - 1)):
            heard = [turn for turn in talk.public if turn.round == number + 1]
            speaks = {turn.participant: run.model_of(talk, turn) for turn in heard}
            known = {who: model for who, model in speaks.items() if model}
            meant = groups_of(read[number + 1], numbers) if read.get(number + 1, {}).get("basis") == MEANING else ()
            for pair in pairs_of_models(rounds[number], known, meant) if rounds else ():
                row = sums.setdefault((pair.first, pair.second), [0, 0, 0, 0])
                row[place] += pair.pairs
                row[place + 1] += pair.alike
    return [
        {"first": first, "second": second, "how": "within" if first == second else "between", "pairs": last,
         "alike_first": alike / pairs if pairs else None, "alike_last": alike_last / last if last else None}
        for (first, second), (pairs, alike, last, alike_last) in sorted(sums.items())
    ]  # fmt: skip


# --- of all -----------------------------------------------------------------------------------------------------------


def _movement(side: str, side_moves: Sequence[Move]) -> d.Row:
    n, moved = len(side_moves), sum(move.moved for move in side_moves)
    surer = [move.surer for move in side_moves if move.surer is not None]
    interval = share_interval(moved, n) if n else {}
    return {
        "side": side, "n": n, "n_total": n, "moved": moved, "share": moved / n if n else None,
        "low": interval.get("low"), "high": interval.get("high"), "surer": fmean(surer) if surer else None,
    }  # fmt: skip


def _beyond(discussed: d.Row, read: d.Row) -> list[d.Row]:
    """Fisher's exact test of who moved by whether they discussed; nothing where nobody only read. All of a run share a
    model."""
    sizes = [discussed["n"], read["n"]]
    if not all(sizes):
        return []
    moved = [discussed["moved"], read["moved"]]
    table = [[of, n - of] for of, n in zip(moved, sizes, strict=True)]
    share, difference = sum(moved) / sum(sizes), discussed["share"] - read["share"]
    return [{
        "verdict": {1: "more", -1: "less", 0: "same"}[sign(round(difference, 2)) or 0],
        "discussed": discussed["share"], "read": read["share"], "difference": difference, "n": sum(sizes),
        "n_total": sum(sizes), "test": "Fisher", "p": float(scipy.stats.fisher_exact(np.array(table)).pvalue),
        d.SIZES: ", ".join(map(str, sizes)), d.OF_ALL: share, **d.on_scale(detectable_share(sizes, share), (0, 1)),
    }]  # fmt: skip


def _by_group(moved: Sequence[Move], groups: pd.Series[str]) -> d.Row:
    """Of those who discussed: the shares that moved, and that said yes before."""
    shares = {
        move.participant: (float(move.moved), float(move.before == "yes") if move.before else None) for move in moved
    }
    values = pd.DataFrame.from_dict(shares, orient="index", columns=["moved", "before"], dtype=float)
    return d.compared(values, groups, "measure", ends=dict.fromkeys(values, (0, 1))) if len(values) else {}


def _facts(run: Discussions, tables: Mapping[str, Sequence[d.Row]], curve: Sequence[d.Row]) -> d.Row:
    discussed = tables["discussions"]
    exits = Counter(row["exit"] for row in discussed)
    turns = [turn for talk in run.discussions for turn in talk.public]
    answered = [turn for turn in turns if turn.response.position]
    after = Counter(row["after"] for row in tables["agents"] if row["after"]).most_common(2)
    minority, joined = _joined(run.groups)
    return {
        "first_agreement": curve[0]["agreement"] if curve else None,
        "last_agreement": curve[-1]["agreement"] if curve else None, "agreed": exits["consensus"] + exits["confidence"],
        "settled": exits["convergence"], "groupthink_groups": sum(bool(row["groupthink"]) for row in discussed),
        "judged_groups": sum(row["groupthink"] is not None for row in discussed), "minority": minority,
        "joined": joined,
        "public_turns": len(answered), "asked_again": sum(turn.retried for turn in answered),
        "not_kept": sum(bool(turn.response.violations) for turn in answered), "said": len(turns),
        "silent": sum(not turn.response.position.strip() for turn in turns), "n_arguments": len(tables["arguments"]),
        "unanswered": sum(not row["answered"] for row in tables["arguments"]),
        "first_two": [talk.unit for talk in run.groups[:VERBATIM]],
        "held_after": after[0][0] if after and (len(after) == 1 or after[0][1] > after[1][1]) else None,
    }  # fmt: skip


def _joined(groups: Sequence[Discussion]) -> tuple[int, int]:
    """Those whose stance was in their group's minority before, and how many of them had the majority's after."""
    minority = joined = 0
    for talk in groups:
        before = {who: response.stance for who, response in talk.before.items() if response.stance}
        most = Counter(before.values()).most_common(2)
        if not most or (len(most) > 1 and most[0][1] == most[1][1]):  # nobody is in the majority of a tie
            continue
        others = [who for who, stance in before.items() if stance != most[0][0] and who in talk.afterwards]
        minority += len(others)
        joined += sum(talk.afterwards[who].stance == most[0][0] for who in others)
    return minority, joined


def _answered(arguments: Sequence[d.Row]) -> list[d.Row]:
    """Over all groups: in how many an argument was raised, and how many answered it."""
    rows: dict[str, d.Row] = {}
    for argument in arguments:
        row = rows.setdefault(
            argument["id"], {"id": argument["id"], "label": argument["label"], "groups": 0, "answered": 0}
        )
        row["groups"] += 1
        row["answered"] += argument["answered"]
    return list(rows.values())


def _checks(discussions: Sequence[Discussion]) -> list[d.Row]:
    """Checks of the mode that public turns did not keep to, also when asked once more."""
    turns = [turn for talk in discussions for turn in talk.public if turn.response.position]
    broken = Counter(violation.check for turn in turns for violation in turn.response.violations)
    return [{"check": name, "n": n} for name, n in sorted(broken.items())]


def _models(discussions: Sequence[Discussion]) -> dict[str, dict[str, int]]:
    """Who read the rounds, where a model was to."""
    read = (turn.weighed.analysed for talk in discussions for turn in talk.spoken if turn.weighed)
    by = Counter(str(reading["by"]) for reading in read if reading)
    return {"analyse": dict(by)} if by else {}


# --- The discussions an agent sat in as they are read: everybody's words in their order, round by round --------------

WORDS = {
    "title": N_("Discussion {group}"),
    "round": N_("round {n}"),
    "private": N_("said in private"),
    "confidence": N_("confidence {value}"),
}


def transcripts(folder: Path, participant: str, language: Language) -> Iterator[Transcript]:
    words, file = in_language(WORDS, language), folder / "transcript.jsonl"
    for group in dict.fromkeys(str(turn["group"]) for turn in lines_of(file, "participant", participant)):
        lines = tuple(_line(turn, words, language) for turn in lines_of(file, "group", group))
        yield Transcript(words["title"].format(group=group), lines, session=group)


def _line(turn: Mapping[str, Any], words: Mapping[str, str], language: Language) -> Line:
    sure = "" if turn.get("confidence") is None else decimals(f"{turn['confidence']:.2f}", language)
    about = (
        words["round"].format(n=turn["round"]), words["private"] if turn["private"] else "",
        words["confidence"].format(value=sure) if sure else "", str(turn.get("stance") or ""),
        str(turn.get("model") or ""),
    )  # fmt: skip
    text = "\n\n".join(filter(None, (turn["position"], turn["reasoning"], *(turn.get("sections") or {}).values())))
    points = tuple(turn.get("key_points") or ())
    return Line(turn["name"], text, turn["participant"], int(turn["turn"]), points, " · ".join(filter(None, about)))


def item_facts(item_id: str, instrument: RoundtableInstrument) -> ItemFacts:
    """A consideration belongs to its family and has the scale; what is said has none."""
    family, _, name = item_id.rpartition("/")
    if family != CONSIDERATION:
        return ItemFacts(dimension=name)
    scale = instrument.scales[str(instrument.scale)]
    return ItemFacts(family=family, dimension=name, scale_min=scale.min, scale_max=scale.max)


TABLES = ("positions", "moves", "rounds", "arguments")
"""Written as CSV beside the transcript."""


def files(results: d.WholeResults, frame: pd.DataFrame, phase: str) -> Files:
    """Answers, transcript, tables, the decision in four layers by group, and what all discussions gave."""
    names = dict(zip(frame["participant"], frame["agent_name"], strict=True))
    turns = [
        {**turn["response"], **turn, "name": names.get(turn["participant"], turn["participant"])}
        for turn in results.rows("turns")
    ]
    return {
        "responses.jsonl": lines(frame),
        "transcript.jsonl": [
            {key: value for key, value in turn.items() if key != "response" and (key, value) != ("model", None)}
            for turn in turns
        ],
        **{f"{name}.csv": _table(results.rows(name)) for name in TABLES},
        "decisions.json": cast("Mapping[str, Any]", results["layers"]),
        "roundtable.json": results.without(*TABLES, "turns", "layers", "flags"),
    }


def _table(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    return pd.DataFrame(
        [
            {key: "; ".join(map(str, cell)) if isinstance(cell, list) else cell for key, cell in row.items()}
            for row in rows
        ]
    )


# --- health -----------------------------------------------------------------------------------------------------------


UNPLAYED, GROUPTHINK = "turns_against_the_mode", "groups_with_groupthink"
SILENT = "silent_turns"

CHECKS = {
    UNPLAYED: OwnCheck(
        Threshold(
            "share of what was said to a group that does not keep to the mode, after it was asked for once more",
            (None, 0.10), FREE, {"turns": 10}, "with 10 turns one moves the share by .10",
            "proposal", "no benchmark was found", "results of a mode that was not played are not that mode's",
        ),
        "share",
        (N_("Answers that do not keep to the mode"),
            N_("They are kept as they are; the mode was not played as it is meant.")),
        {"too_few_turns": N_("too little was said")},
    ),
    GROUPTHINK: OwnCheck(
        Threshold(
            "share of groups with at least two of three signs of groupthink in their last round",
            (None, 0.50), FREE, {"groups": 2}, "one group is no pattern",
            "proposal", "no benchmark was found", "models agree more easily than people; their agreement is weak "
                "evidence",
        ),
        "share",
        (N_("Groups with signs of groupthink"), N_("They may agree because a model agrees with itself.")),
        {"too_few_groups": N_("fewer than two groups were judged"),
            "not_judged": N_("unanimity is no sign in this mode")},
    ),
    SILENT: OwnCheck(
        Threshold(
            "share of turns of a discussion in which no position was taken",
            (None, 0.10), FREE, {"turns": 10}, "with 10 turns one moves the share by .10",
            "proposal", "no benchmark was found", "a group with silent members is a smaller one",
        ),
        "share",
        (N_("Turns in which no position was taken"), N_("Agreement is that of those who spoke.")),
        {"too_few_turns": N_("too little was said")},
    ),
}  # fmt: skip


def health(analysis: d.Analysis, rows: pd.DataFrame, humans: Humans) -> Made:
    """A mode that was not played, groups that agree like one, silence."""

    def share(count: str, of: str) -> float | None:
        return analysis.count(count) / analysis.count(of) if analysis.count(of) else None

    checks = {
        UNPLAYED: (share("not_kept", "public_turns"), {"turns": analysis.count("public_turns")}),
        GROUPTHINK: (share("groupthink_groups", "judged_groups"), {"groups": analysis.count("judged_groups")}),
        SILENT: (share("silent", "said"), {"turns": analysis.count("said")}),
    }
    for name, (value, n) in checks.items():
        why_not = "not_judged" if name == GROUPTHINK and not analysis.facts.get("judges_groupthink") else ""
        yield "", judged(name, value, n, why_not=why_not, rule=CHECKS[name].rule)
    yield from any_other(analysis, rows, humans)


EVALUATION = Evaluation(
    analyse=analyse,
    presentation=PRESENTATION,
    files=files,
    item_facts=item_facts,
    transcripts=transcripts,
    health=health,
    checks=CHECKS,
    glossary=GLOSSARY,
)
