"""Files of one's own that a methodology takes: instruments, and the files that its settings name.

`check` and `run` read them here, so that both take and refuse the same ones. A discovery schema, a laddering concept or
methodology may be named where an instrument is (`--instrument discovery=schema.json`): the file says by its keys which
of these it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from enquete.instruments.instrument import Note
from enquete.instruments.load import SHEETS, complete_instrument, load_own, unread_columns
from enquete.instruments.source import SourceFile, Value, read_source
from enquete.instruments.text import suggestion
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.methodology import Methodology, SettingFile
from enquete.state.request import RunRequest

IN_PYTHON = "own"
"""In place of a file's name, where questions were given as objects."""
ENDINGS = (".yaml", ".yml", ".csv", ".tsv")


def file_in(own_folder: str, name: str, endings: Sequence[str] = ENDINGS) -> Path:
    """A file in the folder, by its name without its ending, or in one below it as FOLDER/NAME. Raises InstrumentError,
    which lists the names there are."""
    files = [file for depth in ("*", "*/*") for file in sorted(Path(own_folder).glob(depth))]
    there = {
        file.relative_to(own_folder).with_suffix("").as_posix(): file
        for file in files
        if file.suffix in endings and file.is_file()
    }
    if name not in there:
        raise InstrumentError(
            [f"instruments: {name[:100]!r} is no file of this server{suggestion(name, sorted(there))}"]
        )
    return there[name]


@dataclass(frozen=True)
class OwnFile:
    """What a file holds. `setting`: the setting that takes it; "" for an instrument."""

    content: BaseModel
    notes: tuple[Note, ...] = ()
    setting: str = ""


def read_own_file(methodology: Methodology, given: str | Mapping[str, Any], own_folder: str | None = None) -> OwnFile:
    """Read a file for a methodology, as whichever of the files that it takes.

    Args:
        methodology: that is to ask with it.
        given: a path; with `own_folder` the name of a file there; or the content of an instrument.
        own_folder: a server's folder of files, beside which none can be named.

    Raises:
        InstrumentError: with every problem of the file, read as what it is nearest to.
    """
    if not isinstance(given, str):
        content: dict[str | int, Value] = {}
        content.update(given.items())
        instrument, notes = complete_instrument(methodology.instrument, SourceFile(IN_PYTHON, content, {}, {}, ()))
        return OwnFile(instrument, notes)
    path = _path_of(methodology, given, own_folder)
    setting = _setting_of(methodology, path)
    if setting is None:
        instrument, notes = load_own(methodology.instrument, path)
        return OwnFile(instrument, notes)
    return OwnFile(setting.load(str(path)), setting=setting.setting)


def _path_of(methodology: Methodology, given: str, own_folder: str | None) -> Path:
    if own_folder is None:
        return Path(given).expanduser()
    further = [ending for file in methodology.setting_files for ending in file.endings]
    return file_in(own_folder, given, [*ENDINGS, *further])


def _setting_of(methodology: Methodology, path: Path) -> SettingFile | None:
    """Return the setting that a file is for; None where it is an instrument, or cannot be read at all."""
    by_ending = next((file for file in methodology.setting_files if path.suffix.lower() in file.endings), None)
    if by_ending is not None or path.suffix.lower() in SHEETS:
        return by_ending
    document = read_document(path)
    if document is None:
        return None
    kinds: list[SettingFile | None] = [None, *methodology.setting_files]
    return min(kinds, key=lambda kind: _count_strange(methodology, kind, document))


TAKES_NO_TABLE = 1000
"""As many unknown keys as no file has: of a methodology for which a table cannot be meant."""

Document = Mapping[str | int, Value]


def read_document(path: Path) -> Document | None:
    """Return what a YAML or JSON file says; None where it cannot be read as one."""
    with suppress(InstrumentError, OSError):
        return read_source(path.name, path.read_bytes()).document
    return None


def _count_strange(methodology: Methodology, kind: SettingFile | None, document: Document) -> int:
    """Return how many keys of a file are unknown in one of this kind (None: an instrument)."""
    if kind is not None and kind.is_original(document):
        return 0
    known = methodology.instrument.known_keys() if kind is None else kind.keys()
    return len({str(key) for key in document} - set(known))


def count_strange_keys(methodology: Methodology, path: Path) -> int | None:
    """Return how many keys of a file nothing that the methodology takes knows; None where there are no keys to see."""
    is_table = path.suffix.lower() in SHEETS
    if is_table and methodology.instrument.listed is None:
        return TAKES_NO_TABLE
    document = None if is_table else read_document(path)
    if document is None:
        return None
    return min(_count_strange(methodology, kind, document) for kind in (None, *methodology.setting_files))


def move_setting_files(
    request: RunRequest, methods: Mapping[str, str], load: Callable[[str], Methodology]
) -> RunRequest:
    """Return the request with files for settings named there, where they were named as instruments.

    Raises:
        SettingsError: a setting would be named twice.
    """
    instruments, settings = dict(request.instruments), {name: dict(own) for name, own in request.settings.items()}
    for name, given in request.own_instruments.items():
        if name not in methods or not isinstance(given, str) or not load(methods[name]).setting_files:
            continue
        methodology = load(methods[name])
        setting = _setting_of(methodology, _path_of(methodology, given, request.own_folder))
        if setting is None:
            continue
        if setting.setting in settings.get(name, {}):
            raise SettingsError(
                f"instruments: {given} is for the setting {name}.{setting.setting}, which is named, too; leave one out"
            )
        settings.setdefault(name, {})[setting.setting] = given
        del instruments[name]
    return request.model_copy(update={"instruments": instruments, "settings": settings})


@dataclass(frozen=True)
class Fitting:
    """A file as a methodology reads it."""

    methodology: str
    file: OwnFile

    @property
    def content(self) -> BaseModel:
        return self.file.content


@dataclass(frozen=True)
class _Misfit:
    methodology: str
    problems: tuple[str, ...]
    strange: int


def find_fitting(known: Mapping[str, Methodology], file: str) -> list[Fitting]:
    """Return every reading of a file that is sound and knows the most of its keys or columns.

    Raises:
        InstrumentError: no methodology can read it; with the problems that those have with it to which it is nearest.
    """
    path = Path(file).expanduser()
    sound: list[tuple[int, Fitting]] = []
    misfits = []
    for name, methodology in known.items():
        strange = count_strange_keys(methodology, path) or 0
        try:
            read = read_own_file(methodology, str(path))
        except InstrumentError as error:
            misfits.append(_Misfit(name, tuple(error.problems), strange))
        else:
            sound.append((strange + unread_columns(read.notes), Fitting(name, read)))
    if not sound:
        raise _explain_misfits(file, misfits)
    fewest = min(strange for strange, _ in sound)
    return [fitting for strange, fitting in sound if strange == fewest]


def find_methodology(known: Mapping[str, Methodology], file: str) -> Fitting:
    """Return the one sound reading of a file; where there are several, none is guessed.

    Raises:
        InstrumentError: several methodologies can read it, or none can.
    """
    fitting = find_fitting(known, file)
    if len(fitting) == 1:
        return fitting[0]
    names = [reading.methodology for reading in fitting]
    which = f"such as instruments={{'{names[0]}': {file}}}"
    raise InstrumentError([f"{file}: may be for {join_names(names)}; say for which, {which}"])


def _explain_misfits(file: str, misfits: Sequence[_Misfit]) -> InstrumentError:
    """Say what those methodologies find wrong with a file to which it is nearest: first by unknown keys, then by the
    number of problems."""
    if len({misfit.problems for misfit in misfits}) == 1:  # whatever it is meant to be, it cannot be read
        return InstrumentError(list(misfits[0].problems))
    fewest_strange = min(misfit.strange for misfit in misfits)
    candidates = [misfit for misfit in misfits if misfit.strange == fewest_strange]
    fewest_problems = min(len(misfit.problems) for misfit in candidates)
    nearest = [misfit for misfit in candidates if len(misfit.problems) == fewest_problems]
    names = join_names([misfit.methodology for misfit in nearest])
    told = [f"{misfit.methodology}: {problem}" for misfit in nearest for problem in misfit.problems]
    return InstrumentError([f"{file}: no methodology can read it; it is nearest to {names}", *told])


def join_names(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
