"""Drives a run in a process of its own, to be killed: `python -m tests.support.drive '{"sim_id": …}'`."""

from __future__ import annotations

import json
import sys

import enquete

if __name__ == "__main__":
    arguments = json.loads(sys.argv[1])
    act = enquete.resume if "token_or_sim" in arguments else enquete.conduct_interviews
    run = act(**arguments)
    print(json.dumps(run.summary()))
    sys.exit(run.exit_code)
