"""Progress, output, words and options: the parts, without a run."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.interfaces.cli import options, run_commands, summary, terminal
from enquete.interfaces.cli.options import report_error
from enquete.interfaces.cli.summary import Place
from enquete.state.errors import LedgerError, SettingsError


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def event(done: int, **more: object) -> dict[str, object]:
    standard = {"methodology": "delphi", "phase": "T1", "arm": "main", "round": 2, "total": 100, "tokens": 1234}
    return {**standard, "done": done, "cap": 10_000_000, **more}


def test_plain_progress_lines_and_a_closed_log() -> None:
    stream = io.StringIO()
    plain = run_commands.Plain(stream, every=3600)
    for done in (1, 50, 99, 100, 100):
        plain(event(done))
    lines = stream.getvalue().splitlines()
    assert [line.split(",")[0] for line in lines] == ["delphi T1 round 2: 1/100", "delphi T1 round 2: 100/100"]
    assert "1,234 of 10,000,000 tokens" in lines[0]
    assert "in the end" not in lines[0]
    plain = run_commands.Plain(stream := io.StringIO(), every=0)
    plain(event(1))
    plain(event(2, arm="b"))
    assert "delphi T1 round 2 (b): 2/100" in stream.getvalue()
    run_commands.Plain(stream := io.StringIO(), every=0)(event(1, expected=123_456))
    assert "1,234 of 10,000,000 tokens, likely 123k in the end" in stream.getvalue()
    run_commands.Plain(stream := io.StringIO(), every=0)(event(1, expected=None, cap=sys.maxsize))
    assert "1,234 tokens\n" in stream.getvalue(), "a replay has no cap"
    stream = io.StringIO()
    stream.close()
    run_commands.Plain(stream)(event(1))


def test_the_live_display_shows_agents_speed_tokens_and_time_left() -> None:
    stream = Terminal()
    with run_commands.progress_display(quiet=False, stream=stream) as report:
        assert report is not None
        report(event(10))
        time.sleep(run_commands.SETTLED_S)
        report(event(60))
    for part in ("delphi T1 round 2", "60/100", "/s", "1,234", "left"):
        assert part in stream.getvalue()
    with run_commands.progress_display(quiet=True, stream=stream) as nothing:
        assert nothing is False


def test_time_left_does_not_count_what_an_earlier_process_had_done() -> None:
    """90 found done; 5 more in 10 s leave 5 for another 10 s."""
    pace = run_commands.AgentsPerSecond(started=0, first=90)
    assert pace.left(95, 100, now=10) == 10
    assert pace.left(90, 100, now=10) is None
    assert (run_commands.clock(65), run_commands.clock(7380)) == ("1:05", "2:03:00")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, "en"), ({"LANG": "de_DE.UTF-8"}, "de"), ({"LANG": "de_DE.UTF-8", "LC_ALL": "C"}, "en"),
        ({"LC_MESSAGES": "de_AT", "LANG": "en_US"}, "de"),
    ],
)  # fmt: skip
def test_the_locale_chooses_the_language(environment: dict[str, str], expected: str) -> None:
    assert terminal.tongue(environment) == expected


@given(st.text())
def test_nothing_printed_can_command_a_terminal(text: str) -> None:
    assert not any(c < " " and c not in "\n\t" for c in terminal.printable(text))


def test_json_has_no_nan_and_alike_errors_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.one_object({"a": [float("nan"), (1.5, float("inf"))], "b": {1: "ü"}})
    assert json.loads(capsys.readouterr().out) == {"a": [None, [1.5, None]], "b": {"1": "ü"}}
    failures = [
        "delphi T1 round 1 agent:a: KeyError: 'x'", "delphi T1 round 1 agent:b: KeyError: 'x'", "y: ValueError: z",
    ]  # fmt: skip
    assert summary.grouped(failures) == ["delphi T1 round 1 agent:a: KeyError: 'x' (×2)", "y: ValueError: z"]
    assert len(summary.shortened([str(i) for i in range(20)])) == summary.MOST_LINES + 1


def test_settings_limits_and_instruments_as_typed(tmp_path: object) -> None:
    settings = options.read_settings(["delphi.a=3", "delphi.b=true", "x.c=two words", 'x.d=["e"]'])
    assert settings == {"delphi": {"a": 3, "b": True}, "x": {"c": "two words", "d": ["e"]}}
    assert options.read_settings(None) is None
    for wrong in (["a=3"], [".a=3"], ["a.=3"], ["a.b"], ["a.b=1", "a.b=2"]):
        with pytest.raises(SettingsError, match="--set"):
            options.read_settings(wrong)
    settings = options.read_limits(["gpt-5.1.concurrency=4", "gpt-5.1.tokens_per_minute=9", "a=b/c.concurrency=1"])
    assert settings == {"gpt-5.1": {"concurrency": "4", "tokens_per_minute": "9"}, "a=b/c": {"concurrency": "1"}}
    assert options.read_limits(None) is None
    with pytest.raises(SettingsError, match="already"):
        options.read_limits(["m.concurrency=1", "m.concurrency=2"])
    with pytest.raises(SettingsError, match="already"):
        options.read_instruments([f"delphi={__file__}", f"delphi={__file__}"])


def test_commands_name_what_finds_the_simulation_again() -> None:
    assert Place("sim_1", root="my root").command("status") == "enquete status sim_1 --root 'my root'"
    assert Place("a/b", root="r").command("run", "--new") == "enquete run a/b --new"
    assert Place("a/b").resume("run_1.f") == "enquete resume run_1.f --sim a/b"
    assert Place("p.csv", out="o").resume("run_1.f") == "enquete resume run_1.f --out o"
    assert Place("s", root="r").resume("run_1.f") == "enquete resume run_1.f --root r"
    assert Place("p.csv", out="o").resume("run_1", "--retry-failed") == "enquete resume run_1 --retry-failed --out o"
    assert Place("run_1.f").is_token
    assert not Place("sim_1").is_token


@pytest.mark.parametrize(
    ("error", "code", "told"),
    [
        (KeyError("x"), 1, "internal error, KeyError: 'x'"),
        (PermissionError(13, "Permission denied", "/sims/interviews"), 2, "--out"),
        (OSError(28, "No space left on device", "/sims/ledger.sqlite"), 1, "/sims/ledger.sqlite: No space left"),
        (sqlite3.OperationalError("database or disk is full"), 1, "disk is full"),
        (LedgerError("ledger.sqlite: damaged"), 1, "damaged"),
        (KeyboardInterrupt(), 130, "nothing was asked"),
    ],
)
def test_every_exception_has_a_code_and_plain_words(
    error: BaseException, code: int, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_error(error, as_json=False) == code
    assert told in capsys.readouterr().err
    assert report_error(error, as_json=True) == code
    captured = capsys.readouterr()
    assert captured.err == ""
    assert json.loads(captured.out)["exit_code"] == code
    assert json.loads(captured.out)["error"]["type"] == type(error).__name__


def test_who_only_asks_or_looks_loads_no_analysis() -> None:
    """Graphs and analyses need seconds. Modules are counted, because a clock depends on the machine."""
    code = (
        "import sys, enquete\n"
        "from enquete.interfaces.cli.app import run\n"
        "assert run(['--version']) == 0 and 'pydantic' not in sys.modules\n"
        "assert run(['list', '--root', '.']) == 0 and not {'asyncio', 'yaml'} & set(sys.modules)\n"
        "assert run(['resume', '--help']) == run(['status', '--help']) == run(['run', '--help']) == 0\n"
        "assert not {'numpy', 'rich', 'enquete.study.interviews', 'enquete.methods.registry'} & set(sys.modules)\n"
        "assert run(['--help']) == 0\n"  # with what methodologies declare
        "heavy = {'langgraph', 'pandas', 'openai', 'langchain_core', 'sklearn', 'scipy'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
