"""What went wrong, as a page in the reader's words."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from enquete.interfaces.web.rendering import render
from enquete.locale import N_

API = ("/api/", "/docs", "/openapi.json")
TITLES: Mapping[int, str] = {
    400: N_("That cannot be done"),
    401: N_("Sign in"),
    403: N_("Not allowed"),
    404: N_("There is no such page"),
    409: N_("Not now"),
    421: N_("Another server's name"),
    422: N_("The form is not filled in as it should be"),
    429: N_("Too many runs go on"),
    503: N_("Too busy"),
}


def is_page(path: str) -> bool:
    """Whether a person reads what this path answers."""
    return not path.startswith(API)


def mishap(request: Request, code: int, message: str, remedy: str = "") -> Response:
    """`message`: what is wrong, in the words that every interface has. Nothing here may fail."""
    title = TITLES.get(code, N_("Something went wrong"))
    return render(request, "mishap.html.j2", code, title=title, message=message, remedy=remedy)


def to_sign_in(request: Request) -> Response:
    """There and back again."""
    back = request.url.path if request.method in ("GET", "HEAD") else "/"
    return RedirectResponse(f"/sign-in?next={quote(back, safe='/')}", 303)
