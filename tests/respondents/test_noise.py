"""What is planted in the synthetic respondent beside its truth is what the probes report; without it, they find
nothing."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence

import pandas as pd
import pytest

from enquete.analysis import probes
from enquete.analysis.answers import Answers, read_answers
from enquete.respondents.ground_truth import answer_at, normal, persona_hash
from enquete.respondents.ledger_context import answering, present
from enquete.respondents.neutral import control_answers, control_block, control_scale, neutral
from enquete.respondents.questions import names_of, read_reply
from enquete.respondents.synthetic import SOUND, VARIES, Noise, SyntheticRespondent, varied
from enquete.state.asking import Answer, Arm, Block, BlockKey, Item, Language, Option, Participant
from enquete.state.interview_context import Completion
from tests.support.populations import participants

PEOPLE = participants(60)
FIVE = tuple(Option(value=n, label="") for n in range(1, 6))
ITEMS = tuple(Item(id=f"i{n}", kind="scale", wording=f"{n}?", options=FIVE) for n in range(12))
AGAIN = 99


def truth(who: Participant, block: Block, language: Language, seed: int) -> Sequence[Answer]:
    """A view by type and item, a deviation by agent and item; a digest moves everybody up."""
    moved = 0.5 if who.digest and block.key.phase == "T1" else 0.0
    return [
        answer_at(
            0.6 * normal(seed, who.stakeholder_type, item.id) + 0.2 * normal(seed, persona_hash(who), item.id) + moved,
            item,
            confidence=0.5,
        )
        for item in block.items
    ]


def answers(arm: Arm, noise: Noise = SOUND, *, phase: str = "T1", digest: str | None = None) -> Answers:
    """What the agents of an arm say, read as a model's replies would be."""
    people = participants(len(PEOPLE), digest=digest)
    asked_truth = control_answers if arm.asks == "controls" else truth
    respondent = SyntheticRespondent(asked_truth, "en", 1, again=arm.seed, unmoved=arm.digest == "neutral", noise=noise)
    rows = []
    for agent in people:
        who = answering(agent, arm, people, "en")
        key = BlockKey("run", arm.id, "longitudinal", phase, "", 0, 0, agent.id, "items")
        block = present(Block(key=key, instruction="Please.", items=ITEMS), arm, "en")
        read = read_reply(Completion(respondent._reply(who, block)), block.items, names_of(block)).answers
        for position, item in enumerate(block.in_shown_order(), start=1):
            rows.append(
                {"participant": agent.id, "stakeholder_type": agent.stakeholder_type, "item": item.id,
                 "status": read[item.id].status, "value": read[item.id].value, "scale_min": 1, "scale_max": 5,
                 "item_position": position,
                 "option_order": json.dumps([option.value for option in item.options_in_shown_order()])}
            )  # fmt: skip
    return read_answers(pd.DataFrame(rows))


MAIN = Arm(seed=1, draw_seed=1)
RETEST = MAIN.model_copy(update={"id": "retest", "role": "probe", "seed": AGAIN})


def arm(**changes: object) -> Arm:
    return Arm.model_validate({**MAIN.model_dump(), "id": "probe", "role": "probe", "draw_seed": 1, **changes})


def test_a_retest_changes_the_planted_share_by_one_point_and_controls_do_not_drift() -> None:
    diagnostic = probes.retest(answers(MAIN), answers(RETEST), temperature=0)
    # 720 answers, p = .12: four standard errors are 4·√(.12·.88/720) = .048.
    assert diagnostic.detail["exact_share"] == pytest.approx(1 - VARIES, abs=0.048)
    assert diagnostic.detail["mean_distance"] == pytest.approx(1 - diagnostic.detail["exact_share"], abs=1e-9)
    assert diagnostic.verdict == "fine"
    waves = [answers(arm(asks="controls"), phase=phase, digest="x" * 400) for phase in ("T0", "T1")]
    items = [item.id for item in neutral().controls.items]
    diagnostic = probes.negative_control(waves[0], waves[1], items)
    assert (diagnostic.value, diagnostic.verdict) == (0, "fine")
    assert all(control_scale(item) == (1, 5) for item in items)
    assert control_scale("stock_cod_recovery") is None


def test_a_sound_respondent_ignores_orders_and_frames() -> None:
    main = answers(MAIN)
    kappa, shift = probes.option_order(main, answers(arm(presentation="options_reversed")))
    assert (kappa.value, shift.value) == (1, 0)
    orders = [main, *(answers(arm(presentation=name)) for name in ("items_shuffled", "items_shuffled_2"))]
    assert probes.item_order(orders).value == pytest.approx(1)
    assert probes.paraphrase([main, answers(arm(presentation="paraphrased"))]).value == pytest.approx(0)


def test_what_takes_the_first_option_repeats_its_neighbour_or_goes_by_the_frame_is_found() -> None:
    noise = Noise(first_option=0.5)
    kappa, shift = probes.option_order(answers(MAIN, noise), answers(arm(presentation="options_reversed"), noise))
    assert kappa.verdict == "bad"
    # By hand: the half that takes the first says 1 as written and 5 reversed, the others the same: ½·4 = 2 points.
    assert shift.value == pytest.approx(2, abs=0.3)
    noise = Noise(neighbour=0.7)
    orders = [answers(arm(presentation=p), noise) for p in ("as_written", "items_shuffled", "items_shuffled_2")]
    assert probes.item_order(orders).verdict == "bad"
    noise = Noise(frame=1.0)
    found = probes.paraphrase([answers(MAIN, noise), answers(arm(presentation="paraphrased"), noise)])
    assert found.value is not None
    assert found.value > 0.1
    assert found.verdict in ("caution", "bad")


def test_personas_that_count_or_not_and_a_swapped_one_gives_the_other_s_answers() -> None:
    for kind, judge in (("swapped", probes.persona_swap), ("null", probes.null_persona)):
        sound = judge(answers(MAIN), answers(arm(persona=kind)), answers(RETEST))
        assert sound.verdict == "fine", kind
        blind = Noise(persona_blind=1.0)
        diagnostic = judge(answers(MAIN, blind), answers(arm(persona=kind), blind), answers(RETEST, blind))
        assert (diagnostic.value, diagnostic.verdict, diagnostic.reason_code) == (0, "bad", "persona_ignored")
    main, swapped = answers(MAIN), answers(arm(persona="swapped"))
    by_persona = {who.persona: who.id for who in PEOPLE}
    place = {who: row for row, who in enumerate(main.participants)}
    for who in PEOPLE:
        other = by_persona[answering(who, arm(persona="swapped"), PEOPLE, "en").persona]
        assert list(swapped.value[place[who.id]]) == list(main.value[place[other]])


def test_a_neutral_memory_moves_nobody_unless_any_memory_does() -> None:
    memory = "x" * 400
    before, after = answers(MAIN, phase="T0"), answers(MAIN, digest=memory)
    placebo = answers(arm(digest="neutral"), digest=memory)
    diagnostic = probes.placebo_exposure(before, after, before, placebo)
    assert diagnostic.detail["directed"] == pytest.approx(
        1, abs=0.2
    )  # .5 of half the scale of four points, less what hits its end
    assert (placebo.value == before.value).all()
    gullible = answers(arm(digest="neutral"), Noise(follows_any_digest=True), digest=memory)
    assert (gullible.value == after.value).all()


def test_a_sort_that_varies_stays_legal() -> None:
    grid = {"-1": 3, "0": 4, "1": 3}
    options = tuple(Option(value=n, label="") for n in (-1, 0, 1))
    items = tuple(Item(id=f"s{n}", kind="scale", wording="?", options=options) for n in range(10))
    columns = [-1] * 3 + [0] * 4 + [1] * 3
    changed = 0
    for who in PEOPLE:
        key = BlockKey("run", "main", "diversity", "T1", "", 0, 0, who.id, "sort")
        block = Block(key=key, instruction="Sort.", items=items, constraint={"grid": dict(grid)})
        sort = {item.id: Answer(item.id, "ok", float(c)) for item, c in zip(items, columns, strict=True)}
        again = varied(who, block, sort, AGAIN)
        assert Counter(answer.value for answer in again.values()) == {-1: 3, 0: 4, 1: 3}
        changed += sum(again[item].value != sort[item].value for item in sort)
    assert 0 < changed / (10 * len(PEOPLE)) < 2 * VARIES


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_control_has_its_words(language: Language) -> None:
    key = BlockKey("run", "x", "longitudinal", "T0", "", 0, 0, "agent:a", "items")
    block = control_block(Block(key=key, instruction="Fish.", items=ITEMS), language)
    assert all(item.wording and len(item.options) == 5 for item in block.items)
    assert "Fish" not in block.instruction
