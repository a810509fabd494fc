"""The critic at work: its requests, each filed in the ledger before it is sent, and what was read of the replies.

A reply that cannot be read is no grade and no verdict; nothing here ends a run. Without a model the stand-in judges
(respondents/critic.py), through the same prompts, ledger and reader.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from enquete.nodes.critic.outcome import PairRecord, winner_of
from enquete.nodes.critic.pairs import Asked, Pair
from enquete.nodes.planning import CRITIC
from enquete.nodes.run_session import RunSession
from enquete.respondents.critic import (
    comparing,
    grade,
    grading,
    reason,
    standin_choice,
    standin_grade,
    standin_quality,
    verdict,
)
from enquete.state.asking import Arm, CallKey
from enquete.state.interview_context import Prompt
from enquete.state.request import CriticSettings

Order = Literal["ab", "ba", "again"]
Side = Literal["a", "b"]


class Short(Exception):
    """The budget is used up, or the run was stopped: no further request may be made."""


@dataclass(frozen=True)
class Judge:
    """Judges answers of one run. `second`: respondent B."""

    run_session: RunSession
    second: Arm
    how: CriticSettings

    async def grade(self, pair: Pair, side: Side) -> int | None:
        """By the rubric, 1–5; None where the reply holds no grade. What both say alike has one grade. Raises Short."""
        asked = pair.a if side == "a" or pair.alike else pair.b
        text = await self._reply(
            "grade",
            asked.answer_id.removeprefix(f"{self.run_session.record.run_id}/"),
            lambda: grading(pair.question, asked.said, self.how.rubric, self.run_session.record.language),
            lambda: standin_grade(self._quality(asked)),
        )
        return grade(text)

    async def judge(self, pair: Pair, *, again: bool) -> PairRecord:
        """Compared in both orders, once more in the first where it is asked for `again`; with the grades as they are filed.
        Raises Short."""
        orders: tuple[Order, ...] = () if pair.alike else ("ab", "ba", "again") if again else ("ab", "ba")
        texts = {order: await self._compare(pair, order) for order in orders}
        won = {order: _winner(order, text) for order, text in texts.items()}
        forward, backward = won.get("ab", ""), won.get("ba", "")
        a, b = pair.a, pair.b
        return PairRecord.model_validate(
            {
                "question_id": a.question_id, "answer_id_a": a.answer_id, "answer_id_b": b.answer_id,
                "winner": "tie" if pair.alike else winner_of(forward, backward), "score_a": await self.grade(pair, "a"),
                "score_b": await self.grade(pair, "b"), "reason": reason(texts.get("ab")), "methodology": a.methodology,
                "phase": a.phase, "participant": a.participant, "question_type": a.kind, "forward": forward,
                "backward": backward, "again": won.get("again", ""), "alike": pair.alike, "value_a": a.value,
                "value_b": b.value, "width": a.width,
            },
        )  # fmt: skip

    async def _compare(self, pair: Pair, order: Order) -> str | None:
        first, then = (pair.b, pair.a) if order == "ba" else (pair.a, pair.b)
        place = "ba" if order == "ba" else "ab"
        return await self._reply(
            "again" if order == "again" else "compare",
            f"{pair.a.question_id}/{place}",
            lambda: comparing(pair.question, first.said, then.said, self.how.rubric, self.run_session.record.language),
            lambda: standin_choice(
                self.how.model, self._quality(first), self._quality(then), f"{pair.a.question_id}/{order}"
            ),
        )

    async def _reply(
        self, purpose: str, subject: str, compose: Callable[[], Prompt], stand_in: Callable[[], str]
    ) -> str | None:
        """The text; None where the request failed for good."""
        run = self.run_session.record.run_id
        key = CallKey(run, self.second.id, CRITIC, "", purpose, subject, 0)
        metered = self.run_session.critic(again=purpose == "again")
        found = await metered.request(key, compose, None if self.run_session.record.critic_has_model else stand_in)
        if found == "short":
            raise Short
        return None if found == "failed" else found.text

    def _quality(self, asked: Asked) -> float:
        """The planted one. By the answer's id without its run's, so that the same run makes the same pairs."""
        answer = asked.answer_id.removeprefix(f"{self.run_session.record.run_id}/")
        main = self.run_session.record.main
        arm = main if answer.startswith(f"{main.id}/") else self.second
        return standin_quality(arm.model, answer)


def _winner(order: Order, text: str | None) -> str:
    """Whose answer won, whichever place it stood in; "" without a verdict."""
    letter = verdict(text)
    if letter is None:
        return ""
    return letter if order != "ba" else "B" if letter == "A" else "A"
