"""What every MCP request works with: the simulations under the root, the runs that this server drives, and errors in the
words of a model that calls tools: what is wrong, and which call would be right. No secret and no folder of the machine is in them.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeAlias

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from enquete.interfaces.cli.amounts import short
from enquete.interfaces.service.replies import advice
from enquete.interfaces.service.secrecy import Mask
from enquete.state.errors import EnqueteError, OverBudget
from enquete.study.run import Run
from enquete.study.sandbox import PathSandbox
from enquete.study.tasks import Task, Tasks

MOST_CHARS = 4000


@dataclass(frozen=True)
class ServerState:
    """One per process, shared by all sessions."""

    sandbox: PathSandbox
    tasks: Tasks
    mask: Mask

    def task_of(self, run: Run) -> Task | None:
        """What drives the run in this server right now."""
        return self.tasks.driven_in(run.folder)


Ctx: TypeAlias = Context[ServerState, Any]


def server_state(ctx: Ctx) -> ServerState:
    found = ctx.request_context.lifespan_context
    assert isinstance(found, ServerState)
    return found


@contextmanager
def told(ctx: Ctx) -> Iterator[ServerState]:
    """What goes wrong inside reaches the calling model in words that it can act on. Bugs are left to the SDK, which
    hides their text from the client and logs it."""
    desk = server_state(ctx)
    try:
        yield desk
    except (EnqueteError, OSError, sqlite3.OperationalError) as error:
        raise ToolError(explained(error, desk.mask)) from error


def explained(error: Exception, mask: Mask) -> str:
    """The message of anything raised on purpose, and what to call instead."""
    if isinstance(error, OverBudget):
        return over_budget(error)
    if not isinstance(error, EnqueteError):
        what = getattr(error, "strerror", None) or error
        return f"the files of this run cannot be used ({type(error).__name__}: {mask(str(what))})"
    return f"{sentence(mask(error.fact)[:MOST_CHARS])} {advice(error, 'mcp')}".strip()


def sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def over_budget(error: OverBudget) -> str:
    """The estimate, and the call that would let it begin."""
    begin = error.remedy or (
        f"conduct_interviews with budget_tokens={error.estimate['sufficient_tokens']}; or with fewer methods; or with "
        "confirm=true, and the run pauses at the cap and can be resumed by resume_interviews"
    )
    return f"over budget, nothing was asked. {_expected(error.estimate)} To begin: {begin}. Ask the user before you spend more."


def approval_question(estimate: Mapping[str, Any]) -> str:
    """What a user is asked, who knows of no tools and no arguments."""
    return (
        f"The interviews of {estimate['sim_id']} are likely to go over the budget; nobody has been asked yet. "
        f"{_expected(estimate)} Begin all the same? At the cap the interviews pause and can be gone on with later; a cap of "
        f"{estimate['sufficient_tokens']:,} tokens is likely to be enough."
    )


def _expected(estimate: Mapping[str, Any]) -> str:
    tokens, usd, cap_usd = estimate["tokens"], estimate["usd"], estimate["cap_usd"]
    money = f"; {usd['low']:.2f} to {usd['high']:.2f} USD" if isinstance(usd, Mapping) else ""
    cap = f"{cap_usd:.2f} USD" if estimate["exceeds"] == "usd" else f"{estimate['cap_tokens']:,} tokens"
    return (
        f"Estimate for {estimate['agents']} agents: {tokens['low']:,.0f} to {tokens['high']:,.0f} tokens, likely "
        f"{tokens['likely']:,.0f}{money}. The cap is {cap}. By part: {_parts(estimate['lines'])}."
    )


def _parts(lines: list[Mapping[str, Any]]) -> str:
    """Likely tokens by claim on the budget, the dearest first."""
    likely: dict[str, float] = {}
    for line in lines:
        of_line = line["input_tokens"]["likely"] + line["output_tokens"]["likely"]
        likely[line["claim"]] = likely.get(line["claim"], 0.0) + of_line
    return ", ".join(f"{claim} {short(round(n))}" for claim, n in sorted(likely.items(), key=lambda part: -part[1]))
