"""An instrument file named for a methodology that it is not for: which one it is for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from enquete.graphs.registry import methodologies
from enquete.instruments.load import load_own
from enquete.instruments.source import read_source
from enquete.nodes.instrument_pins import shelved
from enquete.state.errors import InstrumentError
from enquete.state.request import RunRequest


@contextmanager
def other_methodology_named(request: RunRequest) -> Iterator[None]:
    """Of a file that cannot be read for the methodology it was named for: whether it is another one's."""
    try:
        yield
    except InstrumentError:
        for name, file in request.own_instruments.items():
            if isinstance(file, str) and name in methodologies():
                path = Path(file).expanduser() if request.shelf is None else shelved(request.shelf, file)
                if (meant := of_another(file, path, name)) is not None:
                    raise meant from None
        raise


def of_another(file: str, path: Path, named: str) -> InstrumentError | None:
    """None where the file says nothing that the methodology it was named for does not know."""
    meant = likeliest(path)
    if not meant or named in meant:
        return None
    fitting = [name for name in meant if _loads(name, path)] or meant[:1]
    which = " or ".join(fitting)
    return InstrumentError(
        [f"{file}: is an instrument for {which}, not for {named}: instruments={{'{fitting[0]}': {file}}}"]
    )


def likeliest(path: Path) -> list[str]:
    """Methodologies of which the file says the most that they know; all where it cannot be read."""
    known = methodologies()
    try:
        keys = set(map(str, read_source(path.name, path.read_bytes()).document))
    except (InstrumentError, OSError):
        return list(known)
    strange = {name: len(keys - set(one.instrument.known_keys())) for name, one in known.items()}
    return [name for name, count in strange.items() if count == min(strange.values())]


def _loads(name: str, path: Path) -> bool:
    try:
        load_own(methodologies()[name].instrument, path)
    except InstrumentError:
        return False
    return True
