"""The process-wide limit: never exceeded, over loops and cancellations, and never loses a slot."""

import asyncio
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.models.servers import Limiter, Pause


class Gauge:
    def __init__(self) -> None:
        self.now = self.most = 0
        self.lock = threading.Lock()

    async def hold(self, limiter: Limiter, seconds: float) -> None:
        async with limiter:
            with self.lock:
                self.now += 1
                self.most = max(self.most, self.now)
            try:
                await asyncio.sleep(seconds)
            finally:
                with self.lock:
                    self.now -= 1


@given(size=st.integers(1, 8), cancel=st.sets(st.integers(0, 29)), tries=st.integers(0, 5))
def test_cancelled_waiters_and_holders_give_their_slots_back(size: int, cancel: set[int], tries: int) -> None:
    gauge, limiter = Gauge(), Limiter(size)

    async def main() -> None:
        tasks = [asyncio.create_task(gauge.hold(limiter, 0)) for _ in range(30)]
        for _ in range(tries):
            await asyncio.sleep(0)
        for number in cancel:
            tasks[number].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    asyncio.run(main())
    assert gauge.most <= size
    assert limiter.held == 0


def test_one_limit_for_several_event_loops() -> None:
    gauge, limiter = Gauge(), Limiter(3)

    async def main() -> None:
        await asyncio.gather(*(gauge.hold(limiter, 0.002) for _ in range(20)))

    threads = [threading.Thread(target=lambda: asyncio.run(main())) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert gauge.most == 3
    assert limiter.held == 0


def test_resizing_lets_those_who_wait_in_at_once() -> None:
    gauge, limiter = Gauge(), Limiter(1)

    async def main() -> None:
        tasks = [asyncio.create_task(gauge.hold(limiter, 0.02)) for _ in range(4)]
        await asyncio.sleep(0.005)
        assert limiter.held == 1
        limiter.resize(4)
        await asyncio.sleep(0.005)
        assert limiter.held == 4
        limiter.resize(1)
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert (limiter.held, limiter.size) == (0, 1)


def test_waiters_of_a_closed_loop_are_passed_over() -> None:
    limiter = Limiter(1)
    dead = asyncio.new_event_loop()

    async def main() -> None:
        async with limiter:
            waiter = limiter.__aenter__()
            task = dead.create_task(waiter)
            dead.call_soon(dead.stop)
            await asyncio.to_thread(dead.run_forever)
            assert not task.done()
            dead.close()
            setattr(task, "_log_destroy_pending", False)  # noqa: B010 - its loop was closed on purpose
        async with asyncio.timeout(1), limiter:
            assert limiter.held == 1

    asyncio.run(main())
    assert limiter.held == 0


def test_size_must_be_positive() -> None:
    with pytest.raises(ValueError, match="at least 1, got 0"):
        Limiter(0)
    with pytest.raises(ValueError, match="got -2"):
        Limiter(4).resize(-2)


def test_a_pause_is_the_longest_one_asked_for() -> None:
    pause = Pause()
    assert pause.remaining <= 0
    pause.extend(0.05)
    pause.extend(0.01)
    assert 0.03 < pause.remaining <= 0.05
    asyncio.run(pause.over())
    assert pause.remaining <= 0
