"""Whether questions and population are about the same: every demo with every pack, real simulations, a language nobody
chose."""

from __future__ import annotations

from pathlib import Path

import pytest

import enquete
from enquete.demo import demo_population
from enquete.methods.registry import dotted_paths
from enquete.runs.fit import stems, told
from enquete.runs.run_choice import choose_run
from enquete.state.errors import Unfit
from enquete.state.request import RunRequest
from enquete.state.settings import Environment

pytestmark = pytest.mark.usefixtures("no_figures")

DATA = Path(__file__).parents[1] / "data"
BANK = DATA / "sim_683e8059ab27"


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("fit")
    return {pack: demo_population(base / pack, completed=False, pack=pack) for pack in ("fisheries", "high_street")}


def unfit(sim: Path, tmp_path: Path, **asked: object) -> list[str]:
    request = RunRequest(sim=str(sim), out=str(tmp_path / "o"), **asked)  # type: ignore[arg-type]
    choice, _ = choose_run(request, Environment.read(), dotted_paths())
    return told(choice.record.fit, "en") if choice.record.fit else []


def test_a_pack_fits_its_own_demo_and_no_other_one(demos: dict[str, Path], tmp_path: Path) -> None:
    for name, sim in demos.items():
        for pack in demos:
            assert bool(unfit(sim, tmp_path, pack=pack)) is (name != pack), (name, pack)


def test_a_bank_is_not_asked_about_something_else_in_silence_but_on_its_topic(tmp_path: Path) -> None:
    (topic,) = unfit(BANK, tmp_path)  # the language is the simulation's own, where nobody chose one
    assert "nothing of that occurs in the simulation, which is about “Halcourt Bank" in topic
    assert topic.endswith("with Regulator, Bank, Executive, Customer.")
    assert len(unfit(BANK, tmp_path, language="de")) == 1  # a language that was chosen is meant
    file = DATA / "instruments" / "longitudinal_v1.yaml"  # its title says nothing; the items share "bank"
    assert unfit(BANK, tmp_path, instruments={"longitudinal": str(file)}, language="en") == []
    assert unfit(BANK, tmp_path, methods=["poll"], language="en") == []  # general questions suit any topic


def test_the_language_is_the_simulations_own_unless_one_is_chosen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bank's posts are English, its personas too. A file of one's own that is German alone is asked in German, and
    the check says that the two differ."""

    def language(**asked: object) -> str:
        request = RunRequest(sim=str(BANK), out=str(tmp_path / "o"), methods=["poll"], **asked)  # type: ignore[arg-type]
        return choose_run(request, Environment.read(), dotted_paths())[0].record.language

    german = {
        "instrument_id": "bank",
        "version": "1",
        "title": "Bank",
        "topic": "Bank",
        "languages": ["de"],
        "questions": [{"question_id": "q1", "de": "Die Bank ist fair."}],
    }
    assert language() == "en"
    assert language(language="de") == "de"
    assert language(instruments={"poll": german}) == "de"
    monkeypatch.setenv("ENQUETE_LANGUAGE", "de")
    assert language() == "de"
    monkeypatch.delenv("ENQUETE_LANGUAGE")
    (mismatch,) = unfit(BANK, tmp_path, instruments={"poll": german})
    assert mismatch == "The simulation's texts are in English, the interviews in German."


def test_a_pack_that_nobody_names_is_the_one_on_the_simulations_topic(
    demos: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The town is asked about its high street (pack.yaml: high_street), without its being named; the bank fits none,
    although its customers say “daily”, as the pack on oat drinks does."""
    monkeypatch.delenv("ENQUETE_FIT")
    asked = {"out": tmp_path / "o", "respondent": "synthetic"}
    estimate = enquete.estimate(demos["high_street"], **asked)  # type: ignore[arg-type]
    assert not [note for note in estimate.notes if "fit" in note]
    request = RunRequest(sim=str(demos["high_street"]), out=str(tmp_path / "o"))
    choice, _ = choose_run(request, Environment.read(), dotted_paths())
    assert choice.record.instruments["delphi"].content["topic"]["en"].startswith("The car-free high street")
    with pytest.raises(Unfit, match="nothing of that occurs"):
        enquete.conduct_interviews(BANK, **asked)  # type: ignore[arg-type]


def test_python_is_refused_with_the_remedy_and_can_override(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ENQUETE_FIT")
    asked = {"out": tmp_path / "o", "methods": ["longitudinal"], "respondent": "synthetic", "language": "en"}
    with pytest.raises(Unfit, match=r"fit=any") as caught:
        enquete.conduct_interviews(BANK, **asked)
    assert "fit=any" in caught.value.fact
    assert not (tmp_path / "o").exists()
    run = enquete.conduct_interviews(BANK, **asked, fit="any", agents=["UK"])
    assert run.status == "completed"
    assert "nothing of that occurs in the simulation" in run.brief
    assert "Not asked: 6 of 7 agents" in run.brief


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The future of German bank branches", ["bank", "branch"]),
        ("Zukunft der Bankfilialen bis 2035", ["bankfi"]),
        ("Views on the future, survey of the year 2035", []),
    ],
)
def test_words_that_any_study_may_have_say_nothing(text: str, words: list[str]) -> None:
    assert stems(text) == words


@pytest.mark.parametrize("kinds", [("a", "b"), ("a",)])
def test_of_personas_nothing_is_said_that_only_a_simulation_has(tmp_path: Path, kinds: tuple[str, ...]) -> None:
    """Neither a topic, which would be the file's name, nor memories that were missed; of groups of four nothing is
    compared, and of one nobody would expect it."""
    people = [f"Teller {kind}{n},Works at the counter of a bank in Leeds.,{kind}" for n in range(4) for kind in kinds]
    (tmp_path / "tellers.csv").write_text("\n".join(["name,persona,type", *people]), "utf-8")
    run = enquete.conduct_interviews(
        tmp_path / "tellers.csv", out=tmp_path / "o", methods=["longitudinal"], phase="T1", respondent="synthetic",
        language="en", fit="any",
    )  # fmt: skip
    report = run.report
    assert "The questions (Longitudinal) are about" in report
    assert f"nothing of that occurs in what is known of these agents ({', '.join(kinds)})." in report
    assert ("No groups are compared by stakeholder type: fewer than two have 5 agents." in report) is (len(kinds) > 1)
    assert "Compared are groups" not in report
    assert "The agents answered without any memory of the simulation." in report
    assert "no readable memory" not in report
