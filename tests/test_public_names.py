"""What users import. Pinned: a name that goes is a breaking change."""

from __future__ import annotations

import subprocess
import sys

import enquete

NAMES = {
    "Arm", "Choice", "EnqueteError", "Estimate", "InputError", "Likert", "Number", "Open", "Run", "RunSummary",
    "aconduct_interviews", "aestimate", "aresume", "ask",
    "check", "compare", "conduct_interviews", "delete",
    "estimate", "export", "list_instruments", "list_runs", "list_simulations",
    "load_population", "load_run", "memory_preferences", "on_completed", "on_ready", "resume", "search_memory", "sync_memory",
}  # fmt: skip


def test_public_names() -> None:
    assert set(enquete.__all__) == NAMES
    assert all(getattr(enquete, name) is not None for name in NAMES)


def test_import_loads_nothing_heavy() -> None:
    code = "import enquete, sys; sys.exit(any(m in sys.modules for m in ('langgraph', 'pandas', 'langchain_openai')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
