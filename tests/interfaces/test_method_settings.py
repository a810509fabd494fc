"""Settings of methodologies as options: names, help, values; through a command of its own, with two made-up
methodologies."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout, suppress
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from enquete.interfaces.cli.options import (
    options_about,
    read_settings,
    registered,
    require_known,
    setting_flags,
    settings_command,
)
from enquete.interfaces.parameters import with_parameters
from enquete.methods.registry import methodologies
from enquete.state.errors import SettingsError
from tests.interfaces.conftest import Command


class Ladder(BaseModel):
    turns: Annotated[int, Field(description="questions before the last one")] = 12
    probe_why: bool = True
    label: str | None = None
    seed: int = 0


class Panel(BaseModel):
    turns: int = 3
    max_themes: int = 15
    order: Literal["fixed", "random"] = "fixed"


MODELS = {"laddering": Ladder, "panel": Panel}


@pytest.fixture
def settings_of() -> Callable[..., dict[str, Any]]:
    """The settings that a command line means; "help": its help."""

    def read(*words: str) -> dict[str, Any]:
        settings: dict[str, Any] = {}

        @with_parameters(
            {name: option for name, option in options_about("study").items() if name in ("settings", "seed", "methods")}
        )
        def run(**typed: Any) -> int:
            settings.update(
                read_settings(typed["settings"]) or {}, **({"own seed": typed["seed"]} if typed["seed"] else {})
            )
            return 0

        command = settings_command("run", run, words, lambda: MODELS)
        shown = io.StringIO()
        with redirect_stdout(shown), redirect_stderr(shown), suppress(SystemExit):
            command(list(words), prog_name="run")
        return {**settings, "help": shown.getvalue()} if shown.getvalue() else settings

    return read


def test_a_field_is_an_option_with_its_description(settings_of: Callable[..., dict[str, Any]]) -> None:
    shown = " ".join(settings_of("--methods", "laddering,panel", "--help")["help"].split())
    assert "--laddering-turns N laddering: questions before the last one; 12 unless named." in shown
    assert "--max-themes" in shown
    assert "fixed|random" in shown
    assert "--probe-why" in shown
    assert "--no-probe-why" in shown
    assert "--max-themes" not in settings_of("--methods=laddering", "--help")["help"]
    short = settings_of("--help")["help"]
    assert "--probe-why" not in short
    assert "--methods NAME --help" in short


def test_options_are_another_spelling_of_set_and_a_shared_name_needs_the_methodology(
    settings_of: Callable[..., dict[str, Any]],
) -> None:
    assert settings_of("--max-themes", "9", "--order", "random") == {"panel": {"max_themes": 9, "order": "random"}}
    assert settings_of("--panel-max-themes", "9", "--set", "panel.order=fixed") == {
        "panel": {"max_themes": 9, "order": "fixed"}
    }
    assert settings_of("--no-probe-why") == {"laddering": {"probe_why": False}}
    assert settings_of("--label", "20") == {"laddering": {"label": "20"}}, "a text stays one"
    assert settings_of() == {}
    with pytest.raises(SettingsError, match="already"):
        settings_of("--max-themes", "9", "--set", "panel.max_themes=8")
    assert settings_of("--laddering-turns", "20", "--panel-turns", "2") == {
        "laddering": {"turns": 20},
        "panel": {"turns": 2},
    }
    assert "No such option" in settings_of("--turns", "20")["help"]
    assert settings_of("--seed", "7", "--laddering-seed", "8") == {"own seed": "7", "laddering": {"seed": 8}}


def test_a_setting_that_does_not_exist_is_answered_with_the_nearest() -> None:
    require_known({"panel": ["max_themes"], "unknown": ["left to the façade"]}, MODELS)
    with pytest.raises(SettingsError, match=r"panel\.max_theme: no such setting; did you mean 'max_themes'"):
        require_known({"panel": ["max_theme"]}, MODELS)
    with pytest.raises(SettingsError, match="there are turns, max_themes, order"):
        require_known({"panel": ["xyz"]}, MODELS)
    with pytest.raises(SettingsError, match="has none"):
        require_known({"empty": ["x"]}, {"empty": BaseModel})


@pytest.mark.parametrize("verb", ["run", "estimate"])
def test_every_methodology_of_the_registry_has_its_options(command: Command, verb: str) -> None:
    assert registered().keys() == methodologies().keys()
    shown = command(verb, "--methods", ",".join(registered()), "--help").out
    for flag in setting_flags(registered(), ()):
        assert f"--{flag.names[-1]}" in shown
    assert "--set METHOD.KEY=VALUE" in " ".join(shown.split())
