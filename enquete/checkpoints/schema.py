"""The ledger's tables. One SQLite file per run, so that archiving, deletion and corruption stay contained.

STRICT tables and NOT NULL everywhere: with INSERT OR IGNORE and nullable keys, errors and duplicates passed unseen.
An answer's key is its occasion (the block key without `part`, interned as an integer) and its item.
What was sent is in `texts`, once each: a panel is asked in the same words, agents have a system prompt of their own for all rounds,
whose first paragraph, its `head`, they share.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from enquete.state.errors import LedgerError

SCHEMA_VERSION = 3


class NewerLedger(LedgerError):
    """A newer version of Enquete wrote it: nothing is wrong with it, and nothing is to be repaired."""


def require_current(connection: sqlite3.Connection, path: Path) -> None:
    """Raises LedgerError for a ledger of another schema version, or with a program in it; sqlite3.DatabaseError where it is
    damaged.

    A file without tables passes: whoever opens it is about to make them, or finds none.
    """
    program = connection.execute("SELECT type, name FROM sqlite_master WHERE type IN ('view', 'trigger')").fetchone()
    if program is not None:  # a view without end would be read for ever
        raise LedgerError(f"{path}: holds a {program[0]}, {program[1][:60]!r}; no ledger does. Restore it")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name='meta' AND type='table'").fetchone() is None:
        return
    row = connection.execute("SELECT value FROM meta WHERE key='schema_version'").fetchone()
    stored = str(row[0]) if row else ""
    if stored == str(SCHEMA_VERSION):
        return
    fact = f"{path}: ledger schema {stored!r}, this version of Enquete reads {SCHEMA_VERSION}"
    if not stored.isdecimal():
        raise sqlite3.DatabaseError(f"{fact.removeprefix(f'{path}: ')}: the version stored in the file is damaged")
    if int(stored) > SCHEMA_VERSION:
        fact = f"{fact}: a newer version wrote it"
        raise NewerLedger(f"{fact}. Update Enquete to go on with or read this run", fact=fact)
    raise LedgerError(f"{fact}: an older version wrote it, and only that version reads it")


OUTCOMES = frozenset(
    {"started", "due", "awaiting_simulation", "waiting", "paused", "short", "completed", "done", "failed", "walking"}
)
"""What a stage may have come to, or the run, which is a stage without a name."""

TABLES = """
CREATE TABLE meta(key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL) STRICT;

CREATE TABLE participants(
  position INTEGER NOT NULL PRIMARY KEY, id TEXT NOT NULL UNIQUE, agent_id INTEGER, name TEXT NOT NULL,
  stakeholder_type TEXT NOT NULL, persona TEXT NOT NULL) STRICT;

CREATE TABLE digests(
  phase TEXT NOT NULL, participant TEXT NOT NULL, text TEXT, PRIMARY KEY(phase, participant)) STRICT, WITHOUT ROWID;

CREATE TABLE occasions(
  id INTEGER NOT NULL PRIMARY KEY, arm TEXT NOT NULL, methodology TEXT NOT NULL, phase TEXT NOT NULL,
  session TEXT NOT NULL, round INTEGER NOT NULL, turn INTEGER NOT NULL, participant TEXT NOT NULL,
  UNIQUE(arm, methodology, phase, participant, session, round, turn)) STRICT;

CREATE TABLE answers(
  occasion INTEGER NOT NULL REFERENCES occasions(id), item TEXT NOT NULL, part TEXT NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('ok', 'repaired', 'refused', 'invalid', 'failed')),
  value REAL, text TEXT NOT NULL, confidence REAL CHECK(confidence BETWEEN 0 AND 1), data TEXT NOT NULL,
  notes TEXT NOT NULL, position INTEGER NOT NULL, options_shown TEXT NOT NULL, asked_at INTEGER NOT NULL,
  PRIMARY KEY(occasion, item)) STRICT, WITHOUT ROWID;

CREATE TABLE texts(
  hash TEXT NOT NULL PRIMARY KEY, head TEXT NOT NULL, text TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE calls(
  id INTEGER NOT NULL PRIMARY KEY, arm TEXT NOT NULL, methodology TEXT NOT NULL, phase TEXT NOT NULL,
  purpose TEXT NOT NULL, subject TEXT NOT NULL, attempt INTEGER NOT NULL,
  status TEXT NOT NULL CHECK(status IN ('reserved', 'settled', 'failed', 'lost')),
  model TEXT NOT NULL, system_hash TEXT NOT NULL, messages_hash TEXT NOT NULL, prompt_hash TEXT NOT NULL,
  reserved INTEGER NOT NULL, allowance INTEGER NOT NULL DEFAULT 0,
  input_tokens INTEGER NOT NULL DEFAULT 0, output_tokens INTEGER NOT NULL DEFAULT 0, sends INTEGER NOT NULL DEFAULT 0,
  response TEXT NOT NULL DEFAULT '', finish TEXT NOT NULL DEFAULT '', raw TEXT NOT NULL DEFAULT '',
  fingerprint TEXT NOT NULL DEFAULT '', error TEXT NOT NULL DEFAULT '', latency_ms INTEGER NOT NULL DEFAULT 0,
  reserved_at INTEGER NOT NULL, settled_at INTEGER NOT NULL DEFAULT 0,
  UNIQUE(methodology, phase, arm, purpose, subject, attempt)) STRICT;

CREATE TABLE frozen(
  arm TEXT NOT NULL, methodology TEXT NOT NULL, phase TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  at TEXT NOT NULL, PRIMARY KEY(methodology, phase, arm, name)) STRICT, WITHOUT ROWID;

CREATE TABLE forms(
  id INTEGER NOT NULL PRIMARY KEY, arm TEXT NOT NULL, methodology TEXT NOT NULL, phase TEXT NOT NULL,
  session TEXT NOT NULL, round INTEGER NOT NULL, turn INTEGER NOT NULL, participant TEXT NOT NULL, part TEXT NOT NULL,
  state TEXT NOT NULL CHECK(state IN ('open', 'submitted', 'withdrawn')), block TEXT NOT NULL, draft TEXT NOT NULL,
  opened_at TEXT NOT NULL, changed_at TEXT NOT NULL,
  UNIQUE(arm, methodology, phase, participant, session, round, turn, part)) STRICT;

CREATE TABLE stages(
  methodology TEXT NOT NULL, phase TEXT NOT NULL, outcome TEXT NOT NULL, note TEXT NOT NULL, at TEXT NOT NULL,
  PRIMARY KEY(methodology, phase)) STRICT, WITHOUT ROWID;

CREATE TABLE failures(
  id INTEGER NOT NULL PRIMARY KEY, arm TEXT NOT NULL, methodology TEXT NOT NULL, phase TEXT NOT NULL,
  round INTEGER NOT NULL, unit TEXT NOT NULL, error TEXT NOT NULL, traceback TEXT NOT NULL, at TEXT NOT NULL) STRICT;

CREATE TABLE counters(
  arm TEXT NOT NULL, methodology TEXT NOT NULL, phase TEXT NOT NULL, round INTEGER NOT NULL, name TEXT NOT NULL,
  value INTEGER NOT NULL, PRIMARY KEY(arm, methodology, phase, round, name)) STRICT, WITHOUT ROWID;
"""
