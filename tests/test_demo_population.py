"""The bundled population: its files, and that databases, logs and feeds tell one story."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import combinations
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from enquete.demo import DemoAgent, Network, demo_population, load_agents, load_course, load_world, steps_of
from enquete.instruments.pack import pack_named
from enquete.locale import tell
from enquete.respondents.ground_truth import type_of
from enquete.simulations.digest import HEADINGS, digests
from enquete.simulations.population import Population, load_population
from enquete.simulations.sources import one_line
from enquete.state.errors import SimulationError

PLATFORMS = ("twitter", "reddit")
LURKERS = {"Bernd Vogt", "Heike Feddersen", "Ingrid Baumann", "Samira Elshazly"}
# Agents by the type of the synthetic respondent's truth.
FISHERIES = pack_named("fisheries")
SIZES = {
    "small_scale": 9, "industrial": 4, "angler": 6, "ngo": 5, "scientist": 5, "administration": 7, "processor": 6,
    "consumer": 4, "municipality": 4,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo_population(tmp_path_factory.mktemp("demo"), completed=True)


@pytest.fixture(scope="module")
def population(folder: Path) -> Population:
    return load_population(folder)


def rows(folder: Path, platform: str, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / f"{platform}_simulation.db")) as connection:
        return connection.execute(query).fetchall()


def trace(folder: Path, platform: str) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for who, action, info in rows(folder, platform, "SELECT user_id, action, info FROM trace ORDER BY rowid"):
        yield who, action, json.loads(info)


def log(folder: Path, platform: str) -> list[dict[str, Any]]:
    lines = (folder / platform / "actions.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


def own_words(folder: Path) -> dict[int, list[str]]:
    """What each agent wrote, from the tables of both databases."""
    query = (
        "SELECT user_id, COALESCE(quote_content, content) FROM post WHERE quote_content IS NOT NULL"
        " OR original_post_id IS NULL UNION ALL SELECT user_id, content FROM comment"
    )
    posts: dict[int, list[str]] = {}
    for platform in PLATFORMS:
        for who, text in rows(folder, platform, query):
            posts.setdefault(who, []).append(text)
    return posts


def test_fifty_different_people_and_as_many_rounds_on_both_platforms(population: Population) -> None:
    people = population.participants
    assert len(people) == len({p.id for p in people}) == len({p.name for p in people}) == 50
    assert Counter(type_of(person, FISHERIES) for person in people) == SIZES
    assert len({person.stakeholder_type for person in people}) == 12
    assert population.issues == ()
    assert len(load_course("twitter")) == len(load_course("reddit")) == 9  # the initial posts and eight rounds


def test_personas_are_written_one_by_one() -> None:
    """80 to 150 words each, and no two share more than a few runs of four words."""
    agents = load_agents()
    assert len({agent.username for agent in agents}) == 50
    runs: dict[str, set[tuple[str, ...]]] = {}
    for agent in agents:
        assert UUID(agent.uuid).version == 4, agent.key
        words = agent.persona.split()
        assert 80 <= len(words) <= 150, (agent.key, len(words))
        runs[agent.key] = set(zip(words, words[1:], words[2:], words[3:], strict=False))
    for one, other in combinations(runs, 2):
        assert len(runs[one] & runs[other]) <= 4, (one, other)


def test_the_same_bytes_each_time_and_other_files_stay(folder: Path, tmp_path: Path) -> None:
    other = demo_population(tmp_path, completed=True)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    for file in files:
        assert (other / file).read_bytes() == (folder / file).read_bytes(), file

    (other / "interviews").mkdir()
    (other / "interviews" / "latest.json").write_text("{}", "utf-8")
    assert demo_population(tmp_path, completed=False) == other
    left = {path.name for path in other.rglob("*") if path.is_file()}
    gone = {"twitter_simulation.db", "reddit_simulation.db", "actions.jsonl", "env_status.json"}
    assert left == {file.name for file in files} - gone | {"latest.json"}


def test_before_and_after(folder: Path, tmp_path: Path) -> None:
    early, late = demo_population(tmp_path, completed=False), folder
    states = [json.loads((path / "run_state.json").read_text("utf-8")) for path in (early, late)]
    assert [state["runner_status"] for state in states] == ["running", "completed"]
    assert [state["total_actions_count"] for state in states] == [0, load_population(folder).actions]
    for path in (early, late):
        assert json.loads((path / "state.json").read_text("utf-8"))["status"] == "running", "as real runs leave it"
    for file in ("reddit_profiles.json", "twitter_profiles.csv", "simulation_config.json"):
        assert (early / file).read_bytes() == (late / file).read_bytes(), file
    assert 150 <= states[1]["total_actions_count"] <= 250


@pytest.mark.parametrize("platform", PLATFORMS)
def test_log_and_database_agree(folder: Path, platform: str) -> None:
    """Less the doubled initial posts of round 0, the log has what the trace has, in its order and words."""
    lines = log(folder, platform)
    assert (lines[0]["event_type"], lines[-1]["event_type"]) == ("simulation_start", "simulation_end")
    actions = [line for line in lines if "action_type" in line]
    assert lines[-1]["total_actions"] == len(actions)
    doubled = [line["action_args"]["content"] for line in actions if line["round"] == 0]
    again = [line["action_args"] for line in actions if line["round"] == 1][: len(doubled)]
    assert doubled == [args["content"] for args in again if "post_id" in args], "initial posts stand twice in the log"

    names = [agent.name for agent in load_agents()]
    logged = [(x["agent_id"], x["agent_name"], x["action_type"].lower()) for x in actions if x["round"] > 0]
    done = [(who, names[who], action) for who, action, _ in trace(folder, platform)]
    assert logged == [act for act in done if act[2] not in ("sign_up", "refresh")]
    written = [
        text for line in actions if line["round"] > 0 for key, text in line["action_args"].items()
        if key == "quote_content" or (key == "content" and line["action_type"] in ("CREATE_POST", "CREATE_COMMENT"))
    ]  # fmt: skip
    stored = [text for agent, texts in own_words(folder).items() for text in texts]
    assert set(written) <= set(stored)
    assert [row[0] for row in rows(folder, platform, "SELECT action FROM trace WHERE action = 'interview'")] == []


@pytest.mark.parametrize("platform", PLATFORMS)
def test_counters_are_sums_of_rows_and_nobody_reacts_to_what_they_were_not_shown(folder: Path, platform: str) -> None:
    for query in (
        'SELECT num_likes, (SELECT count(*) FROM "like" l WHERE l.post_id = p.post_id) FROM post p',
        "SELECT num_dislikes, (SELECT count(*) FROM dislike d WHERE d.post_id = p.post_id) FROM post p",
        "SELECT num_shares, (SELECT count(*) FROM post s WHERE s.original_post_id = p.post_id) FROM post p",
        "SELECT num_likes, (SELECT count(*) FROM comment_like l WHERE l.comment_id = c.comment_id) FROM comment c",
        "SELECT num_followers, (SELECT count(*) FROM follow f WHERE f.followee_id = u.user_id) FROM user u",
    ):
        assert all(counter == counted for counter, counted in rows(folder, platform, query)), query
    parents = dict(rows(folder, platform, "SELECT comment_id, post_id FROM comment"))
    shown: dict[int, set[int]] = {}
    for who, action, info in trace(folder, platform):
        if action == "refresh":
            shown.setdefault(who, set()).update(post["post_id"] for post in info["posts"])
        post = {"like_post": info.get("post_id"), "dislike_post": info.get("post_id"),
                "quote_post": info.get("quoted_id"), "repost": info.get("reposted_id"),
                "create_comment": parents.get(info.get("comment_id")),
                "like_comment": parents.get(info.get("comment_id"))}.get(action)  # fmt: skip
        assert post is None or post in shown[who], (who, action, info)


def test_everybody_was_shown_something_and_some_only_read(folder: Path, population: Population) -> None:
    shown = {
        who for platform in PLATFORMS for who, action, info in trace(folder, platform)
        if action == "refresh" and info["posts"]
    }  # fmt: skip
    assert shown == set(range(50))
    wrote = own_words(folder)
    assert {person.name for person in population.participants if person.agent_id not in wrote} == LURKERS
    posts = sum(len(rows(folder, platform, f"SELECT 1 FROM post WHERE {ORIGINAL}")) for platform in PLATFORMS)
    assert 40 <= posts <= 60


ORIGINAL = "original_post_id IS NULL OR quote_content IS NOT NULL"


@pytest.mark.parametrize("limit", [2000, 600])
def test_digests_hold_their_own_words_first(folder: Path, population: Population, limit: int) -> None:
    """At least 60% of the limit are the agent's own words, or all of them where there are fewer."""
    digest = digests(population, limit=limit)
    assert (digest.issues, set(digest.exposure.values())) == ((), {True})
    wrote = own_words(folder)
    for person in population.participants:
        text = digest.texts[person.id]
        assert text
        assert len(text) <= limit
        written = sum(map(len, {one_line(words) for words in wrote.get(person.agent_id or 0, [])}))
        assert own_characters(text) >= min(written, 0.6 * limit) or person.name in LURKERS, person.name
        if limit == 2000:
            assert tell(HEADINGS["shown"], "de") in text, person.name


def own_characters(digest: str) -> int:
    """Characters of the own section, without list marks and without what the words answer."""
    heading, *lines = digest.split("\n")
    if heading != tell(HEADINGS["own"], "de"):
        return 0
    others = [number for number, line in enumerate(lines) if not line.startswith("- ")]
    first_lines = lines[: min(others, default=len(lines))]
    return sum(len(line.split("] ", 1)[1].split(" (zu: ")[0]) for line in first_lines)


def test_slips_in_the_sources_are_named() -> None:
    with pytest.raises(SimulationError, match="round 2: 'osei shouts ruhe' is no action"):
        list(steps_of("osei shouts ruhe", "round 2"))
    with pytest.raises(SimulationError, match="is no action"):
        list(steps_of("osei comments ruhe as x", "round 2"))  # a comment without words
    assert len(list(steps_of("osei likes ruhe, vorschlag", "x"))) == 2


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (["osei likes nichts"], "osei likes nichts: no agent, post or comment is called 'nichts'"),
        (
            [{"osei posts neu": "Text"}, "harms likes neu"],
            "harms likes neu: a post can be answered only from the round after it",
        ),
    ],
)
def test_a_course_that_cannot_have_happened_is_refused(steps: list[str | dict[str, str]], message: str) -> None:
    agents: tuple[DemoAgent, ...] = load_agents()
    second = tuple(step for entry in steps for step in steps_of(entry, "x"))
    with closing(sqlite3.connect(":memory:")) as connection:
        network = Network(connection, "twitter", agents, load_world().started_at)
        network.sign_up(agents)
        with pytest.raises(SimulationError, match=message):
            network.play(((), second))
