"""Best–worst scaling: out of a few objects at a time, which is best and which is worst? Results: results.py."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any

from pydantic import AfterValidator, model_validator

from enquete.instruments.instrument import Instrument
from enquete.instruments.text import Line, Text, identifier, not_empty, reference, wrong
from enquete.locale import N_
from enquete.respondents.ground_truth import normal, persona_hash
from enquete.state.asking import Answer, Block, Item, Language, Option, Participant
from enquete.state.interview_context import InterviewContext
from enquete.state.methodology import Methodology, MethodParts, NoSettings, Procedure, Truth

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
        options = {name: Option(value=name, label=label.in_(language)) for name, label in self.objects.items()}
        sets, wording = enumerate(self.sets, start=1), self.question.in_(language)
        item = partial(Item, kind="best_worst", wording=wording)
        return tuple(item(id=f"set_{number}", options=tuple(options[name] for name in shown)) for number, shown in sets)


class BestWorst(Procedure[BestWorstInstrument, NoSettings]):
    """One round."""

    def blocks(self, unit: str, round: int, context: InterviewContext) -> Sequence[Block]:
        instruction, items = self.instrument.instruction.in_(self.language), self.instrument.items(self.language)
        return [Block(key=context.key(unit, "sets"), instruction=instruction, items=items)]


def planted(instrument: BestWorstInstrument, settings: NoSettings) -> Truth:
    """Agents of one stakeholder type share what matters to them (SD 1); each has a taste, too, and wavers a little."""

    def answer(who: Participant, item: Item, seed: int) -> Answer:
        def worth(name: str) -> float:
            shared, personal = (normal(seed, "best-worst", key, name) for key in (who.stakeholder_type, me))
            return shared + 0.6 * personal + 0.3 * normal(seed, "best-worst", me, name, item.id)

        me = persona_hash(who)
        order = sorted((str(option.value) for option in item.options), key=worth)
        return Answer(item.id, "ok", data={"best": order[-1], "worst": order[0]})

    return lambda who, block, language, seed: [answer(who, item, seed) for item in block.items]


def graph() -> Any:
    from enquete_best_worst.graph import best_worst

    return best_worst


def evaluation() -> Any:
    from enquete_best_worst.results import EVALUATION

    return EVALUATION


METHODOLOGY = Methodology(
    name="best_worst", title=N_("Best–worst scaling"), default=False, order=60, phases=("T1",),
    asks=lambda: MethodParts(BestWorstInstrument, NoSettings, BestWorst, planted), evaluation=evaluation,
    graph=graph, probes=("options_reversed",),
)  # fmt: skip
