"""What a stopped run says to whoever goes on with it, and the values that resume it.

A run stops at two places: `await_simulation` between the waves, and `gate` once everything that could be done was
done. Each stop is an interrupt of LangGraph. Its value has a `reason`, says in `how` which values resume it, and is a
valid `HumanInterrupt` besides (action_request, config, description), so that Agent Inbox and Agent Chat UI can show and
answer it. Accepted resume values are `true`, the object that `how` describes, and the list of one `HumanResponse` that
those two send.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError
from typing_extensions import TypedDict

from enquete.ledger.ledger import Ledger
from enquete.respondents.person import (
    answered_items,
    as_shown,
    open_forms,
    require_readable,
    require_some_answer,
    submit,
)
from enquete.state.asking import Block, Participant
from enquete.state.errors import InputError, SettingsError, complaints
from enquete.state.request import TokenCap

MAX_FORMS_SHOWN = 10
"""Forms in an interrupt, which is kept with the checkpoint: a panel of people waits with hundreds."""

AWAITING_SIMULATION = "awaiting_simulation"
CONTINUE = "resume with any value once the simulation has completed"
CONTINUE_DEMO = "resume with any value: the demo's simulation then runs to its end"
LOOK_AGAIN = "resume with true to look again"
LARGER_CAP = 'resume with {"budget_tokens": N}, N being the cap for the whole run, what is spent included'
ANSWERS = (
    'resume with {"answers": {NAME: {ITEM: ANSWER}}}, as waiting_for asks, of one or of several; an item that is left '
    'out counts as refused, and "refused" in place of the items refuses all. Or answer on the run\'s page, and resume '
    "with true"
)
REFUSED: Literal["refused"] = "refused"
"""In place of a form's answers: an empty form says nothing, so whoever refuses everything says so."""

Interrupt = dict[str, JsonValue]
Answers = Mapping[str, Mapping[str, JsonValue] | Literal["refused"]]
"""Name or id of a participant → item → answer, or that all are refused."""


class ActionRequest(TypedDict):
    """The action that Agent Inbox shows, and its arguments, which a person edits."""

    action: str
    args: dict[str, JsonValue]


class HumanInterruptConfig(TypedDict):
    """Which answers Agent Inbox offers."""

    allow_ignore: bool
    allow_respond: bool
    allow_edit: bool
    allow_accept: bool


class HumanInterrupt(TypedDict):
    """What Agent Inbox and Agent Chat UI take for a request to a person, as LangGraph defines it."""

    action_request: ActionRequest
    config: HumanInterruptConfig
    description: str


class Resumption(BaseModel):
    """The value that a run is resumed with. `true` is one without fields."""

    model_config = ConfigDict(extra="forbid")

    budget_tokens: TokenCap = None
    answers: dict[str, dict[str, JsonValue] | Literal["refused"]] = {}


def stop_for_simulation(status: str, why: str, outcomes: Mapping[str, str], *, is_demo: bool) -> Interrupt:
    """Describe the pause between T0 and T1.

    Args:
        status: Of the simulation, as its files say it.
        why: The same in a sentence.
        outcomes: "methodology/phase" → outcome of what is done by now.
        is_demo: Whether the simulation is the demo's, which runs to its end when the run is resumed.
    """
    how = CONTINUE_DEMO if is_demo else CONTINUE
    stop: Interrupt = {"reason": AWAITING_SIMULATION, "status": status, "why": why, "how": how}
    request = _human_interrupt("continue_after_simulation", {}, f"{why}. {how[0].upper()}{how[1:]}.", accept=True)
    return {**stop, "outcomes": dict(outcomes), **request}


def stop_at_gate(
    reason: str,
    unfinished: Mapping[str, str],
    budget: Interrupt,
    forms: Sequence[Interrupt],
    n_forms: int,
    *,
    failed: bool,
) -> Interrupt:
    """Describe why a run stopped with work left.

    Args:
        reason: "budget", "waiting" (for people), or what the run was stopped for.
        unfinished: "methodology/phase" → short, waiting or not reached.
        budget: What is spent, expected and allowed, in tokens; told where the budget is the reason.
        forms: The forms that wait for people, at most MAX_FORMS_SHOWN, as `describe_forms` gives them.
        n_forms: How many wait in all.
        failed: Whether the run cannot go on before something is put right.
    """
    ways = [LARGER_CAP] if reason == "budget" else []
    if forms:
        ways.append(ANSWERS)
    how = "; ".join(ways) or LOOK_AGAIN

    stop: Interrupt = {"reason": reason, "failed": failed, "unfinished": dict(unfinished), "how": how}
    if reason == "budget":
        stop |= budget
    if forms:
        stop |= {"waiting_for": list(forms), "n_waiting": n_forms}
    return {**stop, **_request_at_gate(stop, budget, forms, how)}


def _request_at_gate(stop: Interrupt, budget: Interrupt, forms: Sequence[Interrupt], how: str) -> Interrupt:
    """Ask for one thing: the answers to the oldest form, else a larger cap, else to look again."""
    if forms:
        form: Any = forms[0]
        empty: dict[str, JsonValue] = {str(item["item"]): "" for item in form["items"]}
        return _human_interrupt(f"answer as {form['name']}", empty, _write_form(form), edit=True)
    if stop["reason"] == "budget":
        text = f"The budget of {budget['cap_tokens']:,} tokens is used up ({budget['spent_tokens']:,} spent). "
        text += "Enter a larger cap for the whole run."
        return _human_interrupt("raise budget", {"budget_tokens": budget["cap_tokens"]}, text, edit=True)
    return _human_interrupt("look again", {}, f"The run has stopped ({stop['reason']}): {how}.", accept=True)


def _human_interrupt(
    action: str, args: Mapping[str, JsonValue], description: str, *, edit: bool = False, accept: bool = False
) -> Interrupt:
    """Return the fields of LangGraph's `HumanInterrupt`."""
    return {
        "action_request": {"action": action, "args": dict(args)},
        "config": {"allow_ignore": True, "allow_respond": False, "allow_edit": edit, "allow_accept": accept},
        "description": description,
    }


def _write_form(form: Any) -> str:
    """Write a form as Markdown."""
    parts = [f"# {form['name']}", form["instruction"]]
    parts += [f"## {shown['heading']}\n\n{shown['text']}" for shown in form["shown"]]
    for item in form["items"]:
        options = "".join(f"\n- `{value}` {label}" for value, label in item.get("options", {}).items())
        parts.append(f"**{item['item']}**: {item['question']}{options}")
    return "\n\n".join(parts)


def describe_forms(ledger: Ledger, population: Sequence[Participant]) -> tuple[list[Interrupt], int]:
    """Return the oldest forms that wait for people (whose, what is asked and shown), and how many wait in all."""
    blocks = [form.block for form in open_forms(ledger)]
    names = _names_of(blocks, population)
    shown = [
        {"participant": block.key.participant, "name": names[block.key.participant], **as_shown(block)}
        for block in blocks[:MAX_FORMS_SHOWN]
    ]
    return shown, len(blocks)


def read_resumption(value: object, stop: Mapping[str, Any]) -> Resumption:
    """Return what a resume value asks for.

    Args:
        value: As it was given: true, an object, or the list of one `HumanResponse`.
        stop: The interrupt that it answers.

    Raises:
        SettingsError: It is none of these, or a field is wrong. Says what `stop` would take.
    """
    if value is True:
        return Resumption()
    how = stop["how"]
    if _is_human_response(value):
        value = _from_human_response(value, stop)
    if not isinstance(value, Mapping):
        raise SettingsError(f"resume value: {value!r} cannot be read; {how}")
    try:
        return Resumption.model_validate(dict(value))
    except ValidationError as error:
        raise SettingsError(f"resume value: {complaints(error)}; {how}") from None


def _is_human_response(value: object) -> bool:
    if not (isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping)):
        return False
    return value[0].get("type") in ("accept", "ignore", "response", "edit")


def _from_human_response(value: Any, stop: Mapping[str, Any]) -> object:
    """Turn an edited request into the object that `how` describes; to accept or to ignore is to look again."""
    (response,) = value
    if response["type"] in ("accept", "ignore"):
        return {}
    edited = response.get("args")
    if response["type"] == "response" or not isinstance(edited, Mapping):
        return edited
    args = dict(edited.get("args") or {})
    if not stop.get("waiting_for"):
        return args
    given = {item: answer for item, answer in args.items() if answer != ""}
    return {"answers": {stop["waiting_for"][0]["participant"]: given}}


def require_acceptable(
    value: object, stop: Mapping[str, JsonValue], ledger: Ledger, population: Sequence[Participant]
) -> None:
    """Check a resume value before LangGraph keeps it, because it would give a refused one to the node again.

    Raises:
        SettingsError, InputError: The value does not answer this stop; says what would.
    """
    if value is True or stop["reason"] == AWAITING_SIMULATION:
        return
    whole_run = ledger.stages().get(("", ""))
    if whole_run is not None and whole_run.outcome == "completed":
        return  # gone back in time: nothing waits, and the state's note says what to do instead
    match_answers(ledger, population, read_resumption(value, stop).answers)


async def submit_answers(ledger: Ledger, population: Sequence[Participant], answers: Answers) -> None:
    """Submit these people's forms, all of them or none. Raises InputError, saying what would do."""
    for block, given in match_answers(ledger, population, answers):
        await submit(ledger, block, given)


def match_answers(
    ledger: Ledger, population: Sequence[Participant], answers: Answers
) -> list[tuple[Block, Mapping[str, JsonValue]]]:
    """Return the open form that each person's answers fill in.

    Raises:
        InputError: Nobody waits with such a form, an answer is none to its item, or a form is empty.
    """
    blocks = [form.block for form in open_forms(ledger)]
    names = _names_of(blocks, population)
    matched = []
    for who, given in answers.items():
        entered = {} if given == REFUSED else given
        block = _find_form(who, entered, blocks, names, ledger, population)
        require_readable(block, entered)
        if given != REFUSED:
            require_some_answer(block, entered, f'{{"answers": {{"{who}": "{REFUSED}"}}}}')
        matched.append((block, entered))
    return matched


def _names_of(blocks: Sequence[Block], population: Sequence[Participant]) -> dict[str, str]:
    """Return id → name of those who are asked by these forms."""
    asked = {block.key.participant for block in blocks}
    return {who.id: who.name for who in population if who.id in asked} if asked else {}


def _find_form(
    who: str,
    given: Mapping[str, JsonValue],
    blocks: Sequence[Block],
    names: Mapping[str, str],
    ledger: Ledger,
    population: Sequence[Participant],
) -> Block:
    """Return a person's oldest form that has these items."""
    theirs = [block for block in blocks if who in (block.key.participant, names[block.key.participant])]
    waited_for = ", ".join(dict.fromkeys(names[block.key.participant] for block in blocks)) or "nobody"
    for block in theirs:
        if given.keys() <= {item.id for item in block.items}:
            return block

    answered = answered_items(ledger)
    known = [each.id for each in population if who in (each.id, each.name) and each.id in answered]
    if known and (not theirs or given.keys() <= answered[known[0]]):
        raise InputError(
            f"answers: {who} has answered already, and what is answered stays answered, at whatever checkpoint it is "
            f"gone on from; waited for: {waited_for}. Resume with true to go on from here; to have {who} asked anew, "
            "start a thread with the context new=true"
        )
    if not theirs:
        raise InputError(f"answers: nothing is asked of {who!r}; waited for: {waited_for}")
    items = [item.id for item in theirs[0].items]
    unknown = ", ".join(name for name in given if name not in items)
    raise InputError(f"answers: {who} is not asked for {unknown}; items are {', '.join(items)}")
