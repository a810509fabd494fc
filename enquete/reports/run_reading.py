"""A run, opened to read only: its record, ledger, instruments and contexts, without a lock, a key or a model.

Everything that reports need comes through here, each kind of row in one query. The whole reading is one SQLite read
transaction, so that table, counts and report agree even while another process goes on with the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

from pydantic import JsonValue

from enquete.instruments.pack import names_of_types
from enquete.instruments.text import Text
from enquete.ledger import queries
from enquete.ledger.damage import require_sound
from enquete.ledger.folders import LEDGER, read_record
from enquete.ledger.ledger import Ledger
from enquete.ledger.record import RunRecord
from enquete.reports.markdown import readable
from enquete.respondents.ledger_context import LedgerContext
from enquete.runs.planning import RunBase
from enquete.state.asking import Arm, Block, CallKey, Language, Participant
from enquete.state.errors import LedgerError
from enquete.state.untrusted_input import read_regular

if TYPE_CHECKING:
    import pandas as pd

LARGEST_RESULT = 256_000_000  # bytes of a result file, which we wrote ourselves


class ReadingLedger(Ledger):
    """A ledger to read only, in one transaction. Pinned values are parsed once: a plan asks for them per agent."""

    _values: dict[tuple[str, str, str, str], JsonValue]

    @classmethod
    def open(cls, path: Path) -> Self:
        ledger = cls.reading(path)
        ledger._values = {}
        ledger._read.hold_still()
        return ledger

    def cursor(self, sql: str, values: Sequence[object] = ()) -> Any:
        """Over many rows, never all in memory."""
        return self._read.stream(sql, values)

    def stream(self, sql: str, values: Sequence[object] = ()) -> Iterator[Any]:
        """In the one transaction, as everything."""
        return iter(self.cursor(sql, values))

    def pinned(self, arm: str, methodology: str, phase: str, name: str) -> JsonValue:
        key = (arm, methodology, phase, name)
        if key not in self._values:
            self._values[key] = super().pinned(*key)
        return self._values[key]


class NobodyAsks:
    """Stands where a context wants a respondent and a model: a report that asks anything is a bug."""

    async def ask(self, who: Participant, block: Block, model: object) -> NoReturn:
        raise RuntimeError(f"a report asked {who.id} for {block.key}")

    async def request(
        self, key: CallKey, compose: object, offline: object = None, *, has_standby: bool = False
    ) -> NoReturn:
        raise RuntimeError(f"a report requested {key}")


class RunReading(RunBase[ReadingLedger]):
    """One run, read only. Use `open_run`; belongs to the thread that opened it. language: of what is told of it; the
    interviews' unless another is asked for."""

    def __init__(
        self,
        folder: Path,
        record: RunRecord,
        ledger: ReadingLedger,
        language: Language = "",
        population: Sequence[Participant] | None = None,
        by: str = "",
    ) -> None:
        """population: the ledger's, where somebody has it already. by: what agents are compared by, where it is not to
        be what the run named."""
        super().__init__(folder, record, ledger)
        self.by = by or record.by
        self.language = language or record.language
        if population is not None:
            self.population = population

    @property
    def run(self) -> str:
        return self.record.run_id

    @property
    def own_runs(self) -> set[str]:
        """This run and those that methodologies were taken over from; an earlier run's T0 is not among them."""
        return {self.run, *self.record.carried.values()}

    @cached_property
    def stages(self) -> dict[tuple[str, str], str]:
        """Outcome by (methodology, phase)."""
        return {key: stage.outcome for key, stage in self.ledger.stages().items()}

    @cached_property
    def memory(self) -> Mapping[str, JsonValue]:
        """What was filed when T1 opened: how agents were joined, what to say of it, how the simulation had ended."""
        stored = self.ledger.pinned("", "", "T1", "memory")
        return stored if isinstance(stored, dict) else {}

    @cached_property
    def baseline(self) -> str:
        """Where T0 comes from, as the record says; where the simulation had done nothing more by T1, a measured T0 is
        as good as a reconstructed one: the same personas before they remembered what had happened already."""
        folder, now = self.baseline_folder(), self.memory.get("actions")
        then = self.record if folder is None else read_record(folder)
        if self.record.baseline not in ("measured", "earlier") or not isinstance(now, int):
            return self.record.baseline
        return self.record.baseline if now > then.actions_at_start else "reconstructed"

    @cached_property
    def type_names(self) -> Mapping[str, str]:
        """What reports call the stakeholder types of this run, in its language."""
        topics = [used.content.get("topic") for used in self.record.instruments.values()]
        texts = {Text.model_validate(topic) for topic in topics if topic}
        named = names_of_types(texts, self.language)
        kinds = dict.fromkeys(who.stakeholder_type for who in self.population)
        return {kind: named.get(kind) or readable(kind) for kind in kinds}

    @property
    def idle(self) -> bool:
        """Whether T0 was measured, but nothing happened in the simulation from then on."""
        return self.baseline == "reconstructed" and self.record.baseline != "reconstructed"

    def interview_context(self, name: str, phase: str, arm: Arm) -> LedgerContext:
        """The context that the interviews used, without anyone to ask."""
        nobody = NobodyAsks()
        return LedgerContext(
            arm=arm,
            main_arm=self.record.main.id,
            methodology=name,
            phase=phase,
            language=self.record.language,
            asking=self.record.asking,
            population=self.ledger.remembering(self.population, phase if arm.digest == "own" else ""),
            ledger=self.ledger,
            respondent=nobody,
            model=nobody,
            interviewers=lambda model: nobody,
            interviewer_has_model=False,
            by_model=bool(self.record.interviewer_model),
        )

    def remembering(self, phase: str) -> frozenset[str]:
        """Who has a memory in this phase."""
        rows = self.ledger.read(queries.REMEMBERING, (phase,))
        return frozenset(who for (who,) in rows)

    def answered(self, methodology: str, phase: str, arm: str) -> int:
        """How many answers there are."""
        return int(self.ledger.read(queries.COUNTED, (methodology, phase, arm)).fetchone()[0])

    def answers(
        self, methodology: str, phase: str, arm: str, rounds: Sequence[int] = (), whose: Sequence[str] = ()
    ) -> Iterable[tuple[Any, ...]]:
        """Of an arm; of these agents in these rounds alone, where they are named."""
        where = (methodology, phase, arm)
        if not whose:
            return self.ledger.stream(queries.ANSWERS, where)
        cursor = self.ledger.read(queries.ANSWERS_OF, (*where, json.dumps(rounds), json.dumps(whose)))
        rows: list[tuple[Any, ...]] = cursor.fetchall()  # few, and sooner had than one by one
        return rows

    def parts(self, methodology: str, phase: str) -> Iterator[tuple[Any, ...]]:
        """Where each answer was asked for (arm, session, round, turn, participant, item), and in which part."""
        return self.ledger.stream(queries.PARTS, (methodology, phase))

    def answer_calls(
        self, methodology: str, phase: str, arm: str, subjects: Sequence[str]
    ) -> Iterator[tuple[Any, ...]]:
        """One row per asked block: requests made, hash of the first prompt, time and tokens over all of them."""
        return self.ledger.stream(queries.ANSWER_CALLS, (methodology, phase, arm, json.dumps(subjects)))

    def answered_by(self, methodology: str, phase: str, arm: str) -> dict[str, str]:
        """The model whose response came last, by asked block (`BlockKey.subject`)."""
        return dict(self.ledger.read(queries.ANSWERED_BY, (methodology, phase, arm)).fetchall())

    def spent_by_model(self) -> pd.DataFrame:
        """As `spent`, by model in place of stage, arm and purpose."""
        return self._frame(queries.SPENT_BY_MODEL, (json.dumps(list(self.record.carried)),))

    def spent(self) -> pd.DataFrame:
        """Calls and tokens by methodology, phase, arm and purpose. Their tokens plus allowances are the run's budget.

        Without what was taken over: another run paid for that.
        """
        return self._frame(queries.SPENT, (json.dumps(list(self.record.carried)),))

    def calls(self, methodology: str, phase: str) -> Iterator[dict[str, Any]]:
        """Every request of this stage, one at a time."""
        cursor = self.ledger.cursor(queries.CALLS, (methodology, phase))
        names = [column[0] for column in cursor.description]
        for row in cursor:
            yield dict(zip(names, row, strict=True))

    def pinned_values(self, arm: str, methodology: str) -> dict[str, JsonValue]:
        """Pinned values of a methodology by name; where two phases pinned the same name, the later phase's."""
        names = self.ledger.read(queries.PINNED_NAMES, (arm, methodology)).fetchall()
        return {name: self.ledger.pinned(arm, methodology, phase, name) for phase, name in names}

    def fingerprints(self, methodology: str, phase: str, arm: str) -> frozenset[str]:
        """Server fingerprints that answers of this stage carry."""
        cursor = self.ledger.read(queries.FINGERPRINTS, (methodology, phase, arm))
        return frozenset(row[0] for row in cursor)

    def baseline_folder(self) -> Path | None:
        """The run that T0 was measured in, where that was an earlier one."""
        return self.folder.parent / self.record.baseline_run_id if self.record.baseline == "earlier" else None

    def _frame(self, query: str, values: Sequence[str]) -> pd.DataFrame:
        import pandas as pd  # noqa: PLC0415 - where a run stands is read without tables

        cursor = self.ledger.read(query, values)
        names = [column[0] for column in cursor.description]
        return pd.DataFrame.from_records(cursor.fetchall(), columns=names)


@contextmanager
def open_run(
    folder: Path, language: Language = "", population: Sequence[Participant] | None = None, by: str = ""
) -> Iterator[RunReading]:
    """Open a run for a report, an export or its frames.

    population: see `RunReading`. Raises LedgerError where the run's ledger is missing or of another schema version,
    DamagedLedger where a row in it is not as it was written.
    """
    require_sound(folder)
    ledger = ReadingLedger.open(folder / LEDGER)
    try:
        yield RunReading(folder, ledger.record, ledger, language, population, by)
    finally:
        ledger.close_reading()


def read_result(path: Path) -> dict[str, Any]:
    """An object that a synthesis wrote; {} before the first. Raises LedgerError."""
    if not path.exists():
        return {}
    try:
        content: Any = json.loads(read_regular(path, LARGEST_RESULT))
    except (OSError, ValueError, RecursionError) as error:
        why = getattr(error, "strerror", None) or error
        raise LedgerError(f"{path}: not readable ({why}); `enquete export` writes it again") from error
    return content if isinstance(content, dict) else {}
