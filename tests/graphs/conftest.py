"""What tests of several methodologies share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.unwritten import without_reports


@pytest.fixture
def unreported() -> Iterator[None]:
    """Half of what a step costs, for who reads the ledger and the replies alone."""
    with without_reports():
        yield
