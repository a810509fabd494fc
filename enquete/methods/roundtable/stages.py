"""Names of a discussion's stages and of how it ended, for its tables, charts and operations."""

from __future__ import annotations

from enquete.locale import N_

BEFORE, AFTER = "before", "after"
"""Names of the two private stages, beside the rounds' numbers."""
STAGES = {BEFORE: N_("Privately before"), AFTER: N_("Privately after")}
ROUND = N_("Round {round}")
EXITS = {
    "consensus": N_("agreed"), "convergence": N_("nobody moved any more"), "confidence": N_("agreed and sure"),
    "max_rounds": N_("last round"), "closed": N_("closed by the moderator"), "": N_("not over"),
}  # fmt: skip
