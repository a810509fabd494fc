"""Runs deleted under a server's root: what would go, and gone."""

from __future__ import annotations

from enquete.study.deleting import Deletion, delete, deletion
from enquete.study.sandbox import PathSandbox


def would_go(sandbox: PathSandbox, sim_id: str, run_id: str) -> Deletion:
    """Changes nothing. Raises RunNotFound, RunLocked where it is driven, StillNeeded where another run rests on it."""
    sandbox.simulation(sim_id)
    return deletion(sim_id, run_id, root=sandbox.root)


def clear_away(sandbox: PathSandbox, sim_id: str, run_id: str) -> Deletion:
    """What went. Raises as `would_go`."""
    sandbox.simulation(sim_id)
    return delete(sim_id, run_id, root=sandbox.root)
