"""How a run shows itself in a notebook: a table of its stages, then the figure of each methodology."""

from __future__ import annotations

import html
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from enquete.state.asking import RESPONDED

if TYPE_CHECKING:
    from enquete.reports.charts import Picture
    from enquete.study.run import StageStatus

HEAD = ("methodology", "phase", "state", "agents answered", "answers", "not usable", "tokens")
SYNTHETIC = "Synthetic answers: no language model was asked. They test the instrument and the program."
SIMULATED = (
    "Simulated respondents: {model} answered in the roles of the agents. Only where a seat was given to a person did "
    "one answer."
)


def leading(pictures: Sequence[Picture]) -> list[Picture]:
    """The first of each methodology."""
    first: dict[str, Picture] = {}
    for each in pictures:
        first.setdefault(each.name.partition("/")[0], each)
    return list(first.values())


def show(page: Callable[[], str], drawn: Callable[[], Sequence[Picture]]) -> None:
    """Table and figures as outputs of a notebook's cell. Raises NotImplementedError outside a notebook."""
    if not in_notebook():
        raise NotImplementedError  # IPython then prints repr(run)
    notebook = importlib.import_module("IPython.display")  # there, because this is a notebook
    notebook.display(notebook.HTML(page()))
    for picture in drawn():
        notebook.display(notebook.SVG(picture.svg()))


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel, not a script or IPython in a terminal. Imports nothing."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell is not None and hasattr(shell, "kernel")


def table(
    summary: Mapping[str, Any],
    stages: Sequence[StageStatus],
    flags: Sequence[str],
    report: str,
    page: Mapping[str, Any],
) -> str:
    """HTML: page one's findings, the run (`Run.summary`) and its status, one row a stage, then who answered, what to
    mind, where the report is."""
    rows = [
        (
            stage.methodology, stage.phase,
            stage.outcome if stage.outcome == "done" else f"{stage.outcome} {stage.note}".strip(),
            f"{stage.responded} of {stage.total}", *_answers(stage.answers), f"{stage.counts.get('tokens', 0):,}",
        )
        for stage in stages
    ]  # fmt: skip
    kind = SYNTHETIC if summary["respondent"] == "synthetic" else SIMULATED.format(model=summary["model"])
    head = [
        f"<b>{_text(summary['run_id'])}</b> of {_text(summary['sim_id'])}: <b>{_text(summary['status'])}</b>",
        _text(summary["note"]),
        _text(f"resume token: {summary['resume_token']}" if summary["resume_token"] else ""),
    ]
    foot = [
        f"<i>{_text(kind)}</i>",
        *(f"⚑ {_text(flag)}" for flag in flags),
        _text(f"report: {report}" if report else ""),
    ]
    return f"<div>{_found(page)}{_lines(head)}{_rows(rows)}{_lines(foot)}</div>"


def _found(page: Mapping[str, Any]) -> str:
    """Title and findings."""
    if not page:
        return ""
    sentences = "".join(f"<li>{_text(one['text'])}</li>" for one in page["findings"])
    return f"<h3>{_text(page['title'])}</h3><p>{_text(page['asked'])}</p><ol>{sentences}</ol>"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"<div>{line}</div>" for line in lines if line)


def _answers(by_status: Mapping[str, int]) -> tuple[str, str]:
    """Usable answers, and the others by what became of them."""
    usable = sum(n for status, n in by_status.items() if status in RESPONDED)
    rest = [f"{n:,} {status}" for status, n in sorted(by_status.items()) if status not in RESPONDED]
    return f"{usable:,}", ", ".join(rest) or "0"


def _rows(rows: Sequence[Sequence[Any]]) -> str:
    def line(tag: str, cells: Sequence[Any]) -> str:
        return "<tr>" + "".join(f"<{tag} style='text-align:left'>{_text(cell)}</{tag}>" for cell in cells) + "</tr>"

    return f"<table><thead>{line('th', HEAD)}</thead><tbody>{''.join(line('td', row) for row in rows)}</tbody></table>"


def _text(value: object) -> str:
    return html.escape(str(value))
