"""What the tools take: types that the SDK turns into JSON schemas, and the requests that are made of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.instruments.instrument import slug
from enquete.instruments.polls import INSTRUCTION, Entry, Kind
from enquete.interfaces.mcp.results import drop_titles
from enquete.interfaces.parameters import NameInFolder, kinds_of, meaning
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.request import FileName, RunRequest, fields_about
from enquete.study.question_files import poll_methodology

MAX_WAIT_S = 3600
DEFAULT_WAIT_S = 50

SimId: TypeAlias = Annotated[str, Field(description="as list_simulations names it")]
RunId: TypeAlias = Annotated[str, Field(description="needed where the simulation has more than one run")]
WaitSeconds: TypeAlias = Annotated[
    float, Field(ge=0, le=MAX_WAIT_S, description="for the end; what takes longer goes on in the background")
]
Page: TypeAlias = Annotated[int, Field(ge=1)]
CallerLanguage: TypeAlias = Annotated[Spoken, Field(description="of the sentences; what was said stays as it was")]


class Question(BaseModel):
    """Without a kind: options make a choice, bounds a number, a question mark an open question; else it is a statement
    that is rated."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=drop_titles)

    wording: Annotated[str | dict[Spoken, str], Field(description="a text, or one in each language")]
    kind: Kind | None = None
    options: list[str] = []
    minimum: float | None = None
    maximum: float | None = None
    scale: Annotated[str, Field(description="of a statement; likert5 unless named")] = ""
    id: str = ""

    def as_entry(self, place: int) -> Entry:
        """Return the question as it stands in a file."""
        said = self.model_dump(exclude={"id"}, exclude_defaults=True)
        return {"question_id": self.id or f"q{place}", **said}


class Who(BaseModel):
    """Who is asked."""

    model_config = ConfigDict(extra="forbid", json_schema_extra=drop_titles)

    agents: Annotated[list[str], Field(description="by name or id")] = []
    types: Annotated[list[str], Field(description="stakeholder types")] = []
    where: Annotated[str, Field(description='such as stakeholder_type == "ngo" and age >= 40')] = ""
    sample: Annotated[int | None, Field(description="so many of those, drawn by seed")] = None


Questions: TypeAlias = Annotated[list[Question], Field(description="of your own, asked of everybody once")]
Instruments: TypeAlias = Annotated[
    dict[FileName, NameInFolder], Field(description="methodology → name of saved or drafted questions, or `shipped`")
]
Methods: TypeAlias = Annotated[list[str], Field(description="see enquete://methodologies; the usual ones unless named")]
WhoArgument: TypeAlias = Annotated[Who, Field(description="everybody unless named")]
PhaseArgument: TypeAlias = Annotated[
    Literal["T0", "T1"] | None, Field(description="only before (T0) or after (T1) the simulation")
]
LanguageArgument: TypeAlias = Annotated[Spoken | None, Field(description="the simulation's own unless named")]
RespondentArgument: TypeAlias = Annotated[
    Literal["llm", "synthetic"] | None,
    Field(description="synthetic: a free trial with computed answers"),
]
BudgetTokens: TypeAlias = Annotated[int | None, Field(gt=0, description="cap for the whole run")]
Options: TypeAlias = Annotated[dict[str, JsonValue], Field(description="further ones, see enquete://options")]

OWN_ARGUMENTS = (
    "instruments", "methods", "phase", "language", "respondent", "budget_tokens", "agents", "types", "where", "sample",
)  # fmt: skip
"""Fields of a run's request that conduct_interviews takes as arguments of their own."""


def option_names() -> list[str]:
    """Return the fields of a run's request that `options` may hold: what a client may say, and no argument says."""
    sayable = {
        *fields_about("study", "driving", "start", at="http"), *fields_about("study", "driving", "start", at="mcp")
    }  # fmt: skip
    return [name for name in RunRequest.model_fields if name in sayable and name not in OWN_ARGUMENTS]


def describe_options() -> str:
    """Return the documentation of `options`, in Markdown."""
    lines = [
        "# Further options of conduct_interviews", "",
        'Give them in `options`, such as `options={"pack": "high_street", "new": true}`.', "",
    ]  # fmt: skip
    for name in option_names():
        info = RunRequest.model_fields[name]
        kinds = ", ".join(_name_of(kind) for kind in kinds_of(info.annotation))
        lines.append(f"- `{name}` ({kinds}): {meaning(name, info)}.")
    return "\n".join(lines) + "\n"


def _name_of(kind: Any) -> str:
    if getattr(kind, "__origin__", None) is Literal:
        return " | ".join(str(value) for value in kind.__args__)
    plain = kind if getattr(kind, "__args__", None) else getattr(kind, "__name__", kind)
    return str(plain).replace("typing.", "")


def make_request(
    *,
    questions: Sequence[Question],
    instruments: Mapping[str, str],
    methods: Sequence[str],
    who: Who,
    phase: str | None,
    language: str | None,
    respondent: str | None,
    budget_tokens: int | None,
    options: Mapping[str, Any],
) -> dict[str, Any]:
    """Return the arguments of the façade's `conduct_interviews` that these arguments mean.

    Raises:
        SettingsError: an option is unknown or is an argument of its own.
    """
    named = {
        "methods": list(methods) or None, "instruments": dict(instruments) or None, "phase": phase,
        "language": language, "respondent": respondent, "budget_tokens": budget_tokens,
    }  # fmt: skip
    request: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    request |= who.model_dump(exclude_defaults=True)
    request |= _require_options(options)
    return _with_questions(request, questions) if questions else request


def _require_options(options: Mapping[str, Any]) -> Mapping[str, Any]:
    known = option_names()
    for name in options:
        if name in OWN_ARGUMENTS:
            argument = "who" if name in Who.model_fields else name
            raise SettingsError(f"options: {name!r} is said by the argument {argument} of conduct_interviews")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            meant = f" (did you mean {near[0]}?)" if near else ""
            raise SettingsError(f"options: there is no option {name[:60]!r}{meant}; they are {', '.join(known)}")
    return options


def _with_questions(request: Mapping[str, Any], questions: Sequence[Question]) -> dict[str, Any]:
    """Return the request with questions as the instrument of the methodology that asks a plain list of them."""
    poll = poll_methodology()
    instruments = dict(request.get("instruments", {}))
    if poll in instruments:
        raise SettingsError(f"questions: instruments name a file for {poll}, too; leave one of them out")
    methods = list(request.get("methods", instruments))
    beside = [name for name in methods if name != poll]
    return {**request, "methods": [poll, *beside], "instruments": {**instruments, poll: as_document(questions)}}


UNTITLED = {"de": "Fragen", "en": "Questions"}
"""Words that the check whether questions fit a simulation knows to say nothing."""


def as_document(questions: Sequence[Question], topic: str = "") -> Entry:
    """Return the file that these questions would be."""
    entries = [question.as_entry(place) for place, question in enumerate(questions, start=1)]
    return {
        "instrument_id": slug(topic) if topic else "questions", "version": "1", "title": topic or UNTITLED,
        "topic": topic or UNTITLED, "instruction": INSTRUCTION, "questions": entries,
    }  # fmt: skip
