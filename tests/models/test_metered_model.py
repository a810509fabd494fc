"""Every paid request through ledger and budget: what is looked up, reserved, settled, failed and kept secret."""

from __future__ import annotations

import asyncio
import random
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from enquete.ledger.budget import Budget
from enquete.ledger.entries import usage
from enquete.ledger.ledger import Ledger
from enquete.models.chat_replies import ModelResponse
from enquete.models.metered_model import MeteredModel, Terms, estimate, input_bound, valued
from enquete.models.prices import Price
from enquete.models.servers import Limiter
from enquete.models.transport import Transport
from enquete.state.errors import ModelRejected, ModelUnavailable
from enquete.state.interview_context import Completion, Prompt
from tests.support.ledgers import ScriptedSender, call, everything_on_disk, opened, prompt, response, with_ledger
from tests.support.model_server import ModelServer
from tests.support.studies import rows, spent

pytestmark = pytest.mark.anyio

BOUND = input_bound(prompt()) + 100  # what a call with `prompt()` reserves: 100 tokens of output


def metered(ledger: Ledger, sender: ScriptedSender | Transport | None, cap: int = 10**6) -> tuple[MeteredModel, Budget]:
    budget = Budget(cap, spent=ledger.total("tokens"))
    return MeteredModel(ledger, budget, sender, Terms("m", 0.7, 1)), budget


def never() -> Prompt:
    raise AssertionError("a settled call's prompt must not be built")


async def test_a_settled_call_is_looked_up_before_its_prompt_is_built(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        sender = ScriptedSender(["hello"])
        model, budget = metered(ledger, sender)
        assert await model.request(call(), prompt) == Completion("hello")
        assert await model.request(call(), never, lambda: "offline") == Completion("hello")
        assert len(sender.sent) == 1
        assert budget.spent == spent(tmp_path) == 15  # 10 read + 5 written, as reported


async def test_offline_answers_are_metered_by_estimate(tmp_path: Path) -> None:
    """Four bytes a token, rounded up: 'You are Ada.' 3 + 'How are you?' 3 + 'äöü' (6 bytes) 2 = 8."""
    async with opened(tmp_path) as ledger:
        model, budget = metered(ledger, None)
        assert await model.request(call(), prompt, lambda: "äöü") == Completion("äöü")
        assert budget.spent == spent(tmp_path) == 8
        assert rows(tmp_path, "SELECT input_tokens, output_tokens, status FROM calls") == [(6, 2, "settled")]
        assert estimate("äöü") == 2


async def test_unreported_usage_counts_as_its_upper_bound(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        model, budget = metered(ledger, ScriptedSender([response("äöü", read=None, written=None)]))
        await model.request(call(), prompt)
        assert budget.spent == spent(tmp_path) == input_bound(prompt()) + 6


async def test_time_outs_on_the_way_to_an_answer_are_allowances(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        model, budget = metered(ledger, ScriptedSender([response("late", timeouts=2)]))
        assert await model.request(call(), prompt) == Completion("late")
        assert budget.spent == spent(tmp_path) == 15 + 2 * BOUND
        assert budget.reserved == 0


async def test_a_model_that_stays_away_fails_the_call_and_its_time_outs_count(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        sender = ScriptedSender([ModelUnavailable("no answer", sends=3, timeouts=2), "back again"])
        model, budget = metered(ledger, sender)
        assert await model.request(call(), prompt) == "failed"
        assert rows(tmp_path, "SELECT status, sends, error FROM calls") == [("failed", 3, "no answer")]
        assert budget.spent == spent(tmp_path) == 2 * BOUND
        assert not budget.stopped
        assert await model.request(call(), prompt) == Completion("back again")
        assert budget.spent == spent(tmp_path) == 2 * BOUND + 15


async def test_one_refused_prompt_fails_alone_and_a_refused_key_stops_the_run(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        sender = ScriptedSender([ModelRejected("too long"), ModelRejected("wrong key", fatal=True), "never sent"])
        model, budget = metered(ledger, sender)
        assert await model.request(call("a"), prompt) == "failed"
        assert await model.request(call("b"), prompt) == "short"
        assert budget.stopped == "wrong key"
        assert await model.request(call("c"), prompt) == "short"
        assert len(sender.sent) == 2
        assert budget.spent == spent(tmp_path) == 0
        assert rows(tmp_path, "SELECT subject, status FROM calls ORDER BY subject") == [
            ("a", "failed"),
            ("b", "failed"),
        ]


async def test_no_budget_means_no_request_and_no_row(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        sender = ScriptedSender(["hello"])
        model, _ = metered(ledger, sender, cap=BOUND - 1)
        assert await model.request(call(), prompt) == "short"
        assert sender.sent == []
        assert rows(tmp_path, "SELECT count(*) FROM calls") == [(0,)]


def test_a_call_cut_off_in_flight_is_swept_into_an_allowance(tmp_path: Path) -> None:
    async def dies(ledger: Ledger) -> None:
        sender = ScriptedSender(["never arrives"], gate=asyncio.Event())
        model, budget = metered(ledger, sender)
        request = asyncio.ensure_future(model.request(call(), prompt))
        while not sender.sent:  # noqa: ASYNC110 - until it is sent
            await asyncio.sleep(0.001)
        assert budget.reserved == BOUND
        request.cancel()
        with pytest.raises(asyncio.CancelledError):
            await request
        assert (budget.reserved, budget.spent) == (0, BOUND)
        assert rows(tmp_path, "SELECT status FROM calls") == [("reserved",)]

    async def goes_on(ledger: Ledger) -> None:
        assert await ledger.sweep() == 1
        model, budget = metered(ledger, ScriptedSender(["now"]))
        assert budget.spent == spent(tmp_path) == BOUND
        assert await model.request(call(), prompt) == Completion("now")
        assert budget.spent == spent(tmp_path) == BOUND + 15

    with_ledger(tmp_path, dies)
    with_ledger(tmp_path, goes_on)


async def test_a_bug_does_not_leave_its_call_in_flight_for_ever(tmp_path: Path) -> None:
    def bug() -> str:
        raise KeyError("planted")

    async with opened(tmp_path) as ledger:
        model, budget = metered(ledger, None)
        for _ in range(2):  # the second time too it is the bug that is told, not its consequence
            with pytest.raises(KeyError, match="planted"):
                await model.request(call(), prompt, bug)
        assert rows(tmp_path, "SELECT status, error FROM calls") == [("failed", "KeyError: 'planted'")]
        assert await model.request(call(), prompt, lambda: "mended") == Completion("mended")
        assert budget.spent == spent(tmp_path)
        assert budget.reserved == 0


async def test_the_cap_holds_with_256_calls_in_flight(tmp_path: Path) -> None:
    """Answers use at most what was reserved, so spent stays within the cap, and calls add up to it."""
    draw, cap = random.Random(3), 60 * BOUND

    def answer(prompt: Prompt) -> Any:
        return response("x", read=draw.randint(1, BOUND - 100), written=draw.randint(1, 100))

    async with opened(tmp_path) as ledger:
        model, budget = metered(ledger, ScriptedSender(answer), cap)
        got = await asyncio.gather(*(model.request(call(f"a{i}"), prompt) for i in range(256)))
        assert budget.spent == spent(tmp_path) <= cap
        assert budget.spent > cap - BOUND
        assert {"short"} < {text if isinstance(text, str) else "answered" for text in got}
        assert rows(tmp_path, "SELECT count(*) FROM calls WHERE status<>'settled'") == [(0,)]


@pytest.mark.parametrize("faults", [{}, {"http_401": 1.0}, {"http_500": 1.0}, {"http_400": 1.0}])
def test_the_key_is_nowhere_on_disk(tmp_path: Path, faults: dict[str, float]) -> None:
    """The server echoes the key in its answer and in its errors; log and ledger must not keep it."""
    secret = "sk-secret-0123456789-abcdef"

    def echo(body: dict[str, Any]) -> str:
        return f'{{"a": "your key is {secret}"}}'

    async def ask(server: ModelServer, ledger: Ledger) -> None:
        transport = Transport(
            server.base_url, SecretStr(secret), limiter=Limiter(4), timeout_s=5, backoff_s=0.01, patience_s=0.2
        )
        try:
            model, _ = metered(ledger, transport)
            await asyncio.gather(*(model.request(call(f"a{i}"), prompt) for i in range(5)))
        finally:
            await transport.aclose()

    with ModelServer(faults=faults, script=echo) as server:

        async def work(ledger: Ledger) -> None:
            await ask(server, ledger)
            assert secret.encode() not in everything_on_disk(tmp_path)  # with the write-ahead log
            assert rows(tmp_path, "SELECT count(*) FROM calls")[0][0]

        with_ledger(tmp_path, work)
        assert server.requests[0].authorization == f"Bearer {secret}"
    assert secret.encode() not in everything_on_disk(tmp_path)


def test_the_bound_counts_two_bytes_a_token_and_the_schema_twice() -> None:
    """Bytes of all texts, with the schema once in the prompt and once beside it, halved."""
    text = Prompt("Ä" * 50, ({"role": "user", "content": "?" * 30},), '{"type":"object","title":"é"}', 10)
    least = (100 + 30 + 2 * len('{"type":"object","title":"é"}'.encode())) / 2
    assert input_bound(text) >= least


async def test_admission_bounds_what_a_kill_can_lose_and_a_pause_must_wait_for(tmp_path: Path) -> None:
    """Of 20 calls with admission for 4, four are filed; after a stop the others are short without a row."""
    async with opened(tmp_path) as ledger:
        gate = asyncio.Event()
        sender, budget, admission = ScriptedSender(["x"], gate=gate), Budget(10**6), asyncio.Semaphore(4)
        model = MeteredModel(ledger, budget, sender, Terms("m", 0, 0), admission=admission)
        gate.set()
        await model.request(call("first"), prompt)  # what a call costs is known from then on
        gate.clear()
        requests = [asyncio.ensure_future(model.request(call(f"a{i}"), prompt)) for i in range(20)]
        while len(sender.sent) < 5:  # noqa: ASYNC110 - until four are sent
            await asyncio.sleep(0.001)
        await asyncio.sleep(0.02)
        filed = "SELECT status, count(*) FROM calls WHERE subject<>'first' GROUP BY status"
        assert rows(tmp_path, filed) == [("reserved", 4)]
        assert budget.reserved == 4 * BOUND
        await budget.stop("interrupted")
        gate.set()
        got = await asyncio.gather(*requests)
        assert sorted(map(str, got)) == sorted([str(Completion("x", model="m"))] * 4 + ["short"] * 16)
        assert rows(tmp_path, filed) == [("settled", 4)]


async def test_a_request_that_got_no_answer_counts_as_the_dearest(tmp_path: Path) -> None:
    """Billed 10 times the limit once: 1,000 tokens written, 10 read, so 1,010 - BOUND beyond, and a quarter more to be
    safe."""
    async with opened(tmp_path) as ledger:
        sender = ScriptedSender([response("x", written=1000), ModelUnavailable("gone", sends=1, timeouts=1)])
        model, budget = metered(ledger, sender)
        await model.request(call("a"), prompt)
        await model.request(call("b"), prompt)
        assert budget.spent == spent(tmp_path) == 1010 + BOUND + round((1010 - BOUND) * 1.25)


async def test_what_cannot_be_believed_is_counted_by_estimate_and_noted(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        odd = replace(response("äöü", read=None, written=None), unbelieved=True)
        model, budget = metered(ledger, ScriptedSender([odd]))
        await model.request(call(), prompt)
        assert budget.spent == spent(tmp_path) == input_bound(prompt()) + 6
        assert (ledger.total("unbelieved"), ledger.total("overlong")) == (1, 0)


@pytest.mark.parametrize("outcome", [response("late", timeouts=2), ModelUnavailable("away", timeouts=3)])
async def test_an_unanswered_request_costs_the_same_while_a_run_is_driven_and_in_its_ledger(
    tmp_path: Path, outcome: Any
) -> None:
    """The question at the price of input (1 a million), the longest reply at that of output (10); 10 read, 5
    written."""
    price = Price(1.0, 10.0, "test")
    asked = input_bound(prompt())
    lost = {"late": 2, "away": 3}["late" if isinstance(outcome, ModelResponse) else "away"]
    answered = 10 * 1.0 + 5 * 10.0 if isinstance(outcome, ModelResponse) else 0.0
    async with opened(tmp_path) as ledger:
        budget = Budget(10**6, cap_usd=1.0)
        model = MeteredModel(ledger, budget, ScriptedSender([outcome]), Terms("m", 0.7, 1, price))
        await model.request(call(), prompt)
        assert budget.spent_usd == pytest.approx((answered + lost * (asked * 1.0 + 100 * 10.0)) / 1e6)
        ((of, used),) = usage(ledger.read).items()
        assert of == ("longitudinal", "T0", "main", "m")
        assert used.unanswered == lost * BOUND
        assert valued(price, used) == pytest.approx(budget.spent_usd)


def test_what_the_server_had_read_before_costs_what_it_sells_that_for(tmp_path: Path) -> None:
    """100 read, 60 of them again: 40 at 1.0 and 60 at .25 a million, 5 written at 10.0; without a price of its own all
    at 1.0."""

    async def work(ledger: Ledger, price: Price, paid: float) -> None:
        budget = Budget(10**6, cap_usd=1.0)
        answer = replace(response("x", read=100, written=5), cached_tokens=60)
        await MeteredModel(ledger, budget, ScriptedSender([answer]), Terms("m", 0.7, 1, price)).request(call(), prompt)
        (used,) = usage(ledger.read).values()
        assert (budget.spent_usd, valued(price, used)) == (pytest.approx(paid / 1e6), pytest.approx(paid / 1e6))

    for place, price, paid in (
        ("told", Price(1.0, 10.0, "test", 0.25), 105.0),
        ("untold", Price(1.0, 10.0, "test"), 150.0),
    ):
        (tmp_path / place).mkdir()
        with_ledger(tmp_path / place, partial(work, price=price, paid=paid))


async def test_of_a_request_in_flight_when_its_process_died_the_texts_are_the_question(tmp_path: Path) -> None:
    async with opened(tmp_path) as ledger:
        await ledger.reserve(call(), prompt(), "m", BOUND)
        assert await ledger.sweep() == 1
        (used,) = usage(ledger.read).values()
        assert used.unanswered == BOUND
        texts = len("You are Ada.") + len('[{"role": "user", "content": "How are you?"}]')
        assert used.unanswered_read == texts // 2 <= input_bound(prompt())
