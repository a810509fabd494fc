"""Pages of what methodologies offer beside a run: a person's interview (the conversation, the question that waits, what
grows from the answers), and two responses side by side.

Everything is an operation that a methodology offers (state/methodology.py), as over HTTP and MCP; nothing here knows a
methodology by name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.graphs.registry import methodologies
from enquete.interfaces.web.handlers import RequestHandlers
from enquete.interfaces.web.rendering import language_of, render, url
from enquete.interfaces.web.study_form import Field, Fields, fields_for, fields_of, form_of, labelled, typed, values_of
from enquete.locale import tell
from enquete.state.errors import EnqueteError, InputError, RunNotFound
from enquete.state.methodology import PairComparisons, PersonInterviews
from enquete.study.background import run_in_thread
from enquete.study.method_operations import operations

HUMAN = "human"


@dataclass(frozen=True)
class Offered:
    """A methodology by which persons can be interviewed, with the form that begins one."""

    name: str
    title: str
    by: PersonInterviews
    fields: list[Field]
    interviews: Sequence[Mapping[str, Any]] = ()

    def address(self, told: Mapping[str, Any], step: str = "") -> str:
        """Of the interview that these values name."""
        return url("interviews", self.name, *(str(told[key]) for key in self.by.keys), *([step] if step else []))

    def named(self, id: str) -> dict[str, str]:
        """What names the interview of this address."""
        parts = id.split("/", len(self.by.keys) - 1)
        if len(parts) < len(self.by.keys):
            raise RunNotFound(f"no interview {id[:100]!r}")
        return dict(zip(self.by.keys, parts, strict=True))


def offered() -> dict[str, Offered]:
    """By name."""
    by_name = {}
    for name, method in methodologies().items():
        if method.offers and method.offers.persons:
            by = method.offers.persons()
            takes = operations()[by.start][1].takes
            by_name[name] = Offered(name, method.title, by, fields_for(takes, takes.model_fields))
    return by_name


def add_interviews(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /interviews: all of them, and one a page."""

    async def asked(operation: str, **given: Any) -> dict[str, Any]:
        return await handlers.runner.operate(operation, given)

    def of(name: str) -> Offered:
        offer = offered().get(name)
        if offer is None:
            raise RunNotFound(f"persons are not interviewed by {name[:100]!r}; by {', '.join(offered())}")
        return offer

    async def chosen(offer: Offered, field: Field) -> Field:
        if field.name not in offer.by.choices:
            return field
        operation, listed = offer.by.choices[field.name]
        options = tuple(str(each[field.name]) for each in (await asked(operation))[listed])
        return replace(field, kind="choice", options=options)

    async def listing(request: Request, entries: Fields = (), name: str = "", error: str = "") -> Response:
        kinds = []
        for offer in (await run_in_thread(offered)).values():
            language, talks = language_of(request), (await asked(offer.by.show))["interviews"]
            held = [talk for talk in talks if talk.get("respondent", HUMAN) == HUMAN]
            fields = [await chosen(offer, field) for field in labelled(offer.fields, offer.by.labels, language)]
            kinds.append(replace(offer, title=tell(offer.title, language), interviews=held, fields=fields))
        return render(
            request, "interviews.html.j2", 400 if error else 200, kinds=kinds, values=values_of(entries), failed=name,
            error=error,
        )  # fmt: skip

    async def page(request: Request, offer: Offered, id: str, reply: str = "", error: str = "") -> Response:
        told = await asked(offer.by.show, **offer.named(id))
        picture = drawn(told["graph"], len(told["turns"])) if "graph" in told else None
        return render(
            request, "interview.html.j2", 400 if error else 200, one=offer, id=id, told=told, picture=picture,
            said=reply, record=told.get(offer.by.record) if offer.by.record else None, error=error,
        )  # fmt: skip

    @router.get("/interviews")
    async def all_of_them(request: Request) -> Response:
        return await listing(request)

    @router.post("/interviews/{name}")
    async def begin(request: Request, name: str) -> Response:
        offer, fields = of(name), await fields_of(request)
        takes = operations()[offer.by.start][1].takes
        given = {key: typed(takes, key, value.strip()) for key, value in fields if value.strip()}
        try:
            told = await asked(offer.by.start, **given)
        except EnqueteError as error:
            return await listing(request, fields, name, handlers.mask(error.fact))
        return RedirectResponse(offer.address(told), 303)

    @router.get("/interviews/{name}/{id:path}")
    async def shown(request: Request, name: str, id: str) -> Response:
        return await page(request, of(name), id)

    @router.post("/interviews/{name}/{id:path}/{step}")
    async def step(request: Request, name: str, id: str, step: str) -> Response:
        offer, reply = of(name), (await form_of(request)).get("answer", "")
        steps = {"answer": offer.by.answer, "end": offer.by.end, "resume": offer.by.start}
        if step not in steps:
            raise RunNotFound("an interview is answered, ended or gone on with")
        named = offer.named(id)
        given = {**named, **({"answer": reply} if step == "answer" else {})}
        try:
            if step == "answer" and not reply.strip():
                raise InputError("write an answer, or end the interview")
            await asked(steps[step], **given)
        except InputError as error:
            return await page(request, offer, id, reply, handlers.mask(error.fact))
        return RedirectResponse(offer.address(named), 303)


# --- a graph as a picture ---------------------------------------------------------------------------------------------

WIDE, APART, LINE, CHARACTERS = 168, 24, 17, 22
"""Width of a box, room between two, height of a line of text, and how many characters fit into one."""
TOP, BETWEEN, LEFT = 26, 74, 12


@dataclass(frozen=True)
class Box:
    x: int
    y: int
    height: int
    lines: Sequence[str]
    text: str
    is_new: bool
    is_retracted: bool


@dataclass(frozen=True)
class Arrow:
    """From one box to another: the points of a curve; where its label stands."""

    path: str
    label: str
    x: float
    y: float
    is_new: bool


@dataclass(frozen=True)
class ConceptMap:
    """Kinds of concepts in rows, the last of them on top. said: the same in words, a line a link."""

    width: int
    height: int
    rows: Sequence[tuple[str, int]]
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    said: Sequence[str]


def drawn(graph: Mapping[str, Any], turn: int) -> ConceptMap:
    """turn: of which what is new is marked."""
    by_type = defaultdict[str, list[Mapping[str, Any]]](list)
    for node in graph["nodes"]:
        by_type[node["type"]].append(node)
    kinds = [kind for kind in reversed(graph["types"]) if by_type[kind["type"]]]
    boxes, rows, y, width = dict[str, Box](), list[tuple[str, int]](), TOP, WIDE
    for kind in kinds:
        nodes = by_type[kind["type"]]
        lines = {node["id"]: wrap(node["text"], CHARACTERS)[:4] for node in nodes}
        height = 14 + LINE * max(map(len, lines.values()))
        rows.append((kind["label"], y - 8))
        for place, node in enumerate(nodes):
            boxes[node["id"]] = Box(
                LEFT + place * (WIDE + APART), y, height, lines[node["id"]], node["text"], node["turn"] == turn,
                node["retracted"],
            )  # fmt: skip
        width = max(width, LEFT + len(nodes) * (WIDE + APART))
        y += height + BETWEEN
    links = [(boxes[edge["source"]], boxes[edge["target"]], edge["label"], edge["turn"]) for edge in graph["edges"]]
    arrows = [_arrow(source, target, label, since == turn) for source, target, label, since in links]
    sentences = [f"{source.text} – {label} – {target.text}" for source, target, label, _ in links]
    return ConceptMap(max(width, 320), max(y - BETWEEN + 20, 60), rows, list(boxes.values()), arrows, sentences)


def _arrow(source: Box, target: Box, label: str, is_new: bool) -> Arrow:
    """From top to bottom of two rows; over their heads within one."""
    x, other = source.x + WIDE / 2, target.x + WIDE / 2
    if source.y == target.y:
        start, end = source.y, target.y
        bend: float = source.y - 34
        at = bend + 12
    else:
        upwards = target.y < source.y
        start, end = (source.y, target.y + target.height) if upwards else (source.y + source.height, target.y)
        bend = at = (start + end) / 2
    return Arrow(f"M{x} {start} C{x} {bend} {other} {bend} {other} {end}", label, (x + other) / 2, at, is_new)


# --- Two responses to one question, side by side and without names: asked, and preferred by whoever reads them
# (state/methodology.py: PairComparisons)


def comparisons_offered() -> PairComparisons:
    """Of the first methodology that offers them. Raises RunNotFound."""
    for method in methodologies().values():
        if method.offers and method.offers.pairs:
            return method.offers.pairs()
    raise RunNotFound("no methodology that is installed compares respondents")


def add_comparisons(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /comparisons: all of them, and one a page."""

    async def listing(request: Request, entries: Fields = (), error: str = "") -> Response:
        by = await run_in_thread(comparisons_offered)
        takes = operations()[by.ask][1].takes
        held = (await handlers.runner.operate(by.show, {}))["comparisons"]
        return render(
            request, "comparisons.html.j2", 400 if error else 200, held=held, key=by.key, values=values_of(entries),
            fields=labelled(fields_for(takes, takes.model_fields), by.labels, language_of(request)), error=error,
        )  # fmt: skip

    async def page(request: Request, id: str, why: str = "", error: str = "") -> Response:
        by = await run_in_thread(comparisons_offered)
        told = await handlers.runner.operate(by.show, {by.key: id})
        return render(request, "comparison.html.j2", 400 if error else 200, id=id, told=told, said=why, error=error)

    @router.get("/comparisons")
    async def all_of_them(request: Request) -> Response:
        return await listing(request)

    @router.post("/comparisons")
    async def ask(request: Request) -> Response:
        by, fields = await run_in_thread(comparisons_offered), await fields_of(request)
        takes = operations()[by.ask][1].takes
        given: dict[str, Any] = {}
        for key, value in ((key, value.strip()) for key, value in fields):
            if value:
                given[key] = value.split(", ") if key == "agents" else typed(takes, key, value)
        try:
            await handlers.runner.operate(by.ask, given)
        except EnqueteError as error:
            return await listing(request, fields, handlers.mask(error.fact))
        return RedirectResponse(url("comparisons", str(given[by.key])), 303)

    @router.get("/comparisons/{id}")
    async def shown(request: Request, id: str) -> Response:
        return await page(request, id)

    @router.post("/comparisons/{id}/{step}")
    async def step(request: Request, id: str, step: str) -> Response:
        by, form = await run_in_thread(comparisons_offered), await form_of(request)
        if step not in ("prefer", "judge"):
            raise RunNotFound("one of two responses is preferred, or a model is let prefer")
        why = form.get("why", "").strip()
        try:
            if step == "judge":
                await handlers.runner.operate(by.judge, {by.key: id})
            else:
                letter = form.get("verdict", "")
                spoken = f"{letter} because {why}" if why and letter in ("A", "B") else letter or why or "–"
                await handlers.runner.operate(
                    by.prefer, {by.key: id, "question_id": form.get("question_id", ""), "verdict": spoken}
                )
        except EnqueteError as error:
            return await page(request, id, why, handlers.mask(error.fact))
        return RedirectResponse(url("comparisons", id), 303)
