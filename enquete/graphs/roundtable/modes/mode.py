"""A mode: how a discussion is played, as one YAML file (enquete/instruments/roundtable/, or any path). A complete one:

    id: buzz
    version: "1.0"
    title: {de: Murmelrunde, en: Buzz group}
    languages: [de, en]
    order: parallel                        # or sequential: everybody sees the earlier answers of the same round
    groupthink: true                       # whether its unanimity is suspicious
    context: [anonymous, statistics]       # processors, in this order
    roles:
      member: {label: {…}, anchor: {…}}
    contract: {de: …, en: …}               # how everybody behaves
    sections:
      wish: {title: {…}, ask: {…}, rounds: first}
    verification: [{de: …, en: …}]         # asked of oneself before answering, beside the common ones
    checks: [{check: at_least, section: wish, least: 1}]

One execution plays them all, through three hooks: `transform_context`, `validate_response`, `role_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, model_validator

from enquete.graphs.roundtable.modes.checks import CHECKS, Check, Held, Rounds, confidence_range, in_round, required
from enquete.graphs.roundtable.modes.context import PROCESSORS, Context
from enquete.graphs.roundtable.modes.seats import Assign, Seat, role_of
from enquete.graphs.roundtable.responses import Response, Stance, Violation
from enquete.instruments.layers import LayerFile, load_layer
from enquete.instruments.reading import Line, identifier, suggestion, wrong
from enquete.instruments.text import Part, Text
from enquete.state.asking import Item, Language

LAYER = "roundtable"
SPLIT_ROLES = 3

RoleId = Annotated[Line, AfterValidator(identifier("role"))]
SectionId = Annotated[Line, AfterValidator(identifier("section"))]


def _processor(name: str) -> str:
    if name not in PROCESSORS:
        raise wrong(f"'{name}' is no context processor{suggestion(name, tuple(PROCESSORS))}")
    return name


class ModeRole(Part):
    """A part somebody plays. anchor: who they are in this group; stance: which they argue for, "" for their own; marks:
    words by which its perspective is known beside its label."""

    label: Text
    anchor: Text
    stance: Stance = ""
    marks: Text | None = None

    def known_by(self, language: Language) -> tuple[str, ...]:
        more = self.marks.in_(language).split(",") if self.marks else []
        return tuple(word.strip() for word in (self.label.in_(language), *more) if word.strip())


class Section(Part):
    """A part of the answer. Asked of these roles in these rounds; of everybody, always, unless named."""

    title: Text
    ask: Text
    rounds: Rounds = "all"
    roles: tuple[Line, ...] = ()

    def is_asked(self, role: str, first: bool) -> bool:
        return (not self.roles or role in self.roles) and in_round(self.rounds, first)


class Mode(LayerFile):
    order: Literal["parallel", "sequential"]
    groupthink: bool
    stance: bool = True
    context: tuple[Annotated[Line, AfterValidator(_processor)], ...] = ()
    assign: Assign = "one"
    roles: Mapping[RoleId, ModeRole]
    contract: Text
    sections: Mapping[SectionId, Section] = {}
    verification: tuple[Text, ...] = ()
    checks: tuple[Check, ...] = ()

    @model_validator(mode="after")
    def _names_what_there_is(self) -> Self:
        for place, names, known in self._references():
            for unknown in [name for name in names if name and name not in known]:
                raise wrong(f"{place}: {unknown!r} is not defined here{suggestion(unknown, tuple(known))}")
        if not self.roles:
            raise wrong("roles: names none; a mode has at least one")
        if self.assign == "split" and len(self.roles) < SPLIT_ROLES:
            raise wrong(f"roles: names {len(self.roles)}; to split a group takes {SPLIT_ROLES}: for, against, weighing")
        return self

    def _references(self) -> Iterator[tuple[str, tuple[str, ...], Mapping[str, object]]]:
        for name, section in self.sections.items():
            yield f"sections.{name}.roles", section.roles, self.roles
        for check in self.checks:
            yield "checks.roles", (*check.roles, check.by), self.roles
            yield "checks.section", (check.section, check.of), self.sections

    @property
    def assigns_stances(self) -> bool:
        """Whether what is said to the group is a part's stance, not the participant's own."""
        return any(role.stance for role in self.roles.values())

    # --- hooks -------------------------------------------------------------------------------------------------------

    def role_of(self, seat: Seat) -> str:
        """Which part the participant in this seat plays, in every round."""
        return role_of(self.assign, tuple(self.roles), seat)

    def transform_context(self, context: Context) -> Context:
        """What is shown of what is known."""
        for name in self.context:
            context = PROCESSORS[name](context, self.roles.get(context.role))
        return context

    def validate_response(
        self, response: Response, context: Context, missing: tuple[str, ...]
    ) -> tuple[Violation, ...]:
        """What it does not keep to. The response is never changed. missing: parts that got no answer."""
        role, first = self.roles[context.role], not context.rounds
        held = Held(response, context, role.stance, role.known_by(context.language), missing, first)
        own = (CHECKS[check.check](held, check) for check in self.checks if check.applies(held))
        return (*required(held), *confidence_range(held), *(one for one in own if one is not None))

    # --- layers ------------------------------------------------------------------------------------------------------

    def told(self, context: Context, question: str) -> str:
        """The layers of the prompt: role anchor, behavioural contract, structure, verification loop."""
        words, language = context.instrument, context.language
        checks = "\n".join(f"- {text.in_(language)}" for text in (*words.verification, *self.verification))
        layers = (
            words.instruction.discussion.in_(language).replace("{question}", question),
            self.roles[context.role].anchor.in_(language),
            *context.told,
            self.contract.in_(language),
            words.instruction.structure.in_(language),
            f"{words.instruction.verification.in_(language)}\n{checks}",
        )
        return "\n\n".join(layers)

    def form(self, role: str, first: bool, language: Language) -> tuple[Item, ...]:
        """The mode's own parts of the answer."""
        return tuple(
            Item(id=name, kind="text", wording=f"{section.title.in_(language)}: {section.ask.in_(language)}")
            for name, section in self.sections.items()
            if section.is_asked(role, first)
        )

    def titles(self, language: Language) -> dict[str, str]:
        return {name: section.title.in_(language) for name, section in self.sections.items()}


def load_mode(name: str, shelf: str | None = None) -> Mode:
    """A shipped mode, else a file. Raises InstrumentError."""
    return load_layer(Mode, LAYER, name, shelf)
