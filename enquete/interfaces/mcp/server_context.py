"""What every MCP tool works with: the simulations under the root, the runs that this server drives, and errors in the
words of a model that calls tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError

from enquete.interfaces.cli.terminal import short
from enquete.interfaces.server_state import Mask, advice
from enquete.ledger.connection import DatabaseError
from enquete.state.errors import EnqueteError, OverBudget, machine_limit
from enquete.study.run import Run
from enquete.study.tasks import PathSandbox, Task, Tasks

MAX_ERROR_CHARS = 4000


@dataclass(frozen=True)
class ServerState:
    """One per process, shared by all sessions.

    Attributes:
        sandbox: The simulations that clients may reach.
        tasks: The runs that this server drives.
        mask: Takes secrets and folders out of what clients are told.
        families: Families of tools that are switched on beside the default set.
        drafting: Drafts in the making, by folder: whoever asks for one again waits for the same.
    """

    sandbox: PathSandbox
    tasks: Tasks
    mask: Mask
    families: tuple[str, ...] = ()
    drafting: dict[Path, asyncio.Task[Any]] = field(default_factory=dict)

    def task_of(self, run: Run) -> Task | None:
        """Return what drives the run in this server right now."""
        return self.tasks.driven_in(run.folder)


Ctx: TypeAlias = Context[ServerState, Any]


def server_state(ctx: Ctx) -> ServerState:
    state = ctx.request_context.lifespan_context
    assert isinstance(state, ServerState)
    return state


@contextmanager
def explain_errors(ctx: Ctx) -> Iterator[ServerState]:
    """Turn what is raised on purpose into words that the calling model can act on.

    Bugs are left to the SDK, which hides their text from the client and logs it.
    """
    server = server_state(ctx)
    try:
        yield server
    except (EnqueteError, OSError, MemoryError, DatabaseError) as error:
        raise ToolError(error_words(error, server.mask)) from error


def error_words(error: Exception, mask: Mask) -> str:
    """Return the message of anything raised on purpose, and what to call instead."""
    if isinstance(error, OverBudget):
        return explain_over_budget(error)
    if not isinstance(error, EnqueteError):
        what = machine_limit(error) or getattr(error, "strerror", None) or error
        return f"the files of this run cannot be used ({type(error).__name__}: {mask(str(what))})"
    return f"{as_sentence(mask(error.fact)[:MAX_ERROR_CHARS])} {advice(error, 'mcp')}".strip()


def as_sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def explain_over_budget(error: OverBudget) -> str:
    """Return the estimate, and the call that would let the run begin."""
    begin = error.remedy or (
        f"conduct_interviews with budget_tokens={error.estimate['sufficient_tokens']}; or with fewer methods; or with "
        'options={"confirm": true}, and the run pauses at the cap and control_interviews resumes it'
    )
    return (
        f"over budget, nothing was asked. {_expected(error.estimate)} To begin: {begin}. Ask the user before you spend "
        "more."
    )


def approval_question(estimate: Mapping[str, Any]) -> str:
    """Return what a user is asked, who knows of no tools and no arguments."""
    return (
        f"The interviews of {estimate['sim_id']} are likely to go over the budget; nobody has been asked yet. "
        f"{_expected(estimate)} Begin all the same? At the cap the interviews pause and can be gone on with later; a "
        f"cap of {estimate['sufficient_tokens']:,} tokens is likely to be enough."
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
    """Return likely tokens by claim on the budget, the dearest first."""
    likely: dict[str, float] = {}
    for line in lines:
        tokens = line["input_tokens"]["likely"] + line["output_tokens"]["likely"]
        likely[line["claim"]] = likely.get(line["claim"], 0.0) + tokens
    dearest_first = sorted(likely.items(), key=lambda part: -part[1])
    return ", ".join(f"{claim} {short(round(tokens))}" for claim, tokens in dearest_first)


def resource_uri(sim_id: str, run_id: str, *rest: str) -> str:
    """Return the address of a resource of a run."""
    return "enquete://runs/" + "/".join(quote(part, safe="") for part in (sim_id, run_id, *rest))


def cut(text: str, max_chars: int) -> str:
    return text if len(text) <= max_chars else text[: max_chars - 1] + "…"
