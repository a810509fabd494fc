"""Drafts where nobody has written anything: from how those asked are described, in German and English, with a horizon
that fits, and with a word on what such a draft cannot know."""

from __future__ import annotations

import csv
import re
import shutil
from pathlib import Path

import pytest

from enquete.instruments.instrument import Instrument
from enquete.instruments.load import load_layer, load_own
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.diversity.instrument import DiversityInstrument
from enquete.methods.laddering.settings import Concept
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.roundtable.instrument import RoundtableInstrument
from enquete.methods.scenario.instrument import ScenarioInstrument
from enquete.state.errors import SimulationError
from enquete.study.drafts import Drafting, Drafts, draft_instruments
from tests.support.drafter import Drafter
from tests.support.model_server import ModelServer

DATA = Path(__file__).parents[1] / "data"
HARBOUR = (
    ("Ann Reed", "Fisher", "Ann Reed runs two trawlers. She believes that catch quotas are set by people who have "
     "never been at sea, and fears that the harbour will turn into a museum."),
    ("Ben Cole", "Scientist", "Ben Cole counts herring for a living. He is convinced that catch quotas come too late "
     "and warns that one warm winter will empty the bay."),
    ("Cleo Park", "Trader", "I sell fish on the quay. I think that tourists pay for the harbour. I am afraid that "
     "rents will drive the last boats away. My sister says that her landlord is worse."),
    ("Dan Fox", "Mayor", "Dan Fox is mayor. He says that the harbour needs visitors more than boats. “A town can live "
     "on work as well as on fish.”"),
)  # fmt: skip
THEMES = ["Fangquoten = catch quotas", "Hafen = the harbour"]
LOADED: dict[str, type[Instrument]] = {
    "longitudinal": LongitudinalInstrument, "diversity": DiversityInstrument, "delphi": DelphiInstrument,
    "scenario": ScenarioInstrument, "roundtable": RoundtableInstrument,
}  # fmt: skip


@pytest.fixture(scope="module")
def harbour(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("personas") / "harbour.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("name", "type", "persona"), *HARBOUR])
    return path


def text_of(drafts: Drafts, name: str) -> str:
    return (drafts.folder / f"{name}.yaml").read_text("utf-8")


@pytest.fixture(scope="module")
def by_rule(harbour: Path) -> Drafts:
    return draft_instruments(harbour, into=harbour.parent / "rule")


def test_everything_loads_and_says_what_such_a_draft_cannot_know(by_rule: Drafts) -> None:
    assert by_rule.themes == ["catch quotas", "the harbour", "boats", "fish"]
    for name, model in LOADED.items():
        load_own(model, by_rule.folder / f"{name}.yaml")
    assert load_layer(Concept, "concepts", str(by_rule.folder / "concept.yaml")).elements
    for file in by_rule.folder.glob("*.yaml"):
        assert "# CHECK themes: come from how 4 agents are described, who have written nothing yet" in file.read_text()
    (limits,) = by_rule.findings["rule"]
    assert limits["de"].startswith("themes: stammen daraus, wie 4 Agenten beschrieben sind")
    assert [finding["en"] for finding in by_rule.findings["longitudinal.yaml"]] == []


def test_statements_are_what_descriptions_say_that_agents_think_then_claims_on_the_themes(by_rule: Drafts) -> None:
    sort, _ = load_own(DiversityInstrument, by_rule.folder / "diversity.yaml")
    labels = [statement.label.in_("en") for statement in sort.statements]
    assert labels[:7] == [
        "Catch quotas are set by people who have never been at sea.",
        "The harbour will turn into a museum.",
        "Catch quotas come too late.",
        "One warm winter will empty the bay.",
        "Tourists pay for the harbour.",
        "Rents will drive the last boats away.",
        "The harbour needs visitors more than boats.",
    ]  # not what somebody's sister says of her landlord
    assert len(labels) == len(set(labels)) == 18
    assert "# from: Ann Reed (Fisher), persona of Ann Reed; theme “catch quotas”" in text_of(by_rule, "diversity")
    assert labels[-1].endswith(".")
    assert not any("“" in label for label in labels)


def test_themes_named_in_both_languages_make_a_draft_in_both_without_a_model(harbour: Path) -> None:
    drafts = draft_instruments(
        harbour, into=harbour.parent / "named", topic="Der Hafen bis 2040 = The harbour by 2040", themes=THEMES
    )
    for name in ("longitudinal", "delphi", "scenario", "roundtable"):
        instrument, _ = load_own(LOADED[name], drafts.folder / f"{name}.yaml")
        assert instrument.languages == ("de", "en"), name
        assert drafts.findings[f"{name}.yaml"] == [], name
    futures, _ = load_own(ScenarioInstrument, drafts.folder / "scenario.yaml")
    assert futures.scenarios[1].description.model_dump() == {
        "de": "Im Jahr 2040: Beim Thema Fangquoten ist die Lage besser als heute. Beim Thema Hafen ist sie schlechter.",
        "en": "In 2040: when it comes to catch quotas, things are better than today. When it comes to the harbour, "
        "they are worse.",
    }
    assert "decisive until 2040?" in text_of(drafts, "delphi")
    assert "das Vorhaben" not in text_of(drafts, "longitudinal")  # nothing is planned


def test_german_descriptions_keep_their_verbs_last(tmp_path: Path) -> None:
    """A simulation that has not begun: T0 is when a questionnaire is wanted."""
    sim = tmp_path / "sim_ward"
    shutil.copytree(
        DATA / "sim_5ad1e6c0b742",
        sim,
        ignore=lambda _, names: {n for n in names if n in ("reddit", "twitter") or n.endswith(".db")},
    )
    drafts = draft_instruments(sim, into=tmp_path / "d")
    sort, _ = load_own(DiversityInstrument, drafts.folder / "diversity.yaml")
    labels = [statement.label.in_("de") for statement in sort.statements]
    assert labels[:3] == [
        "Ich halte die Schließung für falsch.",
        "Ich finde, dass dreihundert Geburten im Jahr für ein sicheres Team nicht reichen.",
        "Ich finde, dass weniger und größere Häuser besser behandeln.",
    ]
    assert "In sechs Tagen: Das Vorhaben läuft." in text_of(drafts, "scenario")
    assert "in den nächsten sechs Tagen den Ausschlag geben?" in text_of(drafts, "delphi")


def test_a_question_of_days_gets_a_future_of_days(tmp_path: Path) -> None:
    drafts = draft_instruments(DATA / "sim_5ad1e6c0b742", into=tmp_path / "d")
    assert text_of(drafts, "scenario").count("In sechs Tagen") == 4
    for file in drafts.folder.glob("*.yaml"):
        assert not re.search(r"five years|fünf Jahre", file.read_text("utf-8")), file.name
    assert "rule" not in drafts.findings  # they have written enough


def test_a_model_writes_for_those_described(harbour: Path, tmp_path: Path) -> None:
    """In both languages, on the themes that were named; what agents are described to think is translated."""
    script = Drafter({"catch quotas": "Fangquoten", "the harbour": "Hafen"}, {"de": "Der Hafen", "en": "The harbour"})
    with ModelServer(script=script) as server:
        drafting = Drafting(
            harbour, into=tmp_path / "d", model="able", base_url=server.base_url, topic="The harbour",
            themes=["catch quotas", "the harbour"],
        )  # fmt: skip
        made = drafting.make()
        prompts = [request.body["messages"][-1]["content"] for request in server.requests]
    assert made.themes == ["catch quotas", "the harbour"]
    survey, _ = load_own(LongitudinalInstrument, made.folder / "longitudinal.yaml")
    assert survey.languages == ("de", "en")
    assert "Those asked have written nothing yet; this is how they are described:" in prompts[0]
    assert "exactly these, in this order and translated: catch quotas; the harbour." in prompts[0]
    assert any("written for stakeholders who are described so" in prompt for prompt in prompts)
    sort, _ = load_own(DiversityInstrument, made.folder / "diversity.yaml")
    claims = [statement for statement in sort.statements if not statement.statement_id.startswith("s0")]
    assert claims
    assert all(claim.label.has("de") and claim.label.has("en") for claim in claims)
    assert "written by able" in text_of(made, "diversity")
    assert any(
        finding["en"].startswith("themes: come from how 4 agents are described") for finding in made.findings["able"]
    )


def test_rows_that_are_no_people_are_refused_until_they_are_to_be_left_out(tmp_path: Path) -> None:
    """As by a run: a total below the people is nobody's description."""
    people = tmp_path / "people.csv"
    with people.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("name", "type", "persona"), *HARBOUR, ("Total", "", "4")])
    with pytest.raises(SimulationError, match="--skip-non-people"):
        draft_instruments(people, into=tmp_path / "refused")
    drafts = draft_instruments(people, into=tmp_path / "drafts", themes=THEMES, skip_non_people=True)
    assert "Total" not in text_of(drafts, "diversity")
