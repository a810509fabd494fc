"""Interviews begun, gone on with, or only estimated.

Sync functions work in scripts and inside a running event loop alike; `aconduct_interviews` and `aresume` run in the
caller's own loop. Every argument beats the environment, which beats `.env`.
"""

from __future__ import annotations

from pathlib import Path

from typing_extensions import Unpack

from enquete.nodes.estimate import Estimate
from enquete.nodes.run_session import Progress
from enquete.state.request import parse_request
from enquete.study.arguments import Arguments, AskedOn
from enquete.study.background import awaited, wait
from enquete.study.describing import OF_A_RUN, listing
from enquete.study.estimating import foresee
from enquete.study.run import Run
from enquete.study.starting import OF_RESUME, Start, chosen, drive, to_resume


@listing(OF_A_RUN)
def conduct_interviews(sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]) -> Run:
    """Interview every agent of a simulation; the run to its end or its next stop.

    An unfinished run with the same settings is resumed, a finished one shown without a call.

    Raises InputError and its children for anything that the caller can put right, before the first call.
    """
    return _sync(chosen(parse_request(sim=str(sim_id), **request)), progress)


@listing(OF_A_RUN)
async def aconduct_interviews(
    sim_id: str | Path, *, progress: Progress | None = None, **request: Unpack[Arguments]
) -> Run:
    """`conduct_interviews` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(chosen(parse_request(sim=str(sim_id), **request)), progress)


@listing(OF_RESUME)
def resume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Unpack[AskedOn]) -> Run:
    """Go on with an unfinished run, named by its resume token, its run_id, or its simulation (the latest unfinished one).

    Raises RunNotFound.
    """
    return _sync(to_resume(str(token_or_sim), dict(request)), progress)


@listing(OF_RESUME)
async def aresume(token_or_sim: str | Path, *, progress: Progress | None = None, **request: Unpack[AskedOn]) -> Run:
    """`resume` in the caller's event loop. Cancelled, the run pauses first: what is in flight is filed."""
    return await _async(to_resume(str(token_or_sim), dict(request)), progress)


@listing(OF_A_RUN)
def estimate(sim_id: str | Path, **request: Unpack[Arguments]) -> Estimate:
    """What `conduct_interviews` with these arguments would cost: calls, tokens, money and time, each as a range.

    Nothing is asked and nothing is written; the prompts are built for a sample of the agents and measured. Raises
    InputError and its children for anything that is wrong with the arguments.
    """
    return wait(aestimate(sim_id, **request), lambda: None)


@listing(OF_A_RUN)
async def aestimate(sim_id: str | Path, **request: Unpack[Arguments]) -> Estimate:
    """`estimate` in the caller's event loop."""
    return (await foresee(parse_request(sim=str(sim_id), **request))).estimate


def _sync(task: Start, progress: Progress | None) -> Run:
    wait(task.require_server())
    driver = task.driver(progress)  # to import the graphs takes longer than a server to answer
    return wait(drive(task, driver), driver.pause)


async def _async(task: Start, progress: Progress | None) -> Run:
    await task.require_server()
    driver = task.driver(progress)
    return await awaited(drive(task, driver), driver.pause)
