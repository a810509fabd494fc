"""The pages of the web interface: which address shows what. Reading and doing are the handlers', as over HTTP.

Pages of what methodologies offer beside a run: a person's interview (the conversation, the question that waits, what
grows from the answers), and two responses side by side.

Everything is an operation that a methodology offers (state/methodology.py), as over HTTP and MCP; nothing here knows a
methodology by name.

The form that begins a run: what can be chosen, made of RunRequest's fields, and the request that it means.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeAlias, get_args
from urllib.parse import parse_qsl

from fastapi import APIRouter
from pydantic import BaseModel, JsonValue
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response, StreamingResponse

from enquete.instruments.pack import packs
from enquete.interfaces.parameters import FILLED_IN, meaning
from enquete.interfaces.server_state import ServerSettings, code_of
from enquete.interfaces.views import GOING_ON, NothingYet, SimulationRow, Stage, simulation_row, simulation_rows
from enquete.interfaces.web import run_pages
from enquete.interfaces.web.answers import OpenRun, RunCache, Where
from enquete.interfaces.web.handlers import RequestHandlers
from enquete.interfaces.web.models import STARTING, PostBody, ResumeBody, StatusData
from enquete.interfaces.web.rendering import STATIC, asset, language_of, render, static, url
from enquete.interfaces.web.run_pages import TYPES, NoSuchFile, as_csv, drawn_as, file_at, named
from enquete.interfaces.web.security import is_token, sign_in, sign_out
from enquete.locale import tell
from enquete.methods.registry import methodologies
from enquete.reports.run_reading import open_run
from enquete.respondents.person import open_forms, persons, require_some_answer
from enquete.runs.fit import told
from enquete.simulations.locate import KnownSimulation, completion
from enquete.state.asking import Block, Item, Spoken
from enquete.state.errors import EnqueteError, InputError, RunMismatch, RunNotFound, SettingsError
from enquete.state.methodology import PairComparisons, PersonInterviews
from enquete.state.request import DraftRequest, FileFormat, RunRequest, parsed
from enquete.state.settings import Environment
from enquete.state.untrusted_input import FileCache
from enquete.study.background import run_in_thread
from enquete.study.drafts import draft_on_server, drafts_on_server
from enquete.study.instruments import InstrumentSummary, own_instruments, shipped_instruments
from enquete.study.interviews import Wanted
from enquete.study.method_operations import FacadePort, operations

# --- Fields of a form, made of what requests and settings say of theirs: nothing here knows a methodology by name ----

KINDS = {"boolean": "flag", "integer": "number", "number": "number", "string": "text"}
SPELLED: Mapping[str, Any] = {"boolean": {"true": True, "false": False}.__getitem__, "integer": int, "number": float}
"""How a text is read, by the type of its field."""


@dataclass(frozen=True)
class Field:
    """One input. kind: flag, choice, many (of options), number, text or words (lines of it). default: if left empty."""

    name: str
    label: str
    kind: str
    hint: str
    options: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    whole: bool = False
    default: str = ""
    required: bool = False


@cache
def schema_of(model: type[BaseModel]) -> Mapping[str, Mapping[str, Any]]:
    """JSON Schema of the fields that take one kind of value; of one that may be left out, without null."""
    kinds = {}
    for name, schema in model.model_json_schema()["properties"].items():
        parts = [part for part in schema.get("anyOf", [schema]) if part.get("type") != "null"]
        if len(parts) == 1:
            kinds[name] = parts[0]
    return kinds


def fields_for(model: type[BaseModel], names: Iterable[str], prefix: str = "") -> list[Field]:
    """In this order, without what a form cannot say: no single value and no list of words, such as a mapping."""
    fields = []
    for name in names:
        schema, info = schema_of(model).get(name, {}), model.model_fields[name]
        inner = schema.get("items", schema)
        is_list, options = schema.get("type") == "array", tuple(map(str, inner.get("enum", ())))
        kind = ("many" if is_list else "choice") if options else KINDS.get(inner.get("type", ""), "")
        if kind == "text" and inner.get("format") == "textarea":
            kind = "words"
        if not kind or (is_list and kind not in ("many", "text")):
            continue
        bounds = (schema.get(end, schema.get(f"exclusive{end.capitalize()}")) for end in ("minimum", "maximum"))
        least, most = (None if bound is None else float(bound) for bound in bounds)
        is_plain = isinstance(info.default, bool | int | float | str) and info.default is not False
        fields.append(
            Field(
                prefix + name, name.replace("_", " "), kind, meaning(name, info), options, least, most,
                whole=schema.get("type") == "integer", default=str(info.default) if is_plain else "",
                required=info.is_required() and not prefix,  # of a method that is not asked nothing must be filled in
            ),
        )  # fmt: skip
    return fields


def labelled(fields: Iterable[Field], labels: Mapping[str, str], language: str) -> list[Field]:
    """With what their methodology calls them."""
    return [
        replace(field, label=tell(labels[field.name], language)) if field.name in labels else field for field in fields
    ]


def is_list(name: str) -> bool:
    """Whether a request's field takes several values."""
    return schema_of(RunRequest).get(name, {}).get("type") == "array"


def typed(settings: type[BaseModel], name: str, text: str) -> Any:
    """A setting as its model reads it; what it cannot read stays a text, which the run refuses in its own words."""
    try:
        return SPELLED.get(schema_of(settings).get(name, {}).get("type", ""), str)(text)
    except (KeyError, ValueError):
        return text


ASKED_FIRST = ("methods", "instruments", "settings", "pack", "language", "respondent", "model", "budget_tokens",
               "budget_usd", "types", "where", "sample", "stratify")  # fmt: skip
"""What has a place of its own in the form."""
SAID_LATER = ("confirm", "fit")
"""What is only asked once the estimate is there."""
INSTRUMENT, SETTING = "instrument.", "set."


@dataclass(frozen=True)
class Method:
    """A methodology in the form. own: files of the server's own that it can ask; shipped: None where it needs one."""

    name: str
    title: str
    shipped: InstrumentSummary | None
    own: list[InstrumentSummary]
    usual: bool
    settings: list[Field]


@dataclass(frozen=True)
class Choices:
    """What can be chosen. model: this server's, "" where it has none and the synthetic respondent answers."""

    methods: list[Method]
    packs: list[str]
    languages: Sequence[str]
    model: str
    respondent: str
    language: str
    cap_tokens: int
    more: list[Field]


def choices(own_folder: Path, language: str) -> Choices:
    """By what is installed here and what lies in the server's own folder. Raises SettingsError."""
    environment = Environment.read()
    return Choices(
        methods=_methods(own_folder, language),
        packs=list(packs()),
        languages=get_args(Spoken),
        model=environment.model or "",
        respondent=environment.respondent or ("llm" if environment.names_model else "synthetic"),
        language=environment.language or "de",
        cap_tokens=environment.max_tokens,
        more=fields_for(RunRequest, [name for name in STARTING if name not in (*ASKED_FIRST, *SAID_LATER)]),
    )


def _methods(own_folder: Path, language: str) -> list[Method]:
    in_folder = own_instruments(own_folder, language)
    shipped = {known.methodology: known for known in shipped_instruments(language) if known.languages}
    methods = []
    for name, method in methodologies().items():
        files = [file for file in in_folder if file.methodology == name and not file.problem]
        if name in shipped or files:
            names = [key for key in method.settings.model_fields if key not in FILLED_IN]
            fields = fields_for(method.settings, names, f"{SETTING}{name}.")
            methods.append(Method(name, tell(method.title, language), shipped.get(name), files, method.default, fields))
    return methods


def request_of(fields: Fields) -> dict[str, Any]:
    """The façade's arguments that a filled-in form means; what was left empty is not said. Raises SettingsError."""
    arguments: dict[str, Any] = {}
    for name, value in ((name, value.strip()) for name, value in fields):
        if value == "":
            continue
        if name.startswith(INSTRUMENT):
            arguments.setdefault("instruments", {})[name.removeprefix(INSTRUMENT)] = value
        elif name.startswith(SETTING):
            method, _, key = name.removeprefix(SETTING).partition(".")
            if method in methodologies():
                setting = typed(methodologies()[method].settings, key, value)
                arguments.setdefault("settings", {}).setdefault(method, {})[key] = setting
        elif name in STARTING:
            _say(arguments, name, value)
    if not arguments.get("methods") and not dict(fields).get("methodology"):
        raise SettingsError(f"methods: none is ticked; tick at least one of {', '.join(methodologies())}")
    _of_those_asked(arguments)
    return parsed(PostBody, arguments).request()


def _say(arguments: dict[str, Any], name: str, value: str) -> None:
    if not is_list(name):
        arguments[name] = "".join(value.split()) if name.startswith("budget") else value
    elif name in ("methods", "types", "probes"):
        arguments.setdefault(name, []).append(value)
    else:  # words in one line
        arguments[name] = words_of(value)


def words_of(line: str) -> list[str]:
    return [word for part in line.split(",") if (word := part.strip())]


def _of_those_asked(arguments: dict[str, Any]) -> None:
    """A file or a setting of a methodology that was not chosen is not meant."""
    for name in ("instruments", "settings"):
        by_method, methods = arguments.pop(name, {}), arguments.get("methods", ())
        if kept := {method: value for method, value in by_method.items() if method in methods}:
            arguments[name] = kept


def values_of(fields: Fields) -> dict[str, list[str]]:
    """What was said, to fill the form in again."""
    values: dict[str, list[str]] = {}
    for name, value in fields:
        values.setdefault(name, []).append(value)
    return values


# --- What a form says


Fields: TypeAlias = Sequence[tuple[str, str]]
"""(name, value), in order; a name as often as it has values."""


async def fields_of(request: Request) -> list[tuple[str, str]]:
    """Every field of a form, in order; what is no UTF-8 is seen as such."""
    body = await request.body()
    return parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True, errors="replace", max_num_fields=10_000)


async def form_of(request: Request) -> dict[str, str]:
    """Of a name that is said several times, the last."""
    return dict(await fields_of(request))


# --- What methodologies offer beside a run ---------------------------------------------------------------------------

HUMAN = "human"


@dataclass(frozen=True)
class PersonForm:
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


def person_forms() -> dict[str, PersonForm]:
    """By name."""
    by_name = {}
    for name, method in methodologies().items():
        if method.offers and method.offers.persons:
            by = method.offers.persons()
            takes = operations()[by.start][1].takes
            by_name[name] = PersonForm(name, method.title, by, fields_for(takes, takes.model_fields))
    return by_name


def add_interviews(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /interviews: all of them, and one a page."""

    async def asked(operation: str, **given: Any) -> dict[str, Any]:
        return await handlers.runner.operate(operation, given)

    def of(name: str) -> PersonForm:
        offer = person_forms().get(name)
        if offer is None:
            raise RunNotFound(f"persons are not interviewed by {name[:100]!r}; by {', '.join(person_forms())}")
        return offer

    async def chosen(offer: PersonForm, field: Field) -> Field:
        if field.name not in offer.by.choices:
            return field
        operation, listed = offer.by.choices[field.name]
        options = tuple(str(each[field.name]) for each in (await asked(operation))[listed])
        return replace(field, kind="choice", options=options)

    async def listing(request: Request, entries: Fields = (), name: str = "", error: str = "") -> Response:
        kinds = []
        for offer in (await run_in_thread(person_forms)).values():
            language, interviews = language_of(request), (await asked(offer.by.show))["interviews"]
            held = [interview for interview in interviews if interview.get("respondent", HUMAN) == HUMAN]
            fields = [await chosen(offer, field) for field in labelled(offer.fields, offer.by.labels, language)]
            kinds.append(replace(offer, title=tell(offer.title, language), interviews=held, fields=fields))
        return render(
            request, "interviews.html.j2", 400 if error else 200, kinds=kinds, values=values_of(entries), failed=name,
            error=error,
        )  # fmt: skip

    async def page(request: Request, offer: PersonForm, id: str, reply: str = "", error: str = "") -> Response:
        told = await asked(offer.by.show, **offer.named(id))
        picture = drawn(told["graph"], len(told["turns"])) if "graph" in told else None
        return render(
            request, "interview.html.j2", 400 if error else 200, offer=offer, id=id, told=told, picture=picture,
            reply=reply, record=told.get(offer.by.record) if offer.by.record else None, error=error,
        )  # fmt: skip

    @router.get("/interviews")
    async def all_of_them(request: Request) -> Response:
        return await listing(request)

    @router.post("/interviews/{name}")
    async def begin(request: Request, name: str) -> Response:
        offer, fields = of(name), await fields_of(request)
        takes = operations()[offer.by.start][1].takes
        given = {key: typed(takes, key, value.strip()) for key, value in fields if value.strip()}
        place = offer.by.keys[0]
        try:
            if offer.by.opens and place in given:
                await asked(offer.by.opens, **{place: given[place]})
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
    """Kinds of concepts in rows, the last of them on top. sentences: the same in words, a line a link."""

    width: int
    height: int
    rows: Sequence[tuple[str, int]]
    boxes: Sequence[Box]
    arrows: Sequence[Arrow]
    sentences: Sequence[str]


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


def pair_comparisons() -> PairComparisons:
    """Of the first methodology that offers them. Raises RunNotFound."""
    for method in methodologies().values():
        if method.offers and method.offers.pairs:
            return method.offers.pairs()
    raise RunNotFound("no methodology that is installed compares respondents")


def add_comparisons(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /comparisons: all of them, and one a page."""

    async def listing(request: Request, entries: Fields = (), error: str = "") -> Response:
        by = await run_in_thread(pair_comparisons)
        takes = operations()[by.ask][1].takes
        held = (await handlers.runner.operate(by.show, {}))["comparisons"]
        return render(
            request, "comparisons.html.j2", 400 if error else 200, held=held, key=by.key, values=values_of(entries),
            fields=labelled(fields_for(takes, takes.model_fields), by.labels, language_of(request)), error=error,
        )  # fmt: skip

    async def page(request: Request, id: str, why: str = "", error: str = "") -> Response:
        by = await run_in_thread(pair_comparisons)
        told = await handlers.runner.operate(by.show, {by.key: id})
        return render(request, "comparison.html.j2", 400 if error else 200, id=id, told=told, why=why, error=error)

    @router.get("/comparisons")
    async def all_of_them(request: Request) -> Response:
        return await listing(request)

    @router.post("/comparisons")
    async def ask(request: Request) -> Response:
        by, fields = await run_in_thread(pair_comparisons), await fields_of(request)
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
        by, form = await run_in_thread(pair_comparisons), await form_of(request)
        if step not in ("prefer", "judge"):
            raise RunNotFound("one of two responses is preferred, or a model is let prefer")
        why = form.get("why", "").strip()
        try:
            if step == "judge":
                await handlers.runner.operate(by.judge, {by.key: id})
            else:
                letter = form.get("verdict", "")
                spoken = f"{why} [RESULT] {letter}" if letter in ("A", "B") else letter or why or "–"
                await handlers.runner.operate(
                    by.prefer, {by.key: id, "question_id": form.get("question_id", ""), "verdict": spoken}
                )
        except EnqueteError as error:
            return await page(request, id, why, handlers.mask(error.fact))
        return RedirectResponse(url("comparisons", id), 303)


# --- The head of a run's pages: how far it is, what it has cost, and what can be done with it now --------------------

MOST_BEFORE_DONE = 0.97


@dataclass(frozen=True)
class Head:
    """`data`: what GET …/status answers. `titles`: of its methodologies."""

    data: StatusData
    titles: Mapping[str, str]

    @property
    def goes_on(self) -> bool:
        return self.data.run_status in GOING_ON

    @property
    def can_pause(self) -> bool:
        return self.data.run_status == "running"

    @property
    def can_resume(self) -> bool:
        return not self.goes_on and self.data.run_status != "completed"

    @property
    def likely_rest(self) -> int | None:
        """Tokens that are likely to come; None where nothing was estimated."""
        known = [stage.remaining_tokens for stage in self.data.stages]
        return sum(tokens for tokens in known if tokens is not None) if known and None not in known else None

    @property
    def share(self) -> float:
        """How much of what is likely to be spent is spent; of agents where nothing was estimated."""
        budget, stages = self.data.budget, self.data.stages
        if budget.expected_tokens:
            return min(1.0, budget.tokens / budget.expected_tokens)
        total = sum(stage.n_total for stage in stages)
        return sum(stage.n_responded for stage in stages) / total if total else 0.0

    @staticmethod
    def share_of(stage: Stage) -> float:
        """How much of a stage is done: by tokens where they were estimated, but those of requests in flight count
        before their answers are there, so never more than the agents allow."""
        if stage.outcome == "done":
            return 1.0
        rest, spent = stage.remaining_tokens, stage.tokens
        by_agents = min(1.0, (stage.n_responded + 0.5) / (stage.n_total or 1)) if stage.calls else 0.0
        by_tokens = spent / (spent + rest) if rest is not None and spent + rest else 1.0
        return min(by_agents, by_tokens, MOST_BEFORE_DONE)


async def head_of(handlers: RequestHandlers, sim_id: str, run_id: str) -> Head:
    """At most a second old. Raises RunNotFound, LedgerError."""
    titles = {name: method.title for name, method in methodologies().items()}
    return Head((await handlers.status(sim_id, run_id)).data, titles)


# --- The pages that begin, pause, resume and delete runs; what each costs is shown before ----------------------------


def add_studies(router: APIRouter, handlers: RequestHandlers) -> None:
    """A simulation's page with its form, the estimate before every start, and drafts."""
    sandbox = handlers.sandbox

    async def row_of(sim_id: str) -> SimulationRow:
        known = KnownSimulation(sim_id, await run_in_thread(lambda: sandbox.simulation(sim_id)))
        return await run_in_thread(lambda: simulation_row(sandbox, known, handlers.task_of, handlers.mask))

    async def form(request: Request, sim_id: str, fields: Fields = (), error: EnqueteError | None = None) -> Response:
        """`fields`: to fill it in again. `error`: why that cannot be asked."""
        row, language = await row_of(sim_id), language_of(request)
        offered = await run_in_thread(lambda: choices(Path(handlers.sandbox.given["own_folder"]), language))
        drafts = await run_in_thread(lambda: drafts_on_server(handlers.sandbox, sim_id))
        return render(
            request, "simulation.html.j2", code_of(error) if error else 200, sim_id=sim_id, simulation=row,
            choices=offered, drafts=drafts, drafting=fields_for(DraftRequest, ("topic", "themes")),
            values=values_of(fields), error=handlers.mask(error.fact) if error else "", titles=titles_in(language),
            most=max(row.types.values(), default=1), conflict=isinstance(error, RunMismatch),
        )  # fmt: skip

    @router.get("/simulations/{sim_id}/")
    async def simulation(request: Request, sim_id: str) -> Response:
        return await form(request, sim_id)

    @router.post("/simulations/{sim_id}/change")
    async def change(request: Request, sim_id: str) -> Response:
        return await form(request, sim_id, await fields_of(request))

    @router.post("/simulations/{sim_id}/estimate")
    async def estimate(request: Request, sim_id: str) -> Response:
        fields, language = await fields_of(request), language_of(request)
        method = dict(fields).get("methodology")
        try:
            arguments = {"methodology": method} if method else request_of(fields)
            forecast = await handlers.foreseen(sim_id, dict(arguments))
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        unfit = " ".join(told(forecast.fit, language)) if forecast.fit else ""
        return render(
            request, "estimate.html.j2", sim_id=sim_id, estimate=forecast.estimate, fields=fields, unfit=unfit,
            rerun=bool(method), titles=titles_in(language),
            again=not method and bool(await run_in_thread(lambda: handlers.sandbox.runs(sim_id)))
            and not arguments.get("new"),
        )  # fmt: skip

    @router.post("/simulations/{sim_id}/begin")
    async def begin(request: Request, sim_id: str) -> Response:
        fields = await fields_of(request)
        try:
            wanted, kind = await _wanted(handlers, sim_id, fields)
            launched = await handlers.launch(sim_id, kind, wanted)
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        return to_run(sim_id, launched.run_id, shown=launched.run is not None and launched.run.shown)

    @router.post("/simulations/{sim_id}/draft")
    async def draft(request: Request, sim_id: str) -> Response:
        fields = await fields_of(request)
        texts = {name: value.strip() for name, value in fields if value.strip()}
        named = {"themes": words_of(texts["themes"])} if "themes" in texts else {}
        try:
            asked = parsed(DraftRequest, {**texts, **named})
            await run_in_thread(lambda: draft_on_server(handlers.sandbox, sim_id, asked))
        except EnqueteError as error:
            return await form(request, sim_id, fields, error)
        return RedirectResponse(url("simulations", sim_id, "drafts"), 303)

    @router.get("/simulations/{sim_id}/drafts")
    async def drafts(request: Request, sim_id: str) -> Response:
        row, language = await row_of(sim_id), language_of(request)
        drafts = await run_in_thread(lambda: drafts_on_server(handlers.sandbox, sim_id, language))
        if not drafts:
            return RedirectResponse(url("simulations", sim_id, ""), 303)
        usual = [name for name, method in methodologies().items() if method.default]
        return render(
            request, "drafts.html.j2", sim_id=sim_id, simulation=row, drafts=drafts, usual=usual,
            titles=titles_in(language),
        )  # fmt: skip


async def _wanted(handlers: RequestHandlers, sim_id: str, fields: Fields) -> tuple[Wanted, Any]:
    """What a form means: a methodology anew, all that is left once the simulation has completed, else both waves."""
    arguments, method = request_of(fields), dict(fields).get("methodology")
    if method:
        return Wanted({**arguments, "methods": [method], "rerun": True}), "rerun"
    folder = await run_in_thread(lambda: handlers.sandbox.simulation(sim_id))
    if await run_in_thread(lambda: completion(folder, bool(arguments.get("assume_completed"))).completed):
        return await handlers.wanted_after(sim_id, arguments), "post"
    return Wanted(arguments), "pre"


def add_controls(router: APIRouter, handlers: RequestHandlers) -> None:
    """What can be done with a run: paused, gone on with, deleted."""

    @router.get("/runs/{sim_id}/{run_id}/progress")
    async def progress(request: Request, sim_id: str, run_id: str) -> Response:
        """The part of a run's page that changes while it goes on."""
        head = await head_of(handlers, sim_id, run_id)
        return render(request, "run_progress.html.j2", sim_id=sim_id, run_id=run_id, head=head)

    @router.post("/runs/{sim_id}/{run_id}/pause")
    async def pause(request: Request, sim_id: str, run_id: str) -> Response:
        await handlers.pause(sim_id, run_id)
        return to_run(sim_id, run_id)

    @router.post("/runs/{sim_id}/{run_id}/resume")
    async def resume(request: Request, sim_id: str, run_id: str) -> Response:
        given = {name: "".join(value.split()) for name, value in await fields_of(request) if value.strip()}
        await handlers.resume(sim_id, parsed(ResumeBody, {**given, "resume_token": run_id}))
        return to_run(sim_id, run_id)

    @router.get("/runs/{sim_id}/{run_id}/delete")
    async def ask(request: Request, sim_id: str, run_id: str) -> Response:
        planned = await run_in_thread(lambda: handlers.deletion(sim_id, run_id))
        return render(request, "delete.html.j2", sim_id=sim_id, run_id=run_id, planned=planned)

    @router.post("/runs/{sim_id}/{run_id}/delete")
    async def carry_out(request: Request, sim_id: str, run_id: str) -> Response:
        await handlers.delete(sim_id, run_id)
        return RedirectResponse(url("simulations", sim_id, ""), 303)


def to_run(sim_id: str, run_id: str, *, shown: bool = False) -> Response:
    """`shown`: it had been finished before, and nobody was asked again."""
    return RedirectResponse(url("runs", sim_id, run_id, "", shown="1" if shown else None), 303)


def titles_in(language: str) -> dict[str, str]:
    return {name: tell(method.title, language) for name, method in methodologies().items()}


# --- A run as it is read: its report in tabs, its answers down to the request behind each, agents, another run

Facts: TypeAlias = Mapping[str, Any]
Show: TypeAlias = Callable[[OpenRun, Request, str], Facts]
"""(run, request, language of the page) → what the template is filled with."""


def add_reading(router: APIRouter, handlers: RequestHandlers) -> None:
    """Everything under /runs/{sim_id}/{run_id}/."""
    cache = RunCache(handlers.sandbox)
    heads: FileCache[Head] = FileCache(32)

    def page(path: str, template: str, show: Show) -> None:
        @router.get(f"/runs/{{sim_id}}/{{run_id}}/{path}")
        async def answer(request: Request, sim_id: str, run_id: str) -> Response:
            run = await handlers.read(lambda: cache.open(sim_id, run_id, language_of(request)))
            head = await resting(run)
            return await handlers.read(lambda: written(request, run, head))

        def written(request: Request, run: OpenRun, head: Head) -> Response:
            tabs, facts = run_pages.tabs(run), show(run, request, run.reader)
            named: dict[str, Any] = {"sim_id": run.sim_id, "run_id": run.run.run_id, "run": run.run, "opened": run}
            return render(request, template, tabs=tabs, head=head, **named, **facts)

    async def resting(run: OpenRun) -> Head:
        """How far the run is; of one that rests, as when its ledger was last written: counting a large one is slow."""
        key, stamp = run.run.folder, await run_in_thread(lambda: run.written)
        held = None if handlers.drives(run.run.run_id) else heads.held(key, stamp)
        if held is not None:
            return held
        head = await head_of(handlers, run.sim_id, run.run.run_id)
        if not head.goes_on:
            heads.keep(key, stamp, head)
        return head

    page("", "run_page_one.html.j2", run_pages.page_one)
    page("m/{methodology}", "run_tab.html.j2", run_pages.methodology)
    page("synthesis", "run_tab.html.j2", run_pages.synthesis)
    page("health", "run_tab.html.j2", run_pages.health)
    page("answers", "run_answers.html.j2", run_pages.answers)
    page("answer", "run_answer.html.j2", run_pages.answer)
    page("agents", "run_agents.html.j2", run_pages.agents)
    page("agent", "run_agent.html.j2", run_pages.agent)
    page("instruments", "run_instruments.html.j2", run_pages.instruments)
    page("compare", "run_compare.html.j2", run_pages.compare)
    page("files", "run_files.html.j2", run_pages.files)
    _add_downloads(router, cache, handlers)


def _add_downloads(router: APIRouter, cache: RunCache, handlers: RequestHandlers) -> None:
    async def opened(sim_id: str, run_id: str) -> OpenRun:
        return await handlers.read(lambda: cache.open(sim_id, run_id))

    @router.get("/runs/{sim_id}/{run_id}/answers.csv")
    async def table(request: Request, sim_id: str, run_id: str) -> Response:
        run = await opened(sim_id, run_id)
        where = await run_in_thread(lambda: _where(run, request))
        await run_in_thread(lambda: run.table)  # what is missing is said before the answer begins
        return StreamingResponse(
            as_csv(run, where), media_type="text/csv; charset=utf-8", headers=_saved(f"{run_id}_answers.csv")
        )

    @router.get("/runs/{sim_id}/{run_id}/data/{kind}")
    async def data(sim_id: str, run_id: str, kind: FileFormat) -> Response:
        return await handlers.data(lambda: cache.open(sim_id, run_id).run, kind)

    @router.get("/runs/{sim_id}/{run_id}/figures/{name}")
    async def figure(sim_id: str, run_id: str, name: str) -> Response:
        run = await opened(sim_id, run_id)
        stem, _, kind = name.rpartition(".")
        figures = await run_in_thread(lambda: run.drawings.figures)
        drawn = next((picture for picture in figures if picture.stem == stem), None)
        if drawn is None:
            raise NoSuchFile(f"run {run.run.run_id} has no figure {name[:100]!r}")
        body, content = await run_in_thread(lambda: drawn_as(drawn, kind))
        return Response(body, media_type=content, headers=_saved(name))

    @router.get("/runs/{sim_id}/{run_id}/sections/{name}.md")
    async def section(sim_id: str, run_id: str, name: str) -> Response:
        run = await opened(sim_id, run_id)
        title = run.reported.get(name, "")
        text = await run_in_thread(lambda: named(run.text("report.md"), title)) if title else ""
        if not text:
            raise NothingYet(f"run {run.run.run_id} has no section on {name[:100]!r}")
        return Response(
            f"## {title}\n\n{text}\n", media_type="text/markdown; charset=utf-8", headers=_saved(f"{name}.md")
        )

    @router.get("/runs/{sim_id}/{run_id}/files/{path:path}")
    async def file(sim_id: str, run_id: str, path: str) -> Response:
        """Always saved, never shown: what others wrote runs nothing here."""
        run = await opened(sim_id, run_id)
        target = await run_in_thread(lambda: file_at(run, path))
        kind = TYPES.get(target.suffix, "application/octet-stream")
        return FileResponse(target, media_type=kind, filename=target.name)


def _where(run: OpenRun, request: Request) -> Where:
    asked = request.query_params.multi_items()
    return Where.of(asked, run.drawings.marks if "mark" in request.query_params else {})


def _saved(name: str) -> dict[str, str]:
    plain = "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in name)
    return {"Content-Disposition": f'attachment; filename="{plain}"'}


# --- A person's seat: their own form and nothing else of the run. Whose form it is, any methodology says -------------
# Nobody sees here what others said before it is due: a form shows what its block quotes.

ITEM = "item."


@dataclass(frozen=True)
class Seats:
    """Persons of a run, id to name, and the oldest form of each that waits."""

    persons: Mapping[str, str]
    waiting: Mapping[str, Block]


def add_seats(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /runs/{sim_id}/{run_id}/seat; `who`: the person's id, "" where there is one."""

    async def page(
        request: Request, sim_id: str, run_id: str, who: str, entries: Mapping[str, str], error: str = ""
    ) -> Response:
        head = await head_of(handlers, sim_id, run_id)
        seats = await handlers.read(lambda: seats_of(handlers, sim_id, run_id))
        who = who or (next(iter(seats.persons)) if len(seats.persons) == 1 else "")
        if who and who not in seats.persons:
            raise RunNotFound("nobody of this name has a seat in this run")
        return render(
            request, "run_seat.html.j2", 400 if error else 200, sim_id=sim_id, run_id=run_id, who=who,
            persons=seats.persons, seat=seats.waiting.get(who), entries=entries, error=error,
            run_language=head.data.language, waits=head.data.status != "completed",
        )  # fmt: skip

    @router.get("/runs/{sim_id}/{run_id}/seat")
    async def shown(request: Request, sim_id: str, run_id: str, who: str = "") -> Response:
        return await page(request, sim_id, run_id, who, {})

    @router.post("/runs/{sim_id}/{run_id}/seat")
    async def answered(request: Request, sim_id: str, run_id: str, who: str = "") -> Response:
        entries = await form_of(request)
        seats = await run_in_thread(lambda: seats_of(handlers, sim_id, run_id))
        seat = seats.waiting.get(who)
        if seat is None:
            raise RunNotFound("this form has been answered already, or waits for nobody any more")
        try:
            port = FacadePort(handlers.sandbox.root, handlers.sandbox.given["own_folder"], seat.key.methodology)
            answers = {item.id: answer_of(item, entries) for item in seat.items}
            if entries.get("refuse"):
                answers = {}
            else:
                require_some_answer(seat, answers, "the button below the form")
            await port.submit(sim_id, run_id, answers, who=who)
        except InputError as error:
            return await page(request, sim_id, run_id, who, entries, handlers.mask(error.fact))
        if seats.waiting.keys() == {who}:
            await handlers.resume(sim_id, ResumeBody.model_validate({"resume_token": run_id}))
        return RedirectResponse(url("runs", sim_id, run_id, "seat", who=who), 303)


def seats_of(handlers: RequestHandlers, sim_id: str, run_id: str) -> Seats:
    """Raises RunNotFound, LedgerError."""
    folder: Path = handlers.sandbox.run(sim_id, run_id).folder
    with open_run(folder) as reading:
        names = {who.id: who.name for who in reading.population}
        waiting = {form.block.key.participant: form.block for form in reversed(open_forms(reading.ledger))}
        return Seats({who: names.get(who, who) for who in persons(reading.ledger)}, waiting)


def answer_of(item: Item, entries: Mapping[str, str]) -> JsonValue:
    """As a respondent would give it, "" where nothing was entered. Raises InputError, in the item's own words."""
    name = ITEM + item.id
    if item.kind == "best_worst":
        ends: dict[str, JsonValue] = {end: entries.get(f"{name}.{end}", "") for end in ("best", "worst")}
        return ends if any(ends.values()) else ""
    return _ranked(item, entries) if item.kind == "ranking" else entries.get(name, "").strip()


def _ranked(item: Item, entries: Mapping[str, str]) -> JsonValue:
    places = {option.value: entries.get(f"{ITEM}{item.id}.{option.value}", "") for option in item.options}
    if not any(places.values()):
        return ""
    wanted = [str(place) for place in range(1, len(places) + 1)]
    if sorted(places.values(), key=lambda place: (len(place), place)) != wanted:
        given = ", ".join(place or "none" for place in places.values())
        raise InputError(f"{item.wording}: give each option a place of its own, 1 to {len(places)}; you gave {given}")
    return [*sorted(places, key=lambda value: int(places[value]))]


FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def make_pages(handlers: RequestHandlers, settings: ServerSettings) -> APIRouter:
    """All pages but the API's own."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def home(request: Request) -> Response:
        rows = await run_in_thread(lambda: simulation_rows(handlers.sandbox, handlers.task_of, handlers.mask))
        return render(request, "home.html.j2", rows=rows, root=handlers.sandbox.root.name)

    @router.get("/static/{content}/{name}")
    async def file(content: str, name: str) -> Response:
        """One of another version is not kept: whoever asks for it shows an old page."""
        if name not in STATIC:
            raise HTTPException(404, "no such file")
        body, kind = asset(name)
        return Response(body, media_type=kind, headers=FOR_EVER if static(name).split("/")[2] == content else {})

    add_signing_in(router, settings)
    add_studies(router, handlers)
    add_controls(router, handlers)
    add_seats(router, handlers)
    add_interviews(router, handlers)
    add_comparisons(router, handlers)
    add_reading(router, handlers)
    return router


def add_signing_in(router: APIRouter, settings: ServerSettings) -> None:
    """The form that takes the token, where the server has one."""
    token = settings.token.get_secret_value().encode() if settings.token else b""

    @router.get("/sign-in")
    async def ask(request: Request, next: str = "/") -> Response:
        return render(request, "sign_in.html.j2", next=_inside(next), wrong=False) if token else _to("/")

    @router.post("/sign-in")
    async def take(request: Request) -> Response:
        form = await form_of(request)
        there = _inside(form.get("next", "/"))
        if not is_token(form.get("token", ""), token):
            return render(request, "sign_in.html.j2", 401, next=there, wrong=True)
        response = _to(there)
        sign_in(response, token, secure=request.headers.get("origin", "").startswith("https:"))
        return response

    @router.post("/sign-out")
    async def leave(request: Request) -> Response:
        response = _to("/sign-in")
        sign_out(response)
        return response


def _inside(address: str) -> str:
    """An address of this server alone: nobody is sent elsewhere after he has signed in."""
    is_inside = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_inside else "/"


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)
