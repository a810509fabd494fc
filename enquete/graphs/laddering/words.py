"""The words of the laddering section, German and English."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.state.asking import Language

STOPS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "max_turns": "alle Runden geführt", "closing": "mit einer Schlussfrage", "shallow": "nur noch knappe Antworten",
        "no_yield": "nichts Neues mehr", "same_depth": "keine Vertiefung mehr", "all_exhausted": "alle Konzepte ausgeschöpft",
        "nothing_left": "keine Frage mehr übrig", "": "nicht beendet",
    },
    "en": {
        "max_turns": "all turns held", "closing": "with a closing question", "shallow": "only short answers left",
        "no_yield": "nothing new any more", "same_depth": "no further depth", "all_exhausted": "all concepts exhausted",
        "nothing_left": "no question left", "": "not over",
    },
}  # fmt: skip

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Laddering",
        "intro": "Vertiefte Einzelgespräche zum Thema {topic}, geführt nach {method}. Jede Antwort wurde in Konzepte und Beziehungen "
        "zerlegt; die nächste Frage wurde aus Signalen errechnet. {ladder}",
        "interviews": "Gespräche", "ended": "Ende", "source": "Quelle",
        "counts": "{over} von {begun} begonnenen Gesprächen sind beendet ({total} Agenten). Im Mittel {turns} Runden.",
        "random": "Strategie und Konzept wurden zufällig gewählt (Vergleich).",
        "nothing": "In den Antworten wurde noch kein Konzept gefunden.",
        "concepts": "Konzepte", "concept": "Konzept", "type": "Art", "agents": "Agenten", "abstractness": "Abstraktheit",
        "centrality": "Zentralität", "prestige": "Prestige",
        "legend": "Die ersten {k} von {n} Konzepten; nahezu gleiche Wortlaute sind zusammengefasst. Abstraktheit: Anteil der "
        "eingehenden an allen direkten Beziehungen des Konzepts; Zentralität und Prestige: Anteil aller bzw. der eingehenden an den "
        "Beziehungen insgesamt.",
        "map": "Hierarchische Wertekarte", "from": "von", "to": "zu", "direct": "direkt", "indirect": "indirekt",
        "map_text": "Beziehungen, die mindestens {cut} Agenten nannten: {n} zwischen {concepts} Konzepten; hier die stärksten {k}.",
        "other_cut": "Vorgesehen war die Schwelle {wanted}; mit {cut} ist die Karte lesbar.",
        "coverage": "Abdeckung des Themas", "element": "Element", "depth": "Tiefe",
        "depth_text": "Tiefe: längste zusammenhängende Kette von Konzeptarten als Anteil der Leiter, im Mittel über die Gespräche, "
        "in denen vom Element die Rede war.",
        "saturation": "Sättigung", "after": "nach Gesprächen", "distinct": "verschiedene Konzepte", "new": "davon neu",
        "strategies": "Wie gefragt wurde", "strategy": "Strategie", "used": "eingesetzt", "yielded": "mit Ertrag", "rate": "Anteil",
        "dropped": "{n} Funde blieben unberücksichtigt ({why}).",
        "by_agent": "Laddering: die Gespräche", "agent": "Agent", "turns": "Runden", "links": "Beziehungen", "chain": "längste Kette",
        "elements": "Elemente", "transcripts": "Laddering: Wortlaut der ersten Gespräche",
    },
    "en": {
        "title": "Laddering",
        "intro": "In-depth one-to-one conversations on {topic}, conducted by {method}. Every answer was broken down into concepts and "
        "relationships; the next question was computed from signals. {ladder}",
        "interviews": "Conversations", "ended": "End", "source": "Source",
        "counts": "{over} of {begun} conversations begun are over ({total} agents). {turns} turns on average.",
        "random": "Strategy and concept were chosen at random (comparison).",
        "nothing": "No concept has been found in the answers yet.",
        "concepts": "Concepts", "concept": "Concept", "type": "Kind", "agents": "Agents", "abstractness": "Abstractness",
        "centrality": "Centrality", "prestige": "Prestige",
        "legend": "The first {k} of {n} concepts; nearly equal wordings are merged. Abstractness: share of incoming among the "
        "concept's direct links; centrality and prestige: share of all, or of incoming, among the links as a whole.",
        "map": "Hierarchical value map", "from": "from", "to": "to", "direct": "direct", "indirect": "indirect",
        "map_text": "Links that at least {cut} agents gave: {n} between {concepts} concepts; here the strongest {k}.",
        "other_cut": "The cut-off was meant to be {wanted}; with {cut} the map can be read.",
        "coverage": "Coverage of the topic", "element": "Element", "depth": "Depth",
        "depth_text": "Depth: longest connected chain of kinds of concepts as a share of the ladder, on average over the conversations "
        "that spoke of the element.",
        "saturation": "Saturation", "after": "after conversations", "distinct": "different concepts", "new": "of these new",
        "strategies": "How it was asked", "strategy": "Strategy", "used": "used", "yielded": "with yield", "rate": "share",
        "dropped": "{n} findings were left out ({why}).",
        "by_agent": "Laddering: the conversations", "agent": "Agent", "turns": "Turns", "links": "Links", "chain": "Longest chain",
        "elements": "Elements", "transcripts": "Laddering: the first conversations verbatim",
    },
}  # fmt: skip
