"""When a panel with `rounds: auto` has rated enough, by the criteria that end a discussion (analysis/agreement/exits.py)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean

from enquete.analysis.agreement.exits import Exit, Standing, exit_after
from enquete.analysis.panel.dispersion import iqr
from enquete.graphs.delphi.instrument import DelphiInstrument

Ratings = Mapping[str, Mapping[str, float]]
"""panelist → item → rating, of one round."""


def rated_enough(rounds: Sequence[Ratings], instrument: DelphiInstrument) -> Exit:
    """rounds: of ratings, from the first one on."""
    agreed_at = instrument.disagreement.consensus_iqr
    pairs = zip(rounds, [{}, *rounds], strict=False)
    return exit_after([_standing(now, before, agreed_at) for now, before in pairs], instrument.ending.limits)


def _standing(now: Ratings, before: Ratings, agreed_at: float) -> Standing:
    """The share of items on which the panel agrees, and what each panelist left of its ratings as it was."""
    items = {item for own in now.values() for item in own}
    spread = [iqr([own[item] for own in now.values() if item in own]) for item in items]
    kept = {
        who: fmean(own[item] == before[who][item] for item in both)
        for who, own in now.items()
        if (both := own.keys() & before.get(who, {}).keys())
    }
    agreed = [one <= agreed_at for one in spread if one is not None]
    return Standing(fmean(agreed) if agreed else None, len(now), kept)
