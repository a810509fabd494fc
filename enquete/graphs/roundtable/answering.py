"""What a turn asks for, and what its answers are as a response."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from enquete.graphs.roundtable.instrument import CONSIDERATION, PREFERENCES, RoundtableInstrument
from enquete.graphs.roundtable.modes.checks import NOTHING, entries
from enquete.graphs.roundtable.modes.mode import Mode
from enquete.graphs.roundtable.responses import Response, Stance
from enquete.state.asking import RESPONDED, Answer, Item, Language

AGAIN = "again/"
"""Before the items of a turn that is asked once more: both answers are kept."""

FIXED = ("position", "stance", "reasoning", "key_points", "citations", "confidence", "moved_by")
SURE, PERCENT = 1.0, 100.0
TWICE = 2.0
"""Confidence from which on percent were meant: nobody is twice as sure as sure."""


def public_form(
    words: RoundtableInstrument, mode: Mode, role: str, first: bool, language: Language
) -> tuple[Item, ...]:
    """Of a turn in the group: the mode's sections between the position and the reasons for it."""
    fixed = _fixed(words, language)
    stance = (fixed["stance"],) if mode.stance else ()
    rest = (fixed[name] for name in ("reasoning", "key_points", "citations", "confidence"))
    return fixed["position"], *stance, *mode.form(role, first, language), *rest


def private_form(words: RoundtableInstrument, language: Language, *, after: bool) -> tuple[Item, ...]:
    """Before and after the discussion, in every mode alike."""
    fixed = _fixed(words, language)
    names = ("position", "stance", "reasoning", *(("moved_by",) if after else ()), "confidence")
    return *(fixed[name] for name in names), *words.private_items(language)


def _fixed(words: RoundtableInstrument, language: Language) -> dict[str, Item]:
    found = {name: Item(id=name, kind="text", wording=getattr(words.items, name).in_(language)) for name in FIXED}
    options = words.stance_options(language)
    found["stance"] = found["stance"].model_copy(update={"kind": "choice", "options": options})
    found["confidence"] = found["confidence"].model_copy(update={"kind": "number"})
    return found


def once_more(items: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(item.model_copy(update={"id": AGAIN + item.id}) for item in items)


# --- reading -------------------------------------------------------------------------------------------------------------


def response(answers: Sequence[Answer]) -> Response:
    """As it was said; only a confidence outside 0 to 1 is brought into it, with what was said kept."""
    heard = {plain(answer.item): answer for answer in answers if answer.status in RESPONDED}
    text = {name: answer.text for name, answer in heard.items() if answer.text}
    raw = heard["confidence"].value if "confidence" in heard else None
    confidence, kept = in_range(raw)
    own = (answer for name, answer in heard.items() if name not in FIXED or name == "moved_by")
    return Response(
        position=text.get("position", ""), reasoning=text.get("reasoning", ""), confidence=confidence,
        raw_confidence=kept, stance=_stance(heard.get("stance")), key_points=_listed(text.get("key_points", "")),
        citations=_listed(text.get("citations", "")),
        sections={plain(answer.item): answer.text for answer in own if answer.text},
    )  # fmt: skip


def in_range(raw: float | None) -> tuple[float | None, float | None]:
    """(confidence from 0 to 1, what was said where it lay outside). 80 is read as percent, 1.3 and -0.2 are clamped."""
    if raw is None or 0 <= raw <= SURE:
        return raw, None
    return (raw / PERCENT if TWICE < raw <= PERCENT else min(max(raw, 0.0), SURE)), raw


def missing(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Items that got no answer."""
    return tuple(plain(answer.item) for answer in answers if answer.status not in RESPONDED)


def ratings(answers: Sequence[Answer]) -> dict[str, float]:
    """Consideration → value."""
    return dict(_rated(answers))


def _rated(answers: Sequence[Answer]) -> Iterator[tuple[str, float]]:
    for answer in answers:
        family, _, name = plain(answer.item).partition("/")
        if family == CONSIDERATION and answer.status in RESPONDED and answer.value is not None:
            yield name, answer.value


def ranking(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Options, the best first; () where there is no order."""
    found = next(
        (answer.data for answer in answers if plain(answer.item) == PREFERENCES and answer.status in RESPONDED), None
    )
    return tuple(map(str, found)) if isinstance(found, list) else ()


def plain(item: str) -> str:
    """The id of an item, asked once more or not."""
    return item.removeprefix(AGAIN)


def _listed(text: str) -> tuple[str, ...]:
    return () if NOTHING.fullmatch(text.strip()) else tuple(entries(text))


def _stance(answer: Answer | None) -> Stance:
    if answer is None:
        return ""
    found = answer.data.get("mode") if isinstance(answer.data, dict) else answer.data
    for stance in ("yes", "no", "neutral"):
        if found == stance:
            return stance
    return ""
