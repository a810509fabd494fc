"""Docstrings that list what a function takes by name, from what a request says of its fields."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from enquete.state.request import RunRequest

F = TypeVar("F", bound=Callable[..., Any])
MORE = {"fresh": "walk through the whole run again; what is answered is not asked again"}
"""What is said of going on alone, and is no field of a request."""


def listing(fields: Iterable[str]) -> Callable[[F], F]:
    """Adds these arguments with their meaning, for `help()`."""

    def told(function: F) -> F:
        if function.__doc__:
            lines = "\n".join(
                f"    {name}: {MORE.get(name) or RunRequest.model_fields[name].description}" for name in fields
            )
            function.__doc__ = (
                f"{inspect.cleandoc(function.__doc__)}\n\nArguments, all by name and none needed:\n{lines}\n"
            )
        return function

    return told


OF_A_RUN = tuple(name for name in RunRequest.model_fields if name != "sim")
