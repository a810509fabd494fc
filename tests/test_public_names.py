"""What users import. Pinned: a name that goes is a breaking change."""

from __future__ import annotations

import ast
from pathlib import Path

import enquete
from enquete.study.run import MEMBERS, Run

NAMES = {
    "Arm", "Choice", "EnqueteError", "Estimate", "InputError", "Likert", "Number", "Open", "Run", "RunSummary",
    "aconduct_interviews", "aestimate", "aresume", "ask", "check", "compare", "conduct_interviews", "delete",
    "estimate", "export", "list_instruments", "list_runs", "list_simulations", "load_population", "load_run",
    "memory_preferences", "on_completed", "on_ready", "resume", "search_memory", "sync_memory",
}  # fmt: skip


def test_public_names_are_those_that_checkers_know_and_a_run_shows_its_own() -> None:
    assert set(enquete.__all__) == NAMES
    assert all(getattr(enquete, name) is not None for name in NAMES)
    # What stands under `if TYPE_CHECKING:` is what is loaded on first use, from the same modules.
    tree = ast.parse(Path(enquete.__file__).read_text("utf-8"))
    block = next(statement for statement in tree.body if isinstance(statement, ast.If))
    imports = [statement for statement in block.body if isinstance(statement, ast.ImportFrom)]
    assert {alias.name: node.module for node in imports for alias in node.names} == enquete.PUBLIC
    assert set(MEMBERS) <= set(vars(Run)) | {"note", "status"}
    assert all(member in (Run.__doc__ or "") for member in MEMBERS)
