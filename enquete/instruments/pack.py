"""Packs: a topic as data. Everything that one topic brings along is a folder of YAML under packs/:

    pack.yaml           topic, stakeholder types: the words that tell them, how each speaks, and what reports call them
    instruments/*.yaml  what is asked, one file a methodology
    concepts/*.yaml     what an in-depth interview is about
    truth/*.yaml        what is planted in the synthetic respondent, one file a methodology, read by that methodology
    demo/               a population and what happens to it (read by enquete/demo)

The pack `neutral` ships nothing to ask: it holds what the synthetic respondent says where no pack knows the topic.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Annotated, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from enquete.instruments.text import Text, suggestion
from enquete.state.asking import Language
from enquete.state.errors import SettingsError

FOLDER = files("enquete.instruments") / "packs"
NEUTRAL = "neutral"

Lines = Mapping[Language, tuple[str, ...]]
"""The same sentences in every language, one of which is drawn."""


Words = Annotated[re.Pattern[str], BeforeValidator(lambda pattern: re.compile(pattern, re.IGNORECASE))]
"""A regular expression without regard to case."""


class Data(BaseModel):
    """A part of a pack's YAML: frozen, without unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ForAndAgainst(Data):
    """What is said by those who are for something, and by those who are against it."""

    pro: Lines = Field(alias="for")
    contra: Lines = Field(alias="against")

    def on(self, is_for: bool) -> Lines:
        return self.pro if is_for else self.contra


class Stakeholder(Data):
    """A type of stakeholder. `or`: types that the persona of one whom `words` fit may turn out to be."""

    words: Words
    voice: Lines
    others: tuple[str, ...] = Field((), alias="or")


class _Head(BaseModel):
    """Of an instrument or a concept: what it is about."""

    topic: Mapping[Language, str]


DataT = TypeVar("DataT", bound=Data)


class Pack(Data):
    """pack.yaml, and the way to the other files."""

    name: str
    topic: Mapping[Language, str]
    default: bool = False
    about: Words | None = None  # a persona is read for a type only where it or the stated type has these words
    types: Mapping[str, Stakeholder] = {}  # the first that fits decides
    called: Mapping[str, Mapping[Language, str]] = {}  # types as simulations write them, as reports name them
    voice: Lines = Field({})  # of anybody else

    @property
    def folder(self) -> Traversable:
        return FOLDER / self.name

    @cached_property
    def instruments(self) -> Mapping[str, Traversable]:
        """By methodology."""
        return yaml_files([self.folder / "instruments"])

    @cached_property
    def spoken_of(self) -> frozenset[str]:
        """The topics that this pack knows: those of its instruments and concepts, in every language."""
        known = {**self.instruments, **yaml_files([self.folder / "concepts"])}
        heads = (_Head.model_validate(read_yaml(file)) for file in known.values())
        return frozenset(text.casefold() for head in heads for text in head.topic.values())

    def truth(self, methodology: str, model: type[DataT]) -> DataT:
        """What is planted for a methodology; the neutral pack's where this one plants nothing."""
        truth: DataT = _truth(self.name, methodology, model)
        return truth


@cache
def _truth(pack: str, methodology: str, model: type[DataT]) -> DataT:
    planted = yaml_files([FOLDER / name / "truth" for name in (NEUTRAL, pack)])
    return model.model_validate(read_yaml(planted[methodology]) if methodology in planted else {})


@cache
def pack_named(name: str = "") -> Pack:
    """The pack of that name; the default one where none is named. Raises SettingsError."""
    if name == NEUTRAL or name in packs():
        return _read(name)
    if name:
        raise SettingsError(f"pack: {name!r} does not ship{suggestion(name, packs())}")
    return next(pack for pack in map(_read, packs()) if pack.default)


@cache
def packs() -> tuple[str, ...]:
    """The packs that have something to ask."""
    return tuple(sorted(folder.name for folder in FOLDER.iterdir() if (folder / "instruments").is_dir()))


def pack_on(topic: Text) -> Pack:
    """Whose voices fit: the pack that knows the topic word for word, else the neutral one.

    A topic in other words may be another topic, and must not be answered from this one.
    """
    titles = {text.casefold() for text in (topic.de, topic.en) if text}
    return next((pack for pack in map(_read, packs()) if titles & pack.spoken_of), pack_named(NEUTRAL))


def names_of_types(topics: Iterable[Text], language: Language) -> dict[str, str]:
    """What reports call stakeholder types, by the name that simulations write: of the packs on these topics, which win,
    and of the neutral one."""
    known = (pack_named(NEUTRAL), *map(pack_on, topics))
    return {kind: names[language] for pack in known for kind, names in pack.called.items() if language in names}


def yaml_files(folders: Iterable[Traversable]) -> dict[str, Traversable]:
    """By name without its ending; a later folder replaces what an earlier one has."""
    files = [file for folder in folders if folder.is_dir() for file in folder.iterdir()]
    return {file.name.removesuffix(".yaml"): file for file in files if file.name.endswith(".yaml")}


@cache
def _read(name: str) -> Pack:
    return Pack.model_validate({"name": name, **read_yaml(FOLDER / name / "pack.yaml")})


def read_yaml(file: Traversable) -> dict[str, JsonValue]:
    """A mapping that ships with Enquete, read as fast as possible: nobody can have broken it."""
    content: dict[str, JsonValue] = yaml.load(file.read_text("utf-8"), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return content
