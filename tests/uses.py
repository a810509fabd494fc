"""How the Python functions are used, as mypy sees it (`make lint`): what is right passes, what is wrong is
an error.

Never run. A comment that ignores an error which is none any more is an error itself.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import enquete
from enquete import Arm, Likert, Run


def right(sim: Path) -> Run:
    expected = enquete.estimate(sim, methods=["delphi"], budget_tokens=10_000, root=sim.parent)
    print(expected.tokens.likely)
    run = enquete.conduct_interviews(
        sim, out="results", methods="delphi", types=("ngo", "union"), language="en", respondent="llm",
        model="gpt-5-mini", temperature=0.2, probes=["retest", "paraphrase"],
        instruments={"delphi": Path("mine.yaml"), "longitudinal": {"items": []}}, settings={"laddering": {"turns": 20}},
        limits={"gpt-5-mini": {"requests_per_minute": 60}}, arms=[Arm()], budget_usd=2.5, seed=3, new=True,
    )  # fmt: skip
    table: pd.DataFrame = run.responses
    print(len(table), run.results["delphi"], run.brief, run.figures, run.page_one["findings"])
    same = enquete.compare(run, enquete.load_run(sim, run.run_id, out="results")).identical
    if run.resume_token is not None and not same:
        run = enquete.resume(run.resume_token, out="results", budget_tokens=20_000, fresh=True)
    enquete.on_completed(sim, assume_completed=True)
    return enquete.ask(sim, Likert("Quotas are fair."), language="de", sample=10)


async def right_in_a_loop(sim: str) -> None:
    run = await enquete.aconduct_interviews(sim, methods=["scenario"], phase="T1")
    await enquete.aresume(run.run_id, retry_failed=True)
    await enquete.aestimate(sim, replicates=3)


def wrong(sim: str, run: Run) -> None:
    enquete.conduct_interviews(sim, budget_token=5)  # type: ignore[call-arg]
    enquete.conduct_interviews(sim, language="fr")  # type: ignore[arg-type]
    enquete.conduct_interviews(sim, budget_tokens="10k")  # type: ignore[arg-type]
    enquete.estimate(sim, methods=[1])  # type: ignore[list-item]
    enquete.resume(sim, methods=["delphi"])  # type: ignore[call-arg]
    enquete.compare(run, sim)  # type: ignore[arg-type]
    run.finding  # type: ignore[attr-defined]  # noqa: B018
    enquete.no_such_name()  # type: ignore[attr-defined]
