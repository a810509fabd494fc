"""The words of the laddering section, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.locale import N_

STOPS: Mapping[str, str] = {
    "max_turns": N_("all turns held"),
    "closing": N_("with a closing question"),
    "shallow": N_("only short answers left"),
    "no_yield": N_("nothing new any more"),
    "same_depth": N_("no further depth"),
    "all_exhausted": N_("all concepts exhausted"),
    "nothing_left": N_("no question left"),
    "": N_("not over"),
}

WORDS: Mapping[str, str] = {
    "title": N_("Laddering"),
    "intro": N_(
        "In-depth one-to-one conversations on {topic}, conducted by {method}. Every answer was broken down into "
        "concepts and relationships; the next question was computed from signals. {ladder}"
    ),
    "interviews": N_("Conversations"),
    "ended": N_("End"),
    "source": N_("Source"),
    "counts": N_("{over} of {begun} conversations begun are over ({total} agents). {turns} turns on average."),
    "random": N_("Strategy and concept were chosen at random (comparison)."),
    "nothing": N_("No concept has been found in the answers yet."),
    "concepts": N_("Concepts"),
    "concept": N_("Concept"),
    "type": N_("Kind"),
    "agents": N_("Agents"),
    "abstractness": N_("Abstractness"),
    "centrality": N_("Centrality"),
    "prestige": N_("Prestige"),
    "legend": N_(
        "The first {k} of {n} concepts; nearly equal wordings are merged. Abstractness: share of incoming among "
        "the concept's direct links; centrality and prestige: share of all, or of incoming, among the links as a "
        "whole."
    ),
    "map": N_("Hierarchical value map"),
    "from": N_("from"),
    "to": N_("to"),
    "direct": N_("direct"),
    "indirect": N_("indirect"),
    "map_text": N_("Links that at least {cut} agents gave: {n} between {concepts} concepts; here the strongest {k}."),
    "other_cut": N_("The cut-off was meant to be {wanted}; with {cut} the map can be read."),
    "coverage": N_("Coverage of the topic"),
    "element": N_("Element"),
    "depth": N_("Depth"),
    "depth_text": N_(
        "Depth: longest connected chain of kinds of concepts as a share of the ladder, on average over the "
        "conversations that spoke of the element."
    ),
    "saturation": N_("Saturation"),
    "after": N_("after conversations"),
    "distinct": N_("different concepts"),
    "new": N_("of these new"),
    "strategies": N_("How it was asked"),
    "strategy": N_("Strategy"),
    "used": N_("used"),
    "yielded": N_("with yield"),
    "rate": N_("share"),
    "dropped": N_("{n} findings were left out ({why})."),
    "by_agent": N_("Laddering: the conversations"),
    "agent": N_("Agent"),
    "turns": N_("Turns"),
    "links": N_("Links"),
    "chain": N_("Longest chain"),
    "elements": N_("Elements"),
    "transcripts": N_("Laddering: the first conversations verbatim"),
}
