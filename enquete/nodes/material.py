"""Instruments drafted from a simulation's own discourse, or from how those asked are described: what is handed to the
methodologies, and the files that they make of it.

A methodology's `draft` says slot by slot which text it needs; a rule gives Enquete's own sentence, a model one of its
own (draft_author.py). A draft says of every item where it is from (a comment above it), and is known as a draft by its
bytes: `drafts.json` beside the files holds their hashes. An edit, or `accept`, makes an instrument of it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from enquete.instruments.document import LANGUAGES
from enquete.instruments.instrument import slug
from enquete.instruments.review import Kind, ReviewedText, ReviewFinding
from enquete.instruments.text import LANGUAGE_NAMES, Text, language_of
from enquete.ledger.folders import write_atomically
from enquete.nodes.instrument_pins import MARKS, digest
from enquete.nodes.planning import load_methodology
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
from enquete.simulations.horizon import USUAL, Horizon, horizon_of
from enquete.simulations.population import Population
from enquete.simulations.sources import one_line
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.request import MOST_NAMED
from enquete.state.visible_text import as_cell

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

    def said(self, statement: PostStatement) -> Mapping[Spoken, str]:
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
    return text + "".join(f"# CHECK {one_line(one.told('en'))}\n" for one in general)


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
