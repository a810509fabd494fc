"""Instruments drafted from a simulation's own discourse: what is handed to the methodologies, and the files that they make of it.

A draft says of every item where it is from (a comment above it), and is known as a draft by its bytes: `drafts.json` beside the files
holds their hashes. An edit, or `accept`, makes an instrument of it.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.folders import write_atomically
from enquete.nodes.marks import MARKS, digest
from enquete.nodes.planning import load_methodology, loaded
from enquete.simulations.discourse import Statement, Theme, posts, spoken, statements, themes
from enquete.simulations.population import Population
from enquete.state.asking import Spoken
from enquete.state.errors import SettingsError
from enquete.state.showing import as_cell

CONCOURSE = "concourse.csv"
FEWEST_THEMES = 2


@dataclass(frozen=True)
class Material:
    """What a simulation talked about. language: of its posts; folder: where the drafts will lie."""

    topic: str
    sim_id: str
    language: Spoken
    themes: tuple[Theme, ...]
    statements: tuple[Statement, ...]
    folder: Path

    @property
    def chosen(self) -> list[Statement]:
        return [one for one in self.statements if not one.left_out]


Drafting = Callable[[Material], Mapping[str, str]]
"""A methodology's own, its slot `drafts`: file name → YAML."""


def material_of(population: Population, folder: Path) -> Material:
    """Raises SettingsError where too little was said for a draft."""
    written = posts(population)
    found = themes(written)
    if len(found) < FEWEST_THEMES:
        raise SettingsError(
            f"{population.sim_id}: {len(written)} posts of its agents hold {len(found)} themes that several of them speak of; a draft "
            f"needs {FEWEST_THEMES}. Write instruments of your own (docs/own-instruments.md)"
        )
    language = spoken(written) or "en"
    topic = (population.topic.partition(". ")[0] or population.sim_id).strip().rstrip(".")
    return Material(topic, population.sim_id, language, tuple(found), tuple(statements(written, language)), folder)


def drafted(material: Material, methods: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Files by methodology, of those that can draft."""
    made = {}
    for name, dotted in methods.items():
        slot = load_methodology(dotted).drafts
        if slot:
            draft: Drafting = loaded(slot)
            made[name] = dict(draft(material))
    return made


def write(material: Material, files: Mapping[str, Mapping[str, str]]) -> list[Path]:
    """The files, the concourse, and the marks. Raises SettingsError rather than writing over a file that is there."""
    texts = {name: text for own in files.values() for name, text in own.items()} | {CONCOURSE: concourse(material)}
    there = [name for name in texts if (material.folder / name).exists()]
    if there:
        raise SettingsError(
            f"{material.folder}: {', '.join(there)} is there already; name another folder with --into DIR"
        )
    material.folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        write_atomically(material.folder / name, text)
    marks = {name: digest(text.encode()) for name, text in texts.items() if name.endswith(".yaml")}
    write_atomically(material.folder / MARKS, json.dumps(marks, indent=2) + "\n")
    return [material.folder / name for name in texts]


def concourse(material: Material) -> str:
    """Every sentence, with its source and what became of it."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["statement", "chosen", "left_out", "theme", "agent", "stakeholder_type", "stance", "source"])
    for one in material.statements:
        about = one.post
        chosen = "" if one.left_out else "yes"
        who = (as_cell(text) for text in (about.name, about.kind, about.stance, about.source))
        table.writerow([as_cell(one.text), chosen, one.left_out, one.cluster + 1, *who])
    return out.getvalue()


def quoted(text: str) -> str:
    """A text as YAML takes it whatever is in it."""
    return json.dumps(text, ensure_ascii=False)


def head(material: Material, kind: str, german: str, english: str) -> str:
    """The beginning of a drafted file."""
    topic = quoted(material.topic)
    title = f"{{de: {quoted(f'{german}: {material.topic}')}, en: {quoted(f'{english}: {material.topic}')}}}"
    return (
        f"# DRAFT, by rule from what the agents of {material.sim_id} wrote. Above every item stands where it is from.\n"
        "# Read it, change it, then run it; `enquete draft --accept FOLDER` takes it as it is.\n\n"
        f'instrument_id: draft-{kind}\nversion: "draft"\ntitle: {title}\ntopic: {{de: {topic}, en: {topic}}}\n'
        "language_default: de\nlanguages: [de, en]\n\n"
    )
