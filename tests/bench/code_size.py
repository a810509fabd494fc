"""`make size`: how much there is to read, counted the same way for every checkout that is named, a column each.

python -m tests.bench.code_size [FOLDER …]    (default: this one)

A module's readers are the modules of the package that import it. "Used once": a function or method below the public
ones whose name stands a single time outside its own definition. What a Delphi runs through is counted by
Python's own profiler while ten personas are interviewed by the synthetic respondent, in a process of its own.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
WIDEST = 120
TEMPLATES = (".j2",)
NAMELESS = {"one", "own", "found", "said"}
"""Names of variables that say nothing of the thing."""

DELPHI = """
import json, pathlib, sys, threading
called = set()
def note(frame, event, _):
    if event == "call":
        called.add(frame.f_code)
import enquete
rows = "".join(f"p{k},Person {k},{'abc'[k % 3]},I fish.\\n" for k in range(10))
pathlib.Path("people.csv").write_text("id,name,stakeholder_type,persona\\n" + rows)
threading.setprofile(note); sys.setprofile(note)
enquete.conduct_interviews("people.csv", out="out", respondent="synthetic", methods=["delphi"])
sys.setprofile(None)
codes = [code for code in called if code.co_filename.startswith(sys.argv[1]) and not code.co_name.startswith("<")]
print(json.dumps([len({code.co_filename for code in codes}), len(codes)]))
"""


class Module:
    """One file of the package."""

    def __init__(self, root: Path, path: Path) -> None:
        self.path, self.text = path, path.read_text("utf-8")
        parts = path.relative_to(root).with_suffix("").parts
        self.name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        self.tree = ast.parse(self.text)
        self.lines = self.text.count("\n")

    def definitions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node

    def imported(self) -> Iterator[tuple[str, str]]:
        """(module, name) of every import from the package; name is "" where the module itself is imported."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("enquete"):
                yield from ((node.module, alias.name) for alias in node.names)
            elif isinstance(node, ast.Import):
                yield from ((alias.name, "") for alias in node.names if alias.name.startswith("enquete"))


class Checkout:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.modules = [Module(root, path) for path in sorted((root / "enquete").rglob("*.py"))]

    @cached_property
    def named(self) -> dict[str, Module]:
        return {module.name: module for module in self.modules}

    @cached_property
    def written(self) -> list[Module]:
        """Without files that are empty or say only what a folder is."""
        return [module for module in self.modules if module.lines > 1]

    def readers(self) -> dict[str, set[str]]:
        readers: dict[str, set[str]] = defaultdict(set)
        for module in self.modules:
            for imported, name in module.imported():
                whole = f"{imported}.{name}"
                readers[whole if whole in self.named else imported].add(module.name)
        return readers

    def figures(self) -> dict[str, object]:
        functions = [
            node for module in self.modules for node in module.definitions() if not isinstance(node, ast.ClassDef)
        ]
        classes = Counter(
            node.name for module in self.modules for node in module.definitions() if isinstance(node, ast.ClassDef)
        )
        words = Counter(re.findall(r"\w+", "\n".join(module.text for module in self.modules)))
        readers = self.readers()
        touched, called = self._delphi()
        folders = {module.path.parent for module in self.modules if module.path.parent.parent.name == "graphs"}
        return {
            "enquete/, lines": sum(module.lines for module in self.modules),
            f"· wider than {WIDEST}": sum(
                len(line) > WIDEST for module in self.modules for line in module.text.splitlines()
            ),
            "· of docstrings": sum(map(_docstring_lines, self.modules)), "· files": len(self.modules),
            "· median lines of a file": round(median(module.lines for module in self.written)),
            "graphs + reports + analysis, with templates": sum(
                map(
                    _lines,
                    [
                        path
                        for name in ("graphs", "reports", "analysis")
                        for path in (self.root / "enquete" / name).rglob("*") if path.suffix in (".py", *TEMPLATES)
                    ],
                ),
            ),
            "modules with one reader": sum(len(readers.get(module.name, ())) == 1 for module in self.written),
            "functions": len(functions),
            "· used once": sum(words[name] == 2 for name in {function.name for function in functions}),
            "class names of two things or more": sum(count > 1 for count in classes.values()),
            "variables called one, own, found or said": sum(map(_nameless, self.modules)),
            "names a methodology imports, most": max(map(self._needs, folders)),
            "modules a Delphi of ten runs through": touched, "functions a Delphi of ten runs through": called,
            "tests/, lines": sum(map(_lines, (self.root / "tests").rglob("*.py"))),
            "docs/, words": sum(len(path.read_text("utf-8").split()) for path in (self.root / "docs").glob("*.md")),
        }  # fmt: skip

    def _needs(self, folder: Path) -> int:
        """Names from elsewhere in the package that a methodology's folder imports."""
        its = [module for module in self.modules if folder in module.path.parents]
        inside = ".".join(folder.relative_to(self.root).parts)
        return len({(at, name) for module in its for at, name in module.imported() if not at.startswith(inside)})

    def _delphi(self) -> tuple[int, int]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("LLM_", "OPENAI_"))}
        environment |= {"PYTHONPATH": str(self.root), "ENQUETE_FIT": "any"}
        with TemporaryDirectory() as made:
            done = subprocess.run(
                [sys.executable, "-c", DELPHI, str(self.root / "enquete")], cwd=made, env=environment, check=True,
                capture_output=True, text=True,
            )  # fmt: skip
        touched, called = json.loads(done.stdout.splitlines()[-1])
        return touched, called


def _lines(path: Path) -> int:
    return path.read_text("utf-8").count("\n")


def _docstring_lines(module: Module) -> int:
    texts = [
        node
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    ]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in texts)


def _nameless(module: Module) -> int:
    """Bindings by such a name: assignments, loops, parameters."""
    return sum(
        (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in NAMELESS)
        or (isinstance(node, ast.arg) and node.arg in NAMELESS)
        for node in ast.walk(module.tree)
    )


def main(roots: list[Path]) -> None:
    columns = [Checkout(root.resolve()).figures() for root in roots]
    width = max(map(len, columns[0]))
    print(" " * width, *(f"{root.resolve().name:>12}" for root in roots))
    for name in columns[0]:
        print(f"{name:<{width}}", *(f"{column[name]:>12,}" for column in columns))


if __name__ == "__main__":
    main([Path(folder) for folder in sys.argv[1:]] or [ROOT])
