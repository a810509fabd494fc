"""A report of many agents: what was computed on some of them, and the same bytes as of few."""

from __future__ import annotations

import pytest

import enquete
from enquete.analysis.sampling import MOST_COMPARED, MOST_PAIRS
from enquete.reports import responses
from enquete.reports.synthesis import write_synthesis
from tests.support.studies import personas

AGENTS = MOST_COMPARED + 4


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> enquete.Run:
    folder = tmp_path_factory.mktemp("sampled")
    return enquete.conduct_interviews(
        personas(folder, AGENTS), out=folder / "out", methods=["diversity"], respondent="synthetic", language="en"
    )


def limits(run: enquete.Run) -> list[str]:
    (appendix,) = (run.folder.parents[1] / "synthesis").glob("*/appendix.md")
    return [line for line in appendix.read_text("utf-8").splitlines() if f"{MOST_COMPARED} " in line and "; " in line]


def test_the_report_names_what_was_sampled_and_of_how_many(written: enquete.Run) -> None:
    """304 agents: types are sought among 300, pairs of profiles are 20,000 of 46,056; coherence looks at all of
    them."""
    assert MOST_PAIRS < AGENTS * (AGENTS - 1) // 2
    (said,) = limits(written)
    assert said.startswith(
        "- Agents were compared with one another on a part of them, drawn in the same way in every run: "
        "the number of types on 300 of 304 agents; Likeness within types"
    )
    assert said.endswith("on 20,000 pairs of 304 agents.")
    assert "Coherence" not in said


def test_a_large_table_is_written_up_as_a_small_one(written: enquete.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whose texts and scales are categories: 9,000 rows, once as they are and once as if they were many."""

    def files() -> dict[str, bytes]:
        folder = written.folder.parents[1]
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for part in ("synthesis", "T1")
            for path in sorted((folder / part).rglob("*"))
            if path.is_file()
        }

    small = files()
    monkeypatch.setattr(responses, "LARGE", 1)
    write_synthesis(written.folder, language="en")
    assert len(small) > 30
    assert files() == small


@pytest.mark.soak
def test_it_says_so_in_german(written: enquete.Run) -> None:
    write_synthesis(written.folder, language="de")
    (said,) = limits(written)
    assert said.startswith(
        "- Agenten wurden nur zum Teil miteinander verglichen, in jedem Lauf gleich gezogen: die Zahl der Typen an 300 "
        "von 304 Agenten; "
    )
    assert said.endswith("an 20.000 Paaren von 304 Agenten.")
