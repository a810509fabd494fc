"""The tools that come before the interviews: which simulations there are, and what to ask. They ask no agent."""

# No `from __future__ import annotations` here: the SDK reads the annotations of tools.

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import CallToolResult
from pydantic import Field

from enquete.interfaces.mcp.paging import require_page
from enquete.interfaces.mcp.results import Drafts, QuestionFile, SavedQuestions, SimulationList, SimulationRow
from enquete.interfaces.mcp.server_context import Ctx, ServerState, cut, explain_errors
from enquete.interfaces.mcp.tool_arguments import (
    DEFAULT_WAIT_S,
    Page,
    Question,
    SimId,
    WaitSeconds,
    as_document,
)
from enquete.interfaces.views import simulation_row
from enquete.simulations.locate import KnownSimulation
from enquete.state.errors import SettingsError
from enquete.state.request import MOST_NAMED, FileName
from enquete.study import question_files
from enquete.study.background import run_in_thread
from enquete.study.drafts import DraftedFile
from enquete.study.question_files import (
    MadeDraft,
    WantedDraft,
    drafting_model,
    poll_methodology,
    questions_in,
    shipped_templates,
)

SIMULATIONS_PER_PAGE = 25
MAX_TYPES, MAX_TOPIC_CHARS, MAX_RUNS = 8, 200, 5
"""Of a simulation in the list."""
MAX_FINDINGS, MAX_FINDING_CHARS, MAX_THEMES = 3, 300, 20
"""Of a file; of a draft."""


async def list_simulations(ctx: Ctx, page: Page = 1) -> CallToolResult:
    """List the simulations that can be interviewed: topic, agents, and their latest runs. Example: {}"""
    with explain_errors(ctx) as server:
        return await run_in_thread(lambda: _list_simulations(server, page).as_call_result())


def _list_simulations(server: ServerState, page: int) -> SimulationList:
    known = server.sandbox.simulations()
    starts = range(0, len(known), SIMULATIONS_PER_PAGE)
    pages = [known[start : start + SIMULATIONS_PER_PAGE] for start in starts] or [[]]
    chosen = pages[require_page(page, len(pages)) - 1]
    rows = [_row_of(server, simulation) for simulation in chosen]
    return SimulationList(simulations=rows, total=len(known), page=page, pages=len(pages))


def _row_of(server: ServerState, known: KnownSimulation) -> SimulationRow:
    row = simulation_row(server.sandbox, known, server.task_of, server.mask)
    runs = {run.run_id: f"{', '.join(run.methods)}: {run.status}" for run in row.runs[:MAX_RUNS]}
    types = dict(list(row.types.items())[:MAX_TYPES])
    return SimulationRow(
        sim_id=row.sim_id, topic=cut(row.topic, MAX_TOPIC_CHARS), agents=row.agents, types=types, status=row.status,
        completed=row.completed, runs_total=len(row.runs), runs=runs, problem=row.problem,
    )  # fmt: skip


async def draft_questions(
    ctx: Ctx,
    sim_id: SimId,
    topic: Annotated[str, Field(max_length=500, description="the simulation's own unless named")] = "",
    themes: Annotated[list[str], Field(max_length=MOST_NAMED, description="in place of those found")] = [],  # noqa: B006
    wait_seconds: WaitSeconds = DEFAULT_WAIT_S,
) -> CallToolResult:
    """Have the server's model draft questions from what a simulation's agents wrote; asking again gives the same draft.

    Without a model, the shipped questions are offered as templates. Show the user a draft before it is asked.
    Example: {"sim_id": "sim_683e8059ab27", "topic": "digital banking"}
    """
    with explain_errors(ctx) as server:
        wanted = WantedDraft(sim_id, topic, tuple(themes))
        drafts = await offer_drafts(server, wanted, wait_seconds)
        return drafts.as_call_result()


async def offer_drafts(
    server: ServerState, wanted: WantedDraft, wait_seconds: float, budget_tokens: int | None = None
) -> Drafts:
    """Return the draft for these wishes: made before, made now, in the making; or templates where no model drafts."""
    model = drafting_model()
    if not model:
        await run_in_thread(lambda: server.sandbox.simulation(wanted.sim_id))
        return _templates(wanted)

    made = await _drafted(server, wanted, model, wait_seconds, budget_tokens)
    if made is None:
        again = f'Call draft_questions(sim_id="{wanted.sim_id}") again with the same arguments in half a minute.'
        return Drafts(sim_id=wanted.sim_id, status="drafting", drafted_by=model, topic=wanted.topic, next=again)
    own_folder = Path(server.sandbox.given["own_folder"])
    files = await run_in_thread(lambda: [_file_row(own_folder, draft) for draft in made.files if draft.methodology])
    return Drafts(
        sim_id=wanted.sim_id, status="drafted", drafted_by=model, topic=made.topic,
        themes=list(made.themes[:MAX_THEMES]), files=files, next=_call_with(wanted.sim_id, files),
    )  # fmt: skip


async def _drafted(
    server: ServerState, wanted: WantedDraft, model: str, wait_seconds: float, budget_tokens: int | None
) -> MadeDraft | None:
    """Return the draft; None where it takes longer. Whoever wants the same waits for the same."""
    folder = wanted.folder(server.sandbox, model)
    task = server.drafting.get(folder)
    if task is None:
        work = question_files.draft_questions(server.sandbox, wanted, model, budget_tokens=budget_tokens)
        task = server.drafting[folder] = asyncio.create_task(work)
    ended, _ = await asyncio.wait({task}, timeout=wait_seconds)
    if not ended:
        return None
    server.drafting.pop(folder, None)
    made: MadeDraft = task.result()
    return made


def _file_row(own_folder: Path, draft: DraftedFile) -> QuestionFile:
    findings = [cut(finding, MAX_FINDING_CHARS) for finding in draft.findings[:MAX_FINDINGS]]
    return QuestionFile(
        name=draft.name, methodology=draft.methodology, resource_uri=f"enquete://questions/{draft.name}",
        questions=questions_in(own_folder / f"{draft.name}.yaml", draft.methodology), findings=findings,
    )  # fmt: skip


def _call_with(sim_id: str, files: Sequence[QuestionFile]) -> str:
    first = files[0]
    named = f'{{"{first.methodology}": "{first.name}"}}'
    return (
        f'Show them to the user, then conduct_interviews(sim_id="{sim_id}", instruments={named}); or change one and '
        "keep it by save_questions."
    )


def _templates(wanted: WantedDraft) -> Drafts:
    names = shipped_templates()
    files = [
        QuestionFile(name="shipped", methodology=name, resource_uri=f"enquete://instruments/{name}") for name in names
    ]
    call = (
        f'conduct_interviews(sim_id="{wanted.sim_id}", questions=[{{"wording": "…"}}]) asks questions of your own; '
        f'save_questions(name="…", questions="…") keeps a template that you have rewritten for this topic, which '
        f'conduct_interviews(sim_id="{wanted.sim_id}", instruments={{"METHODOLOGY": "NAME"}}) then asks.'
    )
    why = "No model is set up on this server, so nothing was drafted; the templates are about something else. "
    return Drafts(sim_id=wanted.sim_id, status="templates", topic=wanted.topic, files=files, next=why + call)


async def save_questions(
    ctx: Ctx,
    name: Annotated[FileName, Field(description="of the new file, without an ending")],
    questions: Annotated[
        list[Question] | str, Field(description="questions asked once of everybody; or a whole instrument as YAML")
    ],
    topic: Annotated[str, Field(max_length=500, description="of a list of questions")] = "",
    methodology: Annotated[str, Field(description="of YAML whose methodology is in doubt")] = "",
    replace: Annotated[bool, Field(description="overwrite other questions of that name")] = False,
) -> CallToolResult:
    """Check questions as a run would and keep them on the server, so that conduct_interviews can name them.

    Example: {"name": "fees", "topic": "Bank fees", "questions": [{"wording": "Fees are fair."},
    {"wording": "Who should decide?", "options": ["the bank", "the state"]}, {"wording": "Why?"}]}
    """
    with explain_errors(ctx) as server:
        if isinstance(questions, str):
            if topic:
                raise ToolError("save_questions: topic: YAML states its own topic; leave the argument out")
            return await _save(server, name, questions, methodology, replace)
        if not questions:
            raise SettingsError("questions: the list is empty; give at least one question")
        poll = poll_methodology()
        if methodology not in ("", poll):
            why = f"a list of questions is asked by {poll}; give the whole instrument as YAML for {methodology!r}"
            raise SettingsError(f"methodology: {why}")
        return await _save(server, name, as_document(questions, topic), poll, replace)


async def _save(
    server: ServerState, name: str, content: str | Mapping[str, Any], methodology: str, replace: bool
) -> CallToolResult:
    saved = await run_in_thread(
        lambda: question_files.save_questions(server.sandbox, name, content, methodology, replace=replace)
    )
    topic = getattr(saved.content, "topic", None)
    named = f'{{"{saved.methodology}": "{saved.name}"}}'
    result = SavedQuestions(
        name=saved.name, methodology=saved.methodology, topic=topic.in_("en") if topic is not None else "",
        languages=list(saved.languages), items=saved.items, findings=list(saved.findings), notes=list(saved.notes),
        next=f'conduct_interviews(sim_id="…", instruments={named}, dry_run=true) estimates it.',
    )  # fmt: skip
    return result.as_call_result()
