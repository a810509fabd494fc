"""The reply of a server that cannot start: `enquete mcp` answers its client's requests with the reason.

Imports nothing of the MCP packages, because their absence is one of the reasons.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from enquete.state.errors import EnqueteError

INTERNAL_ERROR = -32603
"""JSON-RPC's code for a server that cannot do what is asked."""


@contextmanager
def tell_client_why() -> Iterator[None]:
    """Tell a client on stdin and stdout why its server cannot start, and raise the error again for the terminal.

    Without this a client only sees the stream end: what is written to stderr reaches nobody in most of them.
    """
    try:
        yield
    except EnqueteError as error:
        with suppress(OSError):  # nobody is there any more
            _refuse_requests(str(error.fact or error))
        raise


def _refuse_requests(why: str) -> None:
    """Answer every request until the client leaves: one that is refused in a new protocol asks again in an old one."""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return
    for line in sys.stdin:
        request_id = _id_of_request(line)
        if request_id is None:
            continue
        error = {"code": INTERNAL_ERROR, "message": f"Enquete cannot start: {why}"}
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": request_id, "error": error}) + "\n")
        sys.stdout.flush()


def _id_of_request(line: str) -> str | int | None:
    """Return the id of a JSON-RPC request; None for a notification, and for what is no message."""
    try:
        message = json.loads(line)
    except ValueError:
        return None
    if not isinstance(message, dict) or "method" not in message:
        return None
    request_id = message.get("id")
    return request_id if isinstance(request_id, str | int) else None
