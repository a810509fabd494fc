"""Real ledgers for tests: keys, prompts, counts over rows, and a sender that answers from a script."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from enquete.ledger.drives import is_remote
from enquete.ledger.ledger import Ledger
from enquete.models.chat_replies import ModelResponse
from enquete.state.asking import BlockKey, CallKey
from enquete.state.errors import ModelError
from enquete.state.interview_context import Prompt
from tests.support.studies import rows

RUN = "run_test"
Outcome = str | ModelResponse | ModelError
"""What a scripted request comes to: a text, a whole response, or an error that is raised."""


@asynccontextmanager
async def opened(folder: Path, run: str = RUN) -> AsyncIterator[Ledger]:
    """The ledger in this folder, made where there is none."""
    path = folder / "ledger.sqlite"
    made = folder / "made" if is_remote(path) else path
    ledger = Ledger(path, run, create=not made.exists())
    made.touch()
    try:
        yield ledger
    finally:
        await ledger.close()


def with_ledger(folder: Path, work: Callable[[Ledger], Coroutine[Any, Any, None]]) -> None:
    """Do `work` with the ledger in this folder, in an event loop of its own."""

    async def run() -> None:
        async with opened(folder) as ledger:
            await work(ledger)

    asyncio.run(run())


def call(subject: str = "agent:a", attempt: int = 0, *, arm: str = "main", purpose: str = "answer") -> CallKey:
    return CallKey(RUN, arm, "longitudinal", "T0", purpose, subject, attempt)


def block_key(participant: str = "agent:a", part: str = "items", *, arm: str = "main", round: int = 0) -> BlockKey:
    return BlockKey(RUN, arm, "longitudinal", "T0", "", round, 0, participant, part)


def prompt(text: str = "How are you?", *, system: str = "You are Ada.", tokens: int = 100) -> Prompt:
    return Prompt(system, ({"role": "user", "content": text},), '{"type":"object"}', tokens)


def counted(folder: Path) -> dict[tuple[object, ...], int]:
    """What the counters must say, by counting rows; `lost` counts events and has no rows of its own."""
    sums: Counter[tuple[object, ...]] = Counter()
    where = "o.arm, o.methodology, o.phase, o.round"
    joined = "FROM answers a JOIN occasions o ON o.id=a.occasion GROUP BY"
    for *key, status, number in rows(folder, f"SELECT {where}, a.status, count(*) {joined} {where}, a.status"):
        sums[(*key, f"answers_{status}")] += number  # type: ignore[operator]
    for *key, number in rows(folder, f"SELECT {where}, count(DISTINCT a.occasion || '/' || a.part) {joined} {where}"):
        sums[(*key, "blocks")] += number  # type: ignore[operator]
    calls = (
        "SELECT arm, methodology, phase, 0, count(*) FILTER (WHERE status='settled'), sum(input_tokens + output_tokens "
        "+ allowance)"
    )
    for *key, settled, tokens in rows(folder, f"{calls} FROM calls GROUP BY arm, methodology, phase"):
        sums[(*key, "calls")] += settled  # type: ignore[operator]
        sums[(*key, "tokens")] += tokens  # type: ignore[operator]
    return {key: value for key, value in sums.items() if value}


def everything_on_disk(folder: Path) -> bytes:
    """The bytes of every file in the folder, write-ahead log included."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())


@dataclass
class ScriptedSender:
    """Answers requests in turn, the last outcome for ever; `gate` holds them until it is set."""

    outcomes: Sequence[Outcome] | Callable[[Prompt], Outcome]
    sent: list[Prompt] = field(default_factory=list)
    gate: asyncio.Event | None = None

    async def send(
        self, prompt: Prompt, *, model: str, temperature: float, seed: int, room: Callable[[], bool], agent: str = ""
    ) -> ModelResponse:
        self.sent.append(prompt)
        if self.gate is not None:
            await self.gate.wait()
        outcome = self._next(prompt)
        if isinstance(outcome, ModelError):
            raise outcome
        return outcome if isinstance(outcome, ModelResponse) else response(outcome)

    async def fit(self, prompt: Prompt, model: str, agent: str) -> Prompt:
        return prompt

    def halt(self) -> None:
        """It waits for nothing but its gate."""

    @property
    def waits_for(self) -> str:
        return ""

    def _next(self, prompt: Prompt) -> Outcome:
        if callable(self.outcomes):
            return self.outcomes(prompt)
        return self.outcomes[min(len(self.sent), len(self.outcomes)) - 1]


def response(
    text: str, *, finish: str = "stop", read: int | None = 10, written: int | None = 5, timeouts: int = 0
) -> ModelResponse:
    return ModelResponse(
        text, finish, read, written, "m-2026", "fp_1", 12, f'{{"content": "{len(text)}"}}', 1 + timeouts, timeouts
    )
