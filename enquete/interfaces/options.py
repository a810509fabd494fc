"""Options of the commands, and the reading of those that are more than one word."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

import typer

from enquete.state.errors import SettingsError

Sim: TypeAlias = Annotated[
    str, typer.Argument(metavar="SIM", help="sim_id under --root, or the path of a simulation folder or personas file.")
]
Root: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder that holds simulations/{sim_id} (else ENQUETE_ROOT, else here)."),
]
Out: TypeAlias = Annotated[
    str | None, typer.Option(metavar="DIR", help="Results go here instead of the simulation's own interviews/ folder.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout, for errors too, and nothing else.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Methods: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Methodologies, in the order they get budget (see `enquete list methods`)."),
]
PhaseOption: TypeAlias = Annotated[
    Literal["T0", "T1"] | None,
    typer.Option(help="Only before (T0) or only after (T1) the simulation; both unless named."),
]
LanguageOption: TypeAlias = Annotated[
    Literal["de", "en"] | None, typer.Option(help="Language of the interviews (else ENQUETE_LANGUAGE, else de).")
]
Respondent: TypeAlias = Annotated[
    Literal["llm", "synthetic"] | None,
    typer.Option(
        help="Who answers: a model, or the built-in synthetic respondent (free, deterministic, for trying out)."
    ),
]
Model: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Model, as the server calls it (else LLM_MODEL_NAME).")
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(metavar="URL", help="OpenAI-compatible server up to /v1 (else LLM_BASE_URL).")
]
# Numbers stay text here: the façade reads them, and names the bad value where typer does not.
Temperature: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="0 to 2; 0.7 unless named.")]
Seed: TypeAlias = Annotated[
    str | None, typer.Option(metavar="N", help="Of the synthetic respondent, and sent to the model; 0 unless named.")
]
Asking: TypeAlias = Annotated[
    Literal["block", "item"] | None,
    typer.Option(help="All items of a part in one request, or one request an item; block unless named."),
]
InstrumentOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--instrument", metavar="METHOD=FILE", help="A YAML instrument of your own; may be given several times."
    ),
]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="METHOD.KEY=VALUE", help="A methodology's own setting; may be given several times."),
]
Budget: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--budget-tokens",
        metavar="N",
        help="Cap for the whole run, earlier sessions included; 10,000,000 unless named.",
    ),
]
Concurrency: TypeAlias = Annotated[
    str | None, typer.Option(metavar="N", help="Requests in flight at once; 32 unless named.")
]
Timeout: TypeAlias = Annotated[
    str | None,
    typer.Option("--timeout", metavar="SECONDS", help="For one request, once it is sent; 120 unless named."),
]
Baseline: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="auto|reconstructed|RUN_ID", help="Where T0 comes from (docs/longitudinal.md); auto unless named."
    ),
]
Assume: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--assume-completed", help="Treat a simulation that still says running as completed (it was killed, say)."
    ),
]
RunId: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="run_id or resume token; else the one that matters most now.")
]


def given(**options: object) -> dict[str, Any]:
    """Only what was said: everything else is for the environment and the defaults to decide."""
    return {name: value for name, value in options.items() if value is not None and value is not False}


def read_methods(text: str | None) -> list[str] | None:
    """`a,b` → ["a", "b"]. Raises SettingsError where nothing is named."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise SettingsError(f"--methods {text!r}: name at least one, such as --methods longitudinal,delphi")
    return names


def read_instruments(pairs: Iterable[str] | None) -> dict[str, str] | None:
    """`longitudinal=my.yaml` → {"longitudinal": "my.yaml"}. Raises SettingsError."""
    found: dict[str, str] = {}
    for pair in pairs or ():
        name, equals, path = pair.partition("=")
        if not (name and equals and path):
            raise SettingsError(f"--instrument {pair!r}: METHOD=FILE is expected, such as longitudinal=my.yaml")
        if name in found:
            raise SettingsError(f"--instrument {pair!r}: {name} has been given {found[name]!r} already")
        if not Path(path).expanduser().is_file():
            raise SettingsError(f"--instrument {pair!r}: there is no file {path!r}")
        found[name] = str(Path(path).expanduser())
    return found or None


def read_settings(pairs: Iterable[str] | None) -> dict[str, dict[str, Any]] | None:
    """`delphi.key=3` → {"delphi": {"key": 3}}; values are JSON where they can be read as such, else text."""
    found: dict[str, dict[str, Any]] = {}
    for pair in pairs or ():
        path, equals, text = pair.partition("=")
        method, dot, key = path.partition(".")
        if not (method and dot and key and equals):
            raise SettingsError(f"--set {pair!r}: METHOD.KEY=VALUE is expected")
        if key in found.setdefault(method, {}):
            raise SettingsError(f"--set {pair!r}: {method}.{key} has been set already")
        found[method][key] = _value(text)
    return found or None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
