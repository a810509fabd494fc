"""How it is asked: everybody gets all sets at once. And what the synthetic respondent answers."""

from __future__ import annotations

from collections.abc import Sequence

from enquete.respondents.planted import normal, persona_hash
from enquete.state.asking import Answer, Block, Language, Participant
from enquete.state.desk import Desk
from enquete.state.methodology import NoSettings, Procedure, Truth
from enquete_best_worst.instrument import BestWorstInstrument

OWN, MOOD = 0.6, 0.3
"""SD of an agent's own taste and of each choice, beside what agents of its type share (SD 1)."""


class BestWorst(Procedure[BestWorstInstrument, NoSettings]):
    """One round."""

    def blocks(self, unit: str, round: int, desk: Desk) -> Sequence[Block]:
        instruction = self.instrument.instruction.in_(self.language)
        return [Block(key=desk.key(unit, "sets"), instruction=instruction, items=self.instrument.items(self.language))]


def planted(instrument: BestWorstInstrument, settings: NoSettings) -> Truth:
    """Agents of one stakeholder type share what matters to them; each has a taste of its own and wavers a little."""

    def answers(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
        me = persona_hash(who)

        def worth(name: str, item: str) -> float:
            shared, own = (normal(seed, "best-worst", key, name) for key in (who.stakeholder_type, me))
            return shared + OWN * own + MOOD * normal(seed, "best-worst", me, name, item)

        def answer(item: str, names: Sequence[str]) -> Answer:
            order = sorted(names, key=lambda name: worth(name, item))
            return Answer(item, "ok", data={"best": order[-1], "worst": order[0]})

        return [answer(item.id, [str(option.value) for option in item.options]) for item in block.items]

    return answers
