"""What a server can cache of a study's prompts, and what a poll's questions cost, with everything that is sent counted.

Where a server reads the schema of a reply before the system message (OpenAI, Anthropic's tools), a schema of each
questionnaire's own leaves next to nothing to be cached: server_profiles.yaml names those that are sent one for all.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from pathlib import Path
from typing import Any

import pytest
import yaml

from enquete.instruments.instrument import RatingInstrument
from enquete.instruments.load import load_instrument, load_shipped
from enquete.instruments.polls import Likert, as_document
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.methods.poll import PollInstrument
from enquete.methods.registry import methodologies
from enquete.models.chat_completions import (
    CACHE_KEY,
    SHARED_SCHEMA,
    FormatFallback,
    RequestForm,
    ResponseFormat,
)
from enquete.models.server_profiles import Meaning, PrefixCache, Verdict, prefix_cache_of
from enquete.respondents.llm import compose
from enquete.state.asking import Block, BlockKey, Language, Participant
from enquete.state.interview_context import Prompt
from tests.support import bare_runs
from tests.support.provider_server import Asked, ProviderServer
from tests.support.studies import personas, rows

BYTES_PER_TOKEN = 4
FEWEST_CACHED, CACHED_STEP = 1024, 128
"""Tokens that OpenAI caches at least, and in which steps beyond (platform.openai.com/docs/guides/prompt-caching)."""
STUDY = ["longitudinal", "diversity", "delphi", "scenario"]
MEMORY = " ".join(f"On day {day} the agent read a post on quotas and answered it at length." for day in range(60))


def read_order(asked: Asked) -> str:
    """The prompt as a server reads it that puts the schema first."""
    schema = json.dumps(asked.schema, separators=(",", ":")) if asked.schema else ""
    return schema + asked.text


def common_beginning(one: str, other: str) -> int:
    """Characters that two texts begin with alike."""
    pairs = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def cacheable_share(prompts: Sequence[str]) -> float:
    """Tokens of prompts whose beginning stood in an earlier one, of all: as OpenAI counts."""
    cached = total = 0
    for place, prompt in enumerate(prompts):
        total += len(prompt) // BYTES_PER_TOKEN
        longest = max((common_beginning(prompt, earlier) for earlier in prompts[:place]), default=0)
        tokens = longest // BYTES_PER_TOKEN
        if tokens >= FEWEST_CACHED:
            cached += FEWEST_CACHED + (tokens - FEWEST_CACHED) // CACHED_STEP * CACHED_STEP
    return cached / total


def interview(folder: Path, model: str) -> list[Asked]:
    """Ask two agents who remember much in four methodologies; what they were sent, with every answer at the first."""
    folder.mkdir()
    people = json.loads(personas(folder, 2).read_text("utf-8"))
    for person in people:
        person["persona"] += " " + MEMORY.replace("agent", person["name"])
    (folder / "remembering.json").write_text(json.dumps(people), "utf-8")
    with ProviderServer() as server:
        run = bare_runs.interview(
            folder / "remembering.json", out=str(folder / "out"), model=model, respondent="llm", base_url=server.root,
            methods=STUDY, language="en", budget_tokens=10**7,
        )  # fmt: skip
    assert run.status == "completed", run.note
    answered = Counter(dict(rows(run.folder, "SELECT status, count(*) FROM answers GROUP BY status")))
    assert set(answered) <= {"ok", "repaired"}, answered  # repaired: sorts that did not fit the grid at first
    return [asked for asked in server.requests if "[[persona:" in asked.system]


@pytest.mark.filterwarnings("default")
def test_most_of_a_studys_prompts_can_be_cached_where_the_schema_is_read_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a schema of each questionnaire's own it was 27%, and 65% without any (issue 48, point 6)."""
    pytest.importorskip("langchain_anthropic")
    pytest.importorskip("langchain_google_genai")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("GOOGLE_API_KEY", "k")
    shared = interview(tmp_path / "claude", "anthropic:claude-test")
    own = interview(tmp_path / "gemini", "google_genai:gemini-2.5-flash")
    assert {json.dumps(asked.schema, separators=(",", ":")) for asked in shared} == {SHARED_SCHEMA}
    assert len({json.dumps(asked.schema) for asked in own}) >= 8
    with_shared, with_own = (cacheable_share([read_order(asked) for asked in each]) for each in (shared, own))
    print(f"cacheable: {with_shared:.3f} with one schema, {with_own:.3f} with each one's own")
    assert with_shared >= 0.6 > 0.4 > with_own


def poll_prompt(folder: Path, language: Language, *, confidence: bool) -> tuple[Prompt, int]:
    """A poll of the shipped statements, asked of somebody described in a sentence."""
    statements = load_shipped(LongitudinalInstrument, "longitudinal").items
    questions = [Likert({"de": item.wording.in_("de"), "en": item.wording.in_("en")}) for item in statements]
    document = as_document(tuple(questions), "fisheries", None, confidence=confidence)
    (folder / "poll.yaml").write_text(yaml.safe_dump(document, allow_unicode=True), "utf-8")
    instrument = load_instrument(PollInstrument, folder / "poll.yaml")
    items = instrument.items(language)
    who = Participant(id="1", name="Ulla Brandt", stakeholder_type="fisher", persona="Fisher in Husum, 54.")
    key = BlockKey("", "main", "poll", "", "", 0, 0, who.id, "questions")
    block = Block(key=key, instruction=instrument.instruction.in_(language), items=items)
    return compose(who, block, items, language, "", 0), len(items)


def tokens_an_item(prompt: Prompt, items: int, form: RequestForm) -> float:
    """Everything that is sent, of four bytes."""
    body: dict[str, Any] = form.body(prompt, model="m", temperature=0.7, seed=0)
    said = sum(len(turn["content"].encode()) for turn in body["messages"])
    schema = json.dumps(body["response_format"]["json_schema"]["schema"], separators=(",", ":"))
    return (said + len(schema)) / BYTES_PER_TOKEN / items


def test_what_an_item_of_a_poll_costs(tmp_path: Path) -> None:
    """At most 35 tokens in and 4 out (issue 48, point 6), where the schema is part of the prompt."""
    prompt, items = poll_prompt(tmp_path, "en", confidence=False)
    shared = tokens_an_item(prompt, items, RequestForm(ResponseFormat.JSON_SCHEMA, shares_schema=True))
    own = tokens_an_item(prompt, items, RequestForm(ResponseFormat.JSON_SCHEMA))
    asked_confidence, _ = poll_prompt(tmp_path, "en", confidence=True)
    before = tokens_an_item(asked_confidence, items, RequestForm(ResponseFormat.JSON_SCHEMA))
    reply = json.dumps({f"q{number}": 4 for number in range(1, items + 1)}, separators=(",", ":"))
    written = len(reply) / BYTES_PER_TOKEN / items
    print(f"in {shared:.1f} (own schema {own:.1f}, with confidence {before:.1f}), out {written:.1f}")
    assert (shared <= 35, written <= 4) == (True, True)
    assert shared < own < before


def test_a_poll_asks_for_confidence_where_it_says_so(tmp_path: Path) -> None:
    plain, _ = poll_prompt(tmp_path, "en", confidence=False)
    sure, _ = poll_prompt(tmp_path, "en", confidence=True)
    assert "confidence" not in plain.messages[0]["content"] + plain.schema
    assert "`confidence`: how sure you are" in sure.messages[0]["content"]
    assert '"confidence"' in sure.schema


def test_every_rating_has_the_switch() -> None:
    """The shipped instruments ask it in longitudinal alone."""
    asks = {}
    for name, method in methodologies().items():
        if issubclass(method.instrument, RatingInstrument):
            asks[name] = method.instrument.model_fields["confidence"].default
    assert asks == {"longitudinal": True, "diversity": False, "delphi": False, "scenario": False, "poll": False}


def test_a_key_keeps_an_agents_prompts_together(tmp_path: Path) -> None:
    """OpenAI's `prompt_cache_key`: the same for all that an agent is asked, another for another agent."""
    prompt, _ = poll_prompt(tmp_path, "en", confidence=False)
    form = RequestForm(ResponseFormat.JSON_SCHEMA, names_cache=True)

    def key(asked: Prompt, form: RequestForm = form) -> object:
        return form.body(asked, model="m", temperature=0.7, seed=0).get(CACHE_KEY)

    later = replace(prompt, messages=({"role": "user", "content": "Something else?"},))
    assert key(later) == key(prompt)
    assert key(replace(prompt, system=prompt.system + "!")) != key(prompt)
    assert key(prompt, RequestForm(ResponseFormat.JSON_SCHEMA)) is None
    refused = replace(form, dropped=frozenset({CACHE_KEY}))
    assert key(prompt, refused) is None
    assert refused.deviations(prompt, 0.7) == {}  # nobody asked for it


@pytest.mark.parametrize(
    ("url", "cache"),
    [
        ("https://api.openai.com/v1", PrefixCache(host="api.openai.com", schema_first=True, key=True)),
        ("https://mine.openai.azure.com/openai/v1",
         PrefixCache(host="*.openai.azure.com", schema_first=True, key=True)),
        ("http://localhost:8000/v1", PrefixCache()),  # vLLM makes a grammar of the schema
        ("anthropic", PrefixCache()),
    ],
)  # fmt: skip
def test_who_reads_the_schema_first(url: str, cache: PrefixCache) -> None:
    assert prefix_cache_of(url) == cache


def test_a_server_that_does_not_take_the_one_schema_is_sent_each_ones_own(tmp_path: Path) -> None:
    """Only then is another format tried."""
    prompt, _ = poll_prompt(tmp_path, "en", confidence=False)
    fallback = FormatFallback()
    fallback.use_cache(PrefixCache(schema_first=True))
    refusal = Verdict(Meaning.PARAMETER, parameter="response_format")
    first = fallback.form()
    assert fallback.after(first, refusal) is ResponseFormat.JSON_SCHEMA
    assert fallback.after(first, refusal) is ResponseFormat.JSON_SCHEMA  # asked at once with the first
    fallback.use_cache(PrefixCache(schema_first=True))  # of the next request
    second = fallback.form()
    assert not second.shares_schema
    body: Any = second.body(prompt, model="m", temperature=0.7, seed=0)
    assert body["response_format"]["json_schema"]["strict"] is True
    assert fallback.after(second, refusal) is ResponseFormat.JSON_OBJECT


def test_other_forms_of_reply_keep_their_schema(tmp_path: Path) -> None:
    """An interviewer's prompt does not say its form."""
    prompt, _ = poll_prompt(tmp_path, "en", confidence=False)
    form = RequestForm(ResponseFormat.JSON_SCHEMA, shares_schema=True)
    body: Any = form.body(replace(prompt, says_form=False), model="m", temperature=0.7, seed=0)
    assert list(body["response_format"]["json_schema"]["schema"]["properties"])[:2] == ["q1", "q2"]
