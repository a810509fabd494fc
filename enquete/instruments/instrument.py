"""What every instrument file has in common, and what one's own leaves unsaid and can be derived from what it says."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, Self, TypeAlias

from pydantic import AfterValidator, Field, ModelWrapValidatorHandler, StrictBool, field_validator, model_validator

from enquete.instruments.primary import PrimaryQuestions, require_known_questions
from enquete.instruments.review import ReviewedText
from enquete.instruments.scales import AGREEMENT, Ends, Human, Scale, with_builtin_scales
from enquete.instruments.text import (
    LANGUAGES,
    Identifier,
    InstrumentDocument,
    Line,
    Part,
    Text,
    identifier,
    language_of,
    not_empty,
    reading,
    shown,
    wrong,
)
from enquete.locale import N_, tell
from enquete.state.asking import Spoken

# --- What a file leaves unsaid and can be derived from what it says. Each such thing is told: nothing is invented in
# silence
# Files of other tools are complete for those who wrote them: a simulator's `longitudinal_v1` names its families nowhere
# but in its items, a CSV holds items alone. Only what is missing is derived; what is there and wrong stays an error.

Document: TypeAlias = dict[Any, Any]

_TAKEN = N_("not in the file, and taken from what is: {fields}")
_OWN = N_("not in the file; Enquete's own words stand there: {fields}")
_READ_AS = N_("read as: {fields}")
_SHOWN = 60
"""Characters of a value in a note; the run's record has all of it."""


@dataclass(frozen=True)
class Note:
    """What is said of a file. The facts are the file's own words and never translated; where `fields` are from, is."""

    text: str
    facts: Mapping[str, str] = field(default_factory=dict)
    fields: tuple[tuple[str, str], ...] = ()

    def told(self, language: str) -> str:
        listed = [f"{name} ({tell(source, language)})" if source else name for name, source in self.fields]
        return tell(self.text, language).format(fields="; ".join(listed), **self.facts)


class Draft:
    """A document that is being completed: `values`, and `notes` of what was derived."""

    def __init__(self, values: Mapping[Any, Any], name: str):
        self.values: Document = dict(values)
        self.name = name
        """What the file is called, without folder and ending."""
        self._noted: dict[str, list[tuple[str, str]]] = {_TAKEN: [], _OWN: [], _READ_AS: []}

    @property
    def notes(self) -> tuple[Note, ...]:
        """One for each way in which something came about."""
        return tuple(Note(text, fields=tuple(fields)) for text, fields in self._noted.items() if fields)

    def note_own(self, field: str) -> None:
        self._noted[_OWN].append((field, ""))

    def has(self, key: str) -> bool:
        """In any form that a text may be written in."""
        return key in self.values or any(f"{key}_{language}" in self.values for language in LANGUAGES)

    def take(self, key: str, value: Any, source: str) -> None:
        """`value` under `key` unless there is something, and from where it is."""
        if not self.has(key):
            self.values[key] = value
            self._noted[_TAKEN].append((f"{key} = {_shown(value)}", source))

    def add(self, key: str, value: Any) -> None:
        """Enquete's own words under `key` unless there is something."""
        if not self.has(key):
            self.values[key] = value
            self.note_own(key)

    def read_as(self, field: str, value: object) -> None:
        self._noted[_READ_AS].append((f"{field} → {_shown(value)}", ""))

    def parts(self, key: str) -> Iterator[tuple[str, Document]]:
        """Place and copy of every mapping in the list `key`; the copies are in the document."""
        listed = self.values.get(key)
        if isinstance(listed, list):
            self.values[key] = listed = [dict(entry) if isinstance(entry, Mapping) else entry for entry in listed]
            yield from ((f"{key}[{place}]", entry) for place, entry in enumerate(listed) if isinstance(entry, dict))

    def rename(self, key: str, old: str, new: str) -> None:
        """In every part of a list: the text `old` is what is called `new` here."""
        places = [place for place, part in self.parts(key) if _renamed(part, old, new)]
        if places:
            self.read_as(f"{key}[].{old}", new)

    def texts(self) -> Iterator[str]:
        """All sentences of the document that stand under no language's name."""
        yield from _sentences(self.values)


def _renamed(part: Document, old: str, new: str) -> bool:
    def forms(word: str) -> dict[str, str]:
        return {"": word, **{language: f"{word}_{language}" for language in LANGUAGES}}

    if any(form in part for form in forms(new).values()):
        return False
    spoken = [language for language, form in forms(old).items() if form in part]
    for language in spoken:
        part[forms(new)[language]] = part.pop(forms(old)[language])
    return bool(spoken)


def _sentences(node: object) -> Iterator[str]:
    if isinstance(node, str):
        if " " in node.strip():
            yield node
    elif isinstance(node, Mapping):
        for key, value in node.items():
            if not any(str(key) == language or str(key).endswith(f"_{language}") for language in LANGUAGES):
                yield from _sentences(value)
    elif isinstance(node, list | tuple):
        for value in node:
            yield from _sentences(value)


def complete_head(draft: Draft) -> None:
    """What every instrument has: id, version, title, topic, language of plain texts. `name`: as other tools call it."""
    values = draft.values
    named = values.get("name")
    if isinstance(named, str) and not (draft.has("title") and "instrument_id" in values):
        del values["name"]
        name, source = named.strip() or draft.name, "name"
    else:
        name, source = draft.name, N_("the file's name")
    draft.take("language_default", _spoken(draft), N_("the texts"))
    draft.take("instrument_id", slug(name), source)
    draft.add("version", "1")
    draft.take("title", in_every_language(spelled(name)), source)
    titles = {language: values[f"title_{language}"] for language in LANGUAGES if f"title_{language}" in values}
    draft.take("topic", values.get("title") or titles, "title")


def _spoken(draft: Draft) -> Spoken:
    return _language_told(draft) or "de"


def _language_told(draft: Draft) -> Spoken | None:
    """Return what the words of plain texts say; else the only language that texts are given in."""
    given = {language for language in LANGUAGES if _keys(draft.values, language)}
    return language_of(draft.texts()) or (given.pop() if len(given) == 1 else None)


def with_language(document: Mapping[str, Any], language: str) -> dict[str, Any]:
    """Return questions given as objects with a language for their plain texts, where their own words do not tell it."""
    told = document.get("language_default") or _language_told(Draft(document, ""))
    return dict(document) if told else {"language_default": language, **document}


def _keys(node: object, language: str) -> bool:
    if isinstance(node, Mapping):
        return any(str(key) == language or str(key).endswith(f"_{language}") for key in node) or any(
            _keys(value, language) for value in node.values()
        )
    return isinstance(node, list | tuple) and any(_keys(value, language) for value in node)


def complete_scales(draft: Draft, ends: Mapping[Spoken, tuple[str, str]]) -> None:
    """A scale of one's own that says only how many points it has gets labels at its ends."""
    scales = draft.values.get("scales")
    if not isinstance(scales, Mapping):
        return
    draft.values["scales"] = made = {
        name: dict(scale) if isinstance(scale, Mapping) else scale for name, scale in scales.items()
    }
    for name, scale in made.items():
        if not isinstance(scale, dict):
            continue
        if "points" in scale and not {"min", "max"} & set(scale):
            scale["min"], scale["max"] = 1, scale.pop("points")
        if "labels" not in scale and isinstance(scale.get("min"), int) and isinstance(scale.get("max"), int):
            low, high = ({language: both[end] for language, both in ends.items()} for end in (0, 1))
            scale["labels"] = {scale["min"]: low, scale["max"]: high}
            draft.note_own(f"scales.{name}.labels")


def slug(name: str) -> str:
    """A name as an id: letters, digits, _ and -."""
    plain = unicodedata.normalize("NFKD", name.replace("ß", "ss")).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", plain).strip("-._")[:64] or "own"


def spelled(name: str) -> str:
    """An id as words: impact_on_my_group → impact on my group."""
    return re.sub(r"[_\s]+", " ", name).strip() or name


def in_every_language(text: str) -> dict[Spoken, str]:
    return dict.fromkeys(LANGUAGES, text)


def _shown(value: object) -> str:
    text = value if isinstance(value, str) else _inline(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _inline(value: object) -> str:
    """A text in its languages, a list of them, or names."""
    if isinstance(value, Mapping):
        texts = [f"“{text}”" if key in LANGUAGES else f"{key}: {_inline(text)}" for key, text in value.items()]
        return " / ".join(dict.fromkeys(texts)) if set(value) <= set(LANGUAGES) else ", ".join(texts)
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(map(_inline, value))
    return str(value)


# --- What every instrument file has in common ------------------------------------------------------------------------

ScaleId = Annotated[Line, AfterValidator(identifier("scale"))]


class Instrument(Part):
    """Head of an instrument file. A methodology's own instrument inherits it and adds its items.

    Within validation every part can look up what the file defines (`reading.current`), and the built-in scales that the
    file uses are copied into `scales`: a pinned instrument, and so its hash, holds every text that is shown.
    """

    scale_ends: ClassVar[Ends] = AGREEMENT
    """Labels at the ends of a scale that is given as a mere number of points."""

    listed: ClassVar[tuple[str, str] | None] = None
    """The list that a CSV holds, and the key of its entries' ids; None where a table of items is no instrument."""

    questions_tested: ClassVar[tuple[str, ...]] = ()
    """Names of the questions that the methodology tests (its findings with p): what `primary` may name."""

    instrument_id: Identifier
    version: Line
    title: Text
    topic: Text
    language_default: Spoken
    languages: Annotated[tuple[Spoken, ...], AfterValidator(not_empty)] | None = None
    item_order: Literal["random", "as_written"] = Field(default="random", exclude_if=lambda order: order == "random")
    scales: dict[ScaleId, Scale] = Field(default_factory=dict)
    primary: PrimaryQuestions = Field(default_factory=dict, exclude_if=lambda named: not named)

    @field_validator("primary")
    @classmethod
    def _tested(cls, named: dict[str, float]) -> dict[str, float]:
        require_known_questions(named, cls.questions_tested)
        return named

    @property
    def in_order(self) -> bool:
        """Whether items are shown as written, and not to each agent in an order of its own."""
        return self.item_order == "as_written"

    @model_validator(mode="wrap")
    @classmethod
    def _read_as_one_file(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        document = cls._with_scales(data)
        with reading(document):
            return handler(document)

    @field_validator("languages")
    @classmethod
    def _distinct(cls, languages: tuple[Spoken, ...] | None) -> tuple[Spoken, ...] | None:
        if languages and len(set(languages)) < len(languages):
            raise wrong(f"{', '.join(languages)} names a language twice")
        return languages

    @model_validator(mode="after")
    def _default_is_declared(self) -> Self:
        if self.languages and self.language_default not in self.languages:
            among = f"is not among languages {list(self.languages)}"
            raise wrong(f"language_default {shown(self.language_default)} {among}")
        return self

    def human_answers(self) -> Mapping[str, Human]:
        """What the file says of people's answers, by item id; a methodology with closed items names theirs."""
        return {}

    def subject(self) -> tuple[Text, ...]:
        """Texts that say what it is about, its topic first."""
        return self.topic, self.title

    def wordings(self) -> Iterable[ReviewedText]:
        """What is asked, item by item, for those who review it; a methodology names its own."""
        return ()

    @classmethod
    def complete(cls, draft: Draft) -> None:
        """Derive what a file of one's own leaves unsaid. A methodology adds what is its own."""
        complete_head(draft)
        low, high = cls.scale_ends
        complete_scales(draft, {language: (low.in_(language), high.in_(language)) for language in LANGUAGES})

    @classmethod
    def _with_scales(cls, data: Mapping[object, object]) -> dict[object, object]:
        document = dict(data)
        scales = document.get("scales", {})
        if not isinstance(scales, Mapping):
            return document  # a problem of its own, reported at `scales`
        used = InstrumentDocument(document).used("scale")
        if "scale" in cls.model_fields and "scale" not in document:
            used.add(str(cls.model_fields["scale"].default))
        document["scales"] = with_builtin_scales(dict(scales), used, cls.scale_ends)
        return document


class RatingInstrument(Instrument):
    """An instrument in which things are rated, and with them, where it says so, how sure one is of each rating.

    A confidence doubles what a rating costs in tokens, so that no instrument asks for it in passing.
    """

    confidence: StrictBool = Field(default=False, exclude_if=lambda asked: not asked)
