"""The interviewer: what to ask next, and in which words; and what an answer says. By a model, or by a rule where there
is none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.vocabulary import STOP_WORDS
from enquete.locale import N_, in_language
from enquete.methods.discovery.record import Contradiction, Path, ReadingProblem, as_said, reply_schema
from enquete.methods.discovery.schema import DiscoverySchema, FieldNode
from enquete.respondents.roles import Role, fence, normal
from enquete.state.asking import Language
from enquete.state.numbers import read_clear_number

MOST_WORDS = 60
LAST_TURNS = 8  # of the transcript that the interviewer sees

_WORDS: Mapping[str, str] = {
    "ask": N_("What can you tell me about this: {label}?"),
    "ask_again": N_("I would like to come back to this: {label}. What comes to mind when you think of it?"),
    "ask_once_more": N_("Once more, in your own words: {label} – how is that with you?"),
    "ask_of": N_("About “{entry}”: what can you tell me about {label}?"),
    "ask_of_again": N_("Back to “{entry}” for a moment: {label} – how is that?"),
    "more": N_("You have named {known}. What else belongs to it?"),
    "contradiction": N_(
        "On {label} you once said “{earlier}” and then “{later}”. Which of the two is right, or when does which hold?"
    ),
    "task": N_("Word the next question of an interview. It is to find out: {objective}"),
    "fields": N_("What is to be known (path: what it is)"),
    "lacks": N_("Still missing, the most pressing first"),
    "record": N_("Known so far"),
    "transcript": N_("The conversation so far"),
    "question": N_("Question"),
    "answer": N_("Answer"),
    "rules": N_(
        "Exactly one open question of at most {words} words, in the respondent's own words, without jargon and without "
        "suggesting an answer; repeat none that was asked. `about` is the path that it asks for."
    ),
}


class Target(BaseModel):
    """What a question may ask for. `asked`: how often it was already; `contradiction`: the two things said about it."""

    model_config = ConfigDict(frozen=True)

    path: Path
    label: str
    entry: str = ""  # of a list, that it is about
    question: str = ""
    known: tuple[str, ...] = ()  # keys of a list that has entries
    asked: int = 0
    closing: bool = False
    contradiction: Contradiction | None = None


class QuestionInput(BaseModel):
    """For wording a question. targets: the most pressing first."""

    objective: str
    fields: list[str]
    targets: list[Target]
    record: dict[str, Any]
    transcript: list[tuple[str, str]]
    language: Language = "en"


class QuestionOut(BaseModel):
    """`about`: the path of the target, its steps joined by a slash."""

    question: str
    about: str = ""


def entry_of(schema: DiscoverySchema, path: Path) -> str:
    """The key of the innermost entry that a path runs through, with those of entries of other lists around it; "" for
    none."""
    entries: dict[str, str] = {}  # by list; a list that is nested in itself has one
    nodes, steps = schema.nodes, list(path)
    while steps:
        node = nodes[steps.pop(0)]
        if node.field.type == "list" and steps:
            entries.pop(node.name, None)
            entries[node.name] = steps.pop(0)
        nodes = node.children
    *around, innermost = entries.values() or ("",)
    return f"{innermost} ({', '.join(reversed(around))})" if around else innermost


def ask_by_rule(data: QuestionInput) -> QuestionOut:
    """About the most pressing: in the schema's own words the first time, in others after that."""
    words, target = in_language(_WORDS, data.language), data.targets[0]
    return QuestionOut(question=_worded(words, target), about="/".join(target.path))


def _worded(words: Mapping[str, str], target: Target) -> str:
    if target.contradiction is not None:
        earlier, later = (told_value(value) for value in (target.contradiction.earlier, target.contradiction.later))
        return words["contradiction"].format(label=target.label, earlier=earlier, later=later)
    if target.entry:
        return words["ask_of" if not target.asked else "ask_of_again"].format(entry=target.entry, label=target.label)
    if target.known:
        return f"{words['more'].format(known=', '.join(target.known))} {target.question}".strip()
    again = ("ask", "ask_again", "ask_once_more")[min(target.asked, 2)]
    return target.question if target.question and not target.asked else words[again].format(label=target.label)


def told_value(value: object) -> str:
    if isinstance(value, Mapping):
        return as_said(value)
    if isinstance(value, list | tuple):
        return ", ".join(map(told_value, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def question_prompt(data: QuestionInput, language: Language) -> str:
    words = in_language(_WORDS, language)
    turns = [f"{words['question']}: {q}\n{words['answer']}: {a}" for q, a in data.transcript[-LAST_TURNS:]]
    record = json.dumps(data.record, ensure_ascii=False)
    parts = [
        words["task"].format(objective=data.objective),
        f"{words['fields']}:\n" + "\n".join(f"- {line}" for line in data.fields),
        f"{words['record']}:\n{fence('record', record)}" if data.record else "",
        f"{words['transcript']}:\n{fence('transcript', chr(10).join(turns))}" if turns else "",
        f"{words['lacks']}:\n{fence('missing', chr(10).join(_lacks(words, data.targets)))}",
        words["rules"].format(words=MOST_WORDS),
    ]
    return "\n\n".join(part for part in parts if part)


def _lacks(words: Mapping[str, str], wanted: Sequence[Target]) -> Iterator[str]:
    for target in wanted[:8]:
        yield f"- {'/'.join(target.path)}: {_worded(words, target) if target.contradiction else target.label}"


def question_schema(data: QuestionInput) -> dict[str, JsonValue]:
    paths: list[JsonValue] = list(dict.fromkeys("/".join(target.path) for target in data.targets))
    return {
        "type": "object",
        "properties": {"question": {"type": "string"}, "about": {"type": "string", "enum": paths}},
        "required": ["question", "about"],
        "additionalProperties": False,
    }


def fit_to_ask(data: QuestionInput, question: QuestionOut) -> QuestionOut | None:
    """One question that was not asked, about what is missing; else the rule asks."""
    text = " ".join(question.question.split())
    repeated = normal(text) in {normal(asked) for asked, _ in data.transcript}
    if not text or repeated or len(text.split()) > MOST_WORDS or len(re.findall(r"\?", text)) > 2:
        return None
    paths = {"/".join(target.path) for target in data.targets}
    about = question.about if question.about in paths else "/".join(data.targets[0].path)
    return QuestionOut(question=text, about=about)


def outline(schema: DiscoverySchema, language: Language) -> list[str]:
    """The fields as an interviewer reads them: path, what it is, unit, the closed list."""
    return [_line(node, language) for node in schema.walk()]


def _line(node: FieldNode, language: Language) -> str:
    field = node.field
    text = (field.description or field.label).in_(language)
    unit = f" ({field.unit.in_(language)})" if field.unit else ""
    listed = "; ".join(
        f"{each} = {(value.description or value.label).in_(language)}" for each, value in field.values.items()
    )
    return f"{'/'.join(node.path)}: {text}{unit}{f' [{listed}]' if listed else ''}"


ASKER = Role(
    "question", question_prompt, QuestionOut, ask_by_rule, question_schema, fit_to_ask, setting="question", opens=True
)


# --- reading an answer ------------------------------------------------------------------------------------------------


_READING: Mapping[str, str] = {
    "task": N_("Read one answer of an interview into a record. It is to find out: {objective}"),
    "fields": N_("Fields (path: what it is)"),
    "record": N_("The record so far"),
    "question": N_("Question"),
    "answer": N_("Answer"),
    "rules": N_(
        "Only what this answer says, also about fields that were not asked for; null for all else. Every value has "
        "`quote`, the words of the answer that say so, copied. Closed lists take only their ids. Entries that the "
        "record has keep their key."
    ),
    "problems": N_("Your last reading had problems; mend these and keep the rest:"),
}

_YES_NO = re.compile(r"^(?:(ja|yes)|nein|no)\b", re.IGNORECASE)
_EMPTY = re.compile(
    r"\b(weiß (ich )?nicht|fällt mir nichts|don't know|nothing comes to mind)\b|^\W*(no,?\s+|nein,?\s+)?(nothing (more|"
    r"else)|that'?s (all|it)|nichts (mehr|weiter)|sonst nichts|das (ist|war) alles)\b",
    re.IGNORECASE,
)
_NO = re.compile(r"\W*(no|nope|none|nein|nö|keine?)\W*", re.IGNORECASE)
_WORDY = ("text", "texts", "list")
_OPENING = re.compile(r"^(?:\S+ ){0,2}\S+: ")
_BETWEEN = re.compile(r",\s+|\s+(?:und|sowie|and|as well as)\s+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WRITTEN = r"\d(?:[\d.,]*\d)?"
_FIGURE = re.compile(rf"-?{_WRITTEN}")
_SAID_AMOUNT = re.compile(rf"({_WRITTEN}(?:\s*(?:-|–|to|bis)\s*{_WRITTEN})?)\s*([^\W\d]+)?")


class ReadingInput(BaseModel):
    """An answer with all that is needed to read it. about: path that the question asked for."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    discovery: DiscoverySchema
    question: str
    answer: str
    about: Path
    record: dict[str, Any]
    problems: list[ReadingProblem] = Field(default_factory=list)
    language: Language = "en"


class Reading(BaseModel):
    """What was read, in the form of the schema's model; checked after."""

    record: dict[str, JsonValue] = Field(default_factory=dict)


def reading_prompt(data: ReadingInput, language: Language) -> str:
    words = in_language(_READING, language)
    record = json.dumps(data.record, ensure_ascii=False)
    problems = "\n".join(f"- {problem.path}: {problem.given} – {problem.why}" for problem in data.problems)
    parts = [
        words["task"].format(objective=data.discovery.objective.in_(language)),
        f"{words['fields']}:\n" + "\n".join(f"- {line}" for line in outline(data.discovery, language)),
        words["rules"],
        f"{words['record']}:\n{fence('record', record)}" if data.record else "",
        f"{words['question']}:\n{fence('question', data.question)}",
        f"{words['answer']}:\n{fence('answer', data.answer)}",
        f"{words['problems']}\n{fence('problems', problems)}" if problems else "",
    ]
    return "\n\n".join(part for part in parts if part)


def reading_schema(data: ReadingInput) -> dict[str, JsonValue]:
    inner = reply_schema(data.discovery)
    return {
        "type": "object",
        "properties": {"record": {key: value for key, value in inner.items() if key != "$defs"}},
        "required": ["record"],
        "additionalProperties": False,
        **({"$defs": inner["$defs"]} if "$defs" in inner else {}),
    }


# --- without a model: crude, for a demonstration that costs nothing, and for a reply that nobody can use --------------


def read_by_rule(data: ReadingInput) -> Reading:
    """Of what was asked for: labels of a closed list, the first figure, an opening yes or no, else the first sentence,
    at its commas where there may be several. Words, no meanings; of all other fields nothing."""
    node = data.discovery.at(data.about) if data.about else None
    if node is None or _EMPTY.search(data.answer) or (node.field.type in _WORDY and _NO.fullmatch(data.answer)):
        return Reading()
    sentences = [sentence for sentence in _SENTENCE.split(data.answer.strip()) if sentence]
    value = _crude(node, sentences, data.language) if sentences else None
    return Reading(record=_placed(data.discovery.nodes, data.about, value) if value else {})


def _crude(node: FieldNode, sentences: Sequence[str], language: Language) -> Any:
    kind, first = node.field.type, sentences[0]
    text = _OPENING.sub("", first).rstrip(".!?")
    match kind:
        case "choice" | "choices":
            listed = {}
            for sentence in sentences:
                for each, value in node.field.values.items():
                    words = (value.label.in_(language), *value.words.get(language, ()))
                    if each not in listed and _pattern(words).search(normal(sentence)):
                        listed[each] = quoted(each, sentence)
            return list(listed.values()) if kind == "choices" else next(iter(listed.values()), None)
        case "number":
            figure = _FIGURE.search(first)
            after = normal(first[figure.end() :]) if figure else ""
            factor = next((f for unit, f in node.field.units.items() if after.startswith(normal(unit))), 1.0)
            number = read_clear_number(figure[0]) if figure else None  # 1.500 may be two: it is asked for again
            return None if number is None else quoted(number * factor, first)
        case "boolean":
            answered = _YES_NO.match(first)
            return quoted(answered[1] is not None, first) if answered else None
        case "texts":
            return [quoted(part, part) for part in _BETWEEN.split(text) if part]
        case "quantity":
            return quoted(_amount(text), first)
        case "row":
            return quoted([part for part in _BETWEEN.split(text) if part], first)
        case "rows":
            rows = ((row, _OPENING.sub("", row).rstrip(".!?")) for row in sentences)
            return [quoted([cell for cell in _BETWEEN.split(cells) if cell], row) for row, cells in rows]
        case "list":
            return [{node.key: quoted(part, part)} for part in _BETWEEN.split(text) if part]
        case "text":
            return quoted(text, first)
    return None


def _amount(text: str) -> dict[str, str]:
    """A figure or a range of them, with the word after it; words alone as they are."""
    figure = _SAID_AMOUNT.search(text)
    if figure is None:
        return {"value-string": text}
    unit = figure[2] if figure[2] and figure[2].casefold() not in STOP_WORDS else ""
    return {"value-string": figure[1], **({"units": unit} if unit else {})}


def _placed(nodes: Mapping[str, FieldNode], path: Path, value: Any) -> dict[str, Any]:
    """The value at its path; entries on the way are named by their key."""
    name, *steps = path
    node = nodes[name]
    if node.field.type == "list" and steps:
        entry = {node.key: quoted(steps[0], "")}
        return {name: [entry | (_placed(node.children, tuple(steps[1:]), value) if steps[1:] else {})]}
    return {name: _placed(node.children, tuple(steps), value) if steps else value}


def quoted(value: Any, quote: str) -> dict[str, Any]:
    return {"value": value, "quote": quote}


@lru_cache(maxsize=4096)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Any of the words, whole, in the form in which `normal` writes them; * stands for any ending."""
    spelt = "|".join(re.escape(normal(word)) + (r"\w*" if word.endswith("*") else "") for word in words if normal(word))
    return re.compile(rf"\b(?:{spelt})\b")


READER = Role(
    "interpret", reading_prompt, Reading, read_by_rule, reading_schema, setting="interpret", max_output_tokens=2000
)
AGAIN = 2
"""Readings of an answer beyond the first, where a reading had problems."""
