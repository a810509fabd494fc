"""Interview a personas file from Python and look at the table of answers.

    python examples/interview.py examples/personas.csv results

Without a key the synthetic respondent answers. Run it twice: the second time nothing is asked.
"""

from __future__ import annotations

import sys

import enquete


def main(personas: str, out: str) -> None:
    run = enquete.conduct_interviews(personas, out=out, methods=["delphi"], language="en")
    print(f"{run.run_id}: {run.status}, answered by {run.record.main.respondent}, {run.spent['calls']} calls")
    ratings = run.responses[run.responses["round"] == 3].dropna(subset=["value"])
    spread = ratings.groupby(["item_id"])["value"].describe()[["count", "25%", "50%", "75%"]]
    print(spread.head(6).to_string())
    print(f"report: {run.path / 'report.md'}")


if __name__ == "__main__":
    main(*sys.argv[1:3])
