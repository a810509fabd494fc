"""How an answer was given: five ratings with their reasons, sentiment and topics; by a model, or by a rule on its surface."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from enquete.graphs.laddering.nodestate import Depth

RATINGS = ("response_depth", "specificity", "certainty", "valence", "engagement")
SURFACE_BELOW, MODERATE_BELOW = 10, 30  # words
LONGEST_RATIONALE = 20  # words


class Rating(BaseModel):
    """1 (least) to 5 (most), with the reason in at most twenty words."""

    model_config = ConfigDict(frozen=True)

    rating: Annotated[int, Field(ge=1, le=5)]
    rationale: str = ""


class Readings(BaseModel):
    """What one call says about one answer. None throughout where there was no answer to read."""

    model_config = ConfigDict(frozen=True)

    response_depth: Rating | None = None
    specificity: Rating | None = None
    certainty: Rating | None = None
    valence: Rating | None = None
    engagement: Rating | None = None
    sentiment: Literal["negative", "neutral", "positive"] | None = None
    topics: tuple[str, ...] | None = None

    def rating(self, name: str) -> int | None:
        found = getattr(self, name)
        return found.rating if isinstance(found, Rating) else None


class ReadingInput(BaseModel):
    """The answer to read, and the question it answers."""

    topic: str
    question: str
    answer: str


def trimmed(data: ReadingInput, given: Readings) -> Readings:
    """With the reasons cut to the length that was asked for."""
    rated = {name: one for name in RATINGS if isinstance(one := getattr(given, name), Rating)}
    return given.model_copy(
        update={
            name: one.model_copy(update={"rationale": " ".join(one.rationale.split()[:LONGEST_RATIONALE])})
            for name, one in rated.items()
        }
    )


def depth_of(answer: str, readings: Readings) -> Depth:
    """Rated 1–2 surface, 3 moderate, 4–5 deep; without a rating: surface below ten words or of one proposition, moderate
    below thirty words, deep otherwise."""
    rated = readings.rating("response_depth")
    if rated is not None:
        return "surface" if rated <= 2 else "moderate" if rated == 3 else "deep"
    words = word_count(answer)
    if words < SURFACE_BELOW or propositions(answer) <= 1:
        return "surface"
    return "moderate" if words < MODERATE_BELOW else "deep"


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_BETWEEN = re.compile(
    r"[.!?;:,–—]\s|\s(?:und|aber|weil|denn|damit|dass|sodass|obwohl|wenn|and|but|because|so that|since|although|if)\s",
    re.I,
)


def propositions(answer: str) -> int:
    """Clauses of at least three words: what an answer says, counted at commas, stops and conjunctions."""
    return sum(word_count(part) >= 3 for part in _BETWEEN.split(answer))


def word_count(text: str) -> int:
    """Words; a contraction ("don't", "geht's") is one."""
    return len(_WORD.findall(text))


_HEDGES = re.compile(
    r"\b(?:vielleicht|eventuell|möglicherweise|vermutlich|wahrscheinlich|irgendwie|schwer zu sagen|wei(?:ß|ss) (?:ich )?nicht|unsicher"
    r"|(?:ich glaube|glaube ich|(?<!wenn )(?:ich denke|denke ich))(?! (?:\w+ ){0,3}an\b)"
    r"|perhaps|maybe|possibly|probably|presumably|sort of|kind of|hard to say|don['’]?t know|not sure|unsure|i (?:guess|suppose)"
    r"|(?<!when )(?<!if )i (?:think|believe)(?! (?:\w+ ){0,3}(?:of|about|in)\b))\b",
    re.I,
)
_FIRM = re.compile(
    r"\b(?:auf jeden fall|ganz klar|sicher|immer|unbedingt|zweifellos|ohne (?:jeden |jede )?(?:zweifel|frage)|definitely|certainly|always"
    r"|clearly|surely|undoubtedly|of course|(?:without (?:any |a )?|no )(?:doubt|question))\b",
    re.I,
)
_DENIED = re.compile(
    r"\b(?:kein\w*|nicht|nie|ohne(?: jede\w?)?|no|not|never|without(?: any| a)?|\w+n['’]t) (?:so |sehr |very )?\w+",
    re.I,
)
_CONCRETE = re.compile(
    r"\d|\b(?:zum beispiel|etwa als|neulich|gestern|letzte[ns]?|for example|for instance|last|yesterday)\b", re.I
)
_GOOD = re.compile(
    r"\b(?:gut\w*|gern\w*|froh|freu\w*|vorfreude|stolz\w*|schön\w*|hoff\w*|glück\w*|zufrieden\w*|erleichter\w*|dankbar\w*|begeister\w*"
    r"|zuversicht\w*|vertrau\w*|geborgen\w*|lust|spaß|gelassen\w*|good|glad|happ\w*|proud|pride|enjoy\w*|joy\w*|hope\w*|lov\w*"
    r"|content\w*|relie[fv]\w*|grat\w*|delight\w*|confiden\w*|trust\w*|pleas\w*|fun|calm\w*|excited)\b",
    re.I,
)
_BAD = re.compile(
    r"\b(?:schlecht\w*|angst|ängst\w*|furcht|sorge\w*|ärger\w*|wut|wütend|zorn\w*|traurig\w*|trauer|leider|frust\w*|enttäusch\w*|scham|schäm\w*"
    r"|ekel|unruh\w*|unsicher\w*|anspannung|misstrau\w*|zweifel\w*|schreck\w*|hilflos\w*|ohnmacht|bad\w*|afraid|fear\w*|worr\w*|ang(?:er|ry)"
    r"|annoy\w*|sad\w*|frustrat\w*|disappoint\w*|asham\w*|shame|disgust\w*|restless\w*|anxi\w*|tens\w*|distrust\w*|doubt\w*|fright\w*"
    r"|helpless\w*|powerless\w*|upset)\b",
    re.I,
)
_LONG_WORD = re.compile(r"\w{6,}")


def read_by_rule(data: ReadingInput) -> Readings:
    """Ratings from the answer's surface: length, clauses, hedges, examples, words of feeling."""
    words, clauses = word_count(data.answer), propositions(data.answer)
    if not words:
        return Readings()
    felt = _DENIED.sub(" ", data.answer)
    mood = len(_GOOD.findall(felt)) - len(_BAD.findall(felt))
    long_words = dict.fromkeys(word.casefold() for word in _LONG_WORD.findall(data.answer))
    return Readings(
        response_depth=_rated(1 if words < 4 else 2 if words < SURFACE_BELOW or clauses <= 1 else 3 + (words >= 20) + (words >= 40)),
        specificity=_rated(2 + (words >= 12) + 2 * bool(_CONCRETE.search(data.answer))),
        certainty=_rated(3 - 2 * bool(_HEDGES.search(data.answer)) + bool(_FIRM.search(data.answer))),
        valence=_rated(3 + max(-2, min(2, mood))),
        engagement=_rated(1 if words < 4 else 2 if words < SURFACE_BELOW else 3 if words < 20 else 4),
        sentiment="positive" if mood > 0 else "negative" if mood < 0 else "neutral",
        topics=tuple(long_words)[:5],
    )  # fmt: skip


def _rated(value: int) -> Rating:
    return Rating(rating=min(max(value, 1), 5))
