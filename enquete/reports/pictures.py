"""The pictures of a run: those that its methodologies declare, of instrument health, of replicates, of a second
respondent and beside the findings of page one. Drawn with the report and kept in figures.json, from which notebooks and
pages show them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import altair as alt
import pandas as pd

from enquete.locale import N_, tell, whole
from enquete.reports.charts import (
    COLOURS,
    MUTED,
    PAPER,
    WIDER,
    WIDTH,
    ChartData,
    Picture,
    drawn,
    fitting,
    heads,
    intervals,
    written,
)
from enquete.reports.context import chosen, responded
from enquete.reports.evaluation import Evaluation
from enquete.reports.further_arms import PREFERENCE, REPLICATES
from enquete.reports.gaps import GapLog
from enquete.reports.health import HEALTH
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
    these = frame["methodology"].eq(methodology) & frame["arm_role"].eq("main")
    rows = chosen(frame[["status", "respondent", "participant"]], these)
    given, persons = responded(rows), rows.loc[rows["respondent"].eq("human"), "participant"].nunique()
    everybody = rows["participant"].nunique()

    def counted(text: str, n: int, total: int) -> str:
        return tell(text, language).format(n=whole(n, language), total=whole(total, language))

    who = tell(SIMULATED if not persons else PEOPLE if persons == everybody else BOTH, language)
    agents = counted(PARTICIPANTS if persons else AGENTS, given["participant"].nunique(), everybody)
    missing = [counted(ANSWERS, len(given), len(rows))] if len(given) < len(rows) else []
    return f"{who.format(people=persons)} · {', '.join([agents, *missing])}"


def pictures(
    frame: pd.DataFrame, by_method: Mapping[str, Evaluation], declared: Mapping[str, Results], language: Language,
    log: GapLog,
) -> list[Picture]:  # fmt: skip
    """By methodology, then what is nobody's own. declared: with instrument health, replicates and the comparison of
    respondents; log: takes the bug of a chart that fails."""

    def filed(name: str, error: Exception) -> None:
        methodology, _, figure = name.partition("/")
        log.add(methodology, "figure", error, figure)

    made: list[Picture] = []
    for name in by_method:
        if name in declared:
            made += drawn(declared[name], footer=footer(frame, name, language), file=filed)
    who = tell(SIMULATED, language)
    for name in (HEALTH, REPLICATES, PREFERENCE):
        if name in declared:
            made += drawn(declared[name], footer=who, file=filed)
    return made


def write(folder: Path, some: Sequence[Picture]) -> None:
    """figures.json and figures/*.svg."""
    write_json(folder / FILE, {"figures": [picture.as_json() for picture in some]})
    written(folder, some)


def read(folder: Path) -> list[Picture]:
    """As the last synthesis wrote them into its folder; none before the first. Raises LedgerError naming the file."""
    try:
        return [Picture.read(entry) for entry in read_result(folder / FILE).get("figures", [])]
    except (KeyError, TypeError, AttributeError) as error:
        raise LedgerError(
            f"{folder / FILE}: not what a synthesis writes ({error}); `enquete export` writes it again"
        ) from error


# --- Instrument health at a glance: checks by methodologies, the verdict as a colour and as a sign --------------------

CHECK_LABEL = 320  # px of a check
LOOKS: Mapping[str, tuple[str, str]] = {
    "bad": ("#b35806", "×"), "caution": ("#f1a340", "!"), "fine": ("#b9d7ea", "+"), "information": ("#e4e7eb", "i"),
    "not computed": ("#ffffff", "–"),
}  # fmt: skip
"""Shade and sign, the worst first: a check of several occasions shows its worst."""
STANDING: Mapping[str, str] = {
    "usable": "fine", "usable as far as checked": "fine", "usable with caution": "caution", "not usable": "bad",
    "cannot be judged": "not computed", "interim": "not computed", "nothing to judge": "not computed",
}  # fmt: skip
"""What a methodology's verdict looks like."""
OVERALL = N_("Verdict")
OF_PROBE = N_("{check} (probe)")
SYNTHETIC = N_("answers are synthetic: only the procedure is judged")
COMPUTED = N_("{n} of {total} checks computed")


def glance(data: ChartData) -> alt.TopLevelMixin:
    """Checks that found something on top, then as they were made; the verdict above all."""
    order = list(LOOKS)
    checks, overall = data.frame("checks").drop(columns="check_id"), data.frame("verdicts")
    of_probe = [data.tell(OF_PROBE, check=check) for check in checks["check"]]
    checks = checks.assign(
        check=checks["check"].where(~checks["probe"].astype(bool), of_probe), rank=checks["verdict_id"].map(order.index)
    )
    worst = checks.sort_values("rank", kind="stable").drop_duplicates(["methodology", "check"]).sort_index()
    top = worst.groupby("check", sort=False)["rank"].transform("min").clip(upper=2)
    overall = overall[overall["methodology"].isin(worst["methodology"])].assign(check=data.tell(OVERALL))
    overall["verdict_id"] = overall["standing_id"].map(STANDING)
    worst = worst.loc[top.sort_values(kind="stable").index]
    cells = pd.concat([overall.assign(verdict=overall["standing"]), worst])
    words = {
        code: f"{sign} {data.told('checks', 'verdict', code)}".replace("*", "") for code, (_, sign) in LOOKS.items()
    }
    cells = cells.assign(
        sign=cells["verdict_id"].map(lambda code: LOOKS[code][1]), look=cells["verdict_id"].map(words), link="#health?",
        told=cells["methodology"] + ", " + cells["check"] + ": " + cells["verdict"].str.replace("*", ""),
    )  # fmt: skip
    data.note(data.tell(COMPUTED, n=data.facts["n_computed"], total=data.facts["n_checks"]))
    if data.facts["synthetic"]:
        data.note(data.tell(SYNTHETIC))
    methods = list(dict.fromkeys(overall["methodology"]))
    axis = heads({name: name for name in methods}, WIDTH - CHECK_LABEL * WIDER)
    axis["labelFontWeight"] = "bold"
    columns = alt.X("methodology:N", sort=methods, title=None, axis=axis)
    base = data.chart(cells).encode(x=columns, y=data.names(cells, "check", px=CHECK_LABEL, most=1))
    looks = alt.Scale(domain=list(words.values()), range=[shade for shade, _ in LOOKS.values()])
    colour = alt.Color(
        "look:N",
        scale=looks,
        legend=alt.Legend(columns=fitting(list(words.values()), WIDTH - CHECK_LABEL * WIDER), symbolType="square"),
    )
    rects = base.mark_rect(stroke="#ffffff").encode(color=colour)
    return alt.layer(rects, base.mark_text().encode(text=alt.Text("sign:N"))).properties(height=alt.Step(19))


# --- Respondent A against respondent B: B's win rate by methodology and kind of question, with intervals around one
# half

CRITIC = N_("critic: {critic}")
STAND_IN = N_("the critic is a stand-in without a model")


def rates(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("label", "rate", "low", "high", "n"))
    facts = data.facts
    data.note(data.tell(STAND_IN) if facts["stand_in"] else data.tell(CRITIC, critic=facts["critic"]))
    axis = alt.Axis(values=[0, 0.25, 0.5, 0.75, 1], format=".0%")
    at = alt.X("rate:Q", title=data.label("rates", "rate"), scale=alt.Scale(domain=[0, 1]), axis=axis)
    half = data.chart(pd.DataFrame({"rate": [0.5]})).mark_rule(strokeDash=[4, 4]).encode(x=at)
    points = intervals(data.chart(rows).encode(y=data.names(rows, "label", px=290)), at, "low", "high")
    return alt.layer(half, points).properties(height=alt.Step(30))


# --- Replicates: what each further run says of every verdict of the main arm, the least found again on top ------------

FINDING_LABEL = 330  # px of a finding
REPLICATE_LOOKS = {"same": (COLOURS[0], "circle"), "other": (COLOURS[1], "diamond"), "missing": (MUTED, "cross")}


def findings(data: ChartData) -> alt.TopLevelMixin:
    rows = data.rows(told=("methodology", "label", "main", "run", "said", "says"))
    rows = data.top(rows.assign(link=[f"#{name}?arm=any" for name in rows["methodology_id"]]), "finding")
    names = dict(zip(rows["finding"], rows["label"], strict=True))
    rows = rows.assign(finding_id=rows["finding"], finding=rows["finding"].map(names))
    levels = {code: data.told("runs", "says", code) for code in REPLICATE_LOOKS}
    legend = alt.Legend(columns=fitting(list(levels.values()), WIDTH - FINDING_LABEL * WIDER))
    colours, shapes = (
        alt.Scale(domain=list(levels.values()), range=[look[k] for look in REPLICATE_LOOKS.values()]) for k in (0, 1)
    )
    colour = alt.Color("says:N", scale=colours, legend=legend)
    shape = alt.Shape("says:N", scale=shapes, legend=legend)
    runs = sorted(rows["run"].unique().tolist())
    at = alt.X("run:O", title=data.label("runs", "run"), axis=alt.Axis(orient="top", labelAngle=0), sort=runs)
    base = data.chart(rows).encode(x=at, y=data.names(rows, "finding", px=FINDING_LABEL), color=colour, shape=shape)
    drawn: alt.Chart = base.mark_point(size=90, stroke=PAPER).properties(height=alt.Step(28))
    return drawn
