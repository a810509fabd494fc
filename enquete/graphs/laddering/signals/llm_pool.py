"""llm.*: how the last answer was given. Judged anew every turn, all in one call; nothing is carried over."""

from __future__ import annotations

from enquete.graphs.laddering.signals.base import InterviewSignal, Number, View, Words
from enquete.instruments.text import Text

RUBRIC = Number(1, 5)


class ResponseDepth(InterviewSignal):
    name = "llm.response_depth"
    scale = Words(("surface", "moderate", "deep"))
    description = Text(
        de="Tiefe der Antwort (surface: unter zehn Wörtern oder nur ein Gedanke). Surface: leichter oder anders fragen. Deep: folgen.",
        en="Depth of the answer (surface: under ten words or a single thought). Surface: ask more easily or differently. Deep: follow.",
    )

    def detect(self, view: View) -> str:
        return view.past[-1].depth


class Specificity(InterviewSignal):
    name = "llm.specificity"
    scale = RUBRIC
    description = Text(
        de="Wie konkret die Antwort ist (1 vage, 5 mit Beispiel). Niedrig: um ein Beispiel bitten.",
        en="How concrete the answer is (1 vague, 5 with an example). Low: ask for an example.",
    )

    def detect(self, view: View) -> int | None:
        return view.readings.rating("specificity")


class Certainty(InterviewSignal):
    name = "llm.certainty"
    scale = RUBRIC
    description = Text(
        de="Wie sicher gesprochen wird (1 tastend, 5 bestimmt). Niedrig: klären, was gemeint ist, ohne zu drängen.",
        en="How surely it is said (1 groping, 5 firm). Low: clarify what is meant, without pressing.",
    )

    def detect(self, view: View) -> int | None:
        return view.readings.rating("certainty")


class Valence(InterviewSignal):
    name = "llm.valence"
    scale = RUBRIC
    description = Text(
        de="Färbung der Antwort (1 sehr negativ, 5 sehr positiv). Negativ: erst Raum geben, dann weiterfragen.",
        en="Colour of the answer (1 very negative, 5 very positive). Negative: give room first, then ask on.",
    )

    def detect(self, view: View) -> int | None:
        return view.readings.rating("valence")


class Engagement(InterviewSignal):
    name = "llm.engagement"
    scale = RUBRIC
    description = Text(
        de="Wie beteiligt die Person ist (1 abwesend, 5 lebhaft). Niedrig: Thema oder Ton wechseln, beleben.",
        en="How engaged the person is (1 absent, 5 lively). Low: change topic or tone, revitalise.",
    )

    def detect(self, view: View) -> int | None:
        return view.readings.rating("engagement")


class Sentiment(InterviewSignal):
    name = "llm.sentiment"
    scale = Words(("negative", "neutral", "positive"))
    description = Text(
        de="Stimmung der Antwort in einem Wort. Negativ: anerkennen, bevor vertieft wird.",
        en="Mood of the answer in a word. Negative: acknowledge before going deeper.",
    )

    def detect(self, view: View) -> str | None:
        return view.readings.sentiment


class TopicCount(InterviewSignal):
    name = "llm.topics"
    scale = Number(0, 5)
    description = Text(
        de="Zahl der Themen, die die Antwort anspricht. Viele: eines davon aufgreifen.",
        en="Number of topics the answer touches. Many: take up one of them.",
    )

    def detect(self, view: View) -> int | None:
        return None if view.readings.topics is None else len(view.readings.topics)
