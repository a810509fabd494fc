"""A methodology whose arms end in different rounds, and whose units may have said everything before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langgraph.graph import END, START, StateGraph
from langgraph.types import Send
from pydantic import BaseModel

from enquete.nodes.ask import Channels, ask_shard, build_sends, open_first_round, send_shards_to
from enquete.nodes.close_round import choose_probes_or_end, file_stage, round_barrier
from enquete.reports.declarations import Presentation, shaped
from enquete.reports.evaluation import Evaluation
from enquete.runs.run_session import using
from enquete.state.asking import Answer, Block, Item, Language, Option, Participant
from enquete.state.channels import MethodologyInput, MethodologyOutput, MethodologyState, ShardSpec
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Procedure, Truth

LAST = {"main": 2, "people": 3, "replicate_2": 1}
"""By arm, the round in which its verdict is to end."""

ENOUGH = 5.0
"""Who answers this owes nothing more: every agent with an even number, in the first round."""

ITEM = Item(id="i", kind="scale", wording="?", options=tuple(Option(value=n, label="") for n in range(1, 6)))


class UnevenInstrument(BaseModel):
    pass


class Uneven(Procedure[UnevenInstrument, NoSettings]):
    rounds = 3

    def units(self, round: int, context: InterviewContext) -> Sequence[str]:
        return [who.id for who in context.participants() if not self._is_over(who.id, round, context)]

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        known = round == 1 or context.pinned(f"asked/{round}") is not None
        return [Block(key=context.key(unit, "items", round=round), instruction="?", items=(ITEM,))] if known else []

    def _is_over(self, unit: str, round: int, context: InterviewContext) -> bool:
        earlier = (context.stored(context.key(unit, "items", round=number)) for number in range(1, round))
        return any(answer.value == ENOUGH for answers in earlier for answer in answers.values())


async def close_round(state: MethodologyState) -> Channels:
    number = state["round"]
    async with round_barrier(state) as barrier:
        for arm in barrier.arms:
            is_over = number == LAST[arm.arm.id]
            if not is_over:
                await arm.pin(f"asked/{number + 1}", True)
            await barrier.close_round(arm, "end" if is_over else "next")
    return barrier.next_state


async def after_round(state: MethodologyState) -> list[Send] | str:
    if state["outcome"]:
        return "close"
    async with using(state["run"]) as session:
        return build_sends(session, state, "ask")


def graph() -> Any:
    builder = StateGraph(MethodologyState, input_schema=MethodologyInput, output_schema=MethodologyOutput)
    builder.add_node("open", open_first_round)
    builder.add_node("ask", ask_shard, input_schema=ShardSpec)
    builder.add_node("close_round", close_round)
    builder.add_node("close", file_stage)
    builder.add_edge(START, "open")
    builder.add_conditional_edges("open", send_shards_to("ask"), ["ask"])
    builder.add_edge("ask", "close_round")
    builder.add_conditional_edges("close_round", after_round, ["ask", "close"])
    builder.add_conditional_edges("close", choose_probes_or_end, {"probes": "open", "end": END})
    return builder.compile(name="uneven_rounds")


def planted(instrument: UnevenInstrument, settings: NoSettings) -> Truth:
    def answer(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        leaves = (who.agent_id or 0) % 2 == 0
        return [Answer(item.id, "ok", ENOUGH if leaves else 3.0) for item in block.items]

    return answer


EVALUATION = Evaluation(
    Presentation(tables=()), lambda frame, instrument, settings, context: shaped(Presentation(tables=()), {}, {})
)

METHODOLOGY = Methodology(
    name="uneven",
    title="Uneven",
    default=False,
    order=98,
    phases=("T1",),
    asks=lambda: MethodParts(UnevenInstrument, NoSettings, Uneven, planted),
    evaluation=lambda: EVALUATION,
    graph=graph,
    probes=(),
)
