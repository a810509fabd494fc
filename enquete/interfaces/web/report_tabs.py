"""The report as tabs (page one, a methodology, the synthesis, instrument health), its findings linked to answers."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from enquete.interfaces.web.answers import CHECKS, OpenRun, Where
from enquete.locale import N_, NN_, plural, tell
from enquete.reports.charts import Mark, Picture
from enquete.reports.markdown import escape
from enquete.reports.page import CHECKS_TITLE, HtmlWriter
from enquete.state.visible_text import visible

HEALTH, SHAPES = N_("Instrument health"), N_("Distribution shapes")
MOST_SPOKEN = 300
"""Marks of a figure that stand in the table beneath it."""
REPORT = ("report.md", "appendix.md", "page_one.md", "page_one.json", "results.json", "health.json")
_ANSWERS, _CHECKS, _AGENTS = N_("answers"), N_("checks"), N_("agents")
_AS_TABLE = N_("Figure as a table")
_MARK = N_("What it shows")
_MORE = NN_("{n} more mark", "{n} more marks")


@dataclass(frozen=True)
class Tab:
    """html: what stands on the tab; folded: title and HTML of what is unfolded by whoever wants it."""

    title: str
    html: Markup
    folded: Sequence[tuple[str, Markup]] = ()


@dataclass(frozen=True)
class Tabs:
    """language: of the page around the report, which has its own."""

    run: OpenRun
    language: str

    def page_one(self) -> Tab:
        return Tab(self._page.get("title", ""), self._kept("", lambda: self._linked(self._first())))

    def methodology(self, name: str) -> Tab:
        title = self.run.reported[name]
        body = self._kept(f"m/{name}", lambda: self._linked(named(self.run.text("report.md"), title)))
        more = self._kept(f"m/{name}/more", lambda: self._linked(named(self.run.text("appendix.md"), title)))
        return Tab(title, body, [(tell(N_("All tables and further findings"), self.language), more)])

    def synthesis(self) -> Tab:
        """What joins methodologies and what is nobody's own."""
        titles = [*self.run.reported.values(), self._told(HEALTH), *self._page_one_headings()]
        rest = others(self.run.text("report.md"), titles)
        text = "\n\n".join(f"### {chapter.heading}\n\n{chapter.body}" for chapter in rest)
        titles = [*self.run.reported.values(), *map(self._told, (CHECKS_TITLE, SHAPES))]
        folded = [self._folded(chapter) for chapter in others(self.run.text("appendix.md"), titles)]
        return Tab(tell(N_("Synthesis"), self.language), self._kept("synthesis", lambda: self._linked(text)), folded)

    def health(self) -> Tab:
        report, appendix = self.run.text("report.md"), self.run.text("appendix.md")
        body = self._kept("health", lambda: self._linked(named(report, self._told(HEALTH))))
        folded = [Chapter(title, named(appendix, title)) for title in map(self._told, (CHECKS_TITLE, SHAPES))]
        return Tab(tell(HEALTH, self.language), body, [self._folded(chapter) for chapter in folded if chapter.body])

    def drawn(self, picture: Picture) -> Markup:
        """A figure that stands in no Markdown, a conversation's graph, say."""
        return Markup(self._html(f"![](figures/{picture.stem}.svg)", [picture]))

    # --- how a text becomes a tab ----------------------------------------------------------------------------------

    @property
    def _page(self) -> Mapping[str, Any]:
        return self.run.json("page_one.json")

    def _told(self, title: str) -> str:
        return tell(title, self.run.language)

    def _first(self) -> str:
        """Page one as it stands in the report, with its small figures."""
        first, *rest = chapters(self.run.text("report.md"))[: len(self._page_one_headings())]
        return "\n\n".join([untitled(first.body), *(f"## {chapter.heading}\n\n{chapter.body}" for chapter in rest)])

    def _page_one_headings(self) -> list[str]:
        return [chapter.heading for chapter in chapters(self.run.text("page_one.md"))]

    def _kept(self, name: str, make: Any) -> Markup:
        files = [self.run.file(file) for file in REPORT]
        key = self.run.run.folder, name, self.language
        return Markup(self.run.cache.pages.get(key, files, make))

    def _folded(self, chapter: Chapter) -> tuple[str, Markup]:
        heading = self._kept(f"heading/{chapter.heading}", lambda: self._linked(chapter.heading))
        plain = heading.strip().removeprefix("<p>").removesuffix("</p>")
        return Markup(plain), self._kept(f"more/{chapter.heading}", lambda: self._linked(chapter.body))

    def _linked(self, markdown: str) -> str:
        findings = [finding for each in self._page.get("methodologies", []) for finding in each["findings"]]
        text = with_links(markdown, findings, self._behind, tell(_ANSWERS, self.language))
        across = self._page.get("across", [])
        text = with_links(text, across, lambda finding: self.run.at("agents"), tell(_AGENTS, self.language))
        return self._html(text, self.run.drawings.all) if text.strip() else ""

    def _behind(self, finding: Mapping[str, Any]) -> str:
        if not finding.get("methodology"):
            return ""
        items = {"item_id": tuple(finding["items"])} if finding.get("items") else {}
        return self.run.answers(Where({"methodology": (finding["methodology"],), **items}))

    def _html(self, markdown: str, pictures: Sequence[Picture]) -> str:
        return _SVG.sub(_few_stops, HtmlWriter(pictures, self.run.href, self._below).html(markdown))

    def _below(self, picture: Picture) -> str:
        """The figure as a table, and as files."""
        marks = list(picture.marks())
        rows = "".join(self._row(mark) for mark in marks[:MOST_SPOKEN])
        if len(marks) > MOST_SPOKEN:
            rows += f'<tr><td colspan="2">{plural(_MORE, len(marks) - MOST_SPOKEN, self.language)}</td></tr>'
        heads = "".join(f'<th scope="col">{tell(head, self.language)}</th>' for head in (_MARK, _ANSWERS))
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        folded = f"<details><summary>{tell(_AS_TABLE, self.language)}</summary>{table}</details>" if marks else ""
        kinds = ("svg", "png") if picture in self.run.drawings.all else ()
        at = {kind: self.run.at("figures", f"{picture.stem}.{kind}") for kind in kinds}
        files = " ".join(f'<a download href="{address}">{kind.upper()}</a>' for kind, address in at.items())
        return f'<figcaption class="beneath">{folded}<span class="files">{files}</span></figcaption>'

    def _row(self, mark: Mark) -> str:
        to = self.run.href(mark.link) if mark.link else None
        word = tell(_CHECKS if mark.link.startswith(f"{CHECKS}?") else _ANSWERS, self.language)
        link = f'<a href="{html.escape(to)}">{word}</a>' if to else ""
        return f"<tr><td>{html.escape(visible(mark.told))}</td><td>{link}</td></tr>"


# --- The report in parts, one a tab: its own Markdown, with figures in place and with links from findings to answers


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
    parts = [Chapter("", first.strip())]
    for part in rest:
        heading, _, body = part.partition("\n")
        parts.append(Chapter(heading.strip(), body.strip()))
    return parts


def named(markdown: str, title: str) -> str:
    """The chapter with this title; "" where there is none."""
    return next((chapter.body for chapter in chapters(markdown) if chapter.heading in (title, escape(title))), "")


def others(markdown: str, titles: Iterable[str]) -> list[Chapter]:
    """Every chapter but those with these titles, without what stands before the first."""
    known = {form for title in titles for form in (title, escape(title))}
    return [chapter for chapter in chapters(markdown)[1:] if chapter.heading not in known]


def untitled(markdown: str) -> str:
    """Without its heading of the first level, which the page has itself."""
    return "\n".join(line for line in markdown.splitlines() if not line.startswith("# "))


def with_links(
    markdown: str, findings: Sequence[Mapping[str, Any]], to: Callable[[Mapping[str, Any]], str], text: str
) -> str:
    """A link to the answers behind every finding that stands in the text; to: its address, "" for none."""
    lines = markdown.splitlines()
    for finding in findings:
        sentence, target = escape(finding["text"]), to(finding)
        place = next((n for n, line in enumerate(lines) if sentence in line), None)
        if place is not None and target:
            lines[place] += f" [{text}]({target})"
    return "\n".join(lines)


def _few_stops(figure: re.Match[str]) -> str:
    """A figure of hundreds of links is passed by the tab key at once; the table beneath it has them, too."""
    return figure[0].replace("<a ", '<a tabindex="-1" ') if figure[0].count("<a ") > MOST_STOPS else figure[0]
