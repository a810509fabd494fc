"""The report in parts, one a tab: its own Markdown, with figures in place and with links from findings to answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from enquete.reports.charts import Href, Picture
from enquete.reports.markdown import escape
from enquete.reports.page import HtmlWriter

MARK = "## "
MOST_STOPS = 40
"""Links of a figure that the tab key stops at."""
_SVG = re.compile(r"<svg .*?</svg>", re.DOTALL)


@dataclass(frozen=True)
class Chapter:
    """Of a report: its heading as it is written there, "" for what stands before the first, and its Markdown."""

    heading: str
    body: str


def chapters(markdown: str) -> list[Chapter]:
    """By headings of the second level; what others wrote is escaped in a report, so that no such line is theirs."""
    first, *rest = f"\n{markdown}".split(f"\n{MARK}")
    found = [Chapter("", first.strip())]
    for one in rest:
        heading, _, body = one.partition("\n")
        found.append(Chapter(heading.strip(), body.strip()))
    return found


def named(markdown: str, title: str) -> str:
    """The chapter with this title; "" where there is none."""
    return next((one.body for one in chapters(markdown) if one.heading in (title, escape(title))), "")


def others(markdown: str, titles: Iterable[str]) -> list[Chapter]:
    """Every chapter but those with these titles, without what stands before the first."""
    known = {said for title in titles for said in (title, escape(title))}
    return [one for one in chapters(markdown)[1:] if one.heading not in known]


def untitled(markdown: str) -> str:
    """Without its heading of the first level, which the page has itself."""
    return "\n".join(line for line in markdown.splitlines() if not line.startswith("# "))


def with_links(
    markdown: str, findings: Sequence[Mapping[str, Any]], to: Callable[[Mapping[str, Any]], str], text: str
) -> str:
    """A link to the answers behind every finding that stands in the text; to: its address, "" for none."""
    lines = markdown.splitlines()
    for one in findings:
        said, target = escape(one["text"]), to(one)
        place = next((n for n, line in enumerate(lines) if said in line), None)
        if place is not None and target:
            lines[place] += f" [{text}]({target})"
    return "\n".join(lines)


@dataclass(frozen=True)
class Printer:
    """Markdown of a run's report to HTML. below: what stands beneath a figure."""

    pictures: Sequence[Picture]
    href: Href
    below: Callable[[Picture], str]

    def html(self, markdown: str) -> str:
        return _SVG.sub(_few_stops, HtmlWriter(self.pictures, self.href, self.below).html(markdown))


def _few_stops(found: re.Match[str]) -> str:
    """A figure of hundreds of links is passed by the tab key at once; the table beneath it has them, too."""
    return found[0].replace("<a ", '<a tabindex="-1" ') if found[0].count("<a ") > MOST_STOPS else found[0]
