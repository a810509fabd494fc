"""Slips of the hand: what is said is the option, what was typed and what is taken, in nobody else's wording."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from enquete.instruments.load import shipped_file
from enquete.interfaces.cli.options import as_typed, facade_arguments
from enquete.methods.registry import methodologies
from tests.interfaces.conftest import REPOSITORY, Command
from tests.support.studies import personas

LIBRARIES = ("Input should", "Value error", "valid integer", "valid number", "unable to parse", "pydantic")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--language", "fr"), "--language: 'fr' is not taken; write de or en"),
        (("--budget-tokens", "10k"), "--budget-tokens: '10k' is not taken; write a whole number such as 10000"),
        (("--temperature", "warm"), "--temperature: 'warm' is not taken; write a number such as 0.5"),
        (("--sample", "0"), "--sample: '0' is not taken; write a number above 0"),
        (("--limit", "m.concurrency=ten"), "--limit m.concurrency: 'ten' is not taken; write a whole number"),
        (("--turns", "many", "--methods", "laddering"), "laddering.turns: 'many' is not taken; write a whole number"),
        (("--probes", "twice"), "--probes: 'twice' is not taken; write all, retest"),
        (("--types", "Angler", "--types", "Nobody"), "'Nobody' is no stakeholder type"),
    ],
)
def test_a_value_that_is_not_taken(command: Command, tmp_path: Path, words: tuple[str, ...], message: str) -> None:
    refused = command("run", personas(tmp_path, 5), "--out", "out", *words)
    assert refused.code == 2
    assert message in refused.err
    assert not any(wording in refused.err for wording in LIBRARIES)


def test_a_value_or_file_that_is_not_taken_elsewhere(command: Command, tmp_path: Path) -> None:
    assert "--figures: 'gif' is not one of 'svg', 'png'" in command("export", "sim", "--figures", "gif").err
    assert "--port: 'abc' is not taken; write a whole number" in command("serve", "--port", "abc").err
    people = personas(tmp_path, 2)
    assert f"nope.csv: no such file; there are {people.name}" in command("run", tmp_path / "nope.csv", "--out", "o").err
    assert "nowhere/nope.csv: no such file; the folder nowhere does not" in command("check", "nowhere/nope.csv").err


def test_an_instrument_of_another_methodology_says_which(command: Command, tmp_path: Path) -> None:
    shipped = shipped_file(methodologies()["delphi"].instrument, "delphi")
    assert shipped is not None
    file = tmp_path / "mine.yaml"
    file.write_bytes(shipped.read_bytes())
    wrong = f"diversity={file}"
    message = f"{file}: is an instrument for delphi, not for diversity: --instrument delphi={file}"
    assert message in command("check", "--instrument", wrong).err
    people = personas(tmp_path, 2)
    assert message in command("run", people, "--out", "o", "--methods", "diversity", "--instrument", wrong).err
    assert message in command("estimate", people, "--out", "o", "--methods", "diversity", "--instrument", wrong).err


def test_repeated_options_add_up_and_words_without_quotes_say_so_once_an_entry(
    command: Command, tmp_path: Path
) -> None:
    assert facade_arguments({"methods": ["delphi,diversity", "delphi", " scenario"], "types": None}) == {
        "methods": ["delphi", "diversity", "scenario"]
    }
    # A comma inside { } and a colon in a list make keys of words; what is missing besides is no news.
    file = tmp_path / "mine.yaml"
    file.write_text("questions:\n- Who decides: the state?\n- {de: Wer, en: Who, and why}\n", "utf-8")
    lines = command("check", "--instrument", f"delphi={file}").err.splitlines()
    assert len(lines) == 2
    assert all("cut: quote the text" in line for line in lines)
    assert [":2: questions[0].Who decides" in lines[0], ":3: questions[1].and why" in lines[1]] == [True, True]


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("say where results go with out=FOLDER", "say where results go with --out FOLDER"),
        ("budget_tokens: '10k' is wrong; seed: 'x'", "--budget-tokens: '10k' is wrong; --seed: 'x'"),
        ("such as methods=['a', 'b'] rerun=True.", "such as --methods a,b --rerun."),
        ("name one: instruments={'delphi': my.yaml}", "name one: --instrument delphi=my.yaml"),
        ("go ahead with confirm=True: it pauses", "go ahead with --yes: it pauses"),
        ("first: enquete.resume('run_1.f')", "first: enquete resume run_1.f"),
        ("the model: said it", "the model: said it"),
    ],
)
def test_python_arguments_as_a_terminal_spells_them(python: str, typed: str) -> None:
    assert as_typed(python) == typed


def test_python_m_enquete_and_the_completion_of_a_shell() -> None:
    """Bash asks for the options that begin with what was typed."""
    asked = {"_ENQUETE_COMPLETE": "complete_bash", "COMP_WORDS": "enquete delete --y", "COMP_CWORD": "2"}
    for environment, words, message in (({}, ["--version"], "enquete "), (asked, [], "--yes")):
        done = subprocess.run(
            [sys.executable, "-m", "enquete", *words], capture_output=True, text=True,
            env={"PYTHONPATH": str(REPOSITORY), "PATH": "", **environment},
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        assert message in done.stdout
