"""One question to two respondents, A and B, live: asked, paired, and preferred at once or later, by a person or a
model.

A comparison is a folder under the root. Each respondent is a run of its own, so that A never waits for B; answers may
also be handed in from elsewhere. Whichever comes first waits in a buffer for the other (at most SIZE, the oldest goes).
Who prefers sees two responses without names; over a comparison each respondent stands first as often as the other, and
a model judges every pair in both orders, through a ledger of its own.

In a reply the letters A and B, alone or after "response", are the two texts of a pair as it is shown; who wrote them is
called "respondent A" and "respondent B". A person is asked before a model's preference is shown, which would be theirs
else.

Measured by: what one comparison does to its buffer, orders and verdicts (tests/methods/test_poll_comparison.py).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from enquete.analysis.preference import win_rate
from enquete.ledger.folders import write_atomically
from enquete.locale import N_
from enquete.respondents.critic import (
    STAND_IN,
    CriticQuestion,
    comparing,
    reason,
    standin_choice,
    standin_quality,
    verdict,
)
from enquete.respondents.ground_truth import uniform
from enquete.runs.answer_pairs import MatchingBuffer, Side, Winner, is_tool_call, winner_of
from enquete.runs.model_server import opened
from enquete.runs.run_list import NamedRecords
from enquete.state.asking import CallKey, Spoken
from enquete.state.errors import EnqueteError, InputError
from enquete.state.methodology import Operation, PairComparisons, Port, RunSnapshot
from enquete.state.request import CHOSEN_ID, ModelName, Prose, Rubric, RunRequest, TokenCap
from enquete.state.settings import Environment, resolve_machine
from enquete.state.untrusted_input import warning

FOLDER, FILE, PEOPLE, CRITIC_FOLDER = "comparisons", "comparison.json", "participants.json", "critic"
PERSON = "person"
METHOD, QUESTION = __package__.rpartition(".")[2], "question"
TEMPERATURE_B = 0.5
LISTED = 100

# --- what is asked ----------------------------------------------------------------------------------------------------


class OfComparison(BaseModel):
    model_config = ConfigDict(extra="forbid")

    comparison_id: Annotated[
        str, Field(pattern=CHOSEN_ID, description="chosen by you; its questions and verdicts are kept together")
    ]


class AskingBoth(OfComparison):
    question: Annotated[str, Field(min_length=1, max_length=2000, description="what both are asked, in the same words")]
    sim_id: Annotated[str, Field(max_length=200, description="simulation whose agents answer")] = ""
    agents: Annotated[tuple[str, ...], Field(max_length=50, description="of the simulation; all unless named")] = ()
    name: Annotated[
        str, Field(max_length=200, description="of a free persona that answers in place of a simulation")
    ] = ""
    persona: Annotated[Prose, Field(description="who that is, in prose")] = ""
    language: Annotated[Spoken, Field(description="of question and answers")] = "en"
    model: Annotated[ModelName, Field(description="A's; the configured one unless named")] = ""
    model_b: Annotated[ModelName, Field(description="B's; A's unless named")] = ""
    temperature_b: Annotated[float, Field(ge=0, le=2, description="B's")] = TEMPERATURE_B
    synthetic: Annotated[bool, Field(description="the built-in synthetic respondent answers as both: free")] = False
    judged_by: Annotated[
        Literal["later", "model"], Field(description="model: it prefers at once; later: prefer or judge_pairs do")
    ] = "later"
    critic_model: Annotated[ModelName, Field(description="that prefers; A's unless named")] = ""
    reveal: Annotated[
        bool,
        Field(description="show what a model prefers, and who is who, also of pairs in which no person has preferred"),
    ] = False
    budget_tokens: Annotated[TokenCap, Field(description="cap of each respondent's run")] = None
    confirm: Annotated[bool, Field(description="ask although the estimate exceeds the budget")] = False


class Offering(OfComparison):
    question_id: Annotated[
        str, Field(min_length=1, max_length=200, description="the same for both respondents' answers")
    ]
    side: Annotated[Literal["a", "b"], Field(description="whose answer it is")]
    answer: Annotated[Prose, Field(min_length=1, description="its words")]
    question: Annotated[str, Field(max_length=2000, description="what was asked")] = ""
    persona: Annotated[Prose, Field(description="of who was asked")] = ""


class Preferring(OfComparison):
    verdict: Annotated[
        str, Field(min_length=1, max_length=4000, description="A or B of the pair as it is shown, also “B because …”")
    ]
    question_id: Annotated[
        str, Field(max_length=400, description="of the pair; the next one without a person's verdict")
    ] = ""


class Judging(OfComparison):
    critic_model: Annotated[ModelName, Field(description="that prefers; the configured one unless named")] = ""
    synthetic: Annotated[bool, Field(description="the built-in stand-in prefers: free")] = False
    rubric: Annotated[Rubric, Field(description="the criterion")] = "realistic"
    reveal: Annotated[
        bool,
        Field(description="show what a model prefers, and who is who, also of pairs in which no person has preferred"),
    ] = False


class ComparisonQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    comparison_id: Annotated[str, Field(pattern=rf"^$|{CHOSEN_ID}", description="all of them unless named")] = ""
    reveal: Annotated[
        bool,
        Field(description="show what a model prefers, and who is who, also of pairs in which no person has preferred"),
    ] = False


# --- on disk ----------------------------------------------------------------------------------------------------------


class HeldAnswer(BaseModel):
    """One respondent's answer. who: the agent, or "" where it was handed in; model: that gave it."""

    question_id: str
    question: str
    answer: str
    who: str = ""
    persona: str = ""
    model: str = ""


class PairPreference(BaseModel):
    """by: a person, or a model's name. said: their words about the pair as it is shown. winner, forward, backward:
    which respondent won: of both orders, where A's answer stood first, and where B's did; a person sees one order."""

    by: str
    winner: Winner
    said: str = ""
    forward: Literal["A", "B", ""] = ""
    backward: Literal["A", "B", ""] = ""


class HeldPair(BaseModel):
    """a_first: whose answer is shown as response A."""

    a: HeldAnswer
    b: HeldAnswer
    a_first: bool
    preferences: list[PairPreference] = []

    @property
    def is_alike(self) -> bool:
        """Whether both say the same: then neither is better, and no critic needs to be paid."""
        a, b = (" ".join(each.answer.split()).casefold() for each in (self.a, self.b))
        return a == b

    @property
    def shown(self) -> tuple[HeldAnswer, HeldAnswer]:
        return (self.a, self.b) if self.a_first else (self.b, self.a)

    def by(self, person: bool) -> PairPreference | None:
        """The latest of a person, or of a model."""
        latest_first = reversed(self.preferences)
        return next((preference for preference in latest_first if (preference.by == PERSON) == person), None)


class WaitingAnswer(BaseModel):
    side: Side
    answer: HeldAnswer


class MissingAnswer(BaseModel):
    """A respondent's reply that is no answer, for which the other's waits. why: what it is instead."""

    side: Side
    question_id: str
    why: str


TOOL_CALL = "is a tool call, which is no answer"


class ComparedQuestion(BaseModel):
    """A question as it was put; the runs that hold its answers, by side."""

    given: dict[str, JsonValue]
    tokens: dict[str, str] = {}


class Comparison(BaseModel):
    language: Spoken = "en"
    questions: list[ComparedQuestion] = []
    waiting: list[WaitingAnswer] = []
    missing: list[MissingAnswer] = []
    pairs: list[HeldPair] = []
    evicted: int = 0

    def offered(self, side: Side, answers: Sequence[HeldAnswer]) -> Comparison:
        """With these answers: paired where the other respondent's is there, else waiting. One that is paired already
        is what it was."""
        buffer: MatchingBuffer[HeldAnswer] = MatchingBuffer()
        for due in self.waiting:
            buffer.offer(due.answer.question_id, due.side, due.answer)
        pairs, known = list(self.pairs), {pair.a.question_id for pair in self.pairs}
        called = [answer for answer in answers if is_tool_call(answer.answer)]
        for answer in answers:
            if answer.question_id in known or answer in called:
                continue
            both = buffer.offer(answer.question_id, side, answer)
            if both:
                known.add(answer.question_id)
                pairs.append(HeldPair(a=both[0], b=both[1], a_first=self._a_first(len(pairs))))
        gone = len(buffer.evicted())
        waiting = [WaitingAnswer(side=which, answer=answer) for which, answer in buffer.rest()]
        paired = self.model_copy(update={"pairs": pairs, "waiting": waiting, "evicted": self.evicted + gone})
        no_answers = {answer.question_id: TOOL_CALL for answer in called}
        return paired.without_answers(side, no_answers, {answer.question_id for answer in answers})

    def without_answers(self, side: Side, why: Mapping[str, str], settled: Collection[str] = ()) -> Comparison:
        """With replies of this side that are none, by question; those to the questions `settled` are what they are
        now."""
        known = {pair.a.question_id for pair in self.pairs}
        others = [
            missing
            for missing in self.missing
            if (missing.side != side or missing.question_id not in {*settled, *why})
            and missing.question_id not in known
        ]
        new = [MissingAnswer(side=side, question_id=name, why=text) for name, text in why.items() if name not in known]
        return self.model_copy(update={"missing": [*others, *new]})

    @staticmethod
    def _a_first(place: int) -> bool:
        """Of two pairs that follow one another each respondent is first in one; in which of them is drawn."""
        return (uniform("order", place // 2) < 0.5) == (place % 2 == 0)

    def render(self, id: str, *, reveal: bool = False) -> dict[str, JsonValue]:
        """Return the comparison as callers see it. `reveal`: also what is kept from a person who has yet to prefer."""
        open_pair = next((pair for pair in self.pairs if pair.by(person=True) is None), None)
        known = [pair for pair in self.pairs if reveal or pair.by(person=True) is not None]
        unseen = [pair for pair in self.pairs if pair not in known and pair.by(person=False) is not None]
        shown: list[JsonValue] = [_render_pair(pair, reveal=reveal) for pair in self.pairs]
        answers = [*(answer for pair in self.pairs for answer in pair.shown), *(due.answer for due in self.waiting)]
        authors = [answer.model for answer in answers]
        authors += [preference.by for pair in self.pairs for preference in pair.preferences]
        return {
            "comparison_id": id, "pairs": shown, "waiting": self._render_waiting(), "evicted": self.evicted,
            "to_prefer": _render_pair(open_pair, reveal=reveal) if open_pair else None,
            "by_person": _rate(self.pairs, person=True), "by_model": _rate(known, person=False),
            "unseen_preferences": len(unseen), "next": UNSEEN if unseen else "",
            "warning": warning(authors, self.language),
        }  # fmt: skip

    def _render_waiting(self) -> list[JsonValue]:
        """Each answer that waits, and why the other is not there; then replies that nobody's answer waits for."""
        why = {(missing.side, missing.question_id): missing.why for missing in self.missing}
        told: list[JsonValue] = []
        for due in self.waiting:
            name, other = due.answer.question_id, OTHER_SIDE[due.side]
            reason_given = why.pop((other, name), "")
            words = f"waits for respondent {other.upper()}"
            if reason_given:
                words += f", whose reply {reason_given}; hand one in with offer_answer"
            told.append({"question_id": name, "side": due.side, "why": words})
        for (side, name), reason_given in why.items():
            words = f"the reply of respondent {side.upper()} {reason_given}; hand one in with offer_answer"
            told.append({"question_id": name, "side": side, "why": words})
        return told


UNSEEN = (
    "A model has preferred in pairs that no person has: prefer shows it pair by pair, reveal=true shows it at once, "
    "before a person is asked"
)
OTHER_SIDE: Mapping[Side, Side] = {"a": "b", "b": "a"}


def _rate(pairs: Sequence[HeldPair], *, person: bool) -> dict[str, JsonValue]:
    """Wins of each respondent, and B's win rate with a 95% interval, of pairs with a verdict; how often the order
    decided."""
    preferred = [(pair, preference) for pair in pairs if (preference := pair.by(person)) and preference.winner]
    points = [{"A": 0.0, "tie": 0.5, "B": 1.0}[preference.winner] for _, preference in preferred]
    rate = win_rate(points, [pair.a.who or pair.a.question_id for pair, _ in preferred])
    both = [preference for _, preference in preferred if preference.forward and preference.backward]
    return {
        "n": rate.n, "respondent_a": rate.wins_a, "respondent_b": rate.wins_b, "ties": rate.ties,
        "rate_respondent_b": rate.rate, "low": rate.low, "high": rate.high,
        "first_shown_won": sum(won.winner == ("A" if pair.a_first else "B") for pair, won in preferred),
        "order_decided": sum(preference.forward != preference.backward for preference in both) if both else None,
    }  # fmt: skip


def _render_pair(pair: HeldPair, *, reveal: bool) -> dict[str, JsonValue]:
    """Return a pair as whoever prefers sees it: without names. Who is who, and what a model prefers, is said once a
    person has preferred, or where it is asked for."""
    first, second = pair.shown
    mine, model = pair.by(person=True), pair.by(person=False)
    told: dict[str, JsonValue] = {
        "question_id": pair.a.question_id, "question": pair.a.question, "response_a": first.answer,
        "response_b": second.answer, "preferred_by_person": None, "preferred_by_model": None,
        "judged_by_model": model is not None,
    }  # fmt: skip
    if mine:
        told["preferred_by_person"] = {"winner": _as_shown(pair, mine.winner), "said": mine.said}
    if model and (mine or reveal):
        orders = (model.forward, model.backward) if pair.a_first else (model.backward, model.forward)
        told["preferred_by_model"] = {
            "winner": _as_shown(pair, model.winner), "by": model.by, "said": model.said,
            "in_this_order": _as_shown(pair, orders[0]), "in_the_other_order": _as_shown(pair, orders[1]),
        }  # fmt: skip
    if mine or reveal:
        told["respondents"] = {"response_a": _author(pair, first), "response_b": _author(pair, second)}
    return told


def _as_shown(pair: HeldPair, respondent: str) -> str:
    """Return which response is this respondent's as the pair is shown: "response_a" or "response_b"; a tie, or nothing,
    as it is."""
    if respondent not in ("A", "B"):
        return respondent
    stands_first = pair.a_first == (respondent == "A")
    return "response_a" if stands_first else "response_b"


def _author(pair: HeldPair, answer: HeldAnswer) -> str:
    name = "respondent A" if answer is pair.a else "respondent B"
    return f"{name} ({answer.model})" if answer.model else name


class ComparisonStore(NamedRecords[Comparison]):
    place, file, record = FOLDER, FILE, Comparison
    kind, begun_with = "comparison", "ask_both"

    def comparison(self, id: str) -> Comparison:
        """Raises InputError for one that there is not."""
        return self.required(id, self.read)


# --- asking -----------------------------------------------------------------------------------------------------------


async def ask_both(port: Port, asked: AskingBoth) -> dict[str, JsonValue]:
    """Ask respondents A and B one question, pair their answers without names, and let a model prefer at once, or later
    prefer (a person) or judge_pairs (a model). The same question again goes on with what a kill or a fault cut
    short."""
    store = ComparisonStore(port)
    people = _people(asked)
    folder = store.folder(asked.comparison_id)
    async with port.alone(str(folder)):
        kept = store.read(asked.comparison_id) or Comparison(language=asked.language)
        given = asked.model_dump(
            mode="json", exclude={"comparison_id", "budget_tokens", "confirm", "judged_by", "critic_model", "reveal"}
        )
        number = next((n for n, question in enumerate(kept.questions) if question.given == given), len(kept.questions))
        if number == len(kept.questions):
            kept = kept.model_copy(update={"questions": [*kept.questions, ComparedQuestion(given=given)]})
        place = folder / f"question_{number + 1:03d}"
        if people:
            write_atomically(place / PEOPLE, json.dumps(people, ensure_ascii=False))
        sim: str | Path = asked.sim_id or place / PEOPLE
        for side in ("a", "b"):
            if side not in kept.questions[number].tokens:
                run = await port.begin(sim, out=str(place / side), **_request(asked, side))
                kept.questions[number].tokens[side] = run.token
                store.keep(asked.comparison_id, kept)
        tokens = dict(kept.questions[number].tokens)
    done = await asyncio.gather(
        *(port.resume(sim, tokens[side], out=str(place / side)) for side in ("a", "b")), return_exceptions=True
    )
    async with port.alone(str(folder)):
        kept = store.comparison(asked.comparison_id)
        for side in SIDES:
            stood = port.look(str(place / side), tokens[side].partition(".")[0])
            replies = _replies(place / side, stood)
            kept = kept.offered(side, _answers(replies, stood.model, number, asked.question))
            kept = kept.without_answers(side, _missing(replies, number))
        store.keep(asked.comparison_id, kept)
    for result in done:
        if isinstance(result, BaseException):  # what the other one said is kept
            raise result
    if asked.judged_by == "model":
        wanted = Judging(
            comparison_id=asked.comparison_id, critic_model=asked.critic_model or asked.model,
            synthetic=asked.synthetic, reveal=asked.reveal,
        )  # fmt: skip
        return await judge_pairs(port, wanted)
    return kept.render(asked.comparison_id, reveal=asked.reveal)


SIDES: tuple[Side, Side] = ("a", "b")


def _people(asked: AskingBoth) -> list[dict[str, str]]:
    """Free personas. Raises InputError, saying what would do."""
    if bool(asked.name) == bool(asked.sim_id):
        raise InputError("who answers? Name either sim_id (its agents), or name and persona")
    return [{"name": asked.name, "persona": asked.persona or "–", "type": "persona"}] if asked.name else []


def _request(asked: AskingBoth, side: str) -> dict[str, Any]:
    """B differs by model, temperature and seed, never by what is asked."""
    entry = {"question_id": QUESTION, "kind": "open", "wording": {asked.language: asked.question}}
    instrument = {
        "instrument_id": "one-question", "version": "1", "title": {asked.language: asked.question[:200]},
        "topic": {asked.language: asked.question[:200]}, "language_default": asked.language, "questions": [entry],
    }  # fmt: skip
    made: dict[str, Any] = {
        "instruments": {METHOD: instrument}, "language": asked.language, "budget_tokens": asked.budget_tokens,
        "confirm": asked.confirm, "fit": "any",
    }  # fmt: skip
    if asked.agents:
        made["agents"] = list(asked.agents)
    model = asked.model if side == "a" else asked.model_b or asked.model
    if asked.synthetic:
        made["respondent"] = "synthetic"
    elif model:
        made["model"] = model
    if side == "b":
        made |= {"seed": 1, **({} if asked.synthetic else {"temperature": asked.temperature_b})}
    return made


def _replies(out: Path, run: RunSnapshot) -> dict[str, dict[str, Any]]:
    """What this run's participants said, by participant, as its files have it; {} where nothing was said yet."""
    file = out / "T1" / METHOD / run.run / "responses.jsonl"
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line] if file.is_file() else []
    return {row["participant"]: row["answers"].get(QUESTION, {}) for row in rows}


def _answers(replies: Mapping[str, dict[str, Any]], model: str, number: int, question: str) -> list[HeldAnswer]:
    return [
        HeldAnswer(question_id=_question_id(number, who), question=question, answer=text, who=who, model=model)
        for who, reply in replies.items()
        if (text := reply.get("text"))
    ]


def _missing(replies: Mapping[str, dict[str, Any]], number: int) -> dict[str, str]:
    """Why those without an answer have none, by question."""
    silent = {who: reply for who, reply in replies.items() if not reply.get("text") and reply.get("status")}
    return {_question_id(number, who): f"is no answer ({reply['status']})" for who, reply in silent.items()}


def _question_id(number: int, who: str) -> str:
    return f"{number + 1:03d}/{who}"


async def offer_answer(port: Port, asked: Offering) -> dict[str, JsonValue]:
    """Hand in one respondent's answer from elsewhere. It waits until the other's answer to the same question is
    there."""
    store = ComparisonStore(port)
    async with port.alone(str(store.folder(asked.comparison_id))):
        kept = store.read(asked.comparison_id) or Comparison()
        answer = HeldAnswer(
            question_id=asked.question_id, question=asked.question, answer=asked.answer, persona=asked.persona
        )
        kept = kept.offered(asked.side, [answer])
        store.keep(asked.comparison_id, kept)
    return kept.render(asked.comparison_id)


# --- preferring -------------------------------------------------------------------------------------------------------


async def prefer(port: Port, asked: Preferring) -> dict[str, JsonValue]:
    """A person's verdict on a pair, at once or later: “A”, “B because …”, “[Response B]”, of the pair as it is
    shown."""
    store = ComparisonStore(port)
    letter = verdict(asked.verdict)
    if letter is None:
        raise InputError(f"verdict: {asked.verdict[:80]!r} names neither; say A or B, or “B because …”")
    async with port.alone(str(store.folder(asked.comparison_id))):
        kept = store.comparison(asked.comparison_id)
        pair = _pair(kept, asked.question_id)
        side: Literal["A", "B"] = letter if pair.a_first else "B" if letter == "A" else "A"
        pair.preferences.append(
            PairPreference(
                by=PERSON, winner=side, said=reason(asked.verdict), forward=side if pair.a_first else "",
                backward="" if pair.a_first else side,
            )
        )  # fmt: skip
        store.keep(asked.comparison_id, kept)
    return kept.render(asked.comparison_id)


def _pair(kept: Comparison, question_id: str) -> HeldPair:
    """Of this question; "": the next without a person's verdict. Raises InputError."""
    if question_id:
        named = next((pair for pair in kept.pairs if pair.a.question_id == question_id), None)
        if named is None:
            waits = any(due.answer.question_id == question_id for due in kept.waiting)
            why = "waits for the other respondent's answer" if waits else "is not known"
            raise InputError(
                f"question_id: {question_id!r} {why}; there are "
                f"{', '.join(p.a.question_id for p in kept.pairs) or 'none'}"
            )
        return named
    open_pair = next((pair for pair in kept.pairs if pair.by(person=True) is None), None)
    if open_pair is None:
        raise InputError("no pair is without a person's verdict; name its question_id to change one")
    return open_pair


async def judge_pairs(port: Port, asked: Judging) -> dict[str, JsonValue]:
    """A model prefers in every pair that no model has judged, each in both orders: a win needs both, a split is a
    tie."""
    store = ComparisonStore(port)
    kept = store.comparison(asked.comparison_id)
    due = [pair for pair in kept.pairs if pair.by(person=False) is None]
    environment = Environment.read()
    alike = [pair for pair in due if pair.is_alike]
    due = [pair for pair in due if not pair.is_alike]
    model = asked.critic_model or environment.model or ""
    stand_in = asked.synthetic or not environment.names_model
    if not stand_in and not model:
        raise InputError("critic_model: name a model, or set LLM_MODEL_NAME; synthetic=true lets the stand-in prefer")
    if due or alike:
        folder = store.folder(asked.comparison_id)
        judged = (
            [_by_stand_in(pair) for pair in due]
            if stand_in or not due
            else await _by_model(folder, due, model, asked, kept.language)
        )
        new = {pair.a.question_id: preference for pair, preference in zip(due, judged, strict=True)}
        async with port.alone(str(folder)):
            kept = store.comparison(asked.comparison_id)
            for pair in kept.pairs:
                if pair.is_alike and pair.by(person=False) is None:
                    pair.preferences.append(PairPreference(by=STAND_IN if stand_in else model, winner="tie"))
                if pair.a.question_id in new and pair.by(person=False) is None:
                    pair.preferences.append(new[pair.a.question_id])
            store.keep(asked.comparison_id, kept)
    return kept.render(asked.comparison_id, reveal=asked.reveal)


def _by_stand_in(pair: HeldPair) -> PairPreference:
    """By planted quality: it reads nothing."""
    name = pair.a.question_id
    a, b = standin_quality("synthetic", f"a/{name}"), standin_quality("synthetic", f"b/{pair.b.question_id}")
    ab, ba = standin_choice(STAND_IN, a, b, f"{name}/ab"), standin_choice(STAND_IN, b, a, f"{name}/ba")
    return _preference(pair, STAND_IN, ab, ba)


async def _by_model(
    folder: Path, pairs: Sequence[HeldPair], model: str, asked: Judging, language: Spoken
) -> list[PairPreference]:
    """Every request stands in the ledger before it is sent: a call that is made again pays for nothing twice."""
    machine = resolve_machine(RunRequest(), Environment.read())
    async with opened(folder / CRITIC_FOLDER, model, machine, CRITIC_FOLDER) as critic:

        async def reply(pair: HeldPair, order: str) -> str | None:
            first, second = (pair.a, pair.b) if order == "ab" else (pair.b, pair.a)
            question = CriticQuestion(pair.a.persona, pair.a.question)
            key = CallKey(critic.context.run, "main", CRITIC_FOLDER, "", "compare", f"{pair.a.question_id}/{order}", 0)
            response = await critic.context.model.request(
                key, lambda: comparing(question, first.answer, second.answer, asked.rubric, language)
            )
            if response == "short":
                raise InputError(
                    "the budget is used up: what was judged is kept; set a larger ENQUETE_MAX_TOKENS_PER_RUN"
                )
            return None if response == "failed" else response.text

        replies = await asyncio.gather(*(reply(pair, order) for pair in pairs for order in ("ab", "ba")))
    in_both_orders = zip(pairs, replies[::2], replies[1::2], strict=True)
    return [_preference(pair, model, ab, ba) for pair, ab, ba in in_both_orders]


def _preference(pair: HeldPair, by: str, ab: str | None, ba: str | None) -> PairPreference:
    """Return what the replies in both orders come to: a split is a tie, and without a verdict in one of them nothing is
    said. Kept are the words about the order in which the pair is shown: their letters are the reader's, too."""
    forward, then = verdict(ab) or "", verdict(ba)
    backward: Literal["A", "B", ""] = "" if then is None else "B" if then == "A" else "A"
    return PairPreference(
        by=by,
        winner=winner_of(forward, backward),
        said=reason((ab if pair.a_first else ba) or ""),
        forward=forward,
        backward=backward,
    )


async def show_comparison(port: Port, asked: ComparisonQuery) -> dict[str, JsonValue]:
    """A comparison as it stands: its pairs, which one is to be preferred next, what waits, and who won how often; or
    all comparisons, the latest change first."""
    store, listed = ComparisonStore(port), list[JsonValue]()
    if asked.comparison_id:
        return store.comparison(asked.comparison_id).render(asked.comparison_id, reveal=asked.reveal)
    for name in store.known()[:LISTED]:
        try:
            told = store.comparison(name)
        except EnqueteError as error:  # the others are there all the same
            listed.append({"comparison_id": name, "problem": error.fact})
            continue
        open_pairs = sum(pair.by(person=True) is None for pair in told.pairs)
        counts: dict[str, JsonValue] = {"pairs": len(told.pairs), "open": open_pairs, "waiting": len(told.waiting)}
        listed.append({"comparison_id": name, **counts})
    return {"comparisons": listed}


COMPARISON_OPERATIONS = (
    Operation(ask_both, AskingBoth, "Ask respondents A and B", over_budget="with fewer agents, or with confirm=true"),
    Operation(offer_answer, Offering, "Hand in an answer of A or B"),
    Operation(prefer, Preferring, "Prefer one of two responses"),
    Operation(judge_pairs, Judging, "Let a model prefer"),
    Operation(show_comparison, ComparisonQuery, "Comparisons", reads=True),
)
COMPARISONS = PairComparisons(
    ask="ask_both", prefer="prefer", judge="judge_pairs", show="show_comparison",
    labels={
        "comparison_id": N_("Comparison"), "question": N_("Question"), "sim_id": N_("Simulation"),
        "agents": N_("Agents"), "name": N_("Name of a persona"), "persona": N_("Persona"), "language": N_("Language"),
        "model": N_("Model of A"), "model_b": N_("Model of B"), "temperature_b": N_("Temperature of B"),
        "synthetic": N_("Without a model"), "judged_by": N_("Who prefers"), "critic_model": N_("Model that prefers"),
        "reveal": N_("Show a model's preference before a person's"), "budget_tokens": N_("Cap on tokens"),
        "confirm": N_("Ask although it may cost more than the cap"),
    },
)  # fmt: skip
