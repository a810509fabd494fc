"""The MCP tool that drafts instruments. Asks nobody, and costs nothing."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools.

import json
from typing import Annotated

from mcp.types import CallToolResult
from pydantic import BaseModel, Field

from enquete.interfaces.mcp.running import SimId
from enquete.interfaces.mcp.server_state import Ctx, told
from enquete.interfaces.mcp.shapes import answer
from enquete.interfaces.mcp.states import FLAG_CHARS, cut
from enquete.interfaces.service.declared import FileName
from enquete.interfaces.service.drafting import DraftedFile, DraftsData, drafted

MOST_FINDINGS, MOST_THEMES = 3, 20
"""Of a file; of a draft."""


class DraftState(BaseModel):
    """A draft, whose text is a resource."""

    name: str
    methodology: str
    findings: list[str]
    resource_uri: str


class DraftsState(BaseModel):
    sim_id: str
    themes: list[str]
    files: list[DraftState]
    next: str


def draft_instruments(
    ctx: Ctx,
    sim_id: SimId,
    into: Annotated[FileName | None, Field(description="name of the drafts; drafts-SIM_ID unless named")] = None,
) -> Annotated[CallToolResult, DraftsState]:
    """Draft an instrument for every methodology that can, by rule, from what the agents of a simulation wrote. Drafts are read, and
    shown to the user, before they are asked."""
    with told(ctx) as desk:
        made = drafted(desk.sandbox, sim_id, into or "")
        state = DraftsState(
            sim_id=sim_id, themes=made.themes[:MOST_THEMES], files=[_state(one) for one in made.files], next=_next(made)
        )
        lines = [f"Drafted by rule from what the agents of {sim_id} wrote about: {', '.join(state.themes)}."]
        lines += [f"- {one.name} ({one.methodology or 'for settings'}): {one.resource_uri}" for one in state.files]
        lines += [f"{one.name}: {finding}" for one in state.files for finding in one.findings]
        return answer(state, "\n".join([*lines, f"Next: {state.next}"]))


def _state(one: DraftedFile) -> DraftState:
    findings = [cut(finding, FLAG_CHARS) for finding in one.findings[:MOST_FINDINGS]]
    return DraftState(
        name=one.name,
        methodology=one.methodology,
        findings=findings,
        resource_uri=f"enquete://drafts/{one.name}",
    )


def _next(made: DraftsData) -> str:
    first = next(one for one in made.files if one.methodology)
    named = json.dumps({first.methodology: first.name})
    return f'read them, then estimate_interviews(sim_id="{made.sim_id}", instruments={named}).'
