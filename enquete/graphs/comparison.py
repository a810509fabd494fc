"""The comparison of two respondents as a graph: grade every answer, compare the pairs, note the results in the memory.

The critic works after the methodologies and before the synthesis. Where the budget is used up it ends in "short", and
the parent's gate decides.
"""

from __future__ import annotations

from typing import Annotated, Literal, NotRequired

from langgraph.graph import END, START, StateGraph
from typing_extensions import TypedDict

from enquete.nodes.ask import Channels
from enquete.nodes.dispatch import CRITIC_STAGE
from enquete.respondents.ground_truth import uniform
from enquete.runs.answer_pairs import PAIR, REPEATED, AnswerPair, pair_records
from enquete.runs.judge import annotate_memory, judge_each, judge_of, match_pairs, match_pairs_anew, note_costs
from enquete.runs.planning import CRITIC
from enquete.runs.run_session import using
from enquete.state.channels import merge_by_id


class ComparisonInput(TypedDict):
    """What the critic starts from."""

    run: str


class ComparisonState(ComparisonInput):
    """The critic at work."""

    pairs: NotRequired[int]  # questions that both respondents answered
    judged: NotRequired[int]  # pairs compared so far
    annotated: NotRequired[int]  # pairs that the memory was told of
    outcome: NotRequired[str]  # "" while it goes on; done or short
    outcomes: Annotated[NotRequired[dict[str, str]], merge_by_id]  # "critic" → done or short


class ComparisonOutput(TypedDict):
    """What the critic tells its parent."""

    outcomes: Annotated[dict[str, str], merge_by_id]


async def grade(state: ComparisonState) -> Channels:
    """Grade, by the rubric, every answer that has a counterpart. Pairs are matched anew, since answers may be new."""
    async with using(state["run"]) as session:
        judge = judge_of(session)
        pairs = await match_pairs_anew(judge)

        async def grade_both(pair: AnswerPair) -> None:
            await judge.grade(pair, "a")
            await judge.grade(pair, "b")

        all_graded = await judge_each(judge, pairs, grade_both, 1)
        return {"pairs": len(pairs), "outcome": "" if all_graded else "short"}


async def compare_if_graded(state: ComparisonState) -> Literal["compare", "short"]:
    return "short" if state["outcome"] == "short" else "compare"


async def pairwise_grading(state: ComparisonState) -> Channels:
    """Compare every pair in both orders, and some a second time to see how steady the judge is. Verdicts are pinned."""
    async with using(state["run"]) as session:
        judge = judge_of(session)
        pairs = await match_pairs(judge)
        repeatable = [pair.a.question_id for pair in pairs if not pair.alike]
        drawn = sorted(repeatable, key=lambda question: uniform(session.record.seed, "again", question))
        repeated = set(drawn[:REPEATED])

        async def compare_pair(pair: AnswerPair) -> None:
            record = await judge.judge(pair, again=pair.a.question_id in repeated)
            name, value = f"{PAIR}{record.question_id}", record.model_dump(mode="json")
            await session.ledger.pin(judge.second.id, CRITIC, "", name, value)

        all_compared = await judge_each(judge, pairs, compare_pair, 2)
        n_judged = sum(1 for _ in pair_records(session.ledger, judge.second.id))
        return {"judged": n_judged, "outcome": "" if all_compared else "short"}


async def annotate(state: ComparisonState) -> Channels:
    """Write into the interviews' memory how each answer was judged, and file the critic's stage."""
    async with using(state["run"]) as session:
        outcome = "short" if state["outcome"] == "short" else "done"
        judge = judge_of(session)
        n_annotated = await annotate_memory(session, judge.second, await match_pairs(judge))
        await note_costs(session, judge.second)
        await session.ledger.set_stage(*CRITIC_STAGE, outcome)
        if outcome == "done":
            await session.budget.close(CRITIC)
        return {"annotated": n_annotated, "outcome": outcome, "outcomes": {CRITIC: outcome}}


builder = StateGraph(ComparisonState, input_schema=ComparisonInput, output_schema=ComparisonOutput)
builder.add_node("grade", grade)
builder.add_node("pairwise_grading", pairwise_grading)
builder.add_node("annotate", annotate)

builder.add_edge(START, "grade")
builder.add_conditional_edges("grade", compare_if_graded, {"compare": "pairwise_grading", "short": "annotate"})
builder.add_edge("pairwise_grading", "annotate")
builder.add_edge("annotate", END)

comparison = builder.compile(name="critic")
