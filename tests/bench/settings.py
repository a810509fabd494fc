"""How much is measured: all of it, or a few minutes of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """Agents, unless it says otherwise."""

    agents: int  # of the calls
    rounds: int  # repetitions; what takes long is repeated less often
    in_flight: tuple[int, ...]  # requests
    latencies: tuple[str, ...]  # seconds, or lognormal
    whole_runs: tuple[int, int]  # four methodologies: what is fixed, what grows
    asked: tuple[int, ...]  # one methodology: memory
    reported: int  # four methodologies, analysed and written up once more
    delphi: tuple[int, int]
    laddering: int
    polled: int  # of a run whose status a hundred clients ask for
    null: int  # pages where nothing is to be found, at each of three sizes


FULL = Size(
    agents=1500, rounds=5, in_flight=(64, 256), latencies=("0", "0.2", "lognormal"), whole_runs=(50, 500),
    asked=(50, 500, 5_000, 50_000), reported=5_000, delphi=(500, 2_000), laddering=100, polled=150, null=134,
)  # fmt: skip
QUICK = Size(
    agents=400, rounds=3, in_flight=(64, 256), latencies=("0.2",), whole_runs=(50, 150), asked=(50, 500, 2_000),
    reported=200, delphi=(50, 200), laddering=20, polled=50, null=25,
)  # fmt: skip
