"""The ledger on real files: the life of a call, answers and their counters, pinned values, damaged files."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import tempfile
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from enquete.ledger.backup import carry
from enquete.ledger.folders import LEDGER, make_run_folder
from enquete.ledger.ledger import Failure, Ledger, Usage
from enquete.ledger.queries import text_of
from enquete.state.asking import FEW, Answer, BlockKey, CallKey, PagedPeople, Participant
from enquete.state.interview_context import Completion
from enquete.state.request import remember
from tests.support.ledgers import block_key, call, counted, opened, prompt, with_ledger
from tests.support.populations import participants
from tests.support.studies import rows, spent

pytestmark = pytest.mark.anyio


def counters(ledger: Ledger) -> dict[tuple[object, ...], int]:
    return {key: value for key, value in ledger.counters().items() if value and key[-1] != "lost"}


@pytest.fixture(params=["file", "postgresql"])
def tmp_path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A run's folder: what is true of a ledger is true wherever it is."""
    if request.param == "postgresql":
        folder = tmp_path / f"run_{uuid4().hex}"
        make_run_folder(folder, remember(request.getfixturevalue("postgres").url))
        return folder
    return tmp_path


class TestCalls:
    async def test_a_call_is_a_row_before_it_is_sent_and_settled_after(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            await ledger.reserve(call(), prompt(), "m", 500)
            assert ledger.settled(call()) is None
            assert rows(tmp_path, "SELECT status, reserved FROM calls") == [("reserved", 500)]
            usage = Usage(10, 5, allowance=7, sends=2, latency_ms=3, fingerprint="fp", raw="{}")
            await ledger.settle(call(), Completion("text", "length"), usage)
            assert ledger.settled(call()) == Completion("text", "length")
            sql = "SELECT status, input_tokens, output_tokens, allowance, sends, fingerprint, raw FROM calls"
            assert rows(tmp_path, sql) == [("settled", 10, 5, 7, 2, "fp", "{}")]
            assert (ledger.total("tokens"), ledger.total("calls")) == (22, 1)

    async def test_a_settled_call_is_never_reserved_again(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            await ledger.reserve(call(), prompt(), "m", 500)
            with pytest.raises(RuntimeError, match="settled or in flight"):
                await ledger.reserve(call(), prompt(), "m", 500)
            await ledger.settle(call(), Completion("text"), Usage(1, 1))
            with pytest.raises(RuntimeError, match="settled or in flight"):
                await ledger.reserve(call(), prompt(), "m", 500)
            with pytest.raises(RuntimeError, match="settled twice or never reserved"):
                await ledger.settle(call(), Completion("other"), Usage(1, 1))
            with pytest.raises(RuntimeError, match="not in flight"):
                await ledger.fail(call(), "late", Usage(0, 0, 99))
            assert ledger.settled(call()) == Completion("text")
            assert ledger.total("tokens") == 2

    def test_failed_and_lost_calls_are_taken_up_again_and_their_allowances_add_up(self, tmp_path: Path) -> None:
        """300 (failed after a time-out) + 500 (in flight when the process died) + 15 (answered) = 815."""

        async def dies(ledger: Ledger) -> None:
            await ledger.reserve(call(), prompt(), "m", 300)
            await ledger.fail(call(), "timed out", Usage(0, 0, 300, sends=3))
            assert ledger.settled(call()) is None
            await ledger.reserve(call(), prompt("reworded"), "m", 500)

        async def goes_on(ledger: Ledger) -> None:
            assert await ledger.sweep() == 1
            assert await ledger.sweep() == 0
            assert ledger.total("tokens") == 800
            assert ledger.total("lost") == 1
            await ledger.reserve(call(), prompt(), "m", 500)
            await ledger.settle(call(), Completion("at last"), Usage(10, 5))
            assert ledger.total("tokens") == 815

        with_ledger(tmp_path, dies)
        with_ledger(tmp_path, goes_on)
        assert spent(tmp_path) == 815
        assert rows(tmp_path, "SELECT status, allowance, sends, error FROM calls") == [("settled", 800, 5, "")]

    def test_what_is_sent_in_the_same_words_is_stored_once(self, tmp_path: Path) -> None:
        async def work(ledger: Ledger) -> None:
            asked = [prompt(f"{i // 2}?", system=f"Rules.\n\nYou are {i // 4}.") for i in range(20)]
            await asyncio.gather(*(ledger.reserve(call(f"a{i}"), tokens, "m", 1) for i, tokens in enumerate(asked)))

        with_ledger(tmp_path, work)
        texts = [text for (text,) in rows(tmp_path, "SELECT text FROM texts")]
        assert len(texts) == 10 + 5 + 1
        assert {"Rules.\n\n", "You are 4."} <= {*texts}
        assert rows(tmp_path, f"SELECT {text_of('system_hash')} FROM calls WHERE id=20") == [("Rules.\n\nYou are 4.",)]
        assert rows(tmp_path, "SELECT count(DISTINCT prompt_hash) FROM calls") == [(10,)]

    def test_what_was_sent_is_taken_over_whole(self, tmp_path: Path) -> None:
        """By a run that asks nobody in the same words."""

        async def asks(ledger: Ledger) -> None:
            await ledger.reserve(call(), prompt(system="Rules.\n\nYou are Ada."), "m", 1)

        async def takes_over(ledger: Ledger) -> None:
            await carry(tmp_path / "first" / LEDGER, ledger, [call().methodology])

        for name, work in (("first", asks), ("second", takes_over)):
            (tmp_path / name).mkdir()
            with_ledger(tmp_path / name, work)
        told = f"SELECT {text_of('system_hash')}, {text_of('messages_hash')} FROM calls"
        ((system, messages),) = rows(tmp_path / "second", told)
        assert (system, messages is None) == ("Rules.\n\nYou are Ada.", False)


class TestAnswers:
    async def test_what_is_stored_is_what_is_read(self, tmp_path: Path) -> None:
        full = Answer(
            "i/1", "repaired", 3.0, "weil «Ä»\n", 0.8, {"p": [1, None]}, ("late", "x"), position=2,
            options_shown=(1, "b"),
        )  # fmt: skip
        bare = Answer("i/2", "invalid", position=1)
        async with opened(tmp_path) as ledger:
            await ledger.store(block_key(), [full, bare])
            assert ledger.answers_to(block_key()) == {"i/1": full, "i/2": bare}
            assert [answer for _, answer in ledger.iterate_answers("longitudinal")] == [bare, full]

    @pytest.mark.parametrize(
        "bad",
        [
            Answer("i", "ok", confidence=1.5),
            Answer("i", "ok", text=None),  # type: ignore[arg-type]
            Answer("i", "not_reached"),  # type: ignore[arg-type]
            Answer("i", "ok", value="high"),  # type: ignore[arg-type]
            Answer(None, "ok"),  # type: ignore[arg-type]
        ],
        ids=["confidence", "null text", "status", "text as value", "null item"],
    )
    async def test_a_broken_constraint_is_an_error_and_nothing_is_stored(self, tmp_path: Path, bad: Answer) -> None:
        """INSERT OR IGNORE let all of these vanish without a word."""
        async with opened(tmp_path) as ledger:
            with pytest.raises((sqlite3.IntegrityError, psycopg.DatabaseError)):
                await ledger.store(block_key(), [Answer("good", "ok"), bad])
            assert ledger.answers_to(block_key()) == {}
            assert counters(ledger) == {}

    async def test_an_ok_row_is_never_written_again(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            await ledger.store(block_key(), [Answer("i", "ok", 3.0)])
            for status in ("ok", "failed"):
                with pytest.raises(RuntimeError, match="already stored"):
                    await ledger.store(block_key(), [Answer("new", "ok"), Answer("i", status, 4.0)])
            assert ledger.answers_to(block_key()) == {"i": Answer("i", "ok", 3.0)}
            assert counters(ledger) == counted(tmp_path)

    async def test_a_failed_row_is_replaced_and_the_counters_follow(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            await ledger.store(block_key(), [Answer("a", "failed"), Answer("b", "failed"), Answer("c", "ok", 1.0)])
            await ledger.store(block_key(), [Answer("a", "repaired", 2.0)])
            assert {a.item: a.status for a in ledger.answers_to(block_key()).values()} == {"a": "repaired",
                "b": "failed", "c": "ok"}  # fmt: skip
            assert {key[-1]: n for key, n in counters(ledger).items()} == {"blocks": 1, "answers_ok": 1,
                "answers_repaired": 1, "answers_failed": 1}  # fmt: skip

    def test_the_order_does_not_depend_on_who_answered_first(self, tmp_path: Path) -> None:
        whom = [(f"agent:{i}", part) for i in range(4) for part in "ab"]
        keys = [block_key(*who, arm=arm, round=r) for who in whom for arm in ("main", "b") for r in (1, 2)]

        def order(folder: Path, seed: int) -> list[tuple[BlockKey, str]]:
            stored: list[tuple[BlockKey, str]] = []

            async def work(ledger: Ledger) -> None:
                for key in random.Random(seed).sample(keys, len(keys)):
                    await ledger.store(key, [Answer(f"{key.part}{n}", "ok", position=3 - n) for n in range(3)])
                stored.extend((key, answer.item) for key, answer in ledger.iterate_answers("longitudinal"))

            folder.mkdir()
            with_ledger(folder, work)
            return stored

        first, second = order(tmp_path / "1", 1), order(tmp_path / "2", 2)
        assert first == second
        assert len(first) == len(keys) * 3

    async def test_answers_of_one_arm_phase_or_round_only(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            for arm in ("main", "b"):
                for round in (1, 2):
                    await ledger.store(block_key(arm=arm, round=round), [Answer(f"{arm}{round}", "ok")])
            items = {a.item for _, a in ledger.iterate_answers("longitudinal", arm="b", phase="T0", round=2)}
            assert items == {"b2"}
            assert not list(ledger.iterate_answers("longitudinal", phase="T1"))
            assert not list(ledger.iterate_answers("delphi"))

    async def test_an_unfinished_iteration_hides_no_later_write(self, tmp_path: Path) -> None:
        """On one connection an open read keeps every other read at its own snapshot: settled calls looked unpaid."""
        async with opened(tmp_path) as ledger:
            await ledger.store(block_key(), [Answer(f"i{n}", "ok") for n in range(10)])
            reading = ledger.iterate_answers("longitudinal")
            next(reading)
            await ledger.reserve(call(), prompt(), "m", 1)
            await ledger.settle(call(), Completion("paid"), Usage(1, 1))
            assert ledger.settled(call()) == Completion("paid")
            assert sum(1 for _ in reading) == 9


@st.composite
def histories(draw: st.DrawFn) -> list[tuple[str, int, int, str]]:
    """Operations as (what, which subject, a number, a status)."""
    names = st.sampled_from(["reserve", "settle", "fail", "sweep", "store", "reopen"])
    statuses = st.sampled_from(["ok", "repaired", "refused", "invalid", "failed"])
    step = st.tuples(names, st.integers(0, 2), st.integers(0, 50), statuses)
    return draw(st.lists(step, max_size=30))


async def apply(ledger: Ledger, step: tuple[str, int, int, str]) -> None:
    what, subject, number, status = step
    key, block = call(f"agent:{subject}"), block_key(f"agent:{subject}", round=number % 2)
    try:
        if what == "reserve":
            await ledger.reserve(key, prompt(), "m", number)
        elif what == "settle":
            await ledger.settle(key, Completion("x"), Usage(number, number, number % 3))
        elif what == "fail":
            await ledger.fail(key, "no", Usage(0, 0, number))
        elif what == "sweep":
            await ledger.sweep()
        elif what == "store":
            items = [f"i{n}" for n in range(3) if number >> n & 1]
            if items:
                await ledger.store(block, [Answer(item, status) for item in items])  # type: ignore[arg-type]
    except RuntimeError:
        pass  # refused, as it must be in this state; what matters is what is on disk afterwards


@settings(max_examples=40)
@given(histories())
def test_counters_equal_counts_over_rows_after_any_history(steps: list[tuple[str, int, int, str]]) -> None:
    async def work(folder: Path) -> None:
        remaining = list(steps)
        while True:
            async with opened(folder) as ledger:
                while remaining and remaining[0][0] != "reopen":
                    await apply(ledger, remaining.pop(0))
                assert counters(ledger) == counted(folder)
                assert ledger.total("tokens") == spent(folder)
            if not remaining:
                return
            remaining.pop(0)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(work(Path(folder)))


class TestPinnedValues:
    async def test_the_first_writer_wins(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as ledger:
            offers = [ledger.pin("main", "delphi", "T1", "themes", {"by": i, "ü": [1, None]}) for i in range(50)]
            got = await asyncio.gather(*offers)
            assert got == [{"by": 0, "ü": [1, None]}] * 50
            assert ledger.pinned("main", "delphi", "T1", "themes") == got[0]
            assert ledger.pinned("b", "delphi", "T1", "themes") is None

    async def test_also_of_two_processes(self, tmp_path: Path) -> None:
        async with opened(tmp_path) as one, opened(tmp_path) as two:
            got = await asyncio.gather(*(o.pin("", "", "", "n", w) for w, o in (("a", one),
                ("b", two)) for _ in "xy"))  # fmt: skip
            assert len(set(map(str, got))) == 1
            assert one.pinned("", "", "", "n") == two.pinned("", "", "", "n") == got[0]


async def test_stages_failures_population_and_digests(tmp_path: Path) -> None:
    failure = Failure("main", "delphi", "T1", 1, "agent:a", "ValueError: no", "Traceback …")
    async with opened(tmp_path) as ledger:
        await ledger.set_stage("delphi", "T1", "short", "round 1")
        await ledger.set_stage("delphi", "T1", "done", "round 3")
        assert ledger.stages()["delphi", "T1"].outcome == "done"
        await ledger.record_failure(failure)
        await ledger.record_failure(failure)
        assert ledger.failures() == [failure]
        await ledger.clear_failure("main", "delphi", "T1", 1, "agent:b")
        assert ledger.failures() == [failure]
        await ledger.clear_failure("main", "delphi", "T1", 1, "agent:a")
        assert ledger.failures() == []
        people = participants(5)
        await ledger.store_population(people)
        assert ledger.population() == people
        await ledger.store_digests("T1", {people[0].id: "saw a boat", people[1].id: None})
        await ledger.store_digests("T1", {people[0].id: "saw two boats"})
        assert ledger.digests("T1") == {people[0].id: "saw a boat", people[1].id: None}


async def test_memories_and_what_is_pinned_of_them_come_together(tmp_path: Path) -> None:
    """Killed between the two, a run could be neither gone on with nor repaired."""
    async with opened(tmp_path) as ledger:
        before = ledger._writer.commits
        await ledger.store_digests("T1", {"agent:1": "saw a boat"}, {"with_memory": 1})
        assert ledger._writer.commits == before + 1
        assert ledger.pinned("", "", "T1", "memory") == {"with_memory": 1}


async def test_more_agents_than_are_held_are_read_in_pages_with_their_memories(tmp_path: Path) -> None:
    people = [Participant(f"agent:{n}", f"Person {n}", "citizen", "Lives here.", agent_id=n) for n in range(FEW + 1)]
    async with opened(tmp_path) as ledger:
        await ledger.store_population(people)
        await ledger.store_digests("T1", {"agent:3": "saw a boat", f"agent:{FEW}": "saw two"})
        population = ledger.population()
        assert isinstance(population, PagedPeople)
        assert population[FEW] == population.with_id(f"agent:{FEW}") == people[-1]
        assert list(population) == people
        remembering = ledger.remembering(population, "T1")
        assert [who.digest for who in remembering[2:5]] == [None, "saw a boat", None]
        assert remembering[-1].digest == "saw two"
        assert ledger.remembering(population, "")[3].digest is None
        with pytest.raises(KeyError):
            population.with_id("agent:nobody")


async def test_every_call_key_field_is_part_of_the_key(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        key = call()
        await ledger.reserve(key, prompt(), "m", 1)
        await ledger.settle(key, Completion("x"), Usage(1, 1))
        for name in CallKey._fields[1:]:
            other = key._replace(**{name: 1 if name == "attempt" else "other"})  # type: ignore[arg-type]
            assert ledger.settled(other) is None, name
