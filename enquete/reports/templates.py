"""Templates of what people read: Markdown with English texts in `_("…")`, told in the language of the run.

A template is named `package:file`, so that a methodology's stands in its own folder, of this package or another:

    render("enquete.graphs.delphi:section.md.j2", "de", found=found)

    {{ _("{n} of {total} agents", n=found.n, total=found.total) }}    {{ value | num(1) }}   {{ 0.25 | share }}
    {{ p | p }}   {{ agent.name | md }}   {{ of(3, 4) }}   {{ "importance" | dimension }}
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context

from enquete.locale import C_, Words, plural, tell
from enquete.reports.context import type_name
from enquete.reports.markdown import MISSING, escape, excerpt, number, of, p_value, quote, share
from enquete.reports.report_words import dimension_name
from enquete.state.asking import Language

_GAP = re.compile(r"\n{3,}")


def render(name: str, language: Language, /, **facts: Any) -> str:
    """The template filled in. Raises jinja2's errors: a fact that is not there is a bug."""
    return _GAP.sub("\n\n", _environment(language).get_template(name).render(facts))


@cache
def _environment(language: Language) -> Environment:
    made = Environment(
        loader=FunctionLoader(_source), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True, extensions=["jinja2.ext.do"],
    )  # fmt: skip
    made.globals |= {
        "_": partial(_told, language), "C_": partial(_in_context, language), "NN_": partial(_counted, language),
        "of": of, "language": language, "missing": MISSING, "quote": partial(_quoted, language),
    }  # fmt: skip
    made.filters |= {
        "md": escape,
        "tell": lambda text: tell(text, language),
        "num": partial(_number, language),
        "share": lambda value, digits=0: share(value, language, digits),
        "p": lambda value: p_value(value, language),
        "kind": _type_name,
        "excerpt": excerpt,
        "dimension": lambda name: dimension_name(name, language),
    }
    return made


def _source(name: str) -> str:
    package, _, file = name.partition(":")
    return files(package).joinpath(file).read_text("utf-8")


@pass_context
def _type_name(facts: Mapping[str, Any], kind: object) -> str:
    """Of a stakeholder type, as the methodology's findings call it."""
    return type_name(facts.get("found") or {}, kind)


def _number(language: Language, value: object, digits: int = 2) -> str:
    return number(value, language, digits)


def _quoted(language: Language, text: object, who: str) -> str:
    return quote(text, who, language)


def _told(language: Language, text: Words, /, **facts: object) -> str:
    found = tell(text, language)
    return found.format(**facts) if facts else found


def _in_context(language: Language, context: str, text: str, /, **facts: object) -> str:
    return _told(language, C_(context, text), **facts)


def _counted(language: Language, one: str, many: str, n: int, /) -> str:
    return plural((one, many), n, language)
