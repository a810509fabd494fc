"""Tests see neither the machine's settings nor its .env, and a caught bug is raised."""

from __future__ import annotations

import gc
import hashlib
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

# Before numpy is loaded, as in app.main: a second thread spins beside what another worker computes.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

import vl_convert
from hypothesis import settings

from enquete.ledger.folders import write_atomically
from enquete.state import collect_seldom
from tests.support.postgres import Server, serving

MACHINE = ("LLM_", "OPENAI_", "ENQUETE_", "LANGSMITH_", "LANGCHAIN_", "ZEP_")

collect_seldom()  # thousands of collected tests would be looked through all the time

settings.register_profile("soak", deadline=None, print_blob=True)  # shared machines: time is no property
settings.register_profile("enquete", settings.get_profile("soak"), max_examples=25)
settings.load_profile("enquete")


@pytest.fixture(autouse=True, scope="session")
def _away_from_the_machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The .env is read from the working directory, so tests work in an empty one."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith(MACHINE)]:
            patch.delenv(name)
        patch.setenv("ENQUETE_RAISE_BUGS", "1")
        patch.setenv("ENQUETE_FIT", "any")  # what is tested mostly does not depend on what is asked about what
        patch.chdir(tmp_path_factory.mktemp("elsewhere"))
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A PostgreSQL server; where there is none, who asks for it is skipped, or fails where it was installed for it."""
    with serving() as server:
        yield server


@pytest.fixture(autouse=True, scope="session")
def _drawn_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Vega takes 30 ms a picture, of which hundreds of runs make ten each, most of them alike: each is drawn once."""
    base = tmp_path_factory.getbasetemp()
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "drawn"
    folder.mkdir(exist_ok=True)
    draw = vl_convert.vegalite_to_svg

    def drawn(spec: str, **options: object) -> str:
        file = folder / hashlib.sha256(f"{options}{spec}".encode()).hexdigest()
        if not file.exists():
            write_atomically(file, draw(spec, **options))
        return file.read_text("utf-8")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vl_convert, "vegalite_to_svg", drawn)
        yield


def _without_reports() -> Iterator[None]:
    """For tests of what is asked, begun and refused: nobody reads the reports of their runs, which cost more."""
    from tests.support.bare_runs import without_reports

    with without_reports():
        yield


no_reports = pytest.fixture(scope="module", name="no_reports")(_without_reports)
unreported = pytest.fixture(name="unreported")(_without_reports)  # for one test of a module whose others read some


@pytest.fixture
def results_only() -> Iterator[None]:
    """For a test that reads what was found, and no report, figure or export of it."""
    from tests.support.bare_runs import results_alone

    with results_alone():
        yield


@pytest.fixture
def report_only() -> Iterator[None]:
    """For a test that reads findings and report, and no figure or export."""
    from tests.support.bare_runs import results_alone

    with results_alone(report=True):
        yield


@pytest.fixture
def no_pictures() -> Iterator[None]:
    """For a test that reads all but figures and the page."""
    from tests.support.bare_runs import results_alone

    with results_alone(exports=True):
        yield


@pytest.fixture(scope="module")
def no_figures() -> Iterator[None]:
    """For tests that look at no figure of the reports that are written."""
    from tests.support.bare_runs import without_figures

    with without_figures():
        yield


LONG = (
    "tests/conformance", "tests/study/test_study_probes.py", "tests/faults", "tests/runs/test_executors.py",
    "tests/study", "tests/notebook", "tests/studio", "tests/kill", "tests/http", "tests/interfaces", "tests/reports",
    "tests/mcp", "tests/disk", "tests/web", "tests/ledger", "tests/graphs",
)  # fmt: skip
"""The longest first, so that no worker is left with one at the end."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With --dist loadfile a file's tests share what its module has set up; files are handed out in this order."""
    items.sort(key=lambda item: next((n for n, long in enumerate(LONG) if item.nodeid.startswith(long)), len(LONG)))


def pytest_collection_finish() -> None:
    """What was collected lasts to the end: no garbage is looked for in it."""
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """What was counted while runs were killed, over the whole session: what `make chaos` is for."""
    counted = Counter[str]()
    for report in [*terminalreporter.getreports("passed"), *terminalreporter.getreports("failed")]:
        for name, counts in report.user_properties:
            if name == "kills" and report.when == "call":
                counted.update({key: value for key, value in counts.items() if isinstance(value, int)})
    if counted["kills"]:
        terminalreporter.write_line(
            "{kills} kills: {differing} of {answers} answers differ, {paid_twice} of {settled} settled calls were paid"
            " twice; {lost} requests were in flight at a kill".format_map(counted)
        )


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """What runs the tests that are coroutines."""
    return "asyncio"


@pytest.fixture
def root() -> Path:
    """The repository."""
    return Path(__file__).parent.parent
