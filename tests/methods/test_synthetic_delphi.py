"""The synthetic Delphi panel against its documented truth."""

import random
from functools import lru_cache

import pandas as pd
import pytest

from enquete.analysis.panel import converge, describe
from enquete.instruments.load import load_shipped
from enquete.instruments.pack import NEUTRAL, pack_named
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.delphi.procedure import MOVERS_POLARISED, DelphiTruth, planted
from enquete.methods.delphi.results import analyse
from enquete.reports.context import AnalysisContext
from enquete.respondents.ground_truth import persona_hash, type_of
from enquete.state.asking import Block, BlockKey, Item, Option
from tests.methods.planted_people import population
from tests.support.tables import rows

# Coded labels as a model might word them, none of them a planted sentence
LABELS = {
    "recovery": ("Erholung der Bestände", "Stock recovery"),
    "warming": ("Klimawandel", "Climate change"),
    "succession": ("Nachfolge und Ausbildung", "Lack of apprentices"),
    "nutrients": ("Nährstoffeinträge", "Nutrient pollution"),
    "direct_sales": ("Direktvermarktung", "Direct sales"),
    "comanagement": ("Beteiligung der Praxis", "Participation in decisions"),
    "quota_shares": ("Gerechte Quoten", "Fair quota allocation"),
    "bottom_trawls": ("Verbot von Grundschleppnetzen", "Ban on bottom trawls"),
    "seals": ("Robben und Kormorane", "Seals and cormorants"),
    "label": ("Zertifizierung", "Certification and labels"),
}
SEEDS = range(5)
INSTRUMENT = load_shipped(DelphiInstrument, "delphi")
PLANTED = planted(INSTRUMENT)
TRUTH = PLANTED.truth
THEMES = tuple(TRUTH.themes)
CLAIMS = {language: {key: theme.claims[language] for key, theme in TRUTH.themes.items()} for language in ("de", "en")}
REASONS = pack_named(NEUTRAL).truth("delphi", DelphiTruth).reasons
answer, voiced, recognise = PLANTED, PLANTED.voiced, TRUTH.recognised


def in_camp(theme, who):
    return TRUTH.in_camp(theme, type_of(who, PLANTED.pack), persona_hash(who))


def block(who, items, round_, quoted=()):
    key = BlockKey("run", "main", "delphi", "T1", "", round_, 0, who.id, "all")
    return Block(key=key, instruction="", items=tuple(items), quoted=quoted)


def rating(theme, dimension="importance", k=5, reason=False, wording=None):
    options = tuple(Option(value=v, label=str(v)) for v in range(1, k + 1))
    text = wording or f"Thema „{LABELS[theme][0]}“: Wie wichtig ist es für die Zukunft der deutschen Fischerei?"
    return Item(id=f"theme:{theme}/{dimension}", kind="scale", wording=text, options=options, reason=reason)


def rate(item, seed, round_=2, quoted=(), people=None):
    answers = {p.id: answer(p, block(p, [item], round_, quoted), "de", seed)[0] for p in people or population()}
    return answers, pd.Series({name: a.value for name, a in answers.items()})


def feedback(item, values):
    d = describe(values, 1, 5)
    return (("Ergebnisse der Runde 2", f"Anonym:\n{item.id}: Median {d.median:g}, IQR {d.iqr:g}, n {d.n}\n"),)


def test_the_split_on_two_and_four_hides_from_the_iqr():
    for seed in SEEDS:
        _, values = rate(rating("label"), seed)
        description = describe(values, 1, 5)
        assert description.iqr == 2  # not above 2
        assert description.agreement < 0.2
        assert values.isin([2, 4]).mean() > 0.5


@pytest.mark.parametrize("theme", THEMES)
def test_consensual_themes_converge_and_polarised_ones_hold_out(theme):
    item, off_median, toward = rating(theme), 0, 0
    for seed in SEEDS:
        _, first = rate(item, seed)
        revised, second = rate(item.model_copy(update={"reason": True}), seed, 3, feedback(item, first))
        convergence = converge(first, second)
        off_median, toward = off_median + convergence.n_off_median, toward + convergence.n_toward
        assert convergence.n_away == 0
        assert all(a.text for a in revised.values())
        assert TRUTH.themes[theme].polarised or convergence.iqr_second <= convergence.iqr_first
    if TRUTH.themes[theme].polarised:
        assert toward < 2 * MOVERS_POLARISED * off_median
    else:
        assert toward > 0.5 * off_median


@lru_cache(maxsize=3)
def findings(seed):
    """Findings over planted ratings of all themes: importance in rounds 2 and 3, as the response table holds them."""
    people, made, shown = population(), [], {}
    for theme in THEMES:
        item = rating(theme)
        _, first = rate(item, seed)
        shown[item.id] = {"median": float(first.median())}
        revised, _ = rate(item.model_copy(update={"reason": True}), seed, 3, feedback(item, first))
        for who in people:
            made.append((2, who, item.id, first[who.id], ""))
            made.append((3, who, item.id, revised[who.id].value, revised[who.id].text))
    table = pd.DataFrame(
        {"phase": "T1", "round": n, "run_id": "r", "participant": who.id, "agent_name": who.name, "arm": "main",
         "stakeholder_type": "", "item_id": item, "status": "ok", "value": value, "text": text}
        for n, who, item, value, text in made
    )  # fmt: skip
    themes = [{"id": t, "label": LABELS[t][1], "description": "", "statements": []} for t in THEMES]
    pinned = {"themes": {"themes": themes}, "feedback/2": shown}
    return analyse(table, INSTRUMENT, None, AnalysisContext(language="en", pinned=pinned))


def wrong_verdicts(seeds):
    """Verdicts of the last round against the truth: (false alarms on consensual themes, polarised themes missed)."""
    alarms, missed = [], []
    for seed in seeds:
        analysis = findings(seed)
        last = {row["theme"]: row for row in rows(analysis, "ratings", round=3)}
        disputed = {row["theme"] for row in rows(analysis, "dissent", label="disagreement")}
        for theme in THEMES:
            entry = last[theme]
            if TRUTH.themes[theme].polarised:
                missed.append(theme not in disputed or not entry["polarised"] or entry["label"] != "disagreement")
            else:
                alarms.append(theme in disputed or bool(entry["polarised"]) or not entry["agreed"])
    return alarms, missed


def test_findings_flag_the_polarised_themes_and_no_consensual_one():
    alarms, missed = wrong_verdicts(range(3))
    assert not any(alarms)
    assert not any(missed)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_findings_flag_the_polarised_themes_over_two_hundred_seeds():
    alarms, missed = wrong_verdicts(range(200))
    print(f"false alarms {sum(alarms)} of {len(alarms)}, missed {sum(missed)} of {len(missed)}")
    assert sum(alarms) <= 0.05 * len(alarms)
    assert sum(missed) <= 0.05 * len(missed)


def test_the_dissent_map_names_the_planted_camps_in_their_words():
    people = {who.id: who for who in population()}
    analysis = findings(0)
    for dispute in rows(analysis, "dissent", label="disagreement"):
        sides = [rows(analysis, "standing", theme=dispute["theme"], side=side) for side in ("above", "below")]
        high, low = ([in_camp(row["theme"], people[row["participant"]]) for row in side] for side in sides)
        if dispute["kind"] != "camps":  # opinions are spread: nobody stands against a middle that there is not
            assert sides == [[], []]
            continue
        assert min(len(high), len(low)) >= len(people) / 4
        assert sum(high) >= 0.9 * len(high)
        assert sum(low) <= 0.1 * len(low)
        assert all(row["reason"] for side in sides for row in side if row["place"] <= 20)


def test_camps_leave_few_hold_outs():
    """The defect: nearly everybody "held out" because both camps did. Measured over 9 seeds of 50 agents: 0 to 20."""
    for seed in range(2):
        analysis = findings(seed)
        held = {row["theme"] for row in rows(analysis, "dissent", kind="hold_outs")}
        out = {row["participant"] for row in rows(analysis, "standing") if row["theme"] in held}
        assert len(out) < len(population()) / 4
        assert not any(row["n_holding_out"] for row in rows(analysis, "dissent", kind="camps"))


@pytest.mark.parametrize("language", ["de", "en"])
def test_reasons_fit_what_happened(language):
    item = rating("quota_shares", reason=True)
    quoted = ((f"{item.id}", f"{item.id}: median 3, IQR 4, n 54"),)
    outcomes = set()
    for p in population():
        (before,) = answer(p, block(p, [item.model_copy(update={"reason": False})], 2), language, 0)
        (after,) = answer(p, block(p, [item], 3, quoted), language, 0)
        outcome = "moved" if after.value != before.value else "held" if after.value != 3 else "agreed"
        outcomes.add(outcome)
        assert any(after.text.startswith(reason) for reason in REASONS[outcome][language])
    assert outcomes >= {"moved", "held"}


def test_unknown_themes_are_rated_and_without_feedback_nobody_moves():
    for theme in ("recovery", "seals"):
        assert rate(rating(theme), 0)[1].equals(rate(rating(theme), 0, 3)[1])
    item = rating("recovery")
    text = "theme:other/importance: median 1, IQR 0, n 9\n- theme:recovery/importance: Median 2,5, IQR 1, n 9"
    _, first = rate(item, 0)
    _, second = rate(item, 0, 3, (("x", text),))
    assert converge(first, second, median=2.5).n_toward > 20
    means = [rate(rating(f"x{i}", wording="Raumfahrt"), 0, people=population(9))[1].mean() for i in range(8)]
    assert len(set(means)) > 4
    assert rate(rating("x1", wording="Raumfahrt", k=7), 0)[1].between(1, 7).all()
    assert rate(rating("seals", k=3), 0)[1].isin([1, 2, 3]).all()


@pytest.mark.parametrize("index", [0, 1])
def test_themes_are_recognised_in_other_words(index):
    assert {key: recognise(labels[index]) for key, labels in LABELS.items()} == {key: key for key in LABELS}
    assert recognise("Raumfahrt") is None


@pytest.mark.parametrize("language", ["de", "en"])
def test_every_planted_sentence_is_recognised_as_its_theme(language):
    claims = [(key, claim) for key, texts in CLAIMS[language].items() for claim in texts]
    hits = [recognise(claim) == key for key, claim in claims]
    assert sum(hits) / len(hits) >= 0.8


@pytest.mark.parametrize("language", ["de", "en"])
def test_round_one_voices_the_planted_themes(language):
    themes = set()
    for p in population(36):
        for question in ("drivers", "risks", "measures", "responsibility"):
            (reply,) = answer(p, block(p, [Item(id=question, kind="text", wording="?")], 1), language, 0)
            keys = voiced(p, question, 0)
            themes.update(keys)
            assert 1 <= len(keys) <= 3
            for key in keys:
                assert any(claim[1:] in reply.text for claim in CLAIMS[language][key])
            assert reply.text[0].isupper()
            assert reply.value is None
    assert themes == set(THEMES)


def test_nobody_voices_what_they_rate_low():
    for p in population(90):
        assert all(not TRUTH.themes[k].polarised or in_camp(k, p) for k in voiced(p, "risks", 4))


def test_same_answer_alone_in_a_block_and_in_any_order():
    who = population(1)[0]
    items = [rating(key, dimension, reason=True) for key in LABELS for dimension in ("importance", "plausibility")]
    items.append(Item(id="drivers", kind="text", wording="?"))
    quoted = tuple(line for key in LABELS for line in feedback(rating(key), [2, 3, 3]))
    together = {a.item: a for a in answer(who, block(who, items, 3, quoted), "de", 9)}
    for item in random.Random(1).sample(items, len(items)):
        assert answer(who, block(who, [item], 3, quoted), "de", 9) == (together[item.id],)
