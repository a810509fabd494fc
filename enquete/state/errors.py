"""Every error that Enquete raises on purpose.

    EnqueteError                     exit code 1
    ├── InputError                   exit code 2: something the user gave is wrong
    │   ├── SettingsError            an argument, environment variable or .env line
    │   ├── SimulationNotFound       no such simulation under the root
    │   ├── SimulationError          a simulation or personas file that cannot be read
    │   ├── PopulationMismatch       T1's agents are not T0's agents
    │   ├── InstrumentError          a YAML file: file, line, field, value, what would be right
    │   ├── RunMismatch              an unfinished run exists whose fingerprint differs
    │   ├── RunNotFound              no run of that id, token or simulation
    │   ├── Unfit                    the questions are about something else, and nobody said that this is meant
    │   └── OverBudget               the upper estimate exceeds the budget, and nobody confirmed
    ├── RunLocked                    another process drives this run
    ├── RunPaused                    exit code 3: what a run works with is gone; nothing is lost, resume goes on
    │   └── WorkersLost              the cluster, or all of its workers (runs/executors.py)
    ├── Busy                         a file that others hold did not become free in time; nothing was changed
    ├── LedgerError                  the run's ledger is damaged, cannot be read, or is of an unknown version
    │   └── DiskFull                 no space is left for it (ledger/drives.py)
    ├── MemoryFault                  a graph to be read or written does not answer; never the end of a run
    └── ModelError                   a request to a model failed; becomes an answer's status, never a crash
        ├── ModelUnavailable         time-out, connection, 429 or 5xx that outlived the retries
        ├── ModelRejected            the server refuses the request itself (key, model name, malformed)
        └── ReplayMissing            a replayed run made no such request: instruments, prompts or code have changed

A message names the file, the field or line, the bad value and what would be right. Anything else that is raised is a
bug: it is recorded with its traceback, leaves its unit without answers, and makes the exit code 1.

What is wrong with a value, in our own words, not a library's: which argument, what was given, what is taken.
"""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # `enquete --version` does without pydantic
    from pydantic import JsonValue, ValidationError
    from pydantic_core import ErrorDetails

# --- Complaints: what is wrong with a value --------------------------------------------------------------------------

MOST_CHARS = 60


def complaints(error: ValidationError) -> str:
    return "; ".join(map(complaint, error.errors(include_url=False)))


def complaint(error: ErrorDetails) -> str:
    """`budget_tokens: '10k' is not taken; write a whole number such as 10000`."""
    where = ".".join(str(step) for step in error["loc"] if not isinstance(step, int))
    return f"{where}: {wrong(error)}" if where else wrong(error)


def wrong(error: ErrorDetails) -> str:
    """The same without the argument's name."""
    kind = error["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "there is no such field"
    context: Mapping[str, Any] = error.get("ctx", {})
    if kind == "value_error":
        return str(context.get("error", error["msg"]))
    return f"{shown(error['input'])} is not taken; write {_wanted(error, context)}"


def shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= MOST_CHARS else f"{text[: MOST_CHARS - 1]}…"


def _wanted(error: ErrorDetails, context: Mapping[str, Any]) -> str:
    kind = error["type"]
    if kind == "literal_error":
        return str(context["expected"]).replace("'", "")
    wanted = WANTED.get(kind)
    if wanted is not None:
        return wanted.format(**context)
    return next((text for ending, text in KINDS.items() if kind.startswith(ending)), "") or _of_the_library(error)


def _of_the_library(error: ErrorDetails) -> str:
    """What nobody has met yet, shortened to what is wanted."""
    text = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ").partition(",")[0]
    return text[:1].lower() + text[1:]


WANTED: Mapping[str, str] = {
    "greater_than": "a number above {gt:,}",
    "greater_than_equal": "a number from {ge:,} on",
    "less_than": "a number below {lt:,}",
    "less_than_equal": "a number up to {le:,}",
    "string_too_short": "a text of at least {min_length} characters",
    "string_too_long": "a text of at most {max_length:,} characters",
    "too_short": "a list of at least {min_length} entries",
    "too_long": "a list of at most {max_length:,} entries",
    "string_pattern_mismatch": "a text of the form {pattern}",
    "finite_number": "a finite number",
    "json_invalid": "JSON",
}
KINDS: Mapping[str, str] = {
    "int_": "a whole number such as 10000",
    "float_": "a number such as 0.5",
    "bool_": "true or false",
    "string_": "a text",
    "list_": "a list of names",
    "tuple_": "a list",
    "dict_": "a mapping of names to values",
    "model_": "a mapping of names to values",
}


def of_argument(error: ErrorDetails, known: Iterable[str]) -> str:
    """The value of an unknown argument is not shown: it may be a key."""
    if error["type"] != "extra_forbidden":
        return complaint(error)
    field = ".".join(map(str, error["loc"]))
    like = difflib.get_close_matches(field, list(known), n=1)
    return f"{field}: no such argument" + (f"; did you mean {like[0]!r}?" if like else "")


# --- A machine's limits ----------------------------------------------------------------------------------------------

NO_ROOM_FOR_MORE = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)
"""What says that the machine, or what this process may have of it, is used up; nothing of the file that was opened."""


def advice_for(error: OSError | MemoryError) -> str:
    """Return the system's reason for a fault, and what to do where the machine's limits are the reason."""
    if isinstance(error, MemoryError) or error.errno == errno.ENOMEM:
        return "out of memory: end other programs, or ask fewer at once with --concurrency"
    why = error.strerror or str(error)
    if error.errno in (errno.EMFILE, errno.ENFILE):
        return f"{why}: close some, or allow more with ulimit -n"
    return why


def machine_limit(error: BaseException) -> str:
    """Return what to say where an error, or what caused it, is that the machine is used up; "" where it is not."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, MemoryError) or (isinstance(cause, OSError) and cause.errno in NO_ROOM_FOR_MORE):
            return advice_for(cause)
        cause = cause.__cause__ or cause.__context__
    return ""


# --- Errors ----------------------------------------------------------------------------------------------------------


class EnqueteError(RuntimeError):  # a RuntimeError, so that the agent server shows its text
    """Root of the tree. `fact`: what is wrong, without the command line's advice; the message unless given."""

    exit_code = 1

    def __init__(self, *parts: object, fact: str = ""):
        super().__init__(*parts)
        self.fact = fact or str(self)


class InputError(EnqueteError):
    """Something the user gave is wrong; nothing was asked."""

    exit_code = 2


class SettingsError(InputError):
    """An argument, environment variable or .env line is wrong."""


class SimulationNotFound(InputError):
    """No such simulation; the message lists the known ones."""


class SimulationError(InputError):
    """A simulation folder or personas file that cannot be read."""


class PopulationMismatch(InputError):
    """The agents at T1 cannot be joined to the agents at T0."""


class InstrumentError(InputError):
    """An instrument file is wrong. Holds all problems found, not only the first."""

    def __init__(self, problems: Sequence[str]):
        self.problems = tuple(problems)
        super().__init__("\n".join(problems))


class RunMismatch(InputError):
    """An unfinished run with other settings exists; the message lists the differences."""


class RunNotFound(InputError):
    """No run of that id, token or simulation."""


class Unfit(InputError):
    """The questions are not about what the simulation is about, and nobody said that this is meant."""


class OverBudget(InputError):
    """The upper estimate exceeds the budget, and nobody confirmed. `estimate`: the whole estimate as JSON values;
    `remedy`: what would let an operation of a methodology begin, "" for a run."""

    def __init__(self, message: str, estimate: Mapping[str, JsonValue], *, fact: str = "", remedy: str = ""):
        super().__init__(message, fact=fact)
        self.estimate = estimate
        self.remedy = remedy


class RunLocked(EnqueteError):
    """Another process drives this run."""


class RunPaused(EnqueteError):
    """A run had to stop because what it works with is gone: its database, its workers. Nothing that was settled is
    lost."""

    exit_code = 3


class Busy(EnqueteError):
    """Another process holds what is needed, and did not let go in time. Nothing was changed: ask again."""


class LedgerError(EnqueteError):
    """The ledger is damaged or was written by another schema version."""


class MemoryFault(EnqueteError):
    """A graph cannot be read or written. `wait_s`: after how many seconds it asks to be tried again, where it says so;
    `unsure`: the request may have arrived; `refused`: this request alone is at fault."""

    def __init__(self, message: str, *, wait_s: float | None = None, unsure: bool = False, refused: bool = False):
        super().__init__(message)
        self.wait_s = wait_s
        self.unsure = unsure
        self.refused = refused


class ModelError(EnqueteError):
    """A request to a model failed. `sends` were made, `timeouts` of them may have been billed without an answer."""

    def __init__(self, message: str, *, sends: int = 1, timeouts: int = 0, fact: str = ""):
        super().__init__(message, fact=fact)
        self.sends = sends
        self.timeouts = timeouts
        self.short = False  # given up because the budget had no room for another try
        self.outage = False  # the server was away for longer than the run's patience: nobody's fault, the run pauses
        self.broken = 0  # connections that broke after the request was sent: possibly billed as well
        self.booked = (0, 0)  # tokens, read and written, that the server reported for replies that could not be used


class ModelUnavailable(ModelError):
    """Time-out, connection fault, 429 or 5xx that outlived the retries."""


class ModelRejected(ModelError):
    """The server refuses the request itself. `fatal`: it would refuse any other too (wrong key, unknown model)."""

    def __init__(self, message: str, *, fatal: bool = False, sends: int = 1, timeouts: int = 0):
        super().__init__(message, sends=sends, timeouts=timeouts)
        self.fatal = fatal


class ReplayMissing(ModelError):
    """The run that is replayed holds no answer to this request."""
