"""`enquete demo`: a bundled population, visibly through T0, the pause and T1, without a key."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import enquete
from enquete.instruments.pack import pack_named
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli import summary
from enquete.interfaces.cli.driving import driven_to_its_stop, show
from enquete.interfaces.cli.output import remark
from enquete.interfaces.cli.place import Place
from enquete.interfaces.cli.words import say, tongue
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    from enquete.study.run import Run

MARKER = ".enquete-demo"


def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder to work in; must be new, empty or an earlier demo.")
    ] = ("demo-out"),
    language: Annotated[str, typer.Option(metavar="de|en", help="Language of the interviews.")] = "de",
    pack: Annotated[str | None, o.declared("pack")] = None,
    seed: Annotated[str, typer.Option(metavar="N", help="Of the synthetic respondent.")] = "0",
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:
    """Interview a bundled population, before and after its simulation, without a key. Takes seconds.

    Lays out the invented stakeholders of a pack as a simulation that has just started, takes T0, stops, completes the
    simulation, resumes, and shows where the report is. Run again, it starts over.

    \b
    Examples:
      enquete demo
      enquete demo --pack high_street --out /tmp/demo --language en

    \b
    Exit codes: as of `enquete run`; 2 if DIR holds anything that is no demo
    """
    root = prepared(Path(out).expanduser())
    narrate = _narrator(as_json)
    chosen = pack_named(pack or "")
    narrate("demo_start", topic=chosen.topic[tongue()], language=say(f"language_{'en' if language == 'en' else 'de'}"))
    folder = simulate(root, chosen.name, completed=False)
    narrate("demo_copied", path=folder, **counts(folder))
    narrate("demo_t0")
    place = Place(folder.name, out)
    taken = driven_to_its_stop(lambda report: first_wave(place, language, seed, chosen.name, report), place, quiet)
    if taken.status != "awaiting_simulation":
        return show(taken, place, as_json, summary.exit_code(taken))
    narrate("demo_paused", token=taken.resume_token)
    narrate("demo_completed", **counts(simulate(root, chosen.name, completed=True)))
    narrate("demo_t1", methods=once_asked(taken))
    ended = driven_to_its_stop(lambda report: second_wave(out, str(taken.resume_token), report), place, quiet)
    ended.resumed = False  # the demo itself resumed it and has said so
    narrate("demo_end")
    return show(ended, place, as_json, summary.exit_code(ended))


def _narrator(as_json: bool) -> Callable[..., None]:
    def narrate(key: str, **values: Any) -> None:
        if not as_json:
            remark(say(key, **values))

    return narrate


def first_wave(
    place: Place, language: str, seed: str, pack: str, report: Callable[[dict[str, Any]], None] | None
) -> Run:
    asked: dict[str, Any] = {"language": language, "seed": seed, "pack": pack}  # text as it was typed
    return enquete.conduct_interviews(
        place.sim, root=place.root, respondent="synthetic", fit="any", progress=report, **asked
    )


def second_wave(root: str, token: str, report: Callable[[dict[str, Any]], None] | None) -> Run:
    return enquete.resume(token, root=root, progress=report)


def simulate(root: Path, pack: str, *, completed: bool) -> Path:
    from enquete.demo import demo_population  # noqa: PLC0415 - for the demo alone

    return demo_population(root, completed=completed, pack=pack)


def counts(folder: Path) -> dict[str, int]:
    population = enquete.load_population(folder)
    return {"agents": len(population.participants), "actions": population.actions}


def once_asked(run: Run) -> str:
    """Titles of the methodologies that have no T0, in the terminal's language."""
    waves = {stage.methodology for stage in run.stages if stage.phase == "T0"}
    titles = enquete.list_instruments()
    return ", ".join(titles[stage.methodology][tongue()] for stage in run.stages if stage.methodology not in waves)


def prepared(out: Path) -> Path:
    """`out` as a folder for the demo, without any earlier run. Only a demo's own folder is emptied."""
    if out.exists() and not out.is_dir():
        raise SettingsError(f"--out {str(out)!r} is a file; name a folder")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARKER).is_file():
            raise SettingsError(f"--out {str(out)!r} is not empty and no earlier demo; name another folder with --out")
        shutil.rmtree(out / "simulations", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text("`enquete demo` made this folder and will overwrite it.\n", "utf-8")
    return out
