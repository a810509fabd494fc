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
from typing import Any

from jinja2 import Environment, pass_context

from enquete.locale.templating import environment
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
    made = environment(language, optimized=False)  # folding constants takes longer than filling a template in once
    made.globals |= {"of": of, "missing": MISSING, "quote": partial(_quoted, language)}
    made.filters |= {
        "md": escape,
        "num": partial(_number, language),
        "share": lambda value, digits=0: share(value, language, digits),
        "p": lambda value: p_value(value, language),
        "kind": _type_name,
        "excerpt": excerpt,
        "dimension": lambda name: dimension_name(name, language),
    }
    return made


@pass_context
def _type_name(facts: Mapping[str, Any], kind: object) -> str:
    """Of a stakeholder type, as the methodology's findings call it."""
    return type_name(facts.get("found") or {}, kind)


def _number(language: Language, value: object, digits: int = 2) -> str:
    return number(value, language, digits)


def _quoted(language: Language, text: object, who: str) -> str:
    return quote(text, who, language)
