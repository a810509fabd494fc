"""`enquete draft SIM`: instruments from what a simulation's agents wrote, and `--accept`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import one_object, result
from enquete.interfaces.cli.words import say, tongue
from enquete.state.errors import SettingsError


def draft(
    sim: Annotated[
        str | None, typer.Argument(metavar="[SIM]", help="A simulation whose agents have written something.")
    ] = None,
    root: o.Root = None,
    into: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="Folder for the drafts; drafts-SIM unless named.")
    ] = None,
    accept: Annotated[
        Path | None, typer.Option("--accept", metavar="DIR", help="Take the drafts there as they are.")
    ] = None,
    as_json: o.Json = False,
) -> int:
    """Draft instruments from a simulation's own discourse, by rule and without a model.

    Themes that several agents speak of become families, questions and axes; sentences that agents wrote become statements of a Q-sort,
    chosen so that themes and speakers are covered (concourse.csv has all of them, and why the others were left out). Every item says
    where it is from. Drafts are drafts: read them, edit them, try them with `enquete check SIM --instrument FILE --pilot 8`.

    \b
    Examples:
      enquete draft ./my_sim
      enquete run ./my_sim --instrument longitudinal=drafts-my_sim/longitudinal.yaml
      enquete draft --accept drafts-my_sim

    \b
    Exit codes: 0 written or accepted · 2 no such simulation, too little was said, or a folder that holds drafts
    """
    from enquete.study.drafts import accept_drafts, draft_instruments  # noqa: PLC0415 - takes seconds to import

    if accept is not None:
        names = accept_drafts(accept)
        one_object({"accepted": names, "exit_code": 0}) if as_json else result(say("accepted", names=", ".join(names)))
        return 0
    if sim is None:
        raise SettingsError("draft: name a simulation, or a folder of drafts with --accept DIR")
    made = draft_instruments(sim, root=root, into=into)
    if as_json:
        one_object(
            {
                "files": [str(file) for file in made.files],
                "findings": made.findings,
                "themes": made.themes,
                "exit_code": 0,
            }
        )
        return 0
    result(say("drafted", folder=made.folder, themes=", ".join(made.themes)))
    for file in made.files:
        result(f"  {file.name}")
    for name, findings in made.findings.items():
        for one in findings:
            result(f"- {name}: {one[tongue()] if tongue() in one else one['en']}")
    result(say("draft_next", folder=made.folder))
    return 0
