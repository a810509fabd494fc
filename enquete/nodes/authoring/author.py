"""The order in which a model writes a draft: themes, statements, texts, and all of it translated back.

What it writes and cannot be used is asked for once more, with the reason; then Enquete's own stands in its place, and the draft says so.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from pydantic import BaseModel

from enquete.checkpoints.budget import Budget
from enquete.instruments.reading import LANGUAGES
from enquete.instruments.review import Finding, Wording
from enquete.nodes.authoring import checking
from enquete.nodes.authoring.requests import (
    BACK,
    FEWEST_THEMES,
    MOST_THEMES,
    STATEMENTS,
    TEXTS,
    THEMES,
    BackIn,
    Numbered,
    Pair,
    StatementsIn,
    TextOut,
    TextsIn,
    ThemeOut,
    ThemesIn,
)
from enquete.nodes.material import OTHER, Material, Slot, Written, by_rule, drafted, source_of
from enquete.respondents.roles import Role
from enquete.simulations.discourse import FEWEST, MOST, STANDING, Post, Statement, Theme, stems_of
from enquete.simulations.sources import clip, one_line
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import NoSettings

MOST_POSTS, CLIPPED = 90, 280
"""Posts that are shown, and characters of each."""
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

    desk: InterviewContext
    model: str
    budget: Budget
    kept: dict[str, _Kept] = field(default_factory=dict)
    dropped: dict[str, str] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)

    async def draft(self, material: Material, methods: Mapping[str, str]) -> Material:
        """The material, with themes, statements and a writer of the model's. Raises SettingsError where it cannot be asked."""
        shown = sample(material.posts)
        material = await self._themes(replace(material, author=self.model), shown)
        material = await self._statements(material)
        await asyncio.gather(*(self._texts(material, slots, shown) for slots in slots_of(material, methods).values()))
        return await self._translated_back(material)

    # --- asking --------------------------------------------------------------------------------------------------------

    async def _ask(self, role: Role[Any, ResultT], data: BaseModel) -> ResultT:
        """A piece of work is known by what is asked: begun anew after a kill, none is paid twice."""
        subject = hashlib.sha256(data.model_dump_json().encode()).hexdigest()[:16]
        done = await role.work(self.desk, NoSettings(), subject, data)
        if done == "short":
            raise SettingsError(
                f"the draft stopped: {self.budget.stopped or 'its budget is used up (--budget-tokens)'}"
            )
        return done[0]

    # --- themes --------------------------------------------------------------------------------------------------------

    async def _themes(self, material: Material, shown: Sequence[Post]) -> Material:
        """Those of the rule remain where too few of the model's can be used."""
        asked = themes_input(material, shown)
        topic, kept = Pair(), list[ThemeOut]()
        sources: list[list[Post]] = []
        faults: list[str] = []
        for _ in range(2):
            given = await self._ask(THEMES, asked.model_copy(update={"again": faults}))
            faults = []
            topic = (
                topic if topic.de else given.topic if not checking.unusable(given.topic, checking.MOST_TOPIC) else topic
            )
            for theme in given.themes:
                named = checking.speaking_of(theme.in_(material.language), theme.posts, shown)
                if fault := checking.theme_faults(theme, kept, named, material.language):
                    faults.append(f"{theme.in_(material.language)}: {fault}")
                else:
                    kept.append(theme)
                    sources.append(named)
            if topic.de and len(kept) >= FEWEST_THEMES:
                break
        if not topic.de or len(kept) < FEWEST_THEMES:
            return replace(
                material, findings=(Finding("by_rule", "themes", None, {"found": "; ".join(faults) or "–"}),)
            )
        themes = [_theme(one, posts, material) for one, posts in zip(kept[:MOST_THEMES], sources, strict=False)]
        topics: dict[Spoken, str] = {language: one_line(topic.in_(language)) for language in LANGUAGES}
        return replace(material, topics=topics, themes=tuple(themes))

    # --- statements ----------------------------------------------------------------------------------------------------

    async def _statements(self, material: Material) -> Material:
        """Chosen among those that can stand alone, word for word as they were written; the rest is left out with the reason."""
        sentences = candidates(material)
        asked = statements_input(material, sentences)
        into = asked.into
        chosen: dict[int, Statement] = {}
        faults: list[str] = []
        for _ in range(2):
            given = await self._ask(STATEMENTS, asked.model_copy(update={"again": faults}))
            faults = []
            for one in given.statements:
                if not 1 <= one.number <= len(sentences):
                    faults.append(f"{one.number}: is no number from above")
                elif fault := checking.translation_faults(sentences[one.number - 1].text, one.translation, into):
                    faults.append(f"{one.number}: translation: {fault}")
                elif one.number not in chosen and len(chosen) < MOST:
                    chosen[one.number] = replace(
                        sentences[one.number - 1], left_out="", other=one_line(one.translation)
                    )
            if len(chosen) >= asked.fewest:
                break
        if len(chosen) < asked.fewest:
            return replace(
                material,
                findings=(
                    *material.findings,
                    Finding("by_rule", "statements", None, {"found": "; ".join(faults) or "–"}),
                ),
            )
        picked = [chosen[number] for number in sorted(chosen)]
        taken = {(one.text, one.post.source) for one in picked}
        rest = [
            replace(one, left_out=one.left_out or f"not chosen by {self.model}")
            for one in material.statements
            if (one.text, one.post.source) not in taken
        ]
        return replace(material, statements=(*picked, *rest))

    # --- texts ---------------------------------------------------------------------------------------------------------

    async def _texts(self, material: Material, slots: Sequence[Slot], shown: Sequence[Post]) -> None:
        """Of one instrument."""
        due = list(slots)
        kept: list[Wording] = []
        for _ in range(2):
            faults = [f"{n}: {self.dropped[slot.id]}" for n, slot in enumerate(due, start=1) if slot.id in self.dropped]
            asked = texts_input(material, due, shown).model_copy(update={"again": faults})
            given = {one.number: one for one in (await self._ask(TEXTS, asked)).texts}
            for number, slot in enumerate(due, start=1):
                if fault := self._used(material, slot, given.get(number), kept, shown):
                    self.dropped[slot.id] = fault
            due = [slot for slot in due if slot.id not in self.kept]
            if not due:
                return

    def _used(
        self, material: Material, slot: Slot, given: TextOut | None, kept: list[Wording], shown: Sequence[Post]
    ) -> str:
        """Why a text is not; "" where it is."""
        if given is None:
            return "nothing was written"
        text = Pair(de=one_line(given.de), en=one_line(given.en))
        sources = checking.speaking_of(text.in_(material.language), given.posts, shown)
        if found := checking.text_faults(slot, text, kept, sources):
            return "; ".join(one.removeprefix(slot.id).lstrip(": ") for one in found)
        kept.append(slot.wording(text.de, text.en))
        self.kept[slot.id] = _Kept(slot, text, sources)
        self.dropped.pop(slot.id, None)
        return ""

    # --- translated back -----------------------------------------------------------------------------------------------

    async def _translated_back(self, material: Material) -> Material:
        """Every pair of the model's, by itself, which sees the translation alone."""
        pairs = dict(_pairs(material, self.kept))
        names = list(pairs)
        batches = [names[place : place + AT_ONCE] for place in range(0, len(names), AT_ONCE)]
        told = await asyncio.gather(
            *(self._ask(BACK, _back_input(pairs, batch, material.language)) for batch in batches)
        )
        for batch, result in zip(batches, told, strict=True):
            back = {one.number: one.text for one in result.texts}
            for number, name in enumerate(batch, start=1):
                text = one_line(back.get(number, ""))
                if not checking.comes_back(pairs[name].in_(material.language), text, material.language):
                    self.doubts[name] = text
        doubts = [Finding("comes_back", name, None, {"found": text or "–"}) for name, text in self.doubts.items()]
        dropped = [Finding("dropped", name, None, {"found": why}) for name, why in self.dropped.items()]
        return replace(material, write=partial(self._write, material), findings=(*material.findings, *dropped, *doubts))

    def _write(self, material: Material, slot: Slot) -> Written:
        one = self.kept.get(slot.id)
        if one is None:
            why = f"; what {self.model} wrote was dropped: {self.dropped[slot.id]}" if slot.id in self.dropped else ""
            own = material.by_rule(slot)
            return replace(own, source=one_line(f"{own.source}{why}"))
        posts = ", ".join(f"{post.source} ({post.name})" for post in one.sources) or source_of(slot)
        about = f"{source_of(slot)}; " if slot.about and one.sources else ""
        doubt = f"; CHECK, translated back: “{self.doubts[slot.id]}”" if slot.id in self.doubts else ""
        return Written(one.text.de, one.text.en, one_line(f"{about}{posts}; written by {self.model}{doubt}"))


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

    def note(slot: Slot) -> Written:
        asked.setdefault(slot.id.partition("/")[0], []).append(slot)
        return by_rule(slot)

    drafted(replace(material, write=note), methods)
    return asked


def themes_input(material: Material, shown: Sequence[Post]) -> ThemesIn:
    return ThemesIn(topic=material.topic, posts=_numbered(shown), hints=[theme.label for theme in material.themes])


def candidates(material: Material) -> list[Statement]:
    """The rule's first, then those that it left out although they can stand alone."""
    return [one for one in material.statements if one.left_out in ("", *STANDING)][:MOST_SENTENCES]


def statements_input(material: Material, sentences: Sequence[Statement]) -> StatementsIn:
    lines = [
        Numbered(number=number, text=f"{one.text} ({one.post.name}, {one.post.kind})")
        for number, one in enumerate(sentences, start=1)
    ]
    return StatementsIn(
        topic=material.topic,
        themes=[theme.label for theme in material.themes],
        sentences=lines,
        into=OTHER[material.language],
        fewest=min(FEWEST, len(sentences)),
        most=min(MOST, len(sentences)),
    )


def texts_input(material: Material, slots: Sequence[Slot], shown: Sequence[Post]) -> TextsIn:
    """With the posts that speak of these slots' themes, else any."""
    about = stems_of(" ".join(slot.about.label for slot in slots if slot.about))
    wanted = [
        Numbered(number=number, text=f"{slot.wanted} Enquete's own: “{slot.en}” / „{slot.de}“")
        for number, slot in enumerate(slots, start=1)
    ]
    numbers = [number for number, post in enumerate(shown) if not about or about & stems_of(post.text)]
    return TextsIn(topic=material.topic, posts=_numbered(shown, numbers), wanted=wanted)


def _back_input(pairs: Mapping[str, Pair], names: Sequence[str], language: Spoken) -> BackIn:
    texts = [
        Numbered(number=number, text=pairs[name].in_(OTHER[language])) for number, name in enumerate(names, start=1)
    ]
    return BackIn(texts=texts, into=language)


def _pairs(material: Material, kept: Mapping[str, _Kept]) -> Iterator[tuple[str, Pair]]:
    """All that stands in both languages, by where it stands."""
    if material.bilingual:
        yield "topic", Pair(de=material.topic_in("de"), en=material.topic_in("en"))
        for theme in material.themes:
            yield f"theme/{theme.label}", Pair(de=theme.in_("de"), en=theme.in_("en"))
    for place, one in enumerate(material.chosen, start=1):
        if one.other:
            yield f"s{place:02d}", Pair.model_validate(material.said(one))
    for name in sorted(kept):
        yield name, kept[name].text


def _numbered(posts: Sequence[Post], numbers: Iterable[int] | None = None) -> list[Numbered]:
    """From 1, by their place among those that are shown."""
    chosen = range(len(posts)) if numbers is None else numbers
    return [
        Numbered(number=place + 1, text=clip(f"{posts[place].name}: {posts[place].text}", CLIPPED)) for place in chosen
    ]


def _theme(given: ThemeOut, named: Sequence[Post], material: Material) -> Theme:
    """Counted over all posts: those that it named, and those with all of its words."""
    label = one_line(given.in_(material.language))
    own = stems_of(label)
    posts = {post for post in material.posts if own and own <= stems_of(post.text)} | set(named)
    labels: dict[Spoken, str] = {language: one_line(given.in_(language)) for language in LANGUAGES}
    return Theme(label, len(posts), len({post.agent for post in posts}), labels)
