"""Reads answers without a model: from connectives and the shape of clauses, the question asked and what was said before.

It knows words that join clauses, none that name things: what is said comes from the answer alone. Where no joint is found, the
main clause is the concept (clauses.py). Measured by: the share of planted links that are found, and a list of ordinary answers
(tests/graphs/laddering).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from enquete.graphs.laddering.clauses import DENIED, LONGEST, denies, existing, main_clause
from enquete.graphs.laddering.extraction import ConceptFound, Extraction, ExtractionInput, Known, RelationFound
from enquete.graphs.laddering.phrases import similarity
from enquete.graphs.laddering.poles import poles
from enquete.respondents.quoting import normal

BY_RULE = 0.6  # confidence of what a rule found
SAME_WORDS = 0.6  # similarity from which a clause speaks of a known concept

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")

# What nobody means as an answer.
_NOTHING = re.compile(
    r"\b(?:wei(?:ß|ss) (?:ich|es)? ?(?:auch )?nicht|keine ahnung|(?:fällt|fiele) mir (?:\w+ ){0,3}(?:nichts|nicht)|schon (?:alles )?gesagt"
    r"|wie (?:schon )?gesagt|(?:can ?not|can't|could not) (?:say|think)|(?:do not|don't) know|no idea|nothing (?:else|more|comes)"
    r"|already said|said (?:all|that|it|everything)|as i said)\b",
    re.IGNORECASE,
)

# A clause before, a joint, a clause after: the first leads to the second.
_FORWARD = [
    re.compile(rf"\b(?:{joint})\s+(?P<b>.+)", re.IGNORECASE)
    for joint in (
        r"(?:führt|führen|führte)(?: (?:für )?(?:mich|uns|dann|bei mir|am ende))* (?:zu|zur|zum)",
        r"(?:bedeutet|bedeuten|bedeutete|heißt|heißen|hieß)(?: (?:(?:für|bei) (?:mich|mir|uns)|das|es|dann|am ende))*",
        r"(?:bringt|bringen|brachte|gibt|geben|gab|verschafft|schenkt|sichert|ermöglicht)(?: (?:mir|uns|mich|das|es|dann|am ende))*",
        r"(?:daraus|davon|dahinter|darunter) (?:wurde|wird|entsteht|entstand|kommt|kam|liegt|steht|steckt|verbirgt sich)",
        r"(?:steckt|steht|liegt) (?:dahinter|darunter)",
        r"(?:leads?|led)(?: (?:me|us))? to",
        r"(?:means?|meant)(?: (?:for|to) (?:me|us))?(?: in the end)?",
        r"(?:gives?|gave|brings?|brought|gets?|got|earns?|allows?|secures?)(?: (?:me|us))?",
        r"(?:out of|from|behind|beneath) (?:it|that|this) (?:came|comes|grew|grows|is|was|lies|stands)",
    )
]
_ANSWERING = [
    re.compile(rf"\b(?:{joint})\s+(?P<b>.+)", re.IGNORECASE)
    for joint in (
        r"wegen|aufgrund|dank",
        r"(?:es|das) (?:war|wäre)(?: (?:für mich|dann|vor allem|am ende|wohl))*",
        r"because of|thanks to|owing to",
        r"(?:it|that) (?:was|would be)(?: (?:mostly|above all|probably))*",
    )
] + [
    # The verb comes last in a German clause of reason.
    re.compile(
        r"\b(?:weil|damit|sodass|dass) (?:ich|wir|man)(?: (?:dadurch|damit|dann|so|daraus))*\s+(?P<b>.+?)"
        r"\s+(?:bekomm|gewinn|hab|find|spür|erreich|erleb|seh)\w*\b",
        re.IGNORECASE,
    )
]
# A concept is named without being linked.
_NAMED = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bgeht es (?:mir )?(?:dabei )?(?:vor allem |eigentlich |auch |noch |zuerst |besonders )*um (?P<b>.+)",
        r"\bdenke ich (?:vor allem |auch |noch |zuerst |besonders |sofort )*an (?P<b>.+)",
        r"\bzähl(?:t|en)(?: für mich)? (?:vor allem |auch |noch |zuerst |besonders )*(?P<b>.+)",
        r"\b(?:gehört|gehören) (?:für mich )?(?:vor allem |auch |noch |zuerst |besonders )*(?P<b>.+?) (?:dazu|hierher)\b",
        r"\bi care (?:most |also |first |especially |a lot )*about (?P<b>.+)",
        r"\bi (?:\w+ )?think (?:first |also |mostly |at once )*of (?P<b>.+)",
        r"\b(?:it is|it's) (?:also |mostly |above all |first |for me )*about (?P<b>.+)",
        r"\bwhat (?:also |really |still )*(?:counts|matters) (?:to me |for me )*(?:is|are) (?P<b>.+)",
    )
]
_END = re.compile(
    r"\s*(?:[.!?;:]|,\s*(?!(?:die|der|das|which|that)\b.{0,12}$)|\s[–—-]\s"
    r"|\s(?:und das|und darum|und deshalb|aber|denn|weil|and that|but|because|which|so that)\b)",
    re.IGNORECASE,
)
_LEADING = re.compile(
    r"^(?:(?:vor allem|am ende|für mich|eigentlich|einfach|auch|noch|dann|also|ja|nun|eben|schlicht|so etwas wie"
    r"|in erster linie|the|a|an|simply|above all|in the end|for me|also|mostly|just|really|something like|well)\s+)+",
    re.IGNORECASE,
)
_ANAPHOR = re.compile(
    r"^(?:(?:weil|denn|und|ja|nun|also|because|and|well|so|since)\s+)*"
    r"(?:das|dies|es|so etwas|beides|this|that|it|which|all of this)?\s*(?:alles|all)?$",
    re.IGNORECASE,
)
_POINTING = frozenset({
    "das", "dies", "dieses", "es", "alles", "etwas", "was", "beides", "mich", "mir",
    "that", "this", "it", "everything", "something", "what", "me",
})  # fmt: skip
_TRAILING = re.compile(
    r"\s+(?:mehr nicht|halt|eben|and so on|und so weiter|bedeutet|heißt|bringt|gibt|führt|ist|sind)$", re.IGNORECASE
)


def read_answer(data: ExtractionInput) -> Extraction:
    """Concepts and relationships of an answer; none where it says that there is nothing to say."""
    reading = _Reading(data)
    telling = [one for one in _SENTENCE.split(data.answer.strip()) if one and not _NOTHING.search(one)]
    for sentence in telling:
        reading.read(sentence)
    if not reading.concepts and not reading.understood:
        reading.read_plainly(telling)
    return Extraction(concepts=reading.concepts, relationships=reading.relations)


class _Reading:
    """One answer, sentence by sentence."""

    def __init__(self, data: ExtractionInput):
        self._data = data
        self.concepts: list[ConceptFound] = []
        self.relations: list[RelationFound] = []
        self.understood = False  # some joint was found, if only to something denied or known

    def read_plainly(self, sentences: Sequence[str]) -> None:
        """The first sentence that says something, by its main clause."""
        for sentence in sentences:
            fact = existing(sentence)
            named = fact or main_clause(sentence)
            if named and self._is_new(named):
                self._link(None if fact else self._data.focus, named, sentence)
                return

    def read(self, sentence: str) -> None:
        if existing(sentence) or self._read_poles(sentence):
            return
        for before, after in _joints(sentence):
            target = clause_to_concept(after)
            source = self._source(before)
            self.understood |= bool(target)
            if target and self._is_new(target) and not DENIED.match(target) and not denies(before):
                self._link(source, target, sentence)
                return
        for pattern in _NAMED:
            found = pattern.search(sentence)
            named = clause_to_concept(found["b"]) if found else ""
            self.understood |= bool(named)
            if found and named and self._is_new(named) and not denies(sentence[: found.start("b")]):
                self._link(self._data.focus, named, sentence)
                return

    def _read_poles(self, sentence: str) -> bool:
        """Where the question was for a construct: what two have as its one pole, what the third has as the other."""
        joined = next((one for one in self._data.contrasts if list(one[1:]) == self._data.aims), None)
        sides = poles(sentence) if joined else None
        one, other = (clause_to_concept(side) for side in sides) if sides else ("", "")
        if joined is None or not one or not other or not (self._is_new(one) and self._is_new(other)):
            return False
        name, _, kind = joined
        said = {"confidence": BY_RULE, "source_quote": sentence.strip()}
        self._link(self._data.focus, one, sentence)
        self.concepts.append(ConceptFound.model_validate({"text": other, "node_type": kind, **said}))
        ends = {"source_text": one, "target_text": other, "relationship_type": name}
        self.relations.append(RelationFound.model_validate({**ends, **said}))
        return True

    def _source(self, before: str) -> Known | None:
        """What the clause before the joint speaks of: something said before, else what was asked about."""
        clause = before.strip(" ,")
        if _ANAPHOR.match(clause):
            return self._data.focus
        alike = [(_overlap(clause, known.text), known) for known in self._data.known]
        best = max(alike, key=lambda pair: pair[0], default=None)
        return best[1] if best and best[0] >= SAME_WORDS else self._data.focus

    def _is_new(self, text: str) -> bool:
        return all(normal(text) != normal(known.text) for known in self._data.known)

    def _link(self, source: Known | None, target: str, sentence: str) -> None:
        kind = self._type(source)
        quote = sentence.strip()
        self.concepts.append(ConceptFound(text=target, node_type=kind, confidence=BY_RULE, source_quote=quote))
        edge = self._edge(source, kind)
        if source is not None and edge is not None:
            name, forward = edge
            ends = (source.text, target) if forward else (target, source.text)
            self.relations.append(
                RelationFound(source_text=ends[0], target_text=ends[1], relationship_type=name, confidence=BY_RULE,
                              source_quote=quote)
            )  # fmt: skip

    def _type(self, source: Known | None) -> str:
        """What was asked for; the first of several that can hang together with the source. A statement that answers no
        question about a concept stands on the first rung."""
        if source is None and self._data.focus is not None:
            return next(iter(self._data.node_types))
        fitting = [aim for aim in self._data.aims if source is None or self._edge(source, aim)]
        return (fitting or self._data.aims or [source.type if source else next(iter(self._data.node_types))])[0]

    def _edge(self, source: Known | None, kind: str) -> tuple[str, bool] | None:
        """(edge type, forward) that joins the source with a concept of this type."""
        if source is None:
            return None
        for name, one, other in self._data.edges:
            if (one, other) == (source.type, kind):
                return name, True
        for name, one, other in self._data.edges:
            if (one, other) == (kind, source.type):
                return name, False
        return None


def _joints(sentence: str) -> Iterator[tuple[str, str]]:
    """What stands before and after each joint; nothing before one that only answers."""
    for pattern in _FORWARD:
        if found := pattern.search(sentence):
            yield sentence[: found.start()], found["b"]
    for pattern in _ANSWERING:
        if found := pattern.search(sentence):
            yield "", found["b"]


def clause_to_concept(clause: str) -> str:
    """A clause as the name of a concept: its first part, without what introduces it; "" if nothing is left of it."""
    first = _END.split(clause.strip(), maxsplit=1)[0]
    bare = _TRAILING.sub("", _LEADING.sub("", first.strip(" ,„“”\"'")))
    words = bare.split()
    says_something = len(normal(bare)) > 2 and normal(bare) not in _POINTING and len(words) <= LONGEST + 4
    return " ".join(words[:LONGEST]) if says_something else ""


def _overlap(clause: str, label: str) -> float:
    """1 if the label stands in the clause, else how alike they are."""
    return 1.0 if normal(label) and normal(label) in normal(clause) else similarity(clause, label)
