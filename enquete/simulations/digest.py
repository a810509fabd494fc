"""What a knowledge graph holds about an agent: a summary and facts. It is context, not experience."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from types import MappingProxyType

from pydantic import BaseModel, ConfigDict

from enquete.locale import C_, N_, in_language, tell
from enquete.simulations.experience import Experience, Kind, MemoryEntry, Source, read_experience
from enquete.simulations.population import Population
from enquete.simulations.sources import Issue, clip, one_line
from enquete.state.asking import Language

_WORD = re.compile(r"\w{4,}")


class Fact(BaseModel):
    """A sentence about an agent, with when it became true or was learnt (ISO 8601)."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str
    at: str = ""


class Knowledge(BaseModel):
    """What is known of one agent."""

    model_config = ConfigDict(frozen=True)

    summary: str = ""
    facts: tuple[Fact, ...] = ()


def by_relevance(facts: Sequence[Fact], topic: str) -> list[Fact]:
    """The facts that share most words of four letters or more with the topic first, then the newest; each text once."""
    wanted = _words(topic)
    newest = sorted({fact.text: fact for fact in facts}.values(), key=lambda fact: fact.at, reverse=True)
    return sorted(newest, key=lambda fact: -len(_words(fact.text) & wanted))


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}


# --- A memory digest: what an agent said, did and was shown, newest first, and what a graph knows of it, in at most
# `limit` characters. Every entry has a mark, by which an answer can name it: [P1] an own post, [R1] a reaction, [S1]
# something shown, [K1] something known.

SOURCES = "sources"
"""The name of what is pinned beside the digests: where their entries stand, by participant and mark."""

OWN_SHARE = 0.6
KNOWN_SHARE = 0.25
CONTEXT = 100
LONGEST_SUMMARY = 300
SHORTEST = 20  # a post is not cut to fewer characters

HEADINGS: Mapping[str, str] = {
    "own": N_("Own posts (newest first):"),
    "reaction": N_("Reactions:"),
    "shown": N_("Posts of others that were shown:"),
    "known": N_("On record:"),
}
NAMED = re.compile(r"\s*\[\s*([PRSK]\d{1,3}(?:\s*[,;]\s*[PRSK]\d{1,3})*)\s*\]")
"""Marks in an answer, one or several between brackets."""
MARKED = re.compile(r"^- \[([A-Z])(\d+)\] ", re.MULTILINE)
NOTHING = N_("No activity was recorded in the simulation.")
ANSWERING = C_("of a reply", "on")
VERBS: Mapping[str, str] = {
    "repost": N_("reposted"),
    "like": N_("liked"),
    "dislike": N_("disliked"),
    "report": N_("reported"),
    "follow": N_("follows"),
    "unfollow": N_("stopped following"),
    "mute": N_("muted"),
    "unmute": N_("unmuted"),
    "search": N_("searched for"),
}


@dataclass(frozen=True)
class Digests:
    """Digest by participant id: None where no source could be read for that agent, a sentence where nothing happened;
    of nobody where there is no source at all.

    `named`: by participant id and mark, where its entries stand ("twitter post 12", "graph fact 4a5f…"). `sources` and
    `exposure` by platform: where it was read from, and whether it says what agents were shown.
    """

    texts: Mapping[str, str | None]
    named: Mapping[str, Mapping[str, str]]
    issues: tuple[Issue, ...]
    sources: Mapping[str, Source]
    exposure: Mapping[str, bool]


@dataclass(frozen=True, slots=True)
class Placed:
    """An entry, and where it stands."""

    entry: MemoryEntry
    source: str


def digests(
    population: Population,
    *,
    limit: int = 2000,
    language: Language = "de",
    known: Mapping[str, Knowledge] = MappingProxyType({}),
) -> Digests:
    """The memory digest of every participant, both platforms merged. Never raises on damaged sources.

    known: what a graph holds, by participant id; facts that share words with the simulation's topic come first.
    """
    experiences, issues = read_experience(population, max(limit, 0))
    seats = {(seat.platform, seat.participant) for seat in population.seats}
    texts: dict[str, str | None] = {}
    named: dict[str, Mapping[str, str]] = {}
    for participant in population.participants if experiences or known else ():
        readable = [e for e in experiences if (e.platform, participant.id) in seats and covers(e, participant.id)]
        knowledge = known.get(participant.id)
        texts[participant.id] = None
        if readable or knowledge:
            digest = write_digest(participant.id, readable, limit, language, knowledge, population.topic)
            texts[participant.id], named[participant.id] = digest
    return Digests(
        texts=texts,
        named=named,
        issues=tuple(issues),
        sources={experience.platform: experience.source for experience in experiences},
        exposure={experience.platform: experience.exposure for experience in experiences},
    )


def unmarked(text: str) -> tuple[str, list[str]]:
    """An answer without the marks of what it rests on, and these; as it is where nothing else is in it."""
    if "[" not in text:
        return text, []
    marks = [mark for group in NAMED.findall(text) for mark in re.findall(r"\w+", group)]
    bare = NAMED.sub("", text).strip()
    return (bare, list(dict.fromkeys(marks))) if marks and any(map(str.isalnum, bare)) else (text, [])


def covers(experience: Experience, participant_id: str) -> bool:
    return experience.source != "none" and participant_id not in experience.withheld


def write_digest(
    participant_id: str,
    experiences: Sequence[Experience],
    limit: int,
    language: Language,
    knowledge: Knowledge | None = None,
    topic: str = "",
) -> tuple[str, dict[str, str]]:
    """The text, and where its entries stand by their marks."""
    limit = max(limit, 0)
    deeds, reacted, shown = (merged(participant_id, experiences, kind) for kind in ("own", "reaction", "shown"))
    facts = by_relevance(knowledge.facts, topic) if knowledge else []
    summary = clip(one_line(knowledge.summary), LONGEST_SUMMARY) if knowledge else ""
    records = [("graph summary", summary)] if summary else []
    records += [(f"graph fact {fact.id}", one_line(fact.text)) for fact in facts]
    known = marked("K", [text for _, text in records])
    record = section(in_language(HEADINGS, language)["known"], known, int(KNOWN_SHARE * limit))
    reactions = marked("R", [reaction_line(reaction.entry, language) for reaction in reacted])
    posts = marked("S", [shown_line(post.entry) for post in shown])
    room = limit - len(record) - 1 if record else limit
    text = compose([deed.entry for deed in deeds], reactions, posts, room, language) or tell(NOTHING, language)
    text = clip("\n".join(part for part in (clip(text, room), record) if part), limit)
    places = {"P": deeds, "R": reacted, "S": shown}
    sources = {
        letter + number: records[int(number) - 1][0] if letter == "K" else places[letter][int(number) - 1].source
        for letter, number in MARKED.findall(text)
    }
    return text, sources


def marked(letter: str, lines: Sequence[str]) -> list[str]:
    return [f"[{letter}{number}] {line}" for number, line in enumerate(lines, start=1)]


def merged(participant_id: str, experiences: Sequence[Experience], kind: Kind) -> list[Placed]:
    """Newest first over both platforms by their share of the record: they ran side by side. Each text once."""
    placed = [
        (entry.place / max(experience.length, 1), Placed(entry, f"{experience.platform} {entry.source}"))
        for experience in experiences
        if participant_id in experience.memories
        for entry in experience.memories[participant_id].newest[kind].entries.values()
    ]
    newest_first = sorted(placed, key=lambda pair: -pair[0])
    return list({item.entry.text: item for _, item in reversed(newest_first)}.values())[::-1]


def compose(
    deeds: Sequence[MemoryEntry], reactions: Sequence[str], shown: Sequence[str], limit: int, language: Language
) -> str:
    """Own words come first and get at least OWN_SHARE of the limit where there are that many; the rest is shared."""
    headings = in_language(HEADINGS, language)
    least = own_section(deeds, limit, ceil(OWN_SHARE * limit) + SHORTEST, 0, language)
    room = limit - len(least) - 1
    context_room = room // 4 if any(entry.about for entry in deeds) else 0
    room -= context_room
    reacted = section(headings["reaction"], reactions, room // 2 if shown else room)
    seen = section(headings["shown"], shown, room - len(reacted) - 1)
    others = "\n".join(part for part in (reacted, seen) if part)
    told = own_section(deeds, limit - len(others) - 1 if others else limit, limit, context_room, language)
    return "\n".join(part for part in (told, others) if part)


def own_section(deeds: Sequence[MemoryEntry], room: int, words: int, context_room: int, language: Language) -> str:
    """Own posts in at most `room` characters, heading included, at most `words` of them the agent's own.

    What the words answer is added within `context_room`.
    """
    if not deeds:
        return ""
    heading = in_language(HEADINGS, language)["own"]
    text = heading if room >= 2 * len(heading) else ""
    for number, entry in enumerate(deeds, start=1):
        start = f"\n- [P{number}] " if text else f"- [P{number}] "
        left = min(words, room - len(text) - len(start))
        if left < min(len(entry.text), SHORTEST) or left <= 0:
            break
        clipped = clip(entry.text, left)
        words -= len(clipped)
        context = f" ({tell(ANSWERING, language)}: {clip(entry.about, CONTEXT)})" if entry.about else ""
        if len(context) > min(context_room, room - len(text) - len(start) - len(clipped)):
            context = ""
        context_room -= len(context)
        text += start + clipped + context
    return text if text != heading else ""


def section(heading: str, lines: Sequence[str], room: int) -> str:
    """A heading with as many lines as fit; nothing where not even one does."""
    text = heading
    for line in lines:
        if len(text) + 3 + len(line) > room:
            break
        text += f"\n- {line}"
    return text if text != heading else ""


def reaction_line(entry: MemoryEntry, language: Language) -> str:
    author = f"{entry.about}: " if entry.about else ""
    return f"{in_language(VERBS, language)[entry.verb]}: {author}{clip(entry.text, CONTEXT)}"


def shown_line(entry: MemoryEntry) -> str:
    author = f"{entry.about}: " if entry.about else ""
    return f"{author}{clip(entry.text, 2 * CONTEXT)}"
