"""What LangGraph Studio's form for a graph asks for besides its input: the fields of a request that this graph uses.

The fields are those of `RunRequest`, with their descriptions, limits and choices. A graph of one methodology asks for
that methodology's own settings; a graph of several offers them by name.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model
from pydantic.fields import FieldInfo

from enquete.state.methodology import Methodology
from enquete.state.request import RunRequest, experts_apart

IN_INPUT = ("sim",)
"""Fields that the graph's input has."""
OF_TWO_WAVES = ("phase", "baseline", "placebo", "assume_completed")
"""Fields that only a study before and after a simulation uses."""
FILLED_IN = "filled when the settings are read"
"""How fields of settings are described that a run fills in itself."""


def make_context(title: str, methods: Mapping[str, Methodology]) -> type[BaseModel]:
    """Return the context schema of a graph.

    Args:
        title: Of the graph.
        methods: name → methodology that the graph can run.
    """
    fields = _definitions(RunRequest, IN_INPUT)
    if len(methods) == 1:
        (methodology,) = methods.values()
        _narrow_to(methodology, fields)
    else:
        choice: Any = Literal.__getitem__(tuple(methods))
        fields["methods"] = (list[choice] | None, _described(RunRequest.model_fields["methods"]))
    name = f"{_camel(title)}Context"
    config = ConfigDict(extra="forbid", json_schema_extra=experts_apart)
    model: type[BaseModel] = create_model(name, __config__=config, **fields)
    return model


def _narrow_to(methodology: Methodology, fields: dict[str, Any]) -> None:
    """Take away what this methodology does not use, and put its own settings and probes in place of everybody's."""
    del fields["methods"], fields["rerun"]
    if len(methodology.phases) == 1:
        for name in OF_TWO_WAVES:
            del fields[name]

    settings = _settings_of(methodology)
    if settings is None:
        del fields["settings"]
    else:
        fields["settings"] = (settings | None, Field(None, description=f"settings of {methodology.name}"))

    if methodology.probes:
        kind: Any = Literal.__getitem__(("all", *methodology.probes))
        fields["probes"] = (list[kind], _described(RunRequest.model_fields["probes"]))
    else:
        del fields["probes"], fields["probe_sample"]


def _settings_of(methodology: Methodology) -> type[BaseModel] | None:
    """Return the methodology's settings as a form: the same fields, which are read once the run is begun."""
    declared = methodology.settings.model_fields
    filled_in = [name for name, field in declared.items() if (field.description or "").startswith(FILLED_IN)]
    fields = _definitions(methodology.settings, filled_in)
    if not fields:
        return None
    name = f"{_camel(methodology.name)}Settings"
    model: type[BaseModel] = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return model


def _definitions(model: type[BaseModel], left_out: Collection[str]) -> dict[str, Any]:
    """Return a model's fields as `create_model` takes them: name → annotation with its limits, and default."""
    definitions = {}
    for name, field in model.model_fields.items():
        if name not in left_out:
            definitions[name] = (field.rebuild_annotation(), _described(field))
    return definitions


def _described(field: FieldInfo) -> FieldInfo:
    """Return default, description and form of a field, without the limits, which its annotation has."""
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else None
    described: FieldInfo = Field(copy.copy(field.default), description=field.description, json_schema_extra=extra)
    return described


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
