"""Rooms: imports run in no circle, and no two neighbours are called the same."""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

import grimp
import pytest

ROLES = ("enquete.graphs.", "enquete.methods.", "enquete.nodes.synthesis")
"""A methodology's files are called after what they are to it: instrument, procedure, results, … The synthesis node is
called after the node of the graph, and what it writes after the same word."""


@pytest.fixture(scope="module")
def graph() -> grimp.ImportGraph:
    return grimp.build_graph("enquete", exclude_type_checking_imports=True, cache_dir=None)


def test_imports_run_in_no_circle(graph: grimp.ImportGraph) -> None:
    circles = {
        (importer, imported)
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
        if graph.chain_exists(importer=imported, imported=importer)
    }
    assert circles == set()


def test_no_two_neighbours_are_called_the_same(graph: grimp.ImportGraph) -> None:
    """Neighbours: files of two folders of which one imports from the other."""
    files = {module for module in graph.modules if not graph.find_children(module) and not module.startswith(ROLES)}
    imports = {
        (importer.rpartition(".")[0], imported.rpartition(".")[0])
        for importer in graph.modules
        for imported in graph.find_modules_directly_imported_by(importer)
    }
    named: dict[str, list[str]] = defaultdict(list)
    for module in sorted(files):
        named[module.rpartition(".")[2]].append(module)
    twins = {
        frozenset(pair)
        for same in named.values()
        for pair in combinations(same, 2)
        for here, there in [[module.rpartition(".")[0] for module in pair]]
        if {(here, there), (there, here)} & imports
    }
    assert twins == set()
