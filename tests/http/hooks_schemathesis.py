"""Loaded by schemathesis: ids that are not meant to be wrong are those of a simulation and a run that are there, so
that cases come further than to 404; and none asks for a study of minutes."""

from __future__ import annotations

import itertools
import os
from typing import Any

import schemathesis
from schemathesis.core.parameters import ParameterLocation

RUN = os.environ["FUZZED_RUN"]
SIMULATIONS = itertools.cycle(("over", "over", "running", "nobody"))
BOUNDED = {"replicates": 1, "replicate_models": [], "probe_sample": 2, "digest_chars": 100}


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    fits = {where for where, part in case.meta.components.items() if part.mode.is_positive}
    real = {"sim_id": next(SIMULATIONS), "run_id": RUN, "task_id": RUN, "resume_token": RUN}
    if case.operation.method.lower() == "delete":
        del real["run_id"]  # it is needed until the end
    for where, sent in (
        (ParameterLocation.PATH, case.path_parameters),
        (ParameterLocation.QUERY, case.query),
        (ParameterLocation.BODY, case.body),
    ):
        if where in fits and isinstance(sent, dict):
            known = {**real, **BOUNDED}
            sent |= {name: known[name] for name, value in sent.items() if name in known and value not in (None, "")}
