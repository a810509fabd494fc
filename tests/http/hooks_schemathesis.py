"""Loaded by schemathesis: most cases name a simulation and a run that are there, and none asks for a study of minutes."""

from __future__ import annotations

import os
from typing import Any

import schemathesis

RUN = os.environ["FUZZED_RUN"]
SIMULATIONS = ("running", "over")
BOUNDED = {"replicates": 1, "replicate_models": None, "probe_sample": 2, "digest_chars": 100}


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: dict[str, Any] | None) -> dict[str, Any] | None:
    if path_parameters and len(str(path_parameters.get("sim_id", ""))) % 4:
        path_parameters["sim_id"] = SIMULATIONS[len(str(path_parameters["sim_id"])) % 2]
    kept = context.operation.method.lower() != "delete"
    if path_parameters and kept and len(str(path_parameters.get("run_id", ""))) % 4:
        path_parameters["sim_id"], path_parameters["run_id"] = "over", RUN
    return path_parameters


@schemathesis.hook
def map_query(context: Any, query: Any) -> Any:
    for name in ("run_id", "task_id"):
        if query and len(str(query.get(name, ""))) % 4:
            query[name] = RUN
    return query


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    if isinstance(body, dict):
        return {
            name: BOUNDED[name] if name in BOUNDED and isinstance(value, int | list) else value
            for name, value in body.items()
        }
    return body
