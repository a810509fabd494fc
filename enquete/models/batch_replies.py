"""What came of a request in a batch, sorted: an answer, refused in this form, or worth another batch."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from pydantic import JsonValue

from enquete.models import error_messages
from enquete.models.batches import Order, Reply
from enquete.models.dialect import Form
from enquete.models.faults import Tally, Trouble, is_passing, status_fault
from enquete.models.response import Response, completed, response_from
from enquete.state.interview_context import Prompt


class Came(NamedTuple):
    """What came of a request: its reply, None where its batch ended without one; and the batch."""

    reply: Reply | None
    order: Order


def read(came: Came, prompt: Prompt, model: str, form: Form, tally: Tally, key: str) -> Response:
    """Raises Refused, Trouble, and Unavailable with `outage` where somebody cancelled the batch. Counts in `tally` what was sent and
    what may have been billed."""
    reply = came.reply
    if reply is None or reply.status == 0:
        raise _unanswered(came, tally)
    tally.sends += 1
    if reply.status == 200:
        return _response(reply.body, prompt, model, tally, key)
    raise status_fault(reply.status, reply.said, form, passing=is_passing(reply.status))


def _unanswered(came: Came, tally: Tally) -> Exception:
    """Of a batch that ran to its end every request was sent, whatever became of its reply; of any other it was not."""
    reply, order = came
    if order.stage == "cancelled":
        return error_messages.paused(
            f"Batch {order.id} was cancelled at the provider after {order.done} of {order.total} requests. Resume to ask for the "
            "others in another."
        )
    if reply is None and order.stage == "completed":
        tally.sends += 1
        tally.broken += 1
        return Trouble("ended a batch without a reply to this request")
    return Trouble(reply.said.message if reply and reply.said.message else "did not get to it before its batch expired")


def _response(body: JsonValue, prompt: Prompt, model: str, tally: Tally, key: str) -> Response:
    response = response_from(completed(body, tally), prompt, model, 0, key)
    return replace(response, sends=tally.sends, timeouts=tally.timeouts, broken=tally.broken)
