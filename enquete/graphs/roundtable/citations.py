"""On what each claim at a roundtable rests: posts that its speaker remembers, documents given, other turns, sources
named; or on nothing but its being said.

By words alone, which is said wherever it is shown: that a claim shares the words of a post is no proof that it follows
from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict

from enquete.analysis.vocabulary import content_words
from enquete.graphs.roundtable.discussion import Discussion, Document, RoundtableTurn

Kind = Literal["post", "document", "turn", "source"]

SHARED, LEAST_SHARED = 0.5, 2
"""Share of a claim's or a citation's words that a passage holds, and how many at least, from which it is taken to be
meant."""
LONGEST_SHOWN = 300
_URL = re.compile(r"https?://[^\s<>\"')\]]+")
_MARK = re.compile(r"^-?\s*(?:\[P?\d+\]\s*)?")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")


class Support(BaseModel):
    """What a claim rests on. said: the citation as it was given, "" where the claim's own words were found there;
    where: the title of a document, a turn's number, a URL; text: the passage."""

    model_config = ConfigDict(frozen=True)

    kind: Kind
    said: str = ""
    where: str = ""
    text: str = ""


class KeyPoint(BaseModel):
    """A key point, or the position where there is none. rests_on: () where it is only said."""

    model_config = ConfigDict(frozen=True)

    turn: int
    participant: str
    round: int
    claim: str
    rests_on: tuple[Support, ...]


def claims(
    talk: Discussion, names: Mapping[str, str], memories: Mapping[str, str | None], documents: Sequence[Document]
) -> Iterator[KeyPoint]:
    """Of everything that was said to the group. names, memories: of participants, by id. A citation that names no one
    claim stands with each of its answer."""
    for turn in talk.spoken:
        if turn.private:
            continue
        heard = [
            one
            for one in talk.spoken
            if not one.private and one.turn < turn.turn and one.participant != turn.participant
        ]
        known = _Known(turn, heard, names, memories.get(turn.participant) or "", documents)
        cited = [(text, known.of_citation(text)) for text in turn.response.citations]
        for text in turn.response.key_points or [turn.response.position]:
            if not text.strip():
                continue
            own = [support for said, support in cited if _shares(text, said)] or [support for _, support in cited]
            yield KeyPoint(
                turn=turn.turn, participant=turn.participant, round=turn.round, claim=text,
                rests_on=tuple(dict.fromkeys((*own, *known.of_claim(text)))),
            )  # fmt: skip


class _Known:
    """What the speaker of a turn could rest on."""

    def __init__(
        self, turn: RoundtableTurn, heard: Sequence[RoundtableTurn], names: Mapping[str, str], memory: str,
        documents: Sequence[Document],
    ):  # fmt: skip
        self.heard, self.names = heard, names
        self.posts = [_MARK.sub("", line) for line in memory.splitlines() if line.startswith("-")]
        self.passages = [(one.title, part) for one in documents for part in _SENTENCE.split(one.text) if part.strip()]
        self.documents = documents

    def of_citation(self, said: str) -> Support:
        """By what it names, else by its words; a source of its own where nothing here has them."""
        for one in self.documents:
            if one.title.casefold() in said.casefold():
                passage = next(
                    (part for title, part in self.passages if title == one.title and _shares(said, part)), ""
                )
                return Support(kind="document", said=said, where=one.title, text=_short(passage))
        for turn in reversed(self.heard):
            name, number = self.names.get(turn.participant, ""), rf"(?:Participant|Teilnehmer\w*) {turn.number}"
            if re.search(rf"\b(?:{re.escape(name)}|{number})\b" if name else rf"\b{number}\b", said):
                return Support(kind="turn", said=said, where=str(turn.turn), text=_short(turn.response.position))
        if url := _URL.search(said):
            return Support(kind="source", said=said, where=url[0])
        found = next(self._by_words(said), None)
        return found.model_copy(update={"said": said}) if found else Support(kind="source", said=said)

    def of_claim(self, text: str) -> Iterator[Support]:
        yield from self._by_words(text)

    def _by_words(self, text: str) -> Iterator[Support]:
        """The first passage of each kind that has its words."""
        for post in self.posts:
            if _shares(text, post):
                yield Support(kind="post", text=_short(post))
                break
        for title, part in self.passages:
            if _shares(text, part):
                yield Support(kind="document", where=title, text=_short(part))
                break
        for turn in self.heard:
            said = next((one for one in (turn.response.position, *turn.response.key_points) if _shares(text, one)), "")
            if said:
                yield Support(kind="turn", where=str(turn.turn), text=_short(said))
                break


def _shares(text: str, passage: str) -> bool:
    words, there = content_words(text), content_words(passage)
    return len(words & there) >= max(LEAST_SHARED, SHARED * min(len(words), len(there) or 1))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…"
