"""What was measured, kept by part in bench/measured.json, and as Markdown in bench/results.md.

`python -m tests.bench.results` writes the Markdown anew, after a target or a reason was changed.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterable
from typing import Any

from tests.bench.child_process import REPOSITORY
from tests.bench.targets import beside_audit, compared

MEASURED = REPOSITORY / "bench" / "measured.json"
RESULTS = REPOSITORY / "bench" / "results.md"


AT = "%Y-%m-%d %H:%M UTC"


def stamped(found: dict[str, Any], began: float, load: float) -> dict[str, Any]:
    """With where, when and beside how much other work: load averages (15 minutes) at the beginning and the end."""
    return found | {
        "at": time.strftime(AT, time.gmtime(began)), "minutes": round((time.time() - began) / 60, 1),
        "commit": commit(), "cores": os.cpu_count(), "python": platform.python_version(),
        "load": [round(load, 1), round(os.getloadavg()[2], 1)],
    }  # fmt: skip


def commit() -> str:
    """What is measured; `-dirty` where anything but the bench's own files was changed since."""
    head = _git("rev-parse", "--short", "HEAD")
    return f"{head}-dirty" if _git("status", "--porcelain", "--", ".", ":!bench") else head


def _git(*words: str) -> str:
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True, cwd=REPOSITORY).stdout.strip()


def written(found: dict[str, Any]) -> None:
    """File these parts beside the others, each of which says when it was measured."""
    measured = (json.loads(MEASURED.read_text("utf-8")) if MEASURED.exists() else {}) | found
    MEASURED.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n", "utf-8")
    RESULTS.write_text(shown(measured), "utf-8")


def shown(measured: dict[str, Any]) -> str:
    """Markdown: targets first, then a section a part."""
    lines = [
        "# What Enquete costs",
        "",
        "Written by `make bench`. A section says when it was measured and of which commit; figures are worth comparing "
        "within one",
        "only. Ratios are medians of ratios within a round, in which all contenders were measured one after another. "
        "Reasons: `targets.yaml`.",
        "",
        "| | measured | target | |",
        "|---|---:|---:|---|",
        *compared(measured),
    ]
    for part, section in SECTIONS.items():
        if part in measured:
            found = measured[part]
            lines += ["", f"## {TITLES[part]}", "", _where(found), "", *section(found)]
    return "\n".join(lines) + "\n"


def _where(found: dict[str, Any]) -> str:
    before, after = found["load"]
    busy = f"load average {before} to {after}: a busy machine" if max(before, after) > 2 else f"load average {after}"
    return (
        f"{found['at']}, commit {found['commit']}, Python {found['python']}, {found['cores']} cores, "
        f"{found['minutes']} minutes, {busy}."
    )


def _table(head: Iterable[str], rows: Iterable[Iterable[object]]) -> list[str]:
    names = list(head)
    lines = [f"| {' | '.join(names)} |", f"|---|{'---:|' * (len(names) - 1)}"]
    return [*lines, *(f"| {' | '.join(_said(value) for value in row)} |" for row in rows)]


def _said(value: object) -> str:
    if isinstance(value, float):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _calls(found: dict[str, Any]) -> list[str]:
    lines = [
        f"{found['agents']:,} agents × {found['items']} items, one call an agent; medians of {found['rounds']} rounds. "
        "`×`: of AsyncOpenAI on aiohttp. `of interviewing`: of Enquete's interviewing. Tokens: an answer, of four "
        "bytes, the schema that is sent included. `server`: CPU of the model server in its own process, ms a call and "
        "share of one core."
    ]
    for condition in found["conditions"]:
        latency = "lognormal, median 200 ms" if condition["latency"] == "lognormal" else f"{condition['latency']} s"
        lines += ["", f"**{condition['in_flight']} in flight, latency {latency}**", ""]
        lines += _table(
            ["", "CPU ms a call", "×", "of interviewing", "wall s", "×", "peak MB", "tokens in", "out", "server ms",
                "busy"],
            (
                [
                    name, row["cpu_ms"], row["cpu_ratio"], row["of_interviewing"], row["wall_s"], row["wall_ratio"],
                    row["peak_mb"], row["read"] / found["items"], row["written"] / found["items"], row["server_ms"],
                    f"{row['server_busy']:.0%}",
                ]
                for name, row in condition["contenders"].items()
            ),
        )  # fmt: skip
    return lines


def _start(found: dict[str, Any]) -> list[str]:
    return _table(["", "CPU s"], found["cpu_s"].items())


def _sizes(found: dict[str, Any]) -> list[str]:
    report = found["reported"]
    return [
        f"Four methodologies, `enquete run` to its last word, synthetic respondent: {found['few']} agents "
        f"{_said(found['cpu_s'])} s of CPU, {found['many']} agents {_said(found['cpu_s_many'])} s: "
        f"{_said(found['growth_ms'])} ms for each further agent (medians of {found['rounds']}).",
        "",
        "One methodology, likewise:",
        "",
        *_table(
            ["agents", "CPU s", "wall s", "peak MB"],
            ([int(n), row["cpu_s"], row["wall_s"], row["peak_mb"]] for n, row in found["asked"].items()),
        ),
        "",
        f"{report['agents']:,} agents × four methodologies analysed and reported once more: {_said(report['cpu_s'])} s "
        f"of CPU, {_said(report['wall_s'])} s, {_said(report['peak_mb'])} MB at the peak.",
    ]


def _methods(found: dict[str, Any]) -> list[str]:
    rows = ([each["method"], each["agents"], each["calls"], each["cpu_ms"]] for each in found["methods"])
    return [
        f"Without report, synthetic respondent; medians of {found['rounds']}.",
        "",
        *_table(["", "agents", "calls", "CPU ms a call"], rows),
    ]


def _null(found: dict[str, Any]) -> list[str]:
    sizes = found["sizes"]
    claims = sorted(
        {name for one in sizes for name in one["found"] if name.startswith(("page one: ", "anywhere: "))} - COUNTED
    )
    effects = sorted({name for one in sizes for name in one["power"]})
    head = ["", *(f"{one['agents']} agents" for one in sizes)]

    def shares(names: Iterable[str], of: str, total: str) -> list[list[str]]:
        return [[name, *(f"{one[of].get(name, 0) / one[total]:.0%}" for one in sizes)] for name in names]

    def covered(where: str) -> list[str]:
        return [f"{one['found'][f'{where}covered'] / one['found'][f'{where}intervals']:.0%}" for one in sizes]

    return [
        f"Analyses of {', '.join(str(one['runs']) for one in sizes)} pages of agents who differ by no group, moved "
        "nowhere, were drawn to no median, share no view and prefer nothing; shares of pages that say otherwise, on "
        "page one and anywhere.",
        "",
        *_table(head, shares(claims, "found", "runs")),
        "",
        "Intervals that cover what they are of, those of items that were singled out among them:",
        "",
        *_table(head, [["all", *covered("")], ["on page one", *covered("page one: ")]]),
        "",
        f"Found where it was planted ({', '.join(str(one['planted']) for one in sizes)} pages): one of 14 statements "
        "moved by a point, one group of five or more a point and a half off on one theme, half the panel at either end "
        "on another, ratings drawn by .4 of their distance from the median, one scenario a point and a half above the "
        "others:",
        "",
        *_table(head, shares(effects, "power", "planted")),
    ]


COUNTED = {"page one: intervals", "page one: covered"}


def _disk(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['agents']:,} agents, {found['answers']:,} answers of a model, with report.", ""]
    rows = [*found["bytes"].items(), ("all but audit", beside_audit(found["bytes"]))]
    return [*lines, *_table(["", "bytes an answer"], ([kind, float(size)] for kind, size in rows))]


def _kills(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['in_flight']} in flight, killed after {found['received']:,.0f} replies were received: "
        f"{found['unsettled']:.0f} of them not settled (median of {found['rounds']}; at most {found['most']})."
    ]


def _install(found: dict[str, Any]) -> list[str]:
    return [
        f"{found['packages']} packages, {found['mb']:,.0f} MB; the largest:",
        "",
        *_table(["", "MB"], found["largest"].items()),
    ]


def _polls(found: dict[str, Any]) -> list[str]:
    return [
        f"`enquete serve`, a run of {found['agents']} agents while {found['clients']} clients ask for its status every "
        f"{found['every_s']:g} s, with polls / without: {found['ratio']:.3g} of the time, {found['ratio_cpu']:.3g} of "
        f"the server's CPU; {found['polls']:,.0f} polls, the slowest {found['slowest_poll_s']:.2g} s "
        f"({found['rounds']} rounds, in turn)."
    ]


def _correction(found: dict[str, Any]) -> list[str]:
    """What one correction over all questions alike and primary questions do to the same pages."""
    return [
        "p of the tests that the analyses use, on answers of agents who differ by no group, moved nowhere and prefer "
        "nothing; and on such answers with an effect planted. “Says something false”: pages with a finding that is "
        "not there, with the upper bound of the 95% interval and the number of pages. Other rows: planted effects "
        "found. Before: one correction over all questions alike; since: the primary question of each methodology "
        "shares α, the others hold a fifth of it.",
        "",
        *_table(["study", "page", "correction", "10 agents", "20 agents", "50 agents"], found["rows"]),
    ]


TITLES = {
    "calls": "A call", "peers": "Other programs", "start": "Start-up", "sizes": "A run by its agents",
    "methods": "Methodologies", "null": "Where nothing is to be found",
    "correction": "Primary questions", "disk": "On disk", "kills": "At a kill",
    "install": "Installed", "polls": "Polls",
}  # fmt: skip
SECTIONS: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "calls": _calls, "peers": _calls, "start": _start, "sizes": _sizes, "methods": _methods, "null": _null,
    "correction": _correction, "disk": _disk, "kills": _kills, "install": _install, "polls": _polls,
}  # fmt: skip


if __name__ == "__main__":
    written({})
