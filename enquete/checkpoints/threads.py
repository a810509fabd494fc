"""Ids of LangGraph threads, one for each walk through a run's graph."""

from __future__ import annotations

from hashlib import sha256


def thread_id(run_id: str, drawing: str, version: str, walk: int) -> str:
    """Return the id of the thread on which a run is walked through.

    Another graph, version or walk is another thread, because going on in a changed graph can silently skip work.

    Args:
        run_id: The run.
        drawing: The graph, as Mermaid draws it.
        version: Of Enquete.
        walk: How often the run was walked through before.
    """
    return f"{run_id}/{version}/{sha256(drawing.encode()).hexdigest()[:8]}/{walk}"
