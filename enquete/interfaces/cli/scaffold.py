"""`enquete new-method NAME`: a methodology of one's own, laid out as a package that works and tests itself."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated

import typer

from enquete.interfaces.cli.output import result
from enquete.interfaces.cli.words import say
from enquete.state.errors import SettingsError

SUFFIX = ".j2"


def new_method(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Small letters, digits and _, such as paired_comparison.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="Folder that the package's folder is made in.")
    ] = Path(),
) -> int:
    """Lay out a methodology of your own: a package with its test.

    It is found by every command once it is installed (pip install -e FOLDER). It asks three questions in one round;
    docs/adding-a-methodology.md says what else a methodology can declare.

    \b
    Examples:
      enquete new-method paired_comparison
      enquete new-method triads --into ~/methods

    \b
    Exit codes: 0 laid out · 2 a name that cannot be used, or a folder that exists
    """
    from enquete.graphs.registry import methodologies  # noqa: PLC0415 - loads every methodology

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise SettingsError(f"{name!r} cannot name a methodology: small letters, digits and _, beginning with a letter")
    if name in methodologies():
        raise SettingsError(f"there is a methodology {name!r} already; choose another name")
    folder = into.expanduser() / f"enquete-{name.replace('_', '-')}"
    if folder.exists():
        raise SettingsError(f"{folder} exists already; name another folder with --into DIR")
    for path, text in laid_out(name):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    result(say("laid_out", folder=folder))
    return 0


def laid_out(name: str) -> Iterator[tuple[Path, str]]:
    """Relative path and content of every file of the package."""
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    title = name.replace("_", " ").capitalize()
    for path, source in _templates(files("enquete.interfaces.cli") / "method_template", Path()):
        own = Path(f"enquete_{name}", *path.parts[1:]) if path.parts[0] == "package" else path
        text = environment.from_string(source).render(name=name, title=title, camel=title.title().replace(" ", ""))
        yield own, text


def _templates(folder: Traversable, at: Path) -> Iterator[tuple[Path, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, at / entry.name)
        elif entry.name.endswith(SUFFIX):
            yield at / entry.name.removesuffix(SUFFIX), entry.read_text(encoding="utf-8")
