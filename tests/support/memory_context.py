"""A context without a ledger, for conversations in memory: whoever is given answers, rules or `works` do the
interviewer's work."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel, JsonValue

from enquete.state.asking import Answer, Arm, Block, BlockKey, Language, Participant, Reply
from enquete.state.interview_context import InterviewerTask

Says = Callable[[Participant, Block], Answer]
Works = Callable[[InterviewerTask[Any]], Any]


class MemoryContext:
    """Everything that was asked, worked and pinned is kept in dictionaries, as a ledger would keep it."""

    run = "run_memory"
    main_arm = "main"
    phase = "T1"
    asking: Literal["block", "item"] = "block"
    by_model = False

    def __init__(
        self,
        who: Participant,
        says: Says,
        language: Language = "de",
        *,
        methodology: str,
        seed: int = 0,
        works: Works | None = None,
        by: str = "rule",
    ):
        self.arm = Arm(seed=seed)
        self.language: Language = language
        self.methodology = methodology
        self._who, self._says, self._by = who, says, by
        self._works = works or (lambda task: task.rule(task.data))
        self.blocks: list[Block] = []
        self.answers_by_key: dict[BlockKey, dict[str, Answer]] = {}
        self.tasks: dict[tuple[str, str], InterviewerTask[Any]] = {}
        self.values: dict[str, JsonValue] = {}
        self.replies: dict[tuple[str, str], BaseModel | str] = {}

    def participants(self) -> Sequence[Participant]:
        return [self._who]

    def participant(self, participant_id: str) -> Participant:
        return self._who

    def key(self, participant: str, part: str, *, session: str = "", round: int = 0, turn: int = 0) -> BlockKey:
        return BlockKey(self.run, self.arm.id, self.methodology, self.phase, session, round, turn, participant, part)

    def stored(self, key: BlockKey) -> Mapping[str, Answer]:
        return self.answers_by_key.get(key, {})

    async def ask(self, block: Block) -> Reply:
        if block.key not in self.answers_by_key:
            self.blocks.append(block)
            answer = self._says(self._who, block)
            self.answers_by_key[block.key] = {answer.item: answer}
        return Reply("done", tuple(self.answers_by_key[block.key].values()))

    async def work(self, task: InterviewerTask[Any]) -> Any:
        key = (task.purpose, task.subject)
        if key not in self.replies:
            self.tasks[key] = task
            self.replies[key] = self._works(task)
        return self.replies[key]

    async def worked(self, task: InterviewerTask[Any]) -> Any:
        done = await self.work(task)
        return done if isinstance(done, str) else (done, self._by)

    async def pin(self, name: str, value: JsonValue) -> JsonValue:
        return self.values.setdefault(name, value)

    def pinned(self, name: str, *, arm: str | None = None) -> JsonValue:
        return self.values.get(name)

    async def answers(
        self, *, arm: str, phase: str | None = None, round: int | None = None
    ) -> AsyncIterator[tuple[BlockKey, Answer]]:
        for key, answers in self.answers_by_key.items():
            for answer in answers.values():
                yield key, answer
