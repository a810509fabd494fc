"""Whose model speaks in a seat: the run's, or one that the seat names, with those that stand by where it cannot be
had."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from enquete.models.prices import server_of
from enquete.state.asking import ServedModel

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
MOST_ALTERNATES = 5


def _unsaid(value: Any) -> bool:
    return not value and value != 0


class SeatModel(BaseModel):
    """A model of one server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[str, Field(max_length=200, description="as its server calls it", exclude_if=_unsaid)] = ""
    base_url: Annotated[
        str,
        Field(
            max_length=500,
            description="its server, OpenAI-compatible, up to /v1; the run's own unless named",
            exclude_if=_unsaid,
        ),
    ] = ""
    key_variable: Annotated[
        str,
        Field(
            max_length=500,
            description="NAME of the environment variable with that server's key, never the key itself",
            exclude_if=_unsaid,
        ),
    ] = ""
    temperature: Annotated[
        float | None,
        Field(ge=0, le=2, allow_inf_nan=False, description="0 to 2; the run's unless named", exclude_if=_unsaid),
    ] = None

    @model_validator(mode="after")
    def _require_whole(self) -> Self:
        whose = getattr(self, "name", "") or self.model or "an alternate"
        if self.key_variable and not VARIABLE.fullmatch(
            self.key_variable
        ):  # perhaps the key itself: it is not repeated
            raise ValueError(
                f"key_variable of {whose}: write the NAME of an environment variable, such as MY_API_KEY, not a key"
            )
        if self.base_url and ("://" not in self.base_url or server_of(self.base_url) is None):
            shown = self.base_url.rpartition("@")[2]
            raise ValueError(
                f"base_url of {whose}: {shown!r} is no base URL; write one such as https://host/v1, without user or key"
            )
        for name in ("base_url", "key_variable"):
            if getattr(self, name) and not self.model:
                raise ValueError(f"{name} of {whose}: named without a model; name the model too, or leave it out")
        return self

    @property
    def served(self) -> ServedModel:
        return ServedModel(
            model=self.model,
            base_url=self.base_url.rstrip("/"),
            key_variable=self.key_variable,
            temperature=self.temperature,
        )


class SeatModels(SeatModel):
    """With those that are asked in its place where it cannot be had, in this order."""

    alternates: Annotated[
        tuple[SeatModel, ...],
        Field(
            max_length=MOST_ALTERNATES,
            description="models that take the seat, in this order, where the one before is down",
            exclude_if=_unsaid,
        ),
    ] = ()

    @model_validator(mode="after")
    def _require_others(self) -> Self:
        whose = getattr(self, "name", "") or self.model
        if self.alternates and not self.model:
            raise ValueError(f"alternates of {whose}: named without a model; name the one that they stand by for")
        if any(not one.model for one in self.alternates):
            raise ValueError(f"alternates of {whose}: each names its model")
        everyone: tuple[SeatModel, ...] = (self, *self.alternates)
        places = Counter((one.model, one.base_url.rstrip("/")) for one in everyone)
        if twice := [model for (model, _), n in places.items() if n > 1]:
            raise ValueError(
                f"alternates of {whose}: {twice[0]!r} at the same server stands there twice; name each other model once"
            )
        return self

    @property
    def in_order(self) -> tuple[ServedModel, ...]:
        """() where the run's own model answers, as it is."""
        if not (self.model or self.temperature is not None):
            return ()
        others = (one.served for one in self.alternates)
        as_mild = {"temperature": self.temperature}  # a seat's temperature is that of whoever takes it
        return (self.served, *(one.model_copy(update=as_mild) if one.temperature is None else one for one in others))


class Seat(SeatModels):
    """Of a participant, by name or id."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


def require_own_seats(seats: Sequence[Seat], persons: frozenset[str]) -> None:
    """Raises ValueError where a seat stands there twice, says nothing, or is a person's."""
    names = Counter(seat.name for seat in seats)
    if twice := [name for name, n in names.items() if n > 1]:
        raise ValueError(f"seats: {twice[0]!r} stands there twice; a participant has one seat")
    if empty := [seat.name for seat in seats if not seat.in_order]:
        raise ValueError(f"seats: {empty[0]!r} names no model and no temperature; say which, or leave the seat out")
    if human := [seat.name for seat in seats if seat.name in persons]:
        raise ValueError(f"seats: {human[0]!r} is a person's seat (people) and has no model; leave one of them out")
