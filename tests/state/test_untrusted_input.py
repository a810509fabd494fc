"""Only regular files are opened, never waiting, never more than asked for."""

import os
import socket
from pathlib import Path

import pytest

from enquete.state.untrusted_input import open_regular, parse_json, read_regular, require_regular


@pytest.fixture
def odd(tmp_path: Path) -> dict[str, Path]:
    """What is no file, by kind."""
    made = {kind: tmp_path / kind for kind in ("pipe", "socket", "folder", "link", "link to a pipe", "loop")}
    os.mkfifo(made["pipe"])
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(made["socket"]) if len(str(made["socket"])) > 100 else str(made["socket"]))
    made["folder"].mkdir()
    made["link"].symlink_to(tmp_path / "nowhere")
    made["link to a pipe"].symlink_to(made["pipe"])
    made["loop"].symlink_to(made["loop"])
    return made | {"device": Path("/dev/zero"), "name": Path("a\0b")}


@pytest.mark.parametrize(
    ("kind", "says"),
    [("pipe", "a named pipe is there instead of a file"), ("link to a pipe", "a named pipe"), ("socket", "a socket"),
        ("device", "a device"), ("folder", "a folder"), ("link", "leads to no file"), ("loop", "symbolic links"),
        ("name", "null")],
)  # fmt: skip
@pytest.mark.timeout(10)
def test_what_is_no_file_is_refused_at_once(odd: dict[str, Path], kind: str, says: str) -> None:
    for act in (require_regular, open_regular, read_regular):
        with pytest.raises(OSError, match=says):
            act(odd[kind])


def test_a_file_and_a_link_to_it_are_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    (tmp_path / "link").symlink_to("file")
    assert (read_regular(tmp_path / "link"), read_regular(tmp_path / "file", most=3)) == (b"abc", b"abc")


def test_too_large_is_said_before_anything_is_read(tmp_path: Path) -> None:
    path = tmp_path / "huge"
    path.touch()
    os.truncate(path, 10**12)
    with pytest.raises(OSError, match=r"it has 1,000,000 MB; at most 64 are read"):
        read_regular(path)
    with open_regular(path) as file:
        assert file.read(2) == b"\0\0"


# --- JSON of strangers: one kind of error, and no text that becomes a hundred times its size -------------------------


@pytest.mark.parametrize("text", ["", "nope", "[" * 100_000, '{"a":' * 100_000, b"\xff\xff", "9" * 5000])
def test_whatever_is_wrong_is_a_value_error(text: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_json(text)


@pytest.mark.timeout(10)
def test_a_text_of_nothing_but_brackets_is_counted_before_it_is_parsed() -> None:
    """Two million empty lists are four million parts and the comma between two of them makes it more."""
    for text in ("[" + "[]," * 2_000_000 + "[]]", b"[" + b"0," * 4_000_000 + b"0]"):
        with pytest.raises(ValueError, match="more than 4,000,000 parts"):
            parse_json(text)
    assert parse_json(b"[1, {}]") == [1, {}]
