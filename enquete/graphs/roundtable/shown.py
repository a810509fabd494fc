"""What the templates of the section and the appendix are given beside the findings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.graphs.roundtable.analysis import AFTER, BEFORE
from enquete.graphs.roundtable.figures import group_name
from enquete.graphs.roundtable.layers import RECOMMENDED
from enquete.graphs.roundtable.responses import STANCES
from enquete.locale import N_, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.key_findings import FEWEST
from enquete.respondents.roles import RULE
from enquete.state.asking import Language

TRANSCRIPTS, ARGUMENTS, GROUPS = 2, 12, 40
"""Groups told verbatim, arguments and groups in a table; all are in the files."""

EXITS = {
    "consensus": N_("agreed"),
    "convergence": N_("nobody moved any more"),
    "confidence": N_("agreed and sure"),
    "max_rounds": N_("last round"),
    "": N_("not over"),
}
SIGNS = {
    "all_sure": N_("all sure"),
    "one_side": N_("all on one side"),
    "same_words": N_("same words"),
}
COMPOSED = {
    "mixed": N_("mixed across types"),
    "type": N_("one type each"),
    "views": N_("the most different views together"),
    "hand": N_("put together by hand"),
}
LEVELS = {"high": N_("high"), "medium": N_("medium"), "low": N_("low")}
ACTIONS = {
    "proceed": "",
    "verify": N_("check first"),
    "query_detail": N_("read the details"),
}
HOW = {"took_up": N_("took it up"), "countered": N_("countered")}
CONFORMITY = {
    "same_person": N_("r of a participant's ratings before and after"),
    "changed": N_("share of ratings that changed"),
    "mean_change": N_("mean change, share of the scale"),
    "spread": N_("spread after ÷ before"),
    "toward_group": N_("of the changed ratings, closer to the group"),
    "profiles": N_("r between participants afterwards"),
}
SHARES = ("changed", "mean_change", "toward_group")

GLOSSARY = {
    N_("agreement"): N_(
        "Of a round, 0 to 1: how many take the same position, by its words and side, and how alike their confidence is."
    ),
    N_("groupthink"): N_(
        "Two of three signs: all are sure, all take one position, all say it in the same words. A reason to look, not a proof."
    ),
    N_("deliberative reason index"): N_(
        "Whether those who weigh the considerations alike also rank the options alike; 1: entirely. In the adjusted form, which is "
        "not positive where everybody answers at random."
    ),
    N_("readers"): N_("Agents who only read what a group said, and were asked before and after like its participants."),
}


def shown(found: Found, language: Language) -> Mapping[str, Any]:
    return {
        "n": at(found, "seats", "participants"),
        "groups": [_group(one, found) for one in listed(found, "groups")[:GROUPS]],
        "composed": COMPOSED.get(str(at(found, "compose")), ""),
        "exits": EXITS,
        "signs": SIGNS,
        "levels": LEVELS,
        "actions": ACTIONS,
        "how": HOW,
        "stances": STANCES,
        "name_of": group_name,
        "advice": _advice(found),
        "few": FEWEST,
        "moves": [one for one in listed(found, "moves") if one["moved"] and not one["reads"]],
        "arguments": sorted(listed(found, "arguments"), key=lambda one: -len(one["answered"]))[:ARGUMENTS],
        "unanswered": sum(not one["answered"] for one in listed(found, "arguments")),
        "measures": _measures(found),
        "readings": list(_readings(found)),
        "checks": at(found, "violations", "by_check") or {},
        "transcripts": _transcripts(found, language),
    }


def _group(one: Mapping[str, Any], found: Found) -> dict[str, Any]:
    """Agreement of assigned stances is none of the group's."""
    assigned = at(found, "mode", "assigned")
    known = [each for each in one["rounds"] if each["agreement"] is not None and not assigned]
    decision = at(found, "layers", str(one["group"]), "decision") or {}
    return {
        **one,
        "label": group_name(one["group"]),
        "n": len(one["participants"]),
        "first": known[0]["agreement"] if known else None,
        "last": known[-1]["agreement"] if known else None,
        "positions": known[-1]["positions"] if known else None,
        "signs": list(at(one, "groupthink", "indicators") or []) if at(one, "groupthink", "detected") else [],
        "stance": decision.get("stance", ""),
        "held": len(decision.get("held_by", ())),
        "level": decision.get("consensus_level", ""),
        "action": decision.get("action", ""),
    }


def _advice(found: Found) -> list[tuple[str, str]]:
    """What is recommended, and to which groups."""
    by_text: dict[str, list[str]] = {}
    for one in listed(found, "groups"):
        advice = at(one, "groupthink", "recommendation")
        if advice in RECOMMENDED:
            by_text.setdefault(RECOMMENDED[advice], []).append(group_name(one["group"]))
    return [(text, ", ".join(groups)) for text, groups in by_text.items()]


def _measures(found: Found) -> list[dict[str, Any]]:
    """Conformity: participants, readers, people; nothing where nobody rated."""
    own, read = (at(found, "conformity", name) or {} for name in ("groups", "control"))
    return [
        {"label": label, "share": key in SHARES, "own": own.get(key), "read": read.get(key), "people": at(found, "people", key)}
        for key, label in CONFORMITY.items()
        if own.get(key) is not None
    ]  # fmt: skip


def _readings(found: Found) -> Iterator[dict[str, Any]]:
    """Rounds that a model judged as well: what it said beside the rule."""
    for group in listed(found, "groups"):
        rounds = {one["round"]: one for one in group["rounds"]}
        for one in group["analysed"]:
            if one["by"] != RULE:
                camps = len(set(one["camp_of"].values()))
                yield {**one, "camps": camps, "label": group_name(group["group"]), "ruled": rounds[one["round"]]}


def _transcripts(found: Found, language: Language) -> list[dict[str, Any]]:
    turns = listed(found, "turns")
    units = [str(one["group"]) for one in listed(found, "groups")[:TRANSCRIPTS]]
    return [
        {
            "label": group_name(unit),
            "stages": _by_stage([one for one in turns if one["group"] == unit], language),
            "remarks": [one for one in listed(found, "remarks") if one["group"] == unit],
        }
        for unit in units
    ]


STAGES = {BEFORE: N_("Privately before"), AFTER: N_("Privately after")}
ROUND = N_("Round {round}")


def _by_stage(turns: list[Mapping[str, Any]], language: Language) -> list[tuple[str, list[Mapping[str, Any]]]]:
    found: dict[str, list[Mapping[str, Any]]] = {}
    for one in turns:
        stage = BEFORE if one["private"] and one["round"] == 0 else AFTER if one["private"] else ""
        label = tell(STAGES[stage], language) if stage else tell(ROUND, language).format(round=one["round"])
        found.setdefault(label, []).append(one)
    return list(found.items())
