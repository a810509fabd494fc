"""Tests see neither the machine's settings nor its .env, and a caught bug is raised."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

MACHINE = ("LLM_", "OPENAI_", "ENQUETE_", "LANGSMITH_", "LANGCHAIN_", "ZEP_")

settings.register_profile("enquete", deadline=None, print_blob=True)  # shared machines: time is no property
settings.load_profile("enquete")


@pytest.fixture(autouse=True, scope="session")
def _away_from_the_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The .env is read from the working directory, so tests work in an empty one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(MACHINE)]:
            patch.delenv(name)
        patch.setenv("ENQUETE_RAISE_BUGS", "1")
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        yield


SPREAD = {"kill", "faults"}
TOGETHER = {
    "studio",
    "notebook",
    "test_laddering_run.py",
    "test_reruns.py",
    "test_study_probes.py",
    "test_http_polls.py",
}
"""Long tests: one by one, and those that share what their module has set up."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first, and shared out, so that no worker is left with one at the end.

    With --dist worksteal each worker begins with one stretch of the list.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    groups: dict[str, list[pytest.Item]] = {}
    short = []
    for item in items:
        parts = set(item.path.parts)
        if not parts & (SPREAD | TOGETHER):
            short.append(item)
        else:
            groups.setdefault(item.nodeid if parts & SPREAD else str(item.path), []).append(item)
    shares = list(groups.values())
    size = -(-len(items) // workers)
    ordered: list[pytest.Item] = []
    for worker in range(workers):
        own = [item for group in shares[worker::workers] for item in group]
        taken = max(0, size - len(own))
        ordered += [*own, *short[:taken]]
        short = short[taken:]
    items[:] = [*ordered, *short]


@pytest.fixture
def root() -> Path:
    """The repository."""
    return Path(__file__).parent.parent
