"""What is named by a dotted path and imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def loaded(dotted: str) -> Any:
    """What stands at `package.module:NAME`."""
    module, _, name = dotted.partition(":")
    return getattr(import_module(module), name)
