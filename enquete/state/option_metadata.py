"""Where a field of a request is offered beside Python, how a terminal spells it, and how Studio sorts it."""

from __future__ import annotations

from typing import Any, Literal

Interface = Literal["cli", "http", "mcp"]
EVERYWHERE: tuple[Interface, ...] = ("cli", "http", "mcp")
About = Literal["study", "driving", "start", "resume"]


class OptionMetadata:
    """Where a field of RunRequest can be said beside Python, which takes them all, and how a terminal spells it.

    Who calls over HTTP or MCP may name no file, no folder and no model server. `about`: the study itself, how a run is
    driven (which may change whenever it goes on), which run is started, or what only going on with one can mean.
    `option`: where it is not the field's name; `value`: where its type does not say it; `more`: what only a terminal says.
    """

    def __init__(self, *at: Interface, about: About = "driving", option: str = "", value: str = "", more: str = ""):
        self.at = at
        self.about = about
        self.option = option
        self.value = value
        self.more = more


PYTHON_ALONE = OptionMetadata(about="start")

USUAL = (
    "sim", "root", "out", "methods", "pack", "instruments", "language", "respondent", "model", "budget_tokens",
    "budget_usd", "phase", "agents", "types", "sample", "new",
)  # fmt: skip
"""What most studies are begun with: first in Studio's form, where every other field is called an expert's."""


def experts_apart(schema: dict[str, Any]) -> None:
    fields = schema["properties"]
    rest = {
        name: {**field, "title": f"Expert: {name.replace('_', ' ')}"}
        for name, field in fields.items()
        if name not in USUAL
    }
    schema["properties"] = {**{name: fields[name] for name in USUAL}, **rest}
