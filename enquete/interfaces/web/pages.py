"""The pages of the web interface: which address shows what. Reading and doing are the desk's, as over HTTP."""

from __future__ import annotations

from fastapi import APIRouter
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.interfaces.http.handlers import RequestHandlers
from enquete.interfaces.service.listening import ServerSettings
from enquete.interfaces.service.overview import simulation_rows
from enquete.interfaces.web.reading_pages import add_reading
from enquete.interfaces.web.rendering import STATIC, asset, render, static
from enquete.interfaces.web.said import form_of
from enquete.interfaces.web.seat_pages import add_seats
from enquete.interfaces.web.signing_in import is_token, sign_in, sign_out
from enquete.interfaces.web.steering_pages import add_steering
from enquete.study.threads import run_in_thread

FOR_EVER = {"Cache-Control": "public, max-age=31536000, immutable"}


def make_pages(desk: RequestHandlers, settings: ServerSettings) -> APIRouter:
    """All pages but the API's own."""
    router = APIRouter(include_in_schema=False)

    @router.get("/")
    async def home(request: Request) -> Response:
        rows = await run_in_thread(lambda: simulation_rows(desk.sandbox, desk.task_of, desk.mask))
        return render(request, "home.html.j2", rows=rows, root=desk.sandbox.root.name)

    @router.get("/static/{content}/{name}")
    async def file(content: str, name: str) -> Response:
        """One of another version is not kept: whoever asks for it shows an old page."""
        if name not in STATIC:
            raise HTTPException(404, "no such file")
        body, kind = asset(name)
        return Response(body, media_type=kind, headers=FOR_EVER if static(name).split("/")[2] == content else {})

    add_signing_in(router, settings)
    add_steering(router, desk)
    add_seats(router, desk)
    add_reading(router, desk)
    return router


def add_signing_in(router: APIRouter, settings: ServerSettings) -> None:
    """The form that takes the token, where the server has one."""
    token = settings.token.get_secret_value().encode() if settings.token else b""

    @router.get("/sign-in")
    async def ask(request: Request, next: str = "/") -> Response:
        return render(request, "sign_in.html.j2", next=_inside(next), wrong=False) if token else _to("/")

    @router.post("/sign-in")
    async def take(request: Request) -> Response:
        said = await form_of(request)
        there = _inside(said.get("next", "/"))
        if not is_token(said.get("token", ""), token):
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
    return (
        address if address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable() else "/"
    )


def _to(address: str) -> Response:
    return RedirectResponse(address, 303)
