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
from collections.abc import Callable, Sequence
from importlib.resources import files

from cmarkgfm import markdown_to_html_with_extensions

from enquete.reports.charts import Href, Picture
from enquete.reports.embedded import Embedded, slug
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
    pictures: Sequence[Picture],
    embedded: Embedded,
    language: Language,
) -> str:
    """The whole page from the two Markdown texts. HTML within them stays text."""
    writer = Writer(pictures, embedded.href)
    first, *sections = _chapters(writer.html(report))
    rest = _chapters(writer.html(appendix))[1:]
    contents = [(anchor, title) for anchor, title, _ in sections]
    script = _asset("page.js")
    return render(
        "enquete.reports:page.html.j2", language, title=_plain(first[1]), first=first[2], sections=sections,
        appendix=rest, contents=contents, answers=list(embedded.html()), style=_asset("page.css") + _asset("look.css"),
        script=script, script_hash=_sha256(script),
    )  # fmt: skip


class Writer:
    """Markdown to HTML with pictures in place of images. href: where their references lead; below: what stands beneath one."""

    def __init__(
        self, pictures: Sequence[Picture], href: Href, below: Callable[[Picture], str] = lambda one: ""
    ) -> None:
        self._drawn, self._href, self._below = {f"figures/{one.stem}.svg": one for one in pictures}, href, below

    def html(self, markdown: str) -> str:
        text = markdown_to_html_with_extensions(_TAG.sub("&lt;", markdown), extensions=["table"])
        text = _ALONE.sub(r"\1", _IMAGE.sub(self._image, text)).replace("<th>", '<th scope="col">')
        text = text.replace("<th align", '<th scope="col" align').replace(
            ' align="right">', ' style="text-align:right">'
        )
        return _TABLE.sub(r'<div class="table" tabindex="0"><table>\1</table></div>', text)

    def _image(self, found: re.Match[str]) -> str:
        picture = self._drawn.get(html.unescape(found[1]))
        if picture is None:
            return ""
        drawn, (across, down) = picture.svg(self._href), picture.size
        if picture.at == "page_one":
            return f'<figure class="strip">{drawn}</figure>'
        tall = ' class="tall"' if down > TALL * across else ""
        return f'<figure id="f-{picture.stem}"{tall}>{drawn}{self._below(picture)}</figure>'


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
