"""Instruments and settings of a new run, frozen before anything is asked: complete, validated, with their hashes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from enquete.checkpoints.record import UsedInstrument
from enquete.instruments.load import freeze_instrument, load_instrument, load_shipped
from enquete.instruments.text import instrument_notices
from enquete.nodes.planning import load_methodology
from enquete.state.errors import SettingsError
from enquete.state.seam import Language, Methodology
from enquete.state.settings import RunRequest


def freeze_instruments(
    request: RunRequest, methods: Mapping[str, str], language: Language
) -> tuple[dict[str, UsedInstrument], list[str]]:
    """One's own file where named, else the shipped one. Raises InstrumentError, SettingsError."""
    for name in request.instruments:
        if name not in methods:
            raise SettingsError(
                f"--instrument {name}=…: {name!r} is not among the methods of this run ({', '.join(methods)})"
            )
    used, notices = {}, []
    for name, dotted in methods.items():
        model = load_methodology(dotted).instrument
        own = request.instruments.get(name)
        instrument = load_instrument(model, Path(own)) if own else load_shipped(model, name)
        frozen = freeze_instrument(instrument, own or "shipped")
        notices += [f"{name}: {notice}" for notice in instrument_notices(instrument, language)]
        content = instrument.model_dump(mode="json", exclude_none=True)
        used[name] = UsedInstrument(hash=frozen.hash, source=Path(frozen.source).name, content=content)
    return used, notices


def method_settings(request: RunRequest, methods: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Each methodology's own settings, complete with defaults, so that the record says what was used."""
    for name in request.settings:
        if name not in methods:
            raise SettingsError(f"settings: {name!r} is not among the methods of this run ({', '.join(methods)})")
    found = {}
    for name, dotted in methods.items():
        methodology: Methodology[Any, Any] = load_methodology(dotted)
        try:
            found[name] = methodology.settings.model_validate(request.settings.get(name, {})).model_dump(mode="json")
        except ValidationError as error:
            lines = [f"{name}.{'.'.join(map(str, e['loc']))}: {e['input']!r} — {e['msg']}" for e in error.errors()]
            raise SettingsError("settings: " + "; ".join(lines)) from None
    return found
