"""Run the demo and one poll on every Python from 3.11 to 3.13 that this machine has, each in an environment of its own.

The test suite runs on one Python only, and some faults exist on others alone: CPython 3.12.0 to 3.12.3, for example,
break a function of two comprehensions that share a name (gh-118513).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SUPPORTED = ((3, 11), (3, 12), (3, 13))
PYENV = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))

DESCRIBE = "import json, sys; print(json.dumps([list(sys.version_info[:3]), sys.base_prefix]))"

QUESTIONS = """\
instrument_id: smoke
version: "1"
languages: [en]
questions:
  - {question_id: q1, kind: likert, en: "Shops should close on Sundays."}
  - {question_id: q2, kind: open, en: "What would you change first?"}
"""


def find_pythons() -> dict[tuple[int, ...], str]:
    """Return the path of one interpreter for each supported version found, by its full version number."""
    candidates = [shutil.which(f"python{major}.{minor}") for major, minor in SUPPORTED]
    candidates += [str(path) for path in sorted(PYENV.glob("versions/*/bin/python3"))]
    found: dict[tuple[int, ...], str] = {}
    for candidate in candidates:
        if candidate is None:
            continue
        asked = subprocess.run([candidate, "-c", DESCRIBE], capture_output=True, text=True, check=False)
        if asked.returncode != 0:  # a pyenv shim of a version that is not switched on
            continue
        version = tuple(json.loads(asked.stdout)[0])
        if version[:2] in SUPPORTED:
            found.setdefault(version, candidate)
    return dict(sorted(found.items()))


def install_core(python: str, environment: Path) -> None:
    """Make a new environment of an interpreter and install what a user without extras has."""
    subprocess.run([python, "-m", "venv", "--without-pip", str(environment)], check=True)
    install = [sys.executable, str(ROOT / ".ci" / "install.py"), str(environment)]
    subprocess.run([*install, "--constraint", str(ROOT / "constraints.txt"), "--editable", str(ROOT)], check=True)


def try_out(environment: Path, folder: Path) -> None:
    """Run the demo and a poll; raise RuntimeError where one of them fails."""
    (folder / "questions.yaml").write_text(QUESTIONS, "utf-8")
    enquete = str(environment / "bin" / "enquete")
    poll = ["run", str(ROOT / "examples" / "personas.csv"), "--out", "poll", "--instrument", "poll=questions.yaml"]
    for arguments in (["demo", "-q"], [*poll, "--methods", "poll", "--language", "en", "--fit", "any", "-q"]):
        done = subprocess.run([enquete, *arguments], cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"enquete {arguments[0]} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")


def main() -> int:
    """Return 1 where one of the interpreters fails."""
    pythons = find_pythons()
    names = ", ".join(".".join(map(str, version)) for version in pythons)
    print(f"pythons: found {names or 'none'} of 3.11 to 3.13", flush=True)
    failed = []
    for version, python in pythons.items():
        name = ".".join(map(str, version))
        with tempfile.TemporaryDirectory() as folder:
            try:
                environment = Path(sys.prefix)
                if version != sys.version_info[:3]:  # this process's own environment will do for its version
                    environment = Path(folder) / "venv"
                    install_core(python, environment)
                try_out(environment, Path(folder))
            except (RuntimeError, subprocess.CalledProcessError) as error:
                failed.append(name)
                print(f"pythons: {name} failed: {error}", flush=True)
            else:
                print(f"pythons: {name} ran the demo and a poll", flush=True)
    return 1 if failed or not pythons else 0


if __name__ == "__main__":
    sys.exit(main())
