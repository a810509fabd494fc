"""Replicates in words: whether a claim held, and the table of where answers vary."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from enquete.analysis.components_of_variance import Component
from enquete.analysis.replicates import FEWEST
from enquete.reports.claims import Claim
from enquete.reports.crossing_text import heading
from enquete.reports.markdown import MISSING, escape, number, share, table
from enquete.reports.replicates import Replicates, Spread
from enquete.state.seam import Language

FILE = "replicates.json"

WORDS: Mapping[Language, Mapping[str, str]] = {
    "de": {
        "title": "Wiederholungen", "stable": "stabil", "fragile": "fragil", "held": "{verdict}: gleiche Richtung in {agree} von {n} "
        "Durchgängen", "unjudged": "nicht beurteilt: {n} von mindestens {least} Durchgängen", "absent": ", in {n} fehlt der Befund",
        "alone": "Ob ein Befund einer Wiederholung standhält, ist nicht beurteilt: Dieser Lauf hat keine (nötig sind mindestens {least} "
        "Durchgänge).",
        "intro": "Alles wurde {n}-mal gefragt, der Hauptarm mitgezählt: {arms}. Jeder Befund wurde aus jedem Durchgang allein noch einmal "
        "gebildet; stabil heißt: der Unterschied zwischen denselben Gruppen zeigt in mindestens 90 % der Durchgänge in dieselbe Richtung.",
        "frame": "Die Einheit des Schlusses ist der Lauf: Erst hier sind es mehrere. Sie teilen Agenten und Wortlaut; über Menschen "
        "sagen sie nichts.",
        "claim": "Befund", "verdict": "Urteil", "range": "Unterschied von bis", "n": "n", "residual": "Rest",
        "spread": "Anteile an der Varianz der geschlossenen Antworten (umgepolt, in Anteilen der Skalenbreite, vor jeder Rückmeldung). "
        "Ein Strich heißt: Dieser Aufbau kann die Quelle nicht trennen.",
        "agent": "Agent", "item": "Frage", "model": "Modell", "replicate": "Durchgang", "source": "*Quelle: replicates.json*",
        "none": "Es gibt keine Befunde über Methoden hinweg.",
    },
    "en": {
        "title": "Replicates", "stable": "stable", "fragile": "fragile", "held": "{verdict}: the same direction in {agree} of {n} "
        "rounds of asking", "unjudged": "not judged: {n} of at least {least} rounds of asking", "absent": ", absent in {n}",
        "alone": "Whether a finding holds when all is asked again is not judged: this run has no replicates (at least {least} rounds of "
        "asking are needed).",
        "intro": "Everything was asked {n} times, the main arm included: {arms}. Every finding was made anew from each alone; stable "
        "means: the difference between the same groups points the same way in at least 90% of them.",
        "frame": "The unit of inference is the run: only here there are several. They share agents and wording; they say nothing "
        "about people.",
        "claim": "Finding", "verdict": "Verdict", "range": "Difference from to", "n": "n", "residual": "residual",
        "spread": "Shares of the variance of closed answers (rekeyed, as shares of the scale's width, before any feedback). A dash: "
        "this design cannot tell the source apart.",
        "agent": "agent", "item": "item", "model": "model", "replicate": "replicate", "source": "*Source: replicates.json*",
        "none": "There are no findings across methods.",
    },
}  # fmt: skip


def mark(claim: str, replicates: Replicates, language: Language) -> str:
    """What stands beside a claim: stable, fragile or not judged, with how many; plain text."""
    words, found = WORDS[language], replicates.claims.get(claim)
    if found is None or found.verdict == "not judged":
        return words["unjudged"].format(n=found.n if found else 1, least=FEWEST)
    agree = round((found.share_agreeing or 0.0) * found.n)
    held = words["held"].format(verdict=words[found.verdict], agree=agree, n=found.n)
    return held + (words["absent"].format(n=found.n_missing) if found.n_missing else "")


def alone(language: Language) -> str:
    """For a run without replicates, once."""
    return WORDS[language]["alone"].format(least=FEWEST)


def section(replicates: Replicates, claims: Sequence[Claim], titles: Mapping[str, str], language: Language) -> str:
    """The report's section, Markdown; "" for a run without replicates. titles: by methodology, Markdown."""
    return "\n\n".join(_parts(replicates, claims, titles, language)) if replicates.arms else ""


def _parts(
    replicates: Replicates, claims: Sequence[Claim], titles: Mapping[str, str], language: Language
) -> Iterator[str]:
    words = WORDS[language]
    arms = ", ".join(f"`{arm}`" for arm in replicates.arms)
    yield f"## {words['title']}"
    yield words["intro"].format(n=len(replicates.arms), arms=arms)
    yield words["frame"]
    rows = [_claim(claim, replicates, language) for claim in claims]
    yield table([words[key] for key in ("claim", "verdict", "range")], rows, numeric_from=2) or words["none"]
    if replicates.spread:
        yield words["spread"]
        yield _spread(replicates.spread, titles, language)
    yield words["source"]


def _claim(claim: Claim, replicates: Replicates, language: Language) -> list[str]:
    found = replicates.claims[claim.id]
    joint = "bis" if language == "de" else "to"
    low, high = (number(end, language) for end in (found.low, found.high))
    shown = f"{low} {joint} {high}" if found.n else MISSING
    suffix = claim.id.removeprefix(claim.template.partition("/")[0]).lstrip("_")
    name = heading(claim.id, language) + (f" ({suffix})" if suffix else "")
    return [escape(name), escape(mark(claim.id, replicates, language)), shown]


def _spread(spread: Sequence[Spread], titles: Mapping[str, str], language: Language) -> str:
    """One column a methodology and phase, one row a source."""
    words = WORDS[language]
    heads = [f"{titles.get(one.methodology, one.methodology)} {one.phase}" for one in spread]
    first = spread[0].found.components
    rows = [
        [_source(component, language), *(share(one.found.components[i].share, language) for one in spread)]
        for i, component in enumerate(first)
    ]
    rows.append([words["n"], *(str(one.found.n) for one in spread)])
    return table(["", *heads], rows)


def _source(component: Component, language: Language) -> str:
    return " × ".join(WORDS[language].get(part, part) for part in component.source.split(" × "))
