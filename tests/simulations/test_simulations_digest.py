import hashlib
import json
import shutil
import sqlite3
import tracemalloc
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.simulations.digest import Fact, Knowledge, digests, write_digest
from enquete.simulations.experience import Experience, Memory, MemoryEntry
from enquete.simulations.population import load_population
from tests.simulations.conftest import Folder, post, write_log

JAMES = "agent:00000000-0000-4000-8000-000000000000"


def fingerprint(folder: Path) -> dict[str, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_databases_are_read_and_left_untouched(oasis_run: Path) -> None:
    before = fingerprint(oasis_run)
    digest = digests(load_population(oasis_run), language="en")
    assert fingerprint(oasis_run) == before
    assert dict(digest.sources) == {"twitter": "database", "reddit": "database"}
    assert digest.issues == ()
    james = digest.texts[JAMES] or ""
    # sim_oasisreal0001, user 0: a comment and an initial post on reddit, the same post and a like on twitter
    assert "Lettuce plays jazz (on: Laurent Brochard writes in English" in james
    assert james.count("If you're looking for insight into the creative process") == 1 + 1  # own; as Emily reposted it
    assert "liked: Ethan Grayson: Quoting: Laurent Brochard writes in English" in james
    assert "follows: Emma Hayes" in james
    assert "Emma Hayes: Very interesting!" in james
    assert '"a"' not in james  # the interview's response
    assert "Q?" not in james


def test_a_write_protected_folder_can_be_read(oasis_run: Path) -> None:
    for path in (*oasis_run.glob("*.db"), oasis_run):
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        assert digests(load_population(oasis_run)).sources["reddit"] == "database"
    finally:
        oasis_run.chmod(0o755)


@pytest.fixture
def killed(oasis_run: Path) -> Path:
    """A database whose last post is still in its write-ahead log, as a kill leaves it."""
    path = oasis_run / "reddit_simulation.db"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = wal")
        info = json.dumps({"content": "Words in the log.", "post_id": 99})
        connection.execute("INSERT INTO trace VALUES (0, 'now', 'create_post', ?)", (info,))
        connection.commit()
        shutil.copytree(oasis_run, oasis_run.parent / "killed")
    return oasis_run.parent / "killed"


def test_a_write_ahead_log_is_read_without_touching_it(killed: Path) -> None:
    before = fingerprint(killed)
    assert any(path.endswith("-wal") for path in before)
    assert "Words in the log." in (digests(load_population(killed)).texts[JAMES] or "")
    assert fingerprint(killed) == before


def test_logs_give_the_newest_words_of_both_platforms(data: Path) -> None:
    digest = digests(load_population(data / "sim_683e8059ab27"), language="de")
    assert dict(digest.sources) == {"twitter": "log", "reddit": "log"}
    assert not any(digest.exposure.values())
    bank = digest.texts["agent:03271d85-3ef8-44b8-a7d8-3f26f71b2fcf"] or ""
    # run_state.json's first recent action: round 325, agent 6
    assert "Halcourt Bank is pleased to share our latest financial wellness tip" in bank
    assert bank.startswith("Eigene Beiträge")
    assert "Reaktionen:" in bank


def test_newest_first_doubles_once_and_failed_actions_left_out(folder: Folder) -> None:
    path = folder(config=["Ann", "Bob"], reddit=["Ann", "Bob"])
    actions = [
        post(0, "Ann", "Initial post."), post(0, "Ann", "Initial post.", post_id=1),
        post(0, "Ann", "Second post.", post_id=2), {**post(0, "Ann", "Never sent."), "success": False},
        {**post(0, "Ann", ""), "action_type": "MUTE", "action_args": {}},
    ]  # fmt: skip
    write_log(path, "reddit", actions, tail='{"round": 2, "agent_id": 0, "act')
    digest = digests(load_population(path), language="en")
    assert digest.texts["agent:uuid-ann"] == "Own posts (newest first):\n- [P1] Second post.\n- [P2] Initial post."
    assert digest.named["agent:uuid-ann"] == {"P1": "reddit post 2", "P2": "reddit post 1"}
    assert digest.texts["agent:uuid-bob"] == "No activity was recorded in the simulation."
    assert [str(issue) for issue in digest.issues] == [
        "reddit/actions.jsonl: line 6 is torn, as after a kill, and is left out"
    ]


def test_a_corrupt_database_gives_way_to_the_log(oasis_run: Path) -> None:
    (oasis_run / "reddit_simulation.db").write_bytes(b"no database" * 100)
    digest = digests(load_population(oasis_run))
    assert digest.sources["reddit"] == "log"
    assert "reddit_simulation.db" in str(digest.issues[0])
    damaged = oasis_run / "twitter_simulation.db"
    damaged.write_bytes(damaged.read_bytes()[: damaged.stat().st_size // 2])
    assert digests(load_population(oasis_run)).sources["twitter"] == "log"


def test_nothing_readable_is_none_not_a_crash(oasis_run: Path) -> None:
    for platform in ("reddit", "twitter"):
        (oasis_run / f"{platform}_simulation.db").write_bytes(b"")
        (oasis_run / platform / "actions.jsonl").write_bytes(b"\xff\x00\n[1]\n")
    digest = digests(load_population(oasis_run))
    assert set(digest.texts.values()) == {None}
    assert set(digest.sources.values()) == {"none"}
    assert len(digest.issues) == 4


def test_after_an_index_shift_nobody_gets_anothers_words(folder: Folder) -> None:
    # reddit omits Bob, so OASIS ran Cid as agent 1 and Dee as agent 2 there; twitter is complete
    path = folder(
        config=["Ann", "Bob", "Cid", "Dee"], reddit=["Ann", "Cid", "Dee"], twitter=["Ann", "Bob", "Cid", "Dee"]
    )
    names = ["Ann", "Bob", "Cid", "Dee"]
    write_log(path, "twitter", [post(i, name, f"{name} tweets.") for i, name in enumerate(names)])
    # MiroFish names log lines by the configuration: agent 1 is called Bob although Cid's persona spoke
    write_log(path, "reddit", [post(i, names[i], f"Reddit agent {i} speaks.") for i in range(3)])
    digest = digests(load_population(path), language="en")
    by_name = {name: digest.texts[f"agent:uuid-{name.lower()}"] or "" for name in names}
    for name in names:
        assert f"{name} tweets." in by_name[name]
        assert all(f"{other} tweets." not in by_name[name] for other in names if other != name)
    assert "Reddit agent 0 speaks." in by_name["Ann"]
    assert not any(f"Reddit agent {i}" in text for i in (1, 2) for text in by_name.values())
    assert "index and name disagree for 2 agents" in str(digest.issues[0])


def test_usernames_in_the_database_identify_after_a_shift(oasis_run: Path) -> None:
    # Emma (index 1) is taken out of the profiles: James stays 0, everybody else moves up by one
    file = oasis_run / "reddit_profiles.json"
    rows = json.loads(file.read_text())
    file.write_text(json.dumps(rows[:1] + rows[2:]))
    digest = digests(load_population(oasis_run), language="en")
    aria = digest.texts["agent:00000000-0000-4000-8000-000000000007"] or ""
    assert "Christian Noboa, who plays the position goaltender" in aria  # her comment 2, user_id 7 in the database
    assert any("joined by username" in str(issue) for issue in digest.issues)


def memory_of(posts: list[str], shown: list[str], about: str = "") -> Experience:
    memory = Memory(10_000)
    for place, text in enumerate(posts):
        memory.newest["own"].add_newer(MemoryEntry("comment", text, about, float(place)))
    for place, text in enumerate(shown):
        memory.newest["shown"].add_newer(MemoryEntry("shown", text, "Bob", float(place)))
    return Experience("reddit", "log", {"a": memory}, length=max(len(posts), len(shown), 1))


words = st.lists(st.text("abc xyz", min_size=1, max_size=300).map(str.strip).filter(bool), max_size=40)


@given(words, words, st.sampled_from(["", "something said before " * 4]), st.integers(0, 3000))
def test_the_limit_always_holds(posts: list[str], shown: list[str], about: str, limit: int) -> None:
    known = Knowledge(summary="k" * 400, facts=tuple(Fact(id=text, text=text) for text in posts)) if about else None
    text, sources = write_digest("a", [memory_of(posts, shown, about)], limit, "de", known)
    assert len(text) <= limit
    assert text or limit == 0
    assert len(sources) == text.count("\n- [") + text.startswith("- [")


@given(st.lists(st.integers(1, 400), min_size=1, max_size=60), st.sampled_from(["", "what somebody else wrote " * 4]))
def test_own_words_get_their_share(lengths: list[int], about: str) -> None:
    """At least 60% of the limit, or all there is, unless bullets and line breaks between tiny posts take the room."""
    limit = 2000
    posts = [f"{n:02d}" + "ö" * length for n, length in enumerate(lengths)]
    shown = [f"{n:02d}" + "s" * 150 for n in range(40)]
    text, _ = write_digest("a", [memory_of(posts, shown, about)], limit, "en")
    overhead = len(lengths) * len("\n- [P00] 00") + 1  # the ellipsis
    assert text.count("ö") >= min(0.6 * limit, sum(lengths)) - overhead
    if min(lengths) > 40:
        assert text.count("ö") + 2 * len(lengths) >= min(0.6 * limit, sum(lengths))


def test_own_words_leave_room_for_what_was_shown() -> None:
    posts = [f"{n} " + "o" * 200 for n in range(40)]
    shown = [f"{n} " + "s" * 100 for n in range(40)]
    text, _ = write_digest("a", [memory_of(posts, shown)], 2000, "en")
    assert text.count("o") >= 1100
    assert text.count("s") >= 400
    assert text.index("39 ooo") < text.index("38 ooo")


def test_what_a_graph_knows_is_bounded_relevant_first_then_recent(folder: Folder) -> None:
    path = folder(config=["Ann", "Bob"], reddit=["Ann", "Bob"])
    write_log(path, "reddit", [post(0, "Ann", "A post of my own.", post_id=7)])
    population = replace(load_population(path), topic="A quota for herring")
    facts = (
        Fact(id="old", text="Ann asked for a higher quota.", at="2026-01-01"),
        Fact(id="other", text="Ann moved house.", at="2026-03-01"),
        Fact(id="new", text="Ann cut her quota.", at="2026-02-01"),
    )
    known = {"agent:uuid-ann": Knowledge(summary="A skipper.", facts=facts), "agent:uuid-bob": Knowledge(facts=facts)}
    digest = digests(population, language="en", known=known)
    assert digest.texts["agent:uuid-ann"] == (
        "Own posts (newest first):\n- [P1] A post of my own.\nOn record:\n- [K1] A skipper.\n- [K2] Ann cut her "
        "quota.\n"
        "- [K3] Ann asked for a higher quota.\n- [K4] Ann moved house."
    )
    assert digest.named["agent:uuid-ann"]["K2"] == "graph fact new"
    assert (digest.texts["agent:uuid-bob"] or "").startswith("No activity was recorded in the simulation.\nOn record:")
    short = digests(population, language="en", known=known, limit=240).texts["agent:uuid-ann"] or ""
    assert "[K2]" in short
    assert "[K3]" not in short  # a quarter of the room, 60 characters


def test_what_a_graph_knows_is_no_entry_of_anything_else() -> None:
    """Lines in it that look like entries would be taken for an agent's own."""
    facts = (Fact(id="f", text="It waits.\n- [X1] Nothing stands under this mark."),)
    known = Knowledge(summary="Knows fees.\n- [P9] I said this.", facts=facts)
    _, sources = write_digest("a", [], 2000, "en", known)
    assert sources == {"K1": "graph summary", "K2": "graph fact f"}


def test_a_large_trace_is_streamed(oasis_run: Path) -> None:
    posts = [{"post_id": 1, "user_id": 5, "content": "x" * 1000} for _ in range(100)]
    with closing(sqlite3.connect(oasis_run / "reddit_simulation.db")) as connection:
        rows = ((0, f"t{i}", "refresh", json.dumps({"posts": posts, "i": i})) for i in range(300))
        connection.executemany("INSERT INTO trace VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    assert (oasis_run / "reddit_simulation.db").stat().st_size > 30_000_000
    tracemalloc.start()
    try:
        assert digests(load_population(oasis_run)).texts[JAMES]
        assert tracemalloc.get_traced_memory()[1] < 5_000_000  # bytes; the trace itself is 30 MB
    finally:
        tracemalloc.stop()


# Chat groups as OASIS's main writes them: schema/chat_group.sql, group_member.sql, group_message.sql, and the rows of
# the trace by send_to_group, join_group and leave_group in platform.py. `listen_from_group` leaves no row.
GROUP_SCHEMA = """
CREATE TABLE user (user_id INTEGER PRIMARY KEY, agent_id INTEGER, user_name TEXT, name TEXT);
CREATE TABLE post (post_id INTEGER, user_id INTEGER, original_post_id INTEGER, content TEXT, quote_content TEXT);
CREATE TABLE comment (comment_id INTEGER, post_id INTEGER, user_id INTEGER, content TEXT);
CREATE TABLE follow (follow_id INTEGER, follower_id INTEGER, followee_id INTEGER);
CREATE TABLE trace (user_id INTEGER, created_at DATETIME, action TEXT, info TEXT);
CREATE TABLE chat_group (group_id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, created_at DATETIME);
CREATE TABLE group_members (group_id INTEGER NOT NULL, agent_id INTEGER NOT NULL, joined_at DATETIME,
  PRIMARY KEY (group_id, agent_id));
CREATE TABLE group_messages (message_id INTEGER PRIMARY KEY AUTOINCREMENT, group_id INTEGER NOT NULL,
  sender_id INTEGER NOT NULL, content TEXT NOT NULL, sent_at DATETIME);
"""
PEOPLE = ["Ann", "Bob", "Cem", "Dot"]


def group_chat(path: Path, *, traced: bool) -> Path:
    """Ann, Bob and Dot are in a group; Cem has left it after the first message. Ann posts in between.

    traced: whether messages have their rows in the trace, as OASIS writes them.
    """
    said = [(1, 0, "The harbour is closed on Monday.", 1), (2, 1, "Then we meet at the mill.", 4)]
    refreshed = {"posts": [{"post_id": 7, "user_id": 0, "content": "A post of Ann."}]}
    trace = [
        (2, 2, "leave_group", {"group_id": 1}),
        (0, 3, "create_post", {"content": "A post of Ann.", "post_id": 7}),
        (3, 3, "refresh", refreshed),
    ]
    if traced:
        sent = [
            (who, at, "send_to_group", {"group_id": 1, "message_id": number, "content": text})
            for number, who, text, at in said
        ]
        trace = sorted([*trace, *sent], key=lambda row: row[1])
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(GROUP_SCHEMA)
        people = [(place, place, None, f"{name.lower()}_{place}") for place, name in enumerate(PEOPLE)]
        connection.executemany("INSERT INTO user VALUES (?, ?, ?, ?)", people)
        connection.execute("INSERT INTO chat_group (name) VALUES ('Harbour')")
        connection.executemany("INSERT INTO group_members VALUES (1, ?, 0)", [(0,), (1,), (3,)])
        connection.executemany("INSERT INTO group_messages VALUES (?, 1, ?, ?, ?)", said)
        rows = [(who, at, action, json.dumps(info)) for who, at, action, info in trace]
        connection.executemany("INSERT INTO trace VALUES (?, ?, ?, ?)", rows)
        connection.commit()
    return path


@pytest.mark.parametrize("traced", [True, False])
def test_what_was_said_in_a_group_was_shown_to_its_members(folder: Folder, traced: bool) -> None:
    path = folder(config=PEOPLE, reddit=PEOPLE)
    group_chat(path / "reddit_simulation.db", traced=traced)
    digest = digests(load_population(path), language="en")
    assert digest.exposure == {"reddit": True}
    shown = {
        who: (digest.texts[f"agent:uuid-{who.lower()}"] or "").partition("that were shown:\n")[2] for who in PEOPLE
    }
    monday, mill = "Ann (Harbour): The harbour is closed on Monday.", "Bob (Harbour): Then we meet at the mill."
    assert shown == {
        "Ann": f"- [S1] {mill}",  # nobody is shown what they said themselves
        "Bob": f"- [S1] {monday}",
        "Cem": f"- [S1] {monday}",  # what was said after leaving was not shown
        "Dot": f"- [S1] {mill}\n- [S2] Ann: A post of Ann.\n- [S3] {monday}",
    }
    assert digest.named["agent:uuid-dot"] == {
        "S1": "reddit group message 2", "S2": "reddit post 7", "S3": "reddit group message 1",
    }  # fmt: skip
    own = digest.texts["agent:uuid-bob"] or ""
    assert ("[P1] Then we meet at the mill." in own) is traced
    assert digest.named["agent:uuid-bob"].get("P1") == ("reddit group message 2" if traced else None)


def test_a_database_of_an_older_oasis_has_no_groups(folder: Folder) -> None:
    path = folder(config=PEOPLE, reddit=PEOPLE)
    database = group_chat(path / "reddit_simulation.db", traced=True)
    with closing(sqlite3.connect(database)) as connection:
        connection.executescript("DROP TABLE chat_group; DROP TABLE group_members; DROP TABLE group_messages;")
    digest = digests(load_population(path), language="en")
    assert digest.sources == {"reddit": "database"}
    assert "[S1] Ann: A post of Ann." in (digest.texts["agent:uuid-dot"] or "")
