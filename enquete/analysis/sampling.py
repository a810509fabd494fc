"""How many agents are compared with one another: of more, so many are drawn, by a seed that is the same in each run."""

from __future__ import annotations

MOST_COMPARED = 300
"""Agents among whom the number of types is chosen: silhouette and gap statistic need distances of all to all."""
MOST_AGENTS = 1_000
"""Agents whose answers are dealt anew against chance, which then gives r of .03; more would cost minutes."""
MOST_PAIRS = 20_000
"""Pairs of agents whose profiles are correlated; the mean r of more would be closer than ±.005 without them."""
