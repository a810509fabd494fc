"""Who is asked: by name, type, condition and sample, those without a persona, and agents of a bare OASIS database."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from enquete.demo import demo_population
from enquete.runs.choose_participants import choose_participants, describe_choice
from enquete.simulations.check import check
from enquete.simulations.digest import digests
from enquete.simulations.population import Population, among, load_population
from enquete.state.errors import SettingsError
from enquete.state.request import RunRequest

DATA = Path(__file__).parents[1] / "data"
PEOPLE = """name,type,persona,age,country
Ann,Customer,Thirty years a customer.,71,DE
Ben,Customer,,25,AT
Cem,Employee,Works at the counter.,40,de
Dee,Regulator,Supervises banks.,,DE
Eve,Employee,Builds the app.,33,CH
Fay,Customer,Runs a bakery.,48,DE
Fay,Customer,A student.,19,DE
"""


@pytest.fixture
def people(tmp_path: Path) -> Population:
    (tmp_path / "p.csv").write_text(PEOPLE, "utf-8")
    return load_population(tmp_path / "p.csv")


def names(population: Population) -> str:
    return " ".join(who.name for who in population.participants)


@pytest.mark.parametrize(
    ("where", "left"),
    [
        ('stakeholder_type == "employee"', "Cem Eve"), ('type != "Customer"', "Cem Dee Eve"),
        ("age >= 40", "Ann Cem Fay"), ("age < 40 and not age < 20", "Ben Eve"), ("age == 33", "Eve"),
        ('country in ("DE", "AT") and type == "Customer"', "Ann Ben Fay Fay"), ('country not in ["DE"]', "Ben Eve"),
        ('"app" in persona or "bakery" in persona', "Eve Fay"), ('age == ""', "Dee"),
    ],
)  # fmt: skip
def test_a_condition_on_what_is_known(people: Population, where: str, left: str) -> None:
    assert names(among(people, where=where)) == left


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("agee > 3", "'agee' is known of no agent here; did you mean 'age'"),
        ('__import__("os").system("x")', "holds what cannot stand there"),
        ("age > other", "holds what cannot stand there"),
        ("1 < age < 3", "holds what cannot stand there"),
        ("age > True", "holds what cannot stand there"),
        ("age ==", "cannot be read"),
        ("(" * 300, "cannot be read"),
        ("a" * 501, "longer than 500"),
    ],
)
def test_anything_else_is_refused(people: Population, where: str, says: str) -> None:
    with pytest.raises(SettingsError, match=says):
        among(people, where=where)


def test_types_and_names_go_together(people: Population) -> None:
    assert names(among(people, types=["employee", "Regulator"])) == "Cem Dee Eve"
    assert names(among(people, ["Fay", "Dee"], ["Customer"])) == "Fay Fay"
    with pytest.raises(SettingsError, match=r"'Baker' is no stakeholder type of p; there are Customer \(4\)"):
        among(people, types=["Baker"])
    with pytest.raises(SettingsError, match="nobody is left to ask"):
        among(people, ["Dee"], ["Customer"])


def test_a_sample_is_drawn_by_seed_and_stratified_in_proportion(people: Population) -> None:
    drawn = choose_participants(people, RunRequest(sample=3))
    assert len(drawn.participants) == 3
    assert drawn == choose_participants(people, RunRequest(sample=3))
    assert any(choose_participants(people, RunRequest(sample=3, seed=n)) != drawn for n in range(1, 5))
    of_all = choose_participants(people, RunRequest(sample=4, stratify=True))
    kinds = sorted(who.stakeholder_type for who in of_all.participants)
    assert kinds == ["Customer", "Customer", "Employee", "Regulator"]  # Sainte-Laguë by hand: 4/3 > 2/3, then 4/3 > 2/3
    assert choose_participants(people, RunRequest(sample=99)).left_out == ()
    with pytest.raises(SettingsError, match="sample=20 stratify=True"):
        choose_participants(people, RunRequest(stratify=True))


def test_who_is_not_asked_is_written_down(people: Population) -> None:
    request = RunRequest(types=["Customer"], where="age > 20", skip_incomplete=True)
    kept = choose_participants(people, request)
    sentence = describe_choice(kept, request)
    assert sentence is not None
    assert (sentence.of, sentence.not_asked, sentence.names) == (
        7, {"Employee": 2, "Customer": 2, "Regulator": 1}, ["Ben", "Cem", "Dee", "Eve", "Fay"],
    )  # fmt: skip
    assert sentence.by == {"types": ["Customer"], "where": "age > 20", "skip_incomplete": True}
    assert describe_choice(choose_participants(people, RunRequest()), RunRequest()) is None


def test_rows_without_bio_and_persona_are_asked_from_what_there_is(people: Population) -> None:
    ben = people.participants[1]
    assert ben.persona == "Type: Customer · Age: 25 · Country: AT"
    assert people.incomplete == {ben.id}
    (gaps, twice, spelt) = [issue.message for issue in people.issues]
    assert gaps.startswith(
        "1 of 7 agents have neither bio nor persona and are asked from what else is known of them: Ben"
    )
    assert twice == "2 agents are called 'Fay' (line 7, line 8): told apart by their ids alone"
    assert spelt == "column 'country': DE / de differ only in case or blanks and are groups of their own"


def test_a_bare_database_is_a_simulation_and_other_columns_do_not_matter(tmp_path: Path) -> None:
    folder = tmp_path / "bare"
    folder.mkdir()
    database = folder / "reddit_simulation.db"
    shutil.copyfile(DATA / "sim_oasisreal0001" / "reddit_simulation.db", database)
    with closing(sqlite3.connect(database)) as connection:
        for table in ("user", "post", "comment", "trace"):
            connection.execute(f"ALTER TABLE {table} ADD COLUMN mood TEXT DEFAULT 'calm'")
        users = connection.execute("SELECT count(*) FROM user").fetchone()[0]
        connection.commit()
    report = check(folder)
    assert (report.ok, report.agents, report.status, report.completed) == (True, users, "database", True)
    assert report.agents_with_memory == users
    assert any("no profiles: agents are its users" in issue.message for issue in report.issues)


def test_check_shows_what_stopped_the_runner_and_what_would_help(tmp_path: Path) -> None:
    folder = tmp_path / "sim"
    shutil.copytree(DATA / "sim_683e8059ab27", folder)
    state = '{"runner_status": "failed", "current_round": 12, "total_rounds": 40, "error": "RateLimitError: 429"}'
    (folder / "run_state.json").write_text(state)
    text = check(folder).render("en")
    assert "Status: failed (not completed; round 12 of 40; run_state.json" in text
    assert "The runner's own error: RateLimitError: 429" in text
    assert "--assume-completed reads it as completed" in text
    assert "--assume-completed" not in check(DATA / "sim_683e8059ab27").render("en")


def test_who_is_asked_among_others_remembers_what_they_would_among_all(tmp_path: Path) -> None:
    """Others whom nobody asks wrote what they read, under their names."""
    everybody = load_population(demo_population(tmp_path, completed=True))
    few = everybody.only({who.id for who in everybody.participants[:3]})
    memories = digests(everybody, limit=2000, language="de").texts
    assert digests(few, limit=2000, language="de").texts == {who.id: memories[who.id] for who in few.participants}
