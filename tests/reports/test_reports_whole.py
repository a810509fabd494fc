"""What a whole run leaves: summary first, health, limitations, codebook, episodes, HTML; with any methodology
missing."""

from __future__ import annotations

import base64
import csv
import hashlib
import html.parser
import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from enquete.analysis.coherence import coherence
from enquete.locale import whole
from enquete.reports.accounts import ACCOUNT, RUN, STATUSES, limits
from enquete.reports.declarations import shaped
from enquete.reports.exports import shortened
from enquete.reports.health import Health
from enquete.reports.health_checks import HealthCheck
from enquete.reports.report import Embedded, page
from enquete.reports.responses import labels_of
from enquete.reports.run_reading import open_run
from enquete.reports.synthesis import load_summary
from enquete.reports.views import Names, Results
from enquete.reports.writing import COLUMN_MEANINGS, COLUMNS, STATUS_MEANINGS
from enquete.runs.run_session import RunSession
from tests.reports.conftest import ALL, SHORT, Made
from tests.support.answer_frames import table
from tests.support.studies import with_ids


def read(made: Made, name: str):
    return json.loads((made.synthesis / name).read_text("utf-8"))


# --- the report ------------------------------------------------------------------------------------------------------


def test_the_report_begins_with_what_was_found_and_ends_with_the_long_lists(full):
    text = (full.synthesis / "report.md").read_text("utf-8")
    heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert heads[:2] == ["Was herauskam", "Sind die Daten verwendbar?"]
    assert heads[-3:] == ["Güte der Befragung", "Grenzen der Aussage", "Wie vorgegangen wurde"]
    assert re.findall(r"^## (.+)$", full.report(), re.MULTILINE)[-1] == "Lauf"
    sections = ["Längsschnitt", "Vielfalt der Sichtweisen", "Delphi", "Szenarien"]
    assert [head for head in heads if head in sections] == sections


def test_the_report_is_filled_in_and_speaks_the_runs_language(full):
    report = full.report()
    assert "baseline reconstructed" not in report
    assert not re.search(r"\| (importance|plausibility) \|", report)
    assert "Wichtigkeit" in report


def test_every_methodology_has_results(full):
    assert set(full.results()) == set(ALL)
    assert load_summary(full.folder)["status"] == "completed"


def test_limitations_follow_from_the_metadata(full):
    appendix = (full.synthesis / "appendix.md").read_text("utf-8")
    report = full.report().split("## Grenzen der Aussage", 1)[1] + appendix
    n = whole(len(full.table()), "de")
    for sentence in (
        "Die Befragten sind simuliert",
        "Gemessen wird, was im synthetischen Befragten hinterlegt ist",
        "Der Erinnerungsauszug ist verlustbehaftet",
        "Sprachmodelle neigen zur Zustimmung und zur Mitte",
        "die Verteilungsform jeder Frage steht in health.json",
        f"N = 12 Agenten, {n} von {n} geplanten Antworten liegen vor.",
        "T0 ist rekonstruiert",
        "Was fehlschlug, repariert oder rekonstruiert wurde",
    ):
        assert sentence in report, sentence
    for used in json.loads((full.folder / "instruments_used.json").read_text("utf-8"))["instruments"].values():
        assert used["hash"][:12] in report


@pytest.mark.parametrize(
    ("run", "begins", "ends"),
    [
        ("crowd", "Agents were compared with one another on a part of them, drawn in the same way in every run: the "
         "number of types", "on 300 of 304 agents."),
        ("full", "Agenten wurden nur zum Teil miteinander verglichen, in jedem Lauf gleich gezogen: die Zahl der "
         "Typen", "an 300 von 304 Agenten."),
    ],
)  # fmt: skip
def test_limitations_name_what_was_sampled_and_of_how_many(run, begins, ends, request):
    """304 agents: types are sought among 300; coherence looks at all of them."""
    answers = table(np.random.default_rng(1).integers(1, 6, (304, 12)), types=[f"t{i % 4}" for i in range(304)])
    checks = (HealthCheck("diversity", "T1", coherence(answers)),)
    made = request.getfixturevalue(run)
    assert made.results()["diversity"]["n"] == (12 if run == "full" else 24)
    with open_run(made.folder) as reading:
        rows = limits(reading, made.table(), {"diversity": {"n": 304}}, Health(checks), partial=False)
        told = Results(ACCOUNT, RUN, shaped(RUN, {"limits": rows}, {}), Names(), reading.language)
    lines = "\n".join(told.table("limits", place) for place in ("section", "appendix")).split("\n- ")
    (sampled,) = (line.strip() for line in lines if "300 " in line)
    assert sampled.startswith(begins)
    assert sampled.endswith(ends)
    assert not {"Coherence", "Kohärenz"} & set(re.findall(r"\w+", sampled))


def test_the_shape_of_every_closed_item_is_in_health(full):
    rows = full.table()
    closed = rows[rows["scale_min"].notna()].drop_duplicates(["methodology", "phase", "round", "item_id"])
    shapes = read(full, "health.json")["shapes"]
    assert len(shapes) == len(closed)


def test_flags_are_sentences_in_the_runs_language(full):
    flags = load_summary(full.folder)["flags"]
    assert any(flag.startswith("Längsschnitt: Zwischen T0") for flag in flags)
    assert not any(flag.startswith(("longitudinal:", "diversity:", "delphi:")) for flag in flags)


# --- whatever is missing ---------------------------------------------------------------------------------------------


def test_the_synthesis_works_without_most_methodologies(whole):
    """Each of them in turn: below. Of seven agents in groups of fewer than five nothing between methodologies is
    tested."""
    assert load_summary(whole.folder)["status"] == "completed"
    assert read(whole, "page_one.json")["across"] == []


@pytest.mark.parametrize("failed", [sorted(ALL)[::2], pytest.param(sorted(ALL)[1::2], marks=pytest.mark.soak)])
def test_the_synthesis_works_where_methodologies_failed_before_a_question(make, personas, failed):
    """Each of them once, every second in a run."""

    async def fail(run_session: RunSession) -> None:
        for name in failed:
            await run_session.ledger.set_stage(name, "T1", "failed", "round 1")

    reached = [(name, "T1") for name in ALL if name not in failed]
    made = make(**personas(2), methods=list(ALL), available=ALL, stages=reached, prepare=fail, settings=SHORT)
    assert load_summary(made.folder)["status"] == "failed"
    assert not set(failed) & {finding["methodology"] for finding in read(made, "page_one.json")["findings"]}
    assert made.report().count("(T1): fehlgeschlagen. round 1") >= len(failed)


def test_a_partial_run_gives_a_partial_report(make, personas):
    made = make(**personas(4), methods=list(ALL), available=ALL, agents=[1, 3], partial=True, settings=SHORT)
    assert "Zwischenstand" in made.report()
    assert not (made.interviews / "latest.json").exists()
    assert (load_summary(made.folder)["partial"], load_summary(made.folder)["status"]) == (True, "started")
    verdicts = {diagnostic["name"]: diagnostic["verdict"] for diagnostic in read(made, "health.json")["diagnostics"]}
    assert verdicts["unrevised"] == "not computed"


def test_one_agent_gives_a_report_without_claims_or_nan(make, personas):
    made = make(**personas(1), methods=list(ALL), available=ALL, settings=SHORT)
    assert {finding["kind"] for finding in read(made, "page_one.json")["findings"]} <= {"position"}
    assert "Noch lässt sich nichts sagen" in made.report()
    for path in made.interviews.rglob("*.json"):
        json.loads(path.read_text("utf-8"), parse_constant=pytest.fail)


# --- codebook --------------------------------------------------------------------------------------------------------


def test_every_column_of_the_table_is_in_the_codebook_and_vice_versa(full):
    with (full.synthesis / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        header = next(csv.reader(file))
    (table,) = (
        resource for resource in read(full, "exports/codebook.json")["resources"] if resource["name"] == "all_responses"
    )
    assert [column["name"] for column in table["schema"]["fields"]] == header
    assert all(column["description"] for column in table["schema"]["fields"])
    assert set(COLUMNS) <= COLUMN_MEANINGS.keys()


def test_every_item_of_the_table_is_in_the_codebook_and_vice_versa(full):
    with (full.synthesis / "exports" / "all_responses.csv").open(encoding="utf-8", newline="") as file:
        asked = {(row["methodology"], row["item_id"]): row for row in csv.DictReader(file)}
    book = read(full, "exports/codebook.json")
    items = {(item["methodology"], item["item_id"]): item for item in book["items"]}
    assert items.keys() == asked.keys()
    assert len(book["items"]) == len(items)
    for key, item in items.items():
        assert item["wording"].keys() == {"de", "en"}, key
        scale = item["scale"] or {"min": "", "max": ""}
        assert (str(scale["min"]), str(scale["max"])) == (asked[key]["scale_min"], asked[key]["scale_max"])
        assert item["reverse_keyed"] == (asked[key]["reverse_keyed"] == "true")
        assert item["instrument_hash"] == asked[key]["instrument_hash"]
        if item["scale"]:
            assert {str(scale["min"]), str(scale["max"])} <= item["scale"]["labels"]["de"].keys()


def test_every_status_is_explained_and_missing_ones_are_marked(full):
    book = read(full, "exports/codebook.json")
    assert {status["status"] for status in book["statuses"]} == set(STATUSES) == STATUS_MEANINGS.keys()
    assert [s["status"] for s in book["statuses"] if s["missing"]] == ["refused", "invalid", "failed", "not_reached"]
    assert book["languages"] == ["de", "en"]
    assert len(book["population_hash"]) > 16


def test_the_codebook_can_be_read_as_markdown(full):
    text = (full.synthesis / "exports" / "codebook.md").read_text("utf-8")
    for column in COLUMNS:
        assert f"| `{column}` |" in text
    for item in read(full, "exports/codebook.json")["items"]:
        assert f"| `{item['item_id']}` |" in text


def test_labels_are_found_wherever_an_instrument_keeps_them():
    content = {
        "families": {"stock": {"label": {"de": "Bestand"}}},
        "scenarios": [{"scenario_id": "calm", "label": {"de": "Ruhe"}}],
    }
    assert labels_of(content) == {"stock": {"de": "Bestand"}, "calm": {"de": "Ruhe"}}


# --- episodes --------------------------------------------------------------------------------------------------------


def test_there_is_one_episode_per_agent_and_stage_and_one_for_all(full):
    lines = (full.synthesis / "exports" / "episodes.jsonl").read_text("utf-8").splitlines()
    episodes = [json.loads(line) for line in lines]
    stages = {(e["methodology"], e["phase"]) for e in episodes}
    assert stages == {("longitudinal", "T0"), *((name, "T1") for name in ALL)}
    for method, phase in stages:
        of_phase = [
            e for e in episodes if (e["methodology"], e["phase"]) == (method, phase) and e["kind"] != "aggregate"
        ]
        assert len({e["participant"] for e in of_phase}) == len(of_phase) == 13
        assert of_phase[-1]["participant"] is None
        assert of_phase[-1]["text"].startswith(f"Alle Agenten (interview/{method}/{phase}): 12 von 12 Agenten")
    assert len({e["id"] for e in episodes}) == len(episodes)
    assert all(e["complete"] for e in episodes)
    gathered = [e["text"].split("): ")[1].split()[0] for e in episodes if e["kind"] == "aggregate"]
    assert {"Typ", "Thema", "Szenario"} == set(gathered)


def test_an_episode_is_made_of_the_agents_own_answers(full):
    table = with_ids(full.table()).set_index("answer_id")
    lines = (full.synthesis / "exports" / "episodes.jsonl").read_text("utf-8").splitlines()
    for episode in map(json.loads, lines):
        assert bool(episode["answer_ids"]) == (episode["kind"] != "aggregate")
        if episode["kind"] == "aggregate":
            continue
        rows = table.loc[episode["answer_ids"]]
        assert set(rows["methodology"]) == {episode["methodology"]}
        if episode["participant"]:
            assert set(rows["participant"]) == {episode["participant"]}
            name = rows["agent_name"].iloc[0]
            head = f"Agent {name} (interview/{episode['methodology']}/{episode['phase']}): "
            assert episode["text"].startswith(head)
            assert len(episode["text"]) > len(head) + 20


def test_long_words_are_cut_after_a_sentence():
    assert shortened("Kurz. " + "Lang " * 60 + ".") == "Kurz."
    assert shortened("wort " * 100).endswith(" …")


# --- HTML ------------------------------------------------------------------------------------------------------------


class Elements(html.parser.HTMLParser):
    """Opening and closing tags, ids and links of a page."""

    VOID = frozenset({"meta", "br", "hr", "img", "link"})

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.addresses: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in ("href", "src")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_html_report_is_one_file_that_needs_nothing_else(full):
    text = (full.synthesis / "report.html").read_text("utf-8")
    elements = Elements(text)
    assert elements.open == []
    assert elements.seen.count("h1") == 1
    items = full.table()[lambda rows: rows["arm_role"].eq("main")].groupby(["methodology", "item_id"]).ngroups
    of_agents = len(re.findall(r'id="a-[\w-]+-of-\w{8}"', text))
    assert of_agents  # points of a figure that stand for agents lead to these
    assert (
        elements.seen.count("table") == len(re.findall(r"^\| ?-|^\|-", full.report(), re.MULTILINE)) + items + of_agents
    )
    assert all(address.startswith("#") for address in elements.addresses)
    ids = set(re.findall(r'id="([^"]+)"', text))
    assert {address[1:] for address in elements.addresses if address} <= ids  # every link leads somewhere
    assert "@media print" in text
    assert '<html lang="de">' in text


def test_html_in_answers_stays_text():
    row = {"arm_role": "main", "status": "ok", "methodology": "m", "item_id": "a", "participant": "agent:eve",
           "agent_name": "<b>Eve</b>", "phase": "T1", "stakeholder_type": "<i>x",
           "round": 0, "value": 2.0, "chosen": "", "text": "<img src=x onerror=alert(1)>"}  # fmt: skip
    text = page(
        "# <b>x</b>\n\n<script>alert(1)</script>\n\n## y & <i>\n",
        "# a",
        [],
        Embedded(pd.DataFrame([row]), [], {}, "en"),
        "en",
    )
    elements = Elements(text)
    assert not {"b", "i", "img"} & set(elements.seen)
    assert elements.seen.count("script") == 1  # our own
    [script] = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    named = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"default-src 'none'; script-src 'sha256-{named}'; style-src" in text  # and no other runs
    assert "&lt;script&gt;" in text


def test_the_audit_of_the_synthesis_is_there_only_if_it_made_a_call(full):
    assert not (full.synthesis / "audit.jsonl").exists()
    assert Path(full.synthesis / "report.html").is_file()
