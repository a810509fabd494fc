"""What is asked of a ledger: every statement by name, in the SQL that SQLite and PostgreSQL share.

`?` stands for a value. What the two say differently is said as SQLite does and translated (postgres.py): `json_each`
of a list of texts, and `time_of`. A list goes in as JSON.
"""

from __future__ import annotations

from enquete.state.asking import MOST_ATTEMPTS

# --- parts of statements ---------------------------------------------------------------------------------------------

CALL = "methodology=? AND phase=? AND arm=? AND purpose=? AND subject=? AND attempt=?"
OCCASION = "arm=? AND methodology=? AND phase=? AND participant=? AND session=? AND round=? AND turn=?"
PINNED = "methodology=? AND phase=? AND arm=? AND name=?"
FAILURE = "arm=? AND methodology=? AND phase=? AND round=? AND unit=?"
FORM = "arm=? AND methodology=? AND phase=? AND session=? AND round=? AND turn=? AND participant=? AND part=?"
LISTED = "(SELECT value FROM json_each(?))"
ANSWERED = "FROM occasions o JOIN answers a ON a.occasion = o.id"


def time_of(column: str) -> str:
    """The time in this column, as `now_ms` made it; "" where there is none yet."""
    return f"CASE WHEN {column} = 0 THEN '' ELSE strftime('%Y-%m-%dT%H:%M:%fZ', {column} / 1000.0, 'unixepoch') END"


def text_of(column: str) -> str:
    """The whole text whose hash stands in this column."""
    return (
        "(SELECT CASE WHEN t.head = '' THEN '' ELSE h.text END || t.text FROM texts t LEFT JOIN texts h ON h.hash = "
        f"t.head WHERE t.hash = {column})"
    )


# --- calls -----------------------------------------------------------------------------------------------------------

ADD_TEXT = "INSERT INTO texts VALUES(?, ?, ?) ON CONFLICT(hash) DO NOTHING"
RESERVE = """
INSERT INTO calls(methodology, phase, arm, purpose, subject, attempt, status, model, system_hash, messages_hash,
  prompt_hash, reserved, reserved_at) VALUES(?,?,?,?,?,?,'reserved',?,?,?,?,?,?)
ON CONFLICT(methodology, phase, arm, purpose, subject, attempt) DO UPDATE SET status='reserved', model=excluded.model,
  system_hash=excluded.system_hash, messages_hash=excluded.messages_hash, prompt_hash=excluded.prompt_hash,
  reserved=excluded.reserved, reserved_at=excluded.reserved_at, error='' WHERE calls.status IN ('failed', 'lost')
"""
SETTLE = f"""
UPDATE calls SET status='settled', response=?, finish=?, input_tokens=?, output_tokens=?, allowance=allowance+?,
  sends=sends+?, latency_ms=?, fingerprint=?, raw=?, settled_at=? WHERE {CALL} AND status='reserved'
"""
FAIL = f"""
UPDATE calls SET status='failed', error=?, allowance=allowance+?, sends=sends+?, latency_ms=?, settled_at=?
WHERE {CALL} AND status='reserved'
"""
_LOSE = "UPDATE calls SET status='lost', allowance=allowance+reserved, sends=sends+1 WHERE status='reserved'"
_LOST = " RETURNING arm, methodology, phase, purpose, subject, attempt, reserved, model, system_hash, messages_hash"
LOSE = _LOSE + _LOST
LOSE_OF = f"{_LOSE} AND id IN (SELECT call FROM worker_calls WHERE owner=?){_LOST}"
MODEL_OF = f"SELECT model FROM calls WHERE {CALL}"
TEXT_OF = f"SELECT {text_of('CAST(? AS TEXT)')}"
ANY_RESERVED = "SELECT 1 FROM calls WHERE status='reserved' LIMIT 1"
SETTLED = f"SELECT response, finish, model FROM calls WHERE {CALL} AND status='settled'"
OBTAINED = f"""
SELECT status, response, finish, input_tokens, output_tokens, allowance, sends, latency_ms, fingerprint, raw,
  model, error
FROM calls WHERE {CALL}
"""
LAST_MODEL = """
SELECT model FROM calls WHERE methodology=? AND phase=? AND arm=? AND purpose=? AND subject=? AND status='settled'
ORDER BY attempt DESC LIMIT 1
"""
SETTLED_CALLS = "SELECT count(*) FROM calls WHERE status='settled'"
LARGEST = "SELECT coalesce(max(reserved), 0) FROM calls"
LATEST_SETTLED = """
SELECT count(*), coalesce(min(settled_at), 0) FROM
  (SELECT settled_at FROM calls WHERE status='settled' ORDER BY id DESC LIMIT ?) latest
"""
ERRORS = """
SELECT error, count(*) FROM calls WHERE status='failed' GROUP BY error ORDER BY count(*) DESC, error LIMIT 3
"""
USED = f"""
SELECT methodology, phase, arm, model, sum(input_tokens), sum(output_tokens), sum(allowance) FROM calls
WHERE methodology NOT IN {LISTED} GROUP BY methodology, phase, arm, model
"""
ANSWERS_COST = f"""
SELECT model, sum(input_tokens), sum(output_tokens), sum(allowance) FROM calls
WHERE arm=? AND purpose='answer' AND methodology NOT IN {LISTED} GROUP BY model
"""
REHEARSED = """
SELECT methodology, phase, arm, purpose, CASE WHEN purpose = 'answer' THEN model ELSE '' END AS answered_by, subject,
  input_tokens, output_tokens FROM calls ORDER BY methodology, phase, arm, purpose, answered_by, id
"""
TOKENS_IN_ORDER = (
    "SELECT methodology, phase, arm, input_tokens + output_tokens FROM calls WHERE phase <> '' ORDER BY id"
)
PROMPTS = """
SELECT methodology, phase, arm, purpose, model, prompt_hash, fingerprint FROM calls
ORDER BY methodology, phase, arm, purpose, model, subject, attempt
"""
FINGERPRINTS = """
SELECT DISTINCT fingerprint FROM calls WHERE methodology=? AND phase=? AND arm=? AND purpose='answer'
AND fingerprint<>''
"""
ANSWER_CALLS = f"""
SELECT subject, count(*) AS attempts,
  coalesce(max(CASE WHEN attempt = 0 THEN prompt_hash END),
    max(CASE WHEN attempt % {MOST_ATTEMPTS} = 0 THEN prompt_hash END)) AS prompt_hash,
  sum(latency_ms) AS latency_ms, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
FROM calls WHERE purpose = 'answer' AND methodology = ? AND phase = ? AND arm = ? AND subject IN {LISTED}
GROUP BY subject
"""
SPENT = f"""
SELECT methodology, phase, arm, purpose, count(*) AS calls, count(*) FILTER (WHERE status = 'settled') AS settled,
  count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'lost') AS lost,
  count(*) FILTER (WHERE status = 'reserved') AS in_flight, sum(sends) AS sends, sum(input_tokens) AS input_tokens,
  sum(output_tokens) AS output_tokens, sum(allowance) AS allowance
FROM calls WHERE methodology NOT IN {LISTED}
GROUP BY methodology, phase, arm, purpose ORDER BY methodology, phase, arm, purpose
"""
SPENT_BY_MODEL = f"""
SELECT model, count(*) AS calls, count(*) FILTER (WHERE status = 'settled') AS settled,
  count(*) FILTER (WHERE status = 'failed') AS failed, count(*) FILTER (WHERE status = 'lost') AS lost,
  sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens, sum(allowance) AS allowance
FROM calls WHERE methodology NOT IN {LISTED} GROUP BY model ORDER BY model
"""
ANSWERED_BY = """
SELECT subject, model FROM calls
WHERE purpose = 'answer' AND status = 'settled' AND methodology = ? AND phase = ? AND arm = ? ORDER BY subject, attempt
"""
CALLS = f"""
SELECT c.purpose, c.subject, c.arm, c.attempt, c.status, c.model, c.finish, c.reserved, c.allowance, c.input_tokens,
  c.output_tokens, c.sends, c.latency_ms, c.fingerprint, c.system_hash, c.prompt_hash,
  {text_of("c.messages_hash")} AS messages,
  c.response, c.raw, c.error, {time_of("c.reserved_at")} AS reserved_at, {time_of("c.settled_at")} AS settled_at,
  {text_of("c.system_hash")} AS system
FROM calls c WHERE c.methodology = ? AND c.phase = ?
ORDER BY c.arm, c.purpose, c.subject, c.attempt
"""
_SHOWN = f"""
SELECT c.purpose, c.subject, c.attempt, c.status, c.model, c.finish, c.input_tokens, c.output_tokens, c.allowance,
  c.sends,
  c.latency_ms, c.fingerprint, c.prompt_hash, {text_of("c.messages_hash")} AS messages, c.response, c.raw, c.error,
  {time_of("c.reserved_at")} AS reserved_at, {time_of("c.settled_at")} AS settled_at,
  {text_of("c.system_hash")} AS system
FROM calls c WHERE c.methodology = ? AND c.phase = ? AND c.arm = ?
"""
CALLS_OF_ANSWER = f"{_SHOWN} AND c.purpose = 'answer' AND c.subject = ? ORDER BY c.attempt"
CALLS_OF_TURN = f"{_SHOWN} AND c.purpose <> 'answer' AND c.subject = ? ORDER BY c.purpose, c.attempt"

# --- answers ---------------------------------------------------------------------------------------------------------

ADD_OCCASION = """
INSERT INTO occasions(arm, methodology, phase, participant, session, round, turn) VALUES(?,?,?,?,?,?,?)
ON CONFLICT DO NOTHING RETURNING id
"""
STANDING = f"""
SELECT o.id, NOT EXISTS(SELECT 1 FROM answers WHERE occasion=o.id AND part=?), (SELECT count(*) FROM answers
  WHERE occasion=o.id AND status='failed' AND item IN {LISTED}) FROM occasions o WHERE {OCCASION}
"""
"""Of an occasion that there is: its number, whether the part is new, how many failed rows will be replaced."""
STORE_ANSWER = """
INSERT INTO answers(occasion, item, part, status, value, text, confidence, data, notes, position, options_shown,
  asked_at)
VALUES(?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(occasion, item) DO UPDATE SET status=excluded.status, value=excluded.value,
  text=excluded.text, confidence=excluded.confidence, data=excluded.data, notes=excluded.notes,
  position=excluded.position, options_shown=excluded.options_shown, asked_at=excluded.asked_at
WHERE answers.status='failed'
"""
ANSWERS_TO = f"""
SELECT item, status, value, text, confidence, data, notes, position, options_shown FROM answers
WHERE occasion=(SELECT id FROM occasions WHERE {OCCASION})
"""
OF_PART = " AND part=?"
ITERATED = f"""
SELECT a.item, a.status, a.value, a.text, a.confidence, a.data, a.notes, a.position, a.options_shown,
  o.arm, o.methodology, o.phase, o.session, o.round, o.turn, o.participant, a.part {ANSWERED} WHERE o.methodology=?
"""
ITERATED_WHERE = {"arm": " AND o.arm=?", "phase": " AND o.phase=?", "round": " AND o.round=?"}
ITERATED_ORDER = " ORDER BY o.arm, o.phase, o.round, o.participant, o.session, o.turn, a.position, a.item"
_ORDERED = " ORDER BY o.participant, o.session, o.round, o.turn, a.item"
_ANSWERS = f"""
SELECT o.arm, o.session, o.round, o.turn, o.participant, a.item, a.part, a.status, a.value, a.text, a.confidence,
  a.data, a.notes, a.position, a.options_shown, {time_of("a.asked_at")} {ANSWERED}
WHERE o.methodology = ? AND o.phase = ? AND o.arm = ?
"""
ANSWERS = f"{_ANSWERS}{_ORDERED}"
ANSWERS_OF = f"""{_ANSWERS} AND o.round IN (SELECT CAST(value AS BIGINT) FROM json_each(?))
AND o.participant IN {LISTED}
{_ORDERED}"""
PARTS = f"""
SELECT o.arm, o.session, o.round, o.turn, o.participant, a.item, a.part {ANSWERED}
WHERE o.methodology = ? AND o.phase = ? ORDER BY o.arm, o.participant, o.session, o.round, o.turn, a.item
"""
COUNTED = f"SELECT count(*) {ANSWERED} WHERE o.methodology=? AND o.phase=? AND o.arm=?"
ANSWERED_ROWS = f"SELECT o.methodology, o.phase, count(*) {ANSWERED} WHERE o.arm=? GROUP BY o.methodology, o.phase"
FOLLOWED = """
SELECT methodology, phase, count(DISTINCT round || '/' || turn) FROM occasions WHERE arm=? GROUP BY methodology, phase
"""
NOTED_IN = f"SELECT DISTINCT o.methodology, o.phase {ANSWERED} WHERE a.notes LIKE ?"
NOTES = f"""
SELECT o.methodology, o.session, o.round, o.turn, o.participant, a.item, a.notes {ANSWERED}
WHERE o.arm = ? AND o.phase = ? AND a.notes LIKE ? ORDER BY o.methodology, o.participant, o.round, o.turn, a.item
"""
RESPONDED = f"""
SELECT o.methodology, o.phase, count(DISTINCT o.participant) {ANSWERED}
WHERE o.arm=? AND a.status IN ('ok', 'repaired') GROUP BY o.methodology, o.phase
"""
ROUNDS = """
SELECT o.methodology, o.phase, o.round, count(DISTINCT o.participant) FROM occasions o
WHERE o.arm=? AND EXISTS(SELECT 1 FROM answers a WHERE a.occasion=o.id) GROUP BY o.methodology, o.phase, o.round
"""
FAILED = f"""
SELECT o.arm, o.methodology, o.phase, o.round, count(*) {ANSWERED}
WHERE a.status='failed' GROUP BY o.arm, o.methodology, o.phase, o.round
"""
USABLE = f"""
SELECT o.session, o.round, o.turn, o.participant, a.item, a.status IN ('ok', 'repaired') {ANSWERED}
WHERE o.arm=? AND o.methodology=? AND o.phase=?
"""
STORED = f"""
SELECT a.part, a.data, a.notes, a.position, a.options_shown, {time_of("a.asked_at")} {ANSWERED}
WHERE o.arm = ? AND o.methodology = ? AND o.phase = ? AND o.session = ? AND o.round = ? AND o.turn = ?
AND o.participant = ?
  AND a.item = ?
"""

# --- what is pinned, filed, counted and noted ------------------------------------------------------------------------

PIN = """
INSERT INTO frozen(methodology, phase, arm, name, value, at) VALUES(?,?,?,?,?,?)
ON CONFLICT(methodology, phase, arm, name) DO NOTHING
"""
PINNED_VALUE = f"SELECT value FROM frozen WHERE {PINNED}"
PINNED_NAMES = "SELECT phase, name FROM frozen WHERE arm=? AND methodology=? ORDER BY phase, name"
PINNED_LIKE = """
SELECT name, value FROM frozen WHERE methodology=? AND phase='' AND arm=? AND name LIKE ? ORDER BY name
"""
RECORD = "SELECT value FROM frozen WHERE methodology='' AND name='record'"

SET_STAGE = """
INSERT INTO stages VALUES(?,?,?,?,?) ON CONFLICT(methodology, phase)
DO UPDATE SET outcome=excluded.outcome, note=excluded.note, at=excluded.at
"""
STAGES = "SELECT methodology, phase, outcome, note, at FROM stages"
OUTCOME = "SELECT outcome, note FROM stages WHERE methodology='' AND phase=''"
ENDED = "SELECT at FROM stages WHERE methodology='' AND phase='' AND outcome IN ('completed', 'failed')"
SYNTHESISED = "SELECT 1 FROM stages WHERE methodology='' AND phase='synthesis'"
DONE = f"""
SELECT s.phase, s.methodology FROM stages s WHERE s.outcome='done' AND s.methodology<>'' AND EXISTS(
  SELECT 1 {ANSWERED} WHERE o.methodology=s.methodology AND o.phase=s.phase AND a.status IN ('ok', 'repaired'))
"""

CLEAR_FAILURE = f"DELETE FROM failures WHERE {FAILURE}"
FILE_FAILURE = """
INSERT INTO failures(arm, methodology, phase, round, unit, error, traceback, at) VALUES(?,?,?,?,?,?,?,?)
"""
HAS_FAILURE = f"SELECT 1 FROM failures WHERE {FAILURE}"
FAILURES = "SELECT arm, methodology, phase, round, unit, error, traceback FROM failures ORDER BY id"

COUNT = """
INSERT INTO counters VALUES(?,?,?,?,?,?) ON CONFLICT(arm, methodology, phase, round, name)
DO UPDATE SET value=counters.value+excluded.value
"""
COUNTERS = "SELECT arm, methodology, phase, round, name, value FROM counters"
TOTAL = "SELECT coalesce(sum(value), 0) FROM counters WHERE name=?"

NOTE = "INSERT INTO meta VALUES(?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value"
ADD_NOTED = """
INSERT INTO meta VALUES(?, ?) ON CONFLICT(key)
DO UPDATE SET value=CAST(CAST(meta.value AS BIGINT) + CAST(excluded.value AS BIGINT) AS TEXT)
"""
ADD_NOTED_RETURNING = f"{ADD_NOTED} RETURNING value"
NOTED = "SELECT value FROM meta WHERE key=?"
NOTES_LIKE = "SELECT key, value FROM meta WHERE key LIKE ?"
STAMP = "INSERT INTO alembic_version VALUES(?)"

MISCOUNTED = f"""
WITH there(arm, methodology, phase, round, name, n) AS (
  SELECT arm, methodology, phase, 0, 'calls', count(*) FILTER (WHERE status='settled') FROM calls GROUP BY 1, 2, 3
  UNION ALL SELECT arm, methodology, phase, 0, 'tokens', sum(input_tokens + output_tokens + allowance) FROM calls
    GROUP BY 1, 2, 3
  UNION ALL SELECT o.arm, o.methodology, o.phase, o.round, 'answers_' || a.status, count(*) {ANSWERED}
  GROUP BY 1, 2, 3, 4, 5),
counted AS (SELECT arm, methodology, phase, round, replace(name, 'carried_', '') AS name, value AS n FROM counters)
SELECT name, sum(n) AS surplus FROM (
  SELECT * FROM counted WHERE name IN ('calls', 'tokens') OR name LIKE 'answers!_%' ESCAPE '!'
  UNION ALL SELECT arm, methodology, phase, round, name, -n FROM there) compared
GROUP BY arm, methodology, phase, round, name HAVING sum(n) <> 0
"""
"""Counters that are not what the rows say; of methodologies taken over they have names of their own (backup.py)."""

WRITTEN = """
SELECT (SELECT coalesce(sum(value), 0) FROM counters), (SELECT max(at) FROM stages), (SELECT max(at) FROM frozen),
  (SELECT max(changed_at) FROM forms), (SELECT count(*) FROM failures)
"""
SIZE_IN_STORE = """
SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relkind = 'r'
"""

# --- several processes at work (workers.py) ---------------------------------------------------------------------------

HAS_WORKERS = {
    "sqlite": "SELECT 1 FROM sqlite_master WHERE name='workers'",
    "postgresql": "SELECT 1 WHERE to_regclass('workers') IS NOT NULL",
}
WORKER_TABLES = ("workers", "worker_calls", "shards", "pace")
REGISTER = "INSERT INTO workers VALUES(?,?,0,0,?,'',0)"
REGISTERED = {
    "sqlite": "SELECT 1 FROM workers WHERE owner=?",
    "postgresql": "SELECT 1 FROM workers WHERE owner=? FOR SHARE",
}
"""And stays so until the transaction is over."""
AT_ADDRESS = "SELECT owner FROM workers WHERE address=?"
WORKERS = "SELECT owner, address FROM workers WHERE address<>?"
UNREGISTER = "DELETE FROM workers WHERE owner=? RETURNING spent_usd"
LEAVE_CALLS = "DELETE FROM worker_calls WHERE owner=?"
LEAVE_SHARDS = "DELETE FROM shards WHERE owner=?"
SHARD_OF = "SELECT owner FROM shards WHERE shard=?"
TAKE_SHARD = "INSERT INTO shards VALUES(?,?) ON CONFLICT(shard) DO UPDATE SET owner=excluded.owner"
LEAVE_SHARD = "DELETE FROM shards WHERE shard=? AND owner=?"
SENT_BY = f"""
INSERT INTO worker_calls(call, owner) SELECT id, CAST(? AS TEXT) FROM calls WHERE {CALL}
ON CONFLICT(call) DO UPDATE SET owner=excluded.owner
"""
LANDED = f"DELETE FROM worker_calls WHERE call=(SELECT id FROM calls WHERE {CALL})"
ADD_PAID = "UPDATE workers SET spent_usd=spent_usd+? WHERE owner=?"
ADD_PAID_AT = "UPDATE workers SET spent_usd=spent_usd+? WHERE address=?"
ONE_BY_ONE = "UPDATE workers SET failed=failed WHERE address=?"
"""Whoever takes a block holds the driver's row: blocks are taken one after the other."""
BLOCKS = """
SELECT coalesce(sum(CASE WHEN owner<>? THEN tokens ELSE 0 END), 0),
  coalesce(sum(CASE WHEN owner<>? THEN usd ELSE 0 END), 0),
  count(*), coalesce(sum(spent_usd), 0) FROM workers
"""
TAKE_BLOCK = "UPDATE workers SET tokens=?, usd=? WHERE owner=?"
ASK_TO_STOP = "UPDATE workers SET stopped=?, failed=? WHERE owner=?"
STANDING_WORKERS = "SELECT owner, stopped, failed FROM workers"
TAKE_TURNS = """
INSERT INTO pace VALUES(?,?,?) ON CONFLICT(model) DO UPDATE SET
  requests=CASE WHEN pace.requests > ? THEN pace.requests ELSE ? END + ?,
  tokens=CASE WHEN pace.tokens > ? THEN pace.tokens ELSE ? END + ? RETURNING requests, tokens
"""
CLOCK = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
"""The store's, in seconds since 1970: those of several machines differ."""

# --- people and forms ------------------------------------------------------------------------------------------------

ADD_PARTICIPANT = "INSERT INTO participants VALUES(?,?,?,?,?,?)"
POPULATION = "SELECT id, agent_id, name, stakeholder_type, persona FROM participants ORDER BY position"
POPULATION_SIZE = "SELECT count(*) FROM participants"
POPULATION_PAGE = f"{POPULATION.partition(' ORDER')[0]} WHERE position >= ? AND position < ? ORDER BY position"
PARTICIPANT = f"{POPULATION.partition(' ORDER')[0]} WHERE id = ?"
PEOPLE = "SELECT id, name, stakeholder_type FROM participants ORDER BY position"
PERSON = "SELECT id, name, stakeholder_type, persona FROM participants WHERE id = ?"
ADD_DIGEST = "INSERT INTO digests VALUES(?,?,?) ON CONFLICT(phase, participant) DO NOTHING"
DIGESTS = "SELECT participant, text FROM digests WHERE phase=?"
DIGESTS_AMONG = f"SELECT participant, text FROM digests WHERE phase = ? AND participant IN {LISTED}"
DIGESTS_OF = "SELECT phase, text FROM digests WHERE participant = ? ORDER BY phase"
REMEMBERING = "SELECT participant FROM digests WHERE phase=? AND text IS NOT NULL"

FILE_FORM = """
INSERT INTO forms(arm, methodology, phase, session, round, turn, participant, part, state, block, draft, opened_at,
  changed_at) VALUES(?,?,?,?,?,?,?,?,'open',?,'{}',?,?) ON CONFLICT DO NOTHING
"""
SAVE_DRAFT = f"UPDATE forms SET draft=?, changed_at=? WHERE {FORM} AND state='open'"
CLOSE_FORM = f"UPDATE forms SET state=?, changed_at=? WHERE {FORM} AND state='open'"
_FORMS = "SELECT state, block, draft, opened_at, changed_at FROM forms WHERE"
FORM_OF = f"{_FORMS} {FORM}"
FORMS_IN = f"{_FORMS} state=? ORDER BY id"
PERSONS = "SELECT participant FROM forms GROUP BY participant ORDER BY min(id)"

# --- rows of whole methodologies -------------------------------------------------------------------------------------

OF_METHODOLOGIES = {
    **dict.fromkeys(("occasions", "calls", "frozen", "stages", "failures", "counters"), f"methodology IN {LISTED}"),
    "answers": f"occasion IN (SELECT id FROM occasions WHERE methodology IN {LISTED})",
    "texts": f"""hash IN (SELECT system_hash FROM calls WHERE methodology IN {LISTED} UNION
  SELECT messages_hash FROM calls WHERE methodology IN {LISTED} UNION
  SELECT head FROM texts JOIN calls ON hash = system_hash WHERE methodology IN {LISTED})""",
}
"""Which rows of a table belong to them; every `?` is the same list."""
