"""What the README and the pages promise: the drawing is the graph, links lead somewhere, commands and errors exist."""

from __future__ import annotations

import inspect
import re
import runpy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from enquete.interfaces.cli import app as cli
from enquete.state import errors
from tests.interfaces.conftest import REPOSITORY, Command
from tests.interfaces.readme_blocks import BUDGET, FIRST_STUDY, PAUSING, blocks, furnished, quotations, stale, typed
from tests.support.studies import results_of

pytestmark = pytest.mark.usefixtures("no_figures")

PAGES = [
    page
    for folder in (".", "docs", "examples", "enquete/analysis/health", "tests/*")
    for page in REPOSITORY.glob(f"{folder}/*.md")
]
EDGE = re.compile(r"^\s*(\w+) -{1,2}\.?-?.*> (\w+);", re.MULTILINE)


def test_the_drawing_is_the_parent_graph() -> None:
    from enquete.graphs.standalone import interviews

    drawn = re.search(r"```mermaid\n(.*?)```", (REPOSITORY / "README.md").read_text("utf-8"), re.DOTALL)
    assert drawn
    real = {(edge.source, edge.target) for edge in interviews.get_graph().edges}
    assert set(EDGE.findall(drawn[1])) == real


@pytest.mark.parametrize("page", [BUDGET, PAUSING], ids=lambda page: page.stem)  # the demo's: test_cli_demo.py
def test_outputs_are_what_the_commands_say(page: Path, tmp_path: Path) -> None:
    furnished(tmp_path)
    (block,) = blocks(page)
    assert stale(block, typed) == [], "make readme"


def test_the_first_study_is_what_the_commands_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its files, its commands, and its analysis in pandas."""
    furnished(tmp_path)
    (block,) = blocks(FIRST_STUDY)
    assert stale(block, typed) == [], "make readme"
    (code,) = re.findall(r"```python\n(.*?)```", FIRST_STUDY.read_text("utf-8"), re.DOTALL)
    exec(code, {})
    groups = results_of(tmp_path / "results").glob("synthesis/run_*/exports/poll/groups.csv")
    assert "closed,centre,5,2.8\n" in next(groups).read_text("utf-8")
    assert re.search(r"^centre +2\.8$", capsys.readouterr().out, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_links_lead_somewhere_and_commands_exist(page: Path) -> None:
    text = page.read_text("utf-8")
    for target, heading in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", text):
        if "://" not in target:
            file = page.parent / target if target else page
            assert file.exists(), target
            assert not heading or heading in anchors(file.read_text("utf-8")), f"{target}#{heading}"
    for verb in re.findall(r"^(?:\$ )?enquete ([a-z-]+)", text, re.MULTILINE):
        assert command_of(verb) is not None, verb


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_options_that_pages_show_exist(page: Path) -> None:
    """In lines of commands and in `code`; the option must be one of that command's."""
    text = page.read_text("utf-8")
    shown = [
        *re.findall(r"^(?:\$ | {2})?enquete ([^#\n]+)", text, re.MULTILINE),
        *re.findall(r"`enquete ([^`\n]+)`", text),
    ]
    for words in shown:
        verb, *rest = words.split()
        if verb.startswith("-") or not verb.isalpha() or verb.isupper():
            continue
        assert command_of(verb) is not None, words
        known = options_of(verb, *rest)
        for option in re.findall(r"--[a-z][a-z-]*", " ".join(rest)):
            assert option in known, f"enquete {verb} has no {option}"


def anchors(text: str) -> list[str]:
    """Of all headings, as GitHub makes them."""
    return [
        re.sub(r"[^\w\- ]", "", line.strip().lower()).replace(" ", "-")
        for line in re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    ]


@cache
def command_of(verb: str) -> Any:
    """Those of methodologies included."""
    return typer.main.get_command(cli.app).get_command(None, verb)


def options_of(verb: str, *rest: str) -> set[str]:
    """Those of `rest[0]` where the command is a group of others."""
    command = command_of(verb)
    command = getattr(command, "commands", {}).get(rest[0] if rest else "", command)
    return {name for each in command.params for name in (*each.opts, *each.secondary_opts)} | {"--help"}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_files_that_pages_name_exist(page: Path) -> None:
    """In `code`, of what changes are made in: a pattern names something."""
    for path in re.findall(r"`((?:enquete|tests|examples|bench)/[\w/.*-]+)`", page.read_text("utf-8")):
        assert [*REPOSITORY.glob(path.replace("NAME", "*"))], path


def test_pages_and_concepts_that_are_named_exist_and_quoted_passages_are_the_source() -> None:
    files = [file for suffix in ("py", "j2", "yaml") for file in (REPOSITORY / "enquete").rglob(f"*.{suffix}")]
    named = {page for file in files for page in re.findall(r"docs/[\w-]+\.md", file.read_text("utf-8"))}
    assert "docs/own-instruments.md" in named
    assert [page for page in named if not (REPOSITORY / page).exists()] == []
    # The class of a concept stands in its file, be it under a package of that name.
    page = (REPOSITORY / "docs" / "architecture.md").read_text("utf-8")
    rows = re.findall(r"^\| \*\*(\w+)\*\* \|.*\| `(\S+)` \|$", page, re.MULTILINE)
    assert len(rows) == 10
    assert dict(re.findall(r"^\| \*\*(\w+)\*\*:.*\| `(\S+?)`", page, re.MULTILINE)).keys() == {name for name, _ in rows}
    without_class = {"Method": "Procedure", "Model": "", "Dataset": "", "Report": ""}
    for concept, path in rows:
        name = without_class.get(concept, concept)
        assert re.search(rf"^\| \*\*{concept}\*\*:.*\| `{Path(path).parent}\b", page, re.MULTILINE), concept
        assert not name or f"class {name}(" in (REPOSITORY / path).read_text("utf-8").replace(":\n", "(\n"), concept
    passages = quotations()
    assert len(passages) == 3
    for shown, source in passages:
        assert shown == source, "make readme"
    page = (REPOSITORY / "docs" / "errors.md").read_text("utf-8")
    for name, kind in inspect.getmembers(errors, inspect.isclass):
        if issubclass(kind, errors.EnqueteError):
            assert re.search(rf"`{name}` \| {kind.exit_code} \|", page), name


def test_the_example_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: Command) -> None:
    main = runpy.run_path(str(REPOSITORY / "examples" / "interview.py"))["main"]
    main(str(REPOSITORY / "examples" / "personas.csv"), str(tmp_path / "results"))
    assert "completed, answered by synthetic" in capsys.readouterr().out
    listed = command("list", REPOSITORY / "examples" / "personas.csv", "--out", tmp_path / "results")
    assert "completed" in listed.out
