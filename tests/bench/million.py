"""What 1,000,000 agents × 100 calls would take, from what was measured at a few thousand calls.

python -m tests.bench.million prints the table of docs/scale.md, which tests/runs/test_examples_cluster.py compares
with this. Beyond MEASURED everything is extrapolated: linear in calls or in agents, without what shows at that size
alone.
"""

from __future__ import annotations

from typing import NamedTuple

AGENTS, CALLS_EACH = 1_000_000, 100
CALLS = AGENTS * CALLS_EACH


class Measured(NamedTuple):
    """Of one way to ask: what a further call takes, in ms of CPU of those who ask and in bytes of the ledger."""

    cpu_ms: float
    bytes: float


# Slopes between runs of 300 and of 1,500 agents × 4 calls in one process (tests.bench.scale, 2026-11-26, on two
# processors that others were using: CPU is high rather than low). A call is one item; the database's own CPU is not in
# it.
MEASURED = {
    "SQLite": Measured((2.36 * 6000 - 5.24 * 1200) / 4800, (617.0 * 6000 - 682.7 * 1200) / 4800),
    "PostgreSQL": Measured((3.05 * 6000 - 5.95 * 1200) / 4800, (1241.1 * 6000 - 1911.5 * 1200) / 4800),
}
WORKERS_CPU = 1.59
"""Times the CPU of one process: `make scale`, 100,000 agents to the end by two workers, 2026-11-27."""
DRIVER_MB, DRIVER_MB_PER_1000 = 239 - 15 * (347 - 239) / 85, (347 - 239) / 85
"""While two workers ask 15,000 and 100,000 agents: 239 and 347 MB, without the write-up."""
SCALED_TO = 0.947
"""Of what concurrency and latency allow, reached in the same run, start and end included."""

# Assumed, not measured: a server that answers CONCURRENCY requests at once in LATENCY_S each; a call's tokens; a small
# hosted model's price in US dollars a million.
CONCURRENCY, LATENCY_S = 4000, 2.0
TOKENS_IN, TOKENS_OUT = 700, 60
USD_IN, USD_OUT = 0.15, 0.60


def asking_hours() -> float:
    return CALLS * LATENCY_S / CONCURRENCY / SCALED_TO / 3600


def processors(cpu_ms: float) -> float:
    """That are busy all the time while it is asked at that pace."""
    return CALLS * cpu_ms / 1000 / 3600 / asking_hours()


def table() -> str:
    tokens_in, tokens_out = CALLS * TOKENS_IN, CALLS * TOKENS_OUT
    lines = ["| 1,000,000 agents × 100 calls | |", "|---|---|"]

    def row(name: str, value: str) -> None:
        lines.append(f"| {name} | {value} |")

    row(
        f"time, {CONCURRENCY:,} in flight at {LATENCY_S:g} s",
        f"{asking_hours():.0f} hours: {CALLS / asking_hours() / 3600:,.0f} calls a second",
    )
    row(
        f"money, {TOKENS_IN} tokens in at ${USD_IN} a million, {TOKENS_OUT} out at ${USD_OUT:.2f}",
        f"{(tokens_in + tokens_out) / 1e9:.0f} billion tokens, "
        f"${(tokens_in * USD_IN + tokens_out * USD_OUT) / 1e6:,.0f}",
    )  # fmt: skip
    for store, of in MEASURED.items():
        cpu_ms = WORKERS_CPU * of.cpu_ms
        row(
            f"asking by workers, ledger in {store}",
            f"{CALLS * cpu_ms / 3.6e6:,.0f} hours of CPU ({processors(cpu_ms):.1f} processors at that pace), "
            f"{CALLS * of.bytes / 1e9:,.0f} GB",
        )  # fmt: skip
    row("memory of the driver", f"{(DRIVER_MB + AGENTS / 1000 * DRIVER_MB_PER_1000) / 1000:.1f} GB")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
