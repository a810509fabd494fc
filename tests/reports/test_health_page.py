"""docs/health.md is printed from the thresholds that the checks use: `python -m tests.reports.test_health_page`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from enquete.analysis.health.thresholds import COHERENCE, PLAUSIBILITY, PROBES, QUALITY, STYLE, Bounds, Threshold
from enquete.reports.health.words import CHECKS

PAGE = Path(__file__).parents[2] / "docs" / "health.md"

INTRO = """# Instrument health

Whether the answers of a run can be used, by methodology: *usable*, *usable as far as checked; reliability not tested*, *usable with
caution* or *not usable*, with the reasons. The report shows the verdicts after its summary and in a section of its own; `health.json`
has every check with all that it rests on; cautions and worse are flags of the run, and so is a verdict without a retest. This page is
printed from `enquete/analysis/health/thresholds.py`, which the checks read.

- **Not usable**: a decisive check is bad, or two or more others are. **Usable with caution**: a check is bad or calls for caution,
  or fewer checks were computed than failed for too little data or because probabilities were asked for. **Usable as far as
  checked; reliability not tested**: nothing of this, but no retest ([probes](probes.md)) was computed. **Usable**: otherwise. A check
  that is taken in both waves counts once, by its worse outcome.
- Every computed check enters the verdict, whether it reads the main arm alone or compares it with a probe; reasons say whether the
  check is bad or a caution, and whether a probe gave it. *Information* does not enter: a placebo in fewer than three runs. Probes that
  were possible and not taken stand beside the verdict, as do those that were asked and of which nothing could be read.
- Exactly on a threshold is still fine. A check below its minimum, or that the design rules out, is *not computed* with the reason:
  never a pass and never a failure.
- Longitudinal waves are checked each for itself and against each other; a Delphi's ratings before any feedback, and for stability
  against the last; of a forced sort only profiles and gaps, because its grid settles the rest.
- Of answers given as probabilities the medians are checked; shares at ends and midpoint, acquiescence and likeness to people rest on
  the probabilities; straight lines and places of options are not computed.
- The checks of coherence have no bound that people gave, only what chance gives in the same data. That answers hang together does not
  make them true; that they do not, leaves nothing to interpret.
- Data of people are compared where the instrument gives them ([own instruments](own-instruments.md#answers-of-people)).
- Probes cost extra calls and are there only when asked for. Each compares what the main arm and the probe's arm both answered.
- For differences between types n counts the agents of types with at least five agents.
- Verdicts are about the run and the instrument, not about people. Of a synthetic run even *usable* says only that the procedure ran
  without a fault, and the report says so.

Thresholds are proposals. Points are those of a five-point scale; answers on other scales are stretched.
"""

HEADS: Mapping[str, Mapping[str, Threshold]] = {
    "Plausibility": PLAUSIBILITY, "Coherence": COHERENCE, "Style": STYLE, "Quality and gaps": QUALITY, "Probes": PROBES,
}  # fmt: skip


def bounds(given: Bounds) -> str:
    low, high = given
    if low is None and high is None:
        return "see formula"
    if low is not None and high is not None:
        return f"outside {low:g} to {high:g}"
    return f"below {low:g}" if low is not None else f"above {high:g}"


def line(name: str, one: Threshold) -> str:
    least = ", ".join(f"{n} {unit}" for unit, n in one.least.items())
    benchmark = "–" if one.benchmark is None else f"{one.benchmark:g}"
    what = CHECKS[name][1]
    bad = "–" if one.bad == (None, None) and one.caution != (None, None) else bounds(one.bad)
    cells = [
        f"`{name}`: {what}", one.formula, bounds(one.caution), bad, least, benchmark, "yes" if one.decisive else "",
        f"{one.why}. Minimum: {one.why_least}. Source: {one.source}",
    ]  # fmt: skip
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def page() -> str:
    parts = [INTRO]
    for head, rules in HEADS.items():
        parts.append(f"## {head}\n")
        parts.append("| check | formula | caution | bad | minimum | people or chance | decisive | why |")
        parts.append("|---|---|---|---|---|---:|---|---|")
        parts += [line(name, one) for name, one in rules.items()]
        parts.append("")
    return "\n".join(parts)


def test_the_page_is_current() -> None:
    assert PAGE.read_text("utf-8") == page(), "run `python -m tests.reports.test_health_page`"


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
