"""Sentences of the claims across methods, and why one is absent, in German and English. Figures come from the claim alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from enquete.locale import N_, in_language, quoted, tell
from enquete.reports.crossing.claims import Absent, Claim
from enquete.state.asking import Language


def sentence(claim: Claim, language: Language) -> str:
    """The claim in words, plain text. Every figure in it is one of `claim.numbers()`."""
    values = {key: number.printed(language) for key, number in claim.numbers().items() if "." not in key}
    for end, place in (("high", 0), ("low", len(claim.groups) - 1)):
        values |= _of_group(claim, end, place, language)
    words = {key: tell(one, language) for key, one in (*claim.terms.items(), *claim.words.items())}
    said = tell(claim.text, language).format(**values, **words)
    return " ".join([said, *_ties(claim, language), *_small(claim, language)])


_TIES: Mapping[str, str] = {
    "high": N_("Equally high: {tied}."),
    "low": N_("Equally low: {tied}."),
    "types": N_("As many in {group}: {tied}."),
}
_SMALL = (
    N_("Not compared: {n_small} group of fewer than {fewest} agents."),
    N_("Not compared: {n_small} groups of fewer than {fewest} agents each."),
)


def _ties(claim: Claim, language: Language) -> Iterator[str]:
    """Who else has what the sentence says of one: other groups with its figure, other types with as many members."""
    if claim.template.endswith("/same"):
        return
    words, numbers = in_language(_TIES, language), claim.numbers()
    shown = [numbers[f"groups[{i}].value"].printed(language) for i in range(len(claim.groups))]
    for end, place in (("high", 0), ("low", len(claim.groups) - 1)):
        others = [i for i, figure in enumerate(shown) if figure == shown[place] and i != place]
        if others:
            tied = [group_name(claim, claim.groups[i].group, language) for i in others]
            yield words[end].format(tied=enumerated(tied, language))
        if f"tied_{end}" in claim.terms:
            name = group_name(claim, claim.groups[place].group, language)
            yield words["types"].format(group=name, tied=tell(claim.terms[f"tied_{end}"], language))


def _small(claim: Claim, language: Language) -> Iterator[str]:
    numbers = claim.numbers()
    if claim.small:
        printed = {key: numbers[key].printed(language) for key in ("n_small", "fewest")}
        yield tell(_SMALL[len(claim.small) > 1], language).format(**printed)


def enumerated(names: Sequence[str], language: Language) -> str:
    """A, B und C."""
    if len(names) < 2:
        return "".join(names)
    return tell(N_("{first} and {last}"), language).format(first=", ".join(names[:-1]), last=names[-1])


def _of_group(claim: Claim, end: str, place: int, language: Language) -> dict[str, str]:
    """Figures and name of one group under the names that templates use: high_value, low_n …"""
    numbers = claim.numbers()
    keys = {"value": "value", "n": "n", "total": "n_total", "count": "count"}
    found = {f"{end}_{key}": numbers.get(f"groups[{place}].{name}") for key, name in keys.items()}
    printed = {key: number.printed(language) for key, number in found.items() if number is not None}
    return {**printed, end: group_name(claim, claim.groups[place].group, language)}


def group_name(claim: Claim, group: str, language: Language) -> str:
    """A group as a sentence names it: in the words of its grouping, else its own name in quotation marks."""
    if group in claim.called:
        return tell(claim.called[group], language)
    return quoted(group, language)


def names(claim: Claim, language: Language) -> list[str]:
    """Names that may stand in a sentence about it, bare: of its groups, and its terms."""
    groups = (group_name(claim, group.group, language).strip("„“”") for group in claim.groups)
    return [*groups, *(tell(term, language) for term in claim.terms.values())]


def reason(absent: Absent, language: Language) -> str:
    """Why a claim is absent, with what it would have been."""
    return f"{tell(absent.heading, language)}: {tell(absent.missing.words, language)}."
