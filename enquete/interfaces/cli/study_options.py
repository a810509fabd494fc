"""The options that `run` and `estimate` share, once: what is asked, of whom, how, and what it may cost."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from enquete.interfaces.cli import options as o


def study(
    root: o.Root = None,
    out: o.Out = None,
    methods: o.Methods = None,
    phase: o.PhaseOption = None,
    language: o.LanguageOption = None,
    respondent: o.Respondent = None,
    model: o.Model = None,
    base_url: o.BaseUrl = None,
    temperature: o.Temperature = None,
    seed: o.Seed = None,
    asking: o.Asking = None,
    pack: o.PackOption = None,
    instrument: o.InstrumentOption = None,
    set_: o.SetOption = None,
    probes: o.Probes = None,
    probe_sample: o.ProbeSample = None,
    placebo: o.Placebo = False,
    replicates: o.Replicates = None,
    replicate_models: o.ReplicateModels = None,
    randomise: o.Randomise = None,
    elicitation: o.Elicitation = None,
    budget_tokens: o.Budget = None,
    budget_usd: o.BudgetUsd = None,
    concurrency: o.Concurrency = None,
    limit: o.Limit = None,
    timeout_s: o.Timeout = None,
    patience_s: o.Patience = None,
    cache: o.Cache = None,
    baseline: o.Baseline = None,
    assume_completed: o.Assume = False,
    rerun: o.Rerun = False,
    replay_of: o.ReplayOf = None,
) -> None:
    """Never called: its parameters are the options."""


def with_study_options(command: Callable[..., int]) -> Callable[..., int]:
    """`command(sim, **study, …)` for typer, which reads options off a signature: those of `study` after the simulation."""
    sim, *own = inspect.signature(command).parameters.values()
    named = [parameter for parameter in own if parameter.kind is not inspect.Parameter.VAR_KEYWORD]
    hints = {**get_type_hints(study, include_extras=True), **get_type_hints(command, include_extras=True)}

    @functools.wraps(command)
    def called(**said: Any) -> int:
        return command(**said)

    parameters = [sim, *inspect.signature(study).parameters.values(), *named]
    as_options = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hints[one.name]) for one in parameters]
    called.__signature__ = inspect.Signature(as_options)  # type: ignore[attr-defined]  # what inspect looks for
    called.__annotations__ = {one.name: hints[one.name] for one in as_options}
    return called
