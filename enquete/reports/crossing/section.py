"""The report's summary across methods: prose, then each claim with its groups and its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from enquete.locale import N_, in_language, tell
from enquete.reports.crossing.claims import DIGITS, FEWEST, FILE, Claim, Crossing
from enquete.reports.crossing.narrative import Prose
from enquete.reports.crossing.sentences import group_name, reason, sentence
from enquete.reports.markdown import MISSING, escape, number, of, share, table
from enquete.reports.replicates.again import Replicates
from enquete.reports.replicates.told import mark
from enquete.state.asking import Language

SHOWN_IDS, SHOWN_GROUPS = 3, 8

WORDS: Mapping[str, str] = {
    "rule": N_("*This summary was made by rule from the findings; no model wrote it.*"),
    "model": N_(
        "*This summary was written by the model {model} from the findings. A program compared every figure and "
        "every answer id with the findings; it did not check the interpretation.*"
    ),
    "refused": N_(
        "*The model {model} wrote a summary. It was refused even after a correction, because not all figures or "
        "ids agreed with the findings ({why} objections, see audit.jsonl). So the findings stand here in fixed "
        "sentences.*"
    ),
    "unwritten": N_(
        "*There is no text by the model (interim state, budget or server). So the findings stand here in fixed "
        "sentences.*"
    ),
    "none": N_("Nothing can be said across methods yet."),
    "absent": N_("What cannot be said:"),
    "group": N_("Group"),
    "value": N_("Value"),
    "n": N_("n / N"),
    "evidence": N_("Rests on {n} answers, for example {ids}."),
    "source": N_("Source"),
    "more": N_("{n} more groups are in {file}."),
    "replicates": N_("Replicates"),
    "small": N_("Too small to be compared (fewer than {fewest} agents): {names}."),
}


def summary(crossing: Crossing, prose: Prose, model: str, language: Language, replicates: Replicates) -> str:
    """The section that opens the report, Markdown."""
    words = in_language(WORDS, language)
    parts: list[str] = []
    if not crossing.claims:
        parts.append(words["none"])
    else:
        why = len(prose.problems)
        parts += [*_paragraphs(prose, replicates, language), words[prose.by].format(model=escape(model), why=why)]
        parts += [escape(tell(legend, language)) for legend in crossing.legends]
    if crossing.absent:
        lines = "\n".join(
            f"- {escape(line)}" for line in dict.fromkeys(reason(one, language) for one in crossing.absent)
        )
        parts += [words["absent"], lines]
    return "\n\n".join(part for part in parts if part)


def _paragraphs(prose: Prose, replicates: Replicates, language: Language) -> Iterator[str]:
    if prose.by == "model":
        yield from (escape(paragraph.text) for paragraph in prose.paragraphs)
    else:
        yield "\n".join(
            f"- {escape(paragraph.text)}{_held(paragraph.claim_ids[0], replicates, language)}"
            for paragraph in prose.paragraphs
        )


def _held(claim: str, replicates: Replicates, language: Language) -> str:
    """Beside a claim's sentence, where the run has replicates."""
    return f" *({escape(mark(claim, replicates, language))})*" if replicates.arms else ""


def details(claims: Sequence[Claim], language: Language, replicates: Replicates) -> Iterator[str]:
    """Each claim with its groups, whether it holds, its answers and its source: for the end of the report."""
    words = in_language(WORDS, language)
    if not claims:
        return
    for claim in claims:
        yield f"**{escape(tell(claim.heading, language))}.** {escape(sentence(claim, language))}"
        yield _groups(claim, language)
        ids = ", ".join(f"`{one.replace('`', '')}`" for one in claim.answer_ids[:SHOWN_IDS])
        yield words["evidence"].format(n=claim.n_answers, ids=ids)
        yield f"{words['replicates']}: {escape(mark(claim.id, replicates, language))}."
        rests = "; ".join(claim.rests_on)
        yield f"*{words['source']}: {FILE} → claims.{escape(claim.id)} ({escape(rests)})*"


def _groups(claim: Claim, language: Language) -> str:
    words = in_language(WORDS, language)
    rows = [
        [
            escape(group_name(claim, group.group, language)),
            of(group.n, group.n_total),
            _value(claim, group.value, language),
        ]
        for group in claim.groups[:SHOWN_GROUPS]
    ]
    more = len(claim.groups) - SHOWN_GROUPS
    shown = table([words["group"], words["n"], words["value"]], rows)
    small = ", ".join(
        f"{group_name(claim, group.group, language)} (n = {group.n})" for group in claim.small[:SHOWN_GROUPS]
    )
    notes = [words["more"].format(n=more, file=FILE)] if more > 0 else []
    notes += [words["small"].format(fewest=FEWEST, names=escape(small))] if small else []
    return "\n\n".join([shown, *notes])


def _value(claim: Claim, value: float | None, language: Language) -> str:
    if value is None:
        return MISSING
    return share(value, language) if claim.shown == "share" else number(value, language, DIGITS[claim.shown])
