"""Agents of nine stakeholder types, for the tests of who answers as planted."""

from __future__ import annotations

from enquete.state.asking import Participant

KINDS = ("Küstenfischer", "Industrial fishing company", "Recreational angler", "Umwelt-NGO", "Wissenschaftlerin",
         "Fischereibehörde", "Fish processor", "Verbraucher", "Gemeinde")  # fmt: skip


def population(agents: int = 54, digest: str | None = None) -> list[Participant]:
    return [
        Participant(id=f"agent:{i}", name=f"N{i}", stakeholder_type=KINDS[i % 9], persona=f"P{i}", digest=digest)
        for i in range(agents)
    ]
