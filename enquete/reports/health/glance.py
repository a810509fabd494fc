"""Instrument health at a glance: checks by methodologies, the verdict as a colour and as a sign."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from enquete.locale import N_
from enquete.reports.charts import LINE, WIDER, WIDTH, ChartData, beside, fitting, worded
from enquete.reports.figures.text import broken

LABEL = 320  # px of a check
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
    cells = pd.concat([overall.assign(verdict=overall["standing"]), worst.loc[top.sort_values(kind="stable").index]])
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
    heads = {name: broken(name, beside(len(methods), label=LABEL, gap=8), 3) for name in methods}
    lines = max(map(len, heads.values()))
    axis = alt.Axis(orient="top", labelExpr=worded(heads), labelAngle=0, labelFontWeight="bold",
                    labelPadding=6 + LINE * (lines - 1))  # fmt: skip  # lines go down from there
    if any("…" in line for told in heads.values() for line in told):
        axis = alt.Axis(orient="top", labelAngle=-40, labelFontWeight="bold")
    columns = alt.X("methodology:N", sort=methods, title=None, axis=axis)
    base = data.chart(cells).encode(x=columns, y=data.names(cells, "check", px=LABEL, most=1))
    looks = alt.Scale(domain=list(words.values()), range=[shade for shade, _ in LOOKS.values()])
    colour = alt.Color(
        "look:N",
        scale=looks,
        legend=alt.Legend(columns=fitting(list(words.values()), WIDTH - LABEL * WIDER), symbolType="square"),
    )
    rects = base.mark_rect(stroke="#ffffff").encode(color=colour)
    return alt.layer(rects, base.mark_text().encode(text=alt.Text("sign:N"))).properties(height=alt.Step(19))
