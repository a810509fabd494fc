"""Best–worst scaling: out of a few objects at a time, which is best and which is worst?

What is asked, how, and what the synthetic respondent answers; what the answers give stands in results.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, model_validator

from enquete.instruments.document import Line, identifier, not_empty, reference, wrong
from enquete.instruments.instrument import Instrument
from enquete.instruments.text import Text
from enquete.locale import N_
from enquete.respondents.planted import normal, persona_hash
from enquete.state.asking import Answer, Block, Item, Language, Option, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Procedure, Steps, Truth

if TYPE_CHECKING:
    from enquete.reports.evaluation import Evaluation

ObjectId = Annotated[Line, AfterValidator(identifier("object"))]
ObjectName = Annotated[Line, AfterValidator(reference("object", "objects"))]


class BestWorstInstrument(Instrument):
    """Every set is one question: which of these is best, which is worst?"""

    instruction: Text
    question: Text
    objects: Annotated[dict[ObjectId, Text], AfterValidator(not_empty)]
    sets: Annotated[tuple[tuple[ObjectName, ...], ...], AfterValidator(not_empty)]

    @model_validator(mode="after")
    def _balanced(self) -> BestWorstInstrument:
        """Every object equally often, none twice in a set: otherwise a count says how often it was shown."""
        for shown in self.sets:
            if len(shown) < 3 or len(set(shown)) < len(shown):
                raise wrong(f"sets: {list(shown)} must name at least three different objects")
        often = Counter(name for shown in self.sets for name in shown)
        if len({often[name] for name in self.objects}) > 1:
            counts = ", ".join(f"{name} {often[name]}" for name in self.objects)
            raise wrong(f"sets: every object must be shown equally often, not {counts}")
        return self

    def items(self, language: Language) -> tuple[Item, ...]:
        """One item a set: set_1, set_2, …"""
        named = {name: Option(value=name, label=label.in_(language)) for name, label in self.objects.items()}
        asked = self.question.in_(language)
        return tuple(
            Item(id=f"set_{number}", kind="best_worst", wording=asked, options=tuple(named[name] for name in shown))
            for number, shown in enumerate(self.sets, start=1)
        )


OWN, MOOD = 0.6, 0.3
"""SD of an agent's own taste and of each choice, beside what agents of its type share (SD 1)."""


class BestWorst(Procedure[BestWorstInstrument, NoSettings]):
    """One round."""

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        instruction = self.instrument.instruction.in_(self.language)
        return [
            Block(key=context.key(unit, "sets"), instruction=instruction, items=self.instrument.items(self.language))
        ]


def planted(instrument: BestWorstInstrument, settings: NoSettings) -> Truth:
    """Agents of one stakeholder type share what matters to them; each has a taste of its own and wavers a little."""

    def answers(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        me = persona_hash(who)

        def worth(name: str, item: str) -> float:
            shared, own = (normal(seed, "best-worst", key, name) for key in (who.stakeholder_type, me))
            return shared + OWN * own + MOOD * normal(seed, "best-worst", me, name, item)

        def answer(item: Item) -> Answer:
            order = sorted((str(one.value) for one in item.options), key=lambda name: worth(name, item.id))
            return Answer(item.id, "ok", data={"best": order[-1], "worst": order[0]})

        return [answer(item) for item in block.items]

    return answers


def evaluation() -> Evaluation:
    from enquete_best_worst.results import EVALUATION

    return EVALUATION


METHODOLOGY = Methodology(
    name="best_worst", title=N_("Best–worst scaling"), default=False, order=60, phases=("T1",),
    asks=lambda: MethodParts(BestWorstInstrument, NoSettings, BestWorst, planted), evaluation=evaluation,
    steps=Steps("open_sets", "ask_sets", "close_sets"),
    probes=("options_reversed",),
)  # fmt: skip
