"""What became of each pair, told to the memory: both answers are remembered, then their records are annotated (respondent_id,
critic_score, pairwise_winner), then the comparison itself is remembered, for preferences over many runs."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Sequence
from typing import Final, Literal

from enquete.analysis.preference import position_bias
from enquete.checkpoints.record import RunRecord
from enquete.memory.local import LocalMemory
from enquete.memory.recall import Preference, Record
from enquete.nodes.critic.outcome import ANNOTATED, PairRecord, annotated, pair_records
from enquete.nodes.critic.pairs import Asked, Pair
from enquete.nodes.planning import CRITIC
from enquete.nodes.run_session import RunSession
from enquete.state.asking import Arm, Participant
from enquete.state.errors import LedgerError

AT_ONCE: Final = 100
"""Pairs between two looks at the ledger: as many are told again, to no effect, after a kill."""
UNTOLD: Final = "critic_unannotated"

log = logging.getLogger("enquete")


async def annotate_memory(run_session: RunSession, second: Arm, pairs: Sequence[Pair]) -> int:
    """How many pairs the memory was told of. What it could not be told is noted, and tried again by the next walk; it never
    ends a run. A replay says nothing new."""
    if run_session.record.replay_of:
        return 0
    known, by_id = annotated(run_session.ledger, second.id), {pair.a.question_id: pair for pair in pairs}
    judged = [one for one in pair_records(run_session.ledger, second.id) if one.question_id in by_id]
    left = [one for one in judged if one.question_id not in known]
    usable = position_bias([one.forward for one in judged], [one.backward for one in judged]).verdict != "unusable"
    told: list[str] = []
    try:
        for some in (left[start : start + AT_ONCE] for start in range(0, len(left), AT_ONCE)):
            done = await asyncio.to_thread(
                _tell, run_session, second, [(one, by_id[one.question_id]) for one in some], usable
            )
            told += done
            await asyncio.gather(
                *(run_session.ledger.freeze(second.id, CRITIC, "", f"{ANNOTATED}{name}", True) for name in done)
            )
    except (LedgerError, sqlite3.Error, OSError) as error:
        log.warning("memory: comparisons could not be noted: %s", error)
    await run_session.ledger.note(UNTOLD, str(len(left) - len(told)))
    return len(told)


def _tell(run_session: RunSession, second: Arm, some: Sequence[tuple[PairRecord, Pair]], usable: bool) -> list[str]:
    """Questions of which both records took the result. The word of an unusable critic is no preference."""
    record, people = run_session.record, {who.id: who for who in run_session.population}
    asked = [one for _, pair in some for one in (pair.a, pair.b)]
    done = []
    with LocalMemory.opened(run_session.interviews) as memory:
        memory.remember([_remembered(record, one, people.get(one.participant)) for one in asked])
        for found, _ in some:
            sides = (
                (found.answer_id_a, record.main, found.score_a, "A"),
                (found.answer_id_b, second, found.score_b, "B"),
            )
            taken = [
                memory.annotate(
                    answer,
                    {"respondent_id": arm.id, "critic_score": score, "pairwise_winner": _won(found, letter)},
                )
                for answer, arm, score, letter in sides
            ]
            if all(taken):
                done.append(found.question_id)
            if usable and found.winner and not found.alike and _configuration(record.main) != _configuration(second):
                kind = people[found.participant].stakeholder_type if found.participant in people else ""
                memory.remember_preference(_preference(found, record.run_id, record.main, second, kind))
    return done


def _won(found: PairRecord, letter: str) -> bool | None:
    """None for a tie, and where there is no verdict."""
    return found.winner == letter if found.winner in ("A", "B") else None


def _remembered(record: RunRecord, asked: Asked, who: Participant | None) -> Record:
    return Record(
        id=asked.answer_id,
        kind="answer",
        text=f"{asked.wording.strip()}\n{asked.said}",
        sim_id=record.sim_id,
        run_id=record.run_id,
        participant=asked.participant,
        agent_name=who.name if who else "",
        stakeholder_type=who.stakeholder_type if who else "",
        methodology=asked.methodology,
        phase=asked.phase,
        answer_ids=[asked.answer_id],
    )


def _preference(found: PairRecord, run: str, main: Arm, second: Arm, kind: str) -> Preference:
    winner: dict[str, Literal["a", "b", "tie"]] = {"A": "a", "B": "b", "tie": "tie"}
    return Preference(
        question_id=found.question_id,
        run_id=run,
        answer_id_a=found.answer_id_a,
        answer_id_b=found.answer_id_b,
        methodology=found.methodology,
        question_type=found.question_type,
        stakeholder_type=kind,
        a=_configuration(main),
        b=_configuration(second),
        winner=winner[found.winner],
        score_a=found.score_a,
        score_b=found.score_b,
        reason=found.reason,
    )


def _configuration(arm: Arm) -> str:
    return f"{arm.model}, temperature {arm.temperature:g}"
