"""Respondent A against respondent B in words: the section of the report."""

from __future__ import annotations

from collections.abc import Mapping

from enquete.analysis.preference import PositionBias
from enquete.locale import N_, tell
from enquete.reports.preference.found import Preference
from enquete.reports.templates import render
from enquete.respondents.kinds import KINDS
from enquete.state.asking import Language

TITLE = N_("Respondent A against respondent B")
RUBRICS: Mapping[str, str] = {
    "realistic": N_("believable for the person"),
    "style": N_("way of speaking"),
    "clarity": N_("clarity"),
    "empathic": N_("regard for others"),
    "interpretive": N_("interpretation"),
    "creative": N_("thoughts of one's own"),
}
VERDICTS: Mapping[str, str] = {
    "usable": N_("usable"),
    "unusable": N_("unusable"),
    "not decided": N_("not decided: too few pairs"),
    "not judged": N_("not judged"),
}


def section(found: Preference | None, titles: Mapping[str, str], language: Language) -> str:
    """Markdown; "" for a run without a second respondent. titles (Markdown): by methodology."""
    if found is None:
        return ""
    return render(
        "enquete.reports.preference:section.md.j2", language, found=found, titles=titles, rubric=RUBRICS[found.rubric],
        verdict=VERDICTS[found.bias.verdict], kinds={name: kind.label for name, kind in KINDS.items()},
        conclusion=conclusion(found, language),
    ).strip()  # fmt: skip


def conclusion(found: Preference, language: Language) -> str:
    """What may be said of the two, in a sentence."""
    whole = found.rates[0].found
    if not found.usable:
        return tell(_unusable(found.bias), language)
    if whole.low is None or whole.high is None:
        return tell(N_("No pair was judged in both orders; nothing can be said of the two."), language)
    if whole.low > 0.5:
        return tell(N_("Respondent B is preferred."), language)
    if whole.high < 0.5:
        return tell(N_("Respondent A is preferred."), language)
    return tell(N_("Neither respondent is preferred: the interval of the win rate includes one half."), language)


def _unusable(bias: PositionBias) -> str:
    if bias.first == bias.splits:
        return N_("The critic is unusable: it prefers whichever answer stands first. Win rates are not interpreted.")
    return N_("The critic is unusable: its verdicts go with the place of an answer. Win rates are not interpreted.")
