import pytest
from hypothesis import given
from hypothesis import strategies as st

from enquete.simulations.population import join, persona_hash, population_hash, require_joinable
from enquete.state.asking import Participant
from enquete.state.errors import PopulationMismatch


def agent(identity: str, name: str, persona: str = "p", digest: str | None = None) -> Participant:
    return Participant(id=identity, name=name, stakeholder_type="t", persona=persona, digest=digest)


def test_matched_lost_new_and_changed() -> None:
    before = [agent("agent:1", "Ann"), agent("agent:2", "Bob"), agent("agent:3", "Cid")]
    after = [agent("agent:4", "Dee"), agent("agent:2", "Bob", "new persona"), agent("agent:1", "Ann")]
    result = join(before, after)
    assert result.matched == (("agent:1", "agent:1"), ("agent:2", "agent:2"))
    assert (result.lost, result.new, result.changed) == (("agent:3",), ("agent:4",), ("agent:2",))
    require_joinable(result)


def test_name_and_persona_join_where_ids_differ_but_never_twins() -> None:
    result = join([agent("agent:name:ann-1", "Ann")], [agent("agent:uuid", "Ann")])
    assert result.matched == (("agent:name:ann-1", "agent:uuid"),)
    twins = join([agent("agent:a", "Ann")], [agent("agent:b", "Ann"), agent("agent:c", "Ann")])
    assert twins.matched == ()


def test_a_matched_uuid_with_another_name_is_refused() -> None:
    result = join(
        [agent("agent:1", "Ann"), agent("agent:2", "Bob")], [agent("agent:1", "Bob"), agent("agent:2", "Ann")]
    )
    with pytest.raises(PopulationMismatch, match=r"agent:1 was 'Ann', is 'Bob'"):
        require_joinable(result)
    require_joinable(join([agent("agent:1", "Ann  X")], [agent("agent:1", "ann x")]))


def test_nothing_in_common_is_refused() -> None:
    with pytest.raises(PopulationMismatch, match="none of the 1 agents"):
        require_joinable(join([agent("agent:1", "Ann")], [agent("agent:2", "Bob")]))


def test_hashes_leave_out_memory_and_keep_the_order() -> None:
    ann, bob = agent("agent:1", "Ann"), agent("agent:2", "Bob")
    assert persona_hash(ann) == persona_hash(agent("agent:9", "Ann", digest="seen"))
    assert population_hash([ann, bob]) == population_hash([agent("agent:1", "Ann", digest="seen"), bob])
    assert population_hash([ann, bob]) == population_hash([bob, ann])  # a file sorted anew holds the same people
    assert population_hash([ann, bob]) != population_hash([ann])
    assert population_hash([ann]) != population_hash([ann], {"agent:1": {"income": "900"}})
    assert len(population_hash([])) == 64


people = st.lists(
    st.builds(agent, st.sampled_from("abcdef").map("agent:{}".format), st.sampled_from(["Ann", "Bob"])),
    unique_by=lambda p: p.id,
)


@given(people, people)
def test_every_agent_is_matched_once_or_lost_or_new(before: list[Participant], after: list[Participant]) -> None:
    result = join(before, after)
    assert sorted([then for then, _ in result.matched] + list(result.lost)) == sorted(p.id for p in before)
    assert sorted([now for _, now in result.matched] + list(result.new)) == sorted(p.id for p in after)
