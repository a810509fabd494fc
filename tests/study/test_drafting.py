"""Drafts from a real simulation: they load, say where they are from, cover who spoke, and are drafts until somebody
says otherwise."""

from __future__ import annotations

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from enquete.instruments.load import load_layer, load_own
from enquete.methods.discovery.schema import load_schema
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.laddering.settings import Concept
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.registry import dotted_paths
from enquete.runs.fit import is_elsewhere
from enquete.runs.instrument_pins import drafts_named, is_draft, pin_instruments
from enquete.simulations.discourse import posts
from enquete.simulations.population import load_population
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest
from enquete.study.drafts import Drafts, accept_drafts, draft_instruments

BANK = Path(__file__).parents[1] / "data" / "sim_683e8059ab27"


@pytest.fixture(scope="module")
def drafts(tmp_path_factory: pytest.TempPathFactory) -> Drafts:
    return draft_instruments(BANK, into=tmp_path_factory.mktemp("drafts") / "bank")


def test_every_file_loads_and_fits_the_simulation(drafts: Drafts) -> None:
    assert {file.name for file in drafts.files} == {
        "longitudinal.yaml", "diversity.yaml", "delphi.yaml", "scenario.yaml",
        "concept.yaml", "concourse.csv", "schema.yaml", "roundtable.yaml",
    }  # fmt: skip
    methods = {name: dotted for name, dotted in dotted_paths().items() if (drafts.folder / f"{name}.yaml").exists()}
    files = {name: str(drafts.folder / f"{name}.yaml") for name in methods}
    used, _ = pin_instruments(RunRequest(instruments=dict(files)), methods, "en")
    assert used.keys() == files.keys()
    assert load_layer(Concept, "concepts", str(drafts.folder / "concept.yaml")).elements
    assert load_schema(str(drafts.folder / "schema.yaml")).questions == 10
    layer = {"discovery": {"ds": str(drafts.folder / "schema.yaml")}}
    (notice,) = drafts_named(RunRequest(instruments=dict(files), settings=layer), "en")
    assert notice.startswith("drafts as they were written")
    assert notice.count(".yaml") == 6
    on_server = {"discovery": {"ds": "bank/schema"}}
    asked = RunRequest(instruments={"delphi": "bank/delphi"}, settings=on_server, own_folder=str(drafts.folder.parent))
    assert drafts_named(asked, "en")[0].count(".yaml") == 2
    survey, _ = load_own(LongitudinalInstrument, Path(files["longitudinal"]))
    assert not is_elsewhere(survey, "en", "halcourt bank has announced changes to its cashback programme")


def test_the_questionnaire_is_balanced_and_reads_well(drafts: Drafts) -> None:
    survey, _ = load_own(LongitudinalInstrument, drafts.folder / "longitudinal.yaml")
    keyed = Counter((item.family, item.reverse_coded) for item in survey.items)
    assert list(keyed.values()) == [2] * 8  # three themes and the plan, two items each way
    assert (
        len({item.item_id.partition("_")[2] for item in survey.items}) == 8
    )  # four the same on every theme, four on the plan
    assert drafts.findings["longitudinal.yaml"] == []


def test_a_question_of_days_gets_a_future_of_days(drafts: Drafts) -> None:
    assert (drafts.folder / "scenario.yaml").read_text("utf-8").count("In 14 days") == 4
    for file in drafts.folder.glob("*.yaml"):
        assert not re.search(r"five years|fünf Jahre", file.read_text("utf-8")), file.name
    assert "rule" not in drafts.findings  # they have written enough


def test_by_rule_it_says_in_which_language_topic_and_themes_are(drafts: Drafts) -> None:
    text = (drafts.folder / "roundtable.yaml").read_text("utf-8")
    assert "# Topic and themes are in English, the language of the texts" in text
    assert re.search(r"^topic: \{en: [^}]+\}$", text, re.MULTILINE)
    assert drafts.findings["scenario.yaml"][0]["en"] == "s1.label: is missing in German"
    assert drafts.findings["roundtable.yaml"] == []


def test_statements_are_sentences_that_agents_wrote_and_every_speaker_with_a_position_is_heard(drafts: Drafts) -> None:
    written = posts(load_population(BANK))
    sort, _ = load_own(DiversityInstrument, drafts.folder / "diversity.yaml")
    assert 18 <= len(sort.statements) <= 36
    text = (drafts.folder / "diversity.yaml").read_text("utf-8")
    sources = re.findall(r"# from: (.+?) \((.+?)\), (.+?); (?:no )?theme", text)
    for statement, (name, kind, source) in zip(sort.statements, sources, strict=True):
        (post,) = [post for post in written if post.source == source]
        assert (post.name, post.kind) == (name, kind)
        assert statement.label.en[1:] in post.text  # “While …,” before it is gone, with the small letter after it
    unheard = {post.name for post in written} - {name for name, _, _ in sources}
    with (drafts.folder / "concourse.csv").open(encoding="utf-8", newline="") as stream:
        shared_out = {row["agent"] for row in csv.DictReader(stream) if row["left_out"] == "its theme has its share"}
    assert unheard == {"Halcourt", "Halcourt Bank"}  # the bank says what it does and has, and judges nothing
    assert not unheard & shared_out


def test_a_word_before_others_is_no_theme_and_a_speaker_alone_no_statement(drafts: Drafts) -> None:
    assert "regulatory" not in drafts.themes  # mostly right before another word; “regulatory standards” is one
    sort, _ = load_own(DiversityInstrument, drafts.folder / "diversity.yaml")
    assert not [
        statement for statement in sort.statements if re.search(r"\b(we|our|us|I)\b", statement.label.in_("en"))
    ]


def test_the_concourse_says_what_became_of_every_sentence(drafts: Drafts) -> None:
    with (drafts.folder / "concourse.csv").open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert 18 <= sum(row["chosen"] == "yes" for row in rows) <= 36
    assert {row["theme"] for row in rows} <= {"", *drafts.themes}
    assert all(bool(row["chosen"]) != bool(row["left_out"]) for row in rows)
    assert {"what an organisation says it does", "a question, quotation, link or tag"} <= {
        row["left_out"] for row in rows
    }


def test_a_draft_is_one_until_it_is_edited_or_accepted(drafts: Drafts, tmp_path: Path) -> None:
    copies = {}
    for file in (*drafts.files, drafts.folder / "drafts.json"):
        copies[file.name] = tmp_path / file.name
        copies[file.name].write_bytes(file.read_bytes())
    assert is_draft(copies["delphi.yaml"])
    copies["delphi.yaml"].write_text(copies["delphi.yaml"].read_text("utf-8") + "# read\n", "utf-8")
    assert not is_draft(copies["delphi.yaml"])
    assert is_draft(copies["scenario.yaml"])
    assert "scenario.yaml" in accept_drafts(tmp_path)
    assert not is_draft(copies["scenario.yaml"])
    with pytest.raises(SettingsError, match="there are no drafts to accept"):
        accept_drafts(tmp_path)


def test_nothing_is_written_over_and_nothing_drafted_from_nothing(drafts: Drafts, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is there already"):
        draft_instruments(BANK, into=drafts.folder)
    alone = tmp_path / "alone.csv"
    alone.write_text("name,persona\nAnn,Plants oaks.\nBob,Mends clocks.\n", "utf-8")
    with pytest.raises(SettingsError, match=r"2 descriptions hold 0 themes .* a draft needs 2\. Name them: --theme"):
        draft_instruments(alone)
    with pytest.raises(SettingsError, match="name it in one language"):
        draft_instruments(alone, themes=[" = "])
    assert list(tmp_path.iterdir()) == [alone]
