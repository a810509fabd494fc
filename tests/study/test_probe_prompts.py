"""What every probe, the placebo, a replicate and a second respondent really send, beside the main arm's prompts.

One run of a model over a completed simulation whose agents remember what they posted. The prompts are those that the
server received; the ledger says which arm sent them. Each test names what the arm takes away, adds or changes, in the
words of docs/probes.md.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from enquete import Run
from enquete.ledger.queries import text_of
from enquete.respondents.kinds import worded
from enquete.respondents.neutral import neutral
from enquete.state.methodology import PROBES_OF_CLOSED
from enquete.state.request import ProbeKind
from tests.support import bare_runs
from tests.support.model_server import ModelServer
from tests.support.populations import mirofish_folder, participants
from tests.support.studies import rows

AGENTS, FEW = 8, 3
MAIN_SEED = 1
"""With it the first draw of a persona for one of those who are asked is of the own type, and must be drawn again."""
PEOPLE = {who.id: who for who in participants(AGENTS)}
MEMORY = "hat am Hafen etwas beobachtet"
"""In every agent's memory of the simulation, and in no persona, question or everyday memory."""


@dataclass(frozen=True)
class SentPrompt:
    """One question as the server received it, and who was asked for whom."""

    arm: str
    methodology: str
    phase: str
    subject: str
    system: str
    user: str
    bodies: tuple[dict[str, Any], ...]
    """Every request with these very messages: two arms that send the same are told apart by seed or model alone."""

    @property
    def participant(self) -> str:
        return self.subject.partition("|")[0]

    @property
    def round(self) -> str:
        return self.subject.split("|")[2]

    @property
    def text(self) -> str:
        return f"{self.system}\n{self.user}"


@dataclass(frozen=True)
class SentPrompts:
    """All of a run, by what they were asked for."""

    run: Run
    by_arm: dict[str, dict[tuple[str, ...], SentPrompt]]

    def of(self, arm: str, methodology: str = "", phase: str = "") -> list[SentPrompt]:
        prompts = self.by_arm[arm].values()
        return [p for p in prompts if methodology in ("", p.methodology) and phase in ("", p.phase)]

    def seed_of(self, arm: str) -> int:
        (seed,) = {one.seed for one in self.run.record.arms if one.id == arm}
        assert seed != MAIN_SEED
        return seed

    def beside_main(self, arm: str) -> list[tuple[SentPrompt, SentPrompt]]:
        """The main arm's prompt and this arm's, for every question that both were asked."""
        pairs = [(self.by_arm["main"][key], prompt) for key, prompt in self.by_arm[arm].items()]
        assert pairs
        return pairs


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> SentPrompts:
    folder = tmp_path_factory.mktemp("probes")
    sim = mirofish_folder(folder / "sim_1", AGENTS)
    with ModelServer() as server:
        run = bare_runs.interview(
            sim, out=str(folder / "out"), confirm=True, methods=["longitudinal", "delphi", "diversity"],
            probes=["all"], probe_sample=FEW, placebo=True, replicates=2, respondent_b=True, model="test",
            model_b="test@b", critic_pairs=1, base_url=server.base_url, language="en", seed=MAIN_SEED,
        )  # fmt: skip
    assert run.status == "completed"
    return SentPrompts(run, prompts_by_arm(run.folder, [request.body for request in server.requests]))


def prompts_by_arm(folder: Path, bodies: list[dict[str, Any]]) -> dict[str, dict[tuple[str, ...], SentPrompt]]:
    """Join what the server received with the ledger, which knows the arm. Fails where the two say different things."""
    received: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for body in bodies:
        received.setdefault(_messages_of(body), []).append(body)
    asked = rows(
        folder,
        f"SELECT arm, methodology, phase, subject, {text_of('system_hash')}, {text_of('messages_hash')} FROM calls "
        "WHERE purpose='answer' AND attempt=0",
    )
    filed = Counter((system, json.loads(messages)[0]["content"]) for *_, system, messages in asked)
    assert {messages: len(received[messages]) for messages in filed} == filed
    by_arm: dict[str, dict[tuple[str, ...], SentPrompt]] = {}
    for arm, methodology, phase, subject, system, messages in asked:
        user = json.loads(messages)[0]["content"]
        prompt = SentPrompt(arm, methodology, phase, subject, system, user, tuple(received[system, user]))
        by_arm.setdefault(arm, {})[methodology, phase, subject] = prompt
    return by_arm


def _messages_of(body: dict[str, Any]) -> tuple[str, str]:
    system, user = (message["content"] for message in body["messages"])
    return system, user


def questions(prompt: SentPrompt) -> list[str]:
    """The wordings asked, in the order shown."""
    return re.findall(r"^q\d+: (.+)$", prompt.user, re.MULTILINE)


def scale_points(prompt: SentPrompt) -> list[int]:
    """The values of the first scale, in the order shown."""
    options = re.search(r"Options: (.+)", prompt.user)
    assert options is not None
    return [int(value) for value in re.findall(r"(?:^|; )(\d+) = ", options[1])]


def without_orders(prompt: SentPrompt) -> list[str]:
    """The prompt's lines and options whatever their order: numbers of questions follow the order and are left out, and
    so is what the agent said before in this very arm."""
    unquoted = re.sub(r"\[\[quote:(\w+)\n.*?\n\1\]\]", "", prompt.user, flags=re.DOTALL)
    bare = re.sub(r"\bq\d+\b( … q\d+)?", "q", unquoted)
    return sorted(re.split(r"\n|; |Options: ", re.sub(r"; `confidence`.*", "", bare)))


def test_every_probe_there_is_was_asked(sent: SentPrompts) -> None:
    """A probe that is added without a test here fails."""
    tested = {
        "retest", "options_reversed", "items_shuffled", "paraphrase", "persona_swapped", "persona_null",
        "negative_control", "false_median",
    }  # fmt: skip
    assert set(ProbeKind.__args__) - {"all"} == tested
    assert set(PROBES_OF_CLOSED) < tested
    assert set(sent.by_arm) == tested | {"main", "items_shuffled_2", "placebo", "replicate_2", "b"}


def test_the_main_arm_has_persona_and_memory(sent: SentPrompts) -> None:
    """Without this the tests below, which look for what is missing, would say nothing."""
    for prompt in sent.of("main"):
        assert PEOPLE[prompt.participant].persona in prompt.system
        assert (MEMORY in prompt.system) == (prompt.phase == "T1")
        assert MEMORY not in prompt.user


def test_a_retest_changes_the_seed_alone(sent: SentPrompts) -> None:
    for main, again in sent.beside_main("retest"):
        assert (again.system, again.user) == (main.system, main.user)
        assert {MAIN_SEED, sent.seed_of("retest")} <= {body["seed"] for body in again.bodies}


def test_reversed_options_stand_in_reverse_and_nothing_else_moves(sent: SentPrompts) -> None:
    scales = 0
    for main, reversed_ in sent.beside_main("options_reversed"):
        assert reversed_.system == main.system
        assert questions(reversed_) == questions(main)
        assert without_orders(reversed_) == without_orders(main)
        if main.methodology != "diversity" and "Options: " in main.user:  # the columns of a forced sort stay
            assert scale_points(reversed_) == scale_points(main)[::-1]
            scales += 1
    assert scales >= FEW


def test_shuffled_items_stand_in_two_other_orders_and_nothing_else_moves(sent: SentPrompts) -> None:
    moved = 0
    for main, first in sent.beside_main("items_shuffled"):
        second = sent.by_arm["items_shuffled_2"][main.methodology, main.phase, main.subject]
        for shuffled in (first, second):
            assert shuffled.system == main.system
            assert sorted(questions(shuffled)) == sorted(questions(main))
            assert without_orders(shuffled) == without_orders(main)
        orders = {tuple(questions(prompt)) for prompt in (main, first, second)}
        moved += len(orders) == 3
        assert len(orders) == 3 or len(questions(main)) <= 4  # a few items may fall into the same order
    assert moved >= FEW


def test_a_paraphrase_says_it_in_other_words_to_the_same_person(sent: SentPrompts) -> None:
    """The frame, which is who is asked to do what in which form; shipped instruments have one wording an item."""
    reworded = worded("paraphrased", "en")
    for main, other in sent.beside_main("paraphrase"):
        assert reworded.role in other.system
        assert reworded.role not in main.system
        assert reworded.form in other.user
        assert reworded.form not in main.user
        assert PEOPLE[other.participant].persona in other.system
        assert MEMORY in other.system
        assert questions(other) == questions(main)


def test_a_swapped_persona_is_that_of_another_type_with_one_s_own_memory(sent: SentPrompts) -> None:
    for main, swapped in sent.beside_main("persona_swapped"):
        own = PEOPLE[swapped.participant]
        assert own.persona not in swapped.text
        (shown,) = [who for who in PEOPLE.values() if who.persona in swapped.system]
        assert f"\n{shown.name}\n{shown.persona}" in swapped.system
        assert shown.stakeholder_type != own.stakeholder_type
        assert f"{own.name} {MEMORY}" in swapped.system  # the memory stays one's own
        assert swapped.system.replace(f"{shown.name}\n{shown.persona}", "", 1).count(MEMORY) == main.text.count(MEMORY)


def test_without_a_persona_nothing_says_who_is_asked_and_nothing_is_remembered(sent: SentPrompts) -> None:
    """Neither person nor memory: a memory would be a persona by the back door."""
    nobody = neutral().persona["en"]
    for _, prompt in sent.beside_main("persona_null"):
        assert f"\n{nobody.name}\n{nobody.text}" in prompt.system
        assert MEMORY not in prompt.text
        assert "[[memory:" not in prompt.text
        assert not [who.name for who in PEOPLE.values() if re.search(rf"\b{who.name}\b", prompt.text)]
        assert not [who.id for who in PEOPLE.values() if who.persona in prompt.text]
    # "Alike for all": of one methodology and round, everybody gets the same words about themselves.
    assert len({prompt.system for prompt in sent.of("persona_null")}) == 1


def test_a_negative_control_asks_everyday_statements_of_both_waves(sent: SentPrompts) -> None:
    controls = {item.en for item in neutral().controls.items}
    assert len(controls) == 6
    for phase in ("T0", "T1"):
        prompts = sent.of("negative_control", "longitudinal", phase)
        assert len(prompts) == FEW
        for prompt in prompts:
            main = sent.by_arm["main"][prompt.methodology, prompt.phase, prompt.subject]
            assert set(questions(prompt)) == controls
            assert not set(questions(main)) & controls
            assert prompt.system == main.system  # the same person, who at T1 remembers the simulation
            assert (MEMORY in prompt.system) == (phase == "T1")


def test_a_false_median_is_half_the_scale_off_beside_one_s_own_ratings(sent: SentPrompts) -> None:
    prompts = sent.beside_main("false_median")
    assert {(prompt.methodology, prompt.round) for _, prompt in prompts} == {("delphi", "3")}
    for main, misled in prompts:
        assert misled.system == main.system
        assert questions(misled) == questions(main)
        real, false = medians_shown(main), medians_shown(misled)
        assert real.keys() == false.keys() != set()
        # By hand: half of the scale 1–5 is 2 points.
        assert {abs(real[item] - false[item]) for item in real} == {2}
        assert own_ratings(misled) == own_ratings(main) != []


def medians_shown(prompt: SentPrompt) -> dict[str, float]:
    return {item: float(median) for item, median in re.findall(r"^(.+): median ([\d.]+),", prompt.user, re.MULTILINE)}


def own_ratings(prompt: SentPrompt) -> list[str]:
    blocks = re.findall(r"\[\[\w+:(\w+)\n(.*?)\n\1\]\]", prompt.user, re.DOTALL)
    return [text for _, text in blocks if "median" not in text]


def test_a_placebo_has_a_memory_of_everyday_matters_in_place_of_the_simulation(sent: SentPrompts) -> None:
    everyday = neutral().digest["en"]
    assert {(prompt.methodology, prompt.phase) for prompt in sent.of("placebo")} == {("longitudinal", "T1")}
    assert len(sent.of("placebo")) == AGENTS
    for main, placebo in sent.beside_main("placebo"):
        assert MEMORY not in placebo.text
        memory = memory_of(placebo)
        assert [line for line in everyday if line in memory]
        # About as long as one's own: a line more or less.
        assert abs(len(memory) - len(memory_of(main))) <= max(map(len, everyday))
        assert placebo.system.replace(memory, "") == main.system.replace(memory_of(main), "")
        assert placebo.user == main.user


def memory_of(prompt: SentPrompt) -> str:
    fenced = re.search(r"\[\[memory:(\w+)\n.*?\n\1\]\]", prompt.system, re.DOTALL)
    assert fenced is not None
    return fenced[0]


def test_a_replicate_changes_the_seed_alone(sent: SentPrompts) -> None:
    """What a person says of what others said is another matter: a panel's later rounds are its own."""
    for main, again in sent.beside_main("replicate_2"):
        assert again.system == main.system
        if main.round in ("0", "1"):
            assert again.user == main.user
            assert {MAIN_SEED, sent.seed_of("replicate_2")} <= {body["seed"] for body in again.bodies}


def test_a_second_respondent_is_another_model_with_the_same_words(sent: SentPrompts) -> None:
    """At .5 degrees, the default of `temperature_b`; the main arm's are .7."""
    for main, other in sent.beside_main("b"):
        assert other.system == main.system
        if main.round in ("0", "1"):
            assert other.user == main.user
        sent_by_b = [body for body in other.bodies if body["model"] == "test@b"]
        assert [body["temperature"] for body in sent_by_b] == [0.5]
