"""The pictures of a run: those that its methodologies declare, of instrument health, of replicates, of a second respondent and
beside the findings of page one. Drawn with the report and kept in figures.json, from which notebooks and pages show them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from enquete.locale import N_, tell, whole
from enquete.reports.charts import Picture, drawn, written
from enquete.reports.context import responded
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.tables import HEALTH
from enquete.reports.preference import chart as preference_chart
from enquete.reports.preference.found import Preference
from enquete.reports.replicates import chart as replicates_chart
from enquete.reports.replicates.again import Replicates
from enquete.reports.run_reading import read_result
from enquete.reports.views import Results
from enquete.reports.writing import write_json
from enquete.state.asking import Language
from enquete.state.errors import LedgerError

FILE = "figures.json"

SIMULATED = N_("simulated respondents")
PEOPLE = N_("people")
BOTH = N_("simulated respondents, and people ({people})")
AGENTS = N_("{n} of {total} agents")
PARTICIPANTS = N_("{n} of {total} participants")
ANSWERS = N_("{n} of {total} answers")


def footer(frame: pd.DataFrame, methodology: str, language: Language) -> str:
    """Who answered, how many of how many; how many answers only where some are missing. frame: the response table."""
    own = frame[frame["methodology"].eq(methodology) & frame["arm_role"].eq("main")]
    given, persons = responded(own), own.loc[own["respondent"].eq("human"), "participant"].nunique()
    everybody = own["participant"].nunique()

    def counted(text: str, n: int, total: int) -> str:
        return tell(text, language).format(n=whole(n, language), total=whole(total, language))

    who = tell(SIMULATED if not persons else PEOPLE if persons == everybody else BOTH, language)
    agents = counted(PARTICIPANTS if persons else AGENTS, given["participant"].nunique(), everybody)
    missing = [counted(ANSWERS, len(given), len(own))] if len(given) < len(own) else []
    return f"{who.format(people=persons)} · {', '.join([agents, *missing])}"


def pictures(
    frame: pd.DataFrame, own: Mapping[str, Evaluation], declared: Mapping[str, Results],
    titles: Mapping[str, str], language: Language, file: Callable[[str, Exception], None], *,
    replicates: Replicates, preference: Preference | None,
) -> list[Picture]:  # fmt: skip
    """By methodology, then what is nobody's own. declared: with instrument health;
    file: takes the bug of a chart that fails."""

    def filed(name: str, error: Exception) -> None:
        error.add_note(f"in the figure {name}")
        file(name.partition("/")[0], error)

    made: list[Picture] = []
    for name in own:
        if name in declared:
            made += drawn(declared[name], footer=footer(frame, name, language), file=filed)
    who = tell(SIMULATED, language)
    for results in (
        declared[HEALTH], replicates_chart.results(replicates, own, titles, language),
        preference_chart.results(preference, titles, language),
    ):  # fmt: skip
        if results is not None:
            made += drawn(results, footer=who, file=filed)
    return made


def write(folder: Path, some: Sequence[Picture]) -> None:
    """figures.json and figures/*.svg."""
    write_json(folder / FILE, {"figures": [one.as_json() for one in some]})
    written(folder, some)


def read(folder: Path) -> list[Picture]:
    """As the last synthesis wrote them into its folder; none before the first. Raises LedgerError naming the file."""
    try:
        return [Picture.read(one) for one in read_result(folder / FILE).get("figures", [])]
    except (KeyError, TypeError, AttributeError) as error:
        raise LedgerError(
            f"{folder / FILE}: not what a synthesis writes ({error}); `enquete export` writes it again"
        ) from error
