"""Stable participant ids where an entity uuid is missing, and what an id may look like."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence

from enquete.simulations.issues import Issue
from enquete.simulations.texts import fold

UNFIT_FOR_ID = re.compile(r"[\s|/\\\x00-\x1f]")


def name_id(name: str, persona: str) -> str:
    """A stable id where there is no uuid: readable name and 8 hex digits over name and persona."""
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    slug = re.sub(r"[^a-z0-9]+", "-", ascii_name.lower()).strip("-")[:40] or "unnamed"
    digest = hashlib.sha256(f"{fold(name)}\n{persona}".encode()).hexdigest()
    return f"agent:name:{slug}-{digest[:8]}"


def unique_ids(keys: Sequence[str], issues: list[Issue]) -> list[str]:
    """Identical name and persona twice: the later ones get -2, -3, ... in file order."""
    taken: dict[str, int] = {}
    ids = []
    for key in keys:
        taken[key] = taken.get(key, 0) + 1
        ids.append(key if taken[key] == 1 else f"{key}-{taken[key]}")
    twins = [key for key, count in taken.items() if count > 1]
    if twins:
        message = f"{len(twins)} agents appear more than once with the same name and persona, e.g. {twins[0]}"
        issues.append(Issue("warning", "", message))
    return ids
