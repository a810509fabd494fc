"""`enquete check --instrument FILE [--pilot N]`: an instrument read by the rules, and tried on a few agents."""

from __future__ import annotations

import sys
import tempfile
from typing import Any

import typer

import enquete
from enquete.interfaces.cli.costs import lines
from enquete.interfaces.cli.output import one_object, remark, result, table
from enquete.interfaces.cli.words import say, tongue
from enquete.state.errors import SettingsError


def check_instrument(
    sim: str | None, given: str, pilot: int | None, yes: bool, as_json: bool, request: dict[str, Any]
) -> int:
    """Prints what was found; exit code 0 whatever it is, because a finding is advice."""
    from enquete.study.reviewing import reviewed  # noqa: PLC0415 - takes seconds to import

    name, equals, file = given.rpartition("=")
    about = reviewed(file, name if equals else "")
    found = {
        "methodology": about.methodology,
        "notes": [note.told(tongue()) for note in about.notes],
        "findings": [
            {"rule": one.rule, "where": one.where, "language": one.language, "text": one.told(tongue())}
            for one in about.findings
        ],
    }
    if not as_json:
        result(say("reviewed", file=file, method=about.methodology))
        for note in about.notes:
            result(f"  {note.told(tongue())}")
        for one in about.findings:
            result(f"- {one.told(tongue())}")
        result(say("review_ok") if not about.findings else say("review_found", n=len(about.findings)))
    items = _piloted(sim, about, file, pilot, yes, as_json, request) if pilot else None
    if as_json:
        one_object({"instrument": file, **found, **({"pilot": items} if items is not None else {}), "exit_code": 0})
    return 0


def _piloted(
    sim: str | None, about: Any, file: str, agents: int, yes: bool, as_json: bool, request: dict[str, Any]
) -> Any:
    """Item health, after its cost was shown and agreed to."""
    from enquete.study.reviewing import item_health, pilot_request  # noqa: PLC0415

    if sim is None:
        raise SettingsError(
            "--pilot: name whose agents are to be asked, such as: enquete check SIM --instrument FILE --pilot 8"
        )
    asked = pilot_request(about, file, agents, **request)
    asked["out"] = request.get("out") or tempfile.mkdtemp(prefix="enquete-pilot-")
    expected = enquete.estimate(sim, **asked)
    if not as_json:
        result("")
        for line in lines(expected):
            result(line)
    paid = expected.respondent == "llm"
    if paid and not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SettingsError("--pilot: a model would be paid as estimated; add --yes to agree")
        if not typer.confirm(say("pilot_confirm"), default=not expected.exceeds, err=True):
            remark(say("declined"))
            return None
    run = enquete.conduct_interviews(sim, **asked, confirm=True)
    items = item_health(run)
    if not as_json:
        _show(run, items)
    return {
        "run_id": run.run_id,
        "path": str(run.folder),
        "items": [{**vars(one), "troubles": list(one.troubles)} for one in items],
    }


def _show(run: Any, items: list[Any]) -> None:
    words = [say(f"pilot_{key}") for key in ("item", "answers", "values", "apart", "told")]
    head = [*words[:3], "SD", *words[3:]]
    rows = [
        [
            one.item,
            f"{one.answered}/{one.asked}",
            str(one.values),
            "" if one.sd is None else f"{one.sd:.2f}",
            "" if one.apart is None else f"{one.apart:.2f}",
            ", ".join(say(f"pilot_{trouble}") for trouble in one.troubles),
        ]
        for one in items
    ]
    result("")
    if run.record.main.respondent == "synthetic":
        result(say("synthetic"))
    for line in table(head, rows):
        result(line)
    result(say("pilot_kept", path=run.folder))
