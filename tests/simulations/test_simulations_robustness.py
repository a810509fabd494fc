"""Whatever stands in the files, the readers answer or raise an InputError."""

import json
import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from enquete.simulations.check import check
from enquete.simulations.digest import digests
from enquete.simulations.population import load_population, population_hash
from enquete.state.errors import InputError
from tests.simulations.conftest import DATA, OASIS_RUN

FEW = settings(max_examples=settings().max_examples // 5, deadline=None, suppress_health_check=list(HealthCheck))

leaves = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20) | st.just(10**400)
)
keys = st.sampled_from(
    ["agent_configs", "agent_id", "entity_uuid", "entity_name", "entity_type", "name", "username", "persona", "bio",
        "id",
     "user_id", "age", "gender", "runner_status", "simulation_requirement", "entities_count", "event_type",
     "action_type",
     "action_args", "agent_name", "success", "content", "personas", "interested_topics"]
) | st.text(max_size=5)  # fmt: skip
anything = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=6), max_leaves=20
)


def read_everything(path: Path) -> None:
    with suppress(InputError):
        population = load_population(path)
        digest = digests(population, limit=300)
        remembered = {who.id for who in population.participants} if population.seats else set()
        assert set(digest.texts) == remembered
        assert len(digest.texts) == (len(population.participants) if population.seats else 0)
        population_hash(population.participants)
        for participant in population.participants:
            assert json.dumps(asdict(participant), ensure_ascii=False).encode()
    with suppress(InputError):
        assert check(path).render("de").encode()


def in_copy(file: str, content: bytes) -> None:
    with TemporaryDirectory() as scratch:
        folder = Path(shutil.copytree(DATA / OASIS_RUN, Path(scratch) / OASIS_RUN))
        if file.endswith("actions.jsonl"):
            for database in folder.glob("*.db"):
                database.unlink()
        (folder / file).write_bytes(content)
        read_everything(folder)


FILES = ["reddit_profiles.json", "simulation_config.json", "run_state.json", "state.json", "twitter_profiles.csv"]


@pytest.mark.parametrize("file", FILES)
@FEW
@given(value=anything | st.lists(st.dictionaries(keys, leaves)))
def test_any_json_in_any_file(file: str, value: object) -> None:
    in_copy(file, json.dumps(value).encode())


@FEW
@given(entries=st.lists(st.dictionaries(keys, leaves) | anything, max_size=6))
def test_any_agent_configs(entries: list[object]) -> None:
    in_copy("simulation_config.json", json.dumps({"agent_configs": entries}).encode())


@FEW
@given(lines=st.lists(st.dictionaries(keys, anything) | anything, max_size=8))
def test_any_log(lines: list[object]) -> None:
    in_copy("reddit/actions.jsonl", "\n".join(json.dumps(line) for line in lines).encode())


@pytest.mark.parametrize("file", [*FILES, "reddit/actions.jsonl", "reddit_simulation.db", "twitter_simulation.db"])
@FEW
@given(content=st.binary(max_size=200))
def test_any_bytes_in_any_file(file: str, content: bytes) -> None:
    in_copy(file, content)


@FEW
@given(place=st.integers(0, 294_911), junk=st.binary(min_size=1, max_size=3000))
@example(place=81_089, junk=b"\x80")  # within the schema, which SQLite quotes
def test_a_database_damaged_anywhere(place: int, junk: bytes) -> None:
    whole = (DATA / OASIS_RUN / "reddit_simulation.db").read_bytes()
    in_copy("reddit_simulation.db", whole[:place] + junk + whole[place + len(junk) :])


@pytest.mark.parametrize("suffix", [".json", ".jsonl", ".csv"])
@FEW
@given(
    content=st.binary(max_size=300)
    | anything.map(lambda value: json.dumps(value).encode())
    | st.lists(st.dictionaries(keys, leaves), max_size=5).map(lambda value: json.dumps(value).encode())
    | st.text(max_size=200).map(lambda text: f"name,persona,id\n{text}".encode("utf-8", "replace"))
)
def test_any_personas_file(suffix: str, content: bytes) -> None:
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / f"people{suffix}"
        path.write_bytes(content)
        read_everything(path)
