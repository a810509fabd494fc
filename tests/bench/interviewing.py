"""Enquete's own contenders without their synthesis: `python -m tests.bench.interviewing NAME WORK`.

interviewing   the façade, graph, context, ledger and client; nothing is analysed or written up
context        the same with the model and its prompts taken out: what graph, context and SQLite cost
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from enquete.instruments.load import load_shipped
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.models.chat_completions import RequestForm, ResponseFormat
from enquete.respondents.llm import call_key, compose
from enquete.runs import run_session
from enquete.state import collect_seldom
from enquete.state.asking import Answer, Block, BlockKey, Participant, Reply
from enquete.state.interview_context import Metered, Prompt
from enquete.study.run import Run
from tests.bench.loops import WARM, Clock, Work
from tests.support import bare_runs
from tests.support.studies import personas, rows

TEMPERATURE, SEED, LANGUAGE = 0.7, 0, "de"


def write_prompts(path: Path, population: Path) -> int:
    """The requests that a run of the longitudinal methodology on these personas sends, one a line; items in each."""
    instrument = load_shipped(LongitudinalInstrument, "longitudinal")
    items = instrument.block_items(LANGUAGE)
    form = RequestForm(ResponseFormat.JSON_SCHEMA, frozenset())
    with path.open("w", encoding="utf-8") as file:
        for number, person in enumerate(json.loads(population.read_text("utf-8"))):
            who = Participant(
                id=str(number), name=person["name"], stakeholder_type=person["type"], persona=person["persona"]
            )
            key = BlockKey("", "main", "longitudinal", "T1", "", 0, 0, who.id, "items")
            block = Block(key=key, instruction=instrument.instruction.in_(LANGUAGE), items=items)
            prompt = compose(who, block, items, LANGUAGE, "", 0)
            body = form.body(prompt, model="", temperature=TEMPERATURE, seed=SEED)
            del body["model"]
            file.write(json.dumps(body, ensure_ascii=False) + "\n")
    return len(items)


def interviewing(folder: Path, work: Work, agents: int) -> Run:
    return _interview(folder, agents, work, model="bench", base_url=work.base_url)


class Canned:
    """A respondent without prompt and reader: reserves, settles and answers, nothing else."""

    async def ask(self, who: Participant, block: Block, model: Metered) -> Reply:
        prompt = Prompt("", ({"role": "user", "content": ""},), "", 16)
        await model.request(call_key(block, 0), lambda: prompt, lambda: "{}")
        return Reply("done", tuple(Answer(item.id, "ok", value=3.0) for item in block.items))


def context(folder: Path, work: Work, agents: int) -> Run:
    made = run_session.make_respondent
    run_session.make_respondent = lambda *_: Canned()  # type: ignore[assignment]
    try:
        return _interview(folder, agents, work, respondent="synthetic")
    finally:
        run_session.make_respondent = made


def _interview(folder: Path, agents: int, work: Work, **respondent: Any) -> Run:
    return bare_runs.interview(
        personas(folder, agents), out=str(folder / f"out_{agents}"), methods=["longitudinal"], language=LANGUAGE,
        concurrency=work.in_flight, budget_tokens=10**9, confirm=True, new=True, **respondent,
    )  # fmt: skip


USED = (
    "SELECT count(*), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0) FROM calls WHERE status='settled'"
)


def used(run_folder: Path) -> dict[str, Any]:
    return dict(zip(("calls", "read", "written"), rows(run_folder, USED)[0], strict=True))


def main() -> None:
    collect_seldom()  # as `enquete` does
    contender, work = {"interviewing": interviewing, "context": context}[sys.argv[1]], Work(**json.loads(sys.argv[2]))
    with TemporaryDirectory() as name:
        contender(Path(name), work, WARM)
        clock = Clock()
        run = contender(Path(name), work, work.agents)
        print(json.dumps(clock.read() | used(run.folder)))


if __name__ == "__main__":
    main()
