-- A ledger's tables as Enquete declared them before SQLAlchemy did (its schema 3).
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

INSERT INTO meta VALUES('schema_version', '3'), ('run', 'run_test');
