"""What each page of a run is filled with: from the run and what the address asks for to the facts of its template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from enquete.interfaces.service.replies import NothingYet
from enquete.interfaces.web.run.answer_list import STATUS_WORDS, choices, further, given, listing, shown
from enquete.interfaces.web.run.differences import differences
from enquete.interfaces.web.run.downloads import FORMATS, files_of
from enquete.interfaces.web.run.instruments import used_instruments
from enquete.interfaces.web.run.people import Person, found_of, people, person, talks_of
from enquete.interfaces.web.run.requests import Key, asked
from enquete.interfaces.web.run.run_cache import OpenRun
from enquete.interfaces.web.run.table import ANY, Where, Wording, marked
from enquete.interfaces.web.run.tabs import Tabs
from enquete.locale import N_, in_language, tell
from enquete.state.errors import InputError

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
    tab = Tabs(run, language).page_one() if run.has_report else None
    return {"current": "", "tab": tab}


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
        raise InputError(
            "this is no id of an answer: run/arm/methodology/phase/session/round/turn/participant/item"
        ) from None
    place = run.table.place_of(key)
    if place is None:
        raise NothingYet(f"run {run.run.run_id} has no answer {str(key)[:300]!r}")
    (one,) = shown(run, run.table.rows([place]), "", language)
    sent = asked(run.folder_of(key.run), key)
    question = _question(run, key, one.wording, language)
    alike = Where({"methodology": (key.methodology,), "item_id": (key.item,)})
    return {
        "current": "answers", "one": one, "question": question, "key": key, "asked": sent, "statuses": STATUS_WORDS,
        "marked": lambda text: marked(text, [key.item]), "same_item": run.answers(alike),
    }  # fmt: skip


def _question(run: OpenRun, key: Key, wording: Wording, language: str) -> str:
    """As it was asked of this agent."""
    if not wording.is_turn:
        return wording.text
    lines = (line for _, _, talk in talks_of(run, key.participant, language, key.methodology) for line in talk.lines)
    return next((line.text for line in lines if line.turn == key.turn and not line.participant), wording.text)


# --- agents ----------------------------------------------------------------------------------------------------------


def agents(run: OpenRun, request: Request, language: str) -> Facts:
    words, kind = (request.query_params.get(name, "").strip() for name in ("q", "stakeholder_type"))
    everybody = people(run.run.folder)
    found = [one for one in everybody if _is_meant(one, words.casefold(), kind)]
    counts = run.table.counts("participant", Where()) if run.has_report else {}
    page = min(page_of(request), max(1, -(-len(found) // PEOPLE_PER_PAGE)))
    return {
        "current": "agents", "found": found[(page - 1) * PEOPLE_PER_PAGE : page * PEOPLE_PER_PAGE], "total": len(found),
        "counts": counts, "page": page, "pages": max(1, -(-len(found) // PEOPLE_PER_PAGE)), "words": words, "kind": kind,
        "kinds": sorted({(one.kind, run.type_name(one.kind)) for one in everybody}, key=lambda one: one[1]), "here": run.at("agents"),
    }  # fmt: skip


def _is_meant(one: Person, words: str, kind: str) -> bool:
    return (not words or words in one.name.casefold() or words in one.id.casefold()) and (not kind or one.kind == kind)


def agent(run: OpenRun, request: Request, language: str) -> Facts:
    who, digests = person(run.run.folder, request.query_params.get("id", ""))
    where = Where({"participant": (who.id,)})
    rows = run.table.rows(run.table.places(where)[:MOST_OF_AGENT])
    by_methodology: dict[str, list[Any]] = {}
    for one in shown(run, rows, "", language):
        by_methodology.setdefault(str(one.row["methodology"]), []).append(one)
    told = Tabs(run, language)
    talks: dict[str, list[Any]] = {}
    for name, phase, talk in talks_of(run, who.id, language):
        drawn = told.drawn(talk.graph) if talk.graph is not None else ""
        talks.setdefault(name, []).append((phase, talk, drawn))
    return {
        "current": "agents", "who": who, "digests": digests, "answers": by_methodology, "talks": talks,
        "found": found_of(run, who.id), "all_answers": run.answers(Where({"participant": (who.id,)}, status=ANY)),
        "statuses": STATUS_WORDS, "csv": f"{run.at('answers.csv')}?{where.query(status=ANY)}",
    }  # fmt: skip


# --- instruments, another run, files ---------------------------------------------------------------------------------


def instruments(run: OpenRun, request: Request, language: str) -> Facts:
    return {"current": "instruments", "used": used_instruments(run)}


def compare(run: OpenRun, request: Request, language: str) -> Facts:
    others = [one for one in run.shelf.sandbox.runs(run.sim_id) if one.run_id != run.run.run_id]
    named, page = request.query_params.get("with", ""), page_of(request)
    facts: dict[str, Any] = {
        "current": "compare",
        "others": others[::-1],
        "named": named,
        "here": run.at("compare"),
        "found": None,
    }
    if not named:
        return facts
    other = run.shelf.open(run.sim_id, named, run.reader)
    files = [one.file("exports", "all_responses.csv") for one in (run, other)]
    key = ("compare", run.run.folder, other.run.folder)
    found = run.shelf.objects.get(key, files, lambda: differences(run, other))
    pages = max(1, -(-len(found.comparison.values) // DIFFERENT_PER_PAGE))
    page = min(page, pages)
    rows = found.rows((page - 1) * DIFFERENT_PER_PAGE, DIFFERENT_PER_PAGE)
    changed = [
        {
            "wording": run.wording(row["methodology"], row["item_id"]), "row": row,
            "first": _said(run, row, "first", language), "second": _said(run, row, "second", language),
            "links": [one.at("answer", id=str(Key.of({**row, "run_id": one.run.run_id}))) for one in (run, other)],
        }
        for row in rows
    ]  # fmt: skip
    return {**facts, "found": found, "other": other, "changed": changed, "page": page, "pages": pages}


def _said(run: OpenRun, row: Mapping[str, Any], which: str, language: str) -> str:
    own = {"value": row[f"value_{which}"], "chosen": ""}
    parts = (given(own, run.wording(row["methodology"], row["item_id"]), language), row[f"text_{which}"])
    return " – ".join(str(part) for part in parts if part)


def files(run: OpenRun, request: Request, language: str) -> Facts:
    return {
        "current": "files", "groups": files_of(run), "figures": run.drawings.figures if run.has_report else [],
        "formats": in_language(FORMATS, language),
    }  # fmt: skip


def page_of(request: Request) -> int:
    text = request.query_params.get("page", "")
    return int(text) if text.isdecimal() and len(text) < 7 else 1
