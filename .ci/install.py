"""`PYTHON .ci/install.py FOLDER ARGUMENTS`: `pip install ARGUMENTS` into the environment FOLDER, made if there is none.

By uv, which takes a tenth of pip's time; PYTHON's environment gets it. It does not read pip's configuration, so it is
told the sources that pip has. Where it cannot be had or finds nothing, pip does it.
"""

import os
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path

PIP = [sys.executable, "-m", "pip"]
SOURCES = {"index-url": "--default-index", "extra-index-url": "--extra-index-url", "find-links": "--find-links"}


def configured() -> dict[str, str]:
    """pip's options by name, whatever file or variable they stand in; the later, the stronger."""
    printed = subprocess.run([*PIP, "config", "list"], capture_output=True, text=True, check=True).stdout
    pairs = (line.split("=", 1) for line in printed.splitlines() if "=" in line)
    return {name.rpartition(".")[2]: value.strip("'\"") for name, value in pairs}


def main(folder: str, *arguments: str) -> int:
    python = Path(folder) / "bin" / "python"
    if not python.exists():
        venv.create(folder)
    if not find_spec("uv"):
        subprocess.run([*PIP, "install", "--quiet", "uv"], check=False, capture_output=True)
    options = configured()
    sources = [word for name, uvs in SOURCES.items() for url in options.get(name, "").split() for word in (uvs, url)]
    certificates = {"SSL_CERT_FILE": options["cert"]} if "cert" in options else {}
    uv = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--index-strategy", "unsafe-best-match"]  # as pip's
    done = subprocess.run(
        [*uv, "--python", str(python), *sources, *arguments], check=False, env=os.environ | certificates
    )
    if not done.returncode:
        return 0
    print("uv could not; pip does it", file=sys.stderr)
    return subprocess.call([*PIP, "--python", str(python), "install", "--quiet", "--no-compile", *arguments])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
