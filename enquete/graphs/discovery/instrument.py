"""Instrument of the discovery interview: what it is about, what the respondent is told, which schema is filled."""

from __future__ import annotations

from enquete.instruments.instrument import Instrument
from enquete.instruments.reading import Line
from enquete.instruments.text import Text


class DiscoveryInstrument(Instrument):
    """`ds`: a shipped discovery schema or a file; the setting of that name replaces it."""

    ds: Line
    instruction: Text
    transcript_heading: Text
