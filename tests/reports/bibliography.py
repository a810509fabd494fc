"""The bibliography: sources by key, as bibliography.yaml has them, and the keys that a text cites in square
brackets."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from pydantic import BaseModel, ConfigDict, TypeAdapter

from enquete.instruments.pack import read_yaml

CITED = re.compile(r"\[([a-z]\w*)\]")


class Source(BaseModel):
    """read: what of it was read; people: whose answers it is about; says: what is cited."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    short: str
    authors: str
    year: int | None
    title: str
    where: str
    read: str
    people: str
    says: str

    @property
    def full(self) -> str:
        when = self.year or "no year"
        return f"{self.authors} ({when}). {self.title}. {self.where}."


@cache
def bibliography() -> Mapping[str, Source]:
    return TypeAdapter(dict[str, Source]).validate_python(read_yaml(files("enquete.reports") / "bibliography.yaml"))


def cited(text: str) -> list[Source]:
    """Sources whose keys a text has in square brackets, in its order. Raises KeyError for one that is not there."""
    return [bibliography()[key] for key in dict.fromkeys(CITED.findall(text))]


def readable(text: str) -> str:
    """The text with names and years in place of keys."""
    return CITED.sub(lambda match: bibliography()[match[1]].short, text)
