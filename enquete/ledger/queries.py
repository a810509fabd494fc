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
  prompt_hash, reserved, reserved_at, checksum) VALUES(?,?,?,?,?,?,'reserved',?,?,?,?,?,?,?)
ON CONFLICT(methodology, phase, arm, purpose, subject, attempt) DO UPDATE SET status='reserved', model=excluded.model,
  system_hash=excluded.system_hash, messages_hash=excluded.messages_hash, prompt_hash=excluded.prompt_hash,
  reserved=excluded.reserved, input_tokens=0, output_tokens=0, response='', finish='', raw='', fingerprint='', error='',
  latency_ms=0, reserved_at=excluded.reserved_at, settled_at=0, checksum=excluded.checksum
WHERE calls.status IN ('failed', 'lost') RETURNING id, allowance, sends
"""
"""What was lost or failed before stays in the row: who sends the call once more has to know of it."""
END_CALL = f"""
UPDATE calls SET status=?, allowance=?, input_tokens=?, output_tokens=?, sends=?, response=?, finish=?, raw=?,
  fingerprint=?, error=?, latency_ms=?, settled_at=?, checksum=? WHERE {CALL} AND status='reserved'
"""
SEAL_CALL = "UPDATE calls SET checksum=? WHERE id=?"
WHOLE_CALL = """methodology, phase, arm, purpose, subject, attempt, status, model, system_hash, messages_hash,
  prompt_hash, reserved, allowance, input_tokens, output_tokens, sends, response, finish, raw, fingerprint, error,
  latency_ms, reserved_at, settled_at"""
RESERVED = f"""
SELECT model, system_hash, messages_hash, prompt_hash, reserved, reserved_at, allowance, sends FROM calls WHERE {CALL}
"""
_LOSE = "UPDATE calls SET status='lost', allowance=allowance+reserved, sends=sends+1 WHERE status='reserved'"
LOSE = f"{_LOSE} RETURNING id, {WHOLE_CALL}"
LOSE_OF = f"{_LOSE} AND id IN (SELECT call FROM worker_calls WHERE owner=?) RETURNING id, {WHOLE_CALL}"
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
WHERE methodology NOT IN {LISTED} GROUP BY methodology, phase, arm, model ORDER BY methodology, phase, arm, model
"""
ANSWERS_COST = f"""
SELECT model, sum(input_tokens), sum(output_tokens), sum(allowance) FROM calls
WHERE arm=? AND purpose='answer' AND methodology NOT IN {LISTED} GROUP BY model ORDER BY model
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
AND fingerprint<>'' ORDER BY fingerprint
"""
ANSWER_CALLS = f"""
SELECT subject, count(*) AS attempts,
  coalesce(max(CASE WHEN attempt = 0 THEN prompt_hash END),
    max(CASE WHEN attempt % {MOST_ATTEMPTS} = 0 THEN prompt_hash END)) AS prompt_hash,
  sum(latency_ms) AS latency_ms, sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens
FROM calls WHERE purpose = 'answer' AND methodology = ? AND phase = ? AND arm = ? AND subject IN {LISTED}
GROUP BY subject ORDER BY subject
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
INSERT INTO occasions(arm, methodology, phase, participant, session, round, turn, checksum) VALUES(?,?,?,?,?,?,?,?)
ON CONFLICT DO NOTHING RETURNING id
"""
STANDING = f"""
SELECT o.id, NOT EXISTS(SELECT 1 FROM answers WHERE occasion=o.id AND part=?), (SELECT count(*) FROM answers
  WHERE occasion=o.id AND status='failed' AND item IN {LISTED}) FROM occasions o WHERE {OCCASION}
"""
"""Of an occasion that there is: its number, whether the part is new, how many failed rows will be replaced."""
STORE_ANSWER = """
INSERT INTO answers(occasion, item, part, status, value, text, confidence, data, notes, position, options_shown,
  asked_at, checksum)
VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT(occasion, item) DO UPDATE SET status=excluded.status,
  value=excluded.value, text=excluded.text, confidence=excluded.confidence, data=excluded.data, notes=excluded.notes,
  part=excluded.part, position=excluded.position, options_shown=excluded.options_shown, asked_at=excluded.asked_at,
  checksum=excluded.checksum
WHERE answers.status='failed'
"""
ANSWERS_TO = f"""
SELECT item, status, value, text, confidence, data, notes, position, options_shown FROM answers
WHERE occasion=(SELECT id FROM occasions WHERE {OCCASION})
"""
OF_PART = " AND part=?"
IN_ORDER = " ORDER BY item"
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
COUNT_ANSWERING = (
    f"SELECT count(DISTINCT o.participant) {ANSWERED} WHERE o.methodology=? AND o.phase=? AND o.arm=? "
    "AND a.status IN ('ok', 'repaired')"
)
ANSWERED_ROWS = (
    f"SELECT o.methodology, o.phase, count(*) {ANSWERED} WHERE o.arm=? GROUP BY o.methodology, o.phase ORDER BY 1, 2"
)
ANSWERED_BY_ITEM = f"""
SELECT a.item, count(*) {ANSWERED} WHERE o.methodology=? AND o.phase=? AND o.arm=? AND a.status IN ('ok', 'repaired')
GROUP BY a.item ORDER BY a.item
"""
MEAN_BY_ITEM = f"""
SELECT a.item, avg(a.value) {ANSWERED} WHERE o.methodology=? AND o.phase=? AND o.arm=? AND a.value IS NOT NULL
GROUP BY a.item ORDER BY a.item
"""
MEAN_CHANGE_BY_ITEM = """
SELECT later.item, avg(later.value - earlier.value)
FROM occasions o1
JOIN answers later ON later.occasion = o1.id
JOIN occasions o0 ON o0.methodology = o1.methodology AND o0.arm = o1.arm AND o0.phase = 'T0'
  AND o0.participant = o1.participant
JOIN answers earlier ON earlier.occasion = o0.id AND earlier.item = later.item
WHERE o1.methodology=? AND o1.arm=? AND o1.phase = 'T1' AND later.value IS NOT NULL AND earlier.value IS NOT NULL
GROUP BY later.item ORDER BY later.item
"""
NOTED_IN = f"SELECT DISTINCT o.methodology, o.phase {ANSWERED} WHERE a.notes LIKE ? ORDER BY o.methodology, o.phase"
NOTES = f"""
SELECT o.methodology, o.session, o.round, o.turn, o.participant, a.item, a.notes {ANSWERED}
WHERE o.arm = ? AND o.phase = ? AND a.notes LIKE ?
ORDER BY o.methodology, o.participant, o.session, o.round, o.turn, a.item
"""
RESPONDED = f"""
SELECT o.methodology, o.phase, count(DISTINCT o.participant) {ANSWERED}
WHERE o.arm=? AND a.status IN ('ok', 'repaired') GROUP BY o.methodology, o.phase ORDER BY o.methodology, o.phase
"""
ROUNDS = """
SELECT o.methodology, o.phase, o.round, count(DISTINCT o.participant) FROM occasions o
WHERE o.arm=? AND EXISTS(SELECT 1 FROM answers a WHERE a.occasion=o.id) GROUP BY o.methodology, o.phase, o.round
ORDER BY o.methodology, o.phase, o.round
"""
FAILED = f"""
SELECT o.arm, o.methodology, o.phase, o.round, count(*) {ANSWERED}
WHERE a.status='failed' GROUP BY o.arm, o.methodology, o.phase, o.round
ORDER BY o.arm, o.methodology, o.phase, o.round
"""
USABLE = f"""
SELECT o.session, o.round, o.turn, o.participant, a.item, a.status IN ('ok', 'repaired') {ANSWERED}
WHERE o.arm=? AND o.methodology=? AND o.phase=? {_ORDERED}
"""
STORED = f"""
SELECT a.part, a.data, a.notes, a.position, a.options_shown, {time_of("a.asked_at")} {ANSWERED}
WHERE o.arm = ? AND o.methodology = ? AND o.phase = ? AND o.session = ? AND o.round = ? AND o.turn = ?
AND o.participant = ?
  AND a.item = ?
"""

# --- what is pinned, filed, counted and noted ------------------------------------------------------------------------

PIN = """
INSERT INTO frozen(methodology, phase, arm, name, value, at, checksum) VALUES(?,?,?,?,?,?,?)
ON CONFLICT(methodology, phase, arm, name) DO NOTHING
"""
PINNED_VALUE = f"SELECT value FROM frozen WHERE {PINNED}"
PINNED_NAMES = "SELECT phase, name FROM frozen WHERE arm=? AND methodology=? ORDER BY phase, name"
COUNT_PINNED = "SELECT count(*) FROM frozen WHERE methodology=? AND phase=? AND arm=? AND name LIKE ?"
PINNED_LIKE = """
SELECT name, value FROM frozen WHERE methodology=? AND phase='' AND arm=? AND name LIKE ? ORDER BY name
"""
RECORD_KEY = "methodology='' AND phase='' AND arm='' AND name='record'"
RECORD = f"SELECT value FROM frozen WHERE {RECORD_KEY}"

SET_STAGE = """
INSERT INTO stages VALUES(?,?,?,?,?,?) ON CONFLICT(methodology, phase)
DO UPDATE SET outcome=excluded.outcome, note=excluded.note, at=excluded.at, checksum=excluded.checksum
"""
STAGES = "SELECT methodology, phase, outcome, note, at, checksum FROM stages ORDER BY methodology, phase"
ENDED = "SELECT at FROM stages WHERE methodology='' AND phase='' AND outcome IN ('completed', 'failed')"
SYNTHESISED = "SELECT 1 FROM stages WHERE methodology='' AND phase='synthesis'"
DONE = f"""
SELECT s.phase, s.methodology FROM stages s WHERE s.outcome='done' AND s.methodology<>'' AND EXISTS(
  SELECT 1 {ANSWERED} WHERE o.methodology=s.methodology AND o.phase=s.phase AND a.status IN ('ok', 'repaired'))
ORDER BY s.methodology, s.phase
"""

CLEAR_FAILURE = f"DELETE FROM failures WHERE {FAILURE}"
FILE_FAILURE = """
INSERT INTO failures(arm, methodology, phase, round, unit, error, traceback, at, checksum) VALUES(?,?,?,?,?,?,?,?,?)
"""
HAS_FAILURE = f"SELECT 1 FROM failures WHERE {FAILURE} LIMIT 1"
FAILURES = "SELECT arm, methodology, phase, round, unit, error, traceback FROM failures ORDER BY id"

COUNT = """
INSERT INTO counters VALUES(?,?,?,?,?,?,?) ON CONFLICT(arm, methodology, phase, round, name)
DO UPDATE SET value=counters.value+excluded.value, checksum=counters.checksum+excluded.value
"""
COUNTERS = """
SELECT arm, methodology, phase, round, name, value, checksum FROM counters ORDER BY arm, methodology, phase, round, name
"""
TOTAL = "SELECT coalesce(sum(value), 0) FROM counters WHERE name=?"

NOTE = """
INSERT INTO meta VALUES(?,?,?) ON CONFLICT(key) DO UPDATE SET value=excluded.value, checksum=excluded.checksum
"""
ADD_NOTED = """
INSERT INTO meta VALUES(?,?,?) ON CONFLICT(key)
DO UPDATE SET value=CAST(CAST(meta.value AS BIGINT) + CAST(excluded.value AS BIGINT) AS TEXT),
  checksum=meta.checksum + CAST(excluded.value AS BIGINT)
"""
ADD_NOTED_RETURNING = f"{ADD_NOTED} RETURNING value"
NOTED = "SELECT value FROM meta WHERE key=?"
NOTES_LIKE = "SELECT key, value FROM meta WHERE key LIKE ? ORDER BY key"

_THERE = f"""
WITH there(arm, methodology, phase, round, name, n) AS (
  SELECT arm, methodology, phase, 0, 'calls', count(*) FILTER (WHERE status='settled') FROM calls GROUP BY 1, 2, 3
  UNION ALL SELECT arm, methodology, phase, 0, 'tokens', sum(input_tokens + output_tokens + allowance) FROM calls
    GROUP BY 1, 2, 3
  UNION ALL SELECT o.arm, o.methodology, o.phase, o.round, 'answers_' || a.status, count(*) {ANSWERED}
  GROUP BY 1, 2, 3, 4, 5),
counted AS (SELECT arm, methodology, phase, round, replace(name, 'carried_', '') AS name, value AS n FROM counters)
"""
_COMPARED = """FROM (
  SELECT * FROM counted WHERE name IN ('calls', 'tokens') OR name LIKE 'answers!_%' ESCAPE '!'
  UNION ALL SELECT arm, methodology, phase, round, name, -n FROM there) compared
GROUP BY arm, methodology, phase, round, name HAVING sum(n) <> 0
ORDER BY arm, methodology, phase, round, name
"""
MISCOUNTED_BLOCKS = f"""
SELECT arm, methodology, phase, round, sum(n) FROM (
  SELECT arm, methodology, phase, round, value AS n FROM counters WHERE name = 'blocks'
  UNION ALL SELECT o.arm, o.methodology, o.phase, o.round, -count(DISTINCT a.occasion || '/' || a.part) {ANSWERED}
  GROUP BY 1, 2, 3, 4) compared
GROUP BY arm, methodology, phase, round HAVING sum(n) <> 0 ORDER BY arm, methodology, phase, round
"""
HAS_COUNTER = "SELECT 1 FROM counters WHERE arm=? AND methodology=? AND phase=? AND round=? AND name=?"
MISCOUNTED = f"{_THERE} SELECT arm, methodology, phase, round, name, sum(n) AS surplus {_COMPARED}"
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
AT_ADDRESS = "SELECT owner FROM workers WHERE address=? ORDER BY owner"
WORKERS = "SELECT owner, address FROM workers WHERE address<>? ORDER BY owner"
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
STANDING_WORKERS = "SELECT owner, stopped, failed FROM workers ORDER BY owner"
TAKE_TURNS = """
INSERT INTO pace VALUES(?,?,?) ON CONFLICT(model) DO UPDATE SET
  requests=CASE WHEN pace.requests > ? THEN pace.requests ELSE ? END + ?,
  tokens=CASE WHEN pace.tokens > ? THEN pace.tokens ELSE ? END + ? RETURNING requests, tokens
"""
CLOCK = "SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)"
"""The store's, in seconds since 1970: those of several machines differ."""

# --- people and forms ------------------------------------------------------------------------------------------------

ADD_PARTICIPANT = "INSERT INTO participants VALUES(?,?,?,?,?,?,?)"
POPULATION = "SELECT id, agent_id, name, stakeholder_type, persona FROM participants ORDER BY position"
POPULATION_SIZE = "SELECT count(*) FROM participants"
POPULATION_PAGE = f"{POPULATION.partition(' ORDER')[0]} WHERE position >= ? AND position < ? ORDER BY position"
PARTICIPANT = f"{POPULATION.partition(' ORDER')[0]} WHERE id = ?"
PEOPLE = "SELECT id, name, stakeholder_type FROM participants ORDER BY position"
PERSON = "SELECT id, name, stakeholder_type, persona FROM participants WHERE id = ?"
ADD_DIGEST = "INSERT INTO digests VALUES(?,?,?,?) ON CONFLICT(phase, participant) DO NOTHING"
DIGESTS = "SELECT participant, text FROM digests WHERE phase=? ORDER BY participant"
DIGESTS_AMONG = f"""
SELECT participant, text FROM digests WHERE phase = ? AND participant IN {LISTED} ORDER BY participant
"""
DIGESTS_OF = "SELECT phase, text FROM digests WHERE participant = ? ORDER BY phase"
REMEMBERING = "SELECT participant FROM digests WHERE phase=? AND text IS NOT NULL ORDER BY participant"

FILE_FORM = """
INSERT INTO forms(arm, methodology, phase, session, round, turn, participant, part, state, block, draft, opened_at,
  changed_at, checksum) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING
"""
WHOLE_FORM = f"""
SELECT id, arm, methodology, phase, session, round, turn, participant, part, state, block, draft, opened_at, changed_at
FROM forms WHERE {FORM}
"""
SEAL_FORM = "UPDATE forms SET checksum=? WHERE id=?"
SAVE_DRAFT = f"UPDATE forms SET draft=?, changed_at=? WHERE {FORM} AND state='open'"
CLOSE_FORM = f"UPDATE forms SET state=?, changed_at=? WHERE {FORM} AND state='open'"
_FORMS = "SELECT state, block, draft, opened_at, changed_at FROM forms WHERE"
FORM_OF = f"{_FORMS} {FORM}"
FORMS_IN = f"{_FORMS} state=? ORDER BY id"
PERSONS = "SELECT participant FROM forms GROUP BY participant ORDER BY min(id), participant"

# --- rows of whole methodologies -------------------------------------------------------------------------------------

OF_METHODOLOGIES = {
    **dict.fromkeys(("occasions", "calls", "frozen", "stages", "failures", "counters"), f"methodology IN {LISTED}"),
    "answers": f"occasion IN (SELECT id FROM occasions WHERE methodology IN {LISTED})",
    "texts": f"""hash IN (SELECT system_hash FROM calls WHERE methodology IN {LISTED} UNION
  SELECT messages_hash FROM calls WHERE methodology IN {LISTED} UNION
  SELECT head FROM texts JOIN calls ON hash = system_hash WHERE methodology IN {LISTED})""",
}
"""Which rows of a table belong to them; every `?` is the same list."""
