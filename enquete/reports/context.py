"""What passes between the reports and a methodology's evaluation, and careful reading of findings."""

from __future__ import annotations

import ctypes
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import JsonValue

from enquete.state.asking import RESPONDED, Language

if TYPE_CHECKING:
    from enquete.reports.declarations import TableRows

Found = Mapping[str, JsonValue]
"""Findings of one methodology, as its `analyse` returned them."""
Records = Iterable[Mapping[str, JsonValue]]
FileContent: TypeAlias = "Records | Mapping[str, JsonValue | TableRows] | pd.DataFrame | str"
Files = Mapping[str, FileContent]
"""What `Evaluation.files` returns: file name → one object (JSON), rows (JSONL, streamed) or a frame (CSV)."""


@dataclass(frozen=True, slots=True)
class ItemFacts:
    """What an instrument says about an item of the response table. None where the item has no scale."""

    family: str = ""
    dimension: str = ""
    reverse_keyed: bool = False
    scale_min: int | None = None
    scale_max: int | None = None


@dataclass(frozen=True)
class AnalysisContext:
    """What an analysis may know beside the rows of the main arm, the instrument and the settings."""

    language: Language
    baseline: str = "none"  # measured, reconstructed, earlier, none
    memoryless_weight: float = 0.5
    pinned: Mapping[str, JsonValue] = field(default_factory=dict)  # by name: "themes", "feedback/2"
    variants: Mapping[str, Mapping[str, JsonValue]] = field(
        default_factory=dict
    )  # variant → what was pinned in its arm
    participants: pd.DataFrame = field(default_factory=pd.DataFrame)  # index id; agent_id, name, stakeholder_type
    partial: bool = False
    outcomes: Mapping[str, str] = field(default_factory=dict)  # phase → done, short, waiting, failed
    incomparable: tuple[str, ...] = ()  # why T0 and T1 cannot be compared, in the run's language
    pairing: Mapping[str, JsonValue] = field(default_factory=dict)  # matched, lost, new, changed agents
    groups: pd.Series[str] | None = None  # by participant: the persona column that was chosen to compare by

    def groups_of(self, frame: pd.DataFrame) -> pd.Series[str]:
        """By participant: what agents are compared by, stakeholder types unless another column was chosen."""
        if self.groups is not None:
            return self.groups
        return frame.groupby("participant", sort=False)["stakeholder_type"].first()


def chosen(frame: pd.DataFrame, these: pd.Series[bool] | NDArray[np.bool_]) -> pd.DataFrame:
    """These rows. All of a large table are not copied: whoever changes them changes his own."""
    return frame.copy(deep=False) if these.all() else frame[np.asarray(these)]


COMPACT = (
    "participant", "stakeholder_type", "item_id", "text", "content", "value_rekeyed", "confidence", "temperature",
    "scale_min", "scale_max", "item_position",
)  # fmt: skip
"""Columns that are categories in a large table, and not in what is analysed of it."""


def opened(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows as they are analysed: those columns of COMPACT that are categories as texts and numbers again."""
    categories = [name for name in COMPACT if name in rows and rows[name].dtype == "category"]
    if categories:
        give_back()
    return rows.assign(**{name: _opened(rows[name]) for name in categories}) if categories else rows


def give_back() -> None:
    """To the system, what analyses let go of: the C library keeps it between pieces that are in use. Nothing where
    there is no such library."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _opened(column: pd.Series[Any]) -> NDArray[Any]:
    """As a smaller table has them: texts as objects; scales and places, which are whole numbers, in four bytes."""
    codes, known = column.cat.codes.to_numpy(), column.cat.categories.to_numpy()
    if known.dtype.kind == "f":
        short = column.name in ("scale_min", "scale_max", "item_position")
        values = np.append(known, np.nan).astype("float32" if short else "float64")
        return np.asarray(values[codes])  # −1 is the last, of those that are missing
    return np.asarray(known.astype(object)[codes])


def numbered(frame: pd.DataFrame, keys: Iterable[str]) -> NDArray[np.int64]:
    """Of each row the number of what it has in these columns, in the order in which that first comes; a column at a
    time, because all in one would take as much as the table."""
    groups = np.zeros(len(frame), dtype=np.int64)
    for key in keys:
        codes, known = pd.factorize(frame[key])
        groups = pd.factorize(groups * len(known) + codes)[0]
    return groups


def responded(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows that carry an answer."""
    return chosen(frame, frame["status"].isin(RESPONDED))


def statuses(frame: pd.DataFrame) -> dict[str, int]:
    """Rows by status, the most frequent first and then by name, so that equal tables give equal bytes."""
    return frequencies(frame["status"])


def counted(frame: pd.DataFrame) -> dict[str, JsonValue]:
    """n_responded and n_total of the rows, with the statuses that make up the difference."""
    counts = statuses(frame)
    answered = sum(counts.get(status, 0) for status in RESPONDED)
    return {"n_responded": answered, "n_total": len(frame), "statuses": dict(counts)}


def answering(frame: pd.DataFrame) -> dict[str, JsonValue]:
    """`counted`, and how many agents gave an answer, of how many that were to."""
    answered = frame.loc[frame["status"].isin(RESPONDED), "participant"].nunique()
    return {**counted(frame), "agents_responded": int(answered), "agents_total": int(frame["participant"].nunique())}


def frequencies(values: Iterable[str]) -> dict[str, int]:
    """How often each value occurs, the most frequent first and then by name."""
    return dict(sorted(Counter(map(str, values)).items(), key=lambda pair: (-pair[1], pair[0])))


def wide(
    rows: pd.DataFrame, items: Sequence[str], *, column: str = "value", people: Iterable[str] | None = None
) -> pd.DataFrame:
    """Participants × items in the given order, NaN where there is no answer.

    people: by default those among the rows of these items, in the population's order.
    Raises ValueError where somebody answered an item twice.
    """
    asked = rows.loc[rows["item_id"].isin(items), ["participant", "item_id", column]]
    index = pd.Index(asked["participant"].unique() if people is None else list(people), name="participant")
    columns = pd.Index(list(items), name="item_id")
    who, what = index.get_indexer(pd.Index(asked["participant"])), columns.get_indexer(pd.Index(asked["item_id"]))
    kept = who >= 0
    place = who[kept] * len(columns) + what[kept]
    if len(np.unique(place)) < len(place):
        raise ValueError("an item was answered twice by the same participant; give one arm, phase and round at a time")
    cells = np.full(len(index) * len(columns), np.nan)
    cells[place] = asked[column].to_numpy(dtype=np.float64, na_value=np.nan)[kept]
    return pd.DataFrame(cells.reshape(len(index), len(columns)), index=index, columns=columns)


TYPE_NAMES = "type_names"
"""In findings: what stakeholder types are called in the run's language, by the name that simulations write."""


UNIT = "run × wording"
"""What an inference may be about: every agent of a run shares a model and the wording of its prompt."""


# --- answers by name, as claims and episodes cite them: run/arm/methodology/phase/session/round/turn/participant/item

PARTS = ("run_id", "arm", "methodology", "phase", "session", "round", "turn", "participant", "item_id")


def ids(answered: pd.DataFrame) -> Iterator[str]:
    """Of answers, in their order; made as they are read, because those of a large table weigh more than its answers."""
    return ("/".join(map(str, parts)) for parts in zip(*(answered[part] for part in PARTS), strict=True))


def cited(answered: pd.DataFrame, most: int) -> list[str]:
    """The ids of the first `most` answers, none twice."""
    names: dict[str, None] = {}
    for name in ids(answered):
        names[name] = None
        if len(names) == most:
            break
    return list(names)


def missing(value: Any) -> bool:
    """None, NaN, or pandas' NA."""
    return value is None or value is pd.NA or (isinstance(value, float) and value != value)


def plain(column: pd.Series[Any]) -> list[Any]:
    """Python's own values, None where missing."""
    gone, values = np.asarray(column.array.isna()), column.tolist()
    return [None if none else value for value, none in zip(values, gone, strict=True)] if gone.any() else values


def shallow(instance: Any) -> dict[str, Any]:
    """A dataclass's fields by name, as they are: `asdict` copies all that is in them, at many times the cost."""
    return {field.name: getattr(instance, field.name) for field in fields(instance)}


def jsonable(value: Any) -> JsonValue:
    """`value` as JSON that strict readers accept: NaN, infinities and pandas' NA become null; tuples become lists.

    Raises TypeError for anything that is neither a number, a text, a container of those, nor a dataclass.
    """
    if value is None or isinstance(value, str | bool | int):
        return value
    if type(value) is dict:  # by far the most, and sooner told than any other mapping
        return {str(key): jsonable(member) for key, member in value.items()}
    if type(value) is list:
        return [jsonable(member) for member in value]
    if isinstance(value, float | np.floating):
        return float(value) if math.isfinite(value) else None
    if isinstance(value, np.bool_ | np.integer):
        return value.item()
    if value is pd.NA or value is pd.NaT:
        return None
    if is_dataclass(value) and not isinstance(value, type):
        return jsonable(shallow(value))
    if isinstance(value, Mapping):
        return {str(key): jsonable(member) for key, member in value.items()}
    if isinstance(value, Sequence | np.ndarray):
        return [jsonable(member) for member in value]
    raise TypeError(f"{type(value).__name__} {value!r} cannot be written as JSON")
