"""The one place that stops a run for budget or people. After it, what is unfinished is dispatched again."""

from __future__ import annotations

from langgraph.types import interrupt
from pydantic import BaseModel

from enquete.checkpoints.interrupts import Interrupt, describe_forms, read_resumption, stop_at_gate, submit_answers
from enquete.nodes.ask import Channels
from enquete.nodes.dispatch import critic_outcome, stopped_stages
from enquete.runs.planning import CRITIC
from enquete.runs.run_session import RunSession, using
from enquete.state.channels import InterviewsState


async def gate(state: InterviewsState, context: BaseModel | None) -> Channels:
    """Pass if nothing is unfinished, dispatch again at once if budget was only reserved for other work, else interrupt.

    Args:
        state: The parent graph's state.
        context: This invocation's context; its `budget_tokens` raises the cap, as the resume value's does.

    Raises:
        SettingsError, InputError: The resume value does not fit what the run waits for.
    """
    async with using(state["run"]) as session:
        unfinished = _unfinished(session)
        was_only_held = _take_release(session)
        if not unfinished:
            return {"awaiting": ""}
        budget = session.budget
        stopped = budget.stopped
        if was_only_held and not stopped:
            return {"awaiting": "gate"}

        reason = stopped or ("budget" if "short" in unfinished.values() else "waiting")
        await session.ledger.set_stage("", "", "waiting" if reason == "waiting" else "paused", reason)
        tokens: Interrupt = {"spent_tokens": budget.spent, "cap_tokens": budget.cap, "expected_tokens": budget.expected}
        forms, n_forms = describe_forms(session.ledger, session.population)
        stop = stop_at_gate(reason, unfinished, tokens, forms, n_forms, failed=budget.failed)

    resumption = read_resumption(interrupt(stop), stop)
    cap = resumption.budget_tokens or getattr(context, "budget_tokens", None)
    async with using(state["run"]) as session:
        await submit_answers(session.ledger, session.population, resumption.answers)
        if cap is not None:
            await session.ledger.note("cap_tokens", str(cap))
            session.budget.cap = cap
    return {"awaiting": "gate"}


def _unfinished(session: RunSession) -> dict[str, str]:
    """Return "methodology/phase" → outcome of the stages that stopped: those of T0, else of T1, else the critic."""
    stages = stopped_stages(session, "T0") or stopped_stages(session, "T1")
    if stages:
        return {f"{name}/{phase}": outcome for (name, phase), outcome in stages.items()}
    return {CRITIC: "short"} if critic_outcome(session) == "short" else {}


def _take_release(session: RunSession) -> bool:
    """Return whether work was refused only because budget was reserved for work that is over by now, and note that."""
    budget = session.budget
    was_only_held = budget.deferred and budget.closed > session.closed_at_gate
    budget.deferred, session.closed_at_gate = False, budget.closed
    return was_only_held
