"""Questions that clients of a server write: saved in its own folder after they were checked, and drafted by a model.

A draft's folder is named after what was asked for (simulation, topic, themes, model), so that asking again gives the
same draft, and two drafts at once do not collide.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from enquete.instruments.instrument import Instrument
from enquete.instruments.load import shipped_file
from enquete.instruments.polls import Entry, QuestionsInstrument
from enquete.instruments.text import LANGUAGES, texts_of
from enquete.ledger.drives import alone
from enquete.ledger.folders import write_atomically
from enquete.methods.registry import methodologies
from enquete.runs.own_files import ENDINGS
from enquete.state.errors import InstrumentError, SettingsError
from enquete.state.settings import Environment, is_local
from enquete.study.background import run_in_thread
from enquete.study.drafts import DraftedFile, Drafting, drafts_in
from enquete.study.instruments import review_file
from enquete.study.tasks import PathSandbox

MAX_FILE_CHARS = 200_000
"""Of a file of questions: ten times the longest that ships."""
MAX_FOLDER_CHARS = 60
LOCK = "drafting.lock"


def poll_methodology() -> str:
    """Return the methodology that asks a plain list of questions."""
    for name, methodology in methodologies().items():
        if issubclass(methodology.instrument, QuestionsInstrument):
            return name
    raise SettingsError("questions: no methodology that asks a list of questions is installed")


@dataclass(frozen=True)
class SavedFile:
    """A file of questions as it was read back.

    Attributes:
        name: Under which `instruments` names it.
        methodology: That asks with it.
        content: The instrument.
        findings: What the rules for good questions object to.
        notes: How something that was left out was read.
        is_new: Whether it was written now; it was there already with the same content otherwise.
    """

    name: str
    methodology: str
    content: Any
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    is_new: bool

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages in which every text stands."""
        texts = [text for _, text in texts_of(self.content)]
        return tuple(language for language in LANGUAGES if all(text.has(language) for text in texts))

    @property
    def items(self) -> int:
        return len(list(self.content.wordings())) if isinstance(self.content, Instrument) else 0


def save_questions(
    sandbox: PathSandbox,
    name: str,
    content: str | Mapping[str, Any],
    methodology: str = "",
    *,
    replace: bool = False,
    language: str = "en",
) -> SavedFile:
    """Check questions as a run would, and write them into the server's own folder.

    Args:
        sandbox: the server's root.
        name: of the new file, without an ending.
        content: a whole instrument as YAML or as a mapping.
        methodology: that is to ask with it; where the content leaves no doubt, it need not be named.
        replace: whether other questions of that name may be overwritten.
        language: of the findings.

    Raises:
        InstrumentError: with every problem of the questions.
        SettingsError: other questions have that name, there is no such methodology, or the text is too long.
    """
    text = content if isinstance(content, str) else yaml.safe_dump(dict(content), allow_unicode=True, sort_keys=False)
    if len(text) > MAX_FILE_CHARS:
        raise SettingsError(f"questions: {len(text):,} characters are more than {MAX_FILE_CHARS:,}")
    reviewed = _review_text(text, name, methodology)

    folder = Path(sandbox.given["own_folder"])
    sandbox.require_inside(folder)
    file = folder / f"{name}.yaml"
    others = [other for ending in ENDINGS if (other := folder / f"{name}{ending}").exists()]
    is_same = others == [file] and file.read_text("utf-8-sig") == text
    if others and not is_same and not replace:
        raise SettingsError(
            f"name: {name!r} is the name of other questions on this server already; choose another name, or say "
            "replace=true"
        )
    if not is_same:
        write_atomically(file, text)
        for other in others:
            if other != file:
                other.unlink()

    findings = tuple(finding.told(language) for finding in reviewed.findings)
    notes = tuple(note.told(language) for note in reviewed.notes)
    return SavedFile(name, reviewed.methodology, reviewed.instrument, findings, notes, not is_same)


def _review_text(text: str, name: str, methodology: str) -> Any:
    """Read a text as the file that it is going to be. Raises InstrumentError, which names the file and no folder."""
    with tempfile.TemporaryDirectory(prefix="enquete-") as folder:
        file = Path(folder, f"{name}.yaml")
        file.write_text(text, "utf-8")
        try:
            return review_file(str(file), methodology)
        except InstrumentError as error:
            raise InstrumentError([problem.replace(str(file), file.name) for problem in error.problems]) from None


@dataclass(frozen=True)
class WantedDraft:
    """What a client wants to have drafted.

    Attributes:
        sim_id: The simulation whose discourse the questions are made of.
        topic: What they are about; the simulation's own topic where it is empty.
        themes: Themes in place of those found.
    """

    sim_id: str
    topic: str = ""
    themes: tuple[str, ...] = ()

    def folder(self, sandbox: PathSandbox, model: str) -> Path:
        """Return the folder of this draft: the same for the same wishes, another one for others."""
        wishes = json.dumps([self.sim_id, self.topic.strip(), self.themes, model], ensure_ascii=False)
        mark = hashlib.sha256(wishes.encode()).hexdigest()[:8]
        plain = re.sub(r"[^A-Za-z0-9_-]", "-", self.sim_id)[:MAX_FOLDER_CHARS]
        return Path(sandbox.given["own_folder"], f"draft-{plain}-{mark}")


@dataclass(frozen=True)
class MadeDraft:
    """A draft that is there."""

    files: tuple[DraftedFile, ...]
    topic: str
    themes: tuple[str, ...]


def drafting_model() -> str:
    """Return the model that drafts; empty where none is set up on this machine."""
    environment = Environment.read()
    model = environment.model or ""
    is_reachable = bool(environment.api_key or environment.base_url) or is_local(model)
    return model if is_reachable else ""


async def draft_questions(
    sandbox: PathSandbox, wanted: WantedDraft, model: str, *, budget_tokens: int | None = None
) -> MadeDraft:
    """Return the draft that a model writes, or has written before for the same wishes.

    Args:
        sandbox: the server's root.
        wanted: what is to be drafted.
        model: that writes it.
        budget_tokens: the most that it may cost.

    Raises:
        SimulationNotFound, OutsideRoot: there is no such simulation here.
        SettingsError: too little was said for a draft, or the model cannot be asked.
    """
    simulation = await run_in_thread(lambda: sandbox.simulation(wanted.sim_id))
    folder = wanted.folder(sandbox, model)
    sandbox.require_inside(folder)
    async with alone(folder / LOCK, longest_s=3600):
        if not _is_made(folder):
            root = sandbox.given["root"]

            def make() -> None:
                for file in (*folder.glob("*.yaml"), *folder.glob("*.csv")):
                    file.unlink()  # of a draft that was broken off while it was written
                drafting = Drafting(
                    simulation, root=root, into=folder, topic=wanted.topic, themes=wanted.themes, model=model,
                    budget_tokens=budget_tokens,
                )  # fmt: skip
                made = drafting.make()
                _write_contents(folder, made.themes)

            await run_in_thread(make, within_s=None)
        return await run_in_thread(lambda: _read_draft(folder))


CONTENTS = "contents.json"
"""Beside the files of a draft: written last, so that a draft that was broken off is made anew."""


def _is_made(folder: Path) -> bool:
    return (folder / CONTENTS).is_file()


def _write_contents(folder: Path, themes: Sequence[str]) -> None:
    write_atomically(folder / CONTENTS, json.dumps({"themes": list(themes)}, ensure_ascii=False) + "\n")


def _read_draft(folder: Path) -> MadeDraft:
    contents = json.loads((folder / CONTENTS).read_text("utf-8"))
    files = tuple(drafts_in(folder, "en"))
    topic = ""
    for file in files:
        document: Entry = yaml.safe_load(file.text) or {}
        if file.methodology and not topic:
            topic = _first_text(document.get("topic"))
    return MadeDraft(files, topic, tuple(str(theme) for theme in contents["themes"]))


def _first_text(given: object) -> str:
    if isinstance(given, Mapping):
        return str(given.get("en") or next(iter(given.values()), ""))
    return str(given or "")


def questions_in(file: Path, methodology: str, most: int = 3) -> list[str]:
    """Return the first questions of a file, in English where it has them; none where it cannot be read any more."""
    try:
        reviewed = review_file(str(file), methodology)
    except InstrumentError:
        return []
    if not isinstance(reviewed.instrument, Instrument):
        return []
    wordings = list(reviewed.instrument.wordings())[:most]
    return [wording.text.in_("en") for wording in wordings]


def shipped_templates() -> list[str]:
    """Return the methodologies whose shipped instrument can be taken as a template."""
    return [name for name, method in methodologies().items() if shipped_file(method.instrument, name) is not None]
