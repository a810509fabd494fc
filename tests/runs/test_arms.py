"""Which arms a request makes: ids, what differs from the main arm, what is refused; and that stored runs stay the
same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.runs.arms import other_seed, study_arms
from enquete.state.asking import Arm
from enquete.state.errors import SettingsError
from enquete.state.request import parse_request
from enquete.state.settings import Environment, resolve_arms

FICKLE = "tests.support.fickle:METHODOLOGY"
SHIPPED = {name: f"enquete.methods.{name}:METHODOLOGY" for name in ("longitudinal", "diversity", "delphi", "scenario")}
PROBES = (
    "retest", "options_reversed", "items_shuffled", "items_shuffled_2", "paraphrase", "persona_swapped", "persona_null",
    "negative_control", "false_median",
)  # fmt: skip


def made(
    methods: Sequence[str] = tuple(SHIPPED),
    phases: Sequence[str] = ("T0", "T1"),
    *,
    simulation: bool = True,
    **fields: Any,
) -> dict[str, Arm]:
    request = parse_request(**fields)
    chosen = {name: SHIPPED.get(name, FICKLE) for name in methods}
    arms = study_arms(request, resolve_arms(request, Environment.read()), chosen, phases, has_simulation=simulation)
    return {arm.id: arm for arm in arms}


def differences(arm: Arm, main: Arm) -> dict[str, Any]:
    theirs = main.model_dump(mode="python") | {name: getattr(main, name) for name in Arm.model_fields}
    values = {name: getattr(arm, name) for name in Arm.model_fields}
    given = {"id", "role", "sample", "methods", "phases", "draw_seed"}
    return {name: value for name, value in values.items() if value != theirs[name] and name not in given}


def test_nothing_is_added_unasked_and_a_persona_is_judged_against_a_retest() -> None:
    assert list(made()) == ["main"]
    assert list(made(probes=["persona_null"])) == ["main", "retest", "persona_null"]


def test_all_probes_differ_from_the_main_arm_in_one_thing() -> None:
    arms = made(probes=["all"], probe_sample=7, seed=5)
    assert tuple(arms)[1:] == PROBES
    probes = {name: arm for name, arm in arms.items() if name != "main"}
    assert {arm.role for arm in probes.values()} == {"probe"}
    assert {arm.sample for arm in probes.values()} == {7}
    assert {arm.draw_seed for arm in probes.values()} == {5}
    assert {name: differences(arm, arms["main"]) for name, arm in probes.items()} == {
        "retest": {"seed": other_seed(5, "retest")},
        "options_reversed": {"presentation": "items_random+options_reversed"},
        "items_shuffled": {"presentation": "items_shuffled"},
        "items_shuffled_2": {"presentation": "items_shuffled_2"},
        "paraphrase": {"presentation": "items_random+paraphrased"},
        "persona_swapped": {"persona": "swapped"},
        "persona_null": {"persona": "null", "digest": "none"},
        "negative_control": {"asks": "controls"},
        "false_median": {"feedback": "false"},
    }


def test_a_probe_is_asked_where_it_makes_sense_and_named_where_it_makes_none() -> None:
    arms = made(probes=["all"])
    assert arms["retest"].methods == tuple(SHIPPED)
    assert arms["negative_control"].methods == ("longitudinal",)
    assert arms["false_median"].methods == ("delphi",)
    assert (arms["retest"].phases, arms["negative_control"].phases) == (("T1",), ())
    assert made(["longitudinal"], ["T0"], probes=["retest"])["retest"].phases == ("T0",)
    mixed = made(["longitudinal", "fickle"], probes=["all"])
    assert mixed["retest"].methods == ("longitudinal",)
    assert "false_median" not in mixed
    assert "negative_control" not in made(phases=["T1"], simulation=False, probes=["all"])
    assert "placebo" not in made(probes=["all"])
    with pytest.raises(SettingsError, match="'false_median' makes no sense for longitudinal; leave it out"):
        made(["longitudinal"], probes=["false_median"])
    with pytest.raises(SettingsError, match="'negative_control' compares two waves, and a personas file has one"):
        made(phases=["T1"], simulation=False, probes=["negative_control"])
    with pytest.raises(SettingsError, match="probes: 'twice' is not taken; write all, retest"):
        made(probes=["twice"])


def test_orders_are_kept_but_for_what_is_probed_and_arms_read_back_as_written() -> None:
    arms = made(probes=["all"], randomise="both", seed=2)
    assert arms["main"].presentation == "items_random+options_random"
    assert arms["main"].draw_seed == 2
    assert arms["retest"].presentation == arms["main"].presentation
    assert arms["options_reversed"].shows == {"items_random", "options_random", "options_reversed"}
    assert arms["items_shuffled"].shows == {"items_shuffled", "options_random"}
    assert arms["paraphrase"].shows == {"items_random", "options_random", "paraphrased"}
    for arm in made(probes=["all"], placebo=True, replicates=2, randomise="both", seed=3).values():
        assert Arm.model_validate_json(arm.model_dump_json()) == arm
    assert made()["main"] == made(randomise="items")["main"] != made(randomise="none")["main"]


class TestPlacebo:
    def test_everybody_once_more_at_t1_with_a_neutral_memory(self) -> None:
        arms = made(placebo=True)
        placebo = arms["placebo"]
        assert differences(placebo, arms["main"]) == {"digest": "neutral"}
        assert (placebo.role, placebo.methods, placebo.phases, placebo.sample) == (
            "placebo", ("longitudinal",), ("T1",), 0,
        )  # fmt: skip

    @pytest.mark.parametrize(
        "wrong", [{"methods": ["delphi"]}, {"phases": ["T0"]}, {"simulation": False}, {"digest_chars": 0}]
    )
    def test_without_a_second_wave_or_memories_it_is_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(SettingsError, match=r"placebo: .*two waves.*digest_chars above 0"):
            made(placebo=True, **wrong)


class TestReplicates:
    def test_other_seeds_and_models(self) -> None:
        arms = made(replicates=3, seed=1)
        assert list(arms) == ["main", "replicate_2", "replicate_3"]
        assert {arm.seed for arm in arms.values()} == {1, other_seed(1, "replicate_2"), other_seed(1, "replicate_3")}
        assert [arm.role for arm in arms.values()] == ["main", "replicate", "replicate"]
        assert arms["replicate_2"].methods == ()
        assert arms["replicate_2"].sample == 0
        llm = {"model": "m1", "base_url": "http://localhost:1/v1"}
        arms = made(**llm, replicate_models=["m2", "m3"])
        assert [arm.model for arm in arms.values()] == ["m1", "m2", "m3"]
        assert {arm.seed for arm in arms.values()} == {0}
        assert made(**llm, replicate_models=["m2", "m3"], replicates=3) == arms
        with pytest.raises(SettingsError, match=r"replicates: 2 with 2 replicate_models.*that makes 3"):
            made(**llm, replicate_models=["m2", "m3"], replicates=2)
        for models in (["m1"], ["m2", "m2"]):
            with pytest.raises(SettingsError, match=f"'{models[0]}' answers already"):
                made(**llm, replicate_models=models)
        with pytest.raises(SettingsError, match="replicate_models: m2 are named, but no model answers"):
            made(respondent="synthetic", replicate_models=["m2"])

    @pytest.mark.parametrize("number", [0, 51])
    def test_their_number(self, number: int) -> None:
        with pytest.raises(SettingsError, match=f"replicates: {number}"):
            made(replicates=number)


class TestGivenArms:
    def test_keep_their_place_and_may_not_come_twice(self) -> None:
        given_ = [Arm(), Arm(id="b", role="b", seed=4)]
        assert list(made(arms=given_, replicates=2)) == ["main", "b", "replicate_2"]
        with pytest.raises(SettingsError, match="arms: retest stand among the arms given already"):
            made(arms=[Arm(), Arm(id="retest", role="probe")], probes=["retest"])

    @pytest.mark.parametrize("fields", [{"randomise": "both"}, {"elicitation": "distribution"}])
    def test_say_themselves_how_they_are_asked(self, fields: dict[str, Any]) -> None:
        (name,) = fields
        with pytest.raises(SettingsError, match=f"{name}: .* beside arms"):
            made(arms=[Arm()], **fields)


@given(st.integers(0, 2**63), st.sampled_from(PROBES), st.sampled_from(PROBES))
def test_seeds_of_arms_are_31_bits_and_their_own(seed: int, one: str, other: str) -> None:
    assert 0 <= other_seed(seed, one) < 2**31
    assert (other_seed(seed, one) == other_seed(seed, other)) == (one == other)
