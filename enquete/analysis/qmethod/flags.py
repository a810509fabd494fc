"""Which sorts define a factor: automatic flags, and a researcher's changes to them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from enquete.analysis.typology.components import Matrix

Flags: TypeAlias = "npt.NDArray[np.bool_]"

Z_05 = 1.96


@dataclass(frozen=True)
class FlagEdits:
    """Changes by hand: pairs of (row of the sorts as given, factor), both from 0; factors as numbered before any is dropped."""

    add: Collection[tuple[int, int]] = ()
    remove: Collection[tuple[int, int]] = ()


def threshold(statements: int) -> float:
    """Least |l| that differs from 0 at .05: 1.96/√S, S statements (24: .400)."""
    return float(Z_05 / np.sqrt(statements))


def automatic_flags(loadings: Matrix, statements: int) -> Flags:
    """Flagged: |l| > 1.96/√S and l² > Σ of the person's other l². N × k; negative loadings are flagged too.

    At most one flag a person. Source: Brown 1980; van Exel & de Graaf 2005 (PQMethod's pre-flagging).
    """
    squares = loadings**2
    return np.asarray((np.abs(loadings) > threshold(statements)) & (2 * squares > squares.sum(axis=1, keepdims=True)))


def edited(flags: Flags, edits: FlagEdits, rows: Sequence[int]) -> Flags:
    """`flags` with the changes. rows: for each row of `flags`, its row in the sorts as given.

    Raises ValueError for a sort or factor that is not there, for a pair to add that is flagged already, for one to remove
    that is not, and for a pair in both: a researcher's note about another solution must not pass for one about this.
    """
    both = set(edits.add) & set(edits.remove)
    if both:
        raise ValueError(f"flags {sorted(both)} are to be added and removed; name each (sort, factor) once")
    places = {row: place for place, row in enumerate(rows)}
    found = flags.copy()
    for pairs, wanted in ((edits.add, True), (edits.remove, False)):
        for row, factor in pairs:
            if row not in places:
                raise ValueError(f"flag ({row}, {factor}): sort {row} is not among the {len(rows)} analysed sorts")
            if not 0 <= factor < flags.shape[1]:
                raise ValueError(f"flag ({row}, {factor}): factors are 0 … {flags.shape[1] - 1}")
            if flags[places[row], factor] == wanted:
                raise ValueError(
                    f"flag ({row}, {factor}) is {'already set' if wanted else 'not set'}; nothing to change"
                )
            found[places[row], factor] = wanted
    return found
