"""Runs that callers of operations drive (HTTP, MCP, commands, Python) without the report, half of what a step costs:
for who reads the ledger and the replies alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.support.unwritten import unwritten


@contextmanager
def without_reports() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("enquete.reports.synthesis.synthesise", unwritten)
        yield


@pytest.fixture
def unreported() -> Iterator[None]:
    with without_reports():
        yield
