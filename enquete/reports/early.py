"""Findings of a methodology that is done, while others of its run are still being asked."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from enquete.reports.findings import find
from enquete.reports.run_reading import open_run
from enquete.reports.table.rows import responses


def early_findings(folder: Path, planned: Sequence[tuple[str, str]], methodology: str) -> dict[str, Any]:
    """{} unless every one of its stages is done."""
    with open_run(folder) as reading:
        own = [stage for stage in planned if stage[0] == methodology]
        if not own or any(reading.stages.get(stage) != "done" for stage in own):
            return {}
        found = find(reading, responses(reading, own, plain=True))
        return dict(found.results.get(methodology, {}))
