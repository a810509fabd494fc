"""report.html: page one, report and appendix as one file that can be read on a screen or a telephone, shared and
printed.

Nothing is loaded from elsewhere, and nothing runs but its own script, by its hash (Content-Security-Policy): what
agents wrote runs nothing even if it should ever get into the page as more than text. Figures stand in the page as SVG;
the appendix and the answers are folded; tables can be sorted.
"""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any
from urllib.parse import parse_qs
from zlib import crc32

import pandas as pd
from cmarkgfm import markdown_to_html_with_extensions

from enquete.locale import N_, tell
from enquete.reports.charts import Href, Picture
from enquete.reports.context import chosen, responded
from enquete.reports.markdown import number
from enquete.reports.responses import AskedItem
from enquete.reports.views import render
from enquete.state.asking import Language

MOST = 12_000
CHECKS = "health"
"""What a reference begins with that leads to the checks of instrument health."""
TABLE = "exports/all_responses.csv"
CHECKS_TITLE = N_("Checks of instrument health")


class Embedded:
    """Answers by item as HTML, and where a reference to them leads."""

    def __init__(
        self, frame: pd.DataFrame, asked: Sequence[AskedItem], type_names: Mapping[str, str], language: Language
    ) -> None:
        rows = responded(chosen(frame, frame["arm_role"].eq("main")))
        self._rows = rows if len(rows) <= MOST else rows.iloc[:0]
        self._wordings = {(item.methodology, item.item_id): item.text(language) for item in asked}
        self._known = set(zip(self._rows["methodology"], self._rows["item_id"], strict=True))
        self._type_names, self._language = type_names, language
        self._wanted: dict[
            str, tuple[str, list[str]]
        ] = {}  # by anchor: whose answers to a methodology a figure leads to

    def anchor(self, methodology: str, item: str) -> str:
        """#… of the item's answers; "" where they are not embedded."""
        return f"#{_slug(methodology, item)}" if (methodology, item) in self._known else ""

    def href(self, reference: str) -> str | None:
        """Where a figure's reference to answers leads (see `charts.answers`); None for nowhere."""
        methodology, _, query = reference.partition("?")
        if methodology == CHECKS:
            return f"#x-{slug(tell(CHECKS_TITLE, self._language).lower())}"
        asked = parse_qs(query)
        if "participant" in asked and len(self._rows):
            people = asked["participant"][0].split(",")
            anchor = f"a-{slug(methodology)}-of-{crc32(reference.encode()):08x}"
            self._wanted[anchor] = methodology, people
            return f"#{anchor}"
        return self.anchor(methodology, asked.get("item_id", [""])[0]) or ("#answers" if len(self._rows) else TABLE)

    def html(self) -> Iterator[str]:
        """One folded table an item, then those of agents that figures lead to (see `href`)."""
        yield from self._of_items()
        columns = ["methodology", "participant", "agent_name", "item_id", "phase", "round", "value", "chosen", "text"]
        of_agents: dict[tuple[str, str], list[tuple[int, tuple[object, ...]]]] = {}
        for place, (methodology, who, name, item, *rest) in enumerate(_tuples(self._rows[columns])):
            told = (name, self._wordings.get((methodology, item), item), *rest)
            of_agents.setdefault((methodology, who), []).append((place, told))
        for anchor, (methodology, people) in self._wanted.items():
            placed = (row for who in set(people) for row in of_agents.get((methodology, who), ()))
            rows = [row for _, row in sorted(placed)]  # no two have one place, so that rows are not compared
            names = ", ".join(dict.fromkeys(str(name) for name, *_ in rows))
            yield self._folded(anchor, names, self._heads(N_("Question")), rows)

    def _of_items(self) -> Iterator[str]:
        columns = ["agent_name", "stakeholder_type", "phase", "round", "value", "chosen", "text"]
        by_item: dict[tuple[object, object], list[tuple[object, ...]]] = {}
        for methodology, item, *row in _tuples(self._rows[["methodology", "item_id", *columns]]):
            by_item.setdefault((methodology, item), []).append(tuple(row))
        for (methodology, item), rows in by_item.items():
            wording = self._wordings.get((str(methodology), str(item)), str(item))
            told = [(name, self._type_names.get(str(kind), kind), *rest) for name, kind, *rest in rows]
            yield self._folded(_slug(str(methodology), str(item)), wording, self._heads(N_("Group")), told)

    def _heads(self, second: str) -> list[str]:
        texts = (N_("Agent"), second, N_("Phase"), N_("Answer"), N_("In their words"))
        return [tell(text, self._language) for text in texts]

    def _folded(self, anchor: str, title: str, heads: Sequence[str], rows: Sequence[tuple[object, ...]]) -> str:
        head = "".join(f'<th scope="col">{html.escape(text)}</th>' for text in heads)
        body = "".join(map(self._row, rows))
        return (
            f'<details id="{anchor}"><summary>{html.escape(title)} ({len(rows)})</summary>'
            f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>'
        )

    def _row(self, row: tuple[object, ...]) -> str:
        name, second, phase, round_, value, chosen, text = row
        when = f"{phase} · {round_}" if round_ else str(phase)
        given = number(value, self._language, 0) if pd.notna(value) else chosen  # type: ignore[call-overload]
        cells = (name, second, when, given, text)
        return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"


def _tuples(rows: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    return rows.itertuples(index=False, name=None)


def _slug(methodology: str, item: str) -> str:
    return f"a-{slug(f'{methodology}-{item}')}"


def slug(text: str) -> str:
    """As an anchor of the page."""
    return re.sub(r"[^\w]+", "-", text).strip("-")


# --- report.html: page one, report and appendix as one file that can be read on a screen or a telephone, shared and
# printed

_TAG = re.compile(r"(?<!\\)<")
"""What might begin HTML, of which cmark would leave a remark instead of the text."""
_IMAGE = re.compile(r'<img src="([^"]*)"[^>]*>')
_TABLE = re.compile(r"<table>(.*?)</table>", re.DOTALL)
_ALONE = re.compile(r"<p>(<figure.*?</figure>)</p>", re.DOTALL)
TALL = 1.1
"""Height by width from which a figure is printed larger, to be read."""


def page(report: str, appendix: str, pictures: Sequence[Picture], embedded: Embedded, language: Language) -> str:
    """The whole page from the two Markdown texts. HTML within them stays text."""
    writer = HtmlWriter(pictures, embedded.href)
    first, *sections = _chapters(writer.html(report))
    rest = _chapters(writer.html(appendix))[1:]
    contents = [(anchor, title) for anchor, title, _ in sections]
    script = _asset("page.js")
    return render(
        "enquete.reports:page.html.j2", language, title=_plain(first[1]), first=first[2], sections=sections,
        appendix=rest, contents=contents, answers=list(embedded.html()), style=_asset("page.css") + _asset("look.css"),
        script=script, script_hash=_sha256(script),
    )  # fmt: skip


class HtmlWriter:
    """Markdown to HTML with pictures in place of images. href: where references lead; below: what stands beneath."""

    def __init__(
        self, pictures: Sequence[Picture], href: Href, below: Callable[[Picture], str] = lambda picture: ""
    ) -> None:
        self._drawn = {f"figures/{picture.stem}.svg": picture for picture in pictures}
        self._href, self._below = href, below

    def html(self, markdown: str) -> str:
        text = markdown_to_html_with_extensions(_TAG.sub("&lt;", markdown), extensions=["table"])
        text = _ALONE.sub(r"\1", _IMAGE.sub(self._image, text)).replace("<th>", '<th scope="col">')
        text = text.replace("<th align", '<th scope="col" align').replace(
            ' align="right">', ' style="text-align:right">'
        )
        return _TABLE.sub(r'<div class="table" tabindex="0"><table>\1</table></div>', text)

    def _image(self, match: re.Match[str]) -> str:
        picture = self._drawn.get(html.unescape(match[1]))
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
