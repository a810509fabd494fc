"""A notebook in one piece, as an editor checks it: people in a table, questions, findings, and two runs compared."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd

import enquete
from enquete import Choice, Likert, Open

out = Path(sys.argv[1])
trades = ["bakes bread", "sells bread", "grows wheat", "eats bread every day"]
people = pd.DataFrame(
    {
        "name": [f"Person {number}" for number in range(12)],
        "persona": [f"Lives in a village and {trades[number % 4]}." for number in range(12)],
        "type": ["maker", "maker", "maker", "buyer"] * 3,
    }
)
questions = (Likert("Bread is too dear."), Choice("Who should decide?", "bakers", "the state"), Open("Why?"))

cost = enquete.estimate(people, out=out, methods="poll", respondent="synthetic", language="en")
assert cost.agents == len(people)
assert not cost.refusals

first = enquete.ask(people, *questions, topic="Bread", out=out, respondent="synthetic", language="en")
second = enquete.ask(people, *questions, topic="Bread", out=out, respondent="synthetic", language="en", seed=1)
answers: pd.DataFrame = first.responses
print(answers.groupby("item_id")["status"].count())

for finding in first.findings:
    low, high = finding.low, finding.high
    interval = "" if low is None or high is None else f" [{low:.2f}, {high:.2f}]"
    print(f"{finding.methodology}: {finding.text}{interval} (n = {finding.n}/{finding.n_total})")

compared = enquete.compare(first, second)
print(compared.rows, compared.changed)
print(enquete.list_simulations(str(out)), enquete.list_simulations(out))
