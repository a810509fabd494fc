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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pydantic import JsonValue


class EnqueteError(RuntimeError):  # a RuntimeError, so that the agent server shows its text
    """Root of the tree. `fact`: what is wrong, without the command line's advice; the message unless given."""

    exit_code = 1

    def __init__(self, *said: object, fact: str = ""):
        super().__init__(*said)
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


class ModelUnavailable(ModelError):
    """Time-out, connection fault, 429 or 5xx that outlived the retries."""


class ModelRejected(ModelError):
    """The server refuses the request itself. `fatal`: it would refuse any other too (wrong key, unknown model)."""

    def __init__(self, message: str, *, fatal: bool = False, sends: int = 1, timeouts: int = 0):
        super().__init__(message, sends=sends, timeouts=timeouts)
        self.fatal = fatal


class ReplayMissing(ModelError):
    """The run that is replayed holds no answer to this request."""
