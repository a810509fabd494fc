"""`enquete draft SIM`: instruments from what a simulation's agents wrote, and `--accept`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.amounts import dollars
from enquete.interfaces.cli.output import number, one_object, remark, result
from enquete.interfaces.cli.requests import requested
from enquete.interfaces.cli.words import say, tongue
from enquete.interfaces.service.declared import taking
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    from enquete.study.drafts import Drafting


@taking(o.some("model", "base_url", "budget_tokens"))
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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the model is paid.")] = False,
    as_json: o.Json = False,
    **said: Any,
) -> int:
    """Draft instruments from a simulation's own discourse, by rule or with a model.

    Themes that several agents speak of become families, questions and axes; sentences that agents wrote become statements of a Q-sort,
    chosen so that themes and speakers are covered (concourse.csv has all of them, and why the others were left out). Every item says
    where it is from. Drafts are drafts: read them, edit them, try them with `enquete check SIM --instrument FILE --pilot 8`.

    With --model a model names the themes, chooses the statements and writes the items, in German and English. What it writes is
    checked by the same rules, its sources are looked up, and its German and English are compared by translating back; what cannot be
    used is asked for once more and then dropped and named. Its likely cost is said first.

    \b
    Examples:
      enquete draft ./my_sim
      enquete draft ./my_sim --model gpt-5-mini --into drafts
      enquete run ./my_sim --instrument longitudinal=drafts-my_sim/longitudinal.yaml
      enquete draft --accept drafts-my_sim

    \b
    Exit codes: 0 written or accepted · 2 no such simulation, too little was said, or a folder that holds drafts
    """
    from enquete.study.drafts import Drafting, accept_drafts  # noqa: PLC0415 - takes seconds to import

    if accept is not None:
        names = accept_drafts(accept)
        one_object({"accepted": names, "exit_code": 0}) if as_json else result(say("accepted", names=", ".join(names)))
        return 0
    if sim is None:
        raise SettingsError("draft: name a simulation, or a folder of drafts with --accept DIR")
    drafting = Drafting(sim, root=root, into=into, **requested(said))
    if drafting.model and not _agreed(drafting, yes):
        remark(say("declined"))
        return 0
    made = drafting.make()
    if as_json:
        one_object(
            {
                "files": [str(file) for file in made.files],
                "findings": made.findings,
                "themes": made.themes,
                "tokens": made.tokens,
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
    if made.tokens:
        result(say("draft_spent", tokens=number(made.tokens)))
    result(say("draft_next", folder=made.folder))
    return 0


def _agreed(drafting: Drafting, yes: bool) -> bool:
    """After the likely cost was said. Raises SettingsError where nobody can be asked and nobody agreed."""
    expected = drafting.expected()
    usd = say("unknown") if expected.usd is None else dollars(expected.usd)
    remark(
        say(
            "draft_cost", model=drafting.model, requests=number(expected.requests), tokens=number(expected.tokens), usd=usd
        )
    )  # fmt: skip
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SettingsError("draft: a model would be paid as said; add --yes to agree")
    return typer.confirm(say("draft_confirm"), default=True, err=True)
