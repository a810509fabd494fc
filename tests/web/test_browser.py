"""A study from the page, in Chromium: estimated, begun, watched, paused, gone on with, deleted."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from tests.http.conftest import serving, simulation
from tests.support.model_server import ModelServer

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), ""
)
# Looked for and not imported, which takes half a second: every worker of a session collects every file.
pytestmark = [
    pytest.mark.skipif(not CHROMIUM, reason="there is no Chromium here"),
    pytest.mark.skipif(find_spec("playwright") is None, reason="playwright is not installed"),
]
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 400, "height": 800}
WAIT_MS = 60_000


class Window:
    """A page of a browser; `said`: what its console and its errors said, each after the address it is said of."""

    def __init__(self, page: Any):
        self.page = page
        self.said: list[str] = []
        page.set_default_timeout(WAIT_MS)
        page.on("console", lambda message: self.said.append(f"{message.location['url']} {message.text}"))
        page.on("pageerror", lambda error: self.said.append(str(error)))

    def fits(self) -> bool:
        """Nothing is wider than the window."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """Takes two seconds an answer, one request after the other."""
    with ModelServer(latency=2.0) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        monkeypatch.setenv("LLM_MODEL_NAME", "test")
        monkeypatch.setenv("ENQUETE_CONCURRENCY", "1")
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def window(browser: Any) -> Iterator[Window]:
    page = browser.new_page(viewport=WIDE, locale="en-GB")
    yield Window(page)
    page.context.close()


def test_a_run_is_begun_watched_paused_and_gone_on_with(tmp_path: Path, model: ModelServer, window: Window) -> None:
    """The model is slow until the run was paused, and quick afterwards: no step waits for chance."""
    simulation(tmp_path, "seen", "completed", agents=2)
    page = window.page
    with serving(tmp_path) as client:
        page.goto(str(client.base_url))
        page.get_by_role("link", name="seen").first.click()
        for name in ("Longitudinal", "Diversity of views", "Delphi"):
            page.get_by_label(name).uncheck()
        page.get_by_label("Language of the interviews").select_option("en")
        assert window.fits()
        page.get_by_role("button", name="What would it cost?").click()
        assert page.get_by_text("Requests").first.is_visible()
        assert not (tmp_path / "simulations" / "seen" / "interviews").exists()
        page.get_by_role("button", name="Begin").click()
        page.locator(".state.running").wait_for()
        page.get_by_role("button", name="Pause").click()
        page.locator(".live .state.paused").wait_for()
        assert window.fits()
        page.get_by_role("button", name="Go on").click()
        page.locator(".state.running").wait_for()
        assert not page.locator("[data-gone]").is_visible()
        assert window.said == []
        gone = str(client.base_url)
        here = page.url.removeprefix(gone)
    page.get_by_text("The server does not answer").wait_for()
    with serving(tmp_path) as client:
        model.latency = 0.0
        page.goto(str(client.base_url) + here)
        page.locator(".live .state.paused").wait_for()
        page.set_viewport_size(NARROW)
        page.reload()
        assert window.fits()
        page.get_by_role("button", name="Go on").click()
        page.locator(".live .state.completed").wait_for()
        assert window.fits()
        # Until the page is left it asks the server that is gone, and Chromium tells of that when it has time.
        assert [line for line in window.said if not line.startswith(gone)] == []


@pytest.mark.timeout(900)  # against hanging; 40 s alone
def test_a_point_is_followed_to_the_raw_answer_at_any_width_and_heard(studied: Path, window: Window) -> None:
    """From a bar of a figure to the answers it counts, to a request; search, comparison, download; every page fits and
    axe has nothing serious to say."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page, messages = window.page, window.said
    with serving(studied) as client:
        page.goto(f"{client.base_url}/runs/sim_r/{_first_run(studied)}/")
        page.get_by_role("link", name="Longitudinal", exact=True).first.click()
        page.locator("svg a[href*='value=']").first.click()
        page.get_by_role("link", name="Request and raw answer").first.click()
        assert page.get_by_text("What the model answered").first.is_visible()
        page.locator(".tabs").get_by_role("link", name="Answers").click()
        page.get_by_label("Words in what agents wrote").fill("because")
        page.get_by_role("button", name="Show").click()
        assert page.locator("mark").first.text_content().casefold() == "because"
        with page.expect_download() as taken:
            page.get_by_role("link", name="These answers as CSV").click()
        assert "because" in Path(taken.value.path()).read_text("utf-8").casefold()
        page.locator(".tabs").get_by_role("link", name="Compare").click()
        page.get_by_role("button", name="Compare").click()
        assert page.get_by_role("heading", name="Question by question").is_visible()
        tabs = [page.url, *(each.get_attribute("href") for each in page.locator(".tabs a").all())]
        for tab in tabs:
            page.set_viewport_size(WIDE)
            page.goto(tab if tab.startswith("http") else str(client.base_url.join(tab)))
            assert window.fits(), tab
            page.set_viewport_size(NARROW)
            assert window.fits(), tab
            violations = axe.run(page).response["violations"]
            assert [
                (tab, violation["id"]) for violation in violations if violation["impact"] in ("serious", "critical")
            ] == []
    assert messages == []


def test_a_person_is_interviewed_and_prefers(tmp_path: Path, window: Window) -> None:
    """Begun, answered, seen to grow, ended, by two methodologies; both respondents asked, and one preferred."""
    (tmp_path / "simulations").mkdir()
    page = window.page

    def fill(**answers: str) -> None:
        for name, value in answers.items():
            page.locator(f"{form} [name={name}]").fill(value)
        page.locator(f"{form} [name=synthetic]").check()

    def answer(text: str) -> None:
        page.get_by_role("textbox").fill(text)
        page.get_by_role("button", name="Answer").click()

    def fits_at_any_width() -> None:
        for size in (NARROW, WIDE):
            page.set_viewport_size(size)
            assert window.fits(), page.url

    with serving(tmp_path) as client:
        page.goto(str(client.base_url.join("/interviews")))
        form = "form[action='/interviews/laddering']"
        fill(interview_id="ada", name="Ada", concept="oat_drink")
        page.locator(f"{form} button").click()
        assert page.get_by_text("it grows with the answers").is_visible()
        answer("Mostly the foam in my coffee.")
        assert page.locator("svg .box").count() == 1
        answer("Because it gives me a calm morning.")
        assert page.locator("svg .box").count() == 2
        assert page.locator("svg .link").count() == 1
        fits_at_any_width()
        page.get_by_role("button", name="End the interview").click()
        assert page.get_by_text("The interview is over").is_visible()

        page.get_by_role("link", name="Interviews with persons").first.click()
        form = "form[action='/interviews/discovery']"
        page.locator(f"{form} [name=ds_id]").select_option("warm-up-with-challenges")
        fill(project_id="p", conversation_id="bob", person="Bob")
        page.locator(f"{form} button").click()
        answer("Soup in jars.")
        assert page.locator(".record").get_by_text("Soup in jars").is_visible()
        fits_at_any_width()
        page.get_by_role("button", name="End the interview").click()
        assert page.get_by_text("The interview is over").is_visible()
        page.get_by_role("link", name="Interviews with persons").first.click()
        assert [link.text_content() for link in page.locator(".runs a").all()] == ["Ada", "Bob"]

        page.get_by_role("link", name="Two respondents").click()
        form = "form[action='/comparisons']"
        fill(comparison_id="c", question="Why do you bake?", name="Ann", persona="A baker with one oven")
        page.locator(f"{form} button").click()
        assert page.get_by_text("Response A").first.is_visible()
        page.get_by_label("Why").fill("more concrete")
        page.get_by_role("button", name="B is better").click()
        assert page.get_by_text("Every pair has been preferred in").is_visible()
        page.get_by_role("button", name="Let a model prefer").click()
        assert not page.get_by_role("button", name="Let a model prefer").count()
        fits_at_any_width()
    assert window.said == []


def _first_run(root: Path) -> str:
    return min(path.name for path in (root / "simulations" / "sim_r" / "interviews" / "runs").iterdir())
