"""The demo's population: fifty invented stakeholders, written out as the simulator and OASIS would leave them.

The texts are sources: `agents/*.yaml` (who), `course/*.yaml` (what happens, round by round), `population.yaml` (the
rest of the configuration). `demo_population` builds the simulation folder from them, the same bytes each time.
"""

from enquete.demo.build import demo_population

__all__ = ["demo_population"]
