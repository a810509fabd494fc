"""Checks prose against claims: every figure, answer and quotation in it must be one of theirs. No model is asked.

A paragraph is measured by the claims that it cites itself, not by all of them. Numbers in words are left alone. Figures
are read as German and as English write them; one that can be read in two ways passes if one of them is the claims'.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import chain

from pydantic import BaseModel, ConfigDict

from enquete.reports.crossing.claims import DIGITS, Claim, Number
from enquete.reports.crossing.sentences import names, sentence
from enquete.state.asking import Language


class Paragraph(BaseModel):
    """Prose about some claims, with the answers that it rests on."""

    model_config = ConfigDict(extra="ignore")

    text: str
    claim_ids: list[str]
    answer_ids: list[str]


class Narrative(BaseModel):
    """A summary across methods."""

    model_config = ConfigDict(extra="ignore")

    paragraphs: list[Paragraph]


EXACT = 1e-9
_TOKEN = re.compile(r"(?<![\w.,])[-−–+]?\d(?:[\w.,]|(?<=\d)[\u202f\u00a0' ](?=\d{3}(?!\w)))*")
_MIXED = re.compile(r"\w*\d\w*")
WAVES = ("T0", "T1")
"""Words with a digit that are no figures."""
_PLAIN = re.compile(r"([-−–+]?)(\d[\d.,\u202f\u00a0' ]*)")
_PER_CENT = re.compile(r"[\s\u00a0\u202f]*(?:%|Prozent(?!punkt)|per\s?cent\b)", re.IGNORECASE)
_POINTS = re.compile(r"[\s\u00a0\u202f]*(?:Prozentpunkt|percentage point)", re.IGNORECASE)
_QUOTED = re.compile(r"[„“\"«»]([^„“”\"«»]+)[“”\"»«]")
_WORD = re.compile(r"\w+")


def problems(narrative: Narrative, claims: Sequence[Claim], known: Collection[str], language: Language) -> list[str]:
    """What is wrong with it, one line each, empty if it may be printed. known: ids of all answers of the run."""
    by_id = {claim.id: claim for claim in claims}
    if not any(paragraph.text.strip() for paragraph in narrative.paragraphs):
        return ["the text is empty"]
    found: list[str] = []
    for number, paragraph in enumerate(narrative.paragraphs, start=1):
        found += (f"paragraph {number}: {line}" for line in _of_paragraph(paragraph, by_id, known, language))
    return found


def _of_paragraph(
    paragraph: Paragraph, claims: Mapping[str, Claim], known: Collection[str], language: Language
) -> Iterator[str]:
    cited = [claims[one] for one in paragraph.claim_ids if one in claims]
    yield from (f"claim {one!r} does not exist" for one in paragraph.claim_ids if one not in claims)
    if not paragraph.claim_ids:
        yield "cites no claim"
    yield from _answers(paragraph, cited, known)
    yield from figures(paragraph.text, cited, language)
    yield from _quotations(paragraph.text, cited, language)


def _answers(paragraph: Paragraph, cited: Sequence[Claim], known: Collection[str]) -> Iterator[str]:
    if not paragraph.answer_ids:
        yield "cites no answer"
    theirs = {one for claim in cited for one in claim.answer_ids}
    for one in paragraph.answer_ids:
        if one not in known:
            yield f"answer {one!r} does not exist"
        elif one not in theirs:
            yield f"answer {one!r} belongs to none of the claims that it cites"


# --- figures ---------------------------------------------------------------------------------------------------------


def figures(text: str, cited: Sequence[Claim], language: Language) -> Iterator[str]:
    """Figures of `text` that are none of the claims'."""
    bare = _without_names(text, cited, language)
    odd = sorted({one for one in bare if unicodedata.category(one) in ("No", "Nl")})
    yield from (f"{one!r} is a figure that cannot be checked" for one in odd)
    allowed = list(chain.from_iterable(claim.numbers().values() for claim in cited))
    spoken = " ".join(sentence(claim, language) for claim in cited)
    for found in _TOKEN.finditer(bare):
        written = found[0].rstrip(".,' \u00a0\u202f")
        after = bare[found.start() + len(written) :]
        if not _PLAIN.fullmatch(written):
            yield f"{written!r} is a figure that cannot be checked"
        elif not any(_is(written, after, number) for number in allowed):
            yield f"{written}{' %' if _PER_CENT.match(after) else ''} is no figure of the claims cited"
    words = {*_WORD.findall(spoken), *WAVES}
    mixed = (one[0] for one in _WORD.finditer(bare) if _MIXED.fullmatch(one[0]) and not one[0][0].isdigit())
    yield from (f"{one!r} is a figure that cannot be checked" for one in mixed if one not in words)


def _without_names(text: str, cited: Sequence[Claim], language: Language) -> str:
    """The text without names of groups and scenarios, which may hold digits. A name that is a mere figure stays."""
    known = {name for claim in cited for name in names(claim, language) if any(one.isalpha() for one in name)}
    for name in sorted(known, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", "…", text)
    return text


def _is(written: str, after: str, number: Number) -> bool:
    """Whether a written figure is this number, as printed or more exactly."""
    matched = _PLAIN.fullmatch(written)
    if matched is None or _POINTS.match(after):
        return False
    per_cent = _PER_CENT.match(after) is not None
    if per_cent and number.shown != "share":
        return False
    scale = 100.0 if per_cent else 1.0
    digits = DIGITS[number.shown] + (2 if number.shown == "share" and not per_cent else 0)
    sign = -1.0 if matched[1] in ("-", "−", "–") else 1.0
    return any(_rounded(sign * value, places, number.value * scale, digits) for value, places in readings(matched[2]))


def _rounded(written: float, places: int, value: float, digits: int) -> bool:
    """`written` equals `value` as printed to `digits` decimals, or is `value` rounded to the more that it has itself."""
    exact = places > digits and abs(written - value) <= 0.5 * 10.0**-places + EXACT
    return abs(written - float(f"{value:.{digits}f}")) < EXACT or exact


def readings(text: str) -> Iterator[tuple[float, int]]:
    """(value, decimals) of a figure as German and as English write it: 1.234,5 · 1,234.5 · 0,43 · 0.43 · 1 234."""
    digits = re.sub(r"[\u202f\u00a0' ]", "", text)
    for thousands, point in ((".", ","), (",", ".")):
        whole, _, fraction = digits.partition(point)
        groups = whole.split(thousands)
        in_thousands = len(groups) == 1 or (1 <= len(groups[0]) <= 3 and all(len(one) == 3 for one in groups[1:]))
        if in_thousands and all(one.isdigit() for one in groups) and (fraction.isdigit() or not fraction):
            yield float("".join(groups) + "." + (fraction or "0")), len(fraction)


def _quotations(text: str, cited: Sequence[Claim], language: Language) -> Iterator[str]:
    """Words in quotation marks must be names or words of the claims: a quotation that nobody said is worse than none."""
    theirs = " ".join([*(sentence(claim, language) for claim in cited), *chain(*(names(c, language) for c in cited))])
    for found in _QUOTED.finditer(text):
        if found[1].strip(" .,;:") not in theirs:
            yield f"nobody is quoted with {found[1]!r} in the claims cited"
