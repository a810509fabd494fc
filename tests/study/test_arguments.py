"""The typed arguments of the Python functions are those of RunRequest, and `help()` tells each. Written anew by `make
graphs`."""

from __future__ import annotations

import inspect
import textwrap
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import pytest

import enquete
from enquete.state import request
from enquete.state.errors import SettingsError
from enquete.state.request import ModelLimits, Place, RunRequest
from enquete.study import start

FILE = Path(start.__file__).parent / "arguments.py"
HEAD = '''"""What `conduct_interviews`, `estimate`, `resume` and the like take by name, for type checkers and editors.

Made of RunRequest by `make graphs`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from enquete.state.asking import Arm
from enquete.state.request import MemoryKind, ModelLimits, Phase, ProbeKind, Rubric
'''
ALIASES = ("MemoryKind", "Phase", "ProbeKind", "Rubric")


def spelt(kind: Any) -> str:
    """An annotation as a caller may fill it: a name where a list is meant, a Path where a text is."""
    if kind == Place:
        return "str | Path"
    alias = next((name for name in ALIASES if kind == getattr(request, name)), "")
    if alias:
        return alias
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return spelt(inner[0])
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(" | ".join(map(spelt, inner)).split(" | ")))
    if origin is Literal:
        return f"Literal[{', '.join(map(repr, inner))}]".replace("'", '"')
    if origin is list:
        spelling = spelt(inner[0])
        return f"Sequence[{spelling}]" if inner[0] is enquete.Arm else f"{spelling} | Sequence[{spelling}]"
    if origin is dict:
        return f"Mapping[{spelt(inner[0])}, {spelt(inner[1])}]"
    if kind is ModelLimits:
        return "ModelLimits | Mapping[str, int]"
    return "None" if kind is NoneType else "Any" if kind is Any else str(kind.__name__)


def typed(name: str, of: str, meaning: str, fields: dict[str, tuple[str, str]]) -> str:
    lines = [f"\n\nclass {name}({of}, total=False):", f'    """{meaning}"""', ""]
    for field, (kind, told) in fields.items():
        lines += [f"    {field}: {kind}", *_told(told)]
    return "\n".join(lines) + "\n"


def _told(text: str) -> list[str]:
    lines = textwrap.wrap(f'"""{text[:1].upper()}{text[1:]}."""', 110)
    return [f"    {line}" for line in lines]


def written() -> str:
    fields = {
        name: (
            spelt(Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation),
            info.description or name,
        )
        for name, info in RunRequest.model_fields.items()
    }
    fields["root"] = ("str | Path | None", fields["root"][1])
    fresh = ("bool", request.FRESH)
    driving = {name: fields[name] for name in start.RESUME_ARGUMENTS if name not in ("sim", "fresh")}
    begin = {name: told for name, told in fields.items() if name not in ("sim", *driving)}
    return (
        HEAD
        + typed("DrivingArguments", "TypedDict", "Of any run: how it is driven.", driving)
        + typed("Arguments", "DrivingArguments", "Of a run that is begun or found.", begin)
        + typed("AskedOn", "DrivingArguments", "Of a run that goes on.", {"sim": fields["sim"], "fresh": fresh})
    )


def test_the_typed_arguments_are_those_of_a_request() -> None:
    assert FILE.read_text("utf-8") == written(), "python -m tests.study.test_arguments"


@pytest.mark.parametrize(
    "name", ["conduct_interviews", "aconduct_interviews", "estimate", "on_ready", "on_completed", "ask"]
)
def test_help_lists_every_argument_with_its_meaning(name: str) -> None:
    told = inspect.getdoc(getattr(enquete, name)) or ""
    for field, info in RunRequest.model_fields.items():
        assert field == "sim" or f"\n    {field}: {info.description}" in told, field


def test_help_of_resume_lists_what_it_takes_and_no_more() -> None:
    told = inspect.getdoc(enquete.resume) or ""
    assert "\n    budget_tokens: cap on tokens" in told
    assert "\n    fresh: walk through" in told
    assert "\n    language: " not in told


def test_what_a_run_was_begun_with_cannot_change_when_it_goes_on(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match="language: a run goes on as it was begun; resume takes root, out, base_url, budget_tokens"
    ):
        enquete.resume("run_x", out=tmp_path, language="en")  # type: ignore[call-arg]  # what this test is about
    with pytest.raises(SettingsError, match="budget_token: no such argument; did you mean 'budget_tokens'"):
        enquete.resume("run_x", out=tmp_path, budget_token=5)  # type: ignore[call-arg]  # what this test is about


def test_a_single_name_is_a_list_of_one() -> None:
    asked = RunRequest(methods="delphi", agents="Ann", types="ngo", probes="retest", replicate_models="m")  # type: ignore[arg-type]
    assert (asked.methods, asked.agents, asked.types, asked.probes) == (["delphi"], ["Ann"], ["ngo"], ["retest"])
    assert asked.replicate_models == ["m"]


def test_compare_wants_two_runs() -> None:
    with pytest.raises(SettingsError, match=r"compare: 'run_1' is no run; .*load_run"):
        enquete.compare("run_1", "run_2")  # type: ignore[arg-type]  # what this test is about


if __name__ == "__main__":
    FILE.write_text(written(), "utf-8")
