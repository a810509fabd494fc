"""After a stop or the end of a run: its complete episodes go to the embedded memory, and from there to the run's graph.

Nothing of it can fail a run. What became of it stands in memory.json in the run's folder: how many episodes the graph got now, which
are still to be sent, and why; `enquete memory sync` sends them later.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from enquete.checkpoints.folders import write_atomically
from enquete.memory.connecting import connect
from enquete.memory.delivery import Delivery, deliver
from enquete.memory.local import LocalMemory
from enquete.memory.recalled import MemoryFault, Record
from enquete.nodes.workplace import Workplace
from enquete.state.errors import EnqueteError

FILE = "memory.json"
AT_ONCE = 500
LONGEST_S = 60.0
"""Seconds that a stop of a run takes to send episodes; the rest is for a sync."""
PATIENCE_S = 10.0
"""Seconds in all that a stop of a run waits for a graph that asks to be waited for; a sync has more."""
log = logging.getLogger("enquete")


def remember(workplace: Workplace) -> None:
    """A replay says nothing new, so nothing is remembered of it. Raises nothing, unless bugs are to be raised."""
    record = workplace.record
    exports = workplace.interviews / "synthesis" / record.run_id / "exports"
    if record.replay_of:
        return
    try:
        with LocalMemory.opened(workplace.interviews) as memory:
            episodes = complete(exports / "episodes.jsonl")
            while records := list(islice(episodes, AT_ONCE)):
                memory.remember(records)
            sent = send(workplace, memory)
    except (sqlite3.Error, OSError, EnqueteError, ValidationError) as error:
        sent = Delivery(why=f"{type(error).__name__}: {error}")
    except Exception as error:
        if workplace.raise_bugs:
            raise
        sent = Delivery(why=f"{type(error).__name__}: {error}")
    if sent.why:
        log.warning("%s: memory: %s (enquete memory sync sends what is left)", record.run_id, sent.why)
    if record.memory == "local" and not sent.why:
        return
    told = {"memory": record.memory, "sent": sent.sent, "left": [one.id for one in sent.left], "why": sent.why}
    try:
        write_atomically(workplace.folder / FILE, json.dumps(told, ensure_ascii=False, indent=1) + "\n")
    except (OSError, EnqueteError) as error:
        log.warning("%s: %s", record.run_id, error)


def complete(file: Path) -> Iterator[Record]:
    """Episodes that nothing will be added to. Raises MemoryFault where the file is damaged."""
    try:
        with file.open(encoding="utf-8") as opened:
            for line in opened:
                episode: dict[str, Any] = json.loads(line)
                if episode.pop("complete"):
                    yield Record.model_validate(episode)
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise MemoryFault(f"{file} is damaged; enquete export writes the run's files again") from error


def send(workplace: Workplace, memory: LocalMemory) -> Delivery:
    """To the run's graph, if it has one."""
    record = workplace.record
    try:
        graph = connect(record.memory, workplace.sim_path, record.sim_id, workplace.machine)
    except MemoryFault as fault:
        return Delivery(why=str(fault))
    if graph is None:
        return Delivery()
    try:
        return deliver(memory, graph, patience_s=PATIENCE_S, longest_s=LONGEST_S)
    finally:
        graph.close()
