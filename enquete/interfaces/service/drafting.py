"""Instruments drafted on a server from what a simulation's agents wrote: who asks gets the names by which a study asks them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from enquete.graphs.registry import methodologies
from enquete.state.errors import InstrumentError
from enquete.study.drafts import draft_on_server, drafts_folder
from enquete.study.reviewing import reviewed
from enquete.study.sandbox import PathSandbox


class DraftedFile(BaseModel):
    """A draft. Nobody has read it yet."""

    name: Annotated[str, Field(description="for `instruments`, or where a setting names a file")]
    methodology: Annotated[str, Field(description="whose instrument it is; empty for a file that its settings name")]
    findings: Annotated[list[str], Field(description="what the rules for good items say of it")]
    text: Annotated[str, Field(description="YAML; above every item stands where it is from")]


class DraftsData(BaseModel):
    """What was drafted, by rule and without a model."""

    sim_id: str
    folder: Annotated[str, Field(description="in the server's own folder")]
    themes: Annotated[list[str], Field(description="what several agents wrote about, the most frequent first")]
    files: list[DraftedFile]


def drafted(sandbox: PathSandbox, sim_id: str, into: str = "") -> DraftsData:
    """Raises what `draft_on_server` does."""
    made = draft_on_server(sandbox, sim_id, into)
    return DraftsData(sim_id=sim_id, folder=made.folder.name, themes=made.themes, files=files_in(made.folder))


def drafts_there(sandbox: PathSandbox, sim_id: str, language: str = "en") -> list[DraftedFile]:
    """As they are now, in the folder that is theirs unless another was named; [] where nobody drafted. Raises OutsideRoot."""
    folder = Path(sandbox.given["shelf"], drafts_folder(sim_id))
    sandbox.require_inside(folder)
    return files_in(folder, language)


def files_in(folder: Path, language: str = "en") -> list[DraftedFile]:
    """Instruments in the order of methodologies, then what settings name. language: of the findings."""
    order = [*methodologies()]
    found = sorted(
        folder.glob("*.yaml"), key=lambda file: (order.index(file.stem) if file.stem in order else len(order), file)
    )
    return [
        DraftedFile(
            name=f"{folder.name}/{file.stem}",
            methodology=file.stem if file.stem in methodologies() else "",
            findings=_findings(file, language),
            text=file.read_text("utf-8-sig"),
        )
        for file in found
        if file.is_file()
    ]


def _findings(file: Path, language: str) -> list[str]:
    """What the rules say; of an edited file that cannot be read any more, why."""
    if file.stem not in methodologies():
        return []
    try:
        return [one.told(language) for one in reviewed(str(file), file.stem).findings]
    except InstrumentError as error:
        return [problem.replace(str(file), file.name) for problem in error.problems]
