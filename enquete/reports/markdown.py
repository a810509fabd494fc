"""Markdown: escaping what others wrote, numbers as the language writes them."""

from __future__ import annotations

import re
from functools import lru_cache

from enquete.locale import decimals, percent, quoted, whole
from enquete.state.asking import Language
from enquete.state.untrusted_input import visible

MISSING = "–"
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$^&])")
_LINE_START = re.compile(r"^(\s*)(?:([-+=:])|(\d+)([.)])(?=\s|$))")
_LINK = re.compile(r"(?i)\b(https?|ftp|mailto|file|javascript|data)(:)|\b(www)(\.)|(@)")
_HUMP = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|(?<=[A-ZÄÖÜ])(?=[A-ZÄÖÜ][a-zäöüß])")


def escape(text: object) -> str:
    """What a person or model wrote, as one line of plain text: no heading, link, table cell, HTML or list."""
    return _escaped(str(text))


@lru_cache(maxsize=8192)
def _escaped(text: str) -> str:
    line = " ".join(visible(text).split())
    line = _SPECIAL.sub(r"\\\1", line)
    line = _LINK.sub(lambda m: f"{m[1] or m[3] or ''}&#{ord(m[2] or m[4] or m[5])};", line)  # no autolinks either
    return _LINE_START.sub(lambda m: f"{m[1]}\\{m[2]}" if m[2] else f"{m[1]}{m[3]}\\{m[4]}", line)


def readable(name: str) -> str:
    """A type as simulations write it, LocalCityCouncil or local_city_council, as words: local city council."""
    if " " in name or not (_HUMP.search(name) or "_" in name):
        return name
    return " ".join(part if part.isupper() else part.lower() for part in _HUMP.sub(" ", name.replace("_", " ")).split())


def number(value: object, language: Language, digits: int = 2) -> str:
    """A figure; a dash where there is none."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return MISSING
    text = whole(value, language) if isinstance(value, int) else decimals(f"{value:.{digits}f}", language)
    return text if value and text.strip("−0.,") else text.lstrip("−")  # −0.00 is 0.00


def share(value: object, language: Language, digits: int = 0) -> str:
    """A share between 0 and 1 in per cent."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return MISSING
    return percent(number(100.0 * value, language, digits), language)


def p_value(value: object, language: Language) -> str:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return MISSING
    return f"< {number(0.001, language, 3)}" if value < 0.001 else number(float(value), language, 3)


def of(n: object, total: object, language: Language) -> str:
    """n_responded / n_total."""
    return " / ".join(whole(count, language) if isinstance(count, int) else "0" for count in (n, total))


def quote(text: object, who: str, language: Language) -> str:
    """A list entry with someone's words."""
    return f"- {who}: {quoted(escape(text), language)}"
