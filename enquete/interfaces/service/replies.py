"""What every error becomes, once: an exit code (its own), a status code of HTTP, and what each caller can do about it.

An error says what is wrong (`fact`); advice is a command, a path or a tool, so each interface has its own words for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from enquete.checkpoints.drives import DiskFull
from enquete.state.errors import (
    Busy,
    EnqueteError,
    InputError,
    ModelError,
    PopulationMismatch,
    RunLocked,
    RunMismatch,
    RunNotFound,
    SimulationError,
    SimulationNotFound,
)
from enquete.study.deleting import StillNeeded
from enquete.study.lifecycle import AlreadyCompleted, NotCompleted
from enquete.study.sandbox import NobodyInterviewed, OutsideRoot
from enquete.study.tasks import TooManyRuns
from enquete.study.threads import NotInTime


class Unauthorised(InputError):
    """No token, or not this server's."""


class NothingYet(InputError):
    """The run has not come to what is asked for."""


@dataclass(frozen=True)
class Reply:
    """To one kind of error. What is left out is that of the kind's parent. `http`: a remedy; `mcp`: which call would help."""

    code: int = 0
    http: str = ""
    mcp: str = ""


REPLIES: Mapping[type[EnqueteError], Reply] = {
    EnqueteError: Reply(500),
    InputError: Reply(400),
    Unauthorised: Reply(401, "send the header Authorization: Bearer TOKEN"),
    OutsideRoot: Reply(
        403, "remove the link on the server", "The link has to be removed on the server; no other call helps."
    ),
    SimulationNotFound: Reply(404, mcp="Take a sim_id from list_simulations; a path is not accepted."),
    SimulationError: Reply(
        http="put the simulation's files right on the server",
        mcp="The simulation's files have to be put right on the server; no other call helps.",
    ),
    RunNotFound: Reply(
        404,
        "GET …/status without task_id names the latest run",
        "interview_status shows the latest run of a simulation, list_simulations those of all.",
    ),
    NobodyInterviewed: Reply(
        http="POST …/pre begins a run before the simulation, POST …/post after it",
        mcp="conduct_interviews begins a run.",
    ),
    NothingYet: Reply(404, mcp="export_responses writes what a stopped run has; interview_status shows how far it is."),
    RunMismatch: Reply(
        409,
        "POST …/resume goes on with an unfinished run; new=true starts another one beside it",
        "Go on with the unfinished run by resume_interviews with its resume_token (interview_status shows it), "
        "or start another one beside it by conduct_interviews with new=true.",
    ),
    PopulationMismatch: Reply(409),
    NotCompleted: Reply(409, "ask again when the simulation has completed, or send assume_completed=true"),
    AlreadyCompleted: Reply(409, "POST …/post"),
    RunLocked: Reply(409, "follow it by GET …/status", "Poll interview_status until it has stopped."),
    StillNeeded: Reply(409),
    TooManyRuns: Reply(
        429,
        "ask again when one of them is over",
        "Poll interview_status until one has stopped, or call pause_interviews.",
    ),
    NotInTime: Reply(
        503, "ask again later", "Wait before you call it again; whoever runs the server has to look at its drives."
    ),
    Busy: Reply(503, "ask again later", "Wait before you call it again; nothing was changed."),
    DiskFull: Reply(507),
    ModelError: Reply(
        502,
        "start the model's server, or have its address and key put right where Enquete runs, and send this again",
        "The model's server has to be started, or its address and key put right, where Enquete runs; no other call helps.",
    ),
}


def code_of(error: EnqueteError) -> int:
    """HTTP's."""
    return next(reply.code for reply in _replies(error) if reply.code)


def advice(error: EnqueteError, caller: Literal["http", "mcp"]) -> str:
    """What this caller can do; "" where nothing is known."""
    return next((said for reply in _replies(error) if (said := getattr(reply, caller))), "")


def _replies(error: EnqueteError) -> list[Reply]:
    """Its own kind's first, then those of the kinds above it."""
    return [REPLIES[kind] for kind in type(error).__mro__ if kind in REPLIES]
