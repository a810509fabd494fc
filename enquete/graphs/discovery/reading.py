"""Reading an answer into the record: by a model, or by a rule that knows closed lists, numbers, yes and no, and otherwise takes
what was said about what was asked. The rule stands in where there is no model; it understands words, not meanings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.graphs.discovery.questions import outline
from enquete.graphs.discovery.record import Path
from enquete.graphs.discovery.reply import Problem, reply_schema
from enquete.graphs.discovery.schema import DiscoverySchema, Node
from enquete.locale import N_, in_language
from enquete.respondents.quoting import fence, normal
from enquete.respondents.roles import Role
from enquete.state.asking import Language

_WORDS: Mapping[str, str] = {
    "task": N_("Read one answer of an interview into a record. It is to find out: {objective}"),
    "fields": N_("Fields (path: what it is)"),
    "record": N_("The record so far"),
    "question": N_("Question"),
    "answer": N_("Answer"),
    "rules": N_(
        "Only what this answer says, also about fields that were not asked for; null for all else. Every value has `quote`, the "
        "words of the answer that say so, copied. Closed lists take only their ids. Entries that the record has keep their key."
    ),
    "problems": N_("Your last reading had problems; mend these and keep the rest:"),
}

_YES: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile(
        r"\b(ja|jawohl|genau|stimmt|richtig|durchaus|das war.?s|alles gesagt|nichts mehr|fertig)\b", re.IGNORECASE
    ),
    "en": re.compile(
        r"\b(yes|yeah|indeed|right|certainly|that is all|that's all|nothing more|nothing else|complete)\b",
        re.IGNORECASE,
    ),
}
_NO: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile(r"\b(nein|nicht|kein\w*|kaum|nie)\b", re.IGNORECASE),
    "en": re.compile(r"\b(no|not|never|hardly|don't|isn't|doesn't)\b", re.IGNORECASE),
}
_EMPTY: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile(
        r"\b(weiß (ich )?nicht|keine ahnung|dazu (kann|möchte) ich nichts|fällt mir nichts)\b", re.IGNORECASE
    ),
    "en": re.compile(
        r"\b(don't know|no idea|can't say|cannot say|nothing comes to mind|rather not say)\b", re.IGNORECASE
    ),
}
_BEGINS: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile(
        r"^(also|na ja|naja|nun|ja|gut|ehrlich gesagt|bei uns|ich würde sagen|vor allem|das ist|das sind|da ist)[,:]?\s+",
        re.IGNORECASE,
    ),
    "en": re.compile(
        r"^(well|so|yes|honestly|okay|i would say|i'd say|mostly|mainly|that is|that's|there is|there are|it is)[,:]?\s+",
        re.IGNORECASE,
    ),
}
_BETWEEN: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile(
        r"\s*(?:[,;]\s*(?:und |sowie |dann |außerdem |schließlich )?|\bund (?:dann |auch )?|\bsowie\b)\s*",
        re.IGNORECASE,
    ),
    "en": re.compile(
        r"\s*(?:[,;]\s*(?:and |then |also |finally )?|\band (?:then |also )?|\bas well as\b)\s*", re.IGNORECASE
    ),
}
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_FIGURE = re.compile(r"-?\d+(?:[.,]\d+)?")
LONGEST_ENTRY = 12  # words of one of several that a rule reads


class ReadingInput(BaseModel):
    """An answer with all that is needed to read it. about: path that the question asked for."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    discovery: DiscoverySchema
    question: str
    answer: str
    about: Path
    record: dict[str, Any]
    problems: list[Problem] = Field(default_factory=list)
    language: Language = "en"


class Reading(BaseModel):
    """What was read, in the form of the schema's model (reply.py); checked after."""

    record: dict[str, JsonValue] = Field(default_factory=dict)


def reading_prompt(data: ReadingInput, language: Language) -> str:
    words = in_language(_WORDS, language)
    record = json.dumps(data.record, ensure_ascii=False)
    problems = "\n".join(f"- {one.path}: {one.given} – {one.why}" for one in data.problems)
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


# --- without a model -----------------------------------------------------------------------------------------------------


def read_by_rule(data: ReadingInput) -> Reading:
    """What the answer says about the field asked for. Of others it reads nothing: it cannot tell a remark from an answer."""
    if not data.about or _EMPTY[data.language].search(data.answer):
        return Reading()
    node = data.discovery.at(data.about)
    record: dict[str, Any] = {}
    if node is not None and (value := _Reader(data.answer, data.language).value(node)) is not None:
        _place(record, data.discovery, data.about, value)
    return Reading(record=record)


def _place(record: dict[str, Any], schema: DiscoverySchema, path: Sequence[str], value: Any) -> None:
    """The value at its path; entries on the way are named by their key."""
    nodes, held, steps = schema.nodes, record, list(path)
    while steps:
        name = steps.pop(0)
        node = nodes[name]
        if not steps:
            held[name] = value
            return
        if node.field.type == "list":
            entry: dict[str, Any] = {str(node.field.key): said(steps.pop(0), "")}
            held[name] = [entry]
            if not steps:
                return
            held = entry
        else:
            held = held.setdefault(name, {})
        nodes = node.children


def said(value: Any, quote: str) -> dict[str, Any]:
    return {"value": value, "quote": quote}


class _Reader:
    """One answer."""

    def __init__(self, answer: str, language: Language):
        self.language: Language = language
        self.sentences = [one for one in _SENTENCE.split(answer.strip()) if one]
        self.first = next(
            (one for one in self.sentences if len(one.split()) > 2), self.sentences[0] if self.sentences else ""
        )

    def value(self, node: Node) -> Any:
        match node.field.type:
            case "choice":
                found = self.choices(node)
                return found[0] if found else None
            case "choices":
                return self.choices(node) or None
            case "number":
                return self._number(node)
            case "boolean":
                return self._yes_or_no()
            case "texts":
                return [said(one, one) for one in self._several()] or None
            case "list":
                return [{str(node.field.key): said(one, one)} for one in self._several()] or None
            case "text":
                return said(self._clause(self.first), self.first) if self.first else None
        return None

    def choices(self, node: Node) -> list[dict[str, Any]]:
        """Values of a closed list by label or words, each with the sentence that has them."""
        found = {}
        for sentence in self.sentences:
            for each, value in node.field.values.items():
                words = (value.label.in_(self.language), *value.words.get(self.language, ()))
                if each not in found and _pattern(words).search(normal(sentence)):
                    found[each] = said(each, sentence)
        return list(found.values())

    def _number(self, node: Node) -> dict[str, Any] | None:
        """The first figure, times the factor of the unit that follows it."""
        for sentence in self.sentences:
            for figure in _FIGURE.finditer(sentence):
                after = normal(sentence[figure.end() :])
                factor = next((f for unit, f in node.field.units.items() if after.startswith(normal(unit))), 1.0)
                return said(float(figure[0].replace(",", ".")) * factor, sentence)
        return None

    def _yes_or_no(self) -> dict[str, Any] | None:
        """Of the first sentence that says either; where both stand, what comes first."""
        for sentence in self.sentences:
            yes, no = _YES[self.language].search(sentence), _NO[self.language].search(sentence)
            if yes or no:
                return said(bool(yes and (not no or yes.start() <= no.start())), sentence)
        return None

    def _several(self) -> Iterator[str]:
        """Parts of the first sentence that are short enough to be names of things."""
        for part in _BETWEEN[self.language].split(self._clause(self.first)):
            if part and len(part.split()) <= LONGEST_ENTRY:
                yield part

    def _clause(self, sentence: str) -> str:
        """Without its opening words and its full stop."""
        text, before = sentence.strip().rstrip(".!?"), ""
        while text != before:
            before, text = text, _BEGINS[self.language].sub("", text)
        return text.strip()


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
