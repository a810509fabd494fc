"""What the package imports comes with it: with its core, or with the extra whose part of it imports it.

All tests run where everything is installed, oracles and builders too; a user has the core.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.utils import canonicalize_name

from tests.bench.install import EXTRAS, required

ROOT = Path(__file__).parents[1]
USERS = [extra for extra in EXTRAS if extra != "dev"]
WEB, MCP, BOTH = "enquete.interfaces.web.", "enquete.interfaces.mcp.", "enquete.interfaces.server_state"
IMPORT_ALL = """if True:
    import importlib, json, os, pkgutil, sys

    class Absent:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] in absent:
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    def missing(names):
        failed = {}
        for name in names:
            try:
                importlib.import_module(name)
            except ModuleNotFoundError as error:
                failed[name] = error.name
        return failed

    by_extra = json.loads(sys.argv[1])
    absent = set(by_extra.pop(""))
    sys.meta_path.insert(0, Absent())
    import enquete
    early = {"langgraph", "pandas", "openai", "langchain_openai"} & set(sys.modules)
    import enquete.study.start
    from enquete.methods.registry import methodologies
    procedures = [each.procedure for each in methodologies().values()]
    late = {"scipy", "pandas", "sklearn", "altair"} & set(sys.modules)
    missing(["enquete.reports.synthesis"])
    unasked = {"openai", "aiohttp"} & set(sys.modules)
    modules = pkgutil.walk_packages(enquete.__path__, "enquete.")
    names = [module.name for module in modules if "__main__" not in module.name]
    told = {"": missing(names), "unneeded": [*early, *late, *unasked]}
    for extra, without in by_extra.items():
        absent = set(without)
        ours, theirs = os.pipe()
        if not os.fork():
            os.write(theirs, json.dumps(missing(told[""])).encode())
            os._exit(0)
        os.close(theirs)
        told[extra] = json.loads(os.fdopen(ours).read() or "null")
        os.wait()
    print(json.dumps(told))
"""
"""Imports every module where only the core is there; then, in a process an extra, those that failed, with it."""


def importable(names: set[str]) -> tuple[set[str], set[str]]:
    """Names of packages that these distributions hold; and those that only others hold."""
    holders = {top: {canonicalize_name(name) for name in held} for top, held in packages_distributions().items()}
    with_these = {top for top, held in holders.items() if held & names}
    return with_these, set(holders) - with_these - {"enquete"}


def imported(path: Path) -> set[str]:
    """Names of packages that a file imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module)
    return {name.partition(".")[0] for name in names} - sys.stdlib_module_names - {"enquete"}


def test_nothing_is_imported_that_only_tests_have() -> None:
    had, _ = importable(required(*USERS))
    assert "pandas" in had
    assert "frictionless" not in had
    lacking = {
        str(path.relative_to(ROOT)): names
        for path in (ROOT / "enquete").rglob("*.py")
        if (names := imported(path) - had)
    }
    assert lacking == {}


@pytest.fixture(scope="module")
def loading() -> dict[str, Any]:
    """By extra ("": the core alone) the modules that do not load, with what each lacks; `unneeded`."""
    absent = {extra: sorted(importable(required(extra))[1]) for extra in ("", "http", "mcp")}
    assert {"pandas", "babel", "tqdm", "mcp"} - set(absent[""]) == {"pandas"}
    done = subprocess.run(
        [sys.executable, "-c", IMPORT_ALL, json.dumps(absent)], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_each_module_loads_where_only_its_part_is_installed(loading: dict[str, Any]) -> None:
    """In particular the core: what `make demo` installs."""
    for extra, others in (("", (WEB, MCP, BOTH)), ("http", (MCP,)), ("mcp", (WEB,))):
        lacking = {name: absent for name, absent in loading[extra].items() if not name.startswith(others)}
        assert lacking == {}, extra


def test_nothing_is_imported_before_it_is_needed(loading: dict[str, Any]) -> None:
    """The package alone imports no graph and no client; what asks a run's questions imports nothing that analyses,
    and what writes it up no client of a model."""
    assert loading["unneeded"] == []
