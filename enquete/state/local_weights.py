"""Words for a model that runs in the box: how it is asked for, and what a run's record keeps of it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

LOCAL = "local"
LOCAL_URL = "http://local-model.invalid/v1"
"""Its server in prices and caches, since its port is another one each time; a name that no real server can have."""

DEFAULT_CONTEXT = 8192


class Weights(BaseModel):
    """A model file. `file`: "" for the one that comes as a package, wherever that is installed."""

    model_config = ConfigDict(frozen=True)

    name: str
    sha256: str
    file: str = ""


def is_local(model: str | None) -> bool:
    """Whether a name asks for a local model: `local` or `local:PATH`."""
    return model is not None and (model == LOCAL or model.startswith(f"{LOCAL}:"))
