"""Episodes as a run writes them."""

from __future__ import annotations

from pathlib import Path

from enquete.memory.recall import MemoryRecord


def write_episodes(interviews: Path, *records: MemoryRecord, run: str = "r", complete: bool = True) -> None:
    file = interviews / "synthesis" / run / "exports" / "episodes.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    lines = [record.model_copy(update={"complete": complete}).model_dump_json() for record in records]
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
