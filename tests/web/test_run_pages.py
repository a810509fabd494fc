"""A finished run as its pages show it, in this process: every link leads somewhere, and what a page counts is what the
ledger holds."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import enquete
from enquete.study.run import Run
from tests.support.studies import rows
from tests.web.test_web_pages import browsing


@dataclass
class Site:
    client: TestClient
    run: Run
    other: Run

    def page(self, path: str = "", run: Run | None = None) -> str:
        answer = self.client.get(f"/runs/sim_r/{(run or self.run).run_id}/{path}")
        assert answer.status_code == 200, (path, answer.text[-2000:])
        return answer.text


@pytest.fixture(scope="module")
def site(studied: Path) -> Iterator[Site]:
    with browsing(studied) as client:
        yield Site(
            client,
            *(
                enquete.load_run("sim_r", record.run_id, root=str(studied))
                for record in enquete.list_runs("sim_r", root=str(studied))
            ),
        )


def links(page: str) -> list[str]:
    return list(dict.fromkeys(map(html.unescape, re.findall(r'href="(/runs/[^"]+)"', page))))


def total(page: str) -> int:
    return int(re.search(r"<strong>(\d+) answers?</strong>", page)[1])


def test_every_page_answers_and_its_links_lead_somewhere(site: Site) -> None:
    """Every tab, and of each kind of link on it the first and the last."""
    tabs = [link for link in links(site.page()) if re.search(r"/(m/\w+|(?!delete)[a-z]+)$", link)]
    assert len(tabs) == 9  # two methodologies, synthesis, answers, agents, instruments, health, compare, files
    for tab in tabs:
        kinds: dict[str, list[str]] = {}
        for link in links(site.client.get(tab).text):
            kinds.setdefault(link.split("?")[0].rpartition("/")[0] + str("?" in link), []).append(link)
        for alike in kinds.values():
            for link in {alike[0], alike[-1]}:
                assert site.client.get(link).status_code == 200, (tab, link)


def test_a_bar_leads_to_the_answers_that_it_counts_and_search_finds_what_the_ledger_holds(site: Site) -> None:
    # Against the ledger: how many of the main arm gave this value to this item in this phase.
    bars = [link for link in links(site.page("m/longitudinal")) if "value=" in link]
    for link in bars[:: max(1, len(bars) // 5)]:
        page = site.client.get(link).text
        asked = {name: re.search(rf"[?&]{name}=([^&]+)", link)[1] for name in ("item_id", "phase", "value")}
        counted = rows(
            site.run.folder,
            "SELECT count(*) FROM answers a JOIN occasions o ON a.occasion=o.id WHERE o.arm='main' AND "
            "o.methodology='longitudinal' AND a.item=? AND o.phase=? AND a.value=?",
            asked["item_id"], asked["phase"], float(asked["value"]),
        )  # fmt: skip
        assert total(page) == counted[0][0]
    stored = rows(
        site.run.folder,
        "SELECT a.text FROM answers a JOIN occasions o ON a.occasion=o.id WHERE o.arm='main' AND a.status IN ('ok', "
        "'repaired')",
    )
    texts = [text.casefold() for (text,) in stored]
    word = next(word for text in texts for word in text.split() if len(word) > 6)
    assert total(site.page(f"answers?q={word.upper()}")) == sum(word in text for text in texts) > 0
    assert "No answer is like that" in site.page("answers?q=zzzzzz")
    taken = site.client.get(f"/runs/sim_r/{site.run.run_id}/answers.csv?q={word}").text
    assert len(list(csv.DictReader(io.StringIO(taken)))) == sum(word in text for text in texts)


def test_an_answer_shows_its_request_and_a_turn_the_question_that_this_agent_was_asked(site: Site) -> None:
    listed = site.page("answers?methodology=laddering")
    page = html.unescape(site.client.get(next(link for link in links(listed) if "/answer?" in link)).text)
    (call,) = rows(
        site.run.folder,
        "SELECT c.response, m.text, s.text, c.input_tokens, c.model FROM calls c JOIN texts s ON s.hash=c.system_hash"
        " JOIN texts m ON m.hash=c.messages_hash"
        " WHERE c.methodology='laddering' AND c.purpose='answer' AND c.arm='main' AND c.subject LIKE '%|1|turn'"
        " ORDER BY c.id LIMIT 1",
    )
    response, messages, system, tokens, model = call
    shown = re.sub(r"</?mark>", "", page)
    assert json.dumps(json.loads(response), indent=1, ensure_ascii=False) in shown
    assert all(message["content"] in shown for message in json.loads(messages))
    assert system.replace("\u202e", "\\u202e").replace("\x1b", "\\u001b") in shown
    assert f"{tokens:,} read" in shown
    assert model in shown
    assert "What else was asked of a model in this turn" in shown
    # The codebook knows one wording of a turn, but everybody is asked something else.
    file = site.run.folder.parent.parent / "T1" / "laddering" / site.run.run_id / "transcript.jsonl"
    turns = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    last = next(turn for turn in reversed(turns) if turn["turn"] == 3)
    page = site.page(f"answers?methodology=laddering&participant={last['participant']}&turn=3")
    (link,) = {link for link in links(page) if "/answer?" in link}
    assert f'<p class="question" lang="en">{last["question"]}</p>' in html.unescape(site.client.get(link).text)


def test_an_agent_has_its_persona_its_conversation_with_codes_and_its_graph(site: Site) -> None:
    (who, persona) = rows(site.run.folder, "SELECT id, persona FROM participants ORDER BY position LIMIT 1")[0]
    page = site.page(f"agent?id={who}")
    assert "<img src=x" in persona
    assert "&lt;img src=x onerror=alert(1)&gt; \\u202e\\u001b[31m" in page
    assert "<img" not in page
    file = site.run.folder.parent.parent / "T1" / "laddering" / site.run.run_id / "transcript.jsonl"
    turns = [turn for line in file.read_text("utf-8").splitlines() if (turn := json.loads(line))["participant"] == who]
    text = html.unescape(page)
    assert all(turn["question"] in text and turn["answer"] in text for turn in turns)
    assert len(re.findall(r'<li class="own">', page)) == len(turns)
    assert '<span class="code">' in page
    assert re.search(r'<figure id="f-laddering-own_graph".*?<a href="[^"]+turn=\d+"', page, re.DOTALL)


def test_two_runs_differ_in_as_many_answers_as_in_python_and_one_without_a_report_says_so(
    site: Site, tmp_path: Path
) -> None:
    comparison = enquete.compare(site.run, site.other)
    page = site.page(f"compare?with={site.other.run_id}")
    counts = dict(re.findall(r"<dt>([^<]+)</dt><dd>(\d+)</dd>", page))
    assert counts["Answers in both"] == str(comparison.rows)
    assert counts["Answers that differ"] == str(len(comparison.values))
    assert counts["In this run alone"] == str(comparison.only_first)
    report = site.other.path / "report.md"
    aside = report.rename(tmp_path / "report.md")
    try:
        assert "There is no report yet" in site.page(run=site.other)
        assert site.client.get(f"/runs/sim_r/{site.other.run_id}/synthesis").status_code == 404
    finally:
        aside.rename(report)


@pytest.mark.parametrize(
    "path",
    ["files/../../../state.json", "files/..%2F..%2F..%2Fstate.json",
        "files/longitudinal/T1/..%2F..%2F..%2Flatest.json", "figures/no.svg",
     "m/nothing", "agent?id=nobody", "answer?id=run%2Fmain%2Fa%2FT1%2F%2F0%2F0%2Fp%2Fi", "compare?with=run_1"],
)  # fmt: skip
def test_what_the_run_does_not_have_is_not_there(site: Site, path: str) -> None:
    assert site.client.get(f"/runs/sim_r/{site.run.run_id}/{path}").status_code == 404


def test_files_are_saved_and_pages_speak_the_readers_language(site: Site) -> None:
    answer = site.client.get(f"/runs/sim_r/{site.run.run_id}/files/report.html")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert answer.content == (site.run.path / "report.html").read_bytes()
    page = site.client.get(f"/runs/sim_r/{site.run.run_id}/m/longitudinal", headers={"Accept-Language": "de"}).text
    assert '<html lang="de">' in page
    assert '<section class="report" lang="en">' in page


def test_tables_and_figures_can_be_heard(site: Site) -> None:
    """Heads have a scope; what has links is a group with a title, not an image; the open tab says so; one h1, no level
    left out."""
    for path in ("", "m/longitudinal", "answers", "instruments", "agents", "health"):
        page = site.page(path)
        assert not re.search(r"<th(?! scope=)[ >]", page), path
        assert len(re.findall(r'aria-current="page"', page)) == 1, path
        levels = [int(level) for level in re.findall(r"<h(\d)", page)]
        assert (levels[0], levels.count(1)) == (1, 1), path
        assert all(after <= before + 1 for before, after in pairwise(levels)), (path, levels)
    drawn = re.findall(r"<svg .*?</svg>", site.page("m/longitudinal"), re.DOTALL)
    assert drawn
    assert all('role="group"' in svg and "<title>" in svg and "<desc>" in svg for svg in drawn)
