"""What a methodology offers beside a run: operations that MCP, HTTP, Python and the command line all have, by the same name.

A methodology gives a tuple of them in `Methodology.offers`. A complete one:

    class Asked(BaseModel):
        name: Annotated[str, Field(description="whom to greet")]

    async def greet(port: Port, asked: Asked) -> dict[str, JsonValue]:
        '''Say hello.'''
        return {"said": f"Hello, {asked.name}"}

    OPERATIONS = (Operation(greet, Asked, "Greet", reads=True),)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from pydantic import BaseModel, JsonValue

from enquete.state.asking import Block, Language


@dataclass(frozen=True)
class BegunRun:
    """A run that nobody has been asked in yet. respondent, model: who will answer."""

    token: str
    respondent: str
    model: str


@dataclass(frozen=True)
class StoppedRun:
    """A run at its end or next stop. findings: of the methodology that asked for it; {} before there are any."""

    token: str
    status: str
    note: str
    findings: Mapping[str, Any]
    waits_with: str = ""  # the question that a person has yet to answer


@dataclass(frozen=True)
class RunSnapshot:
    """A run as it stands, whoever drives it. respondent, model: who answers in the main arm; settings: the methodology's own;
    frozen: its frozen values in the main arm; names: of participants, by id; forms: what waits for a person; submitted: what
    a person of whom nothing is asked now entered last, by participant: a call that gives it again was cut short by a kill."""

    run: str
    status: str
    note: str
    language: Language
    respondent: str
    model: str
    settings: Any
    frozen: Mapping[str, JsonValue]
    names: Mapping[str, str]
    forms: Sequence[Block]
    submitted: Mapping[str, Mapping[str, JsonValue]]


class Port(Protocol):
    """What an operation may touch: files under a root, and runs that the façade drives."""

    @property
    def root(self) -> Path: ...

    @property
    def shelf(self) -> str | None:
        """Where files lie that callers may name; None: they may name any."""
        ...

    def alone(self, out: str) -> AbstractAsyncContextManager[None]:
        """Within, nobody else is within for this folder: what is looked up there still holds when a run is begun. Raises Busy."""
        ...

    async def begin(self, sim: str | Path, **request: Any) -> BegunRun:
        """Write a new run of this methodology alone, as `conduct_interviews` takes it. File its token before
        `resume` asks anybody, so that a call that is killed is gone on with. `sim`: an id under the root, or a file that the
        operation wrote. Raises InputError."""
        ...

    async def resume(self, sim: str | Path, token: str, **request: Any) -> StoppedRun:
        """Drive a run to its end or next stop; one that is driven already, here or elsewhere, is waited for. Raises InputError."""
        ...

    async def submit(
        self, sim: str | Path, token: str, answers: str | Mapping[str, JsonValue], *, who: str = "", **request: Any
    ) -> None:
        """A person's answers to the form that the run waits with (a participant's, if `who` is named), by item; a text is that
        to all of them. Raises InputError where it waits for none, or an answer is none to its item."""
        ...

    async def freeze(self, sim: str | Path, token: str, name: str, value: JsonValue, **request: Any) -> None:
        """Freeze a value of the methodology for the main arm, as its interview context would."""
        ...

    def runs(self, out: str) -> Sequence[str]:
        """The runs of a folder, by name."""
        ...

    def look(self, out: str, run: str) -> RunSnapshot:
        """Reads, and touches nothing. Raises LedgerError where the run cannot be read."""
        ...


@dataclass(frozen=True)
class Operation:
    """One of them. Its name and its meaning are the function's own; `reads`: it asks nobody and changes nothing.

    over_budget: of one that asks a model, what would let it begin besides a larger `budget_tokens`, where it takes that."""

    does: Callable[[Port, Any], Awaitable[dict[str, JsonValue]]]
    takes: type[BaseModel]
    title: str
    reads: bool = False
    over_budget: str = ""

    @property
    def name(self) -> str:
        return self.does.__name__

    @property
    def meaning(self) -> str:
        return " ".join((self.does.__doc__ or "").split())
