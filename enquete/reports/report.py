"""The report in three layers: page one, which answers the question; the report; the appendix with everything else.

Written as report.md, appendix.md and page_one.json, and as report.html, one file with all three. Every figure is
counted from the response table, the findings or the ledger; texts are templates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from enquete.analysis.health.diagnostics import NOT_USABLE
from enquete.checkpoints.folders import write_atomically
from enquete.locale import N_, Words, tell
from enquete.nodes.planning import CRITIC
from enquete.reports import accounts, citations, pictures
from enquete.reports.associations import ACROSS
from enquete.reports.charts import Picture
from enquete.reports.declarations import Place
from enquete.reports.embedded import CHECKS_TITLE, Embedded
from enquete.reports.evaluation import evaluations
from enquete.reports.findings import Findings
from enquete.reports.health.verdicts import Health
from enquete.reports.key_findings import KeyFinding
from enquete.reports.limitations import limitations
from enquete.reports.markdown import escape
from enquete.reports.narrative import Prose
from enquete.reports.page import page
from enquete.reports.page_one import FILE, PageOne, page_one, unusable
from enquete.reports.preference import told as preference_text
from enquete.reports.preference.found import Preference
from enquete.reports.replicates import told as replicates_text
from enquete.reports.replicates.again import Replicates
from enquete.reports.run_reading import RunReading
from enquete.reports.strips import strips
from enquete.reports.table.items import Asked
from enquete.reports.templates import render
from enquete.reports.views import Results
from enquete.reports.writing import write_json
from enquete.state.asking import Language

LIMITS = 4
"""Caveats in the report, the gravest; the others are in the appendix."""
FINDINGS = 2
"""Of a methodology in its section beside those on page one; the others are in the appendix."""
HEALTH, REPLICATES, PREFERENCE = "health", "replicates", "preference"
"""Whose figures stand with instrument health, with replicates, and with respondent B: what their names begin with."""
DATA = "exports/all_responses.csv"


@dataclass(frozen=True)
class Material:
    """What a report is made of beside the run itself."""

    frame: pd.DataFrame
    stages: accounts.Stages
    found: Findings
    findings: Mapping[str, list[KeyFinding]]  # by methodology, and those that join several
    declared: Mapping[str, Results]
    prose: Prose
    health: Health
    asked: Sequence[Asked]
    replicates: Replicates
    pictures: Sequence[Picture]
    preference: Preference | None = None
    citations: Sequence[citations.Citation] = ()


@dataclass(frozen=True)
class Part:
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


def write_report(folder: Path, reading: RunReading, material: Material, *, status: str, partial: bool) -> PageOne:
    """All layers; page one is returned too."""
    report = Report(reading, material, status=status, partial=partial)
    write_json(folder / FILE, report.page.as_json())
    write_atomically(folder / "page_one.md", report.brief())
    write_atomically(folder / "report.md", report.markdown())
    pictures.write(folder, report.pictures)
    write_atomically(folder / "appendix.md", report.appendix)
    write_atomically(folder / "report.html", report.html())
    return report.page


class Report:
    """Everything that the three layers are filled with, made once."""

    def __init__(self, reading: RunReading, material: Material, *, status: str, partial: bool) -> None:
        self.reading, self.material, self.status, self.partial = reading, material, status, partial
        self.language = reading.language
        self.own = evaluations(reading.record.methods)
        self.declared = material.declared
        self.page = page_one(
            reading, material.frame, self.own, material.findings, material.health, self.declared[HEALTH],
            notices=list(self._notices()), interim=partial,
        )  # fmt: skip
        self.parts = [*self._parts()]
        self.strips = strips(self.page.findings, self.language)
        self.pictures = [*material.pictures, *self.strips.values()]
        self.problems = [tell(one, self.language) for one in self._problems()]
        self.limits = limitations(reading, material.frame, material.found.results, material.health, partial=partial)

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
            health=self.declared[HEALTH].at("section"), limits=self.limits[:LIMITS],
            problems=[escape(line) for line in self.problems[:LIMITS]],
            against=preference_text.section(self.material.preference, self.page.titles, self.language),
            against_title=preference_text.TITLE, against_figures=self._of(PREFERENCE),
            people=accounts.people(self.reading, self.material.frame),
        )  # fmt: skip

    @cached_property
    def appendix(self) -> str:
        reading, frame = self.reading, self.material.frame
        return self._render(
            "appendix.md.j2", image=_image, methodologies=self.parts, more=list(self._more()), run=reading.record,
            status=tell(accounts.RUN_STATUSES.get(self.status, self.status), self.language), titles=self._titles(),
            roles=accounts.ROLES, respondents=accounts.RESPONDENTS, statuses=list(accounts.STATUSES),
            status_names=accounts.STATUSES, counts=accounts.counts(reading, frame), limits=self.limits[LIMITS:],
            problems=[escape(line) for line in self.problems], spent=accounts.spent(reading),
            glossary=GLOSSARY | {term: text for own in self.own.values() for term, text in own.glossary.items()},
        )  # fmt: skip

    def brief(self) -> str:
        """Page one alone, Markdown."""
        return brief(self.page, self.language)

    def _of(self, name: str, at: Place = "section") -> list[Picture]:
        """Pictures of a methodology, or of what is nobody's own, in this part of the report."""
        return [one for one in self.material.pictures if one.name.startswith(f"{name}/") and one.at == at]

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

    def _parts(self) -> Iterator[Part]:
        """The methodologies in the order of the run; then those without findings, with the reason."""
        frame, shown = self.material.frame, {one.id for one in self.page.findings}
        given = set(frame.loc[frame["arm_role"].eq("main") & frame["distribution"].ne(""), "methodology"])
        warned = {
            one.methodology: unusable(one, self.language) for one in self.page.usable if one.standing == NOT_USABLE
        }
        for name in self.material.found.results:
            others = [one for one in self.page.by_methodology.get(name, ()) if one.id not in shown]
            yield Part(
                name, self.page.titles[name], **self._texts(name), findings=others[:FINDINGS],
                further=others[FINDINGS:], pictures=self._of(name), more_pictures=self._of(name, "appendix"),
                probabilities=name in given, unusable=warned.get(name, ""),
            )  # fmt: skip
        for name, why in accounts.missing(self.reading, self.material.stages, self.material.found).items():
            yield Part(name, self.page.titles.get(name, name), missing=escape(tell(why, self.language)))

    def _texts(self, name: str) -> dict[str, str]:
        if results := self.declared.get(name):
            return {"section": results.at("section"), "appendix": results.at("appendix")}
        return {}

    def _problems(self) -> Iterator[Words]:
        material = self.material
        return accounts.problems(self.reading, material.frame, material.stages, material.found)

    def _across(self) -> list[KeyFinding]:
        """What was tested over methodologies and is not on page one."""
        shown = {one.id for one in self.page.findings}
        return [one for one in self.page.across if one.id not in shown][:FINDINGS]

    def _titles(self) -> Mapping[str, str]:
        """Also of the synthesis and the critic, which make calls of their own."""
        others = {"synthesis": tell(N_("Synthesis"), self.language), CRITIC: tell(N_("Critic"), self.language)}
        return {**self.page.titles, **others}

    def _more(self) -> Iterator[tuple[str, str]]:
        """What is nobody's own: heading and Markdown."""
        material, language = self.material, self.language
        again = replicates_text.section(material.replicates, self.own, self.page.titles, language)
        again += "".join(f"\n\n{_image(one)}" for one in self._of(REPLICATES, "appendix"))
        for title, text in (
            (N_("Across the methodologies"), self.declared[ACROSS].at("appendix")),
            (N_("Replicates"), again),
            (N_("What answers name of a memory"), self._named()), (CHECKS_TITLE, self.declared[HEALTH].at("appendix")),
        ):  # fmt: skip
            if text:
                yield tell(title, language), text

    def _named(self) -> str:
        return citations.section(self.material.citations, self.material.frame, self.language)


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
        "enquete.reports:page_one.md.j2",
        language,
        page=page,
        strip=lambda finding: "",
        behind=lambda finding: "",
    )


def _image(picture: Picture) -> str:
    return f"![{_alt(picture.alt)}](figures/{picture.stem}.svg)"


def _alt(text: str) -> str:
    return escape(text).replace("]", "\\]")


def _behind(finding: KeyFinding, embedded: Embedded, language: Language) -> str:
    """A link to the answers that a finding rests on."""
    target = next((anchor for item in finding.items if (anchor := embedded.anchor(finding.methodology, item))), "")
    text = tell(N_("answers"), language)
    return f" [{text}]({target or DATA})" if finding.items else ""
