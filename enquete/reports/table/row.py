"""A row of the response table: its columns in their order, their types, and what may stand in them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

COLUMNS = (
    "sim_id", "run_id", "arm", "arm_role", "respondent", "methodology", "phase", "session", "round", "turn",
    "participant", "agent_id", "agent_name", "stakeholder_type", "item_id", "family", "dimension", "reverse_keyed",
    "scale_min", "scale_max", "status", "value", "value_rekeyed", "choice", "chosen", "text", "content", "confidence",
    "memory_available", "baseline", "model", "temperature", "language", "elicitation", "distribution", "item_position",
    "option_order", "attempts", "prompt_hash", "instrument_hash", "asked_at", "latency_ms", "input_tokens", "output_tokens",
)  # fmt: skip
INTEGERS = (
    "round", "turn", "agent_id", "scale_min", "scale_max", "item_position", "attempts", "latency_ms", "input_tokens",
    "output_tokens",
)  # fmt: skip
ALWAYS = ("round", "turn", "attempts")
"""Those of them that every row has."""
NUMBERS = ("value", "value_rekeyed", "confidence", "temperature")
FLAGS = ("reverse_keyed", "memory_available")
TEXTS = tuple(name for name in COLUMNS if name not in {*INTEGERS, *NUMBERS, *FLAGS})
OCCASION = ["arm", "session", "round", "turn", "participant"]
ANSWER = [*OCCASION, "item_id"]


class ResponseRow(BaseModel):
    """One row of all_responses.csv. None is an empty cell: not applicable, or not known."""

    model_config = ConfigDict(strict=True, extra="allow")  # a methodology may append columns of its own

    sim_id: str
    run_id: str
    arm: str
    arm_role: Literal["main", "b", "replicate", "probe", "placebo", "variant", "human"]
    respondent: Literal["llm", "synthetic", "human", "replay"]
    methodology: str
    phase: str
    session: str
    round: int = Field(ge=0)
    turn: int = Field(ge=0)
    participant: str = Field(min_length=1)
    agent_id: int | None
    agent_name: str
    stakeholder_type: str
    item_id: str = Field(min_length=1)
    family: str
    dimension: str
    reverse_keyed: bool
    scale_min: int | None
    scale_max: int | None
    status: Literal["ok", "repaired", "refused", "invalid", "failed", "not_reached"]
    value: float | None = Field(allow_inf_nan=False)
    value_rekeyed: float | None = Field(allow_inf_nan=False)
    choice: str
    chosen: str
    text: str
    content: str
    confidence: float | None = Field(ge=0, le=1)
    memory_available: bool
    baseline: Literal["", "measured", "reconstructed"]
    model: str
    temperature: float | None
    language: Literal["de", "en"]
    elicitation: Literal["point", "distribution"]
    distribution: str
    item_position: int | None
    option_order: str
    attempts: int = Field(ge=0)
    prompt_hash: str
    instrument_hash: str
    asked_at: str
    latency_ms: int | None
    input_tokens: int | None
    output_tokens: int | None
