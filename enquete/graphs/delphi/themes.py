"""The themes as they were frozen, what coding left over, and whether a second coder found the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import pandas as pd
from pydantic import JsonValue, ValidationError

from enquete.graphs.delphi.settings import DelphiSettings
from enquete.respondents.themes.coded import SecondCoding
from enquete.respondents.themes.second import agreement

STATEMENTS_LISTED = 5
LEFT_OVER = ("uncoded", "unknown_ids", "dropped_empty", "dropped_duplicates", "dropped_over_limit")

Themes = list[dict[str, Any]]


def described_themes(stored: JsonValue, answers: pd.DataFrame) -> Themes:
    """The frozen themes, each with the answers that voice it: ids of all, words of the first few.

    answers: rows of round 1.
    """
    listed = stored.get("themes") if isinstance(stored, dict) else stored
    if not isinstance(listed, list):
        return []
    columns = answers[["participant", "item_id", "agent_name", "text"]]
    words = {f"{who}|{item}": (name, text) for who, item, name, text in columns.itertuples(index=False)}
    found = []
    for theme in listed:
        if isinstance(theme, dict):
            ids = [str(one) for one in theme.get("statements") or []]  # type: ignore[union-attr]
            quoted = [{"id": one, "name": words[one][0], "text": words[one][1]} for one in ids if one in words]
            found.append(
                {"id": str(theme["id"]), "label": str(theme["label"]), "description": str(theme.get("description", "")),
                 "n_statements": len(ids), "n_agents": len({one.rpartition("|")[0] for one in ids}),
                 "statements": ids, "quoted": quoted[:STATEMENTS_LISTED]}
            )  # fmt: skip
    return found


def left_over(coded: JsonValue) -> dict[str, int | None] | None:
    """How much coding left uncoded or dropped; None before it."""
    return {key: _count(coded.get(key)) for key in LEFT_OVER} if isinstance(coded, dict) else None


def second_coding(themes: Themes, stored: JsonValue, settings: DelphiSettings | None) -> dict[str, Any]:
    """Agreement of the two codings over the statements that both have; state is done, off, or missing with its reason.

    Krippendorff's α by theme (given or not) and over sets of themes (MASI). A statement that a coder gave to no theme is
    coded, with no theme; one that the second coder left out of its reply is counted in n_uncoded and not compared.
    """
    if settings is not None and not settings.second_coding:
        return {"state": "off"}
    again = _read(stored)
    if again is None:
        return {"state": "missing"}
    figures = asdict(agreement({theme["id"]: theme["statements"] for theme in themes}, again))
    labels = {theme["id"]: theme["label"] for theme in themes}
    return {
        "state": "done",
        "n_sampled": again.n_sampled,
        "n_statements": again.n_statements,
        "n_uncoded": len(again.uncoded),
        "unknown_ids": again.unknown_ids,
        **{key: figures[key] for key in ("n", "identical_share", "alpha", "reason")},
        "themes": [{**one, "label": labels.get(one["theme"], "")} for one in figures["themes"]],
    }


def _read(stored: JsonValue) -> SecondCoding | None:
    try:
        return SecondCoding.model_validate(stored) if isinstance(stored, Mapping) else None
    except ValidationError:
        return None


def _count(value: JsonValue) -> int | None:
    return len(value) if isinstance(value, list) else value if isinstance(value, int) else None
