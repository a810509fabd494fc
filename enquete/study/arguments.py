"""What `conduct_interviews`, `estimate`, `resume` and the like take by name, for type checkers and editors.

Made of RunRequest by `make graphs`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from typing_extensions import TypedDict

from enquete.state.asking import Arm
from enquete.state.request import MemoryKind, ModelLimits, Phase, ProbeKind, Rubric


class DrivingArguments(TypedDict, total=False):
    """Of any run: how it is driven."""

    root: str | Path | None
    """Folder that holds simulations/{sim_id}."""
    out: str | Path | None
    """Results go here instead of the simulation's own interviews/ folder."""
    base_url: str | None
    """OpenAI-compatible server up to /v1; of a provider: its address."""
    budget_tokens: int | None
    """Cap on tokens for the whole run, earlier sessions included; holds until another is named."""
    budget_usd: float | None
    """Cap in US dollars for the whole run, where the model's price is known."""
    concurrency: int | None
    """Requests in flight at once, process-wide."""
    limits: Mapping[str, ModelLimits | Mapping[str, int]] | None
    """What the server allows a model: requests_per_minute, tokens_per_minute or concurrency."""
    patience_s: float | None
    """How long the server may stay away before the run pauses."""
    executor: str | None
    """Where agents are asked: in this process, in N on this machine, or by a Dask cluster's workers."""
    assume_completed: bool
    """Treat a simulation that still says running as completed, such as one that was killed."""
    retry_failed: bool
    """Ask once more for what failed, and only for that."""
    timeout_s: float
    """For one request, once it is sent."""
    shard_size: int
    """Agents a graph task."""


class Arguments(DrivingArguments, total=False):
    """Of a run that is begun or found."""

    store: str | None
    """PostgreSQL database that holds the ledger of a new run; a file unless named."""
    methods: str | Sequence[str] | None
    """Methodologies, in the order they get budget; the usual ones unless named."""
    phase: Phase | None
    """Only before (T0) or only after (T1) the simulation; both unless named."""
    agents: str | Sequence[str] | None
    """Only these agents, by name or id; all unless named."""
    guests: Mapping[str, str] | Sequence[Mapping[str, str]]
    """Who takes part beside a simulation's agents: name, persona and type each."""
    types: str | Sequence[str] | None
    """Only agents of these stakeholder types; all unless named."""
    where: str
    """Only agents of whom this holds, such as stakeholder_type == "ngo" and age >= 40."""
    sample: int | None
    """Only so many of those, drawn by seed; all unless named."""
    stratify: bool
    """Draw the sample from every stakeholder type in proportion."""
    skip_incomplete: bool
    """Leave out agents with neither bio nor persona."""
    missing_codes: str | Sequence[str]
    """Values of a people file that say “not known”: -99 in every column, income=-99 in one."""
    decimal_mark: Literal[".", ","] | None
    """Mark before decimals in a people file's columns, where the columns do not tell."""
    skip_non_people: bool
    """Leave out rows of a people file that are no people: further header rows, totals, spreadsheet errors,
    duplicates."""
    language: Literal["de", "en"] | None
    """Language of the interviews."""
    respondent: Literal["llm", "synthetic", "replay"] | None
    """Who answers: a model, or the built-in synthetic respondent (free, deterministic, for trying out)."""
    replay_of: str | None
    """Run to replay, which implies respondent replay; the canonical one unless named."""
    model: str | None
    """Model as the server calls it, or provider:name (anthropic:claude-sonnet-4-5)."""
    key_variable: str
    """NAME of the environment variable with that server's key, '-' for none; LLM_API_KEY unless named."""
    temperature: float
    """Of the model that answers, 0 to 2."""
    seed: int
    """Of every draw and of the synthetic respondent, and sent to the model."""
    asking: Literal["block", "item"]
    """All items of a part in one request, or one request an item."""
    pack: str
    """What ships on a topic."""
    instruments: Mapping[str, str | Path | Mapping[str, Any]]
    """Methodology → YAML or CSV file of one's own (on a server: the name of one in its folder), asked alone
    unless methods are named, or `shipped` for Enquete's."""
    settings: Mapping[str, Mapping[str, Any]]
    """Methodology → its own settings."""
    own_folder: str | Path | None
    """Folder whose files settings may name, by name alone, beside what ships; any file unless given."""
    arms: Sequence[Arm] | None
    """Conditions of answering in place of one, exactly one of them with the role main."""
    probes: ProbeKind | Sequence[ProbeKind]
    """Checks that ask a sample of agents once more under another condition, or all."""
    probe_sample: int
    """Agents asked in each probe, drawn by seed from every stakeholder type."""
    placebo: bool
    """Ask T1 once more with a neutral memory, to tell what the simulation changed."""
    replicates: int
    """How often the whole study is asked, each time with another seed."""
    replicate_models: str | Sequence[str]
    """Other models that are asked the whole study, in place of other seeds."""
    respondent_b: bool
    """Put every question to a second respondent too, whose answers a critic compares with the first's."""
    model_b: str | None
    """Model of the second respondent; the first's unless named."""
    temperature_b: float | None
    """Of the second respondent, 0 to 2; .5 unless said."""
    critic_model: str | None
    """Model that grades and compares the answers of both; the first's unless named."""
    critic_rubric: Rubric | None
    """What the critic grades by; realistic unless said."""
    critic_pairs: int | None
    """Pairs judged of each methodology and phase, drawn by seed; all unless said."""
    randomise: Literal["none", "items", "options", "both"]
    """Show items, answer options or both in an order of each agent's own, drawn by seed; items only where the
    instrument has no order of its own."""
    elicitation: Literal["point", "distribution"]
    """Ask for one answer, or for the probability of every answer option."""
    confirm: bool
    """Start although the estimate exceeds the budget; the run pauses at the cap."""
    fit: Literal["checked", "any"] | None
    """Any: ask although the questions are not about what the simulation is about, or in another language."""
    digest_chars: int
    """Length of a memory digest."""
    memory: MemoryKind | None
    """Graph whose facts join the agents' memories and that gets the interviews as episodes."""
    memoryless_weight: float
    """Weight in drift of agents without memory."""
    by: str
    """What agents are compared by: a column of the personas file; stakeholder types unless named."""
    primary: str | Sequence[str]
    """Primary questions, METHOD.QUESTION each, with =PART where they do not share the error rate alike; what the
    instruments say, or one of each methodology, unless named."""
    baseline: str
    """Where T0 comes from: auto, reconstructed, or the run_id of an earlier one."""
    new: bool
    """Start another run even where one matches."""
    rerun: bool
    """Ask the named methods anew, take the others over from the finished run."""


class AskedOn(DrivingArguments, total=False):
    """Of a run that goes on."""

    sim: str | Path
    """Sim_id under the root, or a path to a simulation folder or personas file."""
    fresh: bool
    """Walk through the whole run again; what is answered is not asked again."""
