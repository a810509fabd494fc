"""temporal.*: how the conversation has been going over the last turns."""

from __future__ import annotations

from enquete.graphs.laddering.signals.base import InterviewSignal, Number, StrategySignal, View
from enquete.instruments.text import Text

WINDOW = 5


class StrategyRepetitionCount(StrategySignal):
    name = "temporal.strategy_repetition_count"
    scale = Number(0, WINDOW)
    description = Text(
        de="Wie oft die Strategie in den letzten fünf Runden gewählt wurde. Oft: abwechseln, sonst ermüdet das Gespräch.",
        en="How often the strategy was chosen in the last five turns. Often: vary, or the conversation tires.",
    )

    def detect(self, view: View, strategy: str) -> int:
        return sum(turn.strategy == strategy for turn in view.past[-WINDOW:])


class TurnsSinceFocusChange(InterviewSignal):
    name = "temporal.turns_since_focus_change"
    scale = Number(0, 6)
    description = Text(
        de="Runden seit dem letzten Wechsel des Konzepts. Viele: ein Wechsel kann guttun.",
        en="Turns since the concept in focus last changed. Many: a change may do good.",
    )

    def detect(self, view: View) -> int:
        focuses = [turn.focus for turn in view.past]
        same = 0
        while same < len(focuses) and focuses[-1 - same] == focuses[-1]:
            same += 1
        return max(same - 1, 0)
