"""What a model is asked for a draft, and the form of what it says. In English whatever the study's language: each asks for both.

Posts are other people's words: fenced, numbered, data. Numbers are all that a model can name as a source.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from pydantic import BaseModel

from enquete.instruments.text import LANGUAGE_NAMES
from enquete.respondents.quoting import fence
from enquete.respondents.roles import Role
from enquete.state.asking import Language, Spoken

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
    """hints: what the rule found. again: what was wrong before."""

    topic: str
    posts: list[Numbered]
    hints: list[str]
    again: list[str] = []


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
    """wanted: what each text is to be, with Enquete's own."""

    topic: str
    posts: list[Numbered]
    wanted: list[Numbered]
    again: list[str] = []


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
    return _prompt(
        f"A study is prepared on what stakeholders wrote about: {json.dumps(data.topic, ensure_ascii=False)}. Their posts:",
        data.posts,
        "Give, in German and English:\n"
        "- topic: what the study is about, a neutral noun phrase of at most twelve words.\n"
        f"- themes: {FEWEST_THEMES} to {MOST_THEMES} things that several of them speak of and see differently, each a neutral noun "
        "phrase of one to four words, with the numbers of posts that speak of it. What everybody always says is no theme. The first "
        "two can develop independently of one another: they become the axes of scenarios.\n"
        f"Name only numbers from above. Words used most: {', '.join(data.hints)}.",
        data.again,
        '{"topic": {"de": "…", "en": "…"}, "themes": [{"de": "…", "en": "…", "posts": [3, 17]}]}',
    )


def _statements(data: StatementsIn, language: Language) -> str:
    return _prompt(
        f"Statements of a Q-sort on {json.dumps(data.topic, ensure_ascii=False)} are chosen from what was really said:",
        data.sentences,
        f"Choose {data.fewest} to {data.most} by number, so that together they cover {', '.join(data.themes)}, every speaker, and "
        "opposite positions. Each holds one position that others can share or reject, and can be understood alone; no two say the same. "
        f"Translate each into {LANGUAGE_NAMES[data.into]} faithfully: the same strength, nothing added, nothing left out.",
        data.again,
        '{"statements": [{"number": 4, "translation": "…"}]}',
    )


def _texts(data: TextsIn, language: Language) -> str:
    wanted = "\n".join(f"{one.number}. {one.text}" for one in data.wanted)
    return _prompt(
        f"An instrument on {json.dumps(data.topic, ensure_ascii=False)} is written from what stakeholders wrote:",
        data.posts,
        f"Write a text in German and one in English for each of these numbers:\n{wanted}\n"
        "Both say the same. One thought each, in a short main clause, in words that those asked use themselves; concrete, about what "
        "the posts speak of; no negation, no leading words, no vague amounts such as often or many; no two say the same. "
        "Whoever is asked may be a person or an institution. Name the numbers of the posts that each rests on, only numbers from above.",
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
    data = fence("data", "\n".join(f"{one.number}. {one.text}" for one in lines))
    wrong = (
        "\n\nOf what you wrote before, this was not usable:\n" + "\n".join(f"- {one}" for one in again) if again else ""
    )
    return f"{head}\n{data}\n\n{task}{wrong}\n\nAnswer with JSON only: {form}"


THEMES = Role("draft themes", _themes, ThemesOut, lambda data: ThemesOut(), max_output_tokens=2000)
STATEMENTS = Role("draft statements", _statements, StatementsOut, lambda data: StatementsOut(), max_output_tokens=6000)
TEXTS = Role("draft texts", _texts, TextsOut, lambda data: TextsOut(), max_output_tokens=4000)
BACK = Role("draft back", _back, BackOut, lambda data: BackOut(), max_output_tokens=4000)
"""Where nothing usable comes, the rule gives nothing, and what Enquete wrote itself stands."""
