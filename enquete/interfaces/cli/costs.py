"""`enquete estimate`, and the question before a model is paid: what a run will cost, before its first request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.amounts import counted, duration, money, short, span
from enquete.interfaces.cli.output import number, one_object, result, table
from enquete.interfaces.cli.requests import requested
from enquete.interfaces.cli.words import say, tongue
from enquete.interfaces.service.declared import taking
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    from enquete.nodes.estimate import Estimate, EstimateLine


@taking(o.options("study", "driving", "start"))
def estimate(sim: o.Sim, as_json: o.Json = False, **asked: Any) -> int:
    """Say what `enquete run` with the same options would cost: requests, tokens, money and time, each as a range.

    Asks nobody and writes nothing. The prompts of up to forty agents are built and measured. Every figure is the likely
    one, with the least and the most in brackets; a price that is not known is "unknown", never 0.

    \b
    Examples:
      enquete estimate sim_683e8059ab27 --root uploads --model gpt-5-mini
      enquete estimate personas.csv --out results --methods delphi --budget-tokens 500000
      enquete estimate ./my_sim --methods delphi --rerun --json

    \b
    Exit codes: 0 shown, whether it fits the budget or not · 2 wrong input
    """
    request = requested(asked)
    if request.get("respondent") == "replay":
        raise SettingsError("--respondent replay: a replay sends no request and costs nothing, so nothing is estimated")
    expected = enquete.estimate(sim, **request)
    if as_json:
        one_object({**expected.as_object(), "exit_code": 0})
        return 0
    for line in lines(expected):
        result(line)
    return 0


def lines(expected: Estimate) -> list[str]:
    """The whole estimate as text."""
    measured = say("measured", n=number(expected.rehearsed), agents=number(expected.agents))
    without = [say("estimate_synthetic")] if expected.respondent != "llm" else []
    return [
        say("estimate_of", sim=expected.sim_id, agents=number(expected.agents)) + " " + measured,
        *without,
        "",
        *table(_head(), [*(_row(line) for line in expected.lines), _total(expected)]),
        "",
        *_by_model(expected),
        time_text(expected),
        verdict(expected),
        *expected.notes,
    ]


def _head() -> list[str]:
    return [say(key) for key in ("stage", "purpose", "by", "calls", "input", "output", "usd")]


def _row(line: EstimateLine) -> list[str]:
    stage = " ".join(word for word in (line.methodology, line.phase) if word)
    arm = "" if line.arm == "main" else f" ({line.arm})"
    return [
        stage + arm,
        line.purpose,
        line.model,
        counted(line.calls),
        counted(line.input_tokens),
        counted(line.output_tokens),
        money(line.usd),
    ]


def _total(expected: Estimate) -> list[str]:
    tokens = (counted(expected.input_tokens), counted(expected.output_tokens))
    return [say("total"), "", "", counted(expected.calls), *tokens, money(expected.usd)]


def _by_model(expected: Estimate) -> list[str]:
    """Where more than one model answers, and where a price is unknown."""
    models = sorted({line.model for line in expected.lines if line.price_source != "no model"})
    found = []
    for model in models if len(models) > 1 else ():
        known = [line.usd for line in expected.lines if line.model == model and line.usd is not None]
        total = None if model in expected.unpriced else sum(known[1:], start=known[0])
        found.append(say("usd_of", model=model, usd=money(total)))
    if expected.unpriced:
        found.append(say("unpriced", models=", ".join(expected.unpriced)))
    return found


def time_text(expected: Estimate) -> str:
    if expected.batches:
        return say("time_batches", batches=number(expected.batches))
    seconds = expected.seconds
    if seconds is None:
        return say("time_unknown")
    ends = span(duration(seconds.low), duration(seconds.high))
    likely = duration(seconds.likely)
    whole = likely if ends == likely else f"{likely} ({ends})"
    return say("time_needed", time=whole, concurrency=number(expected.concurrency))


def verdict(expected: Estimate) -> str:
    """Whether the upper ends fit the caps, and what would."""
    caps = [say("cap_tokens", cap=number(expected.cap_tokens))]
    if expected.cap_usd is not None:
        caps.append(say("cap_usd", cap=f"{expected.cap_usd:g}"))
    cap = ", ".join(caps)
    if expected.cap_usd is not None and expected.unpriced:
        return say("cap_unknowable", cap=cap)
    if not expected.exceeds:
        return say("cap_fits", cap=cap)
    from enquete.checkpoints.budget import rounded_up  # noqa: PLC0415 - not for --help

    usd = expected.usd
    by_money = f"--budget-usd {usd.high:.2f}" if usd else ""
    enough = f"--budget-tokens {rounded_up(expected.tokens.high)}" if expected.exceeds == "tokens" else by_money
    return say("cap_exceeded", cap=cap, enough=enough)


def agreed(sim: str, request: dict[str, Any]) -> dict[str, Any] | None:
    """Ask before a model is paid: the request to go on with, or None. Who agrees to more than the cap has confirmed it. Raises
    ModelError where a new run's server is not there.

    Nothing is asked where nothing is paid: the synthetic respondent, a replay, a run that is finished.
    """
    from enquete.graphs.registry import dotted_paths  # noqa: PLC0415
    from enquete.nodes.fit import told  # noqa: PLC0415
    from enquete.nodes.model_server import require_server_of  # noqa: PLC0415
    from enquete.nodes.run_choice import choose_run  # noqa: PLC0415
    from enquete.state.request import parse_request  # noqa: PLC0415
    from enquete.state.settings import Environment, resolve_machine  # noqa: PLC0415
    from enquete.study.background import wait  # noqa: PLC0415

    environment = Environment.read()
    asked = parse_request(sim=sim, **request)
    choice, population = choose_run(asked, environment, dotted_paths(asked.methods))
    unfit = told(choice.record.fit, tongue()) if choice.record.fit and choice.action == "new" else []
    if unfit and (asked.fit or environment.fit) == "checked":
        if not typer.confirm(say("unfit", why=" ".join(unfit)), default=False, err=True):
            return None
        request = {**request, "fit": "any"}
    main = choice.record.main
    if main.respondent != "llm" or choice.action == "finished" or choice.record.replay_of:
        return request
    who = {"sim": population.sim_id, "model": main.model, "server": choice.record.base_url or say("own")}
    who["agents"] = number(len(population.participants))
    if choice.action == "resume":
        begun = enquete.Run(choice.folder)
        spent, whole = begun.spent.get("tokens", 0), begun.expected_tokens
        more = say("unknown") if whole is None else short(max(0, whole - spent))
        question = say("confirm_resume", spent=short(spent), more=more, **who)
        return request if typer.confirm(question, default=True, err=True) else None
    machine = resolve_machine(asked, environment)
    if not machine.waits_for_server:  # else the run says that it waits
        wait(require_server_of(choice.record, machine))
    expected = enquete.estimate(sim, **request)
    time = duration(expected.seconds.likely) if expected.seconds else say("time_unknown")
    costs = {"tokens": counted(expected.tokens), "usd": money(expected.usd), "time": time}
    question = say("confirm", verdict=verdict(expected), **costs, **who)
    if not typer.confirm(question, default=not expected.exceeds, err=True):
        return None
    return {**request, "confirm": True} if expected.exceeds else request
