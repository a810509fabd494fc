"""Runs and estimates as the tools show them, and the short text beside each."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from enquete.interfaces.mcp.leading import leading
from enquete.interfaces.mcp.shapes import EstimatePart, EstimateState, RunState
from enquete.interfaces.service.status import GOING_ON, Stage, StatusWord, note_of, ran_short, stage_of, status_of
from enquete.nodes.estimate import Estimate
from enquete.study.run import Run
from enquete.study.tasks import Task

FLAGS = 5
FLAG_CHARS = 300
NOTE_CHARS = 1000
SYNTHETIC = (
    "THE BUILT-IN SYNTHETIC RESPONDENT ANSWERED: no model and no person. The figures say nothing about the world; "
    "say so to the user."
)


def uri(sim_id: str, run_id: str, *rest: str) -> str:
    """The address of a resource of a run."""
    return "enquete://runs/" + "/".join(quote(part, safe="") for part in (sim_id, run_id, *rest))


def run_state(run: Run, task: Task | None, clear: Callable[[str], str], sim_id: str | None = None) -> RunState:
    """`task`: what drives it in this server right now. `clear`: takes secrets and folders out of what it says. `sim_id`:
    as the caller calls it."""
    status: StatusWord = status_of(run, task)
    known_as = sim_id or run.record.sim_id
    return RunState(
        run_id=run.run_id,
        sim_id=known_as,
        status=status,
        note=cut(clear(note_of(run, status, task)), NOTE_CHARS),
        shown=run.shown,
        resume_token=run.resume_token,
        respondent=run.record.main.respondent,
        model=run.record.main.model,
        language=run.record.language,
        calls=run.spent.get("calls", 0),
        tokens=run.spent.get("tokens", 0),
        expected_tokens=run.expected_tokens,
        stages=[stage_of(run, stage, status) for stage in run.stages],
        findings=[] if status in GOING_ON else leading(run),
        flags=[cut(clear(flag), FLAG_CHARS) for flag in run.flags[:FLAGS]],
        flags_total=len(run.flags),
        report_uri=uri(known_as, run.run_id, "report") if (run.path / "report.md").is_file() else None,
        next=next_call(run, status, known_as),
    )


def next_call(run: Run, status: StatusWord, sim_id: str) -> str:
    """What to call next, with its arguments."""
    poll = f'interview_status(sim_id="{sim_id}", run_id="{run.run_id}")'
    resume = f'resume_interviews(resume_token="{run.resume_token}")'
    if status in GOING_ON:
        return f"Poll {poll} every half minute or so; do not start it again."
    if status == "completed":
        names = ", ".join(run.record.methods)
        which = f'sim_id="{sim_id}", run_id="{run.run_id}"'
        return f"get_interview_report({which}), or get_interview_results({which}, methodology=…) with one of {names}."
    if status == "awaiting_simulation":
        return f"Once the simulation has completed: {resume}."
    if ran_short(run):
        return f"Ask the user for a larger cap, then {resume[:-1]}, budget_tokens={run.standing.enough_tokens})."
    return f"{resume}; what has been answered is kept and not asked again."


def run_text(state: RunState) -> str:
    """A few lines; everything that the calling model needs to go on."""
    note = f" ({state.note})" if state.note else ""
    shown = " It had been completed before; nobody was asked." if state.shown and state.status == "completed" else ""
    lines = [f"Run {state.run_id} of {state.sim_id}: {state.status}{note}.{shown}"]
    lines += [stage_text(stage) for stage in state.stages]
    lines.append(f"{state.calls:,} calls, {state.tokens:,} tokens; answered by {state.model}, in {state.language}.")
    if state.respondent == "synthetic":
        lines.append(SYNTHETIC)
    lines += [f"Found: {finding}" for finding in state.findings]
    lines += [f"Before the data are used: {flag}" for flag in state.flags]
    if state.flags_total > len(state.flags):
        lines.append(f"… and {state.flags_total - len(state.flags)} more in the report.")
    return "\n".join([*lines, f"Next: {state.next}"])


def stage_text(stage: Stage) -> str:
    answers = ", ".join(f"{n:,} {name}" for name, n in stage.answers.items() if n) or "no answers yet"
    reached = f"{stage.n_responded}/{stage.n_total} agents"
    return f"- {stage.methodology} {stage.phase}: {stage.outcome}, {reached}, {answers}"


def estimate_state(estimate: Estimate) -> EstimateState:
    return EstimateState(
        sim_id=estimate.sim_id,
        agents=estimate.agents,
        respondent=estimate.respondent,
        calls=estimate.calls,
        tokens=estimate.tokens,
        usd=estimate.usd,
        unpriced=estimate.unpriced,
        seconds=estimate.seconds,
        batches=estimate.batches,
        cap_tokens=estimate.cap_tokens,
        cap_usd=estimate.cap_usd,
        exceeds=estimate.exceeds,
        parts=[EstimatePart(claim=claim, tokens=tokens) for claim, tokens in estimate.by_claim().items()],
        notes=[cut(note, FLAG_CHARS) for note in estimate.notes],
    )


def estimate_text(state: EstimateState) -> str:
    tokens, usd = state.tokens, state.usd
    cost = f"{usd.low:.2f} to {usd.high:.2f} USD" if usd else f"cost unknown ({', '.join(state.unpriced)})"
    fits = (
        f"above the cap ({state.exceeds}): conduct_interviews needs a larger budget_tokens or confirm=true"
        if state.exceeds
        else "within the cap"
    )
    parts = ", ".join(f"{part.claim} {part.tokens.likely:,.0f}" for part in state.parts)
    synthetic = (
        " The synthetic respondent answers: nothing is sent and nothing costs."
        if state.respondent == "synthetic"
        else ""
    )
    time = (
        f"about {state.seconds.likely:,.0f} s"
        if state.seconds
        else "time unknown, since a model on this machine answers"
    )
    if state.batches:
        time = f"at half the price, in about {state.batches} batches one after another, each of up to 24 hours"
    return (
        f"{state.agents} agents: {state.calls.likely:,.0f} calls, {tokens.low:,.0f} to {tokens.high:,.0f} tokens, likely "
        f"{tokens.likely:,.0f}; {cost}; {time}. The cap is {state.cap_tokens:,} tokens: {fits}."
        f"{synthetic}\nLikely tokens by part: {parts}."
    )


def cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
