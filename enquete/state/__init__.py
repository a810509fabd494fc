"""Types every layer shares: asking, methodology, channels and reducers, settings, errors. They validate, no more.

Here: what is named by a dotted path and imported when it is used, and how seldom that is looked through for garbage.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import Any


def loaded(dotted: str) -> Any:
    """What stands at `package.module:NAME`."""
    module, _, name = dotted.partition(":")
    return getattr(import_module(module), name)


OBJECTS_PER_COLLECTION = 50_000
"""Python's 700 cost a demo a tenth of its time, in looking through imported modules for what is garbage; memory is the
same."""


def collect_seldom() -> None:
    """For processes of our own alone: whoever imports us decides for himself."""
    gc.set_threshold(OBJECTS_PER_COLLECTION, 20, 100)
