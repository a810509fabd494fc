"""A page from its template, in the reader's language, everything untrusted escaped and its control characters seen."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from enquete.locale import N_, SOURCE, decimals, languages, tell, whole
from enquete.locale.templating import environment, source, told
from enquete.reports.markdown import share
from enquete.state.untrusted_input import visible

LANGUAGE_COOKIE = "enquete_language"
A_YEAR_S = 365 * 24 * 3600
MISSING = "–"
PAGE_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    # With no-referrer, a browser says "Origin: null" of a form's own page.
    "Referrer-Policy": "same-origin",
}
"""Scripts and styles come from this server; a style attribute, which tables and figures have, runs nothing."""
OURS = "enquete.interfaces.web:static/"
STATIC: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "web.css": ("text/css", ("enquete.reports:look.css", f"{OURS}web.css", f"{OURS}reading.css")),
    "web.js": ("text/javascript", ("enquete.reports:page.js", f"{OURS}web.js", f"{OURS}reading.js")),
}
"""Name → its type and the files that it is made of."""
RUN_STATES: Mapping[str, str] = {
    "running": N_("running"),
    "pausing": N_("pausing"),
    "writing_up": N_("writing up"),
    "completed": N_("completed"),
    "awaiting_simulation": N_("waits for the simulation"),
    "waiting": N_("waits for a person"),
    "paused": N_("paused"),
    "failed": N_("failed"),
    "damaged": N_("damaged"),
    "newer": N_("of a newer version"),
}
OUTCOMES: Mapping[str, str] = {
    "not started": N_("not begun"),
    "running": N_("running"),
    "done": N_("done"),
    "short": N_("broken off"),
    "waiting": N_("waits for a person"),
    "failed": N_("failed"),
}
SIM_STATES: Mapping[str, str] = {
    "completed": N_("simulation completed"),
    "running": N_("simulation runs"),
    "": N_("simulation not completed"),
}
TIMES = ((N_("{n} h"), 3600), (N_("{n} min"), 60), (N_("{n} s"), 1))
TEMPLATES = "enquete.interfaces.web:templates/"


def render(request: Request, template: str, /, code: int = 200, **context: Any) -> Response:
    """`template`: a name in templates/, or `package:path`. Known in every template: `_`, `C_`, `NN_`, `static`, `url`,
    `language`, `languages`, `in_language(one)` (this page), `signed_in`; filters `num`, `whole`, `tell`."""
    language = language_of(request)
    facts = {
        "in_language": lambda other: f"?{urlencode({**request.query_params, 'lang': other})}",
        "languages": languages(),
        "signed_in": getattr(request.state, "signed_in", False),
        "was_shown": request.query_params.get("shown") == "1",
        **context,
    }
    text = page_text(template, language, **facts)
    response = HTMLResponse(text.encode("utf-8", "backslashreplace"), code, headers=PAGE_HEADERS)
    chosen = request.query_params.get("lang")
    if chosen == language:
        response.set_cookie(LANGUAGE_COOKIE, language, max_age=A_YEAR_S, samesite="strict", path="/")
    return response


def page_text(template: str, language: str = SOURCE, /, **facts: Any) -> str:
    return _environment(language).get_template(template).render(facts)


def language_of(request: Request) -> str:
    """By `?lang=`, by what was chosen before, by what the browser asks for."""
    known = languages()
    asked = [request.query_params.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, "")]
    accepted = request.headers.get("accept-language", "").split(",")
    asked += [entry.partition(";")[0].strip().partition("-")[0].lower() for entry in accepted]
    return next((language for language in asked if language in known), SOURCE)


def url(*parts: str, **query: str | None) -> str:
    """An address of this server: `url("runs", sim_id, run_id, "")` is /runs/…/…/."""
    asked = "&".join(f"{name}={quote(value, safe='')}" for name, value in query.items() if value)
    return "/" + "/".join(quote(part, safe="") for part in parts) + (f"?{asked}" if asked else "")


@cache
def asset(name: str) -> tuple[bytes, str]:
    """Content and type of a static file. Raises KeyError."""
    kind, sources = STATIC[name]
    return "\n".join(map(source, sources)).encode(), kind


@cache
def static(name: str) -> str:
    """Its address, which changes with its content, so that it may be kept for ever."""
    return url("static", hashlib.sha256(asset(name)[0]).hexdigest()[:12], name)


@cache
def _environment(language: str) -> Environment:
    made = environment(language, _template, autoescape=True, finalize=_seen)
    made.globals |= {"static": static, "url": url, "minutes": partial(_minutes, language)}
    made.filters |= {
        "state_word": partial(_state_word, language),
        "outcome_word": lambda outcome: tell(OUTCOMES.get(outcome, outcome), language),
        "share": lambda value: share(value, language),
        "whole": lambda value: MISSING if value is None else whole(round(value), language),
        "num": partial(_number, language),
    }
    return made


def _seen(value: object) -> object:
    """What a template prints; what is markup already is left as it is."""
    return visible(value) if type(value) is str else value


def _number(language: str, value: float | None, digits: int = 2) -> str:
    return MISSING if value is None else decimals(f"{value:.{digits}f}", language)


def _minutes(language: str, seconds: float) -> str:
    """Time in the unit that says most."""
    unit, size = next((unit, size) for unit, size in TIMES if seconds >= size or size == 1)
    digits = 1 if seconds / size < 10 and size > 1 else 0
    return told(language, unit, n=decimals(f"{seconds / size:.{digits}f}", language))


def _state_word(language: str, status: str, simulation: bool = False) -> str:
    """Of a run, or of a simulation, whose own words are those of another program."""
    known = SIM_STATES if simulation else RUN_STATES
    return tell(known.get(status, known.get("", status)), language)


def _template(name: str) -> str:
    return source(name if ":" in name else TEMPLATES + name)


# --- What went wrong, as a page in the reader's words


API = ("/api/", "/docs", "/openapi.json")
TITLES: Mapping[int, str] = {
    400: N_("That cannot be done"), 401: N_("Sign in"), 403: N_("Not allowed"), 404: N_("There is no such page"),
    409: N_("Not now"), 421: N_("Another server's name"), 422: N_("The form is not filled in as it should be"),
    429: N_("Too many runs go on"), 503: N_("Too busy"),
}  # fmt: skip


def is_page(path: str) -> bool:
    """Whether a person reads what this path answers."""
    return not path.startswith(API)


def error_page(request: Request, code: int, message: str, remedy: str = "") -> Response:
    """`message`: what is wrong, in the words that every interface has. Nothing here may fail."""
    title = TITLES.get(code, N_("Something went wrong"))
    return render(request, "mishap.html.j2", code, title=title, message=message, remedy=remedy)


def to_sign_in(request: Request) -> Response:
    """There and back again."""
    back = request.url.path if request.method in ("GET", "HEAD") else "/"
    return RedirectResponse(f"/sign-in?next={quote(back, safe='/')}", 303)
