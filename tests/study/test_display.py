"""How a run shows itself: outside a notebook a line, in HTML a table; and the bars of a notebook's progress."""

from __future__ import annotations

from pathlib import Path

import altair
import pytest

from enquete.state.errors import InputError
from enquete.study.interviews import conduct_interviews
from enquete.study.run import Run, leading
from tests.support.studies import personas


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("display")
    return conduct_interviews(personas(folder, 4), out=str(folder / "out"), methods=["longitudinal"], language="en")


def test_the_table_says_who_answered_how_many_of_how_many(run: Run) -> None:
    page = run._repr_html_()
    assert "Synthetic answers" in page
    assert ">4 of 4</td>" in page
    assert ">longitudinal</td>" in page
    assert "resume token" not in page  # completed


def test_what_is_shown_is_escaped(run: Run) -> None:
    shown = Run(run.folder)
    shown.note = "<script>alert(1)</script>"
    assert "<script>" not in shown._repr_html_()
    assert "&lt;script&gt;" in shown._repr_html_()


def test_outside_a_notebook_ipython_falls_back_to_repr(run: Run) -> None:
    with pytest.raises(NotImplementedError):
        run._ipython_display_()
    assert repr(run).startswith("Run(run_")


def test_a_figure_is_an_altair_chart_by_name(run: Run) -> None:
    assert run.figures[-1] == "health/glance"
    assert isinstance(run.figure("health/glance"), altair.TopLevelMixin)
    assert [picture.name.partition("/")[0] for picture in leading(run.drawn)] == ["longitudinal", "health"]
    with pytest.raises(InputError, match="there are longitudinal/"):
        run.figure("delphi")


def test_bars_follow_the_events(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm", reason="the extra 'notebook' is not installed")
    from enquete.study.progress import Bars

    bars = Bars()
    event = {"methodology": "delphi", "phase": "T1", "arm": "main", "round": 2, "total": 4, "tokens": 1500}
    for done in (1, 4, 4):
        bars({**event, "done": done})
    bars({**event, "arm": "b", "done": 1})
    bars.close()
    shown = capsys.readouterr().err
    assert "delphi T1 round 2: 100%" in shown
    assert "delphi T1 round 2 (b)" in shown
    assert "1,500 tokens" in shown
