"""`enquete demo`: a bundled population, visibly through T0, the pause and T1, without a key."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from enquete.interfaces import options as o
from enquete.interfaces import summary
from enquete.interfaces.output import remark
from enquete.interfaces.place import Place
from enquete.interfaces.running import driven_to_its_stop, show
from enquete.interfaces.words import say
from enquete.state.errors import SettingsError

if TYPE_CHECKING:
    from enquete.study import Run

SIM_ID = "sim_0b57f15c4e12"
MARKER = ".enquete-demo"
FIRST_ROUNDS = 2
PLATFORMS = ("twitter", "reddit")


def demo(
    out: Annotated[
        str, typer.Option(metavar="DIR", help="Folder to work in; must be new, empty or an earlier demo.")
    ] = ("demo-out"),
    language: Annotated[str, typer.Option(metavar="de|en", help="Language of the interviews.")] = "de",
    seed: Annotated[str, typer.Option(metavar="N", help="Of the synthetic respondent.")] = "0",
    as_json: o.Json = False,
    quiet: o.Quiet = False,
) -> int:
    """Interview a bundled population, before and after its simulation, without a key. Takes seconds.

    Lays out twelve invented stakeholders of the German Baltic fishery as a simulation that is still running, takes T0,
    stops, completes the simulation, resumes, and shows where the report is. Run again, it starts over.

    \b
    Examples:
      enquete demo
      enquete demo --out /tmp/demo --language en

    \b
    Exit codes: as of `enquete run`; 2 if DIR holds anything that is no demo
    """
    folder = lay_out(Path(out).expanduser())
    say_ = _narrator(as_json)
    say_("demo_start", language=say(f"language_{'en' if language == 'en' else 'de'}"))
    say_("demo_copied", path=folder, actions=run_until(folder, FIRST_ROUNDS))
    say_("demo_t0")
    place = Place(SIM_ID, out)
    taken = driven_to_its_stop(lambda report: first_wave(out, language, seed, report), place, quiet)
    if taken.status != "awaiting_simulation":
        return show(taken, place, as_json, summary.exit_code(taken))
    say_("demo_paused", token=taken.resume_token)
    say_("demo_completed", actions=run_until(folder, None))
    say_("demo_t1")
    ended = driven_to_its_stop(lambda report: second_wave(out, str(taken.resume_token), report), place, quiet)
    ended.resumed = False  # the demo itself resumed it and has said so
    say_("demo_end")
    return show(ended, place, as_json, summary.exit_code(ended))


def _narrator(as_json: bool) -> Callable[..., None]:
    def narrate(key: str, **values: Any) -> None:
        if not as_json:
            remark(say(key, **values))

    return narrate


def first_wave(root: str, language: str, seed: str, report: Callable[[dict[str, Any]], None] | None) -> Run:
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    return study.conduct_interviews(
        SIM_ID, root=root, language=language, seed=seed, respondent="synthetic", progress=report
    )


def second_wave(root: str, token: str, report: Callable[[dict[str, Any]], None] | None) -> Run:
    from enquete import study  # noqa: PLC0415 - takes seconds to import

    return study.resume(token, root=root, progress=report)


def lay_out(out: Path) -> Path:
    """The simulation's folder under `out`, without any earlier run. Only a demo's own folder is emptied."""
    if out.exists() and not out.is_dir():
        raise SettingsError(f"--out {str(out)!r} is a file; name a folder")
    if out.is_dir() and any(out.iterdir()):
        if not (out / MARKER).is_file():
            raise SettingsError(f"--out {str(out)!r} is not empty and no earlier demo; name another folder with --out")
        shutil.rmtree(out / "simulations", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / MARKER).write_text("`enquete demo` made this folder and will overwrite it.\n", "utf-8")
    folder = out / "simulations" / SIM_ID
    with resources.as_file(resources.files("enquete") / "demo" / SIM_ID) as bundled:
        shutil.copytree(bundled, folder)
    return folder


def run_until(folder: Path, last_round: int | None) -> int:
    """The simulation as it stood after that round, or as it ended (None). Returns the number of actions so far."""
    bundled = resources.files("enquete") / "demo" / SIM_ID
    actions = 0
    for platform in PLATFORMS:
        lines = (bundled / platform / "actions.jsonl").read_text("utf-8").splitlines()
        kept = [line for line in lines if last_round is None or happened(json.loads(line), last_round)]
        actions += sum("action_type" in json.loads(line) for line in kept)
        (folder / platform / "actions.jsonl").write_text("\n".join(kept) + "\n", "utf-8")
    state = json.loads((bundled / "run_state.json").read_text("utf-8"))
    if last_round is not None:
        state = unfinished(state, last_round, actions)
    (folder / "run_state.json").write_text(json.dumps(state, indent=2) + "\n", "utf-8")
    return actions


def happened(line: dict[str, Any], last_round: int) -> bool:
    if line.get("event_type") == "simulation_end":
        return False
    return int(line.get("round", 0)) <= last_round


def unfinished(state: dict[str, Any], last_round: int, actions: int) -> dict[str, Any]:
    return {
        **state,
        "runner_status": "running",
        "current_round": last_round,
        "progress_percent": round(100 * last_round / int(state["total_rounds"]), 1),
        "total_actions_count": actions,
        "completed_at": None,
        **{f"{platform}_{field}": value for platform in PLATFORMS for field, value in RUNNING.items()},
    }


RUNNING = {"running": True, "completed": False, "current_round": FIRST_ROUNDS}
