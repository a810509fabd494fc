"""Populations that are given as a pandas DataFrame: written down once, as the personas file that they would be."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from enquete.ledger.folders import write_atomically
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    import pandas as pd

Population: TypeAlias = "str | Path | pd.DataFrame"
"""A sim_id, a simulation's folder, a personas file, or a DataFrame with a row a person."""
FOLDER = "people"


def as_source(population: Population, out: str | Path | None) -> str:
    """Return the id or path of a population; a DataFrame is written below `out` first.

    The file is named after its content, so that the same people are the same population when they are asked again.

    Raises:
        SettingsError: a DataFrame was given without `out`, or something that is no population.
    """
    if isinstance(population, str | Path):
        return str(population)
    if not hasattr(population, "to_csv"):
        kind = type(population).__name__
        raise SettingsError(f"a population is a sim_id, a path or a DataFrame of people; this is {kind}")
    if out is None:
        raise SettingsError("people in a DataFrame have no folder of their own: say where results go with out=FOLDER")
    text = population.to_csv(index=False)
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    file = Path(out).expanduser() / FOLDER / f"people_{mark}.csv"
    if not file.exists():
        write_atomically(file, text)
    return str(file)
