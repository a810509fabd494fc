"""`python -m tests.support.bytecode`: imports once each library that Enquete and its tests name, wherever they do.

pip compiles nothing here, and the workers of a test session begin at the same time: each would compile them all anew.
"""

from __future__ import annotations

import importlib
import re
import warnings
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[2]
IMPORT = re.compile(r"""(?:^\s*(?:from|import) |importorskip\(")([a-z]\w*(?:\.\w+)*)(?: import (\w+))?""", re.MULTILINE)
OURS = {"enquete", "tests"}  # `compileall` takes these; some do something when they are imported
ELSEWHERE = {"bench", "studio"}  # other programs and the agent server, which run in processes of their own


def sources() -> Iterator[Path]:
    for folder in sorted(OURS):
        for file in sorted((ROOT / folder).rglob("*.py")):
            if not ELSEWHERE.intersection(file.parts):
                yield file


def libraries() -> list[str]:
    """Modules by their dotted names; the standard library's among them, which is compiled or cheap."""
    imported = {pair for file in sources() for pair in IMPORT.findall(file.read_text("utf-8"))}
    names = {name for module, taken in imported for name in (module, f"{module}.{taken}") if not name.endswith(".")}
    return sorted(name for name in names if name.split(".")[0] not in OURS)


def load(names: list[str]) -> None:
    """Import each of these, in one process: a second one would import them all as well, and compile nothing less."""
    warnings.simplefilter("ignore")
    for name in names:
        with suppress(Exception):  # an extra that is not installed, a word of a docstring: whoever needs it says so
            importlib.import_module(name)


if __name__ == "__main__":
    load(libraries())
