"""What was found wrong in a simulation's files, collected so that all of it can be shown at once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from enquete.state.errors import SimulationError

MOST_SHOWN = 20


@dataclass(frozen=True)
class Issue:
    """One finding. An error stops a strict load; a warning was worked around as the message says; an info is a fact."""

    severity: Literal["error", "warning", "info"]
    file: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}: {self.message}"


def refuse_errors(issues: Iterable[Issue]) -> None:
    """Raise SimulationError with every error among `issues`, if there is one."""
    errors = [str(issue) for issue in issues if issue.severity == "error"]
    if not errors:
        return
    more = [f"... and {len(errors) - MOST_SHOWN} more errors"] if len(errors) > MOST_SHOWN else []
    raise SimulationError("\n".join(errors[:MOST_SHOWN] + more))
