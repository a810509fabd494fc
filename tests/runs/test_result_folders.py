"""Results below --out are kept by population, and the population is part of which run is meant."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.runs.result_folders import claim_folder, results_folder
from enquete.state.errors import RunMismatch, SettingsError, SimulationNotFound
from tests.support import bare_runs
from tests.support.populations import mirofish_folder

pytestmark = pytest.mark.usefixtures("no_figures")

HEAD = "id,name,persona,income\n"
ANN, BEN, CEM = "1,Ann,Fisher.,1200\n", "2,Ben,Baker.,900\n", "3,Cem,Cook.,3000\n"


def people(path: Path, *rows: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(HEAD + "".join(rows), "utf-8")
    return path


QUESTIONS = {
    "title": "Fares", "topic": "Fares of buses", "languages": ["en"],
    "questions": [{"question_id": "fair", "kind": "likert", "scale": "likert5", "en": "The fares are fair."}],
}  # fmt: skip


def poll(sim: Path, out: Path, **more: Any) -> enquete.Run:
    """A poll of one question, answered by the synthetic respondent."""
    return bare_runs.interview(
        sim, out=str(out), methods=["poll"], instruments={"poll": QUESTIONS}, language="en", fit="any", **more
    )


def test_two_people_files_in_one_folder_are_kept_apart(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first, second = people(tmp_path / "a" / "people.csv", ANN, BEN), people(tmp_path / "b" / "people.csv", CEM)
    third = people(tmp_path / "others.csv", ANN)
    runs = {file: poll(file, out) for file in (first, second, third)}
    assert [run.folder.parent.parent.name for run in runs.values()] == ["people", "people-2", "others"]
    for file, run in runs.items():
        assert [known.run_id for known in enquete.list_runs(file, out=str(out))] == [run.run_id]
        assert enquete.load_run(file, out=str(out)).run_id == run.run_id
        assert json.loads((run.folder.parent.parent / "population.json").read_text("utf-8")) == {
            "population": file.name, "path": str(file), "beside": f"../{file.relative_to(tmp_path)}",
        }  # fmt: skip
    assert set(runs[second].all_responses["agent_name"]) == {"Cem"}
    token = runs[second].record.token
    assert enquete.resume(token, out=str(out)).run_id == runs[second].run_id  # a token names a run of whichever


def test_a_simulation_has_a_folder_of_its_own_below_out(tmp_path: Path) -> None:
    sim = mirofish_folder(tmp_path / "sim_1", 2)
    run = poll(sim, tmp_path / "out")
    assert run.folder.parent.parent == tmp_path / "out" / "sim_1"


def test_results_are_found_by_name_once_the_people_file_is_gone_or_moved(tmp_path: Path) -> None:
    out, file = tmp_path / "out", people(tmp_path / "people.csv", ANN)
    run = poll(file, out)
    moved = file.rename(tmp_path / "elsewhere")
    for wanted in (str(file), "people.csv", "people"):
        assert enquete.load_run(wanted, out=str(out)).run_id == run.run_id
    with pytest.raises(SimulationNotFound, match="nobody"):
        enquete.load_run("nobody.csv", out=str(out))
    again = moved.rename(people(tmp_path / "new" / "people.csv"))
    assert poll(again, out).run_id == run.run_id  # nothing is left at the old place, so these are the same people
    told = json.loads((out / "people" / "population.json").read_text("utf-8"))
    assert told["path"] == str(file)  # it was shown, not begun


def test_a_study_that_was_copied_as_a_whole_has_its_runs_where_it_is_now(tmp_path: Path) -> None:
    file = people(tmp_path / "study" / "people.csv", ANN)
    run = poll(file, tmp_path / "study" / "out")
    copied = Path(shutil.copytree(tmp_path / "study", tmp_path / "copy"))
    assert enquete.load_run(copied / "people.csv", out=str(copied / "out")).folder.is_relative_to(copied)
    assert enquete.load_run(file, out=str(copied / "out")).folder.is_relative_to(copied)
    assert poll(copied / "people.csv", copied / "out").run_id == run.run_id


def test_results_that_lie_directly_in_out_are_refused_by_name(tmp_path: Path) -> None:
    out, file = tmp_path / "out", people(tmp_path / "people.csv", ANN)
    run = poll(file, out)
    old = (out / "people").rename(tmp_path / "old")
    (old / "population.json").unlink()
    for act in (
        lambda: poll(file, old), lambda: enquete.list_runs(file, out=str(old)),
        lambda: enquete.load_run(file, out=str(old)), lambda: enquete.export(file, out=str(old)),
        lambda: enquete.resume(run.record.token, out=str(old)),
    ):  # fmt: skip
        with pytest.raises(
            SettingsError, match=r"old holds runs directly \(runs/, latest\.json\), as earlier versions"
        ):
            act()


def test_the_folder_of_a_population_may_be_named_itself_but_for_no_other(tmp_path: Path) -> None:
    out, file, other = tmp_path / "out", people(tmp_path / "people.csv", ANN), people(tmp_path / "other.csv", BEN)
    run = poll(file, out)
    assert poll(file, out / "people").run_id == run.run_id
    assert enquete.resume(run.record.token, out=str(out / "people")).run_id == run.run_id
    with pytest.raises(
        SettingsError, match=r"is the folder of another population, .*people\.csv; name the folder above"
    ):
        poll(other, out / "people")


def test_a_folder_is_claimed_by_one_population(tmp_path: Path) -> None:
    first, second = people(tmp_path / "a" / "people.csv", ANN), people(tmp_path / "b" / "people.csv", ANN)
    folder = results_folder(tmp_path / "out", first)
    assert folder == results_folder(tmp_path / "out", second)  # nobody has begun
    claim_folder(tmp_path / "out", folder, first)
    with pytest.raises(SettingsError, match="has begun to use"):
        claim_folder(tmp_path / "out", folder, second)
    assert results_folder(tmp_path / "out", second).name == "people-2"


def test_a_file_that_has_changed_is_another_population_and_says_what_changed(tmp_path: Path) -> None:
    out, file = tmp_path / "out", people(tmp_path / "people.csv", ANN, BEN)
    first = poll(file, out)
    assert poll(file, out).run_id == first.run_id
    people(file, BEN, ANN)  # sorted anew: the same people
    assert poll(file, out).run_id == first.run_id

    people(file, ANN, BEN, CEM)
    second = poll(file, out)
    assert (second.shown, second.run_id == first.run_id) == (False, False)
    assert set(second.all_responses["agent_name"]) == {"Ann", "Ben", "Cem"}
    said = f"people.csv: another population than in run {first.run_id}: 1 added (Cem), 0 removed, 0 edited"
    assert said in second.flags

    people(file, "1,Ann,Fisher.,1300\n", "2,Ben,Smith.,900\n")  # a column that no interview shows, and a persona
    third = poll(file, out)
    said = f"people.csv: another population than in run {second.run_id}: 0 added, 1 removed (Cem), 2 edited (Ann, Ben)"
    assert said in third.flags

    people(file, ANN, BEN)
    assert poll(file, out).run_id == first.run_id  # as they were


def test_an_unfinished_run_of_a_file_that_has_changed_since_is_refused_with_what_changed(tmp_path: Path) -> None:
    out, file = tmp_path / "out", people(tmp_path / "people.csv", ANN, BEN)
    begun = poll(file, out, budget_tokens=1, confirm=True)
    assert begun.status == "paused"
    people(file, ANN, "2,Ben,Smith.,900\n", CEM)
    with pytest.raises(RunMismatch) as refused:
        poll(file, out)
    assert "population (people.csv): 1 added (Cem), 0 removed, 1 edited (Ben)" in str(refused.value)
    assert 'population: "' not in str(refused.value)
    assert poll(file, out, new=True).run_id != begun.run_id


def test_those_without_an_id_are_told_apart_by_a_name_that_occurs_once(tmp_path: Path) -> None:
    out, file = tmp_path / "out", tmp_path / "people.csv"
    file.write_text("name,persona\nAnn,Fisher.\nBen,Baker.\n", "utf-8")
    poll(file, out)
    file.write_text("name,persona\nAnn,Fisher and mother.\nCem,Cook.\n", "utf-8")
    assert any("1 added (Cem), 1 removed (Ben), 1 edited (Ann)" in flag for flag in poll(file, out).flags)


def test_a_rerun_of_a_file_that_has_changed_is_refused(tmp_path: Path) -> None:
    """The answers that are taken over are those of other people."""
    out, file = tmp_path / "out", people(tmp_path / "people.csv", ANN, BEN)
    poll(file, out)
    with bare_runs.results_alone():
        enquete.conduct_interviews(
            file, out=str(out), methods=["poll", "scenario"], instruments={"poll": QUESTIONS}, language="en", fit="any"
        )
    people(file, ANN)
    with pytest.raises(
        SettingsError, match=r"people\.csv has changed since run .*: 0 added, 1 removed \(Ben\), 0 edited"
    ):
        bare_runs.interview(file, out=str(out), methods=["poll"], rerun=True, fit="any")
