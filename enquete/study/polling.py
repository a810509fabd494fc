"""Questions as Python objects: a study without any file.

run = enquete.ask("sim_683e8059ab27", Likert("Quotas are fair."), Choice("Who decides?", "the state", "the market"), Open("Why?"))
"""

from __future__ import annotations

from pathlib import Path

from typing_extensions import Unpack

from enquete.graphs.registry import methodologies
from enquete.instruments.polls import PollQuestion, QuestionsInstrument, Words, as_document
from enquete.state.errors import SettingsError
from enquete.study.arguments import Arguments as Request
from enquete.study.describing import OF_A_RUN, listing
from enquete.study.interviewing import conduct_interviews
from enquete.study.run import Run


@listing(OF_A_RUN)
def ask(
    sim_id: str | Path,
    *questions: PollQuestion,
    topic: str = "",
    instruction: Words | None = None,
    **request: Unpack[Request],
) -> Run:
    """Ask every agent these questions once; the run, with the ledger, table and report of any other.

    Takes all that `conduct_interviews` takes but methods and instruments. Raises InstrumentError with every question that
    cannot be asked.
    """
    if not questions:
        raise SettingsError('ask: name at least one question, such as Likert("Quotas are fair.")')
    wrong = [type(one).__name__ for one in questions if not isinstance(one, PollQuestion)]
    if wrong:
        raise SettingsError(f"ask: {wrong[0]} is no question; write Likert(…), Choice(…), Number(…) or Open(…)")
    name = next(name for name, one in methodologies().items() if issubclass(one.instrument, QuestionsInstrument))
    document = as_document(questions, topic, instruction)
    asked: Request = {**request, "methods": [name], "instruments": {name: document}}
    return conduct_interviews(sim_id, **asked)
