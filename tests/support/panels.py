"""A Delphi panel's tables from ratings drawn at random, as its charts read them."""

from __future__ import annotations

from typing import Any

import numpy as np

from enquete.methods.delphi.evaluation import PRESENTATION
from enquete.reports.views import Results
from enquete.state.asking import Language
from tests.support.charts import results

LONG = (
    "Participation must not start when everything is already decided, as it was with the last three quota rounds of "
    "the region"
)


def panel(
    *, agents: int = 50, themes: int = 13, dimensions: tuple[str, ...] = ("importance", "plausibility"),
    rounds: tuple[int, ...] = (2, 3),
    language: Language = "en", seed: int = 7,
) -> Results:  # fmt: skip
    """Every fourth theme is disputed; names are of 1 to 20 words, and two themes have the same."""
    rng = np.random.default_rng(seed)
    ids = [f"t{n}" for n in range(themes)]
    words = LONG.split()
    names = [
        f"{n} {' '.join(words[: 1 + (n * 5) % len(words)])}" if n > 1 else "The same name twice" for n in range(themes)
    ]
    ratings: list[dict[str, Any]] = []
    distribution: list[dict[str, Any]] = []
    for n, theme in enumerate(ids):
        for dimension in dimensions:
            for round_ in rounds:
                values = _values(rng, agents, n, round_)
                ratings.append(_rated(theme, dimension, round_, values, agents))
                key = {name: ratings[-1][name] for name in ("theme", "dimension", "round", "item")}
                counts = [(value, int((values == value).sum())) for value in range(1, 6)]
                distribution += [{**key, "value": value, "n": k, "share": k / agents} for value, k in counts]
    last = [rating for rating in ratings if rating["round"] == rounds[-1]]
    facts = {
        "last_round": rounds[-1], "main_dimension": dimensions[0], "dimensions": list(dimensions), "scale_min": 1,
        "scale_max": 5, "n_themes": themes, "n_judged": len(last),
        "n_consensus": sum(rating["label"] == "consensus" for rating in last), "n": agents, "n_total": agents,
    }  # fmt: skip
    tables = {
        "themes": [{"theme": theme, "label": name} for theme, name in zip(ids, names, strict=True)], "ratings": ratings,
        "distribution": distribution, "dissent": [{**rating, "kind": "camps"} for rating in last],
    }  # fmt: skip
    return results(PRESENTATION, tables, facts, language)


def _values(rng: np.random.Generator, agents: int, n: int, round_: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    shares = (
        [0.45, 0.05, 0.0, 0.05, 0.45] if n % 4 == 3 else rng.dirichlet(np.roll([8, 4, 1, 0.5, 0.5], n % 5) * round_)
    )
    return rng.choice(np.arange(1, 6), agents, p=shares)


def _rated(theme: str, dimension: str, round_: int, values: Any, agents: int) -> dict[str, Any]:
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    label = "consensus" if q3 - q1 <= 1 else "disagreement" if q3 - q1 > 2 else "open"
    return {
        "theme": theme, "dimension": dimension, "round": round_, "item": f"theme:{theme}/{dimension}", "n": agents,
        "n_total": agents,
        "median": median, "q1": q1, "q3": q3, "iqr": q3 - q1, "mean": values.mean(), "label": label,
        "agreement": 1 - (q3 - q1) / 2,
    }  # fmt: skip
