"""The two sides of a comparison ("two of them are small, whereas the third is large"), read off words of contrast alone."""

from __future__ import annotations

import re

_BETWEEN = re.compile(
    r"^(?P<one>.{4,}?)(?:,|;|\s[–-])?\s+(?:(?:und|aber|and|but)\s+)?(?:"
    r"während|wohingegen|im (?:gegensatz|unterschied) (?:zu[rm]?)|anders als|whereas|while|unlike|in contrast to|as opposed to"
    r"|(?=(?:das|der|die|the) (?:dritte|andere|letzte|third|other|last)\b))\s*(?P<other>.+)$",
    re.IGNORECASE,
)
_OF_WHOM = re.compile(
    r"^(?:(?:die|the)\s+)?(?:(?:ersten |first |anderen |other )?(?:zwei|beiden|beide|two|both)(?:\s+(?:davon|von ihnen|of them))?"
    r"|(?:das|der|die|the)\s+(?:dritte|andere|letzte|third|other|last)(?:\s+one)?)\s+",
    re.IGNORECASE,
)
_SAYS = re.compile(
    r"^(?:(?:dagegen|hingegen|jedoch|aber|eher|rather|however)\s+)*"
    r"(?:(?:sich\s+)?(?:gleichen|ähneln)(?: sich)? (?:in|darin)|stehen|steht|sind|ist"
    r"|haben|hat|bieten|bietet|verlangen|verlangt|teilen|are alike in|stands?|are|is|ha(?:ve|s)|shares?|offers?|needs?)?"
    r"\s*(?:dagegen\s+|hingegen\s+|jedoch\s+|eher\s+)?(?:für\s+|for\s+)?",
    re.IGNORECASE,
)


def poles(sentence: str) -> tuple[str, str] | None:
    """What two of the compared have, and what the third has: as they were put, without who has it. None without a contrast."""
    found = _BETWEEN.match(sentence.strip().rstrip(".!"))
    if not found or not _OF_WHOM.match(found["one"].strip()):
        return None
    one, other = (_SAYS.sub("", _OF_WHOM.sub("", side.strip(" ,")), count=1) for side in (found["one"], found["other"]))
    return (one, other) if one and other else None
