"""Layers: files that a methodology reads beside its instrument (concepts, ways of asking, discovery schemas). Found by the
name of a shipped one or by path, read with lines, validated as a whole."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, ModelWrapValidatorHandler, model_validator

from enquete.instruments.load import load_instrument, validate_instrument
from enquete.instruments.pack import FOLDER, packs, yaml_files
from enquete.instruments.reading import Line, identifier, not_empty, reading, suggestion
from enquete.instruments.source import read_source
from enquete.instruments.text import LANGUAGE_NAMES, Part, Text, texts_of
from enquete.state.asking import Language, Spoken
from enquete.state.errors import InstrumentError

FileId = Annotated[Line, AfterValidator(identifier("file"))]


class LayerFile(Part):
    """Head of such a file. Within validation every part can look up what the file defines."""

    id: FileId
    version: Line
    title: Text
    language_default: Spoken = "de"
    languages: Annotated[tuple[Spoken, ...], AfterValidator(not_empty)] | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _read_as_one_file(cls, data: object, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if not isinstance(data, Mapping):
            return handler(data)
        with reading(data):
            return handler(data)


FileT = TypeVar("FileT", bound=LayerFile)


def load_layer(model: type[FileT], layer: str, name: str, shelf: str | None = None) -> FileT:
    """The file that `name` means: one that ships (in a pack, or for all of them), else a path to a YAML file; with a `shelf`,
    which is a folder, one that lies there as LAYER/NAME.yaml, or FOLDER/NAME.yaml where FOLDER/NAME is said, and no path.

    Raises InstrumentError naming file and line, or the names that there are where there is no such file.
    """
    own = {} if shelf is None else {file.stem: file for file in sorted(Path(shelf, layer).glob("*.yaml"))}
    if shelf is not None:
        own |= {f"{file.parent.name}/{file.stem}": file for file in sorted(Path(shelf).glob("*/*.yaml"))}
    if shelf is None and Path(name).suffix in (".yaml", ".yml"):
        return load_instrument(model, Path(name).expanduser())
    if name in own:
        return load_instrument(model, own[name])
    if name not in shipped(layer):
        hint = suggestion(name, sorted({*shipped(layer), *own}))
        otherwise = "; or give the path of a .yaml file" if shelf is None else "; nothing else can be named here"
        raise InstrumentError([f"{name!r} is no shipped file of {layer}{hint}{otherwise}"])
    found: FileT = _load_shipped(model, layer, name)
    return found


@cache
def shipped(layer: str) -> tuple[str, ...]:
    """The names that ship in a layer ("concepts", say), sorted."""
    return tuple(sorted(_files(layer)))


@cache
def _files(layer: str) -> dict[str, Traversable]:
    return yaml_files([files("enquete.instruments") / layer, *(FOLDER / pack / layer for pack in packs())])


@cache
def _load_shipped(model: type[FileT], layer: str, name: str) -> FileT:
    file = _files(layer)[name]
    return validate_instrument(model, read_source(file.name, file.read_bytes()))


def require_language(setting: str, name: str, layer: LayerFile, language: Language) -> None:
    """Raises InstrumentError for a file whose interviews would be led in another language than the run's. `setting`: that
    named it."""
    wanted = LANGUAGE_NAMES[language]
    if layer.languages and language not in layer.languages:
        held = " and ".join(LANGUAGE_NAMES[one] for one in layer.languages)
        raise InstrumentError(
            [f"{setting}: {name} is in {held} only (`languages`), but the run is in {wanted}; give every text "
             f"in {wanted} and add it to `languages`, or run it with language={layer.languages[0]}"]
        )  # fmt: skip
    lacking = next((place for place, text in texts_of(layer) if not text.has(language)), None)
    if lacking is not None:
        raise InstrumentError(
            [f"{setting}: {name} has no {wanted} text at {lacking}, but the run is in {wanted}; add it there and "
             "wherever else it is missing, or run the interviews in the language of the file (language=…)"]
        )  # fmt: skip
