"""Which type of view and which Q factor each agent is of, for tables and claims across methods, and headlines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd
import scipy
from pydantic import JsonValue

from enquete.locale import N_, Words, said
from enquete.reports.context import Found, alternating, at, cited, listed, type_name
from enquete.reports.crossing.claims import Absent, Claim, Finding, Grouping, Missing, Sentences
from enquete.reports.crossing.comparing import EVIDENCE, claim, comparable, grouped, members
from enquete.reports.evaluation import Headline
from enquete.state.asking import Language

PREFIX = "archetype:"
KINDS: Mapping[str, Words] = {
    "typology": N_("type of view"),
    "shared view": N_("shared view"),
}
PAIRS = (("shared view", "holding out"), ("change", "typology"), ("desirability", "typology"))

NO_FINDINGS = Missing("no_diversity", N_("Sorts are missing"))
NO_TYPOLOGY = Missing(
    "no_typology",
    N_("There are no types of view"),
)
ONE_TYPE = Missing("one_type", N_("All agents are of one stakeholder type"))


def archetypes(found: Found) -> pd.Series[str] | Missing:
    """Letter of the archetype by participant, for members of one."""
    if not found:
        return NO_FINDINGS
    known = {str(one["archetype"]) for one in listed(found, "archetypes") if "archetype" in one}
    theirs = {
        str(one["participant"]): str(one.get("archetype")) for one in listed(found, "members") if "participant" in one
    }
    kept = {who: letter for who, letter in theirs.items() if letter in known}
    return pd.Series(kept, dtype="str") if kept else NO_TYPOLOGY


def agents(found: Found, rows: pd.DataFrame) -> Iterator[Finding]:
    """Archetype and Q factor."""
    letters = archetypes(found)
    if not isinstance(letters, Missing):
        yield Finding("archetype", "categorical", KINDS["typology"], letters, "typology")
    factors = {
        str(one["participant"]): one.get("factor") for one in listed(found, "q", "members") if "participant" in one
    }
    known = {who: str(factor) for who, factor in factors.items() if factor is not None}
    if known:
        yield Finding("q_factor", "categorical", KINDS["shared view"], pd.Series(known, dtype="str"), "shared view")


# --- claims ----------------------------------------------------------------------------------------------------------


def groupings(found: Found, rows: pd.DataFrame) -> Iterator[Grouping]:
    letters = archetypes(found)
    names = [] if isinstance(letters, Missing) else sorted(set(letters))
    listed_names = ", ".join(f"{one.get('archetype')} ({one.get('name')})" for one in listed(found, "archetypes"))
    yield Grouping(
        "archetype",
        N_("by type of view"),
        letters if isinstance(letters, Missing) else PREFIX + letters,
        ("T1/diversity/typology.json → members",),
        called={f"{PREFIX}{name}": said(N_("type {name}"), name=name) for name in names},
        legend=said(N_("Types of view: {names}."), names=listed_names) if listed_names else "",
    )


TYPES = Sentences(
    N_(
        "The most uniform is {high}: {high_count} of {high_n} members belong to “{type_high}” ({high_value}); "
        "the most mixed is {low}, where the most frequent group, “{type_low}”, has {low_count} of {low_n} "
        "({low_value})."
    ),
    N_("All {n_groups} types of view are equally uniform: the most frequent group has {high_value} of the members."),
)


def claims(found: Found, rows: pd.DataFrame, types: Grouping) -> Iterator[Claim | Absent]:
    """The share of each archetype's most frequent stakeholder type."""
    key = "types_of_archetypes"
    heading: Words = N_("Groups within the types of view")
    (own,) = groupings(found, rows)
    labels, kinds = own.labels, types.labels
    if isinstance(labels, Missing):
        yield Absent(key, heading, labels)
        return
    kinds = pd.Series(dtype="str") if isinstance(kinds, Missing) else kinds
    kinds = kinds.reindex(labels.index)
    if kinds.nunique() < 2:
        yield Absent(key, heading, ONE_TYPE)
        return
    modes = {name: kinds[labels.eq(name)].mode().tolist() for name in sorted(set(labels))}
    tops = {name: found_ for name, found_ in modes.items() if found_}
    is_top = kinds.eq(labels.map({name: top[0] for name, top in tops.items()})).astype(float).where(kinds.notna())
    groups = grouped(is_top, labels, counts=True)
    first, last = (_one_each(rows, members(labels, groups, place)) for place in (0, -1))
    yield claim(
        key, heading, groups, TYPES, methods=(), shown="share", answer_ids=alternating(first, last),
        n_answers=int(rows["participant"].isin(list(labels.index)).sum()), rests_on=(*own.rests_on, *types.rests_on),
        terms=_ends(tops, [group.group for group in comparable(groups)], found), called=own.called,
    )  # fmt: skip


def _ends(tops: Mapping[str, list[str]], named: list[str], found: Found) -> dict[str, Words]:
    """The most frequent types of the first and the last archetype; of several the first, the others as its equals."""
    ends = [
        (end, [type_name(found, kind) for kind in tops[named[place]]])
        for end, place in (("high", 0), ("low", -1))
        if named
    ]
    terms: dict[str, Words] = {f"type_{end}": modes[0] for end, modes in ends}
    tied = {f"tied_{end}": modes[1:] for end, modes in ends if len(modes) > 1}
    return {**terms, **{key: _quoted(names) for key, names in tied.items()}}


def _quoted(names: list[str]) -> Words:
    places = {f"name{place}": said(N_("“{name}”"), name=name) for place, name in enumerate(names)}
    return said(", ".join(f"{{{place}}}" for place in places), **places)


def _one_each(rows: pd.DataFrame, who: list[str]) -> list[str]:
    """One answer of each, so that several of them are named."""
    own = rows[rows["participant"].isin(who)]
    return cited(own.drop_duplicates("participant"), EVIDENCE)


# --- replicates ------------------------------------------------------------------------------------------------------


def named_alike(found: Found, main: Found) -> Found:
    """Findings whose archetypes bear the names of the main arm's that they share most members with.

    Names are arbitrary; each is matched at most once (Kuhn 1955), an archetype without a match keeps a name of its own.
    """
    labels, theirs = archetypes(main), archetypes(found)
    if isinstance(labels, Missing) or isinstance(theirs, Missing):
        return found
    both = pd.crosstab(theirs, labels.reindex(theirs.index))
    rows, columns = scipy.optimize.linear_sum_assignment(-both.to_numpy())
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    names = {str(both.index[r]): str(both.columns[c]) for r, c in pairs if both.iat[r, c]}
    parts: dict[str, JsonValue] = {
        part: [_named(one, names) for one in listed(found, part)] for part in ("archetypes", "members")
    }
    return {**found, **parts}


def _named(one: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, JsonValue]:
    name = one.get("archetype")
    return {**one, "archetype": names.get(str(name), f"{name}′")} if name is not None else {**one}


SENTENCES: Mapping[str, str] = {"types": N_("Number of types (0: none)"), "factors": N_("Number of shared views")}


def headlines(found: Found, language: Language) -> Iterator[Headline]:
    """How many types, 0 where there are none, and how many Q factors, unless the number was set by hand."""
    if at(found, "typology") and at(found, "typology", "reason") != "few":
        k = len(listed(found, "archetypes"))
        yield Headline("diversity.types", "types", k, k)
    used = at(found, "q", "number", "used")
    if isinstance(used, int) and at(found, "q", "number", "asked") is None and at(found, "q", "n_analysed"):
        yield Headline("diversity.factors", "factors", used, used)
