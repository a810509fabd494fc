"""The commands there are, each with the module that has it: `enquete --help` imports none of them (but the declarations of
methodologies, which have commands, too), a command its own alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import typer
from typer.core import TyperGroup

from enquete.state.imported import loaded


class Listed(NamedTuple):
    """`path`: module:function, or a Typer app of further commands."""

    path: str
    about: str
    with_settings: bool = False
    """Takes every methodology's settings as options."""


COMMANDS: Mapping[str, Listed] = {
    "demo": Listed("enquete.interfaces.cli.demo:demo", "Interview a bundled population, without a key"),
    "estimate": Listed("enquete.interfaces.cli.costs:estimate", "Say what a run would cost", with_settings=True),
    "run": Listed("enquete.interfaces.cli.driving:run", "Interview every agent of a simulation", with_settings=True),
    "resume": Listed("enquete.interfaces.cli.driving:resume", "Go on with an unfinished run"),
    "status": Listed("enquete.interfaces.cli.looking:status", "How far a run is, and what to do next"),
    "list": Listed("enquete.interfaces.cli.inventory:list_", "Simulations, their runs, the methodologies"),
    "check": Listed("enquete.interfaces.cli.looking:check", "What a simulation or an instrument holds and lacks"),
    "draft": Listed("enquete.interfaces.cli.draft:draft", "Draft instruments from what a simulation's agents wrote"),
    "report": Listed("enquete.interfaces.cli.looking:report", "Print a run's report"),
    "export": Listed("enquete.interfaces.cli.looking:export", "Write a run's report, figures and data files again"),
    "delete": Listed("enquete.interfaces.cli.removing:delete", "Delete runs of a simulation"),
    "doctor": Listed("enquete.interfaces.cli.doctor:doctor", "Look whether everything needed is here"),
    "new-method": Listed("enquete.interfaces.cli.scaffold:new_method", "Lay out a methodology of your own"),
    "mcp": Listed("enquete.interfaces.mcp.command:mcp", "Offer the interviews to a model (MCP)"),
    "serve": Listed("enquete.interfaces.cli.serve:serve", "Serve the web page and the HTTP API"),
    "view": Listed("enquete.interfaces.cli.viewing:view", "Open the web page on this machine"),
    "memory": Listed("enquete.interfaces.cli.remembering:memory", "Find interviews again, send them to a graph"),
}


class Commands(TyperGroup):
    """Those above, and those of methodologies where a name is none of them."""

    def __init__(self, **declared: Any) -> None:
        super().__init__(**declared)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment] # read by name, for what was meant by a wrong one

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            from enquete.interfaces.cli.method_commands import of_a_methodology  # noqa: PLC0415 - graphs need a second

            return of_a_methodology(cmd_name)
        if self.commands[cmd_name] is None:
            self.commands[cmd_name] = _imported(cmd_name, COMMANDS[cmd_name])
        return self.commands[cmd_name]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.about) for name, one in COMMANDS.items()])
        from enquete.graphs.registry import methodologies  # noqa: PLC0415 - not for a command of its own

        own = [(one.command, one.taken_for) for one in methodologies().values() if one.command]
        with formatter.section("Commands of methodologies, beside a run"):
            formatter.write_dl(own)


def _imported(name: str, listed: Listed) -> Any:
    found = loaded(listed.path)
    if not isinstance(found, typer.Typer):
        found, command = typer.Typer(rich_markup_mode=None, add_completion=False), found
        found.command(name, cls=_with_settings() if listed.with_settings else None)(command)
    return typer.main.get_command(found)


def _with_settings() -> Any:
    from enquete.interfaces.cli.method_settings import SettingsCommand  # noqa: PLC0415 - for the two that need it

    return SettingsCommand
