"""What callers are told of a roundtable: digests first, and never more than fits into a reply."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import JsonValue

from enquete.graphs.roundtable.answering import AGAIN
from enquete.graphs.roundtable.discussion import Discussion, RoundtableTurn
from enquete.graphs.roundtable.layers import FourLayers, four_layers
from enquete.graphs.roundtable.measures.clusters import agreement
from enquete.graphs.roundtable.steering import awaits_word, word_name
from enquete.graphs.roundtable.tables import OpenTable
from enquete.locale import N_, tell
from enquete.respondents.person import as_shown
from enquete.state.asking import Block
from enquete.state.errors import InputError

MOST_CHARS = 10_000
CUTS: tuple[tuple[int, int], ...] = ((2000, 100), (600, 60), (250, 40), (120, 25), (60, 12), (30, 6))
"""(characters of a text, entries of a list): the first that makes a reply fit is taken."""
SHORTENED = "texts or lists were cut to fit; get_response_detail has one answer, export_roundtable everything"

Stage = int | Literal["before", "after"]

NEXT: Mapping[str, str] = {
    "completed": N_(
        "The discussion is over: read it with get_consensus. continue_roundtable goes on with further rounds and a remark."
    ),
    "person": N_("{names} must answer: pass `answers` to continue_roundtable."),
    "word": N_("Between two rounds: continue_roundtable goes on, with a remark that all participants see or without."),
    "paused": N_("Paused: continue_roundtable goes on, with a larger budget_tokens where the budget was used up."),
    "awaiting_simulation": N_("The simulation has not completed: call continue_roundtable once it has."),
    "failed": N_("Something failed, which the note names: continue_roundtable takes it up again."),
    "started": N_("It is going on, or was cut off: look again, or go on with continue_roundtable."),
}


def told(table: OpenTable) -> dict[str, JsonValue]:
    """Where a roundtable stands: each group's decision, who or what it waits for, and what to do next."""
    run = table.held
    return fitted({
        "roundtable_id": table.kept.id, "status": run.status, "note": run.note if run.status != "completed" else "",
        "question": table.kept.question, "mode": table.settings.mode, "run_id": run.run, **table.authorship,
        "groups": [digest(table, talk) for talk in table.groups],
        "waiting_for": [waiting(table, block) for block in run.forms],
        "waiting_for_word": [talk.unit for talk in wordless(table)],
        "next": following(table),
    })  # fmt: skip


def digest(table: OpenTable, talk: Discussion) -> dict[str, JsonValue]:
    layers = layered(table, talk)
    return {
        "group": talk.unit, "participants": [table.name(who) for who in talk.participants],
        "rounds": layers.metadata.rounds, "over": talk.over, "exit_reason": layers.metadata.exit_reason,
        **decision_of(table, layers),
    }  # fmt: skip


def decision_of(table: OpenTable, layers: FourLayers) -> dict[str, JsonValue]:
    """The decision, with the names of who holds it and who does not."""
    decision = layers.decision
    held, others = ([table.name(who) for who in group] for group in (decision.held_by, decision.not_held_by))
    return {**decision.model_dump(mode="json"), "held_by": [*held], "not_held_by": [*others]}


def layered(table: OpenTable, talk: Discussion) -> FourLayers:
    return four_layers(talk, table.held.language, table.settings.played.mode)


def wordless(table: OpenTable) -> list[Discussion]:
    """Groups that wait for a word of whoever leads the discussion."""
    return [
        talk for talk in table.groups if awaits_word(talk, table.settings) and word_name(talk) not in table.held.frozen
    ]


def following(table: OpenTable) -> str:
    run = table.held
    why = run.status
    if run.status == "waiting":
        why = "person" if run.forms else "word"
    names = ", ".join(dict.fromkeys(table.name(block.key.participant) for block in run.forms))
    return tell(NEXT.get(why, NEXT["paused"]), run.language).format(names=names)


def waiting(table: OpenTable, block: Block) -> dict[str, JsonValue]:
    """A form that a person has yet to fill in."""
    items = [item.model_copy(update={"id": item.id.removeprefix(AGAIN)}) for item in block.items]
    form = as_shown(block.model_copy(update={"items": tuple(items)}))
    return {"participant": table.name(block.key.participant), "group": block.key.session, **form}


# --- turns ---------------------------------------------------------------------------------------------------------------


def stages(talk: Discussion) -> list[Stage]:
    """Those that somebody has spoken in, in their order."""
    return list(dict.fromkeys(stage_of(turn) for turn in talk.spoken))


def stage_of(turn: RoundtableTurn) -> Stage:
    return turn.round if not turn.private else "before" if turn.round == 0 else "after"


def said_in(talk: Discussion, stage: Stage) -> list[RoundtableTurn]:
    """Raises InputError where nobody has spoken in it."""
    found = [turn for turn in talk.spoken if stage_of(turn) == stage]
    if not found:
        there = ", ".join(map(str, stages(talk))) or "none yet"
        raise InputError(f"nobody has spoken in round {stage} of {talk.unit}; rounds there are: {there}")
    return found


def latest(talk: Discussion) -> Stage:
    """The last round, else privately before."""
    return next((stage for stage in reversed(stages(talk)) if isinstance(stage, int)), "before")


def remark_of(talk: Discussion, stage: Stage) -> str:
    return "\n".join(one.answer for one in talk.remarks if one.round == stage and one.answer)


def brief(table: OpenTable, turn: RoundtableTurn) -> dict[str, JsonValue]:
    """One answer in a few lines."""
    said = turn.response
    return {
        **_speaker(table, turn), "stance": said.stance, "confidence": said.confidence, "position": said.position,
        "key_points": list(said.key_points), "violations": len(said.violations),
    }  # fmt: skip


def detail(table: OpenTable, turn: RoundtableTurn) -> dict[str, JsonValue]:
    """One answer in full. slips: what the first answer did not keep to, where it was asked for once more."""
    return {
        **_speaker(table, turn), "round": stage_of(turn), "status": turn.status, **turn.response.model_dump(mode="json"),
        "retried": turn.retried, "slips": [one.model_dump(mode="json") for one in turn.slips],
        "ratings": dict(turn.ratings), "ranking": list(turn.ranking),
    }  # fmt: skip


def _speaker(table: OpenTable, turn: RoundtableTurn) -> dict[str, JsonValue]:
    name, role = table.name(turn.participant), table.settings.played.mode.roles.get(turn.role)
    person = not {turn.participant, name}.isdisjoint(table.settings.persons)
    return {
        "participant": turn.participant, "name": name, "number": turn.number,
        "role": role.label.in_(table.held.language) if role else turn.role,
        "answered_by": "person" if person else "agent",
    }  # fmt: skip


def held_in(table: OpenTable, talk: Discussion, stage: Stage) -> dict[str, Any]:
    """One stage of a discussion: the remark before it, how far it agreed, who said what."""
    turns = said_in(talk, stage)
    return {
        "round": stage,
        "remark": remark_of(talk, stage),
        "agreement": agreement({turn.participant: turn.response for turn in turns}),
        "turns": [detail(table, turn) for turn in turns],
    }


# --- fitting -------------------------------------------------------------------------------------------------------------


def fitted(found: Mapping[str, JsonValue], most: int = MOST_CHARS) -> dict[str, JsonValue]:
    """All of it, or with its texts and lists cut until it fits, which is then said."""
    whole = dict(found)
    if _length(whole) <= most:
        return whole
    for chars, entries in CUTS:
        cut: Any = _cut(whole, chars, entries)
        shorter: dict[str, JsonValue] = {**cut, "shortened": SHORTENED}
        if _length(shorter) <= most:
            break
    return shorter


def _length(found: JsonValue | Mapping[str, JsonValue]) -> int:
    return len(json.dumps(found, ensure_ascii=False))


def _cut(value: JsonValue, chars: int, entries: int) -> JsonValue:
    if isinstance(value, str):
        return value if len(value) <= chars else f"{value[: chars - 1]}…"
    if isinstance(value, Mapping):
        return {key: _cut(one, chars, entries) for key, one in value.items()}
    if isinstance(value, list):
        return list(_few(value, chars, entries))
    return value


def _few(values: list[JsonValue], chars: int, entries: int) -> Iterator[JsonValue]:
    yield from (_cut(one, chars, entries) for one in values[:entries])
    if len(values) > entries and isinstance(values[0], str):
        yield f"… {len(values) - entries} more"
