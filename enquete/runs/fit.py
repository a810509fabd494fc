"""Whether a run's questions are about what its population is about, before anybody is asked: by rule, over words; where
these say no or cannot be compared, by the interviewer's model, if there is one.

The topic words of an instrument (of its topic and title, without words that any study may have) are looked for in all
that the simulation says: its requirement, first posts, personas and stakeholder types. None of them there, and few of
the words that its items share: a mismatch. Words of another language cannot be compared; then nothing is said of the
topic."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from enquete.analysis.vocabulary import stemmed
from enquete.instruments.instrument import Instrument
from enquete.instruments.load import load_shipped
from enquete.instruments.pack import pack_named, packs
from enquete.instruments.text import Text, function_words, language_of, words_of
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import Fit, RunRecord, UsedInstrument
from enquete.locale import N_, tell
from enquete.respondents.roles import RULE, Role, fence
from enquete.runs.model_server import at_its_server, staffed
from enquete.runs.planning import load_methodology
from enquete.simulations.population import Population
from enquete.simulations.sources import clip
from enquete.state.asking import Language, Spoken
from enquete.state.errors import Unfit
from enquete.state.methodology import NoSettings
from enquete.state.settings import Machine

READ = 300
"""Agents whose personas are read."""
SHARED = 8
"""The words that most items share, so many of them; and in how many texts a word must stand to be one."""
IN_TEXTS = 3
FEW = 0.34
"""Share of those below which the items are about something else."""
_OF_ANY = """
zukunft future view sicht ansicht meinung opinion stimmung studi befragung survey szenari vielfalt divers frage question
interview deutsch german europ jahr year nord north süd south west east osten teil part thema topic item statem aussage
instrument draft entwurf high panel welle wave
"""
_ANY = re.compile(f"^({'|'.join(_OF_ANY.split())})")
"""Beginnings of words that a study on anything may have."""

UNFIT: Mapping[str, str] = {
    "topic": N_(
        "The questions ({methods}) are about “{asked}”; nothing of that occurs in the simulation, which is about "
        "“{about}”, with {types}."
    ),
    "topic_unnamed": N_(
        "The questions ({methods}) are about “{asked}”; nothing of that occurs in what is known of these agents "
        "({types})."
    ),
    "judged": N_(
        "As {model} judges, the questions ({methods}) are about “{asked}”, which these agents have nothing to do with: "
        "the simulation is about “{about}”, with {types}."
    ),
    "judged_unnamed": N_(
        "As {model} judges, the questions ({methods}) are about “{asked}”, which these agents ({types}) have "
        "nothing to do with."
    ),
    "language": N_("The simulation's texts are in {theirs}, the interviews in {ours}."),
}
_NAMES: Mapping[str, str] = {"de": N_("German"), "en": N_("English")}


def fit_of(
    population: Population,
    used: Mapping[str, UsedInstrument],
    methods: Mapping[str, str],
    language: str,
    *,
    chosen: bool,
) -> Fit:
    """used: the instruments that are about something (not a methodology's general questions). chosen: whether the
    language of the interviews was chosen, which is then no mismatch."""
    texts = list(_texts(population))
    theirs = language_of(texts)
    blob = " ".join(word for text in texts for word in words_of(text))
    known = {name: load_methodology(methods[name]).instrument for name in used if name in methods}
    instruments = {name: model.model_validate(used[name].content) for name, model in known.items()}
    about = {name: instrument for name, instrument in instruments.items() if isinstance(instrument, Instrument)}
    verdicts = {name: is_elsewhere(instrument, theirs, blob, name) for name, instrument in about.items()}
    off = [name for name, elsewhere in verdicts.items() if elsewhere]
    kinds = Counter(who.stakeholder_type for who in population.participants)
    return Fit(
        methods=off,
        asked=_in(about[off[0]].topic, language) if off else "",
        about=clip(population.topic, 80),
        types=[kind for kind, _ in kinds.most_common(4)],
        language=theirs if theirs and theirs != language and not chosen else "",
        spoken=language,
        unsure=[name for name, elsewhere in verdicts.items() if elsewhere is None],
    )


def is_elsewhere(instrument: Instrument, language: Spoken | None, blob: str, methodology: str = "") -> bool | None:
    """Whether it is about something else. None where that cannot be told: too little said, or in another language. The
    name of its methodology, which a title may have, is no topic."""
    if language is None or not blob:
        return None
    topic = [text for text in instrument.subject() if text.has(language)]
    named = {stem for text in topic for stem in stems(_in(text, language)) if stem != stemmed(methodology)}
    shared = _shared([_in(wording.text, language) for wording in instrument.wordings() if wording.text.has(language)])
    if any(stem in blob for stem in named):
        return False
    if len(shared) >= IN_TEXTS:
        return sum(stem in blob for stem in shared) / len(shared) < FEW
    return True if named else None


def spoken_by(population: Population) -> Spoken | None:
    """Return the language of what a simulation and its agents say; None where the words do not tell."""
    return language_of(list(_texts(population)))


def fitting_pack(population: Population, methods: Mapping[str, str]) -> str:
    """Return the shipped pack whose questions are about what the population is about, if it is not the default one.

    Args:
        population: that is to be asked.
        methods: dotted path of each methodology that may ask, by name.

    Returns:
        The pack's name; empty where the default pack fits, where none does, and where the words cannot tell.
    """
    texts = list(_texts(population))
    language = language_of(texts)
    words = " ".join(word for text in texts for word in words_of(text))

    default = pack_named().name
    if language is None or _is_pack_about(default, methods, language, words):
        return ""
    others = (name for name in packs() if name != default)
    return next((name for name in others if _is_pack_about(name, methods, language, words)), "")


def _is_pack_about(pack: str, methods: Mapping[str, str], language: Spoken, words: str) -> bool:
    """Return whether most words of a pack's topics occur: a single one, such as “daily”, occurs anywhere."""
    named: set[str] = set()
    for name in pack_named(pack).instruments:
        if name not in methods:
            continue
        instrument = load_shipped(load_methodology(methods[name]).instrument, name, pack)
        topics = [text.in_(language) for text in instrument.subject() if text.has(language)]
        named.update(stem for topic in topics for stem in stems(topic) if stem != stemmed(name))
    found = [stem for stem in named if stem in words]
    return len(found) > len(named) / 2


def stems(text: str) -> list[str]:
    """Beginnings of the words that say what a text is about."""
    words = [word for word in words_of(text) if word not in function_words() and len(word) > 3 and not _ANY.match(word)]
    return list(dict.fromkeys(stemmed(word) for word in words))


def _shared(texts: Sequence[str]) -> list[str]:
    counts = Counter(stem for text in texts for stem in stems(text))
    return [stem for stem, n in counts.most_common(SHARED) if n >= IN_TEXTS]


def _texts(population: Population) -> Iterator[str]:
    yield population.topic
    yield from population.discourse
    for who in population.participants[:READ]:
        yield who.persona
        yield who.stakeholder_type


def _in(text: Any, language: str) -> str:
    return text.in_(language) if isinstance(text, Text) else str(text)


def told(fit: Fit, language: str, titles: Mapping[str, str] | None = None) -> list[str]:
    """What does not fit, a sentence each. titles: of methodologies, for readers who do not know them by name."""
    lines = []
    if fit.methods:
        facts = {"asked": fit.asked, "about": fit.about, "model": fit.by}
        methods = [(titles or {}).get(name, name) for name in fit.methods]
        facts |= {"methods": ", ".join(methods), "types": ", ".join(fit.types)}
        text = ("judged" if fit.by else "topic") + ("" if fit.about else "_unnamed")
        lines.append(tell(UNFIT[text], language).format(**facts))
    if fit.language:
        theirs, ours = (tell(_NAMES.get(spoken, spoken), language) for spoken in (fit.language, fit.spoken))
        lines.append(tell(UNFIT["language"], language).format(theirs=theirs, ours=ours))
    return lines


def require_fit(fit: Fit | None) -> None:
    """Raises Unfit, with what can be done about it."""
    if fit is None or not (fit.methods or fit.language):
        return
    fact = " ".join(told(fit, "en"))
    ways = ["name instruments or a pack on this topic (docs/own-instruments.md)"] if fit.methods else []
    ways += [f"choose the language: language={fit.language}, or {fit.spoken} if that is meant"] if fit.language else []
    remedy = f"{'; '.join(ways)}; or say fit=any, if it is meant as it is"
    remedy = f"{remedy[:1].upper()}{remedy[1:]}"
    raise Unfit(f"{fact}\n{remedy}", fact=f"{fact} {remedy}")


# --- The same as the interviewer's model judges it: asked once, before a run begins, where the words say no or cannot
# be compared. Where its reply cannot be read, the words' verdict stands

METHODOLOGY = "synthesis"
"""Among the calls of no methodology."""
ITEMS, POSTS, LONG = 6, 8, 200
"""Texts of an instrument and first posts that are shown, and characters of each."""


class Questions(BaseModel):
    name: str
    about: str
    asks: list[str]


class FitIn(BaseModel):
    simulation: str
    types: list[str]
    posts: list[str]
    instruments: list[Questions]


class Verdict(BaseModel):
    name: str
    fits: bool


class FitOut(BaseModel):
    verdicts: list[Verdict] = []


def _prompt(data: FitIn, language: Language) -> str:
    simulation = json.dumps(
        {"about": data.simulation, "stakeholders": data.types, "posts": data.posts}, ensure_ascii=False, indent=1
    )
    asked = json.dumps([questions.model_dump() for questions in data.instruments], ensure_ascii=False, indent=1)
    return (
        f"Agents of a simulation are to be interviewed. This is what they are concerned "
        f"with:\n{fence('simulation', simulation)}\n"
        f"These questionnaires are to be put to them:\n{fence('questions', asked)}\n"
        "Say of each by its name whether it fits: whether these agents can have something to say on it because it is "
        "about what they are concerned with. Another language or other words do not matter. "
        'Answer with JSON only: {"verdicts": [{"name": "…", "fits": true}]}'
    )


FIT = Role("fit", _prompt, FitOut, lambda data: FitOut(), max_output_tokens=500)


def is_open(record: RunRecord) -> bool:
    """Whether there is a question that a model can settle, and a model."""
    return record.fit is not None and record.main.respondent == "llm" and bool(record.fit.methods or record.fit.unsure)


async def judged(record: RunRecord, population: Population, ledger: Ledger, machine: Machine) -> Fit:
    """The fit as the run's model has it. One request, filed in the run's own ledger."""
    fit = record.fit or Fit()
    data = question(record, population)
    async with staffed(ledger, record.main.model, at_its_server(record, machine), METHODOLOGY) as standalone:
        done = await FIT.work(standalone.context, NoSettings(), "fit", data)
    if done == "short" or done[1] == RULE or not done[0].verdicts:
        return fit
    fits = {verdict.name: verdict.fits for verdict in done[0].verdicts}
    about = {questions.name: questions.about for questions in data.instruments}
    off = [name for name in about if not fits.get(name, name not in fit.methods)]
    asked = about[off[0]] if off else fit.asked
    return fit.model_copy(update={"methods": off, "asked": asked, "unsure": [], "by": record.main.model})


def question(record: RunRecord, population: Population) -> FitIn:
    fit = record.fit or Fit()
    names = [name for name in record.methods if name in (*fit.methods, *fit.unsure)]
    posts = population.discourse or [f"{who.name}: {who.persona}" for who in population.participants[:POSTS]]
    return FitIn(
        simulation=clip(population.topic, 3 * LONG),
        types=fit.types,
        posts=[clip(text, LONG) for text in posts[:POSTS]],
        instruments=[_questions(name, record) for name in names],
    )


def _questions(name: str, record: RunRecord) -> Questions:
    language: Spoken = "de" if record.language == "de" else "en"
    model = load_methodology(record.methods[name]).instrument
    instrument: Instrument = model.model_validate(record.instruments[name].content)
    asks = [clip(wording.text.in_(language), LONG) for wording in instrument.wordings()]
    return Questions(name=name, about=instrument.topic.in_(language), asks=asks[:ITEMS])
