"""The targets of bench/targets.yaml beside what was measured."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from tests.bench.calls import INTERVIEWING, WHOLE
from tests.bench.child_process import REPOSITORY

FILE = REPOSITORY / "bench" / "targets.yaml"
LATENCY = "0.2"

Value = Callable[[dict[str, Any]], float]


def _call(contender: str, figure: str, in_flight: int) -> Value:
    def value(measured: dict[str, Any]) -> float:
        if contender == WHOLE and measured["calls"]["agents"] < 1_500:
            raise ValueError("not at 1,500 agents")
        found = {(c["latency"], c["in_flight"]): c["contenders"] for c in measured["calls"]["conditions"]}
        return float(found[LATENCY, in_flight][contender][figure])

    return value


def _method(name: str) -> Callable[[dict[str, Any]], list[float]]:
    return lambda measured: [each["cpu_ms"] for each in measured["methods"]["methods"] if each["method"] == name]


def _start(command: str) -> Value:
    return lambda measured: float(measured["start"]["cpu_s"][command])


VALUES: dict[str, Value] = {
    "interviewing_64": _call(INTERVIEWING, "cpu_ratio", 64), "interviewing_256": _call(INTERVIEWING, "cpu_ratio", 256),
    "wall_64": _call(INTERVIEWING, "wall_ratio", 64), "wall_256": _call(INTERVIEWING, "wall_ratio", 256),
    "whole_64": _call(WHOLE, "of_interviewing", 64), "whole_256": _call(WHOLE, "of_interviewing", 256),
    "tokens": lambda measured: _call(INTERVIEWING, "read", 64)(measured) / measured["calls"]["items"],
    "fixed": lambda measured: measured["sizes"]["cpu_s"], "growth": lambda measured: measured["sizes"]["growth_ms"],
    "delphi": lambda measured: _method("delphi")(measured)[-1] / _method("delphi")(measured)[0],
    "laddering": lambda measured: _method("laddering")(measured)[0],
    "false_pages": lambda measured: max(_of_pages(one, "page one: any") for one in _null(measured)),
    "uncovered": lambda measured: max(_uncovered(one["found"]) for one in _null(measured)),
    "unfound_change": lambda measured: _unfound(measured, 20, "drift"),
    "unfound_scenario": lambda measured: _unfound(measured, 20, "scenario"),
    "unfound_groups": lambda measured: _unfound(measured, 50, "groups"),
    "memory": lambda measured: _at(measured, "50000")["peak_mb"] / _at(measured, "500")["peak_mb"],
    "report_s": lambda measured: _large(measured)["cpu_s"], "report_mb": lambda measured: _large(measured)["peak_mb"],
    "bytes": lambda measured: _on_disk(measured["disk"]), "unsettled": lambda measured: measured["kills"]["unsettled"],
    "install": lambda measured: measured["install"]["mb"], "help": _start("enquete --help"),
    "run_help": _start("enquete run --help"), "list": _start("enquete list"), "check": _start("enquete check"),
    "import": _start("import enquete"), "mcp": _start("enquete mcp, to its handshake"),
}  # fmt: skip


def _null(measured: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = measured["null"]["sizes"]
    if sum(one["runs"] for one in found) < 400:
        raise ValueError("not of 400 pages")
    return found


def _of_pages(one: dict[str, Any], claim: str) -> float:
    return float(one["found"].get(claim, 0) / one["runs"])


def _unfound(measured: dict[str, Any], agents: int, effect: str) -> float:
    one = next(one for one in _null(measured) if one["agents"] == agents)
    return 1 - float(one["power"].get(effect, 0) / one["planted"])


def _uncovered(found: dict[str, int]) -> float:
    return 1 - found["covered"] / found["intervals"] if found.get("intervals") else 0.0


def _large(measured: dict[str, Any]) -> dict[str, float]:
    found: dict[str, float] = measured["sizes"]["reported"]
    if found["agents"] < 5_000:
        raise ValueError("not at 5,000 agents")
    return found


def _on_disk(found: dict[str, Any]) -> float:
    if found["agents"] < 1_500:
        raise ValueError("not at 1,500 agents")
    return beside_audit(found["bytes"])


def beside_audit(found: dict[str, float]) -> float:
    return sum(n for kind, n in found.items() if kind != "audit")


def _at(measured: dict[str, Any], agents: str) -> dict[str, float]:
    asked: dict[str, dict[str, float]] = measured["sizes"]["asked"]
    if agents not in asked:
        raise ValueError(f"not at {int(agents):,} agents")
    return asked[agents]


def compared(measured: dict[str, Any], file: Path = FILE) -> list[str]:
    """Rows of a table: what, measured, target, and how it stands. Targets of parts that were not measured are left
    out."""
    rows = []
    for name, target in yaml.safe_load(file.read_text("utf-8")).items():
        try:
            value = VALUES[name](measured)
        except LookupError:
            continue
        except ValueError as not_so:
            rows.append(f"| {target['what']} | – | ≤ {target['at_most']:g} | measured, but {not_so} |")
            continue
        missed = value > target["at_most"]
        how = f"**missed**: {target.get('reason', 'no reason was given')}" if missed else "met"
        rows.append(f"| {target['what']} | {value:.3g} | ≤ {target['at_most']:g} | {' '.join(how.split())} |")
    return rows
