"""Instruments drafted from a simulation's own discourse, or from how those asked are described: what is handed to the
methodologies, and the files that they make of it.

A methodology's `draft` says slot by slot which text it needs; a rule gives Enquete's own sentence, a model one of its
own (study/drafts.py). A draft says of every item where it is from (a comment above it), and is known as a draft by its
bytes: `drafts.json` beside the files holds their hashes. An edit, or `accept`, makes an instrument of it.

How far ahead a study looks: as its requirement says, else as long as its simulation lasts. By rule, over words.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Literal

from enquete.instruments.instrument import slug
from enquete.instruments.review import Kind, ReviewedText, ReviewFinding
from enquete.instruments.text import LANGUAGE_NAMES, LANGUAGES, Text, language_of
from enquete.ledger.folders import write_atomically
from enquete.runs.instrument_pins import MARKS, digest
from enquete.runs.planning import load_methodology
from enquete.simulations.agents import CONFIG, try_object
from enquete.simulations.discourse import (
    DiscourseTheme,
    Post,
    PostStatement,
    actors,
    descriptions,
    named,
    plans,
    positions,
    posts,
    spoken,
    statements,
    stems_of,
    themes,
)
from enquete.simulations.population import Population
from enquete.simulations.sources import one_line
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.request import MOST_NAMED
from enquete.state.untrusted_input import as_cell

# --- How far ahead a study looks -------------------------------------------------------------------------------------

Unit = Literal["hour", "day", "week", "month", "year", "calendar"]
_NUMBERS: Mapping[Spoken, str] = {
    "de": "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "en": "two three four five six seven eight nine ten eleven twelve",
}
_VALUES = {word: number for words in _NUMBERS.values() for number, word in enumerate(words.split(), start=2)} | {
    "one": 1, "a": 1, "an": 1, "einen": 1, "einem": 1, "einer": 1, "ein": 1, "eine": 1,
}  # fmt: skip
_UNITS: Mapping[Unit, Mapping[Spoken, str]] = {
    "hour": {"de": "Stunden", "en": "hours"},
    "day": {"de": "Tagen", "en": "days"},
    "week": {"de": "Wochen", "en": "weeks"},
    "month": {"de": "Monaten", "en": "months"},
    "year": {"de": "Jahren", "en": "years"},
}
_STEMS: Mapping[str, Unit] = {
    "hour": "hour", "stund": "hour", "day": "day", "tag": "day", "täg": "day", "week": "week", "woch": "week",
    "wöch": "week", "month": "month", "monat": "month", "year": "year", "jahr": "year", "jähr": "year",
}  # fmt: skip
_SMALLER: Mapping[Unit, tuple[int, Unit]] = {
    "day": (24, "hour"), "week": (7, "day"), "month": (4, "week"), "year": (12, "month"),
}  # fmt: skip
"""What one of a unit is in the next smaller one, so that no singular has to be spelt."""
_NUMBER = rf"(?P<n>\d{{1,3}}|{'|'.join(sorted(_VALUES, key=len, reverse=True))})"
_UNIT = rf"(?P<unit>{'|'.join(_STEMS)})"
_LED = (
    r"\b(?:next|coming|following|within(?: the)?|in(?: the| den)?(?: next| coming| first)?|nächsten|kommenden|"
    r"folgenden|innerhalb(?: von| der)?|binnen|ersten)\s+(?:nächsten |kommenden |ersten )?"
)
_AHEAD = (
    re.compile(rf"{_LED}{_NUMBER}[\s-]+{_UNIT}\w*\b(?!\s+(?:ago|old|alt|zuvor|earlier))", re.IGNORECASE),
    re.compile(rf"\b{_NUMBER}-(?P<unit>hour|day|week|month|year)\b(?!-old)", re.IGNORECASE),
    re.compile(rf"\b{_NUMBER}-?(?P<unit>stünd|täg|wöch|monat|jähr)ig", re.IGNORECASE),
    re.compile(
        r"\b(?P<n>)(?:next|coming|nächste[nr]?|kommende[nr]?)\s+"
        r"(?P<unit>day|week|month|year|tag|woch|monat|jahr)e?s?\b",
        re.IGNORECASE,
    ),
    re.compile(rf"\b{_NUMBER}\s+{_UNIT}\w*\s+(?:from now|ahead|later|später|lang)\b", re.IGNORECASE),
)
_CALENDAR = re.compile(
    r"\b(?:by|until|till|towards?|to|bis|im jahre?|of|für|for|in|after|nach)\s+(?:the year |zum jahr )?(?P<n>20[3-9]\d|"
    r"21\d\d)\b|\b(?P<m>20[3-9]\d|21\d\d)\s*\?",
    re.IGNORECASE,
)
"""A year so far off that it is ahead of whatever is simulated."""
DAY_H, MONTH_D, LONG_D = 24, 30, 90


@dataclass(frozen=True)
class Horizon:
    """n of a unit from now; or, with the unit calendar, the year n. known: whether anything said so."""

    n: int
    unit: Unit
    known: bool = True

    def then(self, language: Spoken) -> str:
        """When it is reached, as a sentence begins."""
        if self.unit == "calendar":
            return f"Im Jahr {self.n}" if language == "de" else f"In {self.n}"
        return f"In {self._amount(language)}"

    def until(self, language: Spoken) -> str:
        """The time up to it, inside a sentence."""
        if self.unit == "calendar":
            return f"bis {self.n}" if language == "de" else f"until {self.n}"
        lead = "in den nächsten" if language == "de" else "over the next"
        return f"{lead} {self._amount(language)}"

    def _amount(self, language: Spoken) -> str:
        words = _NUMBERS[language].split()
        spelt = words[self.n - 2] if 2 <= self.n <= len(words) + 1 else str(self.n)
        return f"{spelt} {_UNITS[self.unit][language]}"


USUAL = Horizon(5, "year", known=False)
"""Where nothing says how far ahead: as far as most studies of the future look at least."""


def horizon_of(population: Population, topic: str = "") -> Horizon:
    """As the topic or the requirement says; else the simulated hours of its configuration; else five years."""
    return said_in(topic) or said_in(population.topic) or _simulated(population) or USUAL


def said_in(text: str) -> Horizon | None:
    """The first time ahead that a text names."""
    matches = sorted((match for pattern in _AHEAD if (match := pattern.search(text))), key=lambda match: match.start())
    if matches:
        word, unit = matches[0]["n"].casefold(), _STEMS[matches[0]["unit"].casefold().replace("stünd", "stund")]
        n = int(word) if word.isdigit() else _VALUES.get(word, 1)
        return _plural(n, unit) if n else None
    year = _CALENDAR.search(text)
    return Horizon(int(year["n"] or year["m"]), "calendar") if year else None


def _plural(n: int, unit: Unit) -> Horizon:
    if n == 1 and unit in _SMALLER:
        return Horizon(*_SMALLER[unit])
    return Horizon(max(n, 2), unit)


def _simulated(population: Population) -> Horizon | None:
    if not population.has_simulation:
        return None
    times = try_object(population.path / CONFIG, []).get("time_config")
    hours = times.get("total_simulation_hours") if isinstance(times, dict) else None
    if isinstance(hours, bool) or not isinstance(hours, int | float) or not 1 < hours < 10**6:
        return None
    days = ceil(hours / DAY_H)
    if hours <= 2 * DAY_H:
        return _plural(ceil(hours), "hour")
    return Horizon(days, "day") if days <= LONG_D else Horizon(round(days / MONTH_D), "month")


# --- Material and drafts ---------------------------------------------------------------------------------------------

CONCOURSE = "concourse.csv"
FEWEST_THEMES = 2
OTHER: Mapping[Spoken, Spoken] = {"de": "en", "en": "de"}
RULE = "rule"
GENERAL = ("topic", "theme")
"""What findings are called that concern every file."""


@dataclass(frozen=True)
class Slot:
    """A text that a draft needs. id: METHODOLOGY/place; `wanted` says to a model what it is to be; de, en: Enquete's
    own sentence.

    about: its theme; None: the topic. family, reverse: of a rated item."""

    id: str
    wanted: str
    de: str
    en: str
    kind: Kind = "item"
    about: DiscourseTheme | None = None
    family: str = ""
    reverse: bool = False

    def wording(self, de: str, en: str) -> ReviewedText:
        """What the rules of a questionnaire look at."""
        return ReviewedText(self.id, Text(de=de, en=en), self.kind, self.family, self.reverse)


@dataclass(frozen=True)
class SlotText:
    """What stands in a slot, and where it is from. "": not in that language."""

    de: str
    en: str
    source: str

    def lines(self, indent: str) -> str:
        return "".join(f"{indent}{name}: {quoted(text)}\n" for name, text in (("de", self.de), ("en", self.en)) if text)

    @property
    def inline(self) -> str:
        texts: dict[Spoken, str] = {"de": self.de, "en": self.en}
        return pair({language: text for language, text in texts.items() if text})


def by_rule(slot: Slot) -> SlotText:
    return SlotText(slot.de, slot.en, f"{source_of(slot)}; the sentence is Enquete's")


def source_of(slot: Slot) -> str:
    """The theme that it is about, with how widely it is spoken of."""
    return counted(slot.about) if slot.about else "the topic"


def counted(theme: DiscourseTheme) -> str:
    what = "the descriptions" if theme.described else f"{theme.posts} posts"
    where = f"in {what} of {theme.agents} agents" if theme.agents else "as named"
    return f"theme “{one_line(theme.label)}”, {where}"


@dataclass(frozen=True)
class Material:
    """What a simulation talked about. language: of its posts; topics: by language, of which there is one where nobody
    translated;
    folder: where the drafts will lie; write: who fills the slots; author: the model's name, or "rule"; findings: what
    of the model's work was not used, or did not come back as it was.
    described: posts are how agents are described, who have written nothing; horizon: how far ahead is asked; plan:
    whether the topic is something that is to be done or not; named: whether whoever drafts named the themes."""

    topics: Mapping[Spoken, str]
    sim_id: str
    language: Spoken
    themes: tuple[DiscourseTheme, ...]
    statements: tuple[PostStatement, ...]
    posts: tuple[Post, ...]
    folder: Path
    write: Callable[[Slot], SlotText] = by_rule
    author: str = RULE
    findings: tuple[ReviewFinding, ...] = ()
    described: bool = False
    horizon: Horizon = USUAL
    plan: bool = True
    named: bool = False

    @property
    def topic(self) -> str:
        return self.topics.get(self.language) or next(iter(self.topics.values()))

    def topic_in(self, language: Spoken) -> str:
        return self.topics.get(language) or self.topic

    @property
    def bilingual(self) -> bool:
        """Whether topic and themes stand in both languages."""
        return len(self.topics) == len(LANGUAGES) and all(len(theme.labels) == len(LANGUAGES) for theme in self.themes)

    @property
    def chosen(self) -> list[PostStatement]:
        return [statement for statement in self.statements if not statement.left_out]

    def doubt(self, where: str) -> str:
        """What is found wrong there, as the end of a comment."""
        return "".join(f"; CHECK {one_line(finding.told('en'))}" for finding in self.findings if finding.where == where)

    def by_rule(self, slot: Slot) -> SlotText:
        """Enquete's own sentence, in the languages of topic and themes: none speaks German with English words."""
        text = by_rule(slot)
        if self.bilingual:
            return text
        source = text.source
        if not slot.about and self.language not in self.topics:
            source += "; CHECK the topic is in another language: translate it"
        return replace(text, source=source, **{OTHER[self.language]: ""})

    def theme_of(self, statement: PostStatement) -> str:
        """The name of the theme that it shares most with; "" where there is none."""
        statement_stems = stems_of(statement.text)
        shared = {theme.label: len(statement_stems & stems_of(theme.label)) for theme in self.themes}
        return max(shared, key=lambda label: shared[label]) if any(shared.values()) else ""

    def labels(self, theme: DiscourseTheme) -> Mapping[Spoken, str]:
        return theme.labels or {self.language: theme.label}

    def in_languages(self, statement: PostStatement) -> Mapping[Spoken, str]:
        """Word for word, and translated where it is."""
        return {self.language: statement.text} | ({OTHER[self.language]: statement.other} if statement.other else {})


Drafting = Callable[[Material], Mapping[str, str]]
"""A methodology's own, its slot `drafts`: file name → YAML."""


def material_of(population: Population, folder: Path, topic: str = "", wanted: Sequence[str] = ()) -> Material:
    """By rule: from what agents wrote, or from how they are described where they have written nothing or too little.

    topic, wanted: the study's own topic and themes instead of those found; each in one language, or as “German =
    English”. Raises SettingsError where there is too little for a draft.
    """
    written = posts(population)
    discourse = themes(written, barred=actors(population))
    described = not written if wanted else len(discourse) < FEWEST_THEMES
    texts = descriptions(population) if described else written
    if described:
        discourse = themes(texts, barred=named(population), described=True)
    language = spoken(texts) or language_of([topic, *wanted]) or "en"
    if wanted:
        discourse = [_as_named(name, texts, language, described) for name in wanted[:MOST_NAMED]]
    if len(discourse) < FEWEST_THEMES:
        raise SettingsError(
            f"{population.sim_id}: {len(written)} posts of its agents and {len(descriptions(population))} descriptions "
            f"hold {len(discourse)} themes that several of them share; a draft needs {FEWEST_THEMES}. Name them: "
            "--theme TEXT, or write instruments of your own (docs/own-instruments.md)"
        )
    told = topic or one_line(population.topic.partition(". ")[0]).strip().rstrip(".")
    topics = _labels(told, language) if told else _listed(discourse, language)
    if described:
        chosen = tuple(positions(texts))
    else:
        begun = [population.topic, *population.discourse]
        chosen = tuple(statements(written, language, [*topics.values(), *(theme.label for theme in discourse)], begun))
    material = Material(
        topics, population.sim_id, language, tuple(discourse), chosen, tuple(texts), folder, described=described,
        horizon=horizon_of(population, topic), plan=plans(topic or population.topic), named=bool(wanted),
        findings=(ReviewFinding("described", "themes", None, {"n": len(texts)}),) if described else (),
    )  # fmt: skip
    return replace(material, write=material.by_rule)


def _labels(text: str, language: Spoken) -> dict[Spoken, str]:
    """Of one language, or of both as “German = English”."""
    parts = [one_line(part).strip() for part in text.split("=", 1)]
    if len(parts) == len(LANGUAGES) and all(parts):
        return {"de": parts[0], "en": parts[1]}
    return {language_of(parts) or language: parts[0] or text}


def _listed(discourse: Sequence[DiscourseTheme], language: Spoken) -> dict[Spoken, str]:
    """The widest themes as a topic, in the languages that all of them have."""
    widest = discourse[: FEWEST_THEMES + 1]
    languages = LANGUAGES if all(theme.labels for theme in widest) else (language,)
    return {language: ", ".join(theme.in_(language) for theme in widest) for language in languages}


def _as_named(text: str, texts: Sequence[Post], language: Spoken, described: bool) -> DiscourseTheme:
    """Counted where texts hold all of its words. Raises SettingsError for nothing."""
    labels = _labels(text, language)
    if not any(labels.values()) or not text.strip(" ="):
        raise SettingsError(f"theme {text!r}: name it in one language, or as “German = English”")
    label = labels.get(language) or next(iter(labels.values()))
    label_stems = stems_of(label)
    those = [post for post in texts if label_stems and label_stems <= stems_of(post.text)]
    both = labels if len(labels) == len(LANGUAGES) else {}
    return DiscourseTheme(label, len(those), len({post.agent for post in those}), both, described)


def drafted(material: Material, methods: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Files by methodology, of those that can draft."""
    made = {}
    for name, dotted in methods.items():
        draft = load_methodology(dotted).drafts
        if draft:
            made[name] = dict(draft(material))
    return made


def write(material: Material, files: Mapping[str, Mapping[str, str]]) -> list[Path]:
    """The files, the concourse, and the marks. Raises SettingsError rather than writing over a file that is there."""
    texts = {name: text for its in files.values() for name, text in its.items()} | {CONCOURSE: concourse(material)}
    require_free(material.folder, list(texts))
    material.folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(material.folder / name, text)
    marks = {name: digest(text.encode()) for name, text in texts.items() if name.endswith(".yaml")}
    write_atomically(material.folder / MARKS, json.dumps(marks, indent=2) + "\n")
    return [material.folder / name for name in texts]


def require_free(folder: Path, names: list[str]) -> None:
    """Raises SettingsError where one of these files is there."""
    there = [name for name in names if (folder / name).exists()]
    if there:
        fact = f"{folder.name}: {', '.join(there)} is there already; name another folder"
        raise SettingsError(
            f"{folder}: {', '.join(there)} is there already; name another folder with --into DIR", fact=fact
        )


def concourse(material: Material) -> str:
    """Every sentence, with its source and what became of it."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["statement", "chosen", "left_out", "theme", "agent", "stakeholder_type", "stance", "source"])
    for statement in material.statements:
        post, left_out = statement.post, statement.left_out
        theme = as_cell(material.theme_of(statement))
        who = (as_cell(text) for text in (post.name, post.kind, post.stance, post.source))
        table.writerow([as_cell(statement.text), "" if left_out else "yes", left_out, theme, *who])
    return out.getvalue()


# --- for those who write the files -----------------------------------------------------------------------------------


def quoted(text: str) -> str:
    """A text as YAML takes it whatever is in it."""
    return json.dumps(text, ensure_ascii=False)


def pair(texts: Mapping[Spoken, str]) -> str:
    """A text in the languages that there are."""
    return f"{{{', '.join(f'{language}: {quoted(texts[language])}' for language in LANGUAGES if language in texts)}}}"


def identifier(theme: DiscourseTheme, place: int) -> str:
    """A theme as an id that begins with a letter; place: from 0."""
    plain = slug(theme.label).lower().replace(".", "-")
    return plain if plain != "own" and plain[:1].isalpha() else f"theme-{place + 1}"


def begins(material: Material) -> str:
    """The comment that a drafted file begins with."""
    by = "by rule" if material.author == RULE else f"by {one_line(material.author)}"
    what = "how the agents of {} are described" if material.described else "what the agents of {} wrote"
    text = (
        f"# DRAFT, {by} from {what.format(material.sim_id)}. Above every item stands where it is from.\n"
        "# Read it, change it, then run it; `enquete draft --accept FOLDER` takes it as it is.\n"
    )
    if not material.bilingual:
        told = LANGUAGE_NAMES[material.language]
        text += (
            f"# Topic and themes are in {told}, the language of the texts, and so is what speaks of them: translate it "
            f"where you ask in "
            "the other.\n"
        )
    general = [finding for finding in material.findings if finding.where.startswith(GENERAL)]
    return text + "".join(f"# CHECK {one_line(remark.told('en'))}\n" for remark in general)


def head(material: Material, kind: str, german: str, english: str, *, bilingual: bool | None = None) -> str:
    """The beginning of a drafted instrument. bilingual: whether all of it is; as topic and themes are, unless said."""
    words = {"de": german, "en": english}
    title = pair({language: f"{words[language]}: {topic}" for language, topic in material.topics.items()})
    both = material.bilingual if bilingual is None else bilingual
    return (
        f'{begins(material)}\ninstrument_id: draft-{kind}\nversion: "draft"\ntitle: {title}\ntopic: '
        f"{pair(material.topics)}\n"
        f"language_default: {material.language}\n{'languages: [de, en]' + chr(10) if both else ''}\n"
    )
