"""A sentence without a joint: its main clause as the name of a concept, denials, statements that something exists.

Only words of grammar are known here: what introduces a clause, who speaks, auxiliaries and verbs that say no more than that
something is so. What is left of a clause without them at its ends is what it says.
"""

from __future__ import annotations

import re

from enquete.graphs.laddering.phrases import words_of
from enquete.respondents.quoting import normal

LONGEST = 8  # words of a concept


_BETWEEN = re.compile(
    r"\s*(?:[.!?;:,]|\s[–—-])\s+|\s+(?=(?:weil|denn|damit|sodass|because|so that|since)\s)", re.IGNORECASE
)
_REASON = re.compile(
    r"^(?:(?:na|naja|well|und|and|ja)\s+)*(?:weil|denn|damit|sodass|dann|dadurch|because|so that|since|then|that way)\b",
    re.IGNORECASE,
)
# What says nothing of itself at the beginning of a clause: joints, speakers, auxiliaries, verbs of being and feeling.
_BEFORE = words_of(
    """
    na naja nun ja also eben halt doch und aber oder weil denn damit sodass dass dann dadurch deshalb darum so davon daraus
    einfach schlicht eigentlich natürlich vielleicht wohl sicher vor allem besonders auch noch immer ehrlich gesagt schon
    ich wir man es das dies sie er mich mir uns einem einen sich euch ihnen für bei
    kann können könnte könnten will wollen möchte möchten muss müssen müsste darf dürfen soll sollte würde würden werde wird werden
    habe hat haben hätte bin bist ist sind war waren wäre bleibt bleiben macht machen gibt geht
    fühle fühlt fühlen mag finde findet wünsche wegen um die der den dem des ein eine eine wichtig am wichtigsten zuerst
    well oh so just really honestly because since then and but that it this which i we you one they there my way me us
    can could will would want wants should might may must have has had do does am is are was were be been makes make
    to a an the like love hope think feel feels about of helps help lets let also mostly simply above all for in the end
    """
) - frozenset({"my", "feel", "in", "end"})
_AFTER = words_of(
    """
    kann können könnte will wollen möchte muss müssen soll sollte würde werde wird werden habe hat haben hätte bin ist sind war
    sein wäre mehr halt eben auch noch wichtig dann so ja und oder wirklich einfach natürlich
    is are was too then really and or so for to me that matters counts important anyway
    """
)
# Clauses of nothing but these say nothing.
_EMPTY = (
    _BEFORE
    | _AFTER
    | words_of(
        """
    mal sein nein genau stimmt richtig gut gern gerne schön klar okay weiß viel alles etwas irgendwie gewesen gesagt worden mein
    meine meinen damit dazu daran hier da was wie nicht nichts kein keine nie niemals bringt gebracht hab
    bedeutet heißt führt bringt bleibt means leads gives
    yes no not nothing anything good nice fine right true sure okay maybe perhaps much everything something somehow important
    matters matter know guess say said mean means here there now never what how my feel never yeah well being could be
    """
    )
)
DENIED = re.compile(r"^(?:nicht|nichts|niemals|nie|not|nothing|never|anything)\b", re.IGNORECASE)
_DENIAL = re.compile(r"\b(?:nicht|nichts|niemals|nie)\b|\b(?:not|nothing|never)\b|n['’]t\b", re.IGNORECASE)
# A wish, an aim or a duty that is denied is still a thought of its own: not to depend on anyone, lest the village dies.
_DENIED_AIM = re.compile(
    r"\b(?:(?:ich|er|sie|man) will|will (?:ich|man)|wollen|möchte\w*|muss|müssen|damit|sonst|ohne|wants?|ha(?:ve|s) to|needs? to"
    r"|so that|otherwise)\b",
    re.IGNORECASE,
)
_BACK = re.compile(
    r"\b(?:damit meine ich|ich meine (?:damit|das|genau|eben|ja)|(?:habe|hab) ich (?:\w+ )?(?:gesagt|beschrieben|erklärt)"
    r"|(?:wie|was) ich \w+ .*(?:habe|hab)"
    r"|by that i|i mean|i intend|the way i|as i|(?:just|already|a moment ago) (?:said|told|described|explained)"
    r"|(?:said|told|described|explained) (?:it|that|before|a moment ago))\b",
    re.IGNORECASE,
)
_EXISTS = re.compile(
    r"^(?:(?:ja|well|und|and|na|nun|aber|but|hier|here|heute|today|noch|still)[\s,]+)*"
    r"(?:es (?:gibt|gab)|there (?:is|are|was|were|has been|have been))\s+(?P<what>.+)",
    re.IGNORECASE,
)
_EXISTS_LEADING = re.compile(
    r"^(?:(?:ja|auch|noch|nur|immer|hier|bei uns|also|still|only|just|now|a|an|the|ein|eine|einen)\s+)+", re.I
)
_QUOTES = " ,„“”\"'"


def denies(sentence: str) -> bool:
    """Whether the sentence says that something is not so, rather than that something is not wanted."""
    return bool(_DENIAL.search(sentence)) and not _DENIED_AIM.search(sentence)


def existing(sentence: str) -> str:
    """What a statement says to exist ("there are few boats left"), "" for another sentence. It answers no question of why."""
    found = _EXISTS.match(sentence.strip())
    if not found:
        return ""
    first = _BETWEEN.split(found["what"].strip(" .!?"), maxsplit=1)[0]
    return _named(_EXISTS_LEADING.sub("", first.strip(_QUOTES)).split())


def main_clause(sentence: str) -> str:
    """The clause that says most as a concept: one that gives a reason before others; "" where none says anything."""
    if denies(sentence) or _BACK.search(sentence):
        return ""
    clauses = [clause.strip(_QUOTES) for clause in _BETWEEN.split(sentence.strip(" .!?;")) if clause.strip(_QUOTES)]
    for clause in sorted(clauses, key=lambda one: not _REASON.match(one)):
        if named := _named(_peeled(clause)):
            return named
    return ""


def _peeled(clause: str) -> list[str]:
    """The clause's words without those of grammar at its ends."""
    words = clause.split()
    while words and normal(words[0]) in _BEFORE:
        words = words[1:]
    while len(words) > 1 and normal(words[-1]) in _AFTER:
        words = words[:-1]
    return words


def _named(words: list[str]) -> str:
    if all(normal(word) in _EMPTY for word in words) or len(normal(" ".join(words))) <= 2:
        return ""
    return " ".join(words[:LONGEST]).strip(" ,.;:!?")
