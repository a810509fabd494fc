"""A discussion of a group: stored turns that add up to rounds, with private positions before and after; and what may be
set of one. Files are kept in the settings, so that a run holds what it was conducted with.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, ValidationInfo, model_validator

from enquete.analysis.stopping import Limits
from enquete.instruments.load import require_language
from enquete.instruments.text import suggestion
from enquete.methods.roundtable.modes import Mode, Perspectives, Response, Violation, load_mode
from enquete.models.prices import server_of
from enquete.respondents.person import persons_named
from enquete.runs.conversations import Conversation, Turn, stored_turns
from enquete.state.asking import Participant, ServedModel
from enquete.state.errors import InstrumentError
from enquete.state.request import FallbackModel, ModelName, Prose
from enquete.state.untrusted_input import read_regular

# --- Whose model speaks in a seat: the run's, or one that the seat names, with those that stand by where it cannot be
# had.

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
MOST_ALTERNATES = 5


def _unsaid(value: Any) -> bool:
    return not value and value != 0


class SeatModel(BaseModel):
    """A model of one server."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Annotated[ModelName, Field(description="as its server calls it", exclude_if=_unsaid)] = ""
    base_url: Annotated[
        str,
        Field(
            max_length=500,
            description="its server, OpenAI-compatible, up to /v1; the run's own unless named",
            exclude_if=_unsaid,
        ),
    ] = ""
    key_variable: Annotated[
        str,
        Field(
            max_length=500,
            description="NAME of the environment variable with that server's key, never the key itself",
            exclude_if=_unsaid,
        ),
    ] = ""
    temperature: Annotated[
        float | None,
        Field(ge=0, le=2, allow_inf_nan=False, description="0 to 2; the run's unless named", exclude_if=_unsaid),
    ] = None

    @model_validator(mode="after")
    def _require_whole(self) -> Self:
        whose = getattr(self, "name", "") or self.model or "an alternate"
        if self.key_variable and not VARIABLE.fullmatch(self.key_variable):  # perhaps the key: it is not repeated
            raise ValueError(
                f"key_variable of {whose}: write the NAME of an environment variable, such as MY_API_KEY, not a key"
            )
        if self.base_url and ("://" not in self.base_url or server_of(self.base_url) is None):
            shown = self.base_url.rpartition("@")[2]
            raise ValueError(
                f"base_url of {whose}: {shown!r} is no base URL; write one such as https://host/v1, without user or key"
            )
        for name in ("base_url", "key_variable"):
            if getattr(self, name) and not self.model:
                raise ValueError(f"{name} of {whose}: named without a model; name the model too, or leave it out")
        return self

    @property
    def served(self) -> ServedModel:
        return ServedModel(
            model=self.model,
            base_url=self.base_url.rstrip("/"),
            key_variable=self.key_variable,
            temperature=self.temperature,
        )


class SeatModels(SeatModel):
    """With those that are asked in its place where it cannot be had, in this order."""

    alternates: Annotated[
        tuple[SeatModel, ...],
        Field(
            max_length=MOST_ALTERNATES,
            description="models that take the seat, in this order, where the one before is down",
            exclude_if=_unsaid,
        ),
    ] = ()

    @model_validator(mode="after")
    def _require_others(self) -> Self:
        whose = getattr(self, "name", "") or self.model
        if self.alternates and not self.model:
            raise ValueError(f"alternates of {whose}: named without a model; name the one that they stand by for")
        if any(not alternate.model for alternate in self.alternates):
            raise ValueError(f"alternates of {whose}: each names its model")
        everyone: tuple[SeatModel, ...] = (self, *self.alternates)
        places = Counter((model.model, model.base_url.rstrip("/")) for model in everyone)
        if twice := [model for (model, _), n in places.items() if n > 1]:
            raise ValueError(
                f"alternates of {whose}: {twice[0]!r} at the same server stands there twice; name each other model once"
            )
        return self

    @property
    def in_order(self) -> tuple[ServedModel, ...]:
        """() where the run's own model answers, as it is."""
        if not (self.model or self.temperature is not None):
            return ()
        others = (alternate.served for alternate in self.alternates)
        as_mild = {"temperature": self.temperature}  # a seat's temperature is that of whoever takes it
        milder = (model.model_copy(update=as_mild) if model.temperature is None else model for model in others)
        return (self.served, *milder)


class Seat(SeatModels):
    """Of a participant, by name or id."""

    name: Annotated[str, Field(min_length=1, max_length=200)]


def require_own_seats(seats: Sequence[Seat], persons: frozenset[str]) -> None:
    """Raises ValueError where a seat stands there twice, says nothing, or is a person's."""
    names = Counter(seat.name for seat in seats)
    if twice := [name for name, n in names.items() if n > 1]:
        raise ValueError(f"seats: {twice[0]!r} stands there twice; a participant has one seat")
    if empty := [seat.name for seat in seats if not seat.in_order]:
        raise ValueError(f"seats: {empty[0]!r} names no model and no temperature; say which, or leave the seat out")
    if human := [seat.name for seat in seats if seat.name in persons]:
        raise ValueError(f"seats: {human[0]!r} is a person's seat (people) and has no model; leave one of them out")


Round = Mapping[str, Response]
"""participant → what it said, in the order of speaking."""


Stage = int | Literal["before", "after"]
"""A round's number, or one of the private ones."""

CLOSED = "closed"
"""Why a discussion is over that whoever leads it has closed."""


class Weighed(BaseModel):
    """What the exit criteria said after a round. `analysed`: what a model made of it, where one was asked as well."""

    model_config = ConfigDict(frozen=True)

    should_exit: bool
    reason: str = ""
    details: Mapping[str, JsonValue] = {}
    analysed: Mapping[str, JsonValue] = {}

    @property
    def by_meaning(self) -> bool:
        """Whether positions were to be grouped by what they mean."""
        return self.analysed.get("basis") == "meaning"


class RoundtableTurn(Turn):
    """A turn as it is pinned. `round`: 0 is asked privately before, 1 to n are the rounds, n + 1 is asked privately
    after.

    `kind`: a remark of whoever leads the discussion is a turn of its own, `steer`, before the round that it opens;
    where the discussion had ended, it goes on from there; `end`: they closed it. `earlier`: held in the run before,
    which paid for it.

    `number`: the participant's, under which an anonymous group knows it in every round; `retried`: asked twice because
    of its violations, which `slips` holds; `weighed`: of the last turn of a round; `ratings` (consideration → value)
    and `ranking` (of the options, the best first): given privately.
    """

    kind: Literal["said", "steer", "end"] = "said"
    earlier: bool = False
    role: str = ""
    number: int = 0
    private: bool = False
    response: Response = Response()
    ratings: Mapping[str, float] = {}
    ranking: tuple[str, ...] = ()
    retried: bool = False
    slips: tuple[Violation, ...] = ()
    weighed: Weighed | None = None

    @property
    def asked_here(self) -> bool:
        return self.kind == "said" and not self.earlier

    @property
    def stage(self) -> Stage:
        return self.round if not self.private else "before" if self.round == 0 else "after"


@dataclass(frozen=True)
class Discussion(Conversation[RoundtableTurn]):
    """`participants`: in the order of speaking. A control's has one, no rounds, and in `reads` whose arguments it
    read."""

    participants: tuple[str, ...] = field(default=(), kw_only=True)
    mode: str = field(default="", kw_only=True)
    reads: str = field(default="", kw_only=True)

    @property
    def seated(self) -> bool:
        """Whether this is a group, not somebody who reads or is alone."""
        return len(self.participants) > 1

    @property
    def before(self) -> Round:
        """Said privately before the first round."""
        return {turn.participant: turn.response for turn in self.spoken if turn.private and turn.round == 0}

    @property
    def afterwards(self) -> Round:
        """Said privately after the last round."""
        return {turn.participant: turn.response for turn in self.spoken if turn.private and turn.round > 0}

    @property
    def spoken(self) -> tuple[RoundtableTurn, ...]:
        """By participants; what they said privately after an end that was none is not in it."""
        lately = max((turn.turn for turn in self.remarks), default=0)
        return tuple(
            turn
            for turn in self.turns
            if turn.kind == "said" and not (turn.private and turn.round > 0 and turn.turn < lately)
        )

    @property
    def public(self) -> list[RoundtableTurn]:
        """What was said to the group."""
        return [turn for turn in self.spoken if not turn.private]

    @property
    def remarks(self) -> tuple[RoundtableTurn, ...]:
        """Of whoever leads the discussion."""
        return tuple(turn for turn in self.turns if turn.kind == "steer")

    @property
    def held(self) -> int:
        """Rounds that are complete."""
        return sum(turn.weighed is not None for turn in self.turns)

    @property
    def over(self) -> bool:
        """Whether the group has nothing more to say to one another."""
        return self.exit is not None and self.exit.should_exit

    @property
    def between(self) -> bool:
        """Whether it stands between two rounds, the next of which nobody has opened yet."""
        complete = len(self.rounds()) == self.held > 0
        return self.seated and not self.stop and not self.over and complete and self.turns[-1].kind == "said"

    @property
    def word_name(self) -> str:
        """The name under which is pinned what whoever leads it says before the next round; "": nothing, but that it
        goes on."""
        return self.word_before(self.held + 1)

    def word_before(self, round: int) -> str:
        return f"word/{self.unit}/{round}"

    @property
    def end_name(self) -> str:
        """The name under which is pinned that whoever leads it has closed it."""
        return f"end/{self.unit}"

    def closed(self, *, private: bool) -> RoundtableTurn:
        """The turn in which whoever leads the discussion closes it. `private`: everybody is asked alone after it."""
        stop = "" if private else CLOSED
        return RoundtableTurn(turn=self.number, round=self.held + 1, kind="end", status="ok", stop=stop)

    def steered(self, remark: str) -> RoundtableTurn:
        """The turn in which whoever leads the discussion says something before its next round."""
        return RoundtableTurn(turn=self.number, round=self.held + 1, kind="steer", status="ok", answer=remark)

    def rounds(self) -> list[Round]:
        """What was said to the group, the last round perhaps unfinished."""
        rounds = dict[int, dict[str, Response]]()
        for turn in self.public:
            rounds.setdefault(turn.round, {})[turn.participant] = turn.response
        return [rounds[number] for number in sorted(rounds)]

    @property
    def exit(self) -> Weighed | None:
        """Of the last round that is complete, or because it was closed; None once it has been steered beyond that."""
        for turn in reversed(self.turns):
            if turn.kind == "steer":
                return None
            if turn.kind == "end":
                return Weighed(should_exit=True, reason=CLOSED)
            if turn.weighed is not None:
                return turn.weighed
        return None


def discussions(pinned: Mapping[str, JsonValue], mode: str) -> Iterator[Discussion]:
    """Of all groups, then of those who read or were alone, as they are stored. `pinned`: of an analysis,
    `context.pinned`."""
    seating: Any = pinned.get("groups") or {}
    tables = {unit: (tuple(group), "") for unit, group in seating.get("groups", {}).items()}
    tables |= {unit: ((who["participant"],), who["reads"]) for unit, who in seating.get("controls", {}).items()}
    tables |= {unit: ((who,), "") for unit, who in seating.get("alone", {}).items()}
    for unit, (participants, reads) in tables.items():
        talk = Discussion(unit, participants=participants, mode=mode, reads=reads)
        for turn in stored_turns(pinned.get, unit, RoundtableTurn):
            talk = talk.after(turn)
        yield talk


# --- settings ---------------------------------------------------------------------------------------------------------

Worker = Literal["model", "rule"]
Cast = Literal["mixed", "consensus", "convergence", "polarisation", "groupthink", "unruly"]
Composed = Literal["mixed", "type", "views", "hand"]
Share = Annotated[float, Field(ge=0, le=1)]

VIEWS = "views"
MOST_BYTES = 100_000_000  # of a qmethod.json of thousands of sorts
LEAST_SIZE, MOST_SIZE, MOST_ROUNDS, MOST_SEATS = 2, 10, 12, 1000


class RoundtableLayers(BaseModel):
    """What the settings `mode` and `views` stood for when the run began. views: participant → loadings on the Q
    factors."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    mode: Mode
    views: Mapping[str, tuple[float, ...]] = {}


class Document(BaseModel):
    """Given to everybody at a table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: Annotated[str, Field(min_length=1, max_length=200)]
    text: Annotated[Prose, Field(min_length=1)]


MOST_DOCUMENTS = 10


class RoundtableSettings(BaseModel):
    """Raises InstrumentError, naming file and line, where a mode is wrong; with a context `language`, also where it
    cannot be used in it; with a context `own_folder`, files are named, and lie there."""

    model_config = ConfigDict(extra="forbid")

    mode: Annotated[str, Field(description="how is discussed: a shipped mode or a YAML file")] = "collaborative"
    question: Annotated[str, Field(description="what is discussed; the instrument's question unless named")] = ""
    rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS, description="rounds a discussion has at most")] = 3
    size: Annotated[int, Field(ge=LEAST_SIZE, le=MOST_SIZE, description="participants of a group")] = 5
    groups: Annotated[int, Field(ge=0, description="groups that discuss; 0: as many as seat everybody")] = 0
    compose: Annotated[
        Composed,
        Field(
            description="who sits together: mixed across types, one type, most different views, or as `members` says"
        ),
    ] = "mixed"
    members: Annotated[str, Field(description="groups by hand: names or ids, 'Ada, Ben; Cleo, Dan'")] = ""
    views: Annotated[str, Field(description="qmethod.json of a diversity run, for groups of most different views")] = ""
    perspectives: Annotated[Perspectives, Field(description="how a mode's perspectives are assigned")] = "round-robin"
    perspective_of: Annotated[
        str, Field(description="explicit perspectives: names or ids, 'Ada: technical; Ben: social'")
    ] = ""
    private: Annotated[bool, Field(description="ask everybody alone before and after the discussion")] = True
    people: Annotated[
        str, Field(description="whose seat a person takes, who answers in forms: names or ids, 'Ada; Ben'")
    ] = ""
    steering: Annotated[
        bool, Field(description="after every round a group waits for a word of whoever leads the discussion")
    ] = False
    earlier: Annotated[
        Mapping[str, tuple[RoundtableTurn, ...]],
        Field(description="by group, what was said in the run before that this one goes on from"),
    ] = {}
    seats: Annotated[
        tuple[Seat, ...],
        Field(
            max_length=MOST_SEATS,
            description="whose seat another model than the run's takes: name, model, base_url, key_variable, "
            "temperature, alternates",
            exclude_if=lambda seats: not seats,
        ),
    ] = ()
    documents: Annotated[
        tuple[Document, ...],
        Field(
            max_length=MOST_DOCUMENTS,
            description="what everybody at the table is given to read, as data: title and text each",
            exclude_if=lambda documents: not documents,
        ),
    ] = ()
    controls: Annotated[
        int, Field(ge=0, description="agents who only read what a group said, asked before and after")
    ] = 0
    least_rounds: Annotated[int, Field(ge=1, le=MOST_ROUNDS, description="rounds before a discussion may end")] = 1
    consensus: Annotated[Share, Field(description="agreement from which a discussion is over")] = 0.9
    stable: Annotated[Share, Field(description="likeness to one's own last position that counts as unmoved")] = 0.7
    stable_rounds: Annotated[
        int, Field(ge=1, le=MOST_ROUNDS, description="rounds on end without a move that end it")
    ] = 2
    confident: Annotated[Share, Field(description="confidence of everybody that ends it where they agree")] = 0.85
    agreed: Annotated[Share, Field(description="agreement that confidence needs beside it")] = 0.7
    context_tokens: Annotated[
        int, Field(ge=100, description="of earlier rounds, passed in full; beyond it older ones are summed up")
    ] = 3000
    arguments: Annotated[int, Field(ge=1, le=50, description="arguments that are told apart, at most")] = 15
    summaries: Annotated[Worker, Field(description="who sums up older rounds: a model, or key points alone")] = "rule"
    analyses: Annotated[Worker, Field(description="a model's reading of agreement beside the rule-based one")] = "rule"
    agreement: Annotated[
        Literal["words", "meaning"],
        Field(
            description="what decides which positions are one: their words by a rule, or what they mean, as a model "
            "reads it",
            exclude_if=lambda agreement: agreement == "words",
        ),
    ] = "words"
    cast: Annotated[
        Cast, Field(description="how synthetic participants stand: what is planted in them, where no model answers")
    ] = "mixed"
    summary_model: Annotated[str, Field(description="model that sums up; the main arm's unless named")] = ""
    summary_fallback: FallbackModel = ""
    analyse_model: Annotated[str, Field(description="model that reads agreement; the main arm's unless named")] = ""
    analyse_fallback: FallbackModel = ""
    group_model: Annotated[
        str,
        Field(
            description="model that groups positions by meaning; the main arm's unless named",
            exclude_if=lambda name: not name,
        ),
    ] = ""
    group_fallback: Annotated[FallbackModel, Field(exclude_if=lambda name: not name)] = ""
    layers: Annotated[
        RoundtableLayers | None, Field(description="filled when the settings are read: the files as they were")
    ] = None

    @model_validator(mode="after")
    def _read_layers(self, info: ValidationInfo) -> Self:
        context = info.context or {}
        if self.layers is None:
            views = read_views(self.views, context.get("own_folder")) if self.views else {}
            self.layers = RoundtableLayers(mode=load_mode(self.mode, context.get("own_folder")), views=views)
        if language := context.get("language"):
            require_language("roundtable.mode", self.mode, self.layers.mode, language)
        self.mode, self.views = Path(self.mode).name, Path(self.views).name if self.views else ""
        self._require_consistent()
        return self

    def _require_consistent(self) -> None:
        if self.compose == "hand" and not self.members:
            raise ValueError("members: groups by hand need them, as in 'Ada, Ben; Cleo, Dan'")
        if self.members and self.compose != "hand":
            raise ValueError("members: named, but groups are not made by hand; set compose to hand")
        if self.compose == "views" and not self.played.views:
            raise ValueError("views: groups of most different views need the qmethod.json of a diversity run")
        if any(not LEAST_SIZE <= len(group) <= MOST_SIZE for group in self.by_hand):
            raise ValueError(f"members: a group has {LEAST_SIZE} to {MOST_SIZE}, separated by commas")
        roles = tuple(self.played.mode.roles)
        for who, role in self.explicit.items():
            if role not in roles:
                raise ValueError(f"perspective_of: {who} is given {role!r}{suggestion(role, roles)}")
        titles = [document.title for document in self.documents]
        if twice := [title for title in titles if titles.count(title) > 1]:
            raise ValueError(f"documents: two are called {twice[0]!r}; give each a title of its own")
        require_own_seats(self.seats, self.persons)
        if self.agreement == "meaning" and self.analyses == "model":
            raise ValueError(
                "analyses: with agreement by meaning a model reads every round already; leave analyses out"
            )
        if self.agreement == "words" and (self.group_model or self.group_fallback):
            raise ValueError(
                "group_model: positions are grouped by their words here; set agreement to meaning, or leave it out"
            )
        if self.least_rounds > self.rounds:
            raise ValueError(f"least_rounds {self.least_rounds} is more than rounds {self.rounds}")

    @property
    def played(self) -> RoundtableLayers:
        if self.layers is None:  # the validator has filled it
            raise RuntimeError("the settings were built without validation")
        return self.layers

    @property
    def limits(self) -> Limits:
        return Limits(
            consensus=self.consensus, stable=self.stable, stable_rounds=self.stable_rounds, confidence=self.confident,
            agreement=self.agreed, least_rounds=self.least_rounds, most_rounds=self.rounds,
        )  # fmt: skip

    @property
    def by_hand(self) -> list[list[str]]:
        """Names or ids, group by group."""
        groups = ([name.strip() for name in group.split(",")] for group in self.members.split(";"))
        return [[name for name in group if name] for group in groups if any(group)]

    def seats_person(self, who: Participant) -> bool:
        """Whether this participant's seat is a person's."""
        return not {who.id, who.name}.isdisjoint(self.persons)

    @property
    def persons(self) -> frozenset[str]:
        """Names or ids of those whose seats persons take."""
        return persons_named(self.people)

    def models_of(self, who: Participant) -> tuple[ServedModel, ...]:
        """Those that this participant's seat names, in the order in which they are asked; () for the run's."""
        return next((seat.in_order for seat in self.seats if seat.name in (who.id, who.name)), ())

    @property
    def explicit(self) -> dict[str, str]:
        """Name or id → perspective."""
        pairs = (pair.rpartition(":") for pair in self.perspective_of.split(";") if pair.strip())
        return {who.strip(): role.strip() for who, _, role in pairs}


def read_views(path: str, own_folder: str | None = None) -> dict[str, tuple[float, ...]]:
    """participant → loadings, of a diversity run's qmethod.json; with `own_folder` of one that lies there as
    views/NAME.json, and no path. Raises InstrumentError."""
    if own_folder is not None and Path(path).name != path:
        raise InstrumentError([f"views: {path!r} is a path; name a file in {VIEWS}/ of the server's own folder"])
    file = Path(path).expanduser() if own_folder is None else Path(own_folder, VIEWS, path).with_suffix(".json")
    try:
        stored: Any = json.loads(read_regular(file, MOST_BYTES))
        members = {str(member["participant"]): tuple(map(float, member["loadings"])) for member in stored["members"]}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InstrumentError([f"views: {path} is no qmethod.json of a diversity run ({error})"]) from None
    if not members:
        raise InstrumentError([f"views: {path} has no members with loadings; that run found no shared views"])
    return members
