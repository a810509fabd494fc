"""What an interview is conducted with: the concept (what it is about: elements with aliases, and the research context),
the instrument (what is the same however the next question is chosen), the methodology (an ontology with its strategies,
their weights and techniques, and the phases), and what may be set. The two files are read once and kept in the
settings, so that a run holds what it was conducted with, whatever becomes of them.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache, cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictFloat,
    StrictInt,
    ValidationInfo,
    field_validator,
    model_validator,
)

from enquete.instruments.instrument import Instrument
from enquete.instruments.load import LayerFile, load_layer, load_shipped, require_language, shipped
from enquete.instruments.text import (
    LANGUAGE_NAMES,
    LANGUAGES,
    Line,
    Part,
    Text,
    current,
    identifier,
    not_empty,
    reference,
    suggestion,
    wrong,
)
from enquete.methods.laddering.knowledge import Ontology, TypeName
from enquete.methods.laddering.signals import checked_key
from enquete.methods.laddering.translation import KeyFate, is_concept, is_methodology
from enquete.methods.laddering.translation import concept as concept_of
from enquete.methods.laddering.translation import methodology as methodology_of
from enquete.respondents.person import persons_named
from enquete.runs.material import Material, begins, counted, pair, quoted
from enquete.runs.material import identifier as theme_id
from enquete.simulations.discourse import stems_of
from enquete.state.asking import Language, Participant, Spoken
from enquete.state.errors import InstrumentError
from enquete.state.methodology import SettingFile
from enquete.state.request import FallbackModel

# --- the concept: what is asked about ---------------------------------------------------------------------------------

STEM = "*"  # at the end of an alias: the word may go on in any way
SHORTEST_STEM = 3

ElementId = Annotated[Line, AfterValidator(identifier("element"))]


class _Written(NamedTuple):
    """An alias as it stands in the file."""

    element: str
    language: Language
    alias: str


def _of_one_element(alias: str) -> str:
    """An alias by which a text would be credited to two elements is nobody's."""
    bare = alias.removesuffix(STEM)
    if STEM in bare or len(bare.strip()) < (SHORTEST_STEM if alias.endswith(STEM) else 1):
        raise wrong(
            f"'{alias}': {STEM} may stand once, at the end of a stem of at least {SHORTEST_STEM} letters, as in "
            f"Quote{STEM}"
        )
    written = list(_written(current().document))
    holders = {(entry.element, entry.language) for entry in written if entry.alias.casefold() == alias.casefold()}
    for element, language in sorted(holders):
        other = next((entry for entry in written if entry.element != element and _clash(alias, entry, language)), None)
        if other is not None and other.alias.casefold() == alias.casefold():
            both = " and ".join(sorted({element, other.element}))
            raise wrong(f"'{alias}' stands for the elements {both}; an alias belongs to one element")
        if other is not None:
            raise wrong(
                f"'{alias}' of {element} and '{other.alias}' of {other.element} begin alike: a text with the one would "
                "count for both elements; make one of them longer, or a whole word without *"
            )
    return alias


def _clash(alias: str, other: _Written, language: Language) -> bool:
    """Whether one of the two would be found at the beginning of the other. Equal ones clash in any language."""
    if other.alias.casefold() == alias.casefold():
        return True
    if other.language != language:
        return False
    stem, other_stem = alias.removesuffix(STEM), other.alias.removesuffix(STEM)
    if stem[:1].casefold() != other_stem[:1].casefold():  # most pairs, without a pattern
        return False
    begins = re.compile(_spelt(alias, language), re.IGNORECASE).match(other_stem)
    return bool(begins or re.compile(_spelt(other.alias, language), re.IGNORECASE).match(stem))


def _written(document: Mapping[object, object]) -> Iterator[_Written]:
    """Every alias of a file that is being read, whatever else is wrong with it."""
    elements = document.get("elements")
    for element, content in elements.items() if isinstance(elements, Mapping) else ():
        aliases = content.get("aliases") if isinstance(content, Mapping) else None
        for language in LANGUAGES if isinstance(aliases, Mapping) else ():
            listed = aliases.get(language)  # type: ignore[union-attr]  # a mapping, or there is no language to read
            for alias in listed if isinstance(listed, list | tuple) else ():
                if str(alias).strip().strip(STEM):
                    yield _Written(str(element), language, str(alias).strip())


Alias = Annotated[Line, AfterValidator(_of_one_element)]


class Aliases(Part):
    """The words by which an element is recognised, by language: whole words with their simple endings ("Preis" finds
    "Preise"), or stems that go on in any way ("Quote*" finds "Quotenbescheide")."""

    de: tuple[Alias, ...] = ()
    en: tuple[Alias, ...] = ()


class Element(Part):
    """A part of the topic whose coverage is followed."""

    type: Line  # attribute, benefit, actor, occasion …: free, for the reader of the table
    label: Text
    aliases: Aliases


CLIENTS_VIEW = ("insight", "promise", "reasons_to_believe", "elements")


_is_empty = operator.not_
"""Not written then: what a file does not use leaves no trace in a run."""


class Concept(LayerFile):
    """A topic as the interviewer knows it; never shown to the respondent as a whole."""

    topic: Text
    objective: Text | None = Field(None, exclude_if=_is_empty)  # what is to be found out; needs no more than itself
    insight: Text | None = None  # what the client believes about people
    promise: Text | None = None  # what the thing is said to do
    reasons_to_believe: tuple[Text, ...] = ()
    elements: dict[ElementId, Element] = Field(default_factory=dict)
    methodology: Line | None = Field(None, exclude_if=_is_empty)  # asked with where a run names none
    translation: tuple[KeyFate, ...] = Field((), exclude_if=_is_empty)  # of a file of another program

    @classmethod
    def in_own_terms(cls, data: Mapping[Any, Any]) -> Mapping[Any, Any]:
        return concept_of(data) if is_concept(data) else data

    @model_validator(mode="after")
    def _says_enough(self) -> Self:
        lacking = [name for name in CLIENTS_VIEW if not getattr(self, name)]
        if lacking and self.objective is None:
            raise wrong(f"{', '.join(lacking)} missing; a concept has them all, or an `objective`")
        return self

    @property
    def clients_view(self) -> tuple[Text, ...]:
        """For the orientation of whoever words a question."""
        return tuple(text for text in (self.objective, self.insight, self.promise, *self.reasons_to_believe) if text)

    def mentioned(self, text: str, *languages: Language) -> tuple[str, ...]:
        """Elements that a text speaks of by their aliases of these languages, of all where none is named, in the file's
        order; none for an empty text."""
        return tuple(
            name
            for name in self.elements
            if any(self._patterns[name, language].search(text) for language in languages or LANGUAGES)
        )

    @cached_property
    def _patterns(self) -> Mapping[tuple[str, Language], re.Pattern[str]]:
        """Any alias of an element in a language; without one a pattern that matches nothing."""
        return {
            (name, language): re.compile(
                "|".join(_spelt(word, language) for word in sorted(getattr(element.aliases, language))) or r"(?!)", re.I
            )
            for name, element in self.elements.items()
            for language in LANGUAGES
        }


@cache
def _spelt(alias: str, language: Language) -> str:
    """An alias as a pattern: a stem that goes on, or whole words with plural and genitive endings."""
    if alias.endswith(STEM):
        return rf"(?<!\w){re.escape(alias.removesuffix(STEM))}"
    return rf"(?<!\w){_inflected(alias, language)}(?!\w)"


def _inflected(word: str, language: Language) -> str:
    if language == "de":
        return rf"{re.escape(word)}(?:e[nmrs]?|n|s|ern)?"
    if re.search(r"[^aeiou]y$", word, re.IGNORECASE):
        return rf"{re.escape(word[:-1])}(?:y|ies)(?:['’]s?)?"
    plural = "es" if re.search(r"(?:s|x|z|ch|sh)$", word, re.IGNORECASE) else "s"
    return rf"{re.escape(word)}(?:{plural})?(?:['’]s?)?"


# --- the instrument ---------------------------------------------------------------------------------------------------

TOPIC = "{topic}"


def _names_the_topic(instruction: Text) -> Text:
    if any(text is not None and TOPIC not in text for text in (instruction.de, instruction.en)):
        raise wrong(f"lacks {TOPIC}, the place of the concept's topic")
    return instruction


Turns = Annotated[StrictInt, Field(ge=1, le=60)]


class StopRule(Part):
    """When an interview ends early; all in turns. The three counts hold from `from_turn` on, or in the late phase.

    shallow: answers in a row that were shallow and brought nothing; of more than `without_yield` it could never be
    reached.
    """

    from_turn: Turns = 5
    without_yield: Turns = 5
    shallow: Turns = 5
    same_depth: Turns = 6


class LadderingInstrument(Instrument):
    """What is asked about, what the respondent is told, when to stop, what the map leaves out."""

    questions_tested = ("groups", "adapting")

    concept: Line  # a shipped concept or a YAML file; the setting of that name replaces it
    instruction: Annotated[Text, AfterValidator(_names_the_topic)]
    transcript_heading: Text
    stops: StopRule = StopRule()
    cut_off: Annotated[StrictInt, Field(ge=1, le=10_000)] | None = None  # by the share of links that the map represents

    def subject(self) -> tuple[Text, ...]:
        """The concept's: the instrument says how is asked, not about what."""
        try:
            concept = load_layer(Concept, "concepts", self.concept)
        except InstrumentError:
            return ()
        return concept.topic, concept.title

    def told(self, topic: Text, language: Language) -> str:
        """The instruction for a topic."""
        return self.instruction.in_(language).replace(TOPIC, topic.in_(language))


# --- the methodology --------------------------------------------------------------------------------------------------

PHASES = ("early", "mid", "late")
FOCUS, SECOND, THIRD = "{focus}", "{second}", "{third}"
MOST_WORDS = 14  # of a question: under fifteen
MOST_FOCUS_WORDS = 5  # of the respondent's own words for which every question has room
RELATIVE = ("next", "same", "first", "none")

Phase = Literal["early", "mid", "late"]
StrategyId = Annotated[Line, AfterValidator(identifier("strategy"))]
StrategyName = Annotated[Line, AfterValidator(reference("strategy", "strategies"))]
TechniqueId = Line
WeightKey = Annotated[Line, AfterValidator(checked_key)]
Weight = Annotated[StrictFloat | StrictInt, Field(ge=-20, le=20)]
Multiplier = Annotated[StrictFloat | StrictInt, Field(gt=0, le=10)]


def most_words(compares: bool) -> int:
    """A question that compares names two concepts more."""
    return MOST_WORDS + 2 * MOST_FOCUS_WORDS * compares


def _short_enough(question: Text) -> Text:
    for language in get_args(Spoken):
        text = getattr(question, language) or ""
        quoted, which = " ".join("x" * MOST_FOCUS_WORDS), f"the {LANGUAGE_NAMES[language]} text"
        words, most = len(re.sub(r"\{(focus|second|third|topic)\}", quoted, text).split()), most_words(SECOND in text)
        if words > most:
            raise wrong(f"{which} has up to {words} words with a concept quoted; at most {most}")
        if text.count("?") > 1 or text.count(FOCUS) > 1:
            raise wrong(f"{which} asks or quotes more than once; one question, one {FOCUS}")
    return question


def _known_aim(aim: str) -> str:
    types = current().defined("node_types")
    if types is not None and aim not in (*RELATIVE, *types):
        raise wrong(f"'{aim}' is no node type{suggestion(aim, (*RELATIVE, *types))}")
    return aim


Question = Annotated[Text, AfterValidator(_short_enough)]
Aim = Annotated[Line, AfterValidator(_known_aim)]
"""What an answer will bring: a node type; next: the rung above the focus; same: more on the focus itself; first: the
ontology's first type; none: nothing new."""


class Technique(Part):
    """One way to carry out a strategy. `questions` are what the rule-based interviewer asks; a model gets the
    description.

    `suits`: node types about which it makes sense to be asked; every type its answer could be linked with where none is
    named.
    `triad`: it names two more concepts of the focus' type, {second} and {third} (Kelly 1955), and comes before others.
    """

    id: TechniqueId
    description: Text
    elicits: Aim
    suits: tuple[TypeName, ...] = ()
    triad: bool = False
    questions: Annotated[tuple[Question, ...], AfterValidator(not_empty)]


def _no_id_twice(techniques: tuple[Technique, ...]) -> tuple[Technique, ...]:
    """A technique is consumed by its id."""
    twice = sorted(id for id, n in Counter(technique.id for technique in techniques).items() if n > 1)
    if twice:
        raise wrong(
            f"the technique {', '.join(twice)} stands there twice; every technique of a strategy needs its own id"
        )
    return techniques


class Strategy(Part):
    """`focus`: it asks about a concept said before. `closing`: the interview ends with the answer to it."""

    label: Text
    description: Text
    goal: Text
    focus: bool = True
    closing: bool = False
    weights: Annotated[dict[WeightKey, Weight], AfterValidator(not_empty)]
    techniques: Annotated[tuple[Technique, ...], AfterValidator(not_empty), AfterValidator(_no_id_twice)]

    @model_validator(mode="after")
    def _questions_quote_the_focus(self) -> Self:
        for technique in self.techniques:
            texts = [text for question in technique.questions for text in (question.de, question.en) if text]
            problem = ""
            if technique.suits and not self.focus:
                problem = "`suits` names node types, but the strategy says `focus: false`"
            elif any((name in text) != technique.triad for name in (SECOND, THIRD) for text in texts):
                problem = f"{SECOND} and {THIRD} stand in the questions of a triad alone"
            elif self.focus and any(FOCUS not in text for text in texts):
                problem = f"a question lacks {FOCUS}, the place of the concept asked about"
            elif not self.focus and any(FOCUS in text for text in texts):
                problem = f"a question has {FOCUS}, but the strategy says `focus: false`"
            elif any(TOPIC in text for text in texts):
                problem = f"{TOPIC}, the place of the concept's topic, stands in opening questions alone"
            if problem:
                raise wrong(f"technique '{technique.id}': {problem}")
        return self


class Opening(Part):
    """The first question: warm and open. {topic} in it is the place of the concept's topic."""

    goal: Text
    elicits: Aim
    questions: Annotated[tuple[Question, ...], AfterValidator(not_empty)]


class InterviewMethod(Ontology):
    """A methodology file, whole."""

    goal: Text
    opening: Opening
    strategies: Annotated[dict[StrategyId, Strategy], AfterValidator(not_empty)]
    phases: dict[Phase, dict[StrategyName, Multiplier]]
    bonuses: dict[Phase, dict[StrategyName, Weight]] = Field({}, exclude_if=_is_empty)  # added to a strategy's score
    guidelines: tuple[Text, ...] = Field((), exclude_if=_is_empty)  # for whoever reads answers
    translation: tuple[KeyFate, ...] = Field((), exclude_if=_is_empty)  # of a file of another program

    @classmethod
    def in_own_terms(cls, data: Mapping[Any, Any]) -> Mapping[Any, Any]:
        if is_methodology(data):
            return methodology_of(data, [load_layer(cls, "methodologies", name) for name in shipped("methodologies")])
        return data

    @model_validator(mode="after")
    def _has_all_phases(self) -> Self:
        missing = [phase for phase in PHASES if phase not in self.phases]
        if missing:
            raise wrong(f"phases: {', '.join(missing)} missing; there are {', '.join(PHASES)}")
        return self

    def multiplier(self, phase: str, strategy: str) -> float:
        """1 for a strategy that the phase does not name."""
        return next((float(by[strategy]) for name, by in self.phases.items() if name == phase and strategy in by), 1.0)

    def bonus(self, phase: str, strategy: str) -> float:
        return next((float(by[strategy]) for name, by in self.bonuses.items() if name == phase and strategy in by), 0.0)

    @cached_property
    def asks(self) -> Mapping[str, frozenset[str]]:
        """Strategy → the kinds of concepts that its techniques ask for by name."""
        return {
            name: frozenset(technique.elicits for technique in strategy.techniques) & self.node_types.keys()
            for name, strategy in self.strategies.items()
        }

    def aim(self, elicits: str, focus_type: str) -> str | None:
        """The node type that a technique brings when it asks about a concept of `focus_type` ("" without one).

        None where it brings nothing: at the top of the ladder, or by design.
        """
        if elicits == "none":
            return None
        if elicits == "first":
            return self.first_type
        if elicits == "same":
            return focus_type or None
        return self.next_type(focus_type) if elicits == "next" else elicits

    def applicable(self, technique: Technique, focus_type: str) -> bool:
        """Whether it suits the focus, and what it brings can hang together with it at all."""
        if technique.suits and focus_type not in technique.suits:
            return False
        if not focus_type or technique.elicits in ("same", "none"):
            return True
        aim = self.aim(technique.elicits, focus_type)
        return aim is not None and self.linkable(focus_type, aim)


# --- the settings -----------------------------------------------------------------------------------------------------

ADAPTIVE = "scored"
"""The strategy that others are compared with."""


class LadderingLayers(BaseModel):
    """What the settings `concept` and `methodology` stood for when the run began."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    concept: Concept
    methodology: InterviewMethod


FILES = (
    SettingFile(
        "concept", Concept.known_keys, lambda name: load_layer(Concept, "concepts", name), is_original=is_concept
    ),
    SettingFile(
        "methodology", InterviewMethod.known_keys, lambda name: load_layer(InterviewMethod, "methodologies", name),
        is_original=is_methodology,
    ),
)  # fmt: skip
"""What may be named where an instrument is: what an interview is about, and how it is led."""


class LadderingSettings(BaseModel):
    """Raises InstrumentError, naming file and line, where a concept or methodology file is wrong.

    Validated with a context `instrument`, that of the run, it takes the concept from there; with a context `language`,
    it also raises where a file cannot be used in it; with a context `own_folder`, files are named, and lie there.
    """

    model_config = ConfigDict(extra="forbid")

    turns: int = Field(15, ge=1, le=60, description="questions an interview has at most")
    concept: str = Field(
        "", description="what is asked about: a shipped concept or a YAML file; the instrument's unless named"
    )
    methodology: str = Field(
        "means_end_chain",
        description="how is asked: a shipped methodology or a YAML file; the one that the concept names, unless named",
    )
    strategy: str = Field(
        ADAPTIVE,
        description="how the next question is chosen: scored (adaptive), or, to compare, random, or static: a fixed "
        "script of the same length; several, such as scored,static, are asked in an arm each and compared",
    )
    codes: Literal["rule", "model"] = Field(
        "model",
        description="who makes codes of all interviews' concepts: a model, where one interviews, or a rule that knows "
        "words",
    )
    extraction_model: str = Field("", description="model that reads answers; the main arm's unless named")
    extraction_fallback: FallbackModel = ""
    signals_model: str = Field("", description="model that judges answers; the main arm's unless named")
    signals_fallback: FallbackModel = ""
    questions_model: str = Field("", description="model that words questions; the main arm's unless named")
    questions_fallback: FallbackModel = ""
    people: str = Field(
        "", exclude_if=_is_empty, description="who answers for themselves, in forms: names or ids, 'Ada; Ben'"
    )
    layers: LadderingLayers | None = Field(
        None, description="filled when the settings are read: the two files as they were"
    )

    @field_validator("strategy")
    @classmethod
    def _compared(cls, text: str) -> str:
        names = text.split(",")
        if not set(names) <= {ADAPTIVE, "random", "static"}:
            raise ValueError(f"{text!r} is not taken; write scored, random or static, or several as in scored,static")
        if len(set(names)) < len(names) or (len(names) > 1 and ADAPTIVE not in names):
            raise ValueError(f"several strategies are compared with {ADAPTIVE}: name it among them, and none twice")
        return text

    @model_validator(mode="after")
    def _read_layers(self, info: ValidationInfo) -> Self:
        context = info.context or {}
        if not self.concept:
            self.concept = (context.get("instrument") or load_shipped(LadderingInstrument, "laddering")).concept
        if self.layers is None:
            own_folder = context.get("own_folder")
            concept = load_layer(Concept, "concepts", self.concept, own_folder)
            if concept.methodology and "methodology" not in self.model_fields_set:
                beside = Path(self.concept).expanduser().parent.parent / "methodologies" / f"{concept.methodology}.yaml"
                self.methodology = str(beside) if own_folder is None and beside.is_file() else concept.methodology
            method = load_layer(InterviewMethod, "methodologies", self.methodology, own_folder)
            self.layers = LadderingLayers(concept=concept, methodology=method)
        language = context.get("language")
        if language:
            require_language("laddering.concept", self.concept, self.layers.concept, language)
            require_language("laddering.methodology", self.methodology, self.layers.methodology, language)
        # Of a path only the name: where it lay is nobody else's business, and the content is kept.
        self.concept, self.methodology = Path(self.concept).name, Path(self.methodology).name
        return self

    def seats_person(self, who: Participant) -> bool:
        """Whether a person answers for this participant."""
        return bool(self.people) and not {who.id, who.name}.isdisjoint(persons_named(self.people))

    @property
    def strategies(self) -> tuple[str, ...]:
        """The main arm's, then those that it is compared with."""
        return tuple(self.strategy.split(","))

    @cached_property
    def topic(self) -> Concept:
        return self._layers.concept

    @cached_property
    def method(self) -> InterviewMethod:
        return self._layers.methodology

    @property
    def _layers(self) -> LadderingLayers:
        assert self.layers is not None  # the validator has filled it
        return self.layers


# --- A concept for in-depth interviews: the topic, and its themes as elements.

TELLING = 2
"""Statements that say most of the themes: reasons to believe it."""
FILL_IN: Mapping[str, Mapping[Spoken, str]] = {
    "insight": {
        "de": "Was ändert sich bei „{t}“ für die Befragten?",
        "en": "What changes about “{t}” for those asked?",
    },
    "promise": {
        "de": "Was wird bei „{t}“ den Befragten zugesagt?",
        "en": "What is promised to those asked about “{t}”?",
    },
}
REASON: Mapping[Spoken, str] = {
    "de": "Was spricht aus Sicht der Befragten für „{t}“?", "en": "What do those asked see in “{t}”?",
}  # fmt: skip
"""Neither the requirement nor a post is what a client believes or promises: a neutral text that somebody has to
replace."""


def draft(material: Material) -> Mapping[str, str]:
    """Named by --set METHOD.concept=FILE; the instrument that ships says how is asked."""
    subject = stems_of(" ".join(theme.label for theme in material.themes))
    statements = material.chosen or material.statements
    telling = sorted(statements, key=lambda statement: -len(subject & stems_of(statement.text)))[:TELLING]
    if not telling and not material.described:
        return {}
    topic = pair(material.topics)
    elements = []
    for place, theme in enumerate(material.themes):
        labels = material.labels(theme)
        aliases = ", ".join(f"{language}: [{quoted(label.lower())}]" for language, label in labels.items())
        elements.append(
            f"  # from: {counted(theme)}\n  {theme_id(theme, place)}:\n    type: attribute\n"
            f"    label: {pair(labels)}\n    aliases: {{{aliases}}}\n"
        )
    theme = material.themes[0]

    def on_theme(texts: Mapping[Spoken, str]) -> str:
        return pair({language: texts[language].format(t=theme.in_(language)) for language in material.labels(theme)})

    reasons = "".join(
        f"  # from: {post.name} ({post.kind}), {post.source}\n  - {pair(material.in_languages(statement))}\n"
        for statement in telling for post in [statement.post]
    ) or f"  # CHECK fill in: a reason; the sentence is Enquete's\n  - {on_theme(REASON)}\n"  # fmt: skip
    open_ = "".join(
        f"# CHECK fill in: the {name} of your study; the sentence is Enquete's\n{name}: {on_theme(texts)}\n"
        for name, texts in FILL_IN.items()
    )
    text = (
        f"{begins(material)}# What an in-depth interview is about.\n\n"
        f'id: draft_concept\nversion: "draft"\ntitle: {topic}\nlanguage_default: {material.language}\ntopic: {topic}\n'
        f"{open_}reasons_to_believe:\n{reasons}elements:\n{''.join(elements)}"
    )
    return {"concept.yaml": text}
