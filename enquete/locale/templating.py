"""What templates of every kind have in common: strict, told in one language, named `package:file`.

{{ _("{n} of {total} agents", n=found.n, total=found.total) }}    {{ C_("of a person", "asked") }}    {{ NN_("one",
"many", n) }}
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined

from enquete.locale import C_, Words, plural, tell, whole


def source(name: str) -> str:
    """The file `name`, a `package:path`."""
    package, _, path = name.partition(":")
    return files(package).joinpath(path).read_text("utf-8")


def environment(language: str, load: Callable[[str], str] = source, **options: Any) -> Environment:
    """`options`: jinja2's own. A fact that a template names and that is not there is an error."""
    made = Environment(
        loader=FunctionLoader(load), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, extensions=["jinja2.ext.do"], **options,
    )  # fmt: skip
    made.globals |= {
        "_": partial(told, language), "C_": partial(_in_context, language), "NN_": partial(_counted, language),
        "language": language,
    }  # fmt: skip
    made.filters["tell"] = lambda text: tell(text, language)
    return made


def told(language: str, text: Words, /, **facts: object) -> str:
    template = tell(text, language)
    if not facts:
        return template
    return template.format(
        **{name: whole(fact, language) if type(fact) is int else fact for name, fact in facts.items()}
    )


def _in_context(language: str, context: str, text: str, /, **facts: object) -> str:
    return told(language, C_(context, text), **facts)


def _counted(language: str, one: str, many: str, n: int, /) -> str:
    return plural((one, many), n, language)
