"""Runs deleted under a server's root: what would go, and gone."""

from __future__ import annotations

from enquete.study.deleting import Deletion, delete, deletion
from enquete.study.sandbox import PathSandbox


def would_go(rooted: PathSandbox, sim_id: str, run_id: str) -> Deletion:
    """Changes nothing. Raises RunNotFound, RunLocked where it is driven, StillNeeded where another run rests on it."""
    rooted.simulation(sim_id)
    return deletion(sim_id, run_id, root=rooted.root)


def clear_away(rooted: PathSandbox, sim_id: str, run_id: str) -> Deletion:
    """What went. Raises as `would_go`."""
    rooted.simulation(sim_id)
    return delete(sim_id, run_id, root=rooted.root)
