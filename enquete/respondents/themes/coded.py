"""The types of theme coding: statements, draft themes of a batch, merged themes, the coded themes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict, Field


class Statement(BaseModel):
    """One participant's answer to one open question. `id` is "<participant>|<question>"."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str


class DraftTheme(BaseModel):
    """A theme found in one batch, with the statements that voice it: handles as shown in the prompt, or full ids."""

    label: str
    description: str = ""
    statement_ids: list[str] = Field(default_factory=list)


class BatchInput(BaseModel):
    topic: str
    statements: list[Statement]
    max_themes: int = 15


class BatchThemes(BaseModel):
    themes: list[DraftTheme]


class MergeInput(BaseModel):
    """`themes` are numbered by their position, from 0."""

    topic: str
    themes: list[DraftTheme]
    max_themes: int = 15


class MergedTheme(BaseModel):
    """`members` are positions in `MergeInput.themes`."""

    label: str
    description: str = ""
    members: list[int] = Field(default_factory=list)


class MergedThemes(BaseModel):
    themes: list[MergedTheme]


class Theme(BaseModel):
    """A theme as it is frozen. `statements` are the ids of the answers that voice it, sorted."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    description: str
    statements: list[str]


class CodedThemes(BaseModel):
    """The themes, the most voiced first, and what coding left over."""

    themes: list[Theme]
    uncoded: list[str]  # ids of statements that no theme holds
    unknown_ids: int = 0  # statement ids and member numbers that do not exist
    dropped_empty: int = 0  # merged themes without a statement or a label
    dropped_duplicates: int = 0  # same label as a more voiced theme
    dropped_over_limit: int = 0  # themes beyond max_themes, the least voiced


class ThemeBrief(BaseModel):
    """What a second coder is told about a theme: not which statements the first one gave it."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    description: str = ""


class AssignInput(BaseModel):
    """Statements to be given to themes that stand already."""

    topic: str
    themes: list[ThemeBrief]
    statements: list[Statement]


class Assignment(BaseModel):
    """The themes that one statement raises, by the numbers of the prompt or by id; none is an answer too."""

    statement: str
    themes: list[str] = Field(default_factory=list)


class Assignments(BaseModel):
    assignments: list[Assignment]


class SecondCoding(BaseModel):
    """Statements of the sample with the ids of their themes, as a second coder gave them; see `themes/second.py`."""

    statements: dict[str, list[str]]
    n_sampled: int
    n_statements: int  # that could have been sampled
    uncoded: list[str]  # sampled, and left out of the reply
    unknown_ids: int = 0  # statements and themes that do not exist


def theme_id(label: str, answers: Iterable[str]) -> str:
    """Eight hex digits over the label and the sorted statement ids: the same theme has the same id in every run."""
    content = "\x1f".join([label.strip().casefold(), *sorted(set(answers))])
    return hashlib.sha256(content.encode()).hexdigest()[:8]
