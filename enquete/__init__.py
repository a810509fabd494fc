"""Enquete interviews a simulated population the way a study commission would.

import enquete

run = enquete.conduct_interviews("path/to/sim_683e8059ab27")
run.responses  # one row per answer, a pandas DataFrame
"""

from __future__ import annotations

import importlib
from typing import Any

PUBLIC = {
    "Estimate": "enquete.study",
    "Run": "enquete.study",
    "RunSummary": "enquete.study",
    "aconduct_interviews": "enquete.study",
    "aresume": "enquete.study",
    "aestimate": "enquete.study",
    "check": "enquete.study",
    "compare": "enquete.study",
    "conduct_interviews": "enquete.study",
    "delete": "enquete.study.deleting",
    "estimate": "enquete.study",
    "export": "enquete.study",
    "list_instruments": "enquete.study",
    "list_runs": "enquete.study",
    "list_simulations": "enquete.study",
    "load_population": "enquete.study",
    "load_run": "enquete.study",
    "memory_preferences": "enquete.study.remembered",
    "on_completed": "enquete.study.lifecycle",
    "on_ready": "enquete.study.lifecycle",
    "resume": "enquete.study",
    "search_memory": "enquete.study.remembered",
    "sync_memory": "enquete.study.remembered",
    "EnqueteError": "enquete.state.errors",
    "InputError": "enquete.state.errors",
    "Arm": "enquete.state.asking",
    "ask": "enquete.study.polling",
    "Likert": "enquete.instruments.polls",
    "Choice": "enquete.instruments.polls",
    "Number": "enquete.instruments.polls",
    "Open": "enquete.instruments.polls",
}
"""Public names and where they live. Loaded when first used, so that `import enquete` takes no time."""

__all__ = sorted(PUBLIC)  # noqa: PLE0605 - derived, so that the two cannot differ


def __getattr__(name: str) -> Any:
    if name in PUBLIC:
        return getattr(importlib.import_module(PUBLIC[name]), name)
    raise AttributeError(f"module 'enquete' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(PUBLIC)
