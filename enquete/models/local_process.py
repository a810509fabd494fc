"""The process in which a local model answers: llama.cpp's server on a free port of the loopback, until its parent is
gone.

It reads one line of settings, writes one line with its address, and then waits on its standard input: that closes when
the parent ends, however it ended (also by SIGKILL, on every system), so that no server is left behind.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from importlib import import_module

PROMPT_CACHE_MIB = 256  # llama.cpp would keep up to 8 GB of prompts it has read


def main() -> None:
    """Runs as `python -P -c "from enquete.models.local_process import main; main()"`."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C pauses the run, which still wants the answers in flight
    settings = json.loads(sys.stdin.readline())
    xllamacpp = import_module("xllamacpp")
    wanted = xllamacpp.CommonParams()
    wanted.model.path = settings["file"]
    wanted.model_alias = {settings["name"]}
    wanted.n_parallel = settings["slots"]
    wanted.n_ctx = settings["slots"] * settings["context"]
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = settings["threads"]
    wanted.use_jinja = True
    wanted.ui = False
    wanted.cache_ram_mib = PROMPT_CACHE_MIB
    wanted.verbosity = 1
    wanted.hostnames = ["127.0.0.1"]
    wanted.port = 0
    try:
        server = xllamacpp.Server(wanted)
    except RuntimeError as error:  # what it says itself stands before that
        sys.exit(str(error))
    print(json.dumps({"url": server.listening_address}), flush=True)
    sys.stdin.read()
    os._exit(0)  # its threads are not Python's and would keep the process
