"""Drafts of instruments from what a simulation's agents wrote, or from how those asked are described: made by rule or
with a model, written, reviewed, accepted.

The order in which a model writes a draft: themes, statements, texts, and all of it translated back.

What it writes and cannot be used is asked for once more, with the reason; then Enquete's own stands in its place, and
the draft says so.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field

from enquete.instruments.load import load_own
from enquete.instruments.review import (
    ReviewedText,
    ReviewFinding,
    alike,
    review,
    translation_differs,
    triples,
    words_found,
)
from enquete.instruments.text import LANGUAGE_NAMES, LANGUAGES, language_of, words_of
from enquete.ledger.budget import Budget
from enquete.methods.registry import dotted_paths, methodologies
from enquete.models.metered_model import estimate
from enquete.models.prices import Prices, cost
from enquete.respondents.roles import Role, fence
from enquete.runs.instrument_pins import accept
from enquete.runs.material import (
    CONCOURSE,
    OTHER,
    Material,
    Slot,
    SlotText,
    by_rule,
    drafted,
    material_of,
    require_free,
    source_of,
    write,
)
from enquete.runs.model_server import opened, url_of
from enquete.simulations.discourse import FEWEST, MOST, STANDING, DiscourseTheme, Post, PostStatement, stems_of
from enquete.simulations.locate import locate
from enquete.simulations.population import load_population
from enquete.simulations.sources import clip, one_line
from enquete.state.asking import Language, Spoken
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import NoSettings
from enquete.state.model_names import has_own_service
from enquete.state.request import DraftRequest, parse_request
from enquete.state.settings import Environment, Machine, resolve_machine, resolve_root
from enquete.study.background import wait
from enquete.study.instruments import review_file
from enquete.study.tasks import PathSandbox

# --- A draft written by a model --------------------------------------------------------------------------------------

MOST_POSTS, CLIPPED, CLIPPED_PERSONA = 90, 280, 700
"""Posts or descriptions that are shown, and characters of each."""
MOST_SENTENCES = 120
AT_ONCE = 40
"""Texts that are translated back in one request."""

ResultT = TypeVar("ResultT", bound=BaseModel)


@dataclass
class _Kept:
    """A text of one instrument that is used, with the posts that it rests on."""

    slot: Slot
    text: Pair
    sources: Sequence[Post]


@dataclass
class Author:
    """One draft. dropped: of which slots nothing of the model's was used, and why."""

    context: InterviewContext
    model: str
    budget: Budget
    topic: str = ""  # as whoever drafts named it
    kept: dict[str, _Kept] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)

    async def draft(self, material: Material, methods: Mapping[str, str]) -> Material:
        """The material, with themes, statements and a writer of the model's. Raises SettingsError if it cannot ask."""
        shown = sample(material.posts)
        material = await self._themes(replace(material, author=self.model), shown)
        material = await self._statements(material)
        await asyncio.gather(*(self._texts(material, slots, shown) for slots in slots_of(material, methods).values()))
        return await self._translated_back(material)

    # --- asking -------------------------------------------------------------------------------------------------------

    async def _ask(self, role: Role[Any, ResultT], data: BaseModel) -> ResultT:
        """A piece of work is known by what is asked: begun anew after a kill, none is paid twice."""
        subject = hashlib.sha256(data.model_dump_json().encode()).hexdigest()[:16]
        done = await role.work(self.context, NoSettings(), subject, data)
        if done == "short":
            raise SettingsError(
                f"the draft stopped: {self.budget.stopped or 'its budget is used up (--budget-tokens)'}"
            )
        return done[0]

    # --- themes -------------------------------------------------------------------------------------------------------

    async def _themes(self, material: Material, shown: Sequence[Post]) -> Material:
        """Those of the rule remain where too few of the model's can be used; those that were named are translated."""
        if material.named and material.bilingual:
            return material
        asked = themes_input(material, shown).model_copy(update={"is_topic_given": bool(self.topic)})
        fewest = len(asked.wanted) or FEWEST_THEMES
        topic, kept = Pair(), list[ThemeOut]()
        sources: list[list[Post]] = []
        faults: list[str] = []
        for _ in range(2):
            given = await self._ask(THEMES, asked.model_copy(update={"again": faults}))
            faults = []
            topic = topic if topic.de else given.topic if not unusable(given.topic, MOST_TOPIC) else topic
            for theme in given.themes:
                named = speaking_of(theme.in_(material.language), theme.posts, shown)
                if fault := theme_faults(theme, kept, named, material.language, asked.wanted):
                    faults.append(f"{theme.in_(material.language)}: {fault}")
                else:
                    kept.append(theme)
                    sources.append(named)
            if topic.de and len(kept) >= fewest:
                break
        if not topic.de or len(kept) < fewest:
            return _by_rule(material, "themes", faults)
        themes = [_theme(theme, posts, material) for theme, posts in zip(kept[:MOST_THEMES], sources, strict=False)]
        topics: dict[Spoken, str] = {language: one_line(topic.in_(language)) for language in LANGUAGES}
        if self.topic:  # a model translates it, and does not choose another one
            topics.update(material.topics)
        return replace(material, topics=topics, themes=tuple(themes))

    # --- statements ---------------------------------------------------------------------------------------------------

    async def _statements(self, material: Material) -> Material:
        """Chosen among those that can stand alone, word for word; the rest is left out with the reason."""
        sentences = candidates(material)
        if not sentences:  # descriptions without an opinion: what is claimed is written as a text
            return material
        asked = statements_input(material, sentences)
        into = asked.into
        chosen: dict[int, PostStatement] = {}
        faults: list[str] = []
        for _ in range(2):
            given = await self._ask(STATEMENTS, asked.model_copy(update={"again": faults}))
            faults = []
            for choice in given.statements:
                number = choice.number
                if not 1 <= number <= len(sentences):
                    faults.append(f"{number}: is no number from above")
                elif fault := translation_faults(sentences[number - 1].text, choice.translation, into):
                    faults.append(f"{number}: translation: {fault}")
                elif number not in chosen and len(chosen) < MOST:
                    chosen[number] = replace(sentences[number - 1], left_out="", other=one_line(choice.translation))
            if len(chosen) >= asked.fewest:
                break
        if len(chosen) < asked.fewest:
            return _by_rule(material, "statements", faults)
        picked = [chosen[number] for number in sorted(chosen)]
        taken = {(statement.text, statement.post.source) for statement in picked}
        rest = [
            replace(statement, left_out=statement.left_out or f"not chosen by {self.model}")
            for statement in material.statements
            if (statement.text, statement.post.source) not in taken
        ]
        return replace(material, statements=(*picked, *rest))

    # --- texts --------------------------------------------------------------------------------------------------------

    async def _texts(self, material: Material, slots: Sequence[Slot], shown: Sequence[Post]) -> None:
        """Of one instrument."""
        due = list(slots)
        kept: list[ReviewedText] = []
        for _ in range(2):
            faults = [f"{n}: {self.dropped[slot.id]}" for n, slot in enumerate(due, start=1) if slot.id in self.dropped]
            asked = texts_input(material, due, shown).model_copy(update={"again": faults})
            given = {text.number: text for text in (await self._ask(TEXTS, asked)).texts}
            for number, slot in enumerate(due, start=1):
                if fault := self._used(material, slot, given.get(number), kept, shown):
                    self.dropped[slot.id] = fault
            due = [slot for slot in due if slot.id not in self.kept]
            if not due:
                return

    def _used(
        self, material: Material, slot: Slot, given: TextOut | None, kept: list[ReviewedText], shown: Sequence[Post]
    ) -> str:
        """Why a text is not; "" where it is."""
        if given is None:
            return "nothing was written"
        text = Pair(de=one_line(given.de), en=one_line(given.en))
        sources = speaking_of(text.in_(material.language), given.posts, shown)
        if faults := text_faults(slot, text, kept, sources):
            return "; ".join(fault.removeprefix(slot.id).lstrip(": ") for fault in faults)
        kept.append(slot.wording(text.de, text.en))
        self.kept[slot.id] = _Kept(slot, text, sources)
        self.dropped.pop(slot.id, None)
        return ""

    # --- translated back ----------------------------------------------------------------------------------------------

    async def _translated_back(self, material: Material) -> Material:
        """Every pair of the model's, by itself, which sees the translation alone."""
        pairs = dict(_pairs(material, self.kept))
        names = list(pairs)
        batches = [names[place : place + AT_ONCE] for place in range(0, len(names), AT_ONCE)]
        told = await asyncio.gather(
            *(self._ask(BACK, _back_input(pairs, batch, material.language)) for batch in batches)
        )
        for batch, result in zip(batches, told, strict=True):
            back = {text.number: text.text for text in result.texts}
            for number, name in enumerate(batch, start=1):
                text = one_line(back.get(number, ""))
                if not comes_back(pairs[name].in_(material.language), text, material.language):
                    self.doubts[name] = text
        doubts = [ReviewFinding("comes_back", name, None, {"found": text or "–"}) for name, text in self.doubts.items()]
        dropped = [ReviewFinding("dropped", name, None, {"found": why}) for name, why in self.dropped.items()]
        return replace(material, write=partial(self._write, material), findings=(*material.findings, *dropped, *doubts))

    def _write(self, material: Material, slot: Slot) -> SlotText:
        kept = self.kept.get(slot.id)
        if kept is None:
            why = f"; what {self.model} wrote was dropped: {self.dropped[slot.id]}" if slot.id in self.dropped else ""
            ruled = material.by_rule(slot)
            return replace(ruled, source=one_line(f"{ruled.source}{why}"))
        posts = ", ".join(f"{post.source} ({post.name})" for post in kept.sources) or source_of(slot)
        about = f"{source_of(slot)}; " if slot.about and kept.sources else ""
        doubt = f"; CHECK, translated back: “{self.doubts[slot.id]}”" if slot.id in self.doubts else ""
        return SlotText(kept.text.de, kept.text.en, one_line(f"{about}{posts}; written by {self.model}{doubt}"))


def _by_rule(material: Material, what: str, faults: Sequence[str]) -> Material:
    """With a finding that too little of the model's could be used, and why."""
    finding = ReviewFinding("by_rule", what, None, {"found": "; ".join(faults) or "–"})
    return replace(material, findings=(*material.findings, finding))


# --- what is asked with ----------------------------------------------------------------------------------------------


def sample(posts: Sequence[Post]) -> list[Post]:
    """Of every agent in turn, the first of each platform first."""
    queues: dict[str, list[Post]] = {}
    for post in posts:
        queues.setdefault(post.agent, []).append(post)
    rounds = range(max(map(len, queues.values()), default=0))
    return [queue[place] for place in rounds for queue in queues.values() if place < len(queue)][:MOST_POSTS]


def slots_of(material: Material, methods: Mapping[str, str]) -> dict[str, list[Slot]]:
    """What the methodologies need, by the instrument."""
    asked: dict[str, list[Slot]] = {}

    def note(slot: Slot) -> SlotText:
        asked.setdefault(slot.id.partition("/")[0], []).append(slot)
        return by_rule(slot)

    drafted(replace(material, write=note), methods)
    return asked


def themes_input(material: Material, shown: Sequence[Post]) -> ThemesIn:
    return ThemesIn(
        topic=material.topic, posts=_numbered(shown, described=material.described), described=material.described,
        hints=[theme.label for theme in material.themes],
        wanted=[theme.label for theme in material.themes] if material.named else [],
    )  # fmt: skip


def candidates(material: Material) -> list[PostStatement]:
    """The rule's first, then those that it left out although they can stand alone."""
    return [statement for statement in material.statements if statement.left_out in ("", *STANDING)][:MOST_SENTENCES]


def statements_input(material: Material, sentences: Sequence[PostStatement]) -> StatementsIn:
    lines = [f"{sentence.text} ({sentence.post.name}, {sentence.post.kind})" for sentence in sentences]
    return StatementsIn(
        topic=material.topic,
        themes=[theme.label for theme in material.themes],
        sentences=numbered(lines),
        into=OTHER[material.language],
        fewest=min(FEWEST, len(sentences)),
        most=min(MOST, len(sentences)),
    )


def texts_input(material: Material, slots: Sequence[Slot], shown: Sequence[Post]) -> TextsIn:
    """With the posts that speak of these slots' themes, else any."""
    about = stems_of(" ".join(slot.about.label for slot in slots if slot.about))
    wanted = numbered(f"{slot.wanted} Enquete's own: “{slot.en}” / „{slot.de}“" for slot in slots)
    numbers = [number for number, post in enumerate(shown) if not about or about & stems_of(post.text)]
    posts = _numbered(shown, numbers, described=material.described)
    return TextsIn(topic=material.topic, posts=posts, wanted=wanted, described=material.described)


def _back_input(pairs: Mapping[str, Pair], names: Sequence[str], language: Spoken) -> BackIn:
    return BackIn(texts=numbered(pairs[name].in_(OTHER[language]) for name in names), into=language)


def _pairs(material: Material, kept: Mapping[str, _Kept]) -> Iterator[tuple[str, Pair]]:
    """All that stands in both languages, by where it stands."""
    if material.bilingual:
        yield "topic", Pair(de=material.topic_in("de"), en=material.topic_in("en"))
        for theme in material.themes:
            yield f"theme/{theme.label}", Pair(de=theme.in_("de"), en=theme.in_("en"))
    for place, statement in enumerate(material.chosen, start=1):
        if statement.other:
            yield f"s{place:02d}", Pair.model_validate(material.in_languages(statement))
    for name in sorted(kept):
        yield name, kept[name].text


def numbered(texts: Iterable[str]) -> list[Numbered]:
    """From 1, in their order."""
    return [Numbered(number=number, text=text) for number, text in enumerate(texts, start=1)]


def _numbered(
    posts: Sequence[Post], numbers: Iterable[int] | None = None, *, described: bool = False
) -> list[Numbered]:
    """From 1, by their place among those that are shown."""
    chosen = range(len(posts)) if numbers is None else numbers
    most = CLIPPED_PERSONA if described else CLIPPED
    return [
        Numbered(number=place + 1, text=clip(f"{posts[place].name}: {posts[place].text}", most)) for place in chosen
    ]


def _theme(given: ThemeOut, named: Sequence[Post], material: Material) -> DiscourseTheme:
    """Counted over all posts: those that it named, and those with all of its words."""
    label = one_line(given.in_(material.language))
    label_stems = stems_of(label)
    posts = {post for post in material.posts if label_stems and label_stems <= stems_of(post.text)} | set(named)
    labels: dict[Spoken, str] = {language: one_line(given.in_(language)) for language in LANGUAGES}
    return DiscourseTheme(label, len(posts), len({post.agent for post in posts}), labels, material.described)


# --- What a model is asked for a draft, and the form of what it says: in English whatever the study's language, as each
# asks for both. Posts are other people's words: fenced, numbered, data. A model can name numbers alone.

FEWEST_THEMES, MOST_THEMES = 4, 8


class Numbered(BaseModel):
    """A text under the number by which it is spoken of."""

    number: int
    text: str


class Pair(BaseModel):
    """The same in German and in English."""

    de: str = ""
    en: str = ""

    def in_(self, language: Spoken) -> str:
        return self.de if language == "de" else self.en


class ThemesIn(BaseModel):
    """hints: what the rule found. again: what was wrong before. described: posts are how those asked are described.
    wanted: the themes themselves, where whoever drafts named them. is_topic_given: whether whoever drafts named the
    topic."""

    topic: str
    posts: list[Numbered]
    hints: list[str]
    again: list[str] = []
    described: bool = False
    wanted: list[str] = []
    is_topic_given: bool = False


class ThemeOut(Pair):
    posts: list[int] = []


class ThemesOut(BaseModel):
    topic: Pair = Pair()
    themes: list[ThemeOut] = []


class StatementsIn(BaseModel):
    """sentences: with their speakers; into: the language of the translation."""

    topic: str
    themes: list[str]
    sentences: list[Numbered]
    into: Spoken
    fewest: int
    most: int
    again: list[str] = []


class Translated(BaseModel):
    number: int
    translation: str = ""


class StatementsOut(BaseModel):
    statements: list[Translated] = []


class TextsIn(BaseModel):
    """wanted: what each text is to be, with Enquete's own. described: as for themes."""

    topic: str
    posts: list[Numbered]
    wanted: list[Numbered]
    again: list[str] = []
    described: bool = False


class TextOut(Pair):
    number: int
    posts: list[int] = []


class TextsOut(BaseModel):
    texts: list[TextOut] = []


class BackIn(BaseModel):
    texts: list[Numbered]
    into: Spoken


class BackOut(BaseModel):
    texts: list[Numbered] = []


def _themes(data: ThemesIn, language: Language) -> str:
    about = json.dumps(data.topic, ensure_ascii=False)
    head = f"A study is prepared on what stakeholders wrote about: {about}. Their posts:"
    if data.described:
        head = f"A study is prepared on {about}. Those asked have written nothing yet; this is how they are described:"
    themes = (
        f"- themes: {FEWEST_THEMES} to {MOST_THEMES} things that several of them speak of and see differently, each a "
        "neutral noun phrase of one to four words, with the numbers of posts that speak of it. What everybody always "
        "says is no theme. The first "
        "two can develop independently of one another: they become the axes of scenarios.\n"
    )
    if data.wanted:
        themes = f"- themes: exactly these, in this order and translated: {'; '.join(data.wanted)}.\n"
    topic = "- topic: what the study is about, a neutral noun phrase of at most twelve words.\n"
    if data.is_topic_given:
        topic = (
            f"- topic: exactly {about}, and its translation. The study is about this alone: what these posts say about "
            "other matters is no theme.\n"
        )
    return _prompt(
        head,
        data.posts,
        "Give, in German and English:\n"
        f"{topic}"
        f"{themes}Name only numbers from above. Words used most: {', '.join(data.hints)}.",
        data.again,
        '{"topic": {"de": "…", "en": "…"}, "themes": [{"de": "…", "en": "…", "posts": [3, 17]}]}',
    )


def _statements(data: StatementsIn, language: Language) -> str:
    return _prompt(
        f"Statements of a Q-sort on {json.dumps(data.topic, ensure_ascii=False)} are chosen from what was really said:",
        data.sentences,
        f"Choose {data.fewest} to {data.most} by number, so that together they cover {', '.join(data.themes)}, every "
        "speaker, and opposite positions. Each holds one position that others can share or reject, and can be "
        f"understood alone; no two say the same. Translate each into {LANGUAGE_NAMES[data.into]} faithfully: the same "
        f"strength, nothing added, nothing left out.",
        data.again,
        '{"statements": [{"number": 4, "translation": "…"}]}',
    )


def _texts(data: TextsIn, language: Language) -> str:
    wanted = "\n".join(f"{line.number}. {line.text}" for line in data.wanted)
    about = json.dumps(data.topic, ensure_ascii=False)
    head = f"An instrument on {about} is written from what stakeholders wrote:"
    if data.described:
        head = f"An instrument on {about} is written for stakeholders who are described so:"
    return _prompt(
        head,
        data.posts,
        f"Write a text in German and one in English for each of these numbers:\n{wanted}\n"
        "Both say the same. One thought each, in a short main clause, in words that those asked use themselves; "
        "concrete, about what the posts speak of; no negation, no leading words, no vague amounts such as often or "
        "many; no two say the same. Whoever is asked may be a person or an institution. Name the numbers of the posts "
        "that each rests on, only numbers from above.",
        data.again,
        '{"texts": [{"number": 1, "de": "…", "en": "…", "posts": [3]}]}',
    )


def _back(data: BackIn, language: Language) -> str:
    return _prompt(
        "Texts:",
        data.texts,
        f"Translate each into {LANGUAGE_NAMES[data.into]}, as literally as the language allows.",
        (),
        '{"texts": [{"number": 1, "text": "…"}]}',
    )


def _prompt(head: str, lines: Sequence[Numbered], task: str, again: Sequence[str], form: str) -> str:
    data = fence("data", "\n".join(f"{line.number}. {line.text}" for line in lines))
    wrong = "".join(f"\n- {fault}" for fault in again)
    if wrong:
        wrong = f"\n\nOf what you wrote before, this was not usable:{wrong}"
    return f"{head}\n{data}\n\n{task}{wrong}\n\nAnswer with JSON only: {form}"


THEMES = Role("draft themes", _themes, ThemesOut, lambda data: ThemesOut(), max_output_tokens=2000)
STATEMENTS = Role("draft statements", _statements, StatementsOut, lambda data: StatementsOut(), max_output_tokens=6000)
TEXTS = Role("draft texts", _texts, TextsOut, lambda data: TextsOut(), max_output_tokens=4000)
BACK = Role("draft back", _back, BackOut, lambda data: BackOut(), max_output_tokens=4000)
"""Where nothing usable comes, the rule gives nothing, and what Enquete wrote itself stands."""


# --- What of a model's draft is used: sources that exist and speak of it, items that pass the rules of a
# questionnaire, and translations that come back as they were. By rule, over words

MOST_CHARACTERS = 500
MOST_LABEL, MOST_TOPIC = 6, 16
"""Words of a theme, and of a topic."""
SAME = 0.45
"""Dice coefficient of the letter triples of a text and its back-translation, below which they may say different things.
Literal ones of ten shipped items, made by hand, have 0.55 and more, another item's 0.41 and less
(tests/runs/test_authoring.py)."""
TWIN = 0.6
"""The same of two themes, from which they are one."""
_NUMBERS = re.compile(r"\d+")


def speaking_of(text: str, cited: Sequence[int], posts: Sequence[Post]) -> list[Post]:
    """Of the posts that a model names by their numbers, from 1, those that exist and share a word with the text."""
    text_stems = stems_of(text)
    named = [posts[number - 1] for number in dict.fromkeys(cited) if 1 <= number <= len(posts)]
    return [post for post in named if text_stems & stems_of(post.text)]


def unusable(pair: Pair, most_words: int = 0) -> str:
    """Why a pair is none, whatever it is for; "" where it is one."""
    for language in ("de", "en"):
        text = pair.in_(language).strip()
        if not text or len(text) > MOST_CHARACTERS:
            return f"{language}: {'missing' if not text else 'too long'}"
        if most_words and len(words_of(text)) > most_words:
            return f"{language}: more than {most_words} words"
        if language_of([text]) not in (language, None):
            return f"{language}: is in another language"
    return ""


def theme_faults(
    theme: ThemeOut, kept: Sequence[ThemeOut], posts: Sequence[Post], language: Spoken, wanted: Sequence[str] = ()
) -> str:
    """posts: those that it names and that speak of it. wanted: the only ones there may be."""
    if fault := unusable(theme, MOST_LABEL):
        return fault
    if wanted:
        due = wanted[len(kept)].casefold() if len(kept) < len(wanted) else ""
        return "" if theme.in_(language).casefold() == due else "is not the theme that was named in this place"
    if any(alike(triples(theme.in_(language)), triples(other.in_(language))) >= TWIN for other in kept):
        return "is another theme once more"
    if len({post.agent for post in posts}) < 2:
        return "the posts named do not speak of it, or are one agent's"
    return ""


def text_faults(slot: Slot, pair: Pair, kept: Sequence[ReviewedText], sources: Sequence[Post]) -> list[str]:
    """kept: those of the same instrument that are used already; sources: posts named that speak of it."""
    if fault := unusable(pair):
        return [fault]
    findings = review([*kept, slot.wording(pair.de, pair.en)])
    faults = [finding.told("en") for finding in findings if finding.where == slot.id]
    if slot.about is not None and slot.about.agents and not sources:
        faults.append(f"{slot.id}: names no post that speaks of it")
    return faults


def translation_faults(text: str, other: str, into: Spoken) -> str:
    """Of one statement's translation."""
    pair = Pair(de=other, en=text) if into == "de" else Pair(de=text, en=other)
    return unusable(pair) or translation_differs(pair.de, pair.en)


def comes_back(text: str, back: str, language: Spoken) -> bool:
    """Whether a text and its back-translation, in the same language, may say the same: words, numbers and negation."""
    if sorted(_NUMBERS.findall(text)) != sorted(_NUMBERS.findall(back)):
        return False
    if bool(words_found("negated", language, text)) != bool(words_found("negated", language, back)):
        return False
    return alike(triples(text), triples(back)) >= SAME


# --- What a draft's requests are likely to cost, before the first of them --------------------------------------------

TOKENS_OF_FORM = 20
"""Of JSON around a text."""
LABEL_TOKENS = 40
"""Of a theme in two languages with its posts."""


@dataclass(frozen=True)
class ExpectedCost:
    """What a draft is likely to take where all of it can be used at once. usd: None where the price is unknown."""

    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


def expected(material: Material, methods: Mapping[str, str], model: str, machine: Machine) -> ExpectedCost:
    """Built from the rule's draft: what is asked is that long, and what comes back."""
    shown = sample(material.posts)
    instruments = slots_of(material, methods)
    slots = [slot for group in instruments.values() for slot in group]
    quotes = [statement.text for statement in material.chosen]
    prompts = [
        THEMES.prompt(themes_input(material, shown), "en"),
        STATEMENTS.prompt(statements_input(material, candidates(material)), "en"),
        *(TEXTS.prompt(texts_input(material, group, shown), "en") for group in instruments.values()),
    ]
    written = [*quotes, *(slot.en for slot in slots), *(theme.label for theme in material.themes)]
    batches = [written[place : place + AT_ONCE] for place in range(0, len(written), AT_ONCE)]
    for batch in batches:
        prompts.append(BACK.prompt(BackIn(texts=numbered(batch), into=LANGUAGES[0]), "en"))
    read = sum(estimate(text) for text in prompts)
    wrote = LABEL_TOKENS * (len(material.themes) + 1)
    wrote += sum(estimate(slot.de) + estimate(slot.en) + TOKENS_OF_FORM for slot in slots)
    wrote += sum(estimate(text) + TOKENS_OF_FORM for text in [*quotes, *written])
    price = Prices.read(machine.prices).of(model, url_of(machine))
    return ExpectedCost(len(prompts), read, wrote, cost(price, read, wrote) if price else None)


# --- Drafts ----------------------------------------------------------------------------------------------------------

LONGEST_FOLDER = 90
RUN = "draft"
"""Under which name the requests of a draft are filed."""


@dataclass(frozen=True)
class Drafts:
    """findings: by file, what the rules of review.py say of it, and under the model's name what of its work was not
    used, in English and German. tokens: spent on the model."""

    folder: Path
    files: list[Path]
    themes: list[str]
    findings: dict[str, list[dict[str, str]]]
    tokens: int = 0


class Drafting:
    """A draft that is to be made. Reads the simulation; raises SettingsError before anything is asked or written."""

    def __init__(
        self,
        sim_id: str | Path,
        *,
        root: str | None = None,
        into: str | Path | None = None,
        topic: str = "",
        themes: Sequence[str] = (),
        model: str = "",
        skip_non_people: bool = False,
        **request: object,
    ):
        """sim_id: a simulation, or a personas file. topic, themes: the study's own, instead of those found, each in one
        language or as “German = English”. skip_non_people: rows of a people file that are no people are left out, as by
        a run. request: base_url, budget_tokens, concurrency, timeout_s, limits as for a
        run."""
        asked = parse_request(sim=str(sim_id), root=root, **request)
        environment = Environment.read()
        folder_or_file = locate(str(sim_id), resolve_root(asked, environment))
        population = load_population(folder_or_file, skip_non_people=skip_non_people)
        self.model = model
        self._budget: Budget | None = None
        self._stopping: asyncio.Future[None] | None = None
        self._machine: Machine = resolve_machine(asked, environment)
        if model and not (self._machine.api_key or self._machine.base_url or has_own_service(model)):
            why = "but there is neither a key (LLM_API_KEY) nor a server (LLM_BASE_URL)"
            raise SettingsError(f"model {model!r} is named, {why}")
        self._topic = topic
        folder = Path(into or f"drafts-{population.sim_id}").expanduser().absolute()
        self._material = material_of(population, folder, topic, themes)
        names = [name for written in drafted(self._material, dotted_paths()).values() for name in written]
        require_free(folder, [*names, CONCOURSE])

    def expected(self) -> ExpectedCost:
        """What the model is likely to cost."""
        return expected(self._material, dotted_paths(), self.model, self._machine)

    def make(self) -> Drafts:
        """Written. Raises SettingsError where the model cannot be asked; what it said by then is not asked again."""
        return wait(self._authored(), self._interrupt) if self.model else _written(self._material)

    def _interrupt(self) -> None:
        """Ask nothing more: what is on its way is filed, and is not asked again. From the loop of the requests."""
        if self._budget is not None:
            self._stopping = asyncio.ensure_future(self._budget.stop("interrupted; the same command goes on with it"))

    async def _authored(self) -> Drafts:
        async with opened(self._material.folder, self.model, self._machine, RUN) as standalone:
            self._budget = standalone.budget
            author = Author(standalone.context, self.model, standalone.budget, self._topic)
            material = await author.draft(self._material, dotted_paths())
            return _written(material, standalone.ledger.total("tokens"))


def draft_instruments(
    sim_id: str | Path,
    *,
    root: str | None = None,
    into: str | Path | None = None,
    topic: str = "",
    themes: Sequence[str] = (),
    skip_non_people: bool = False,
) -> Drafts:
    """Instruments for every methodology that can draft, by rule, in a folder of their own. Raises SettingsError."""
    return Drafting(sim_id, root=root, into=into, topic=topic, themes=themes, skip_non_people=skip_non_people).make()


class ReviewedDraft(BaseModel):
    """A draft. Nobody has read it yet."""

    name: Annotated[str, Field(description="for `instruments`, or where a setting names a file")]
    methodology: Annotated[str, Field(description="whose instrument it is; empty for a file that its settings name")]
    findings: Annotated[list[str], Field(description="what the rules for good items say of it")]


class DraftedFile(ReviewedDraft):
    """A draft with its text."""

    text: Annotated[str, Field(description="YAML; above every item stands where it is from")]


class DraftsData(BaseModel):
    """What was drafted, by rule and without a model."""

    sim_id: str
    folder: Annotated[str, Field(description="in the server's own folder")]
    themes: Annotated[list[str], Field(description="what several agents wrote about, the most frequent first")]
    files: list[DraftedFile]


def draft_on_server(sandbox: PathSandbox, sim_id: str, asked: DraftRequest) -> DraftsData:
    """By rule, in a folder of the server's own, whose files clients then name as FOLDER/NAME. Raises SettingsError
    where it holds drafts already or too little was said, SimulationNotFound, OutsideRoot."""
    simulation = sandbox.simulation(sim_id)
    folder = Path(sandbox.given["own_folder"], asked.into or drafts_folder(sim_id))
    sandbox.require_inside(folder)
    made = Drafting(
        simulation, root=sandbox.given["root"], into=folder, topic=asked.topic, themes=asked.themes,
        skip_non_people=asked.skip_non_people,
    ).make()  # fmt: skip
    return DraftsData(sim_id=sim_id, folder=made.folder.name, themes=made.themes, files=drafts_in(made.folder, "en"))


def drafts_on_server(sandbox: PathSandbox, sim_id: str, language: str = "en") -> list[DraftedFile]:
    """As they are now, in the folder that is theirs unless another was named; [] where nobody drafted. language: of the
    findings. Raises OutsideRoot."""
    folder = Path(sandbox.given["own_folder"], drafts_folder(sim_id))
    sandbox.require_inside(folder)
    return drafts_in(folder, language)


def drafts_in(folder: Path, language: str) -> list[DraftedFile]:
    """Return the files of a draft: instruments in the order of methodologies, then what settings name."""
    order = [*methodologies()]
    files = (file for file in folder.glob("*.yaml") if file.is_file())
    by_method = sorted(files, key=lambda file: (order.index(file.stem) if file.stem in order else len(order), file))
    return [
        DraftedFile(
            name=f"{folder.name}/{file.stem}", methodology=file.stem if file.stem in order else "",
            findings=_rule_findings(file, language) if file.stem in order else [], text=file.read_text("utf-8-sig"),
        )
        for file in by_method
    ]  # fmt: skip


def _rule_findings(file: Path, language: str) -> list[str]:
    """What the rules say; of an edited file that cannot be read any more, why."""
    try:
        return [finding.told(language) for finding in review_file(str(file), file.stem).findings]
    except InstrumentError as error:
        return [problem.replace(str(file), file.name) for problem in error.problems]


def drafts_folder(sim_id: str) -> str:
    """As a client may name it."""
    return "drafts-" + re.sub(r"[^A-Za-z0-9_-]", "-", sim_id)[:LONGEST_FOLDER]


def _written(material: Material, tokens: int = 0) -> Drafts:
    made = drafted(material, dotted_paths())
    files = write(material, made)
    findings = {}
    for name, texts in made.items():
        for file in texts:
            if file.startswith(name):  # the instrument itself; a layer beside it is read where it is named
                instrument, _ = load_own(methodologies()[name].instrument, material.folder / file)
                findings[file] = _told(review(list(instrument.wordings())))
    if material.findings:
        findings[material.author] = _told(material.findings)
    return Drafts(material.folder, files, [theme.label for theme in material.themes], findings, tokens)


def _told(findings: list[ReviewFinding] | tuple[ReviewFinding, ...]) -> list[dict[str, str]]:
    return [{language: finding.told(language) for language in ("en", "de")} for finding in findings]


def accept_drafts(folder: str | Path) -> list[str]:
    """Whoever says so has read them."""
    return accept(Path(folder).expanduser())
