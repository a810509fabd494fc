"""Synthetic respondents of the laddering interview: they carry planted chains of thoughts, and a good question about a
thought they have said reveals the next one, one at a time.

Who carries which thoughts says truth/laddering.yaml of a pack, in which words they are said manner.yaml. Respondents
see the block alone: the question, the conversation so far, what it is about. Every choice is drawn by SHA-256 from the
seed, the persona and what it is about. Nothing here is known to the reader of answers; tests measure by it what an
interview finds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from importlib.resources import files
from itertools import cycle, pairwise
from typing import NamedTuple

from enquete.instruments.pack import Data, Pack, Words, pack_on, read_yaml
from enquete.instruments.text import Text
from enquete.methods.laddering.settings import Concept, LadderingInstrument, LadderingSettings
from enquete.respondents.ground_truth import persona_hash, pick, sample, type_of, uniform, voice
from enquete.state.asking import Answer, Block, Item, Language, Participant
from enquete.state.methodology import Truth

METHODOLOGY = "laddering"
CARRIED = 3  # chains an agent carries
VOICE = 0.25  # of the telling answers begin with a sentence about oneself
NAMED = 0.6  # share of a wording's words that a question must quote to be about it
ELEMENT = "{element}"

Patterns = Mapping[Language, Words]


class Thought(Data):
    """A concept in several wordings. `kind`: what a question must ask for to bring it up; "" for the first of a chain.
    `beside`: what else it leads to, and nothing follows from."""

    kind: str = ""
    de: tuple[str, ...]
    en: tuple[str, ...]
    beside: tuple[Thought, ...] = ()

    def wordings(self, language: Language) -> tuple[str, ...]:
        return self.de if language == "de" else self.en

    @property
    def all_wordings(self) -> tuple[str, ...]:
        return (*self.de, *self.en)

    def about(self, element: Text) -> Thought:
        """With an element of the concept in the place of {element}."""
        if not any(ELEMENT in wording for wording in self.all_wordings):
            return self
        de, en = (
            tuple(wording.replace(ELEMENT, element.in_(language)) for wording in self.wordings(language))
            for language in ("de", "en")
        )
        return self.model_copy(update={"de": de, "en": en})


class Chain(Data):
    """Thoughts in their order; `who`: stakeholder types that carry it, everybody where none is named."""

    method: str
    who: tuple[str, ...] = ()
    thoughts: tuple[Thought, ...]

    @property
    def all_thoughts(self) -> tuple[Thought, ...]:
        return tuple(thought for step in self.thoughts for thought in (step, *step.beside))


class LadderingTruth(Data):
    """truth/laddering.yaml. A thought of the neutral pack may be {element}: one of whatever the interview is about."""

    chains: tuple[Chain, ...] = ()


class Fatigue(Data):
    """How many agents tire, and after which turn."""

    share: float
    after_turn: int


class LadderingManner(Data):
    """manner.yaml: how planted thoughts are brought up and said, whatever they are about."""

    cues: Mapping[str, Patterns]
    leads: Mapping[str, tuple[str, ...]]  # kind → kinds it may bring up within its chain
    more: Patterns
    triad: Patterns
    meaning: Patterns
    fatigue: Fatigue
    says: Mapping[Language, Mapping[str, tuple[str, ...]]]


@cache
def manner() -> LadderingManner:
    return LadderingManner.model_validate(read_yaml(files("enquete.methods.laddering") / "manner.yaml"))


@dataclass(frozen=True)
class GroundTruth:
    """What agents carry on one concept: the chains of the pack that knows its topic, else chains that begin with its
    elements."""

    manner: LadderingManner
    pack: Pack
    chains: tuple[Chain, ...]
    elements: tuple[Text, ...]

    def carried(self, who: Participant, method: str, seed: int) -> tuple[Chain, ...]:
        """An agent's chains; those of its type, else drawn from all. A methodology that nothing was planted for is
        answered from the means-end chains."""
        methods = {chain.method for chain in self.chains}
        fitting = [c for c in self.chains if c.method == (method if method in methods else "means_end_chain")]
        drawable = [c for c in fitting if not c.who or type_of(who, self.pack) in c.who] or fitting
        key = (seed, METHODOLOGY, "carried", method, persona_hash(who))
        drawn = sample([(chain, 1.0) for chain in drawable], CARRIED, *key)
        about = sample([(element, 1.0) for element in self.elements], CARRIED, *key, "element")
        return tuple(
            chain.model_copy(update={"thoughts": tuple(thought.about(element) for thought in chain.thoughts)})
            for chain, element in zip(drawn, cycle(about), strict=False)
        )

    def tires(self, who: Participant, seed: int) -> bool:
        """Whether this agent has only a few words left after a while."""
        return uniform(seed, METHODOLOGY, "tires", persona_hash(who)) < self.manner.fatigue.share


def ground_truth(concept: Concept) -> GroundTruth:
    """What is planted about a concept."""
    pack = pack_on(concept.topic)
    elements = tuple(element.label for element in concept.elements.values()) or (concept.topic,)
    return GroundTruth(manner(), pack, pack.truth(METHODOLOGY, LadderingTruth).chains, elements)


class Link(NamedTuple):
    """Two thoughts of which the first leads to the second."""

    source: Thought
    target: Thought


def links(chains: Sequence[Chain], leads: Mapping[str, Sequence[str]] | None = None) -> list[Link]:
    """What an interview can find at most: each chain in its order, what lies beside its thoughts, and what the kinds
    lead to."""
    ahead = [Link(a, b) for chain in chains for a, b in pairwise(chain.thoughts)]
    beside = [Link(a, b) for chain in chains for a in chain.thoughts for b in a.beside]
    across = [
        Link(a, b) for chain in chains for a in chain.all_thoughts for b in chain.all_thoughts
        if b.kind in (leads or {}).get(a.kind, ())
    ]  # fmt: skip
    return list({(id(link.source), id(link.target)): link for link in (*ahead, *beside, *across)}.values())


def planted(instrument: LadderingInstrument, settings: LadderingSettings) -> Truth:
    """The truth about the concept that is asked about; the methodology is read from the block."""
    return partial(answer, truth=ground_truth(settings.topic))


def answer(who: Participant, block: Block, language: Language, seed: int, *, truth: GroundTruth) -> tuple[Answer, ...]:
    """One answer per item of the block."""
    return tuple(
        Answer(item.id, "ok", text=_Interviewee(who, block, item, language, seed, truth).says()) for item in block.items
    )


class _Interviewee:
    """An agent before one question."""

    def __init__(self, who: Participant, block: Block, item: Item, language: Language, seed: int, truth: GroundTruth):
        self._who, self._language, self._turn = who, language, block.key.turn
        self._manner, self._pack = truth.manner, truth.pack
        self._question = item.wording.lower()
        self._said = " ".join(text for _, text in block.quoted).lower()
        self._key = (seed, METHODOLOGY, block.key.session, persona_hash(who))
        self._chains = truth.carried(who, block.key.session, seed)
        self._links = links(self._chains, self._manner.leads)
        self._tired = truth.tires(who, seed) and self._turn > self._manner.fatigue.after_turn

    def says(self) -> str:
        thoughts = (thought for chain in self._chains for thought in chain.all_thoughts)
        about = max(filter(self._was_said, thoughts), key=self._share_named, default=None)
        if about is not None and self._share_named(about) >= NAMED:
            return self._on(about)
        fresh = [chain.thoughts[0] for chain in self._chains if not self._was_said(chain.thoughts[0])]
        begins = bool(fresh) and (not self._said or self._asks(self._manner.more))
        return self._line("begin", b=self._worded(fresh[0])) if begins else self._line("none")

    def _on(self, thought: Thought) -> str:
        """The next thought, if that is what was asked for, where three were to be compared with its opposite; what was
        meant, if that was; else nothing new."""
        for _, target in filter(lambda link: link.source is thought, self._links):
            if not self._was_said(target) and self._asks(self._manner.cues[target.kind]):
                b, against = self._worded(target), [c for a, c in self._links if a is target and c.kind == "opposite"]
                if against and self._asks(self._manner.triad):
                    return self._line("contrast", b=b, c=self._worded(against[0]))
                return self._line("link", a=self._worded(thought), b=b)
        return self._line("mean" if self._asks(self._manner.meaning) else "none")

    def _asks(self, patterns: Patterns) -> bool:
        return bool(patterns[self._language].search(self._question))

    def _was_said(self, thought: Thought) -> bool:
        return any(wording.lower() in self._said for wording in thought.wordings(self._language))

    def _share_named(self, thought: Thought) -> float:
        """How much of a thought's wording the question takes up."""
        words = set(self._question.replace("„", " ").replace("“", " ").replace("”", " ").replace("?", " ").split())
        wordings = [set(wording.lower().split()) for wording in thought.wordings(self._language)]
        return max(len(words & wording) / len(wording) for wording in wordings)

    def _worded(self, thought: Thought) -> str:
        """In the words it was said in before, else in one of its wordings."""
        wordings = thought.wordings(self._language)
        before = [wording for wording in wordings if wording.lower() in self._said]
        return before[0] if before else pick(wordings, *self._key, wordings[0])

    def _line(self, kind: str, a: str = "", b: str = "", c: str = "") -> str:
        if self._tired:
            kind = {"link": "tired", "contrast": "tired", "begin": "tired_begin"}.get(kind, "tired_none")
        text = pick(self._manner.says[self._language][kind], *self._key, kind, self._turn).format(a=a, b=b, c=c)
        if kind not in ("link", "begin") or uniform(*self._key, "voice", self._turn) >= VOICE:
            return text
        opening = voice(type_of(self._who, self._pack), self._pack, self._language, *self._key, self._turn)
        return f"{opening} {text}"
