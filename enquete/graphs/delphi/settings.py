"""What may be set."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class DelphiSettings(BaseModel):
    """Rounds, themes and scales are the instrument's."""

    model_config = ConfigDict(extra="forbid")

    second_coding: bool = Field(
        True, description="code up to 200 answers of round 1 a second time, for Krippendorff's alpha"
    )
