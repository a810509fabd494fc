"""Two responses to one question, side by side and without names: asked, and preferred by whoever reads them.

Everything is an operation that a methodology offers (state/methodology.py: PairComparisons), as over HTTP and MCP.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.graphs.registry import methodologies
from enquete.interfaces.web.handlers import RequestHandlers
from enquete.interfaces.web.rendering import render, url
from enquete.interfaces.web.study_form import Fields, fields_for, fields_of, form_of, typed, values_of
from enquete.state.errors import EnqueteError, RunNotFound
from enquete.state.methodology import PairComparisons
from enquete.study.background import run_in_thread
from enquete.study.method_operations import operations


def offered() -> PairComparisons:
    """Of the first methodology that offers them. Raises RunNotFound."""
    found = next((one.offers.pairs for one in methodologies().values() if one.offers and one.offers.pairs), None)
    if found is None:
        raise RunNotFound("no methodology that is installed compares respondents")
    return found()


def add_comparisons(router: APIRouter, handlers: RequestHandlers) -> None:
    """Under /comparisons: all of them, and one a page."""

    async def listing(request: Request, said: Fields = (), error: str = "") -> Response:
        by = await run_in_thread(offered)
        takes = operations()[by.ask][1].takes
        held = (await handlers.operate(by.show, {}))["comparisons"]
        return render(
            request, "comparisons.html.j2", 400 if error else 200, held=held, key=by.key, values=values_of(said),
            fields=fields_for(takes, takes.model_fields), error=error,
        )  # fmt: skip

    async def page(request: Request, id: str, said: str = "", error: str = "") -> Response:
        by = await run_in_thread(offered)
        told = await handlers.operate(by.show, {by.key: id})
        return render(request, "comparison.html.j2", 400 if error else 200, id=id, told=told, said=said, error=error)

    @router.get("/comparisons")
    async def all_of_them(request: Request) -> Response:
        return await listing(request)

    @router.post("/comparisons")
    async def ask(request: Request) -> Response:
        by, fields = await run_in_thread(offered), await fields_of(request)
        takes = operations()[by.ask][1].takes
        given: dict[str, Any] = {}
        for key, value in ((key, value.strip()) for key, value in fields):
            if value:
                given[key] = value.split(", ") if key == "agents" else typed(takes, key, value)
        try:
            await handlers.operate(by.ask, given)
        except EnqueteError as error:
            return await listing(request, fields, handlers.mask(error.fact))
        return RedirectResponse(url("comparisons", str(given[by.key])), 303)

    @router.get("/comparisons/{id}")
    async def shown(request: Request, id: str) -> Response:
        return await page(request, id)

    @router.post("/comparisons/{id}/{step}")
    async def step(request: Request, id: str, step: str) -> Response:
        by, said = await run_in_thread(offered), await form_of(request)
        if step not in ("prefer", "judge"):
            raise RunNotFound("one of two responses is preferred, or a model is let prefer")
        why = said.get("why", "").strip()
        try:
            if step == "judge":
                await handlers.operate(by.judge, {by.key: id})
            else:
                letter = said.get("verdict", "")
                spoken = f"{letter} because {why}" if why and letter in ("A", "B") else letter or why or "–"
                await handlers.operate(
                    by.prefer, {by.key: id, "question_id": said.get("question_id", ""), "verdict": spoken}
                )
        except EnqueteError as error:
            return await page(request, id, why, handlers.mask(error.fact))
        return RedirectResponse(url("comparisons", id), 303)
