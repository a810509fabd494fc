"""A memory digest: what an agent said, did and was shown, newest first, in at most `limit` characters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from enquete.locale import C_, N_, in_language, tell
from enquete.simulations.entries import Entry, Kind
from enquete.simulations.experience import Experience, Source, read_experience
from enquete.simulations.population import Population
from enquete.simulations.sources import Issue
from enquete.simulations.texts import clip
from enquete.state.asking import Language

OWN_SHARE = 0.6
CONTEXT = 100
SHORTEST = 20  # a post is not cut to fewer characters

HEADINGS: Mapping[str, str] = {
    "own": N_("Own posts (newest first):"),
    "reaction": N_("Reactions:"),
    "shown": N_("Posts of others that were shown:"),
}
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
    """Digest by participant id: None where no source could be read for that agent, a sentence where nothing happened.

    `sources` and `exposure` by platform: where it was read from, and whether it says what agents were shown.
    """

    texts: Mapping[str, str | None]
    issues: tuple[Issue, ...]
    sources: Mapping[str, Source]
    exposure: Mapping[str, bool]


def digests(population: Population, *, limit: int = 2000, language: Language = "de") -> Digests:
    """The memory digest of every participant, both platforms merged. Never raises on damaged sources."""
    experiences, issues = read_experience(population, max(limit, 0))
    seats = {(seat.platform, seat.participant) for seat in population.seats}
    texts: dict[str, str | None] = {}
    for participant in population.participants:
        readable = [e for e in experiences if (e.platform, participant.id) in seats and covers(e, participant.id)]
        texts[participant.id] = write_digest(participant.id, readable, limit, language) if readable else None
    return Digests(
        texts=texts,
        issues=tuple(issues),
        sources={experience.platform: experience.source for experience in experiences},
        exposure={experience.platform: experience.exposure for experience in experiences},
    )


def covers(experience: Experience, participant_id: str) -> bool:
    return experience.source != "none" and participant_id not in experience.withheld


def write_digest(participant_id: str, experiences: Sequence[Experience], limit: int, language: Language) -> str:
    own = merged(participant_id, experiences, "own")
    reactions = [reaction_line(entry, language) for entry in merged(participant_id, experiences, "reaction")]
    shown = [shown_line(entry) for entry in merged(participant_id, experiences, "shown")]
    text = compose(own, reactions, shown, limit, language) or tell(NOTHING, language)
    return clip(text, max(limit, 0))


def merged(participant_id: str, experiences: Sequence[Experience], kind: Kind) -> list[Entry]:
    """Newest first over both platforms by their share of the record: they ran side by side. Each text once."""
    placed = [
        (entry.place / max(experience.length, 1), entry)
        for experience in experiences
        if participant_id in experience.memories
        for entry in experience.memories[participant_id].shelves[kind].entries.values()
    ]
    newest_first = sorted(placed, key=lambda pair: -pair[0])
    return list({entry.text: entry for _, entry in reversed(newest_first)}.values())[::-1]


def compose(
    own: Sequence[Entry], reactions: Sequence[str], shown: Sequence[str], limit: int, language: Language
) -> str:
    """Own words come first and get at least OWN_SHARE of the limit where there are that many; the rest is shared."""
    headings = in_language(HEADINGS, language)
    least = own_section(own, limit, ceil(OWN_SHARE * limit) + SHORTEST, 0, language)
    room = limit - len(least) - 1
    context_room = room // 4 if any(entry.about for entry in own) else 0
    room -= context_room
    reacted = section(headings["reaction"], reactions, room // 2 if shown else room)
    seen = section(headings["shown"], shown, room - len(reacted) - 1)
    others = "\n".join(part for part in (reacted, seen) if part)
    said = own_section(own, limit - len(others) - 1 if others else limit, limit, context_room, language)
    return "\n".join(part for part in (said, others) if part)


def own_section(own: Sequence[Entry], room: int, words: int, context_room: int, language: Language) -> str:
    """Own posts in at most `room` characters, heading included, at most `words` of them the agent's own.

    What the words answer is added within `context_room`.
    """
    if not own:
        return ""
    heading = in_language(HEADINGS, language)["own"]
    text = heading if room >= 2 * len(heading) else ""
    for entry in own:
        start = "\n- " if text else "- "
        left = min(words, room - len(text) - len(start))
        if left < min(len(entry.text), SHORTEST) or left <= 0:
            break
        said = clip(entry.text, left)
        words -= len(said)
        context = f" ({tell(ANSWERING, language)}: {clip(entry.about, CONTEXT)})" if entry.about else ""
        if len(context) > min(context_room, room - len(text) - len(start) - len(said)):
            context = ""
        context_room -= len(context)
        text += start + said + context
    return text if text != heading else ""


def section(heading: str, lines: Sequence[str], room: int) -> str:
    """A heading with as many lines as fit; nothing where not even one does."""
    text = heading
    for line in lines:
        if len(text) + 3 + len(line) > room:
            break
        text += f"\n- {line}"
    return text if text != heading else ""


def reaction_line(entry: Entry, language: Language) -> str:
    author = f"{entry.about}: " if entry.about else ""
    return f"{in_language(VERBS, language)[entry.verb]}: {author}{clip(entry.text, CONTEXT)}"


def shown_line(entry: Entry) -> str:
    author = f"{entry.about}: " if entry.about else ""
    return f"{author}{clip(entry.text, 2 * CONTEXT)}"
