"""report.html: page one, report and appendix as one file that can be read on a screen or a telephone, shared and printed.

Nothing is loaded from elsewhere, and nothing runs but its own script, by its hash (Content-Security-Policy): what agents wrote
runs nothing even if it should ever get into the page as more than text.
Figures stand in the page as SVG; the appendix and the answers are folded; tables can be sorted.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files

from cmarkgfm import markdown_to_html_with_extensions

from enquete.reports.embedded import Embedded, slug
from enquete.reports.figures.canvas import Figure
from enquete.reports.figures.marks import Href
from enquete.reports.figures.svg import svg
from enquete.reports.templates import render
from enquete.state.asking import Language

_TAG = re.compile(r"(?<!\\)<")
"""What might begin HTML, of which cmark would leave a remark instead of the text."""
_IMAGE = re.compile(r'<img src="([^"]*)"[^>]*>')
_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_ALONE = re.compile(r"<p>(<figure.*?</figure>)</p>", re.DOTALL)
TALL = 1.1
"""Height by width from which a figure is printed larger, to be read."""


def page(
    report: str,
    appendix: str,
    figures: Sequence[Figure],
    strips: Mapping[str, str],
    embedded: Embedded,
    language: Language,
) -> str:
    """The whole page from the two Markdown texts. HTML within them stays text. strips: page one's figures as SVG, by name."""
    drawn = {f"figures/{one.stem}.svg": one for one in figures}
    writer = Writer(drawn, strips, embedded.href)
    first, *sections = _chapters(writer.html(report))
    rest = _chapters(writer.html(appendix))[1:]
    contents = [(anchor, title) for anchor, title, _ in sections]
    script = _asset("page.js")
    return render(
        "enquete.reports:page.html.j2", language, title=_plain(first[1]), first=first[2], sections=sections, appendix=rest,
        contents=contents, answers=list(embedded.html()), style=_asset("page.css") + _asset("look.css"), script=script,
        script_hash=_sha256(script),
    )  # fmt: skip


class Writer:
    """Markdown to HTML with figures in place of images. href: where references of figures lead; below: what stands beneath one."""

    def __init__(
        self, drawn: Mapping[str, Figure], strips: Mapping[str, str], href: Href, below: Callable[[Figure], str] = lambda one: ""
    ) -> None:  # fmt: skip
        self._drawn, self._href, self._below = drawn, href, below
        self._strips = {f"figures/{name}.svg": svg for name, svg in strips.items()}

    def html(self, markdown: str) -> str:
        text = markdown_to_html_with_extensions(_TAG.sub("&lt;", markdown), extensions=["table"])
        text = _ALONE.sub(r"\1", _IMAGE.sub(self._image, text)).replace("<th>", '<th scope="col">')
        text = text.replace("<th align", '<th scope="col" align').replace(
            ' align="right">', ' style="text-align:right">'
        )
        return _TABLE.sub(r'<div class="table" tabindex="0"><table>\1</table></div>', text)

    def _image(self, found: re.Match[str]) -> str:
        source = html.unescape(found[1])
        if source in self._strips:
            return f'<figure class="strip">{self._strips[source]}</figure>'
        figure = self._drawn.get(source)
        if figure is None:
            return ""
        layout = figure.spec["layout"]
        tall = ' class="tall"' if layout["height"] > TALL * layout["width"] else ""
        drawn = svg(figure.spec, figure.alt, href=self._href)
        return f'<figure id="f-{figure.stem}"{tall}>{drawn}{self._below(figure)}</figure>'


def _chapters(text: str) -> list[tuple[str, str, str]]:
    """(anchor, title as HTML, HTML) of what stands before the first h2, then of every h2."""
    parts = re.split(r"<h2>(.*?)</h2>", text)
    head = re.search(r"<h1>(.*?)</h1>", parts[0])
    chapters = [("top", head[1] if head else "", parts[0])]
    for title, body in zip(parts[1::2], parts[2::2], strict=True):
        anchor = slug(_plain(title).lower())
        chapters.append((anchor, title, body))
    return chapters


def _plain(text: str) -> str:
    return html.unescape(re.sub(r"<[^>]+>", "", text))


def _sha256(script: str) -> str:
    """As a Content-Security-Policy names it."""
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


def _asset(name: str) -> str:
    return files("enquete.reports").joinpath(name).read_text("utf-8")
