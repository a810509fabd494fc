"""What each page of a run is filled with: from the run and what the address asks for to the facts of its template.

The report as tabs (page one, a methodology, the synthesis, instrument health), its findings linked to answers.
"""

from __future__ import annotations

import csv
import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup
from starlette.requests import Request

from enquete.interfaces.views import WORKBOOK, NothingYet
from enquete.interfaces.web.answers import (
    ANY,
    CHECKS,
    COLUMNS,
    FEW,
    GIVEN,
    ItemWording,
    Key,
    OpenRun,
    Where,
    marked,
    phrases,
    requests_behind,
)
from enquete.ledger import queries
from enquete.ledger.folders import reading
from enquete.locale import N_, NN_, decimals, in_language, plural, tell
from enquete.reports.accounts import STATUSES
from enquete.reports.charts import Mark, Picture
from enquete.reports.evaluation import Transcript, evaluation
from enquete.reports.gaps import GapLog
from enquete.reports.health import CHECKS_TITLE
from enquete.reports.markdown import escape
from enquete.reports.report import HtmlWriter
from enquete.reports.writing import csv_rows
from enquete.runs.planning import load_methodology
from enquete.state.asking import RESPONDED
from enquete.state.errors import InputError, RunNotFound
from enquete.state.untrusted_input import visible
from enquete.study.runs import RunComparison, compare_tables

# --- The report as tabs ----------------------------------------------------------------------------------------------

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


# --- Answers as a page lists them: chosen, searched, page by page, each with its question, its agent and its request

PER_PAGE = 50
MOST_ITEMS = 400
"""Items that a list to choose from holds."""
STATUS_WORDS: Mapping[str, str] = {GIVEN: N_("given"), ANY: N_("any"), **STATUSES}


@dataclass(frozen=True)
class ShownAnswer:
    """One answer. given: what was answered, without its words; pieces: its words, those looked for marked."""

    row: Mapping[str, Any]
    wording: ItemWording
    kind: str
    given: str
    pieces: list[tuple[str, bool]]
    link: str
    agent: str

    @property
    def is_given(self) -> bool:
        return self.row["status"] in RESPONDED


@dataclass(frozen=True)
class FilterOption:
    value: str
    text: str
    chosen: bool


@dataclass(frozen=True)
class AnswerListing:
    """page: from 1."""

    where: Where
    total: int
    page: int
    answers: list[ShownAnswer]

    @property
    def pages(self) -> int:
        return pages_of(self.total)


def pages_of(total: int, per_page: int = PER_PAGE) -> int:
    return max(1, -(-total // per_page))


def listing(run: OpenRun, where: Where, page: int, language: str) -> AnswerListing:
    places = run.table.places(where)
    page = min(max(page, 1), pages_of(len(places)))
    rows = run.table.rows(places[(page - 1) * PER_PAGE : page * PER_PAGE])
    return AnswerListing(where, len(places), page, list(shown(run, rows, where.words, language)))


def shown(run: OpenRun, rows: Iterable[Mapping[str, Any]], words: str, language: str) -> Iterable[ShownAnswer]:
    wanted = phrases(words)
    for row in rows:
        wording = run.wording(row["methodology"], row["item_id"])
        yield ShownAnswer(
            row, wording, run.type_name(row["stakeholder_type"]), given(row, wording, language),
            marked(row["text"], wanted), run.answer(row), run.agent(row["participant"]),
        )  # fmt: skip


def given(row: Mapping[str, Any], wording: ItemWording, language: str) -> str:
    """A closed answer in words: its number with its label, or what was chosen; "" for one in words alone."""
    if row["value"] is None:
        return str(row["chosen"] or "")
    number = decimals(f"{row['value']:g}", language)
    label = row["chosen"] or wording.labels.get(f"{row['value']:g}", "")
    return f"{number} · {label}" if label and label != number else number


def choices(run: OpenRun, where: Where) -> dict[str, list[FilterOption]]:
    """What can be chosen by, each with what is chosen."""
    methodology = where.only("methodology")
    items = [wording for wording in run.wordings.values() if not methodology or wording.methodology == methodology]
    texts = {
        "methodology": list(run.titles.items()),
        "stakeholder_type": sorted(((kind, run.type_name(kind)) for kind in run.table.kinds("stakeholder_type")),
            key=lambda pair: pair[1]),
        "item_id": list({wording.item_id: wording.text for wording in items[:MOST_ITEMS]}.items()),
        "phase": [(phase, phase) for phase in run.table.kinds("phase")],
        "arm": [(arm, arm) for arm in run.table.kinds("arm")],
    }  # fmt: skip
    return {
        name: [
            FilterOption(value, text, where.arm == value if name == "arm" else where.only(name) == value)
            for value, text in entries
            if value
        ]
        for name, entries in texts.items()
    }


def further(run: OpenRun, where: Where) -> list[tuple[str, str]]:
    """What else an address chooses by, which no list has: name and value, to be said and taken away."""
    told = []
    for name, values in where.all_chosen.items():
        single = where.only(name)
        if name == "participant":
            told.append((name, _names(run, values)))
        elif name in ("round", "turn", "value", "chosen", "session") or (name == "item_id" and not single):
            told.append((name, ", ".join(values[:3]) + (f" … ({len(values)})" if len(values) > 3 else "")))
    return told


def _names(run: OpenRun, people: tuple[str, ...]) -> str:
    names = [run.names.get(who, who) for who in people[:5]]
    return ", ".join(names) + (f" … ({len(people)})" if len(people) > 5 else "")


# --- Two runs of one population beside one another: what was asked in both, where their answers differ, item by item

ITEM = ["methodology", "phase", "round", "item_id"]


@dataclass(frozen=True)
class Differences:
    """`items`: those that both runs asked and that have a scale, the largest difference first: `n_first`, `mean_first`
    and the second's, of the main arm; `changed`: answers that differ, of those that both have."""

    comparison: RunComparison
    items: list[dict[str, Any]]

    def rows(self, start: int, most: int) -> list[dict[str, Any]]:
        """Answers that differ, in the table's order."""
        shown = self.comparison.values.iloc[start : start + most]
        return [
            {str(name): None if pd.isna(value) else value for name, value in row.items()}
            for row in shown.to_dict("records")
        ]


def differences(first: OpenRun, second: OpenRun) -> Differences:
    """Raises NothingYet where one of the runs has no table yet."""
    frames = [run.table.frame.astype(dict.fromkeys(FEW, "object")) for run in (first, second)]
    comparison = compare_tables(*frames)
    means = []
    for frame in frames:
        main = frame[frame["arm_role"].eq("main") & frame["status"].isin(RESPONDED)]
        means.append(main.groupby(ITEM, observed=True).agg(n=("status", "size"), mean=("value", "mean")))
    both = means[0].add_suffix("_first").join(means[1].add_suffix("_second"), how="inner")
    both["difference"] = both["mean_second"] - both["mean_first"]
    both["changed"] = comparison.values.groupby(ITEM, observed=True).size().reindex(both.index, fill_value=0)
    both["size"] = both["difference"].abs()
    rated = both.dropna(subset="difference").sort_values(["size", "changed"], ascending=False, kind="stable")
    rows = rated.reset_index().to_dict("records")
    return Differences(comparison, [{str(name): value for name, value in row.items()} for row in rows])


# --- The agents of a run: who they are, what they remembered, and everything they said -------------------------------

KNOWN = ("participant", "agent_id", "name", "stakeholder_type")
"""Columns of agents.csv that say who an agent is."""


@dataclass(frozen=True)
class Person:
    id: str
    name: str
    kind: str
    persona: str = ""


class NoSuchAgent(RunNotFound):
    """The run has no agent of this id."""


def people(folder: Path) -> list[Person]:
    """All agents of a run, in the population's order. Raises LedgerError."""
    with reading(folder) as ledger:
        rows = ledger.execute(queries.PEOPLE).fetchall()
    return [Person(*row) for row in rows]


def person(folder: Path, participant: str) -> tuple[Person, list[tuple[str, str]]]:
    """Who an agent is, and its memory digests by phase. Raises NoSuchAgent, LedgerError."""
    with reading(folder) as ledger:
        row = ledger.execute(queries.PERSON, (participant,)).fetchone()
        digests = ledger.execute(queries.DIGESTS_OF, (participant,)).fetchall()
    if row is None:
        raise NoSuchAgent(f"run {folder.name} has no agent {participant[:100]!r}")
    return Person(*row), [(phase, text) for phase, text in digests if text]


def found_of(run: OpenRun, participant: str) -> list[tuple[str, str]]:
    """What agents.csv says of one agent, column and value: findings, and the columns of a personas file."""
    path = run.file("exports", "agents.csv")
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row.get("participant") == participant:
                return [(name, value) for name, value in row.items() if value and name not in KNOWN]
    return []


def transcripts_of(
    run: OpenRun, name: str, participant: str, language: str, log: GapLog
) -> Iterator[tuple[str, Transcript]]:
    """(phase, conversation) of everything that the agent took part in, in the methodology of this name.

    log: keeps an error of the methodology's code, which costs its conversations of that phase alone.
    """
    for phase, folder in run.stage_folders(name):
        told: list[Transcript] = []
        with log.catch(name, "transcripts"):
            tell_transcripts = evaluation(load_methodology(run.run.record.methods[name])).transcripts
            told += tell_transcripts(folder, participant, language)
        yield from ((phase, transcript) for transcript in told)


# --- The instruments of a run with their items, and how each item did: answers, mean, how they spread ----------------


@dataclass(frozen=True)
class ItemRow:
    """n: answers of the main arm, of n_total planned, over all phases and rounds. shapes: one a phase and round."""

    wording: ItemWording
    n: int
    n_total: int
    shapes: list[Mapping[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class InstrumentView:
    methodology: str
    title: str
    facts: Mapping[str, Any]
    verdict: str
    items: list[ItemRow]


def used_instruments(run: OpenRun) -> list[InstrumentView]:
    book, health = run.json("exports", "codebook.json"), run.json("health.json")
    shapes: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for shape in health.get("shapes", []):
        shapes.setdefault((shape["methodology"], shape["item"]), []).append(shape)
    verdicts = health.get("verdicts", {})
    facts = {entry["methodology"]: entry for entry in book.get("instruments", [])}
    counts = _counts(run)
    return [
        InstrumentView(
            name, title, facts.get(name, {}), verdicts.get(name, {}).get("verdict", ""),
            [
                ItemRow(wording, *counts.get(key, (0, 0)), shapes.get(key, []))
                for key, wording in run.wordings.items() if key[0] == name
            ],
        )
        for name, title in run.titles.items()
    ]  # fmt: skip


def _counts(run: OpenRun) -> dict[tuple[str, str], tuple[int, int]]:
    """Answers and planned rows of every item, main arm."""
    main = run.table.frame.iloc[run.table.places(Where(status=ANY))]
    given = main["status"].isin(RESPONDED)
    grouped = given.groupby([main["methodology"], main["item_id"]], observed=True).agg(["sum", "size"])
    return {
        (str(name), str(item)): (int(n), int(total))
        for (name, item), n, total in zip(grouped.index, grouped["sum"], grouped["size"], strict=True)
    }


Facts = Mapping[str, Any]
PEOPLE_PER_PAGE = 100
DIFFERENT_PER_PAGE = 50
MOST_OF_AGENT = 1_000
"""Answers of one agent on its page; the rest are found by searching."""


@dataclass(frozen=True)
class TabLink:
    """data: whether it leads to the run's data rather than to its report."""

    id: str
    title: str
    address: str
    data: bool = False


def tabs(run: OpenRun) -> list[TabLink]:
    language = run.reader
    report = [
        TabLink("", tell(N_("Page one"), language), run.at("")),
        *(TabLink(f"m/{name}", title, run.at("m", name)) for name, title in run.titles.items()),
        TabLink("synthesis", tell(N_("Synthesis"), language), run.at("synthesis")),
    ]
    data = {
        "answers": N_("Answers"), "agents": N_("Agents"), "instruments": N_("Instruments"),
        "health": N_("Instrument health"), "compare": N_("Compare"), "files": N_("Downloads"),
    }  # fmt: skip
    return [*report, *(TabLink(name, tell(title, language), run.at(name), True) for name, title in data.items())]


# --- the report ------------------------------------------------------------------------------------------------------


def page_one(run: OpenRun, request: Request, language: str) -> Facts:
    return {"current": "", "tab": Tabs(run, language).page_one() if run.has_report else None}


def methodology(run: OpenRun, request: Request, language: str) -> Facts:
    name = request.path_params["methodology"]
    if name not in run.titles:
        raise NothingYet(f"run {run.run.run_id} has no methodology {name[:100]!r}; it has {', '.join(run.titles)}")
    where = Where({"methodology": (name,)})
    return {
        "current": f"m/{name}", "tab": Tabs(run, language).methodology(name), "answers": run.answers(where),
        "csv": f"{run.at('answers.csv')}?{where.query(status=ANY)}", "section": run.at("sections", f"{name}.md"),
    }  # fmt: skip


def synthesis(run: OpenRun, request: Request, language: str) -> Facts:
    return {"current": "synthesis", "tab": Tabs(run, language).synthesis(), "answers": "", "csv": "", "section": ""}


def health(run: OpenRun, request: Request, language: str) -> Facts:
    return {"current": "health", "tab": Tabs(run, language).health(), "answers": "", "csv": "", "section": ""}


# --- answers ---------------------------------------------------------------------------------------------------------


def answers(run: OpenRun, request: Request, language: str) -> Facts:
    marks = run.drawings.marks if "mark" in request.query_params else {}
    where = Where.of(request.query_params.multi_items(), marks)
    return {
        "current": "answers", "listing": listing(run, where, page_of(request), language),
        "choices": choices(run, where), "further": further(run, where), "where": where, "here": run.at("answers"),
        "statuses": STATUS_WORDS, "csv": f"{run.at('answers.csv')}?{where.query()}",
    }  # fmt: skip


def answer(run: OpenRun, request: Request, language: str) -> Facts:
    try:
        key = Key.parse(request.query_params.get("id", ""))
    except ValueError:
        parts = "run/arm/methodology/phase/session/round/turn/participant/item"
        raise InputError(f"this is no id of an answer: {parts}") from None
    place = run.table.place_of(key)
    if place is None:
        raise NothingYet(f"run {run.run.run_id} has no answer {str(key)[:300]!r}")
    (entry,) = shown(run, run.table.rows([place]), "", language)
    sent = requests_behind(run.folder_of(key.run), key)
    question = _question(run, key, entry.wording, language)
    alike = Where({"methodology": (key.methodology,), "item_id": (key.item,)})
    return {
        "current": "answers", "answer": entry, "question": question, "key": key, "asked": sent,
        "statuses": STATUS_WORDS, "marked": lambda text: marked(text, [key.item]), "same_item": run.answers(alike),
    }  # fmt: skip


def _question(run: OpenRun, key: Key, wording: ItemWording, language: str) -> str:
    """As it was asked of this agent."""
    if not wording.is_turn:
        return wording.text
    transcripts = transcripts_of(run, key.methodology, key.participant, language, GapLog(run.run.folder))
    lines = (line for _, transcript in transcripts for line in transcript.lines)
    return next((line.text for line in lines if line.turn == key.turn and not line.participant), wording.text)


# --- agents ----------------------------------------------------------------------------------------------------------


def agents(run: OpenRun, request: Request, language: str) -> Facts:
    words, kind = (request.query_params.get(name, "").strip() for name in ("q", "stakeholder_type"))
    everybody = people(run.run.folder)
    chosen = [who for who in everybody if _is_meant(who, words.casefold(), kind)]
    counts = run.table.counts("participant", Where()) if run.has_report else {}
    pages = pages_of(len(chosen), PEOPLE_PER_PAGE)
    page = min(page_of(request), pages)
    return {
        "current": "agents", "agents": chosen[(page - 1) * PEOPLE_PER_PAGE : page * PEOPLE_PER_PAGE],
        "total": len(chosen), "counts": counts, "page": page, "pages": pages, "words": words, "kind": kind,
        "kinds": sorted({(who.kind, run.type_name(who.kind)) for who in everybody}, key=lambda pair: pair[1]),
        "here": run.at("agents"),
    }  # fmt: skip


def _is_meant(who: Person, words: str, kind: str) -> bool:
    return (not words or words in who.name.casefold() or words in who.id.casefold()) and (not kind or who.kind == kind)


def agent(run: OpenRun, request: Request, language: str) -> Facts:
    who, digests = person(run.run.folder, request.query_params.get("id", ""))
    where = Where({"participant": (who.id,)})
    rows = run.table.rows(run.table.places(where)[:MOST_OF_AGENT])
    by_methodology: dict[str, list[Any]] = {}
    for entry in shown(run, rows, "", language):
        by_methodology.setdefault(str(entry.row["methodology"]), []).append(entry)
    told = Tabs(run, language)
    transcripts: dict[str, list[Any]] = {}
    log = GapLog(run.run.folder)
    for name in run.run.record.methods:
        for phase, transcript in transcripts_of(run, name, who.id, language, log):
            drawn = told.drawn(transcript.graph) if transcript.graph is not None else ""
            transcripts.setdefault(name, []).append((phase, transcript, drawn))
    return {
        "current": "agents", "who": who, "digests": digests, "answers": by_methodology, "transcripts": transcripts,
        "missing": [tell(gap.told(run.titles.get(gap.methodology, gap.methodology)), language) for gap in log.gaps],
        "columns": found_of(run, who.id), "all_answers": run.answers(Where({"participant": (who.id,)}, status=ANY)),
        "statuses": STATUS_WORDS, "csv": f"{run.at('answers.csv')}?{where.query(status=ANY)}",
    }  # fmt: skip


# --- instruments, another run, files ---------------------------------------------------------------------------------


def instruments(run: OpenRun, request: Request, language: str) -> Facts:
    return {"current": "instruments", "used": used_instruments(run)}


def compare(run: OpenRun, request: Request, language: str) -> Facts:
    others = [summary for summary in run.cache.sandbox.runs(run.sim_id) if summary.run_id != run.run.run_id]
    named, page = request.query_params.get("with", ""), page_of(request)
    facts: dict[str, Any] = {
        "current": "compare", "others": others[::-1], "named": named, "here": run.at("compare"), "difference": None,
    }  # fmt: skip
    if not named:
        return facts
    other = run.cache.open(run.sim_id, named, run.reader)
    files = [side.file("exports", "all_responses.csv") for side in (run, other)]
    key = ("compare", run.run.folder, other.run.folder)
    difference = run.cache.objects.get(key, files, lambda: differences(run, other))
    pages = pages_of(len(difference.comparison.values), DIFFERENT_PER_PAGE)
    page = min(page, pages)
    rows = difference.rows((page - 1) * DIFFERENT_PER_PAGE, DIFFERENT_PER_PAGE)
    changed = [
        {
            "wording": run.wording(row["methodology"], row["item_id"]), "row": row,
            "first": _said(run, row, "first", language), "second": _said(run, row, "second", language),
            "links": [side.at("answer", id=str(Key.of({**row, "run_id": side.run.run_id}))) for side in (run, other)],
        }
        for row in rows
    ]  # fmt: skip
    return {**facts, "difference": difference, "other": other, "changed": changed, "page": page, "pages": pages}


def _said(run: OpenRun, row: Mapping[str, Any], which: str, language: str) -> str:
    answer = {"value": row[f"value_{which}"], "chosen": ""}
    parts = (given(answer, run.wording(row["methodology"], row["item_id"]), language), row[f"text_{which}"])
    return " – ".join(str(part) for part in parts if part)


def files(run: OpenRun, request: Request, language: str) -> Facts:
    return {
        "current": "files", "groups": files_of(run), "figures": run.drawings.figures if run.has_report else [],
        "formats": in_language(FORMATS, language),
    }  # fmt: skip


def page_of(request: Request) -> int:
    text = request.query_params.get("page", "")
    return int(text) if text.isdecimal() and len(text) < 7 else 1


# --- What can be taken away from a run's pages: chosen answers as CSV, figures as SVG or PNG, sections, files


FORMATS = {
    "xlsx": N_("Excel: one workbook (.xlsx)"), "sav": N_("SPSS, with labels and missing codes (.sav, zip)"),
    "parquet": N_("Parquet, for R and Python (zip)"), "csv": N_("CSV (zip)"),
}  # fmt: skip
CHUNK = 5_000
TYPES = {
    ".csv": "text/csv", ".json": "application/json", ".jsonl": "application/jsonl", ".md": "text/markdown",
    ".svg": "image/svg+xml", ".png": "image/png", ".html": "text/html", ".yaml": "application/yaml", ".xlsx": WORKBOOK,
}  # fmt: skip


class NoSuchFile(NothingYet):
    """The run has no file of this name."""


def as_csv(run: OpenRun, where: Where) -> Iterator[str]:
    """The chosen answers, a row each, as all_responses.csv writes them."""
    chosen = run.table.frame.iloc[run.table.places(where)][list(COLUMNS)]
    yield ",".join(COLUMNS) + "\r\n"
    for start in range(0, len(chosen), CHUNK):
        yield csv_rows(chosen.iloc[start : start + CHUNK])


def drawn_as(picture: Picture, kind: str) -> tuple[bytes, str]:
    """Content and type of a figure's file. Raises InputError for another kind."""
    if kind not in ("svg", "png"):
        raise InputError(f"{kind[:20]!r}: a figure is given as svg or png")
    return (picture.svg().encode(), "image/svg+xml") if kind == "svg" else (picture.png(), "image/png")


def files_of(run: OpenRun) -> list[tuple[str, list[tuple[str, int]]]]:
    """(title, [(path, bytes)]) of everything that the run wrote for its readers. Paths are as `file_at` takes them."""
    groups = [("", _listed(run.run.path, ""))]
    for name, title in run.titles.items():
        listed = [file for phase, folder in run.stage_folders(name) for file in _listed(folder, f"{name}/{phase}/")]
        groups.append((title, listed))
    return [(title, files) for title, files in groups if files]


def _listed(folder: Path, prefix: str) -> list[tuple[str, int]]:
    files = sorted(file for file in folder.rglob("*") if file.is_file() and not file.name.startswith("."))
    return [(prefix + file.relative_to(folder).as_posix(), file.stat().st_size) for file in files]


def file_at(run: OpenRun, path: str) -> Path:
    """The file behind such a path. Raises NoSuchFile for anything that is not listed."""
    for folder, prefix in _folders(run):
        if path.startswith(prefix) and (folder / path[len(prefix) :]).is_file() and ".." not in path.split("/"):
            file = folder / path[len(prefix) :]
            run.cache.sandbox.require_inside(file)
            return file
    raise NoSuchFile(f"run {run.run.run_id} has no file {path[:200]!r}")


def _folders(run: OpenRun) -> Iterator[tuple[Path, str]]:
    for name in run.titles:
        for phase, folder in run.stage_folders(name):
            yield folder, f"{name}/{phase}/"
    yield run.run.path, ""
