"""What the discussions found, in sentences: who moved, how groups ended, groupthink, reason, the argument that was made most.

transcript.jsonl and positions.csv have the words; beside them stand:

- moved, share, low, high: participants whose stance after was another than before (where there is no stance: whose position
  was), of those asked both times (n), with Wilson's 95 % interval; control: the same share of those who only read.
- first, last: mean agreement of the groups, of what they said privately before and after (else in their first and last round).
- flagged, groups: groups of whose last round at least two of three signs of groupthink hold.
- before, after: deliberative reason in its adjusted form, mean over groups; rising: groups in which it rose.

All of a run share a model: intervals are over agents of this run, no inference about people.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.analysis.means import share_interval
from enquete.locale import N_
from enquete.reports.context import Found, at, figure, listed
from enquete.reports.key_findings import FEWEST, KeyFinding, sentence
from enquete.reports.markdown import number, share
from enquete.state.asking import Language

WORDS: Mapping[str, str] = {
    "moved": N_(
        "{moved} of {n} participants left the discussion with another position ({shown}, 95% interval {low} to {high}; n = {n}/{total})."
    ),
    "moved_control": N_(
        "{moved} of {n} participants left the discussion with another position ({shown}, 95% interval {low} to {high}); of those who "
        "only read it {control} (n = {n}/{total})."
    ),
    "agreement": N_(
        "Agreement in the groups went from {first} at first to {last} in the end (0 to 1); {agreed} of {groups} groups ended in "
        "agreement, {settled} because nobody moved any more (n = {n}/{total})."
    ),
    "agreement_assigned": N_(
        "Agreement in the groups, asked privately, went from {first} before to {last} after (0 to 1); in the discussion stances were "
        "assigned (n = {n}/{total})."
    ),
    "groupthink": N_(
        "{flagged} of {groups} groups show signs of groupthink: the same position in the same words, or all of them sure "
        "(n = {n}/{total} participants)."
    ),
    "reason": N_(
        "Deliberative reason went from {before} to {after} (people: {people_before} to {people_after}) and rose in {rising} of "
        "{groups} groups (n = {n}/{total})."
    ),
    "argument": N_("Most taken up: “{item}”, raised in {raised} groups and answered by {answered} participants (n = {n}/{total})."),
}  # fmt: skip


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """Movement first: it is what a discussion is held for."""
    n = int(at(found, "seats", "participants") or 0)
    if n < FEWEST:
        return
    total = n + int(at(found, "seats", "unseated") or 0) + int(at(found, "seats", "readers") or 0)
    yield from _moved(found, n, language)
    yield from _agreement(found, n, total, language)
    yield from _groupthink(found, n, total, language)
    yield from _reason(found, n, total, language)
    yield from _argument(found, n, total, language)


def _moved(found: Found, seated: int, language: Language) -> Iterator[KeyFinding]:
    own = at(found, "movement", "groups") or {}
    n, moved = int(own.get("n") or 0), int(own.get("moved") or 0)
    if n < FEWEST:
        return
    shares = share_interval(moved, n)
    read = at(found, "movement", "control") or {}
    control = figure(read, "share") if int(read.get("n") or 0) >= FEWEST else None
    text = sentence(
        WORDS["moved" if control is None else "moved_control"], language, moved=moved, n=n, total=seated,
        shown=share(shares["share"], language), low=share(shares["low"], language), high=share(shares["high"], language),
        control=share(control, language),
    )  # fmt: skip
    numbers = {**shares, "moved": moved, "n": n, **({} if control is None else {"control": control})}
    drawn = "persuasion" if listed(found, "persuasion") else "positions"
    yield KeyFinding("moved", text, "position", moved / n, n, seated, figure=drawn, numbers=numbers)


def _agreement(found: Found, n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    curve, exits = listed(found, "curve"), at(found, "exits") or {}
    if not curve:
        return
    first, last = float(curve[0]["agreement"]), float(curve[-1]["agreement"])
    agreed = int(exits.get("consensus", 0)) + int(exits.get("confidence", 0))
    settled, groups = int(exits.get("convergence", 0)), int(at(found, "seats", "begun"))
    words = WORDS["agreement_assigned" if at(found, "mode", "assigned") else "agreement"]
    text = sentence(
        words, language, first=number(first, language), last=number(last, language), agreed=agreed,
        settled=settled, groups=groups, n=n, total=total,
    )  # fmt: skip
    numbers = {"first": first, "last": last, "agreed_groups": agreed, "settled": settled, "groups": groups, "n": n}
    yield KeyFinding("agreement", text, "position", abs(last - first), n, total, figure="agreement", numbers=numbers)


def _groupthink(found: Found, n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    judged = [one["groupthink"] for one in listed(found, "groups") if one["groupthink"]]
    flagged = sum(bool(one["detected"]) for one in judged)
    if flagged:
        text = sentence(WORDS["groupthink"], language, flagged=flagged, groups=len(judged), n=n, total=total)
        numbers = {"flagged": flagged, "groups": len(judged), "n": n}
        size = flagged / len(judged)
        yield KeyFinding("groupthink", text, "position", size, n, total, figure="agreement", numbers=numbers)


def _reason(found: Found, n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    before, after = (figure(found, "reason", stage) for stage in ("before", "after"))
    if before is None or after is None:
        return
    people = {f"people_{stage}": figure(found, "people", f"reason_{stage}") for stage in ("before", "after")}
    counts: dict[str, Any] = {key: int(at(found, "reason", key)) for key in ("rising", "groups")}
    shown = {"before": before, "after": after, **people}
    text = sentence(
        WORDS["reason"], language, n=n, total=total, **counts,
        **{key: number(value, language) for key, value in shown.items()},
    )  # fmt: skip
    numbers = {"before": before, "after": after, **counts, "n": n}
    yield KeyFinding("reason", text, "position", min(1.0, abs(after - before)), n, total, numbers=numbers)


def _argument(found: Found, n: int, total: int, language: Language) -> Iterator[KeyFinding]:
    """The one with most answers; nothing where nobody answered any."""
    by_id: dict[str, list[Mapping[str, Any]]] = {}
    for one in listed(found, "arguments"):
        by_id.setdefault(str(one["id"]), []).append(one)
    answered = {name: sum(len(one["answered"]) for one in rows) for name, rows in by_id.items()}
    most = max(answered, key=lambda name: (answered[name], name), default="")
    if not most or not answered[most]:
        return
    rows = by_id[most]
    text = sentence(
        WORDS["argument"],
        language,
        item=str(rows[0]["label"]),
        raised=len(rows),
        answered=answered[most],
        n=n,
        total=total,
    )
    numbers = {"raised": len(rows), "answered": answered[most], "n": n}
    yield KeyFinding(f"argument.{most}", text, "position", min(1.0, answered[most] / n), n, total, numbers=numbers)
