"""Page one: what was asked of whom, the findings that answer the question, and whether the data can be used.

The same page is the beginning of the report, what `enquete report --brief` prints, and data for programs
(page_one.json).
Measured by: at most MOST_WORDS words; every figure in it follows from all_responses.csv.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

import pandas as pd
from pydantic import JsonValue

from enquete.analysis.health.diagnostics import NOT_USABLE, Standing
from enquete.locale import N_, NN_, plural, tell
from enquete.nodes import fitting
from enquete.reports.accounts import TookPart, took_part
from enquete.reports.associations import ACROSS
from enquete.reports.context import responded
from enquete.reports.evaluation import Evaluation
from enquete.reports.health.presented import lacking, reasons, verdict
from enquete.reports.health.verdicts import Health
from enquete.reports.key_findings import FEWEST, PER_METHODOLOGY, KeyFinding, leading, tested
from enquete.reports.markdown import readable
from enquete.reports.run_reading import RunReading
from enquete.reports.views import Results
from enquete.state.asking import Language

FILE = "page_one.json"
MOST_WORDS = 300
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
    """Page one as data, in the language of the run. by_methodology: every finding, of which `findings` are the leading ones."""

    title: str
    question: str
    banner: str
    asked: str
    interim: bool = False  # not everything is asked yet
    notices: tuple[str, ...] = ()
    findings: tuple[KeyFinding, ...] = ()
    across: tuple[KeyFinding, ...] = ()  # those that join methodologies, all of them
    usable: tuple[Usable, ...] = ()
    by_methodology: Mapping[str, Sequence[KeyFinding]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)  # of methodologies, by name

    def as_json(self) -> dict[str, JsonValue]:
        return {
            "title": self.title, "question": self.question, "banner": self.banner, "asked": self.asked,
            "interim": self.interim, "notices": list(self.notices),
            "findings": [one.as_json() for one in self.findings], "across": [one.as_json() for one in self.across],
            "usable": [dict(asdict(one)) for one in self.usable],
            "methodologies": [
                {"methodology": name, "title": self.titles.get(name, name), "findings": [one.as_json() for one in own]}
                for name, own in self.by_methodology.items()
            ],
        }  # fmt: skip


def page_one(
    reading: RunReading, frame: pd.DataFrame, own: Mapping[str, Evaluation], findings: Mapping[str, list[KeyFinding]],
    health: Health, checked: Results, *, notices: Sequence[str] = (), interim: bool = False,
) -> PageOne:  # fmt: skip
    """frame: the response table; findings: by methodology, and those that join them; checked: health's tables;
    notices: what must be read before anything else;
    interim: the interviews are not finished. Of data that are not usable only what was tested is found."""
    language = reading.language
    across = findings.get(ACROSS, [])
    titles = {name: tell(reading.methodology(name).title, language) for name in own}
    asked = took_part(reading, frame)
    title, question = _title(reading, asked, language), _shortened(reading.record.topic, _QUESTION_WORDS)
    stated = {name: _stated(name, findings[name], health) for name in own if name in findings}
    usable = [
        Usable(name, titles.get(name, name), one.verdict, verdict(one, language), _why(health, checked, name))
        for name, one in health.verdicts.items()
    ]
    return PageOne(
        title=title,
        question="" if _set(reading) or title.startswith(question) else question,
        banner=banner(reading, asked),
        asked=_asked(reading, frame, asked, list(titles.values()), interim=interim),
        interim=interim,
        notices=(*notices, *(unusable(one, language) for one in usable if one.standing == NOT_USABLE)),
        findings=tuple(leading(stated, across)),
        across=tuple(across[:PER_METHODOLOGY]),
        usable=tuple(usable),
        by_methodology=stated,
        titles=titles,
    )


def _why(health: Health, checked: Results, name: str) -> str:
    """The weightiest reason; "" where the verdict says it itself."""
    found = health.verdicts[name]
    if found.verdict in ("usable as far as checked", "interim"):
        return ""
    lacks = found.verdict == "cannot be judged"
    return lacking(found, checked.language) if lacks else reasons(health, checked, name, most=1)


def _stated(name: str, stated: list[KeyFinding], health: Health) -> list[KeyFinding]:
    not_usable = name in health.verdicts and health.verdicts[name].verdict == NOT_USABLE
    return (tested(stated) if not_usable else stated)[:PER_METHODOLOGY]


_UNUSABLE = N_("{title}: not usable. What was not tested is no finding: see the appendix.")


def unusable(one: Usable, language: Language) -> str:
    """Said above what was found."""
    return tell(_UNUSABLE, language).format(title=one.title)


_SYNTHETIC = N_(
    "**Synthetic answers.** No language model was asked: a deterministic program made the answers. They test the "
    "procedure and "
    "say nothing about people or models."
)
_SIMULATED = N_(
    "**Simulated respondents.** The language model {model} answered in the roles of the agents. No human being was "
    "interviewed."
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
    if asked.people:
        text = _WITH_PEOPLE.get(main.respondent, _PEOPLE) if asked.agents else _PEOPLE
        people = replace(asked, agents=frozenset()).told(language)
        return tell(text, language).format(people=people, model=main.model)
    return (
        tell(_SYNTHETIC, language)
        if main.respondent == "synthetic"
        else tell(_SIMULATED, language).format(model=main.model)
    )


_TITLE = N_("{topic}: what {n} simulated stakeholders say")
_TITLE_WITH_PEOPLE = N_("{topic}: what {who} say")


def _title(reading: RunReading, asked: TookPart, language: Language) -> str:
    """The question that the first methodology was set; else the instruments' topic, which is short, else the beginning of the
    simulation's, and who answers."""
    if question := _set(reading):
        return _shortened(question, _QUESTION_WORDS)
    record = reading.record
    topics = [_in_language(used.content.get("topic"), language) for used in record.instruments.values()]
    topic = next(filter(None, topics), record.topic or record.sim_id)
    text = tell(_TITLE_WITH_PEOPLE if asked.people else _TITLE, language)
    text = text.replace("{who}", asked.told(language)).replace("{n}", str(len(asked.agents)))
    left = TITLE_WORDS - len(text.replace("{topic}", "").split())
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
    ends = [found.start() for found in re.finditer(r"[.!?;:,](?=\s|$)", kept)]
    return kept[: ends[-1]] if ends and ends[-1] > len(kept) / 2 else f"{kept} …"


_SO_FAR = N_("{agents} of {types} are being asked ({methods}): {responded} answers are there so far.")
_ASKED = N_("{agents} of {types} answered {methods}: {responded} of {planned} planned answers are there.")
_COMPARED = N_("Compared are groups of {fewest} agents or more: {groups} with {n} agents.")


def _asked(reading: RunReading, frame: pd.DataFrame, asked: TookPart, titles: Sequence[str], *, interim: bool) -> str:
    """How many answers there will be is known once everything is asked: what rounds and turns ask depends on those before."""
    language, main = reading.language, frame[frame["arm_role"].eq("main")]
    sizes = Counter(who.stakeholder_type for who in reading.population if who.id in asked.all)
    said = tell(_SO_FAR if interim else _ASKED, language).format(
        agents=asked.told(language), types=plural(NN_("{n} group", "{n} groups"), len(sizes), language),
        methods=", ".join(titles), responded=len(responded(main)), planned=len(main),
    )  # fmt: skip
    compared = sum(n for n in sizes.values() if n >= FEWEST)
    if 0 < compared < len(asked.all):
        groups = plural(NN_("{n} group", "{n} groups"), sum(n >= FEWEST for n in sizes.values()), language)
        said = f"{said} {tell(_COMPARED, language).format(fewest=FEWEST, n=compared, groups=groups)}"
    unfit = fitting.told(reading.record.fit, language) if reading.record.fit else []
    return " ".join([said, *([not_asked(reading)] if reading.record.chosen else []), *unfit])


_CHOSEN = N_("Not asked: {n} of {of} agents ({types}), by {by}.")
MOST_TYPES = 6


def not_asked(reading: RunReading) -> str:
    """Who was left out, and by what word of whoever began the run. "" where everybody was asked."""
    chosen = reading.record.chosen
    if chosen is None:
        return ""
    types = [f"{readable(kind)} {n}" for kind, n in chosen.not_asked.items()]
    listed = [*types[:MOST_TYPES], *(["…"] if len(types) > MOST_TYPES else [])]
    by = ", ".join(f"{name} {_said(value)}".strip() for name, value in chosen.by.items())
    return tell(_CHOSEN, reading.language).format(
        n=chosen.of - len(reading.population), of=chosen.of, types=", ".join(listed), by=by
    )


def _said(value: JsonValue) -> str:
    if value is True:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value)) if len(value) <= MOST_TYPES else f"({len(value)})"
    return str(value)
