"""A run of a methodology of this folder, begun on disk and ready to be opened."""

from __future__ import annotations

import asyncio
from pathlib import Path

from enquete.ledger.folders import LEDGER
from enquete.ledger.ledger import Ledger, now
from enquete.ledger.record import RunRecord, UsedInstrument
from enquete.state.asking import Arm
from tests.support.populations import participants


def record(run_id: str = "run_test", arms: list[Arm] | None = None, method: str = "fickle") -> RunRecord:
    return RunRecord(
        run_id=run_id,
        sim_id="people",
        sim_path="people.json",
        kind="personas",
        topic="",
        methods={method: f"tests.support.{method}:METHODOLOGY"},
        phases=["T1"],
        arms=arms or [Arm()],
        language="en",
        asking="block",
        seed=0,
        settings={method: {}},
        instruments={method: UsedInstrument(hash="0", source="shipped", content={})},
        digest_chars=2000,
        memoryless_weight=0.5,
        baseline="none",
        population_hash="0",
        created_at=now(),
    )


def begin_run(folder: Path, agents: int = 5, arms: list[Arm] | None = None, *, method: str = "fickle") -> Path:
    """The run's folder."""
    made = record(folder.name, arms, method)

    async def write() -> None:
        folder.mkdir(parents=True)
        ledger = Ledger(folder / LEDGER, made.run_id, create=True)
        await ledger.store_population(participants(agents))
        await ledger.pin("", "", "", "record", made.model_dump(mode="json"))
        await ledger.close()

    asyncio.run(write())
    return folder
