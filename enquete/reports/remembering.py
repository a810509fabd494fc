"""After a stop or the end of a run: its complete episodes go to the run's graph, if it has one.

Nothing of it can fail a run. What became of it stands in memory.json in the run's folder: how many episodes the graph got now, which
are still to be sent, and why; `enquete memory sync` sends them later.
"""

from __future__ import annotations

import json
import logging
import sqlite3

from pydantic import ValidationError

from enquete.checkpoints.folders import write_atomically
from enquete.memory.connecting import connect
from enquete.memory.delivery import Delivery, deliver
from enquete.memory.local import LocalMemory
from enquete.memory.recalled import MemoryFault
from enquete.nodes.run_session import RunSession
from enquete.state.errors import EnqueteError

FILE = "memory.json"
LONGEST_S = 60.0
"""Seconds that a stop of a run takes to send episodes; the rest is for a sync."""
PATIENCE_S = 10.0
"""Seconds in all that a stop of a run waits for a graph that asks to be waited for; a sync has more."""
log = logging.getLogger("enquete")


def remember(run_session: RunSession) -> None:
    """A replay says nothing new, so nothing is sent of it. Raises nothing, unless bugs are to be raised."""
    record = run_session.record
    if record.memory == "local" or record.replay_of:
        return
    try:
        sent = _send(run_session)
    except (sqlite3.Error, OSError, EnqueteError, ValidationError) as error:
        sent = Delivery(why=f"{type(error).__name__}: {error}")
    except Exception as error:
        if run_session.raise_bugs:
            raise
        sent = Delivery(why=f"{type(error).__name__}: {error}")
    if sent.why:
        log.warning("%s: memory: %s (enquete memory sync sends what is left)", record.run_id, sent.why)
    told = {"memory": record.memory, "sent": sent.sent, "left": [one.id for one in sent.left], "why": sent.why}
    try:
        write_atomically(run_session.folder / FILE, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    except (OSError, EnqueteError) as error:
        log.warning("%s: %s", record.run_id, error)


def _send(run_session: RunSession) -> Delivery:
    record = run_session.record
    try:
        graph = connect(record.memory, run_session.sim_path, record.sim_id, run_session.machine)
    except MemoryFault as fault:
        return Delivery(why=str(fault))
    if graph is None:
        return Delivery()
    try:
        with LocalMemory.opened(run_session.interviews) as memory:
            return deliver(memory, graph, patience_s=PATIENCE_S, longest_s=LONGEST_S)
    finally:
        graph.close()
