"""Errors in the words of a model that calls tools: what is wrong, and which call would be right.

No secret and no folder of the machine is in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from enquete.interfaces.cli.amounts import short
from enquete.state.errors import (
    EnqueteError,
    OverBudget,
    RunLocked,
    RunMismatch,
    RunNotFound,
    SimulationError,
    SimulationNotFound,
)
from enquete.state.settings import Environment
from enquete.study.rooted import NobodyInterviewed, OutsideRoot
from enquete.study.tasks import TooManyRuns

MOST_CHARS = 4000

ADVICE: Mapping[type[Exception], str] = {
    SimulationNotFound: "Take a sim_id from list_simulations; a path is not accepted.",
    SimulationError: "The simulation's files have to be put right on the server; no other call helps.",
    TooManyRuns: "Poll interview_status until one has stopped, or call pause_interviews.",
    RunLocked: "Poll interview_status until it has stopped.",
    RunMismatch: "Go on with the unfinished run by resume_interviews with its resume_token (interview_status shows it), "
    "or start another one beside it by conduct_interviews with new=true.",
    RunNotFound: "interview_status shows the latest run of a simulation, list_simulations those of all.",
    NobodyInterviewed: "conduct_interviews begins a run.",
    OutsideRoot: "The link has to be removed on the server; no other call helps.",
}


def explained(error: Exception, root: Path) -> str:
    """The message of anything raised on purpose, and what to call instead."""
    if isinstance(error, OverBudget):
        return over_budget(error.estimate)
    if not isinstance(error, EnqueteError):
        what = getattr(error, "strerror", None) or error
        return f"the files of this run cannot be used ({type(error).__name__}: {cleared(str(what), root)})"
    advice = next((ADVICE[kind] for kind in type(error).__mro__ if kind in ADVICE), "")
    return f"{sentence(cleared(error.fact, root))} {advice}".strip()


def sentence(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def over_budget(estimate: Mapping[str, Any]) -> str:
    """The estimate, and the arguments that would let the run begin."""
    return (
        f"over budget, nothing was asked. {_expected(estimate)} To begin: conduct_interviews with "
        f"budget_tokens={estimate['sufficient_tokens']}; or with fewer methods; or with confirm=true, and the run pauses at "
        "the cap and can be resumed by resume_interviews. Ask the user before you spend more."
    )


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


def cleared(text: str, root: Path) -> str:
    """Without the root's own path and without the key, however they came into a message."""
    key = Environment.read().api_key
    if key is not None and key.get_secret_value():
        text = text.replace(key.get_secret_value(), "***")
    return text.replace(f"{root}/", "").replace(str(root), "the root")[:MOST_CHARS]
