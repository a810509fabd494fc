"""A draft that a model writes, over real HTTP: sources are real, items are checked, German and English compared,
nothing paid twice."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from enquete.instruments.load import load_own
from enquete.instruments.text import texts_of
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.simulations.discourse import posts
from enquete.simulations.population import load_population
from enquete.state.errors import SettingsError
from enquete.study.drafts import Drafting, Drafts
from tests.support import drafter
from tests.support.drafter import BROKEN, DOUBTED, MENDED, THEMES, Drafter
from tests.support.model_server import ModelServer
from tests.support.studies import spent

BANK = Path(__file__).parents[1] / "data" / "sim_683e8059ab27"


@dataclass
class Made:
    drafts: Drafts
    asked: list[str]
    server: ModelServer
    likely: int


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Made]:
    script = Drafter()
    with ModelServer(script=script) as server:
        drafting = Drafting(
            BANK, into=tmp_path_factory.mktemp("drafts") / "bank", model="able", base_url=server.base_url
        )
        likely = drafting.expected().tokens
        yield Made(drafting.make(), script.asked, server, likely)


def _text(made: Made, file: str) -> str:
    return (made.drafts.folder / file).read_text("utf-8")


def test_topic_and_themes_are_in_both_languages_and_what_nobody_wrote_is_no_theme(made: Made) -> None:
    survey, _notes = load_own(LongitudinalInstrument, made.drafts.folder / "longitudinal.yaml")
    assert made.drafts.themes == list(THEMES)  # without space tourism, of which no post speaks
    assert survey.topic.model_dump() == drafter.TOPIC
    families = {family.label.en: family.label.de for name, family in survey.families.items() if name != "plan"}
    assert families == dict(list(THEMES.items())[:3])
    assert survey.languages == ("de", "en")
    assert all(text.has("de") and text.has("en") for _, text in texts_of(survey))


def test_every_source_is_a_post_that_is_there(made: Made) -> None:
    written = {post.source for post in posts(load_population(BANK))}
    named = [
        source
        for file in made.drafts.files
        for source in re.findall(r"\w+/actions\.jsonl:\d+", file.read_text("utf-8"))
    ]
    assert named
    assert set(named) <= written


def test_statements_are_word_for_word_and_translated_and_the_concourse_says_who_left_the_rest(made: Made) -> None:
    written = posts(load_population(BANK))
    sort, _ = load_own(DiversityInstrument, made.drafts.folder / "diversity.yaml")
    assert (
        18 <= len(sort.statements) <= 24
    )  # it chose 24 and 9999, which is none; translations that differ are left out
    for statement in sort.statements:
        assert any(statement.label.en[1:] in post.text for post in written)
        assert statement.label.de
        assert statement.label.de.startswith("Das wurde hier")
    with (made.drafts.folder / "concourse.csv").open(encoding="utf-8", newline="") as stream:
        assert "not chosen by able" in {row["left_out"] for row in csv.DictReader(stream)}


def test_a_bad_item_is_asked_once_more_and_then_dropped_and_named(made: Made) -> None:
    text = _text(made, "longitudinal.yaml")
    assert "honest" not in text
    assert "cheat" not in text
    survey, _ = load_own(LongitudinalInstrument, made.drafts.folder / "longitudinal.yaml")
    assert len(survey.items) == 16
    assert sum(item.reverse_coded for item in survey.items) == 8
    before = {name: _above(text, name) for name in (MENDED, BROKEN)}
    assert "written by able" in before[MENDED]
    assert "(en): is vague (“often”)" in before[BROKEN]
    assert "what able wrote was dropped" in before[BROKEN]
    told = [finding["en"] for finding in made.drafts.findings["able"]]
    assert sum(f"longitudinal/{BROKEN}: what the model wrote is not used" in told_text for told_text in told) == 1
    assert not any(MENDED in told_text for told_text in told)


def test_a_translation_that_does_not_come_back_is_named(made: Made) -> None:
    text = _text(made, "longitudinal.yaml")
    assert "CHECK, translated back: “The press is suspicious of whoever rules.”" in _above(text, DOUBTED)
    assert text.count("CHECK") == 1
    told = [finding["de"] for finding in made.drafts.findings["able"]]
    assert any(told_text.startswith(f"longitudinal/{DOUBTED}: Deutsch und Englisch") for told_text in told)


def test_every_request_is_filed_and_none_is_paid_twice(made: Made, tmp_path: Path) -> None:
    assert made.drafts.tokens == spent(made.drafts.folder) == made.server.tokens
    assert made.likely / 2 < made.drafts.tokens < made.likely * 2
    asked, again = len(made.asked), tmp_path / "again"
    again.mkdir()
    (again / "ledger.sqlite").write_bytes((made.drafts.folder / "ledger.sqlite").read_bytes())
    repeated = Drafting(BANK, into=again, model="able", base_url=made.server.base_url).make()
    assert len(made.asked) == asked  # as after a kill before anything was written
    assert (again / "roundtable.yaml").read_text("utf-8") == _text(made, "roundtable.yaml")
    assert repeated.findings == made.drafts.findings


def test_a_model_that_says_nothing_usable_leaves_the_rules_draft(tmp_path: Path) -> None:
    with ModelServer(script=lambda body: "I would rather not.") as server:
        drafts = Drafting(BANK, into=tmp_path / "d", model="mute", base_url=server.base_url).make()
    told = [finding["en"] for finding in drafts.findings["mute"]]
    assert [text.partition(":")[0] for text in told[:2]] == ["themes", "statements"]
    survey, _ = load_own(LongitudinalInstrument, tmp_path / "d" / "longitudinal.yaml")
    assert len(survey.items) == 16


def test_a_cap_that_is_too_small_stops_it_and_writes_no_draft(tmp_path: Path) -> None:
    with ModelServer(script=Drafter()) as server:
        drafting = Drafting(BANK, into=tmp_path / "d", model="able", base_url=server.base_url, budget_tokens=100)
        with pytest.raises(SettingsError, match=r"the draft stopped: its budget is used up \(--budget-tokens\)"):
            drafting.make()
        assert server.count() == 0
    assert not list((tmp_path / "d").glob("*.yaml"))


def test_who_has_no_server_for_it_is_told_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="neither a key"):
        Drafting(BANK, into=tmp_path / "d", model="able")
    assert not (tmp_path / "d").exists()


def _above(text: str, item: str) -> str:
    """The comment above an item."""
    lines = text.splitlines()
    return lines[next(place for place, line in enumerate(lines) if line.endswith(f"item_id: {item}")) - 1]
