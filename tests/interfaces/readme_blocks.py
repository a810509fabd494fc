"""The outputs that the README and some pages of docs/ show, and the README's figure: each block is run, compared with
what the commands say now, and written anew, as are the passages that CONTRIBUTING.md quotes, by

    python -m tests.interfaces.readme_blocks

A line `…` stands for lines that are left out. Names of runs differ from time to time and are compared by their form
alone.
"""

from __future__ import annotations

import ast
import io
import re
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

from enquete.interfaces.cli import app as cli
from tests.support.studies import personas

REPOSITORY = Path(__file__).parents[2]
README = REPOSITORY / "README.md"
FIRST_STUDY = REPOSITORY / "docs" / "first-study.md"
BUDGET = REPOSITORY / "docs" / "budget.md"
PAUSING = REPOSITORY / "docs" / "pause-and-resume.md"
CONTRIBUTING = REPOSITORY / "CONTRIBUTING.md"
FIGURE = REPOSITORY / "docs" / "drift.svg"
BLOCK = re.compile(r"```text\n(\$ enquete .*?)```", re.DOTALL)
FILE = re.compile(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
QUOTED = re.compile(r"(<!-- quoted: (\S+) (.*?) -->\n```python\n)(.*?)```", re.DOTALL)
RUN = re.compile(r"run_\d{8}T\d{6}_[0-9a-f]{6}(\.[0-9a-f]{16})?")
LEFT_OUT = "…"
Say = Callable[[list[str]], tuple[int, str]]
"""Words of a command line → its exit code and all that it says."""


def blocks(page: Path = README) -> list[str]:
    return BLOCK.findall(page.read_text("utf-8"))


def steps(block: str) -> Iterator[tuple[str, list[str]]]:
    """(command, lines that the README shows of what it says)."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, *lines = part.rstrip("\n").splitlines()
        yield command, lines


def run(block: str, say: Say) -> list[tuple[str, list[str], list[str]]]:
    """(command, lines shown, lines said) of every step, in the working directory. A run's name is that of this time."""
    done, code, names = [], 0, list[str]()
    for command, shown in steps(block):
        if command == "echo $?":
            printed = str(code)
        else:
            command_ = RUN.sub(names[-1], command) if names else command
            code, printed = say(shlex.split(command_)[1:])
            names += [match[0] for match in RUN.finditer(printed) if match[1]]
        done.append((RUN.sub(names[-1], command) if names else command, shown, printed.splitlines()))
    return done


def form(line: str) -> str:
    """Without what differs from time to time: a table's columns are as wide as the longest name of a run."""
    return re.sub(r"\s+#", " #", RUN.sub("run_NAME", line)).rstrip()


def missing(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """Lines shown that are not said in this order; without `…` between them they follow one another. Empty lines count
    not."""
    rest, skipping, absent = [form(line) for line in printed if line.strip()], False, list[str]()
    for line in (text for text in shown if text.strip()):
        if line == LEFT_OUT:
            skipping = True
            continue
        reach = rest if skipping else rest[:1]
        if form(line) not in reach:
            absent.append(line)
            continue
        rest, skipping = rest[reach.index(form(line)) + 1 :], False
    return absent


def anew(shown: Sequence[str], printed: Sequence[str]) -> list[str]:
    """The same lines with today's figures: by the words that stand between them."""
    words = lambda line: re.sub(r"[\d.,–()k-]+|\s+", " ", RUN.sub("", line)).split()  # noqa: E731
    rest, lines = list(printed), list[str]()
    for line in shown:
        number = re.match(r"\d+\. ", line)  # a finding may be another one by now
        at = next((n for n, candidate in enumerate(rest) if words(candidate) == words(line)), None)
        if at is None and number:
            at = next((n for n, candidate in enumerate(rest) if candidate.startswith(number[0])), None)
        if line in (LEFT_OUT, "") or at is None:
            lines.append(line)
            if at is None and line not in (LEFT_OUT, ""):
                print("not said any more:", line)
            continue
        lines.append(rest[at])
        rest = rest[at + 1 :]
    return lines


def stale(block: str, say: Say) -> list[str]:
    """Lines of a block that are not what its commands say now."""
    return [line for _, shown, printed in run(block, say) for line in missing(shown, printed)]


def drawn(folder: Path) -> Path:
    """The README's figure as a demo in this folder draws it."""
    (path,) = folder.rglob("longitudinal-drift.svg")
    return path


def furnished(folder: Path) -> Path:
    """What the commands find: five people of the examples, ten invented ones, and the files that the first study
    shows."""
    shutil.copy(REPOSITORY / "examples" / "personas.csv", folder / "personas.csv")
    personas(folder, 10).rename(folder / "personas.json")
    for name, text in FILE.findall(FIRST_STUDY.read_text("utf-8")):
        (folder / name).write_text(text, "utf-8")
    return folder


def typed(words: list[str]) -> tuple[int, str]:
    """In this process; whoever names a model has a key, which an estimate does not use."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        if "--model" in words:
            patch.setenv("LLM_API_KEY", "none")
        code = cli.run(words)
    return code, err.getvalue() + out.getvalue()


def passage(file: str, names: str) -> str:
    """The definitions of these names in a file of the repository, as they stand there."""
    source = (REPOSITORY / file).read_text("utf-8")
    parts = dict[str, str]()
    for node in ast.parse(source).body:
        targets = [getattr(target, "id", "") for target in node.targets] if isinstance(node, ast.Assign) else []
        for name in {getattr(node, "name", ""), *targets}.intersection(names.split()):
            parts[name] = "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])
    return "\n\n\n".join(parts[name] for name in names.split()) + "\n"  # as `ruff format` sets code in pages


def quotations() -> list[tuple[str, str]]:
    """(shown, in the source) of every passage that CONTRIBUTING.md quotes."""
    return [(match[4], passage(match[2], match[3])) for match in QUOTED.finditer(CONTRIBUTING.read_text("utf-8"))]


def main() -> None:
    text = CONTRIBUTING.read_text("utf-8")
    CONTRIBUTING.write_text(QUOTED.sub(lambda match: f"{match[1]}{passage(match[2], match[3])}```", text), "utf-8")
    for page in (README, FIRST_STUDY, BUDGET, PAUSING):
        text = page.read_text("utf-8")
        for block in blocks(page):
            with tempfile.TemporaryDirectory() as folder, chdir(furnished(Path(folder))):
                done = run(block, typed)
                if block.startswith("$ enquete demo"):
                    shutil.copy(drawn(Path("demo-out")), FIGURE)
            made = "\n".join("\n".join([f"$ {command}", *anew(shown, printed)]) for command, shown, printed in done)
            text = text.replace(block, f"{made}\n")
        page.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
