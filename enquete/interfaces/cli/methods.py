"""Instruments and methodologies of one's own: `enquete check`, `draft`, `new-method`, and methodologies' commands."""

from __future__ import annotations

import asyncio
import json
import keyword
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import enquete
from enquete.interfaces.cli import options as o
from enquete.interfaces.cli.options import facade_arguments
from enquete.interfaces.cli.store import run_objects
from enquete.interfaces.cli.terminal import answer, dollars, number, one_object, remark, result, say, table, tongue
from enquete.interfaces.parameters import with_parameters
from enquete.state.errors import SettingsError
from enquete.state.methodology import Operation
from enquete.state.request import DraftRequest

if TYPE_CHECKING:
    from enquete.study.drafts import Drafting
    from enquete.study.instruments import ItemHealth, Reviewed
    from enquete.study.run import Run

SUFFIX = ".j2"
END = "/end"


@with_parameters(
    o.options_for("model", "base_url", "respondent", "language", "types", "where", "seed", "budget_tokens")
)
def check(
    sim: Annotated[
        str | None, typer.Argument(metavar="[SIM]", help="As for run; may be left out with --instrument.")
    ] = None,
    instrument: Annotated[
        str | None,
        typer.Option("--instrument", metavar="[METHOD=]FILE", help="Read this instrument's items by the rules."),
    ] = None,
    pilot: Annotated[
        int | None,
        typer.Option(
            "--pilot", metavar="N", min=1, max=100, help="Try it on so many agents of SIM; costs are shown before."
        ),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before a pilot is paid.")] = False,
    root: o.Root = None,
    out: o.Out = None,
    as_json: o.Json = False,
    **typed: Any,
) -> int:
    """Say what a simulation or personas file holds, what is missing and what does not match. Creates and asks nothing.

    With --out also which runs are there. With --instrument an instrument instead: what is derived, and items that are
    double-barrelled, leading, negated, vague, too long, keyed one way, translated otherwise or said twice. --pilot asks
    a few agents, once more in another order of the items, and says which items nobody differs in, are not read, or
    depend on the order.

    \b
    Examples:
      enquete check sim_683e8059ab27 --root uploads
      enquete check personas.csv --out results
      enquete check --instrument my.yaml
      enquete check ./my_sim --instrument longitudinal=my.csv --pilot 8

    \b
    Exit codes: 0 can be interviewed · 2 not before the errors shown are put right, or no such simulation
    """
    if instrument is not None:
        request = facade_arguments({**typed, "root": root, "out": out})
        return check_instrument(sim, instrument, pilot, yes, as_json, request)
    if sim is None or pilot is not None:
        raise SettingsError("check: name a simulation or personas file, or an instrument with --instrument FILE")
    report = enquete.check(sim, root=root)
    runs = enquete.list_runs(sim, root=root, out=out) if out or report.kind == "simulation" else []
    facts = {**report.model_dump(mode="json"), "ok": report.ok, "runs": run_objects(runs)}
    named = f"{say('runs')}: {', '.join(run.run_id for run in runs) or say('no_runs')}"
    return answer(as_json, facts, [report.render(tongue()), *([named] if out or runs else [])], 0 if report.ok else 2)


def check_instrument(
    sim: str | None, given: str, pilot: int | None, yes: bool, as_json: bool, request: dict[str, Any]
) -> int:
    """An instrument read by the rules, and tried on a few agents. Exit code 0 whatever is found: it is advice."""
    from enquete.study.instruments import review_file  # noqa: PLC0415 - takes seconds to import

    name, equals, file = given.rpartition("=")
    about = review_file(file, name if equals else "")
    notes, findings = [note.told(tongue()) for note in about.notes], about.findings
    facts: dict[str, Any] = {"instrument": file, "methodology": about.methodology, "notes": notes}
    facts["findings"] = [
        {"rule": finding.rule, "where": finding.where, "language": finding.language, "text": finding.told(tongue())}
        for finding in findings
    ]
    if not as_json:
        lines = [say("reviewed", file=file, method=about.methodology), *(f"  {note}" for note in notes)]
        lines += [f"- {finding.told(tongue())}" for finding in findings]
        answer(False, {}, [*lines, say("review_found", n=len(findings)) if findings else say("review_ok")])
    items = run_pilot(sim, about, file, pilot, yes, as_json, request) if pilot else None
    return answer(as_json, facts if items is None else {**facts, "pilot": items}, [])


def run_pilot(
    sim: str | None, about: Reviewed, file: str, agents: int, yes: bool, as_json: bool, request: dict[str, Any]
) -> dict[str, Any] | None:
    """Item health, after its cost was shown and agreed to."""
    from enquete.interfaces.cli.run_commands import estimate_lines  # noqa: PLC0415 - for a pilot alone
    from enquete.study.instruments import item_health, pilot_request  # noqa: PLC0415

    if sim is None:
        raise SettingsError(
            "--pilot: name whose agents are to be asked, such as: enquete check SIM --instrument FILE --pilot 8"
        )
    asked = pilot_request(about, file, agents, **request)
    asked["out"] = request.get("out") or tempfile.mkdtemp(prefix="enquete-pilot-")
    expected = enquete.estimate(sim, **asked)
    if not as_json:
        answer(False, {}, ["", *estimate_lines(expected)])
    if expected.respondent == "llm" and not yes:
        if not (sys.stdin.isatty() and sys.stderr.isatty()):
            raise SettingsError("--pilot: a model would be paid as estimated; add --yes to agree")
        if not typer.confirm(say("pilot_confirm"), default=not expected.exceeds, err=True):
            remark(say("declined"))
            return None
    run = enquete.conduct_interviews(sim, **asked, confirm=True)
    items = item_health(run)
    if not as_json:
        answer(False, {}, pilot_lines(run, items))
    health = [{**vars(item), "troubles": list(item.troubles)} for item in items]
    return {"run_id": run.run_id, "path": str(run.folder), "items": health}


def pilot_lines(run: Run, items: list[ItemHealth]) -> list[str]:
    words = [say(f"pilot_{key}") for key in ("item", "answers", "values", "apart", "told")]
    rows = [
        [
            item.item, f"{item.answered}/{item.asked}", str(item.values), "" if item.sd is None else f"{item.sd:.2f}",
            "" if item.apart is None else f"{item.apart:.2f}",
            ", ".join(say(f"pilot_{trouble}") for trouble in item.troubles),
        ]
        for item in items
    ]  # fmt: skip
    synthetic = [say("synthetic")] if run.record.main.respondent == "synthetic" else []
    return ["", *synthetic, *table([*words[:3], "SD", *words[3:]], rows), say("pilot_kept", path=run.folder)]


@with_parameters(
    {**o.options_for(*DraftRequest.model_fields, model=DraftRequest),
     **o.options_for("model", "base_url", "budget_tokens")}
)  # fmt: skip
def draft(
    sim: Annotated[str | None, typer.Argument(metavar="[SIM]", help="A simulation, or a personas file.")] = None,
    root: o.Root = None,
    accept: Annotated[
        Path | None, typer.Option("--accept", metavar="DIR", help="Take the drafts there as they are.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before the model is paid.")] = False,
    as_json: o.Json = False,
    **typed: Any,
) -> int:
    """Draft instruments from a simulation's own discourse or from personas, by rule or with a model.

    Themes that several agents speak of become families, questions and axes; sentences that agents wrote become
    statements of a Q-sort, chosen so that themes and speakers are covered (concourse.csv has all of them, and why the
    others were left out). Every item says where it is from. Drafts are drafts: read them, edit them, try them with
    `enquete check SIM --instrument FILE --pilot 8`.

    Where nobody has written anything yet, themes and statements come from how the agents are described, and the draft
    says so. --topic and --theme name your own; "German = English" gives both languages without a model.

    With --model a model names the themes, chooses the statements and writes the items, in German and English. What it
    writes is checked by the same rules, its sources are looked up, and its German and English are compared by
    translating back; what cannot be used is asked for once more and then dropped and named. Its likely cost is said
    first.

    \b
    Examples:
      enquete draft ./my_sim
      enquete draft ./my_sim --model gpt-5-mini --into drafts
      enquete draft personas.csv --topic "Nahverkehr = local transport" --theme "Fahrpreise = fares" …
      enquete run ./my_sim --instrument longitudinal=drafts-my_sim/longitudinal.yaml
      enquete draft --accept drafts-my_sim

    \b
    Exit codes: 0 written or accepted · 2 no such simulation, too little was said, or a folder that holds drafts
    """
    from enquete.study.drafts import Drafting, accept_drafts  # noqa: PLC0415 - takes seconds to import

    if accept is not None:
        names = accept_drafts(accept)
        return answer(as_json, {"accepted": names}, [say("accepted", names=", ".join(names))])
    if sim is None:
        raise SettingsError("draft: name a simulation or a personas file, or a folder of drafts with --accept DIR")
    about = {name: value for name in DraftRequest.model_fields if (value := typed.pop(name)) is not None}
    drafting = Drafting(sim, root=root, **about, **facade_arguments(typed))
    if drafting.model and not _is_agreed(drafting, yes):
        remark(say("declined"))
        return 0
    made = drafting.make()
    lines = [say("drafted", folder=made.folder, themes=", ".join(made.themes))]
    lines += [f"  {file.name}" for file in made.files]
    lines += [f"- {name}: {text.get(tongue(), text['en'])}" for name, texts in made.findings.items() for text in texts]
    lines += [say("draft_spent", tokens=number(made.tokens))] if made.tokens else []
    facts = {
        "files": [str(file) for file in made.files], "findings": made.findings, "themes": made.themes,
        "tokens": made.tokens,
    }  # fmt: skip
    return answer(as_json, facts, [*lines, say("draft_next", folder=made.folder)])


def _is_agreed(drafting: Drafting, yes: bool) -> bool:
    """After the likely cost was said. Raises SettingsError where nobody can be asked and nobody agreed."""
    expected = drafting.expected()
    usd = say("unknown") if expected.usd is None else dollars(expected.usd)
    amounts = {"requests": number(expected.requests), "tokens": number(expected.tokens)}
    remark(say("draft_cost", model=drafting.model, usd=usd, **amounts))
    if yes:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SettingsError("draft: a model would be paid as said; add --yes to agree")
    return typer.confirm(say("draft_confirm"), default=True, err=True)


def new_method(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Small letters, digits and _, such as paired_comparison.")
    ],
    into: Annotated[
        Path, typer.Option("--into", metavar="DIR", help="Folder that the package's folder is made in.")
    ] = Path(),
) -> int:
    """Lay out a methodology of your own: a package with its test.

    It is found by every command once it is installed (pip install -e FOLDER). It asks three questions in one round;
    docs/adding-a-methodology.md says what else a methodology can declare.

    \b
    Examples:
      enquete new-method paired_comparison
      enquete new-method triads --into ~/methods

    \b
    Exit codes: 0 laid out · 2 a name that cannot be used, or a folder that exists
    """
    from jinja2 import Environment, StrictUndefined  # noqa: PLC0415

    from enquete.methods.registry import methodologies  # noqa: PLC0415 - loads every methodology

    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise SettingsError(f"{name!r} cannot name a methodology: small letters, digits and _, beginning with a letter")
    if name in methodologies():
        raise SettingsError(f"there is a methodology {name!r} already; choose another name")
    folder = into.expanduser() / f"enquete-{name.replace('_', '-')}"
    if folder.exists():
        raise SettingsError(f"{folder} exists already; name another folder with --into DIR")
    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    title = name.replace("_", " ").capitalize()
    for path, source in _templates(files("enquete.interfaces.cli") / "method_template", Path()):
        file = folder / (Path(f"enquete_{name}", *path.parts[1:]) if path.parts[0] == "package" else path)
        file.parent.mkdir(parents=True, exist_ok=True)
        text = environment.from_string(source).render(name=name, title=title, camel=title.title().replace(" ", ""))
        file.write_text(text, encoding="utf-8")
    result(say("laid_out", folder=folder))
    return 0


def _templates(folder: Traversable, at: Path) -> Iterator[tuple[Path, str]]:
    for entry in sorted(folder.iterdir(), key=lambda entry: entry.name):
        if entry.is_dir():
            yield from _templates(entry, at / entry.name)
        elif entry.name.endswith(SUFFIX):
            yield at / entry.name.removesuffix(SUFFIX), entry.read_text(encoding="utf-8")


def method_command(name: str) -> Any:
    """The command that a methodology brings along (`Methodology.offers`): its operations. None for another name."""
    from enquete.methods.registry import methodologies  # noqa: PLC0415

    offers = (method.offers for method in methodologies().values())
    offer = next((offer for offer in offers if offer and offer.command == name), None)
    if offer is None:
        return None
    operations: dict[str, Operation] = {operation.name: operation for operation in offer.operations()}
    lines = [f"  {key} {' '.join(_arguments(op))}\n      {op.meaning}" for key, op in operations.items()]
    about = "Carry out one of these, with ARGUMENT=VALUE each; values may be JSON.\n\n\b\n" + "\n".join(lines)

    def carry_out(
        operation: Annotated[str, typer.Argument(help="which, as listed above", metavar="OPERATION")],
        arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT=VALUE...")] = None,
        root: Annotated[str | None, typer.Option(help="folder that holds simulations/; projects lie beside it")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="one JSON object")] = False,
        converse: Annotated[
            bool, typer.Option(help="stay while a person is asked: show each question, read the answer, a line each")
        ] = False,
    ) -> int:
        from enquete.state.settings import root_of  # noqa: PLC0415
        from enquete.study.method_operations import operate  # noqa: PLC0415
        from enquete.study.run import EXIT_CODES  # noqa: PLC0415

        operation = next((key for key, known in operations.items() if operation in known.aliases), operation)
        if operation not in operations:
            raise SettingsError(f"no operation {operation!r}; there are {', '.join(operations)}")
        typed = dict(_read_arguments(arguments or []))
        outcome = asyncio.run(operate(operation, typed, root_of(root)))
        if converse:
            outcome = _conversed(operations, operation, typed, outcome, root_of(root))
        if as_json:
            one_object(dict(outcome))
        else:
            result(json.dumps(outcome, ensure_ascii=False, indent=2))
        return EXIT_CODES.get(str(outcome.get("status")), 0)

    app = typer.Typer(rich_markup_mode=None)
    app.command(name, help=about)(carry_out)
    return typer.main.get_command(app)


def _conversed(
    operations: Mapping[str, Operation], operation: str, typed: dict[str, Any], outcome: dict[str, Any], root: Path
) -> dict[str, Any]:
    """Its outcome once no question waits, the person has ended it, or the input ends; blank lines answer nothing."""
    from enquete.study.method_operations import operate  # noqa: PLC0415

    reply, end = (operations.get(name) for name in (operations[operation].answered_by, operations[operation].ended_by))
    if reply is None:
        raise SettingsError(f"--converse: {operation} waits for nobody's answer")
    remark(say("converse_end", end=END) if end else say("converse"))
    while outcome.get("status") == "waiting" and (question := outcome.get("question")):
        remark(f"\n{question}")
        line = next((line.strip() for line in iter(sys.stdin.readline, "") if line.strip()), "")
        if not line:
            break
        does = end if end and line == END else reply
        given = {name: value for name, value in {**typed, "answer": line}.items() if name in does.takes.model_fields}
        outcome = asyncio.run(operate(does.name, given, root))
    return outcome


def _arguments(operation: Operation) -> Iterator[str]:
    for name, info in operation.takes.model_fields.items():
        yield name if info.is_required() else f"[{name}]"


def _read_arguments(arguments: list[str]) -> Iterator[tuple[str, Any]]:
    """`budget=3`, `answer=Yes.`, `respondent={"kind": …}`: JSON if an object, a list or a truth value, else text."""
    for argument in arguments:
        name, sign, value = argument.partition("=")
        if not sign:
            raise SettingsError(f"{argument!r}: write ARGUMENT=VALUE")
        try:
            read = json.loads(value)
        except ValueError:
            read = value
        yield name, read if isinstance(read, dict | list | bool) else value
