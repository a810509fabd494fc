"""The report in three layers: page one, which answers the question; the report; the appendix with everything else.

Written as report.md, appendix.md and page_one.json, and as report.html, one file with all three. Every figure is
counted from the response table, the findings or the ledger; texts are templates.

report.html: page one, report and appendix as one file that can be read on a screen or a telephone, shared and
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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import parse_qs
from zlib import crc32

import altair as alt
import pandas as pd
from altair.utils.schemapi import debug_mode
from cmarkgfm import markdown_to_html_with_extensions
from pydantic import JsonValue

from enquete.analysis.diagnostics import CANNOT_BE_JUDGED, NOT_USABLE, Standing
from enquete.analysis.inference import ALPHA, EXPLORATORY
from enquete.ledger.folders import write_atomically
from enquete.ledger.record import Chosen
from enquete.locale import N_, NN_, Words, percent, plural, quoted, tell, whole
from enquete.reports import accounts, pictures
from enquete.reports.accounts import Citation, TookPart, citations_section, took_part
from enquete.reports.analyses import ACROSS, Findings
from enquete.reports.charts import (
    COLOURS,
    GRID,
    MUTED,
    SHAPES,
    THEME,
    WIDER,
    Href,
    OwnChart,
    Picture,
    Spec,
    broken,
    number_format,
)
from enquete.reports.context import chosen, responded
from enquete.reports.declarations import Place, groups_by
from enquete.reports.evaluation import Evaluation, evaluations
from enquete.reports.findings import FEWEST, PER_METHODOLOGY, KeyFinding, Strip, leading, tested
from enquete.reports.further_arms import AGAINST, PREFERENCE, REPLICATES
from enquete.reports.gaps import Gap
from enquete.reports.health import CHECKS_TITLE, HEALTH, Health, lacking, reasons, verdict
from enquete.reports.markdown import escape, number, readable
from enquete.reports.narrative import NarrativeText
from enquete.reports.responses import AskedItem, persona_columns
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Results, render
from enquete.reports.writing import write_json
from enquete.runs import fit
from enquete.runs.answer_pairs import PairRecord
from enquete.state.asking import Language

# --- The page --------------------------------------------------------------------------------------------------------

MOST = 12_000
CHECKS = "health"
"""What a reference begins with that leads to the checks of instrument health."""
TABLE = "exports/all_responses.csv"


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


# --- Page one: what was asked of whom, the findings that answer the question, and whether the data can be used -------
# The same page is the beginning of the report, what `enquete report --brief` prints, and data for programs
# (page_one.json).
# Measured by: at most MOST_WORDS words; every figure in it follows from all_responses.csv.

FILE = "page_one.json"
MOST_WORDS = 330
TITLE_WORDS = 12
_QUESTION_WORDS = 40


@dataclass(frozen=True, slots=True)
class Usable:
    """Whether the answers to one methodology can be used."""

    methodology: str
    title: str
    standing: Standing
    verdict: str  # the standing in words
    why: str = ""


@dataclass(frozen=True)
class PageOne:
    """Page one as data, in the language of the run. by_methodology: every finding; `findings`: the leading ones."""

    title: str
    question: str
    banner: str
    asked: str
    interim: bool = False  # not everything is asked yet
    notices: tuple[str, ...] = ()
    findings: tuple[KeyFinding, ...] = ()
    primary: str = ""  # which questions are primary, and their shares of the error rate
    across: tuple[KeyFinding, ...] = ()  # those that join methodologies, all of them
    usable: tuple[Usable, ...] = ()
    by_methodology: Mapping[str, Sequence[KeyFinding]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)  # of methodologies, by name

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "title": self.title, "question": self.question, "banner": self.banner, "asked": self.asked,
            "interim": self.interim, "notices": list(self.notices),
            "findings": _as_json(self.findings), "primary": self.primary, "across": _as_json(self.across),
            "usable": [dict(asdict(usable)) for usable in self.usable],
            "methodologies": [
                {"methodology": name, "title": self.titles.get(name, name), "findings": _as_json(stated)}
                for name, stated in self.by_methodology.items()
            ],
        }  # fmt: skip


def _as_json(findings: Sequence[KeyFinding]) -> list[JsonValue]:
    return [finding.as_json() for finding in findings]


def page_one(
    reading: RunReading, frame: pd.DataFrame, by_method: Mapping[str, Evaluation],
    findings: Mapping[str, list[KeyFinding]], health: Health, checked: Results, *,
    notices: Sequence[str] = (), interim: bool = False, declared: Mapping[str, Results] = MappingProxyType({}),
) -> PageOne:  # fmt: skip
    """declared: results by methodology, whose primary questions are named.
    frame: the response table; findings: by methodology, and those that join them; checked: health's tables;
    notices: what must be read before anything else;
    interim: the interviews are not finished. Of data that are not usable only what was tested is found."""
    language = reading.language
    across = findings.get(ACROSS, [])
    titles = {name: tell(reading.methodology(name).title, language) for name in by_method}
    asked = took_part(reading, frame)
    title, question = _title(reading, asked, language), _shortened(reading.record.topic, _QUESTION_WORDS)
    stated = {name: _stated(name, findings[name], health) for name in by_method if name in findings}
    usable = [
        Usable(name, titles.get(name, name), overall.verdict, verdict(overall, language), _why(health, checked, name))
        for name, overall in health.verdicts.items()
    ]
    return PageOne(
        title=title,
        question="" if _set(reading) or title.startswith(question) else question,
        banner=banner(reading, asked),
        asked=_asked(reading, frame, asked, titles, interim=interim),
        interim=interim,
        notices=(
            *notices,
            *(unusable(judged, language) for judged in usable if judged.standing == NOT_USABLE),
            *_unjudged(usable, language),
        ),
        findings=tuple(leading(stated, across)),
        primary=name_primary_questions(declared, titles, language),
        across=tuple(across[:PER_METHODOLOGY]),
        usable=tuple(usable),
        by_methodology=stated,
        titles=titles,
    )


_PRIMARY = N_(
    "Primary questions share an error rate of {alpha}: {questions}. Other tests are exploratory (together {rest})."
)


def name_primary_questions(declared: Mapping[str, Results], titles: Mapping[str, str], language: Language) -> str:
    """Return the sentence that names the primary questions with their shares; "" where the page has none."""
    named = []
    for name, results in declared.items():
        questions = results.presentation.question_tables
        for finding, share in (results.analysis.primary or {}).items():
            title = tell(results.presentation.tables[questions[finding]].title, language)
            held = _percent(share * ALPHA, language) if share else tell(N_("nothing to test"), language)
            named.append(f"{titles.get(name, name)}: {title} ({held})")
    if not named:
        return ""
    return tell(_PRIMARY, language).format(
        alpha=_percent(ALPHA, language), questions="; ".join(named), rest=_percent(EXPLORATORY * ALPHA, language)
    )


def _percent(share: float, language: Language) -> str:
    digits = number(100 * share, language, 2)
    return percent(digits.rstrip("0").rstrip(".,"), language)


def _why(health: Health, checked: Results, name: str) -> str:
    """The weightiest reason; "" where the verdict says it itself."""
    overall = health.verdicts[name]
    if overall.verdict in ("usable as far as checked", "interim"):
        return ""
    lacks = overall.verdict == "cannot be judged"
    return lacking(overall, checked.language) if lacks else reasons(health, checked, name, most=1)


def _stated(name: str, stated: list[KeyFinding], health: Health) -> list[KeyFinding]:
    not_usable = name in health.verdicts and health.verdicts[name].verdict == NOT_USABLE
    return (tested(stated) if not_usable else stated)[:PER_METHODOLOGY]


_UNUSABLE = N_("{title}: not usable. What was not tested is no finding: see the appendix.")


_UNJUDGED = N_("{titles}: these findings cannot be judged.")


def _unjudged(usable: Sequence[Usable], language: Language) -> Iterator[str]:
    """Said above what was found, where too little could be checked."""
    titles = [judged.title for judged in usable if judged.standing == CANNOT_BE_JUDGED]
    if titles:
        yield tell(_UNJUDGED, language).format(titles=", ".join(titles))


def unusable(judged: Usable, language: Language) -> str:
    """Said above what was found."""
    return tell(_UNUSABLE, language).format(title=judged.title)


_SYNTHETIC = N_(
    "**Synthetic answers.** No language model was asked: a deterministic program made the answers. They test the "
    "procedure and "
    "say nothing about people or models."
)
_SIMULATED = N_(
    "**Simulated respondents.** The language model {model} answered in the roles of the agents. No human being was "
    "interviewed."
)


_SEVERAL = N_(
    "**Simulated respondents.** Several language models answered, each in its own seats: {model}. No human being was "
    "interviewed."
)
_SEVERAL_AND_PEOPLE = N_(
    "**Simulated respondents and people.** {people} answered for themselves; for all others several language models "
    "did, each in its own seats: {model}."
)

_PEOPLE = N_("**People.** {people} answered for themselves. No answer is simulated.")
_WITH_PEOPLE: Mapping[str, str] = {
    "synthetic": N_(
        "**Synthetic answers and people's.** {people} answered for themselves. For all others no language model was "
        "asked: a "
        "deterministic program made their answers, which say nothing about people or models."
    ),
    "llm": N_(
        "**Simulated respondents and people.** {people} answered for themselves; the language model {model} answered "
        "in the roles of "
        "the agents."
    ),
}


def banner(reading: RunReading, asked: TookPart) -> str:
    """Who answered, said loudly: a program, a model, or people. Markdown."""
    main, language = reading.record.main, reading.language
    if asked.models:
        people = replace(asked, agents=frozenset()).told(language)
        text = _SEVERAL_AND_PEOPLE if asked.people else _SEVERAL
        return tell(text, language).format(people=people, model=escape(", ".join(asked.models)))
    if asked.people:
        text = _WITH_PEOPLE.get(main.respondent, _PEOPLE) if asked.agents else _PEOPLE
        people = replace(asked, agents=frozenset()).told(language)
        return tell(text, language).format(people=people, model=main.model)
    return tell(_SYNTHETIC if main.respondent == "synthetic" else _SIMULATED, language).format(model=main.model)


_TITLE = NN_("{topic}: what {n} simulated stakeholder says", "{topic}: what {n} simulated stakeholders say")
_TITLE_WITH_PEOPLE = N_("{topic}: what {who} say")


def _title(reading: RunReading, asked: TookPart, language: Language) -> str:
    """The question that the first methodology was set; else the instruments' topic, which is short, else the beginning
    of the simulation's, and who answers."""
    if question := _set(reading):
        return _shortened(question, _QUESTION_WORDS)
    record = reading.record
    topics = [_in_language(used.content.get("topic"), language) for used in record.instruments.values()]
    topic = next(filter(None, topics), record.topic or record.sim_id)
    if asked.people:
        text = tell(_TITLE_WITH_PEOPLE, language).replace("{who}", asked.told(language))
    else:
        text = plural(_TITLE, len(asked.agents), language)
    left = TITLE_WORDS - len(text.replace("{topic}:", "").split())
    return text.replace("{topic}", _shortened(topic, left))


def _set(reading: RunReading) -> str:
    """The question that stands in place of the first methodology's topic, "" where none was set."""
    record = reading.record
    return str(record.settings.get(next(iter(record.instruments), ""), {}).get("question", ""))


def _in_language(text: object, language: Language) -> str:
    return str(text.get(language) or next(iter(text.values()), "")) if isinstance(text, dict) else str(text or "")


def _shortened(text: str, words: int) -> str:
    """At most so many words, to the end of a sentence or clause where one is near."""
    all_words = text.split()
    if len(all_words) <= words:
        return " ".join(all_words)
    kept = " ".join(all_words[:words])
    ends = [match.start() for match in re.finditer(r"[.!?;:,](?=\s|$)", kept)]
    return kept[: ends[-1]] if ends and ends[-1] > len(kept) / 2 else f"{kept} …"


_SO_FAR = N_("{agents} of {types} are being asked ({methods}): {responded} answers are there so far.")
_ASKED = N_("{agents} of {types} answered {methods}: {responded} of {planned} planned answers are there.")
_BY = N_("Groups are compared by {by}.")
_COMPARED = N_("Groups are compared by {by}, those of {fewest} agents or more: {groups} with {n} agents.")
_NOT_COMPARED = N_("No groups are compared by {by}: fewer than two have {fewest} agents.")


def _asked(
    reading: RunReading, frame: pd.DataFrame, asked: TookPart, titles: Mapping[str, str], *, interim: bool
) -> str:
    """How many answers there will be is known once everything is asked: what rounds ask depends on those before."""
    language, main = reading.language, chosen(frame[["status"]], frame["arm_role"].eq("main"))
    groups_of = groups_by(reading.by, persona_columns(reading.ledger)) if reading.by else None
    sizes = Counter(
        who.stakeholder_type if groups_of is None else groups_of[who.id]
        for who in reading.population
        if who.id in asked.all and (groups_of is None or who.id in groups_of)
    )
    text = tell(_SO_FAR if interim else _ASKED, language).format(
        agents=asked.told(language), types=plural(NN_("{n} group", "{n} groups"), len(sizes), language),
        methods=", ".join(titles.values()), responded=whole(len(responded(main)), language),
        planned=whole(len(main), language),
    )  # fmt: skip
    by = quoted(reading.by, language) if reading.by else tell(N_("stakeholder type"), language)
    large = [n for n in sizes.values() if n >= FEWEST]
    if len(large) < 2:
        text = f"{text} {tell(_NOT_COMPARED, language).format(fewest=FEWEST, by=by)}" if len(sizes) > 1 else text
    elif sum(large) < len(asked.all):
        groups, n = plural(NN_("{n} group", "{n} groups"), len(large), language), whole(sum(large), language)
        text = f"{text} {tell(_COMPARED, language).format(fewest=FEWEST, n=n, groups=groups, by=by)}"
    else:
        text = f"{text} {tell(_BY, language).format(by=by)}"
    unfit = fit.told(reading.record.fit, language, titles) if reading.record.fit else []
    choice = reading.record.chosen
    left_out = [_not_asked(choice, reading)] if choice and choice.not_asked else []
    return " ".join([text, *left_out, *unfit])


_CHOSEN = N_("Not asked: {n} of {of} agents ({types}), by {by}.")
MOST_TYPES = 6


def _not_asked(chosen: Chosen, reading: RunReading) -> str:
    """Who was left out, and by what word of whoever began the run."""
    types = [f"{readable(kind)} {n}" for kind, n in chosen.not_asked.items()]
    listed = [*types[:MOST_TYPES], *(["…"] if len(types) > MOST_TYPES else [])]
    by = ", ".join(f"{name} {_said(value)}".strip() for name, value in chosen.by.items())
    n, of = (whole(count, reading.language) for count in (chosen.of - len(reading.population), chosen.of))
    return tell(_CHOSEN, reading.language).format(n=n, of=of, types=", ".join(listed), by=by)


def _said(value: JsonValue) -> str:
    if value is True:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value)) if len(value) <= MOST_TYPES else f"({len(value)})"
    return str(value)


# --- The small picture beside a finding of page one: its dots and intervals on the scale that they are on, and below
# them in words what is drawn.

NAME = "page-one"
WIDTH, HEIGHT = 330, 26  # px of the scale
CAPTION = 11  # px of text


def strips(findings: Sequence[KeyFinding], language: Language) -> dict[tuple[str, str], Picture]:
    """Pictures by methodology and id of the finding; none for a finding without a scale."""
    return {
        (finding.methodology, finding.id): Picture(
            f"{NAME}/{n}", finding.text, finding.strip.caption, "page_one", "", partial(_spec, finding.strip, language)
        )
        for n, finding in enumerate(findings, start=1)
        if finding.strip is not None
    }


def _spec(strip: Strip, language: Language, picture: Picture) -> Spec:
    ends = [strip.low, *([0.0] if strip.low < 0 < strip.high else []), strip.high]
    axis = alt.Axis(
        values=ends, format=".0%" if strip.is_share else ",~f", title=None, grid=False, labelColor=MUTED, ticks=True,
        domain=True, domainColor=GRID, domainWidth=3, labelFontSize=CAPTION,
    )  # fmt: skip
    at = alt.X("value:Q", scale=alt.Scale(domain=[strip.low, strip.high], nice=False, clamp=True), axis=axis)
    layers: list[OwnChart] = []
    for dot, colour in zip(strip.dots, COLOURS, strict=False):
        if dot.low is not None:
            reach = alt.InlineData(values=[{"value": dot.low, "high": dot.high}])
            layers.append(OwnChart(reach).mark_rule(strokeWidth=4, color=colour).encode(x=at, x2=alt.X2("high:Q")))
    for dot, shape, colour, up in zip(strip.dots, SHAPES, COLOURS, (-14, -14), strict=False):
        base = OwnChart(alt.InlineData(values=[dot.as_json()])).encode(x=at)
        layers.append(base.mark_point(shape=shape, size=110, color=colour))
        layers.append(base.mark_text(dy=up, fontWeight="bold", color=colour).encode(text=alt.Text("told:N")))
    with alt.theme.enable("none"), debug_mode(False):
        spec: Spec = alt.LayerChart(layer=layers, width=WIDTH, height=HEIGHT).to_dict(validate=False)
    caption = {"text": broken(strip.caption, WIDTH / WIDER, 3, CAPTION), "orient": "bottom", "fontSize": CAPTION,
        "color": MUTED,
               "fontWeight": "normal", "offset": 4}  # fmt: skip
    config = {**THEME, "locale": {"number": number_format(language)}}
    return {**spec, "title": caption, "description": picture.alt, "config": config}


UNWRITTEN = N_("This part of the report could not be written; the reason is on page one.")
FINDINGS = 2
"""Of a methodology in its section beside those on page one; the others are in the appendix."""
DATA = "exports/all_responses.csv"


@dataclass
class MethodologyTexts:
    """A methodology's section and its part of the appendix, Markdown; None where they could not be written."""

    section: str | None = None
    appendix: str | None = None


@dataclass(frozen=True)
class ReportMaterial:
    """What a report is made of beside the run itself."""

    frame: pd.DataFrame
    stages: accounts.Stages
    analysed: Findings
    findings: Mapping[str, list[KeyFinding]]  # by methodology, and those that join several
    declared: Mapping[str, Results]  # by methodology, and what is nobody's own
    texts: Mapping[str, MethodologyTexts]  # by methodology
    prose: NarrativeText
    health: Health
    asked: Sequence[AskedItem]
    pictures: Sequence[Picture]
    pairs: Sequence[PairRecord] = ()  # that respondent A and B were compared in
    citations: Sequence[Citation] = ()
    gaps: Sequence[Gap] = ()  # what is missing because a methodology's code failed


@dataclass(frozen=True)
class MethodologyPart:
    """One methodology in the report and in its appendix."""

    name: str
    title: str
    section: str = ""
    appendix: str = ""
    missing: str = ""
    unusable: str = ""  # that its data are not usable
    findings: Sequence[KeyFinding] = ()  # those that are not on page one
    further: Sequence[KeyFinding] = ()  # those for the appendix
    pictures: Sequence[Picture] = ()
    more_pictures: Sequence[Picture] = ()  # those for the appendix
    probabilities: bool = False  # asked for in place of one answer


def write_report(folder: Path, reading: RunReading, material: ReportMaterial, *, status: str, partial: bool) -> PageOne:
    """All layers; page one is returned too."""
    report = Report(reading, material, status=status, partial=partial)
    write_json(folder / FILE, report.page.as_json())
    write_atomically(folder / "page_one.md", brief(report.page, report.language))
    write_atomically(folder / "report.md", report.markdown())
    pictures.write(folder, report.pictures)
    write_atomically(folder / "appendix.md", report.appendix)
    write_atomically(folder / "report.html", report.html())
    return report.page


class Report:
    """Everything that the three layers are filled with, made once."""

    def __init__(self, reading: RunReading, material: ReportMaterial, *, status: str, partial: bool) -> None:
        self.reading, self.material, self.status, self.partial = reading, material, status, partial
        self.language = reading.language
        self.own = evaluations(reading.record.methods)
        self.declared = material.declared
        self.page = page_one(
            reading, material.frame, self.own, material.findings, material.health, self.declared[HEALTH],
            notices=list(self._notices()), interim=partial, declared=self.declared,
        )  # fmt: skip
        self.parts = [*self._parts()]
        self.strips = strips(self.page.findings, self.language)
        self.pictures = [*material.pictures, *self.strips.values()]
        self.account = self.declared[accounts.ACCOUNT]

    def markdown(self) -> str:
        return self._report(behind=lambda finding: "")

    def html(self) -> str:
        embedded = Embedded(self.material.frame, self.material.asked, self.reading.type_names, self.language)
        text = self._report(behind=lambda finding: _behind(finding, embedded, self.language))
        return page(text, self.appendix, self.pictures, embedded, self.language)

    def _report(self, *, behind: Callable[[KeyFinding], str]) -> str:
        return self._render(
            "report.md.j2", strip=self._strip, image=_image, behind=behind, methodologies=self.parts,
            across=self._across(), run=self.reading.record, idle=self.reading.idle, prose=self.material.prose,
            model=self.reading.record.main.model, health_figures=self._of(HEALTH),
            health=self.declared[HEALTH].at("section"), account=self.account,
            against=self.declared[PREFERENCE].at("section") if PREFERENCE in self.declared else "",
            against_title=AGAINST, against_figures=self._of(PREFERENCE),
        )  # fmt: skip

    @cached_property
    def appendix(self) -> str:
        return self._render(
            "appendix.md.j2", image=_image, methodologies=self.parts, more=list(self._more()), account=self.account,
            glossary=GLOSSARY | {term: text for each in self.own.values() for term, text in each.glossary.items()},
        )  # fmt: skip

    def _of(self, name: str, at: Place = "section") -> list[Picture]:
        """Pictures of a methodology, or of what is nobody's own, in this part of the report."""
        return [each for each in self.material.pictures if each.name.startswith(f"{name}/") and each.at == at]

    def _strip(self, finding: KeyFinding) -> str:
        """Markdown's image of page one's small picture; "" for a finding whose numbers lie on no scale."""
        drawn = self.strips.get((finding.methodology, finding.id))
        return _image(drawn) if drawn else ""

    def _render(self, template: str, **facts: Any) -> str:
        return render(f"enquete.reports:{template}", self.language, page=self.page, **facts)

    def _notices(self) -> Iterator[str]:
        """What must be read before anything else."""
        if accounts.every_call_failed(self.reading):
            yield tell(N_("Every request failed. This run holds no answers."), self.language)
        yield from (tell(text, self.language) for text in accounts.told_gaps(self.reading, self.material.gaps))
        assumed = accounts.assumption(self.reading)
        if assumed:
            yield tell(assumed, self.language)
        if self.partial:
            text = N_(
                "Interim state: the interviews are not finished ({status}); what is missing is counted as not asked "
                "yet."
            )
            status = tell(accounts.RUN_STATUSES.get(self.status, self.status), self.language)
            yield tell(text, self.language).format(status=status)

    def _parts(self) -> Iterator[MethodologyPart]:
        """The methodologies in the order of the run; then those without findings, with the reason."""
        frame, shown = self.material.frame, {finding.id for finding in self.page.findings}
        given = set(frame.loc[frame["arm_role"].eq("main") & frame["distribution"].ne(""), "methodology"])
        warned = {u.methodology: unusable(u, self.language) for u in self.page.usable if u.standing == NOT_USABLE}
        for name in self.material.analysed.results:
            others = [finding for finding in self.page.by_methodology.get(name, ()) if finding.id not in shown]
            texts, unwritten = self.material.texts[name], tell(UNWRITTEN, self.language)
            yield MethodologyPart(
                name, self.page.titles[name],
                unwritten if texts.section is None else texts.section,
                unwritten if texts.appendix is None else texts.appendix,
                findings=others[:FINDINGS],
                further=others[FINDINGS:], pictures=self._of(name), more_pictures=self._of(name, "appendix"),
                probabilities=name in given, unusable=warned.get(name, ""),
            )  # fmt: skip
        for name, why in self._missing().items():
            yield MethodologyPart(name, self.page.titles.get(name, name), missing=escape(tell(why, self.language)))

    def _missing(self) -> Mapping[str, Words]:
        """Methodologies without findings, with the reason."""
        material = self.material
        return accounts.missing(self.reading, material.stages, material.analysed, material.gaps)

    def _across(self) -> list[KeyFinding]:
        """What was tested over methodologies and is not on page one."""
        shown = {finding.id for finding in self.page.findings}
        return [finding for finding in self.page.across if finding.id not in shown][:FINDINGS]

    def _more(self) -> Iterator[tuple[str, str]]:
        """What is nobody's own: heading and Markdown."""
        material, language = self.material, self.language
        again = self.declared[REPLICATES].at("appendix") if REPLICATES in self.declared else ""
        again += "".join(f"\n\n{_image(picture)}" for picture in self._of(REPLICATES, "appendix"))
        for title, text in (
            (N_("Across the methodologies"), self.declared[ACROSS].at("appendix")),
            (N_("Replicates"), again),
            (N_("What answers name of a memory"), citations_section(material.citations, material.frame, language)),
            (CHECKS_TITLE, self.declared[HEALTH].at("appendix")),
        ):  # fmt: skip
            if text:
                yield tell(title, language), text


GLOSSARY = {
    N_("agent"): N_("a stakeholder of the simulation, with a persona and, after it, a memory"),
    N_("arm"): N_("one condition of answering; the main arm is what is reported, probes and placebos test it"),
    N_("n / N"): N_("answered / planned"),
    N_("T0, T1"): N_("before and after the simulation"),
    N_("interval"): N_("95% interval over the agents of this run, not over people"),
    N_("adjusted p"): N_("p corrected for all tests of its kind (Holm)"),
    N_("share of variance"): N_(
        "how much of the ranks' variance lies between groups (ε², from Kruskal–Wallis): 0 none, 1 all"
    ),
}
"""Terms of every report; methodologies add their own."""


def brief(page: PageOne, language: Language) -> str:
    """Page one alone, Markdown without figures."""
    return render(
        "enquete.reports:page_one.md.j2", language, page=page, strip=lambda finding: "", behind=lambda finding: ""
    )


def _image(picture: Picture) -> str:
    alternative = escape(picture.alt).replace("]", "\\]")
    return f"![{alternative}](figures/{picture.stem}.svg)"


def _behind(finding: KeyFinding, embedded: Embedded, language: Language) -> str:
    """A link to the answers that a finding rests on."""
    target = next((anchor for item in finding.items if (anchor := embedded.anchor(finding.methodology, item))), "")
    text = tell(N_("answers"), language)
    return f" [{text}]({target or DATA})" if finding.items else ""
