"""Enquete interviews a simulated population the way a study commission would.

import enquete

run = enquete.conduct_interviews("path/to/sim_683e8059ab27")
run.responses  # one row per answer, a pandas DataFrame
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from enquete.instruments.polls import Choice as Choice
    from enquete.instruments.polls import Likert as Likert
    from enquete.instruments.polls import Number as Number
    from enquete.instruments.polls import Open as Open
    from enquete.runs.estimate import Estimate as Estimate
    from enquete.simulations.locate import list_simulations as list_simulations
    from enquete.state.asking import Arm as Arm
    from enquete.state.errors import EnqueteError as EnqueteError
    from enquete.state.errors import InputError as InputError
    from enquete.study.instruments import list_instruments as list_instruments
    from enquete.study.interviews import aconduct_interviews as aconduct_interviews
    from enquete.study.interviews import aestimate as aestimate
    from enquete.study.interviews import aresume as aresume
    from enquete.study.interviews import ask as ask
    from enquete.study.interviews import conduct_interviews as conduct_interviews
    from enquete.study.interviews import estimate as estimate
    from enquete.study.interviews import on_completed as on_completed
    from enquete.study.interviews import on_ready as on_ready
    from enquete.study.interviews import resume as resume
    from enquete.study.run import Run as Run
    from enquete.study.runs import check as check
    from enquete.study.runs import compare as compare
    from enquete.study.runs import delete as delete
    from enquete.study.runs import export as export
    from enquete.study.runs import load_population as load_population
    from enquete.study.runs import load_run as load_run
    from enquete.study.runs import memory_preferences as memory_preferences
    from enquete.study.runs import search_memory as search_memory
    from enquete.study.runs import sync_memory as sync_memory
    from enquete.study.simulations import RunSummary as RunSummary
    from enquete.study.simulations import list_runs as list_runs

PUBLIC = {
    "Estimate": "enquete.runs.estimate",
    "Run": "enquete.study.run",
    "RunSummary": "enquete.study.simulations",
    "aconduct_interviews": "enquete.study.interviews",
    "aresume": "enquete.study.interviews",
    "aestimate": "enquete.study.interviews",
    "check": "enquete.study.runs",
    "compare": "enquete.study.runs",
    "conduct_interviews": "enquete.study.interviews",
    "delete": "enquete.study.runs",
    "estimate": "enquete.study.interviews",
    "export": "enquete.study.runs",
    "list_instruments": "enquete.study.instruments",
    "list_runs": "enquete.study.simulations",
    "list_simulations": "enquete.simulations.locate",
    "load_population": "enquete.study.runs",
    "load_run": "enquete.study.runs",
    "memory_preferences": "enquete.study.runs",
    "on_completed": "enquete.study.interviews",
    "on_ready": "enquete.study.interviews",
    "resume": "enquete.study.interviews",
    "search_memory": "enquete.study.runs",
    "sync_memory": "enquete.study.runs",
    "EnqueteError": "enquete.state.errors",
    "InputError": "enquete.state.errors",
    "Arm": "enquete.state.asking",
    "ask": "enquete.study.interviews",
    "Likert": "enquete.instruments.polls",
    "Choice": "enquete.instruments.polls",
    "Number": "enquete.instruments.polls",
    "Open": "enquete.instruments.polls",
}
"""Public names and where they live. Loaded when first used, so that `import enquete` takes no time."""

__all__ = sorted(PUBLIC)  # noqa: PLE0605 - derived, so that the two cannot differ


if not TYPE_CHECKING:  # a checker knows the names above and no others

    def __getattr__(name: str) -> Any:
        if name in PUBLIC:
            return getattr(importlib.import_module(PUBLIC[name]), name)
        raise AttributeError(f"module 'enquete' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(PUBLIC)
