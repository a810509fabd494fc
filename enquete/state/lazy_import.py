"""What is named by a dotted path and imported when it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


def loaded(dotted: str) -> Any:
    """What stands at `package.module:NAME`."""
    module, _, name = dotted.partition(":")
    return getattr(import_module(module), name)


class Imported(Generic[T]):
    """A field of a dataclass that is given a value or its dotted path, which is imported when the field is first read.

    `default`: what a field is that was not given; one without must be.
    """

    def __init__(self, *default: T):
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Any: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> Any:
        if instance is None:  # as @dataclass looks for the default
            if not self._default:
                raise AttributeError(self._name)
            return self._default[0]
        given = instance.__dict__[self._name]
        if isinstance(given, str):
            given = instance.__dict__[self._name] = loaded(given)
        return given

    def __set__(self, instance: object, value: T | str) -> None:
        instance.__dict__[self._name] = value
