"""`enquete memory`: find interviews again, send them to a graph, see which configuration was preferred."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.output import one_object, result, table
from enquete.interfaces.cli.words import say, tongue
from enquete.state.visible_text import warning

if TYPE_CHECKING:
    from enquete.study.remembered import Record

memory = typer.Typer(rich_markup_mode=None, no_args_is_help=True)


@memory.callback()
def about() -> None:
    """Find interviews again, send them to a graph, see which configuration was preferred.

    Every run leaves episodes in its exports; one with --memory zep-cloud or zep sends them to that graph, too.
    docs/memory.md.
    """


@memory.command()
def search(
    sim: o.Sim,
    query: Annotated[str, typer.Argument(metavar="[WORDS]", help="Words, matched by their beginnings.")] = "",
    agent: Annotated[str, typer.Option(metavar="NAME", help="Only of this agent, by name or id.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=100, help="At most so many.")] = 10,
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
) -> int:
    """Find interviews by words and agent; the newest without words.

    \b
    Examples:
      enquete memory search ./my_sim quota
      enquete memory search ./my_sim "parking ban" --agent "Marie Holm"

    \b
    Exit codes: 0 looked · 1 the memory cannot be read · 2 no such simulation, or nobody interviewed
    """
    from enquete.study.remembered import search_memory  # noqa: PLC0415 - takes seconds to import

    found = search_memory(sim, query, agent=agent, limit=limit, root=root, out=out)
    computed = warning([one.respondent for one in found], tongue())
    if as_json:
        episodes = [as_object(one) for one in found]
        one_object({"sim": sim, "warning": computed, "episodes": episodes, "exit_code": 0})
        return 0
    if computed:
        result(f"{computed}\n")
    for one in found:
        result(f"{one.text}\n  {one.id}")
    if not found:
        result(say("nothing_remembered"))
    return 0


def as_object(record: Record) -> dict[str, Any]:
    return record.model_dump(mode="json")


@memory.command()
def sync(
    sim: o.Sim,
    kind: Annotated[
        Literal["zep-cloud", "zep"] | None,
        typer.Option("--memory", help="Which graph; else that of the latest run that has one, else ENQUETE_MEMORY."),
    ] = None,
    patience: Annotated[
        float,
        typer.Option(min=0, metavar="SECONDS", help="How long to wait in all for a graph that asks to be waited for."),
    ] = 3600,
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
) -> int:
    """Send the interviews that the graph has not got; each arrives once, however often this is called.

    \b
    Examples:
      enquete memory sync ./my_sim
      enquete memory sync ./my_sim --memory zep-cloud

    \b
    Exit codes: 0 all sent · 1 some are left, and listed · 2 no such simulation, or no graph
    """
    from enquete.study.remembered import sync_memory  # noqa: PLC0415 - takes seconds to import

    done = sync_memory(sim, memory=kind, patience_s=patience, root=root, out=out)
    code = 1 if done.left else 0
    if as_json:
        left = [one.id for one in done.left]
        one_object({"sim": sim, "sent": done.sent, "left": left, "why": done.why, "exit_code": code})
        return code
    result(say("episodes_sent", sent=done.sent))
    if done.left:
        result(say("episodes_left", left=len(done.left), why=done.why))
        for one in done.left:
            result(f"  {one.id}")
    return code


@memory.command()
def preferences(sim: o.Sim, root: o.Root = None, out: o.Out = None, as_json: o.Json = False) -> int:
    """Which configuration of a respondent won how often, by type of question and of stakeholder, over all runs.

    \b
    Examples:
      enquete memory preferences ./my_sim
      enquete memory preferences ./my_sim --json

    \b
    Exit codes: 0 shown · 1 the memory cannot be read · 2 no such simulation
    """
    from dataclasses import asdict  # noqa: PLC0415

    from enquete.study.remembered import memory_preferences  # noqa: PLC0415 - takes seconds to import

    found = memory_preferences(sim, root=root, out=out)
    if as_json:
        one_object({"sim": sim, "preferences": [asdict(one) for one in found], "exit_code": 0})
        return 0
    if not found:
        result(say("no_preferences"))
        return 0
    head = [say(key) for key in ("question_type", "stakeholder_type", "configuration", "win_rate", "wins", "ties", "n")]
    rows = [
        [one.question_type, one.stakeholder_type, one.configuration, f"{one.rate:.2f} ({one.low:.2f}–{one.high:.2f})",
         str(one.wins), str(one.ties), str(one.n)]
        for one in found
    ]  # fmt: skip
    for line in table(head, rows):
        result(line)
    return 0
