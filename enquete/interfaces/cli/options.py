"""Options of the commands."""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

import typer

from enquete.instruments.pack import pack_named, packs

Sim: TypeAlias = Annotated[
    str, typer.Argument(metavar="SIM", help="sim_id under --root, or the path of a simulation folder or personas file.")
]
Root: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="Folder that holds simulations/{sim_id} (else ENQUETE_ROOT, else here)."),
]
Out: TypeAlias = Annotated[
    str | None, typer.Option(metavar="DIR", help="Results go here instead of the simulation's own interviews/ folder.")
]
Json: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print exactly one JSON object on stdout, for errors too, and nothing else.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress on stderr.")]
Methods: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Methodologies, in the order they get budget (see `enquete list methods`)."),
]
PhaseOption: TypeAlias = Annotated[
    Literal["T0", "T1"] | None,
    typer.Option(help="Only before (T0) or only after (T1) the simulation; both unless named."),
]
LanguageOption: TypeAlias = Annotated[
    Literal["de", "en"] | None, typer.Option(help="Language of the interviews (else ENQUETE_LANGUAGE, else de).")
]
Respondent: TypeAlias = Annotated[
    Literal["llm", "synthetic", "replay"] | None,
    typer.Option(
        help="Who answers: a model; the built-in synthetic respondent (free, deterministic, for trying out); or replay, "
        "a finished run's own ledger, without a request (docs/reruns.md)."
    ),
]
ReplayOf: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--replay-of", metavar="RUN", help="Run to replay; implies --respondent replay. The canonical run unless named."
    ),
]
Rerun: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--rerun", help="Ask the methodologies of --methods anew; take the others over from the finished run."
    ),
]
Model: TypeAlias = Annotated[
    str | None, typer.Option(metavar="NAME", help="Model, as the server calls it (else LLM_MODEL_NAME).")
]
BaseUrl: TypeAlias = Annotated[
    str | None, typer.Option(metavar="URL", help="OpenAI-compatible server up to /v1 (else LLM_BASE_URL).")
]
# Numbers stay text here: the façade reads them, and names the bad value where typer does not.
Temperature: TypeAlias = Annotated[str | None, typer.Option(metavar="NUMBER", help="0 to 2; 0.7 unless named.")]
Seed: TypeAlias = Annotated[
    str | None, typer.Option(metavar="N", help="Of the synthetic respondent, and sent to the model; 0 unless named.")
]
Asking: TypeAlias = Annotated[
    Literal["block", "item"] | None,
    typer.Option(help="All items of a part in one request, or one request an item; block unless named."),
]
PackOption: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--pack", metavar="NAME", help=f"What ships on a topic: {', '.join(packs())}; {pack_named().name} unless named."
    ),
]
InstrumentOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--instrument",
        metavar="METHOD=FILE",
        help="A YAML instrument of your own (asked alone unless --methods says more), or `shipped`; may be repeated.",
    ),
]
SetOption: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="METHOD.KEY=VALUE", help="A methodology's own setting; may be given several times."),
]
Budget: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--budget-tokens",
        metavar="N",
        help="Cap for the whole run, earlier sessions included; holds until another is named. 10,000,000 unless named.",
    ),
]
BudgetUsd: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--budget-usd", metavar="AMOUNT", help="Cap in US dollars, where the model's price is known (docs/prices.md)."
    ),
]
Limit: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="MODEL.KEY=VALUE",
        help="What the server allows a model: requests_per_minute, tokens_per_minute or concurrency; may be given several "
        "times.",
    ),
]
Patience: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--patience",
        metavar="SECONDS",
        help="How long the server may stay away before the run pauses; 180 unless named.",
    ),
]
Cache: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--cache/--no-cache",
        help="Take responses to identical requests from earlier runs; off (docs/reruns.md).",
        show_default=False,
    ),
]
Concurrency: TypeAlias = Annotated[
    str | None, typer.Option(metavar="N", help="Requests in flight at once; 32 unless named.")
]
Timeout: TypeAlias = Annotated[
    str | None,
    typer.Option("--timeout", metavar="SECONDS", help="For one request, once it is sent; 120 unless named."),
]
Baseline: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="auto|reconstructed|RUN_ID", help="Where T0 comes from (docs/longitudinal.md); auto unless named."
    ),
]
Assume: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--assume-completed", help="Treat a simulation that still says running as completed (it was killed, say)."
    ),
]
RunId: TypeAlias = Annotated[
    str | None, typer.Argument(metavar="[RUN]", help="run_id or resume token; else the one that matters most now.")
]
Probes: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="A,B|all", help="Ask a sample of agents once more under other conditions (docs/probes.md)."),
]
ProbeSample: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="N", help="Agents asked in each probe, from every stakeholder type; 20 unless named."),
]
Placebo: TypeAlias = Annotated[
    bool, typer.Option("--placebo", help="Ask T1 once more with a neutral memory: what did the simulation change?")
]
Replicates: TypeAlias = Annotated[
    str | None, typer.Option(metavar="R", help="Ask the whole study R times, with other seeds: which claims hold?")
]
ReplicateModels: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="A,B", help="Other models that are asked the whole study, in place of other seeds."),
]
Randomise: TypeAlias = Annotated[
    Literal["none", "items", "options", "both"] | None,
    typer.Option(help="Show items, answer options or both in an order of each agent's own, drawn by seed."),
]
Elicitation: TypeAlias = Annotated[
    Literal["point", "distribution"] | None,
    typer.Option(help="Ask for one answer, or for the probability of every answer option; point unless named."),
]
