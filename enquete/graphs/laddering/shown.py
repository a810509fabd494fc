"""What the templates of the section and the appendix are given beside the findings: the map's links by their labels, kinds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from enquete.graphs.laddering.comparing import STRATEGIES, told
from enquete.graphs.laddering.findings import read_by_rule
from enquete.locale import N_, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.markdown import escape, number
from enquete.state.asking import Language

TRANSCRIPTS = 3
"""Interviews told verbatim; all are in the files."""

STOPS = {
    "max_turns": N_("all turns held"),
    "closing": N_("with a closing question"),
    "shallow": N_("only short answers left"),
    "no_yield": N_("nothing new any more"),
    "same_depth": N_("no further depth"),
    "all_exhausted": N_("all concepts exhausted"),
    "nothing_left": N_("no question left"),
    "": N_("not over"),
}
DROPPED = (
    N_("unknown node type"), N_("empty concept"), N_("relationship to an unknown concept"),
    N_("relationship that the methodology does not allow"), N_("concept that is not in the answer"), N_("several concepts in one"),
)  # fmt: skip
"""Why what was read is left out, as knowledge.py counts it."""

WORKS = {"extract": N_("reading answers"), "signal": N_("judging answers"), "question": N_("wording questions")}

GLOSSARY: Mapping[str, str] = {
    N_("ladder"): N_("a chain from what something is, over what follows from it, to why that matters to someone"),
    N_("value map"): N_("the links between concepts that at least as many agents gave as the cut-off says"),
    N_("saturation"): N_("how few new concepts each further interview brings"),
}


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    concepts = {one["id"]: one for one in listed(found, "concepts")}
    turns = [int(one["turns"]) for one in listed(found, "agents")]
    read, answers = read_by_rule(found)
    return {
        "n": at(found, "interviews", "begun"),
        "ladder": " → ".join(map(escape, at(found, "ladder") or [])),
        "types": at(found, "types"),
        "by_rule": {"read": read, "answers": answers},
        "links": [
            {
                **link,
                "source": concepts[link["source"]],
                "target": concepts[link["target"]],
                "relation": (at(found, "relations") or {}).get(link.get("relation", ""), ""),
            }
            for link in listed(found, "value_map", "links")
        ],
        "by_kind": [_kind(kind, name, list(concepts.values())) for kind, name in (at(found, "types") or {}).items()],
        "indices": {one["concept"]: one for one in listed(found, "indices")},
        "turns_on_average": sum(turns) / len(turns) if turns else None,
        "curve": _marks(listed(found, "saturation")),
        "dropped": escape(", ".join(f"{tell(why, language)}: {n}" for why, n in (at(found, "dropped") or {}).items())),
        "transcripts": _transcripts(found),
        "stops": STOPS,
        "works": WORKS,
        "alphas": _alphas(found, language),
        "strategies": STRATEGIES,
        "helped": [text for _, text in told(at(found, "comparison") or {}, at(found, "interviews", "total"), language)],
    }


def _alphas(found: Found, language: Language) -> str:
    """By type, as far as there is one."""
    names = at(found, "types") or {}
    alpha = (at(found, "coding") or {}).get("alpha", {})
    return (
        ", ".join(
            f"{number(value, language, 2)} ({escape(names[kind])})"
            for kind, value in alpha.items()
            if value is not None
        )
        or "–"
    )


def _kind(kind: str, name: str, concepts: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Concepts come with the most widespread first."""
    own = [one for one in concepts if one["type"] == kind]
    return {"kind": name, "n": len(own), "first": own[0] if own else None}


def _marks(curve: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """A few points of the curve: its whole is in the file."""
    last = len(curve) - 1
    return [curve[place] for place in sorted({0, last // 4, last // 2, 3 * last // 4, last})] if curve else []


def _transcripts(found: Found) -> list[tuple[str, list[Mapping[str, Any]]]]:
    first = [one["participant"] for one in listed(found, "agents")[:TRANSCRIPTS]]
    turns = [[turn for turn in listed(found, "turns") if turn["participant"] == unit] for unit in first]
    return [(own[0]["name"], own) for own in turns if own]
