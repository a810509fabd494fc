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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long ones first, so that no worker is left with one at the end."""
    items.sort(key=lambda item: not any(part in item.path.parts for part in ("kill", "faults")))


@pytest.fixture
def root() -> Path:
    """The repository."""
    return Path(__file__).parent.parent
