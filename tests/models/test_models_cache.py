"""The response cache: keyed by all that decides, shared between processes, and never the reason that a run stops."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.models.cache import ResponseCache, default_folder, request_key
from enquete.state.asking import CallKey
from enquete.state.errors import SettingsError
from enquete.state.interview_context import Prompt

PROMPT = Prompt(
    "You are Ada.", ({"role": "user", "content": "How are you?"},),
    '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}', 500,
)  # fmt: skip
TURNED = '{"type":"object","properties":{"b":{"type":"integer"},"a":{"type":"string"}}}'
OCCASION = CallKey("run_1", "main", "longitudinal", "T0", "answer", "agent:ada||0|0|all", 0)


def key_of(prompt: Prompt = PROMPT, occasion: CallKey | None = None, **changed: object) -> str:
    settings = {"base_url": "http://localhost:8080/v1", "model": "m", "temperature": 0.7, "seed": 0, **changed}
    return request_key(prompt, occasion=occasion, **settings)  # type: ignore[arg-type]


def put(cache: ResponseCache, key: str, text: str = "{}", finish: str = "stop", tokens: int | None = 10) -> None:
    cache.put(
        key, text=text, finish=finish, raw="raw", fingerprint="fp", model="m-1", input_tokens=tokens, output_tokens=None
    )


def written(cache: ResponseCache) -> None:
    """What was put is in the file: the one thread that writes has come to what is asked of it now."""
    cache._thread.submit(int).result()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "new" / "responses.sqlite"


@pytest.fixture
def cache(path: Path) -> Iterator[ResponseCache]:
    with closing(ResponseCache(path)) as opened:
        yield opened


def reopened(path: Path) -> closing[ResponseCache]:
    return closing(ResponseCache(path))


# --- the key ---------------------------------------------------------------------------------------------------------


def test_whatever_decides_about_a_response_is_in_its_key() -> None:
    variants = [
        key_of(),
        key_of(base_url="http://localhost:8081/v1"),
        key_of(model="m2"),
        key_of(temperature=0.8),
        key_of(seed=1),
        key_of(replace(PROMPT, system="You are Bob.")),
        key_of(replace(PROMPT, messages=({"role": "assistant", "content": "How are you?"},))),
        key_of(replace(PROMPT, messages=({"role": "user", "content": "How old are you?"},))),
        key_of(replace(PROMPT, messages=())),
        key_of(replace(PROMPT, schema='{"type":"string"}')),
        key_of(replace(PROMPT, schema=TURNED)),  # its order is shown to the model
        key_of(replace(PROMPT, max_output_tokens=501)),
        key_of(occasion=OCCASION),
        *(key_of(occasion=OCCASION._replace(**{name: "other"})) for name in CallKey._fields[1:-1]),  # type: ignore[arg-type]
        key_of(occasion=OCCASION._replace(attempt=1)),
    ]
    assert len(set(variants)) == len(variants)


def test_what_does_not_decide_is_not_in_the_key() -> None:
    assert key_of(replace(PROMPT, messages=({"content": "How are you?", "role": "user"},))) == key_of()
    assert key_of(base_url="http://localhost:8080/v1/") == key_of()
    assert key_of(temperature=1) == key_of(temperature=1.0)
    assert key_of(occasion=OCCASION._replace(run="run_2")) == key_of(occasion=OCCASION)


@given(st.text(), st.text())
def test_texts_do_not_run_into_one_another(system: str, content: str) -> None:
    def named(first: str, second: str) -> str:
        return key_of(replace(PROMPT, system=first, messages=({"role": "user", "content": second},)))

    assert (named(system, content) == named(content, system)) == (system == content)
    assert len(named(system, content)) == 64


# --- storing ---------------------------------------------------------------------------------------------------------


def test_what_was_put_is_found_at_once_and_after_reopening(cache: ResponseCache, path: Path) -> None:
    before = datetime.now(UTC)
    put(cache, "k", "antwörtchen 🐟")
    cached = cache.get("k")
    assert cached is not None
    cache.close()
    with reopened(path) as again:
        assert again.get("k") == cached
        assert (again.hits, again.misses) == (1, 0)
    assert (cached.text, cached.finish, cached.raw, cached.fingerprint, cached.model, cached.input_tokens) == (
        ("antwörtchen 🐟", "stop", "raw", "fp", "m-1", 10)
    )
    assert cached.output_tokens is None
    assert before <= cached.stored_at <= datetime.now(UTC)


def test_hits_and_misses_are_counted_and_using_it_after_it_was_closed_is_a_bug(cache: ResponseCache) -> None:
    assert cache.get("k") is None
    put(cache, "k")
    assert cache.get("k")
    assert cache.get("k")
    assert (cache.hits, cache.misses, cache.lost, cache.notices) == (2, 1, 0, ())
    cache.close()
    cache.close()
    with pytest.raises(RuntimeError, match="after it was closed"):
        cache.get("k")
    with pytest.raises(RuntimeError, match="after it was closed"):
        put(cache, "k")


@pytest.mark.parametrize("finish", ["length", "content_filter", "refusal", ""])
def test_only_complete_responses_are_kept(cache: ResponseCache, finish: str) -> None:
    put(cache, "k", finish=finish)
    assert cache.get("k") is None


@settings(max_examples=10)
@given(st.lists(st.tuples(st.sampled_from("abcd"), st.text(st.characters(codec="utf-8"))), max_size=30))
def test_the_last_response_under_a_key_counts(
    tmp_path_factory: pytest.TempPathFactory, puts: list[tuple[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("c") / "responses.sqlite"
    with closing(ResponseCache(path)) as cache:
        for key, text in puts:
            put(cache, key, text)
    with reopened(path) as again:
        for key, text in dict(puts).items():
            cached = again.get(key)
            assert cached is not None
            assert cached.text == text


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_only_the_owner_can_read_it(cache: ResponseCache, path: Path) -> None:
    put(cache, "k")
    written(cache)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    files = list(path.parent.iterdir())
    assert {file.name for file in files} >= {"responses.sqlite", "responses.sqlite-wal", "responses.sqlite-shm"}
    assert {file.stat().st_mode & 0o777 for file in files} == {0o600}


@pytest.mark.skipif(os.name != "posix", reason="modes")
def test_a_folder_that_was_there_keeps_its_mode_and_a_lax_file_is_tightened(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    path = tmp_path / "responses.sqlite"
    path.touch(0o644)
    with reopened(path):
        assert tmp_path.stat().st_mode & 0o777 == 0o755
        assert path.stat().st_mode & 0o777 == 0o600


def test_no_word_of_the_request_is_in_the_file(path: Path) -> None:
    with reopened(path) as cache:
        put(cache, key_of())
    content = b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert b"Ada" not in content
    assert b"How are you" not in content


# --- several users ---------------------------------------------------------------------------------------------------


def test_many_threads_with_event_loops_of_their_own(cache: ResponseCache) -> None:
    async def use(number: int) -> None:
        for index in range(50):
            put(cache, f"{number}/{index}", str(index))
            await asyncio.sleep(0)
            cached = cache.get(f"{number}/{index}")
            assert cached
            assert cached.text == str(index)

    failures: list[BaseException] = []

    def run(number: int) -> None:
        try:
            asyncio.run(use(number))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert not failures
    assert (cache.hits, cache.misses, cache.lost) == (300, 0, 0)


def test_another_process_holding_the_file_does_not_hold_up_the_event_loop(cache: ResponseCache, path: Path) -> None:
    """A writer waits up to five seconds for the lock, in its own thread: the loop goes on."""
    put(cache, "before")
    written(cache)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        started = threading.get_ident(), datetime.now(UTC)
        put(cache, "k")
        assert cache.get("k")
        assert cache.get("before")
        assert (datetime.now(UTC) - started[1]).total_seconds() < 2
        other.execute("ROLLBACK")
    cache.close()
    with reopened(path) as again:
        assert again.get("k")


WRITER = """
import sys
from pathlib import Path
from enquete.models.cache import ResponseCache
cache = ResponseCache(Path(sys.argv[1]))
for index in range(200):
    cache.put(f"{sys.argv[2]}/{index}", text="t", finish="stop", raw="", fingerprint="", model="m",
              input_tokens=1, output_tokens=1)
    cache.get("shared")
    cache.put("shared", text=sys.argv[2], finish="stop", raw="", fingerprint="", model="m",
              input_tokens=1, output_tokens=1)
cache.close()
assert (cache.lost, cache.notices) == (0, ()), cache.notices
"""


def test_several_processes_at_once_and_none_had_a_file_before(path: Path, root: Path) -> None:
    command = [sys.executable, "-W", "error", "-c", WRITER, str(path)]
    processes = [subprocess.Popen([*command, str(number)], cwd=root) for number in range(3)]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    with reopened(path) as cache:
        assert all(cache.get(f"{number}/{index}") for number in range(3) for index in range(200))
        assert cache.notices == ()


# --- faults ----------------------------------------------------------------------------------------------------------


def scribble(path: Path) -> None:
    path.write_bytes(b"this was a database once " * 400)


def tear(path: Path) -> None:
    sound = path.read_bytes()[:8192]  # header and schema, and the page that maps the others
    path.write_bytes(sound + b"\xff" * (path.stat().st_size - len(sound)))


def older(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version=99")


@pytest.mark.parametrize(
    ("harm", "notice"),
    [(scribble, "was damaged (file is not a database)"), (older, "another version of Enquete (schema 99")],
)
def test_an_unusable_file_is_set_aside_with_a_notice(path: Path, harm: Callable[[Path], None], notice: str) -> None:
    with reopened(path) as cache:
        put(cache, "k")
    harm(path)
    was = path.read_bytes()
    with reopened(path) as cache:
        assert notice in cache.notices[0]
        assert cache.get("k") is None
        put(cache, "new")
        assert cache.get("new")
    (aside,) = path.parent.glob("responses.sqlite.aside-*")
    assert aside.name in cache.notices[0]
    assert aside.read_bytes() == was
    with reopened(path) as cache:
        assert cache.get("new")
        assert cache.notices == ()


def test_a_page_that_turns_out_damaged_during_a_run_switches_the_cache_off(path: Path) -> None:
    """The first pages are sound, so that opening succeeds; the table and its index are not."""
    with reopened(path) as cache:
        put(cache, "k")
    tear(path)
    with reopened(path) as cache:
        assert cache.notices == ()
        assert cache.get("k") is None
        assert "malformed" in cache.notices[0]
        assert "off for the rest of this run" in cache.notices[0]
        put(cache, "k")
        assert cache.get("k") is None
        assert (cache.lost, len(cache.notices)) == (1, 1)
    with reopened(path) as cache:
        put(cache, "k")
        assert cache.get("k")


def test_a_fresh_file_of_another_process_is_not_taken_for_the_damaged_one(path: Path) -> None:
    with reopened(path) as cache:
        put(cache, "k")
    tear(path)
    with reopened(path) as first, reopened(path) as second:
        assert first.get("k") is None
        with reopened(path) as third:
            put(third, "fresh")
        assert second.get("k") is None
        assert len(list(path.parent.glob("*.aside-*"))) <= 3  # one file and its -wal and -shm
    with reopened(path) as cache:
        assert cache.get("fresh")


def test_a_full_disk_loses_responses_and_says_so_but_stops_nothing(cache: ResponseCache, path: Path) -> None:
    """A file of at most so many pages answers as a full disk does: SQLITE_FULL."""
    put(cache, "kept")
    written(cache)
    cache._writer.execute("PRAGMA max_page_count=8")
    put(cache, "large", "x" * 100_000)
    written(cache)
    assert cache.get("large") is None
    assert cache.get("kept")
    assert cache.lost == 1
    assert cache.notices == ("The response cache responses.sqlite could not be written: database or disk is full.",)
    put(cache, "small")
    cache.close()
    with reopened(path) as again:
        assert again.get("small")


def test_what_is_no_cache_of_ours_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SettingsError, match=r"file.responses\.sqlite: .*set ENQUETE_CACHE_DIR to a local folder"):
        ResponseCache(tmp_path / "file" / "responses.sqlite")
    path = tmp_path / "ledger.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE calls(x)")
        connection.commit()
    was = path.read_bytes()
    with pytest.raises(SettingsError, match="the database of another program"):
        ResponseCache(path)
    assert path.read_bytes() == was


# --- place ------------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is moved by XDG_CACHE_HOME on Linux")
def test_the_default_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "enquete"
