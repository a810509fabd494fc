"""What the discussions say beside other methodologies and in further runs: columns of agents.csv, and headlines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

import pandas as pd

from enquete.analysis.agreement.held import sign
from enquete.graphs.roundtable.responses import STANCES
from enquete.locale import N_, Words, tell
from enquete.reports.context import Found, figure, listed
from enquete.reports.crossing.claims import Finding
from enquete.reports.evaluation import Headline
from enquete.state.asking import Language

BEFORE: Words = N_("stance before the roundtable, asked privately")
MOVED: Words = N_("whether the agent left the roundtable with another position")


def agents(found: Found, rows: pd.DataFrame) -> Iterator[Finding]:
    """Of those who discussed: where they began, and whether they moved (1) or not (0)."""
    known = [one for one in listed(found, "moves") if not one["reads"]]
    before = {str(one["participant"]): str(one["before"]) for one in known if one["before"]}
    if before:
        yield Finding("roundtable_before", "categorical", BEFORE, pd.Series(before, dtype="str"))
    if known:
        moved = {str(one["participant"]): float(one["moved"]) for one in known}
        yield Finding("roundtable_moved", "numeric", MOVED, pd.Series(moved, dtype=float))


# --- headlines ----------------------------------------------------------------------------------------------------------

SENTENCES: Mapping[str, str] = {
    "beyond_control": N_("more move by discussing than by reading (difference of shares)"),
    "reason": N_("deliberative reason rises (difference)"),
    "agreement": N_("the groups agree more in the end (difference)"),
    "stance": N_("after discussing most say “{0}” (share)"),
}


def headlines(found: Found, language: Language) -> Iterator[Headline]:
    """Signs of the differences that a discussion is held for, and the stance that most have afterwards."""
    curve = [float(one["agreement"]) for one in listed(found, "curve")]
    before, after = (figure(found, "reason", stage) for stage in ("before", "after"))
    for kind, apart in (
        ("beyond_control", figure(found, "movement", "beyond_control")),
        ("reason", None if before is None or after is None else after - before),
        ("agreement", curve[-1] - curve[0] if curve else None),
    ):
        shown = None if apart is None else round(apart, 2)  # as printed
        yield Headline(f"roundtable.{kind}", kind, sign(shown), shown, (), bool(shown))
    yield from _stance(found, language)


def _stance(found: Found, language: Language) -> Iterator[Headline]:
    """A tie says nothing."""
    held = Counter(str(one["after"]) for one in listed(found, "moves") if one["after"] and not one["reads"])
    (stance, n), *others = held.most_common() or [("", 0)]
    clear = bool(stance) and all(other < n for _, other in others)
    about = (tell(STANCES[stance], language),) if stance else ("",)
    share = n / sum(held.values()) if clear else None
    yield Headline("roundtable.stance", "stance", stance if clear else None, share, about, clear)
