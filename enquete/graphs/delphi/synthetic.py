"""Synthetic Delphi panel: planted themes voiced in round 1, rated in round 2, revised in round 3.

Every choice comes from SHA-256 over the seed, the methodology, the item and the persona, so an item gets the same answer
alone or in a block, in any order and process; round 3 recomputes round 2's rating and reads the median from the feedback.
"""

from __future__ import annotations

import re

from enquete.graphs.delphi.truth import TRUTH, PlantedTheme, Rating
from enquete.graphs.delphi.voices import CLAIMS, OPENINGS, REASONS
from enquete.respondents.planted import answer_at, normal, persona_hash, pick, sample, uniform
from enquete.respondents.stakeholders import type_of, voice
from enquete.state.seam import Answer, Block, Item, Language, Participant

__all__ = ["TRUTH", "answer", "recognise", "voiced"]

METHODOLOGY = "delphi"
_CENTRE_RANGE = 0.5  # consensual centres of themes that nobody planted lie within ± this


def answer(who: Participant, block: Block, language: Language, seed: int) -> tuple[Answer, ...]:
    """One answer per item of the block, in its order.

    Text items voice planted themes; closed items rate the theme that the wording speaks of; from round 3 on the ratings
    revise the first ones in the light of the medians quoted in the block. Raises ValueError for a closed item without options.
    """
    medians = _medians(block)
    return tuple(_answer_item(who, item, block.key.round, medians.get(item.id), language, seed) for item in block.items)


def voiced(who: Participant, question: str, seed: int) -> tuple[str, ...]:
    """The planted themes (1–3 keys) that this agent's answer to an open question voices: the truth behind round 1."""
    key = (seed, METHODOLOGY, "voiced", question, persona_hash(who))
    kind = type_of(who)
    least, most = TRUTH.themes_per_answer
    n = least + int(uniform(*key, "n") * (most - least + 1))
    return tuple(
        sample(
            [(theme.key, _affinity(theme, kind)) for theme in TRUTH.themes if _voices(theme, kind, persona_hash(who))],
            n,
            *key,
        )
    )


def recognise(wording: str) -> PlantedTheme | None:
    """The planted theme whose words occur most often in a coded theme's wording; None if none occurs."""
    hits = {theme.key: len(theme.words.findall(wording)) for theme in TRUTH.themes}
    best = max(TRUTH.themes, key=lambda theme: hits[theme.key])
    return best if hits[best.key] else None


def _voices(theme: PlantedTheme, kind: str, persona: str) -> bool:
    return not theme.polarised or theme.in_camp(kind, persona)  # nobody speaks up for what they rate as unimportant


def _affinity(theme: PlantedTheme, kind: str) -> float:
    if kind.startswith("other:"):
        return 1 + 2 * uniform(METHODOLOGY, "affinity", theme.key, kind)
    return 3.0 if kind in theme.favoured_by else 1.0


def _answer_item(
    who: Participant, item: Item, round_: int, median: float | None, language: Language, seed: int
) -> Answer:
    if item.kind == "text":
        return Answer(item.id, "ok", text=_opinion(who, item.id, language, seed))
    theme = recognise(item.about or item.wording)
    first = _first_rating(who, item, theme, seed)
    revised = _revised(who, item, theme, first, median, seed) if round_ >= 3 else first
    key = (seed, METHODOLOGY, item.id, persona_hash(who))
    confidence = 0.55 + 0.3 * abs(revised) + 0.08 * normal(*key, "confidence")
    found = answer_at(revised, item, confidence=confidence)
    if not item.reason:
        return found
    before = answer_at(first, item, confidence=confidence).value
    text = _reason(who, item.id, before, found.value, median, language, seed)
    return answer_at(revised, item, confidence=confidence, text=text)


def _opinion(who: Participant, question: str, language: Language, seed: int) -> str:
    """One sentence per voiced theme, sometimes one about oneself."""
    key = (seed, METHODOLOGY, question, persona_hash(who))
    sentences = [_claim(theme, language, *key, theme) for theme in voiced(who, question, seed)]
    if uniform(*key, "voice") < 0.3:
        sentences.insert(0, voice(type_of(who), language, *key))
    return " ".join(sentences)


def _claim(theme: str, language: Language, *key: str | int) -> str:
    opening, claim = pick(OPENINGS[language], *key, "opening"), pick(CLAIMS[language][theme], *key, "claim")
    if opening.endswith(": "):  # German writes a whole sentence after a colon with a capital
        claim = claim[0].upper() + claim[1:]
    sentence = f"{opening}{claim}."
    return sentence[0].upper() + sentence[1:]


def _first_rating(who: Participant, item: Item, theme: PlantedTheme | None, seed: int) -> float:
    """Position of round 2's rating, −1 … 1."""
    topic, _, dimension = item.id.rpartition("/")
    key = (seed, METHODOLOGY, "rating", item.id, persona_hash(who))
    rating = theme.rating(dimension) if theme else _unplanted(topic or item.id, dimension)
    high = rating.polarised and theme is not None and theme.in_camp(type_of(who), persona_hash(who))
    centre = rating.high if high else rating.low
    if rating.outward and uniform(*key, "outward") < rating.outward:
        return 1.0 if high else -1.0
    return min(max(centre + rating.sd * normal(*key), -1.0), 1.0)


def _unplanted(topic: str, dimension: str) -> Rating:
    centre = _CENTRE_RANGE * (2 * uniform(METHODOLOGY, "unplanted", topic, dimension) - 1)
    return Rating(centre, centre, sd=0.35)


def _revised(
    who: Participant, item: Item, theme: PlantedTheme | None, first: float, median: float | None, seed: int
) -> float:
    target = _position_of(median, item)
    if target is None:
        return first
    dimension = item.id.rpartition("/")[2]
    polarised = theme is not None and theme.rating(dimension).polarised
    movers = TRUTH.movers_polarised if polarised else TRUTH.movers_consensual
    moves = uniform(seed, METHODOLOGY, "moves", item.id, persona_hash(who)) < movers
    return first + TRUTH.step * (target - first) if moves else first


def _position_of(median: float | None, item: Item) -> float | None:
    values = [option.value for option in item.options if isinstance(option.value, int)]
    if median is None or len(values) < 2:
        return None
    low, high = min(values), max(values)
    return 2 * (median - low) / (high - low) - 1


def _reason(
    who: Participant,
    item_id: str,
    before: float | None,
    after: float | None,
    median: float | None,
    language: Language,
    seed: int,
) -> str:
    key = (seed, METHODOLOGY, "reason", item_id, persona_hash(who))
    held = median is not None and after is not None and abs(after - median) >= 1
    outcome = "moved" if before != after else "held" if held else "agreed"
    reason = pick(REASONS[language][outcome], *key)
    if outcome == "held" or uniform(*key, "voice") < 0.2:
        return f"{reason} {voice(type_of(who), language, *key)}"
    return reason


def _medians(block: Block) -> dict[str, float]:
    """Medians by item id from feedback lines such as "theme:9f3a/importance: median 4, IQR 1, n 48"."""
    line = re.compile(r"^[^\w\n]*(\S+?):[ \t].*?\bmedian\b[^\d\n-]*(-?\d+(?:[.,]\d+)?)", re.IGNORECASE | re.MULTILINE)
    found = (match for _, text in block.quoted for match in line.finditer(text))
    return {match[1]: float(match[2].replace(",", ".")) for match in found}
