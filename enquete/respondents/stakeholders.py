"""Stakeholder types of a fisheries population, recognised from free text in German or English, and how each speaks.

Shared by the synthetic respondents of all methodologies, so that one agent is of one type everywhere.
"""

from __future__ import annotations

import re
from functools import lru_cache

from enquete.respondents.planted import persona_hash, pick
from enquete.state.seam import Language, Participant

TYPES = (
    "small_scale",
    "industrial",
    "angler",
    "ngo",
    "scientist",
    "administration",
    "processor",
    "consumer",
    "municipality",
)

# The first family that matches decides: specific ones stand before those whose words they contain.
_FAMILIES: tuple[tuple[str, str], ...] = (
    ("angler", r"angl(er|ing)|angel|recreational|freizeitfisch|charter|sport ?fish"),
    ("industrial", r"industr\w* ?\w*fi(sch|sh)|gro(ß|ss)\w*fischer|hochsee|trawl|pelagi[cs]|reeder|shipowner|fleet|flotte"
                   r"|large[- ]scale|distant[- ]water"),
    ("ngo", r"\bngos?\b|\bnros?\b|umwelt(verb|sch|org|stift|akt)|naturschutz|meeresschutz|conservation|environmental"
            r"|non-?governmental|greenpeace|\bwwf\b|\bnabu\b|\bbund\b|activis|aktivist|campaigner|oceana"),
    ("scientist", r"scien|wissenschaft|forsch|research|biolog|\bices\b|universit|institut|professor|ökolog|ecolog"),
    ("processor", r"process|verarbeit|retail|handel|händler|supermarkt|supermarket|trader|wholesal|räucher|smokehouse"
                  r"|gastronom|restaurant|fish ?monger|logisti"),
    ("consumer", r"consumer|verbraucher|konsument|customer|kund(e|in)\b|shopper|household"),
    ("municipality", r"municip|kommun|gemeinde|bürgermeister|mayor|town|stadt|touris|landkreis|harbou?r ?(master|town)"
                     r"|coastal commun|küstenort"),
    ("administration", r"administ|behörde|minist|authorit|govern|regierung|verwaltung|commission|kommission|\bcfp\b|\bgfp\b"
                       r"|regulator|official|inspect|aufsicht|fischereiamt|policy ?maker|politi"),
    ("small_scale", r"small[- ]scale|kleinfisch|kleine küsten|küstenfischer|coastal fisher|stellnetz|gillnet|artisanal"
                    r"|kutter|nebenerwerb|cooperative|genossenschaft|fischer|fisher"),
)  # fmt: skip
_PATTERNS = tuple((name, re.compile(words, re.IGNORECASE)) for name, words in _FAMILIES)
_AT_SEA = re.compile(
    r"fisch|fish|angl|angel|dorsch|hering|\bcod\b|herring|ostsee|baltic|nordsee|north sea|marine|meer", re.I
)
_UNTYPED = {"", "agent", "person", "user", "people", "individual", "entity", "node", "unknown", "other", "none"}

_VOICE: dict[Language, dict[str, tuple[str, ...]]] = {
    "de": {
        "small_scale": (
            "Ich fahre seit Jahren mit einem kleinen Boot raus und sehe das jeden Morgen.",
            "In meinem Hafen liegen nur noch wenige Kutter.",
        ),
        "industrial": (
            "Unsere Schiffe müssen das ganze Jahr ausgelastet sein, sonst rechnet es sich nicht.",
            "Ich trage Verantwortung für Besatzungen und teure Schiffe.",
        ),
        "angler": (
            "Ich bin an vielen Wochenenden mit der Rute auf dem Wasser.",
            "Für mich und meinen Verein ist das Angeln mehr als ein Hobby.",
        ),
        "ngo": (
            "Ich arbeite seit Jahren für den Schutz der Meere und lese die Berichte genau.",
            "Mir geht es um das, was unsere Kinder noch vorfinden werden.",
        ),
        "scientist": (
            "In den Daten, mit denen ich arbeite, ist das recht deutlich.",
            "Ich argumentiere hier aus den Zeitreihen, nicht aus dem Bauch.",
        ),
        "administration": (
            "In meiner Behörde sehe ich, wie viele Interessen da zusammenkommen.",
            "Ich muss Regeln so gestalten, dass sie vor Ort auch umsetzbar sind.",
        ),
        "processor": (
            "In meinem Betrieb hängt vieles davon ab, dass verlässlich Ware kommt.",
            "Meine Abnehmer fragen jeden Tag nach Preis und Herkunft.",
        ),
        "consumer": (
            "Ich stehe an der Theke und will wissen, was ich guten Gewissens kaufen kann.",
            "Bei uns zu Hause kommt regelmäßig Fisch auf den Tisch.",
        ),
        "municipality": (
            "In unserem Ort hängen Hafen, Gäste und Arbeitsplätze zusammen.",
            "Ich spreche jede Woche mit Leuten aus dem Hafen.",
        ),
        "other": (
            "So erlebe ich es jedenfalls in meinem Alltag.",
            "Mit meinem Hintergrund sehe ich das vielleicht anders als andere.",
        ),
    },
    "en": {
        "small_scale": (
            "I have been going out in a small boat for years and see it every morning.",
            "There are only a few boats left in my harbour.",
        ),
        "industrial": (
            "Our vessels have to work all year round or they do not pay.",
            "I am responsible for crews and for expensive ships.",
        ),
        "angler": (
            "I am out on the water with my rod on many weekends.",
            "For me and my club this is more than a hobby.",
        ),
        "ngo": (
            "I have worked for the protection of the sea for years and read the reports closely.",
            "I care about what our children will still find there.",
        ),
        "scientist": (
            "The data I work with are fairly clear on this.",
            "I am arguing from the time series here, not from a feeling.",
        ),
        "administration": (
            "In my office I see how many interests meet here.",
            "I have to write rules that people can actually follow on the ground.",
        ),
        "processor": (
            "My business depends on supplies that come in reliably.",
            "My buyers ask about price and origin every day.",
        ),
        "consumer": (
            "I stand at the counter and want to know what I can buy in good conscience.",
            "We eat fish at home regularly.",
        ),
        "municipality": (
            "In our town the harbour, the visitors and the jobs hang together.",
            "I talk to people from the harbour every week.",
        ),
        "other": (
            "That is at least how I see it in my daily life.",
            "With my background I may see this differently from others.",
        ),
    },
}


def type_of(who: Participant) -> str:
    """One of TYPES, else "other:<stakeholder type>", or "other:<persona hash>" for agents without a telling type.

    The stakeholder type decides; the persona text is read only where the type says nothing of the kind and either of
    the two speaks of fish or the sea, so that a bank's "retail" customers do not become fishmongers.
    """
    stated = who.stakeholder_type.strip()
    found = _resolve(stated, who.persona)
    if found is not None:
        return found
    return f"other:{stated.casefold()}" if stated.casefold() not in _UNTYPED else f"other:{persona_hash(who)}"


def voice(kind: str, language: Language, *key: str | int) -> str:
    """A sentence in which someone of this type (see `type_of`) speaks of themselves."""
    voices = _VOICE[language]
    return pick(voices.get(kind, voices["other"]), "voice", *key)


@lru_cache(maxsize=8192)  # asked again for every item of an agent
def _resolve(stated: str, persona: str) -> str | None:
    found = _match(stated)
    if found == "small_scale":  # plain "Fischer" or "fisherman": the persona may say which kind
        return "industrial" if _match(persona) == "industrial" else found
    if found is None and _AT_SEA.search(f"{stated} {persona}"):
        return _match(persona)
    return found


def _match(text: str) -> str | None:
    text = text.replace("_", " ")
    return next((name for name, words in _PATTERNS if words.search(text)), None)
