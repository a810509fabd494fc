"""Replicates in words: whether a finding held and what chance does, and the table of where answers vary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from enquete.analysis.agreement.held import ALPHA, Replicated, fewest
from enquete.analysis.agreement.variance import Component
from enquete.locale import N_, in_language, tell
from enquete.reports.crossing.claims import Claim
from enquete.reports.evaluation import Evaluation, Headline, Shown
from enquete.reports.markdown import MISSING, escape, number, share, table
from enquete.reports.replicates.again import Judged, Replicates, Spread
from enquete.state.asking import Language

FILE = "replicates.json"
LISTED = 6  # figures of replicates that a cell lists one by one
ROWS = 60
HEADS = ("finding", "main", "further", "agreeing", "chance", "verdict")

WORDS: Mapping[str, str] = {
    "title": N_("Replicates"),
    "stable": N_("stable"),
    "fragile": N_("fragile"),
    "not decided": N_("not decided"),
    "not judged": N_("not judged"),
    "held": N_("{verdict}: same direction in {agree} of {n} further runs (chance: {chance})"),
    "unjudged": N_("not judged: no further run"),
    "absent": N_(", the method is missing in {n}"),
    "unknown": N_("not known"),
    "intro": N_(
        "Everything was asked {n} times: by the main arm `{main}` and again by {arms}. Every finding was made "
        "anew from each run alone. The main arm chose which groups, items and themes a finding names, and so it "
        "always speaks for it; only the further runs are counted."
    ),
    "rule": N_(
        "*Chance* is the probability that at least as many agree if a further run agrees as often as not (sign "
        "test). *Stable*: at most {alpha}, so {least} of {least} at the earliest. *Fragile*: so few agree as "
        "would be seen in at most {alpha} of cases for a finding that holds in 90% of runs (0 of 2, 1 of 3, 2 of "
        "5). *Not decided*: neither. A run that does not make the finding of its answers does not agree."
    ),
    "few": N_("With {n} further runs no finding can be called stable; that takes at least {least}."),
    "counts": N_(
        "Findings: {n}; stable {stable}, fragile {fragile}, not decided {undecided}, not judged {unjudged}. "
        "Where nothing but chance is at work, up to {alpha} of findings are called stable."
    ),
    "frame": N_(
        "The unit of inference is the run: only here there are several. They share agents and wording, in the "
        "Delphi also the main arm's themes and the medians that were fed back; they say nothing about people."
    ),
    "shared_t0": N_(
        "All runs measure change from the same earlier T0. So they agree by its error of measurement too: "
        "findings about change are not decided, and what chance does is not known."
    ),
    "claims": N_(
        "Differences between groups: the main arm's largest minus its smallest, in every run between the same groups."
    ),
    "headlines": N_("Headline findings of the methodologies."),
    "finding": N_("Finding"),
    "main": N_("Main arm"),
    "further": N_("Further runs"),
    "agreeing": N_("agree"),
    "chance": N_("Chance"),
    "verdict": N_("Verdict"),
    "to": N_("{low} to {high} ({n})"),
    "more": N_("{n} more are in replicates.json."),
    "n": N_("n"),
    "residual": N_("residual"),
    "spread": N_(
        "Shares of the variance of closed answers (rekeyed, as shares of the scale's width, before any "
        "feedback). A dash: this design cannot tell the source apart."
    ),
    "agent": N_("agent"),
    "item": N_("item"),
    "model": N_("model"),
    "replicate": N_("replicate"),
    "source": N_("*Source: replicates.json*"),
    "none": N_("There are no findings to judge."),
}


def mark(claim: str, replicates: Replicates, language: Language) -> str:
    """What stands beside a claim: the verdict, how many further runs agree, and what chance does; plain text."""
    words, found = in_language(WORDS, language), replicates.claims.get(claim)
    if found is None or not found.held.n:
        return words["unjudged"]
    held = found.held
    verdict = words[held.verdict]
    said = words["held"].format(verdict=verdict, agree=held.n_agreeing, n=held.n, chance=_chance(held, language))
    return said + (words["absent"].format(n=held.n_missing) if held.n_missing else "")


def section(
    replicates: Replicates,
    claims: Sequence[Claim],
    own: Mapping[str, Evaluation],
    titles: Mapping[str, str],
    language: Language,
) -> str:
    """The report's section, Markdown; "" for a run without replicates. own, titles (Markdown): by methodology."""
    return "\n\n".join(_parts(replicates, claims, own, titles, language)) if replicates.arms else ""


def _parts(
    replicates: Replicates,
    claims: Sequence[Claim],
    own: Mapping[str, Evaluation],
    titles: Mapping[str, str],
    language: Language,
) -> Iterator[str]:
    words = in_language(WORDS, language)
    yield from _rules(replicates, language)
    yield _counts(replicates, language) if replicates.judged else words["none"]
    if claims:
        yield words["claims"]
        yield _table([_claim(claim, replicates, language) for claim in claims], language)
    if replicates.headlines:
        yield words["headlines"]
        rows = [
            _headline(
                one, found, in_language(own[one.methodology].sentences, language), titles[one.methodology], language
            )
            for one, found in replicates.headlines
        ]
        yield _table(rows, language)
    if replicates.spread:
        yield words["spread"]
        yield _spread(replicates.spread, titles, language)
    yield words["source"]


def _rules(replicates: Replicates, language: Language) -> Iterator[str]:
    """How a finding is judged here, and what the runs share."""
    words, (main, *further) = in_language(WORDS, language), replicates.arms
    arms = ", ".join(f"`{arm}`" for arm in further)
    yield words["intro"].format(n=len(replicates.arms), main=main, arms=arms)
    yield words["rule"].format(alpha=share(ALPHA, language), least=fewest())
    if len(further) < fewest():
        yield words["few"].format(n=len(further), least=fewest())
    yield words["frame"]
    if replicates.shared_t0:
        yield words["shared_t0"]


def _counts(replicates: Replicates, language: Language) -> str:
    n = Counter(one.held.verdict for one in replicates.judged)
    return in_language(WORDS, language)["counts"].format(
        n=n.total(), stable=n["stable"], fragile=n["fragile"], undecided=n["not decided"], unjudged=n["not judged"],
        alpha=share(ALPHA, language),
    )  # fmt: skip


def _table(rows: Sequence[Sequence[str]], language: Language) -> str:
    words = in_language(WORDS, language)
    shown = table([words[head] for head in HEADS], rows[:ROWS], numeric_from=len(HEADS))
    return shown if len(rows) <= ROWS else f"{shown}\n\n{words['more'].format(n=len(rows) - ROWS)}"


def _claim(claim: Claim, replicates: Replicates, language: Language) -> list[str]:
    about = ", ".join(tell(claim.terms[name], language) for name in claim.subjects)
    name = tell(claim.heading, language) + (f" ({about})" if about else "")
    return [escape(name), *_cells(replicates.claims[claim.id], language)]


def _headline(one: Headline, found: Judged, sentences: Mapping[str, str], title: str, language: Language) -> list[str]:
    return [f"{title}: {escape(sentences[one.kind].format(*one.about))}", *_cells(found, language, sentences)]


def _cells(found: Judged, language: Language, names: Mapping[str, str] | None = None) -> list[str]:
    """names: of words that stand for a figure."""
    words, held = in_language(WORDS, language), found.held
    agreeing = f"{held.n_agreeing} / {held.n}"
    further = _further(found.further, language, names or {})
    return [_shown(found.main, language, names or {}), further, agreeing, _chance(held, language), words[held.verdict]]


def _further(figures: Sequence[Shown], language: Language, names: Mapping[str, str]) -> str:
    """Every figure where they are few, else the smallest and the largest; of words how often each."""
    if any(isinstance(one, str) for one in figures):
        return "; ".join(f"{_shown(one, language, names)} ({n})" for one, n in Counter(figures).most_common())
    known = [one for one in figures if isinstance(one, int | float)]
    if len(figures) <= LISTED or not known:
        return "; ".join(_shown(one, language, names) for one in figures[:LISTED])
    low, high = (number(end, language) for end in (min(known), max(known)))
    return in_language(WORDS, language)["to"].format(low=low, high=high, n=len(known))


def _shown(figure: Shown, language: Language, names: Mapping[str, str]) -> str:
    if figure is None:
        return MISSING
    return escape(names.get(figure, figure)) if isinstance(figure, str) else number(figure, language)


def _chance(held: Replicated, language: Language) -> str:
    """Per cent, never rounded down to nothing."""
    if held.chance is None:
        return in_language(WORDS, language)["unknown"] if held.n else MISSING
    return f"< {share(0.01, language)}" if held.chance < 0.005 else share(held.chance, language)


def _spread(spread: Sequence[Spread], titles: Mapping[str, str], language: Language) -> str:
    """One column a methodology and phase, one row a source."""
    words = in_language(WORDS, language)
    heads = [f"{titles.get(one.methodology, one.methodology)} {one.phase}" for one in spread]
    first = spread[0].found.components
    rows = [
        [_source(component, language), *(share(one.found.components[i].share, language) for one in spread)]
        for i, component in enumerate(first)
    ]
    rows.append([words["n"], *(str(one.found.n) for one in spread)])
    return table(["", *heads], rows)


def _source(component: Component, language: Language) -> str:
    return " × ".join(in_language(WORDS, language).get(part, part) for part in component.source.split(" × "))
