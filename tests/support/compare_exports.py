"""Compare all that two exports hold, value by value: `python -m tests.support.compare_exports BEFORE AFTER`.

For changes that must not move a number. Both folders come from one ledger: `enquete export RUN --to …` by the code
before and after, or copies of the folder with `synthesis/` and `T1/`. Rows of JSON that have a name or id are matched
by it. `--without delphi.ranking,accord` leaves out what was dropped on purpose.
"""

from __future__ import annotations

import argparse
import difflib
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

SKIPPED = (".sqlite", ".lock", ".svg", ".html", ".log")
KEYS = ("name", "id")
Difference = tuple[str, object, object]


class Comparison:
    """Counts values that are equal and keeps those that are not."""

    def __init__(self, without: tuple[str, ...] = ()) -> None:
        self.equal = 0
        self.differences: list[Difference] = []
        self._without = without

    def differ(self, where: str, before: object, after: object) -> None:
        if not any(name in where for name in self._without):
            self.differences.append((where, before, after))

    def folders(self, before: Path, after: Path) -> None:
        files = [{p.relative_to(f): p for p in sorted(f.rglob("*")) if p.is_file()} for f in (before, after)]
        for name in dict.fromkeys([*files[0], *files[1]]):
            if name.suffix in SKIPPED or "sqlite" in name.name:
                continue
            if name not in files[0] or name not in files[1]:
                self.differ(str(name), *("there" if name in each else "not there" for each in files))
            else:
                self.file(str(name), files[0][name], files[1][name])

    def file(self, name: str, before: Path, after: Path) -> None:
        if before.suffix in (".csv", ".parquet", ".xlsx", ".sav"):
            sheets = [dict(frames(path)) for path in (before, after)]
            for sheet in dict.fromkeys([*sheets[0], *sheets[1]]):
                if sheet in sheets[0] and sheet in sheets[1]:
                    self.frame(f"{name}:{sheet}", sheets[0][sheet], sheets[1][sheet])
                else:
                    self.differ(f"{name}:{sheet}", *("there" if sheet in each else "not there" for each in sheets))
        elif before.suffix == ".json":
            self.value(name, json.loads(before.read_text("utf-8")), json.loads(after.read_text("utf-8")))
        elif before.suffix == ".jsonl":
            self.value(name, *([json.loads(line) for line in path.read_text("utf-8").splitlines()]
                               for path in (before, after)))  # fmt: skip
        else:
            lines = [path.read_text("utf-8", errors="replace").splitlines() for path in (before, after)]
            for line in difflib.unified_diff(*lines, lineterm="", n=0):
                if not line.startswith(("---", "+++", "@@")):
                    self.differ(name, line[:200], "")

    def value(self, where: str, before: Any, after: Any) -> None:
        before, after = keyed(before), keyed(after)
        if isinstance(before, dict) and isinstance(after, dict):
            for key in dict.fromkeys([*before, *after]):
                if key in before and key in after:
                    self.value(f"{where}/{key}", before[key], after[key])
                else:
                    self.differ(f"{where}/{key}", *(str(each.get(key, "not there"))[:80] for each in (before, after)))
        elif isinstance(before, list) and isinstance(after, list):
            if len(before) != len(after):
                self.differ(where, f"{len(before)} members", f"{len(after)} members")
            for place, (one, other) in enumerate(zip(before, after, strict=False)):
                self.value(f"{where}[{place}]", one, other)
        elif same(before, after):
            self.equal += 1
        else:
            self.differ(where, before, after)

    def frame(self, where: str, before: pd.DataFrame, after: pd.DataFrame) -> None:
        if list(before.columns) != list(after.columns):
            self.differ(f"{where} (columns)", *(", ".join(map(str, f.columns)) for f in (before, after)))
        if len(before) != len(after):
            self.differ(where, f"{len(before)} rows", f"{len(after)} rows")
            return
        for name in before.columns.intersection(after.columns):
            for place, (one, other) in enumerate(zip(before[name], after[name], strict=True)):
                self.value(f"{where}.{name}[{place}]", one, other)


def frames(path: Path) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the sheets of a data file; of SPSS also the labels of columns and values."""
    if path.suffix == ".csv":
        yield "", pd.read_csv(path, dtype=str, keep_default_na=False)
    elif path.suffix == ".xlsx":
        yield from pd.read_excel(path, sheet_name=None, dtype=object).items()
    elif path.suffix == ".sav":
        import pyreadstat

        frame, about = pyreadstat.read_sav(path)
        yield "", frame
        yield "labels", pd.DataFrame([{name: str(text) for name, text in about.column_names_to_labels.items()}])
        yield "levels", pd.DataFrame([{name: str(sorted(codes.items(), key=str)) for name, codes in
                                       about.variable_value_labels.items()}])  # fmt: skip
    else:
        import arro3.io

        table = arro3.io.read_parquet(path).read_all()
        yield "", pd.DataFrame({name: table.column(name).to_pylist() for name in table.column_names}, dtype=object)


def keyed(value: Any) -> Any:
    """A list of objects as an object by their name or id, where all have one."""
    for key in KEYS if isinstance(value, list) and value else ():
        if all(isinstance(each, dict) and key in each for each in value):
            named = {str(each[key]): each for each in value}
            if len(named) == len(value):
                return named
    return value


def same(before: Any, after: Any) -> bool:
    numbers = all(isinstance(each, int | float) and not isinstance(each, bool) for each in (before, after))
    if numbers:
        both_missing = math.isnan(before) and math.isnan(after)
        return both_missing or math.isclose(before, after, rel_tol=1e-9, abs_tol=1e-12)
    missing = [each is None or each is pd.NA or each is pd.NaT or each != each for each in (before, after)]
    return all(missing) or (not any(missing) and bool(before == after))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--without", default="")
    arguments = parser.parse_args()
    comparison = Comparison(tuple(filter(None, arguments.without.split(","))))
    comparison.folders(arguments.before, arguments.after)
    print(f"{comparison.equal} values equal, {len(comparison.differences)} differences")
    for difference in comparison.differences:
        print("  " + " | ".join(str(part).replace("\n", " ")[:160] for part in difference))
