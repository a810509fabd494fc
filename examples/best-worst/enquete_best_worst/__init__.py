"""Best–worst scaling: out of a few objects at a time, which is best and which is worst?"""

from __future__ import annotations

from enquete.locale import N_
from enquete.state.methodology import Methodology, NoSettings, Steps
from enquete_best_worst.asking import BestWorst, planted
from enquete_best_worst.instrument import BestWorstInstrument

METHODOLOGY = Methodology(
    name="best_worst", title=N_("Best–worst scaling"), default=False, order=60, phases=("T1",),
    instrument=BestWorstInstrument, settings=NoSettings, procedure=BestWorst, synthetic=planted,
    results="enquete_best_worst.results:EVALUATION", steps=Steps("open_sets", "ask_sets", "close_sets"),
    probes=("options_reversed",),
)  # fmt: skip
