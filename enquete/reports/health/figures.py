"""Instrument health at a glance: checks by methodologies, the verdict as a colour and as a sign."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.analysis.health.diagnostics import Verdict
from enquete.locale import N_, in_language, tell
from enquete.reports.context import Found, at, listed
from enquete.reports.evaluation import Evaluation
from enquete.reports.figures.canvas import Canvas, Figure, answers, note
from enquete.reports.figures.frame import WIDTH
from enquete.reports.figures.heat import Cell, heat
from enquete.reports.figures.text import bold, escaped, wrapped
from enquete.reports.health.words import CHECKS, VERDICTS
from enquete.state.asking import Language

ROW, LABEL = 19, 330  # px: a check, its label
LOOKS: Mapping[Verdict, tuple[str, str]] = {
    "bad": ("#b35806", "×"),
    "caution": ("#f1a340", "!"),
    "fine": ("#b9d7ea", "+"),
    "information": ("#e4e7eb", "i"),
    "not computed": ("#ffffff", "–"),
}
"""Shade and sign, the worst first: a check of several occasions shows its worst."""

STANDING: Mapping[str, Verdict] = {
    "usable": "fine", "usable as far as checked": "fine", "usable with caution": "caution", "not usable": "bad",
    "cannot be judged": "not computed", "interim": "not computed", "nothing to judge": "not computed",
}  # fmt: skip
"""What a methodology's verdict looks like."""

WORDS = {
    "verdict": N_("Verdict"),
    "title": N_("Instrument health: every check of every methodology"),
    "computed": N_("{n} of {total} checks computed"),
    "synthetic": N_("answers are synthetic: only the procedure is judged"),
    "probe": N_("{check} (probe)"),
    "alt": N_("Checks of {n} methodologies: {counts}. Verdicts: {verdicts}."),
}


def figures(
    found: Found, own: Mapping[str, Evaluation], titles: Mapping[str, str], language: Language
) -> Iterator[Figure]:
    """found: health.json; own, titles: by methodology. Checks that found something on top, then as they were made."""
    words, made = in_language(WORDS, language), listed(found, "diagnostics")
    methods = [name for name in at(found, "verdicts") or {} if any(one["methodology"] == name for one in made)]
    if not methods:
        return
    worst = _worst(made)
    checks = list(dict.fromkeys((str(one["name"]), bool(one["probe"])) for one in made))
    order = list(LOOKS)
    checks.sort(key=lambda check: min(2, *(order.index(worst.get((name, *check), "fine")) for name in methods)))
    names = [_name(check, own, words, language) for check in checks]
    signs = {verdict: _plain(verdict, language) for verdict in LOOKS}
    known = {name: titles.get(name, name) for name in methods}
    overall = [str(at(found, "verdicts", name, "verdict")) for name in methods]
    cells = [
        [
            _cell(STANDING[verdict], known[name], _plain(verdict, language))
            for name, verdict in zip(methods, overall, strict=True)
        ],
        *(
            [_cell(worst.get((name, *check)), f"{known[name]}, {text}", signs) for name in methods]
            for check, text in zip(checks, names, strict=True)
        ),
    ]
    labels = [bold(escaped(words["verdict"])), *(wrapped(text, LABEL, 1) for text in names)]
    heads = [bold(wrapped(title, (WIDTH - LABEL - 60) / len(methods), 3)) for title in known.values()]
    trace, layout = heat(labels, heads, cells, _scale(), (0.0, len(LOOKS) - 1.0))
    computed = sum(one["verdict"] != "not computed" for one in made)
    counted = words["computed"].format(n=computed, total=len(made))
    synthetic = words["synthetic"] if at(found, "synthetic") else ""
    canvas = Canvas(words["title"], note(language, counted, synthetic), language, ROW * len(cells), [trace], layout)
    canvas.data.extend(_key(verdict, sign, signs[verdict]) for verdict, (_, sign) in LOOKS.items())
    counts = ", ".join(f"{text} {sum(one['verdict'] == verdict for one in made)}" for verdict, text in signs.items())
    said = "; ".join(
        f"{title}: {_plain(verdict, language)}" for title, verdict in zip(known.values(), overall, strict=True)
    )
    yield canvas.figure("glance", words["alt"].format(n=len(methods), counts=counts, verdicts=said))


def _worst(made: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, bool], Verdict]:
    """By methodology, check and whether a probe made it."""
    order, found = list(LOOKS), dict[tuple[str, str, bool], Verdict]()
    for one in made:
        key, verdict = (str(one["methodology"]), str(one["name"]), bool(one["probe"])), one["verdict"]
        if key not in found or order.index(verdict) < order.index(found[key]):
            found[key] = verdict
    return found


def _name(check: tuple[str, bool], own: Mapping[str, Evaluation], words: Mapping[str, str], language: Language) -> str:
    name, is_probe = check
    declared = next((one.checks[name].words for one in own.values() if name in one.checks), None)
    text = tell(declared[0] if declared else CHECKS[name][1], language)
    return words["probe"].format(check=text) if is_probe else text


def _plain(verdict: str, language: Language) -> str:
    return tell(VERDICTS[verdict], language).strip("*")


def _cell(verdict: Verdict | None, about: str, said: str | Mapping[Verdict, str]) -> Cell:
    """said: the verdict in words, or the words of all."""
    if verdict is None:
        return Cell(None)
    told = said if isinstance(said, str) else said[verdict]
    return Cell(float(list(LOOKS).index(verdict)), LOOKS[verdict][1], escaped(f"{about}: {told}"), answers("health"))


def _scale() -> list[tuple[float, str]]:
    return [(place / (len(LOOKS) - 1), shade) for place, (shade, _) in enumerate(LOOKS.values())]


def _key(verdict: Verdict, sign: str, text: str) -> dict[str, Any]:
    """For the legend alone."""
    look = {"color": LOOKS[verdict][0], "symbol": "square", "size": 12, "line": {"color": "#67707a", "width": 0.7}}
    return {"type": "scatter", "mode": "markers", "x": [None], "y": [None], "name": f"{sign} {text}", "marker": look}
