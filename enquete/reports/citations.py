"""What answers named of a memory: which posts and exposures, whether they exist, and who named them, movers above all.

Answers in words carry the marks of entries (respondents/questions.py takes them out of the text and notes them). A mover is an
agent of whom any closed answer differs between T0 and T1 of the same methodology. A mark that stands in no digest of the
agent names nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import pandas as pd

from enquete.locale import N_
from enquete.reports.key_findings import shortened
from enquete.reports.run_reading import RunReading
from enquete.reports.templates import render
from enquete.respondents.questions import NAMES
from enquete.simulations.digest import SOURCES
from enquete.state.asking import Language

SHOWN = 8
MOST_WORDS = 20  # of an entry that is shown
PHASE = "T1"
KINDS: Mapping[str, str] = {
    "P": N_("own post"), "R": N_("reaction"), "S": N_("shown to the agent"), "K": N_("on record"),
}  # fmt: skip
_LINE = re.compile(r"^- \[([A-Z]\d+)\] (.*)$", re.MULTILINE)
NOTED = """
SELECT o.methodology, o.session, o.round, o.turn, o.participant, a.item, a.notes
FROM answers a JOIN occasions o ON o.id = a.occasion WHERE o.arm = ? AND o.phase = ? AND a.notes LIKE ?
ORDER BY o.methodology, o.participant, o.round, o.turn, a.item
"""


@dataclass(frozen=True)
class Citation:
    """An answer that names an entry of its agent's memory. source: where that stands ("twitter post 12"); "" where there is
    no such entry. moved: None where the agent was not asked twice."""

    answer_id: str
    methodology: str
    participant: str
    agent_name: str
    mark: str
    source: str
    text: str
    moved: bool | None


def citations(reading: RunReading, frame: pd.DataFrame) -> list[Citation]:
    """Of the main arm after the simulation."""
    main = reading.record.main.id
    noted = list(reading.ledger.rows(NOTED, (main, PHASE, f'%"{NAMES}%')))
    if not noted:
        return []
    sources = reading.ledger.frozen("", "", PHASE, SOURCES)
    known: Mapping[str, Any] = sources if isinstance(sources, dict) else {}
    digests = reading.ledger.digests(PHASE)
    names = {who.id: who.name for who in reading.population}
    moved = movers(frame)
    found = []
    for method, session, round_, turn, who, item, notes in noted:
        parts = (reading.record.asked_by(method), main, method, PHASE, session, round_, turn, who, item)
        lines = dict(_LINE.findall(digests.get(who) or ""))
        for mark in marks(notes):
            found.append(
                Citation(
                    "/".join(map(str, parts)), method, who, names.get(who, ""), mark,
                    str((known.get(who) or {}).get(mark, "")) if mark in lines else "", lines.get(mark, ""), moved.get(who),
                )
            )  # fmt: skip
    return found


def marks(notes: str) -> list[str]:
    """Of an answer's notes as they are stored."""
    listed = [note.removeprefix(NAMES).split() for note in json.loads(notes) if note.startswith(NAMES)]
    return list(dict.fromkeys(mark for one in listed for mark in one))


def movers(frame: pd.DataFrame) -> dict[str, bool]:
    """Whether any closed answer of an agent changed, for those who answered one in both waves."""
    own = frame[frame["arm_role"].eq("main") & frame["value"].notna() & frame["round"].eq(0)]
    keys = ["methodology", "participant", "session", "turn", "item_id"]
    waves = own.drop_duplicates([*keys, "phase"], keep="last").pivot(index=keys, columns="phase", values="value")
    if not {"T0", "T1"} <= set(waves.columns):
        return {}
    both = waves.dropna(subset=["T0", "T1"])
    changed = both["T0"].ne(both["T1"]).groupby(level="participant").any()
    return {str(who): bool(any_) for who, any_ in changed.items()}


@dataclass(frozen=True)
class Entry:
    """An entry that was named, by how many agents, and how many of them moved."""

    source: str
    kind: str
    text: str
    agents: int
    movers: int


def entries(found: Sequence[Citation]) -> list[Entry]:
    """What movers named most first; a post that several saw is one."""
    grouped: dict[tuple[str, str], list[Citation]] = {}
    for one in found:
        if one.source:
            own = one.participant if one.source == "graph summary" else ""
            grouped.setdefault((one.source, own), []).append(one)
    every = [
        Entry(
            source, KINDS[group[0].mark[0]], max((one.text for one in group), key=len),
            len({one.participant for one in group}), len({one.participant for one in group if one.moved}),
        )
        for (source, _), group in grouped.items()
    ]  # fmt: skip
    return sorted(every, key=lambda one: (-one.movers, -one.agents, one.source))


def section(found: Sequence[Citation], frame: pd.DataFrame, language: Language) -> str:
    """For the appendix, Markdown; "" where nobody named anything."""
    if not found:
        return ""
    moved = {who for who, any_ in movers(frame).items() if any_}
    real = [one for one in found if one.source]
    shown = [replace(one, text=shortened(one.text, MOST_WORDS)) for one in entries(found)[:SHOWN]]
    return render(
        "enquete.reports:citations.md.j2", language, entries=shown, total=len(entries(found)),
        agents=len({one.participant for one in real}), answers=len({one.answer_id for one in real}),
        invalid=len(found) - len(real), movers=len(moved),
        naming=len({one.participant for one in real if one.participant in moved}),
    ).strip()  # fmt: skip


def rows(found: Sequence[Citation]) -> Iterator[dict[str, Any]]:
    """For exports/citations.jsonl."""
    for one in found:
        yield {**asdict(one), "exists": bool(one.source)}
