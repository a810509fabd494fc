"""Instruments from files: problems in the file's own terms, hashes, and nothing but InstrumentError."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from enquete.instruments.load import instrument_hash, load_instrument, load_shipped, validate_instrument
from enquete.instruments.pack import pack_named
from enquete.instruments.source import read_source
from enquete.instruments.text import instrument_notices
from enquete.methods.delphi.instrument import DelphiInstrument
from enquete.methods.longitudinal.instrument import LongitudinalInstrument
from enquete.state.errors import InstrumentError

MODELS: dict[str, type[BaseModel]] = {"longitudinal": LongitudinalInstrument, "delphi": DelphiInstrument}
TEXTS = {name: pack_named().instruments[name].read_text("utf-8") for name in MODELS}
DOCUMENTS: dict[str, dict[str, Any]] = {name: yaml.safe_load(text) for name, text in TEXTS.items()}


def load_text(text: str, name: str = "longitudinal") -> BaseModel:
    return validate_instrument(MODELS[name], read_source("my.yaml", text.encode()))


def load_values(values: object, name: str = "longitudinal") -> BaseModel:
    return load_text(json.dumps(values), name)  # JSON is YAML, and much faster to write


def problems_of(text: str, name: str = "longitudinal") -> tuple[str, ...]:
    with pytest.raises(InstrumentError) as caught:
        load_text(text, name)
    return caught.value.problems


def edited(old: str, new: str, name: str = "longitudinal") -> str:
    assert old in TEXTS[name]
    return TEXTS[name].replace(old, new, 1)


def line_of(text: str, needle: str) -> int:
    return text[: text.index(needle)].count("\n") + 1


# --- files -------------------------------------------------------------------------------------------------------


def test_load_from_a_path(tmp_path: Path) -> None:
    path = tmp_path / "my.yaml"
    path.write_text(TEXTS["longitudinal"], "utf-8")
    assert load_instrument(LongitudinalInstrument, path) == load_shipped(LongitudinalInstrument, "longitudinal")


def test_missing_file_names_a_similar_one(tmp_path: Path) -> None:
    (tmp_path / "survey.yaml").write_text("a: 1")
    with pytest.raises(InstrumentError, match=r"suvrey\.yaml: no such file; did you mean 'survey\.yaml'\?"):
        load_instrument(LongitudinalInstrument, tmp_path / "suvrey.yaml")


@pytest.mark.parametrize(
    ("name", "message"),
    [("", "is a folder"), ("none/my.yaml", "does not exist either"), ("a\0b.yaml", "cannot be read"),
        ("x" * 300, "read")],
)  # fmt: skip
def test_what_is_no_file(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(InstrumentError, match=message):
        load_instrument(LongitudinalInstrument, tmp_path / name)


@pytest.mark.parametrize("name", ["longitudnal", "../longitudinal"])
def test_unknown_shipped_name(name: str) -> None:
    with pytest.raises(InstrumentError, match=r"is no shipped instrument; .*delphi.*longitudinal"):
        load_shipped(LongitudinalInstrument, name)


# --- problems ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("longitudinal", "scale: likert5", "scale: 12", "scale: '12' is no scale; Known: "),
        ("longitudinal", "scale: likert5", "scale: yes", "scale: is true, no scale; write a name such as likert5"),
        ("longitudinal", "scale: likert5", "scales: 7", "scales: is 7; write a mapping (key: value)"),
        ("longitudinal", "reverse_coded: true", "reverse_coded: nope",
            "items[3].reverse_coded: is 'nope'; write true or"),
        ("longitudinal", "item_id: stock_closures", "item_id: stock_cod_recovery",
            "items[1].item_id: 'stock_cod_recovery' is"),
        ("longitudinal", "item_id: comment", "item_id: climate_threat", "comment.item_id: 'climate_threat' is already"),
        ("longitudinal", "item_id: stock_closures", "item_id: stock/closures",
            "items[1].item_id: 'stock/closures' is no item"),
        ("longitudinal", 'version: "1.0"', "version:", "version: is empty; write a text"),
        ("longitudinal", "  en: Views on", "  fr: Views on", "title.fr: is no known key; Known: de, en"),
        ("longitudinal", "languages: [de, en]", "languages: [de, fr]", "languages[1]: is 'fr'; write 'de' or 'en'"),
        ("longitudinal", "languages: [de, en]", "languages: [en]",
            "language_default 'de' is not among languages ['en']"),
        ("longitudinal", "languages: [de, en]", "languages: de",
            "languages: is 'de'; write a list (lines beginning with -)"),
        ("longitudinal", "languages: [de, en]", "languages: [de, de, en]",
            "languages: de, de, en names a language twice"),
        ("longitudinal", "families:\n", "families:\n  fleet: {de: Flotte, en: Fleet}\n",
            "families.fleet: 'fleet' is defined but"),
        ("longitudinal", "scale: likert5", "scales: {x: {min: 1, max: 2, labels: {1: a, 2: [a]}}}",
            "scales.x.labels[2]: is a list; write a text or {de"),
        ("delphi", "consensus_iqr: 1", "consensus_iqr: yes", "disagreement.consensus_iqr: is true; write a number"),
        ("delphi", "rounds: 3", "rounds: 2", "rounds: is 2; must be greater than or equal to 3"),
        ("delphi", "rounds: 3", "rounds: 3.5", "rounds: is 3.5; write a whole number"),
        ("delphi", "({description})", "({decription})",
            "dimensions[0].wording: the German text has {decription}; did you mean"),
        ("delphi", "“{theme}”", "“theme”",
            "dimensions[0].wording: the English text lacks {theme}, the place of the theme"),
        ("delphi", "consensus_iqr: 1", "consensus_iqr: 3", "disagreement: consensus_iqr 3 is above disagreement_iqr 2"),
        ("delphi", "question_id: risks", "question_id: drivers",
            "questions[1].question_id: 'drivers' is already the id"),
    ],
)  # fmt: skip
def test_problem_names_field_value_and_remedy(name: str, old: str, new: str, message: str) -> None:
    problems = problems_of(edited(old, new, name), name)
    assert any(re.sub(r"^my\.yaml:\d+: ", "", problem).startswith(message) for problem in problems), problems


@pytest.mark.parametrize(
    ("old", "new", "at"),
    [
        ("family: market", "family: markt", "family: markt"),
        ("item_id: climate_threat", "item_id: a b", "item_id: a b"),
        ("    en: The MSC label is", "    # en: The MSC label is", "de: Das MSC-Siegel steht"),
        ("    en: The MSC label is a reliable sign of sustainably caught fish.", "    en: ''", "en: ''"),
    ],
)
def test_problem_names_the_line(old: str, new: str, at: str) -> None:
    text = edited(old, new)
    (problem,) = problems_of(text)
    assert problem.startswith(f"my.yaml:{line_of(text, at)}: ")


def test_a_part_without_text_and_ids_says_what_is_missing() -> None:
    problems = problems_of(edited("items:\n", "items:\n  - {family: stock}\n"))
    assert [problem.split(": ", 1)[1] for problem in problems] == [
        "items[0].item_id: is missing",
        "items[0].wording: is missing; write the text as `de:` (German) and `en:` (English)",
    ]


@pytest.mark.parametrize("key", ["items", "families"])
def test_lists_must_have_entries(key: str) -> None:
    values = copy.deepcopy(DOCUMENTS["longitudinal"])
    values[key] = type(values[key])()
    with pytest.raises(InstrumentError, match=f"{key}: has no entry; at least one is needed"):
        load_values(values)


def test_languages_are_a_promise_and_without_it_texts_fall_back() -> None:
    text = edited("    en: Control requirements burden fishing businesses more than their benefits justify.\n", "")
    (problem,) = problems_of(text)
    assert "items[7].en: is missing; `languages` promises every text in de and en" in problem
    lenient = load_text(text.replace("languages: [de, en]\n", ""))
    assert instrument_notices(lenient, "de") == ()
    assert instrument_notices(lenient, "en") == ("items[7].wording: no English text, the German one is shown",)


# --- hash --------------------------------------------------------------------------------------------------------


def texts_in(values: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Paths of all strings under a language key."""
    entries = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in entries:
        if isinstance(value, str) and key in ("de", "en"):
            yield (*path, key)
        else:
            yield from texts_in(value, (*path, key))


def parent_of(values: Any, path: tuple[str | int, ...]) -> Any:
    for step in path[:-1]:
        values = values[step]
    return values


def turned(values: object) -> object:
    """The same values with every mapping's keys in reverse order."""
    if isinstance(values, dict):
        return {key: turned(value) for key, value in reversed(values.items())}
    return [turned(value) for value in values] if isinstance(values, list) else values


@pytest.mark.parametrize("name", MODELS)
def test_hash_ignores_key_order_comments_and_layout(name: str) -> None:
    shipped = instrument_hash(load_shipped(MODELS[name], name))
    assert instrument_hash(load_values(turned(DOCUMENTS[name]), name)) == shipped
    assert instrument_hash(load_text("# a comment\n" + TEXTS[name].replace("\n\n", "\n\n\n"), name)) == shipped


@pytest.mark.parametrize("name", MODELS)
def test_hash_changes_with_any_text(name: str) -> None:
    shipped = load_shipped(MODELS[name], name)
    stored = shipped.model_dump(mode="json", exclude_none=True)
    paths, hashes = list(texts_in(stored)), {instrument_hash(shipped)}
    for path in paths:
        values = copy.deepcopy(stored)
        parent_of(values, path)[path[-1]] += " x"
        hashes.add(instrument_hash(MODELS[name].model_validate(values)))
    assert len(hashes) == len(paths) + 1


def test_hash_holds_the_scale_that_is_shown() -> None:
    """A file that defines likert5 itself with other labels is another instrument."""
    scales = "scales: {likert5: {min: 1, max: 5, labels: {1: {de: nein, en: 'no'}, 5: {de: ja, en: 'yes'}}}}\n"
    assert instrument_hash(load_text(scales + TEXTS["longitudinal"])) != instrument_hash(
        load_text(TEXTS["longitudinal"])
    )


@pytest.mark.parametrize("name", MODELS)
def test_a_stored_instrument_is_read_back_with_its_hash(name: str) -> None:
    shipped = load_shipped(MODELS[name], name)
    stored = json.loads(json.dumps(shipped.model_dump(mode="json")))
    again = MODELS[name].model_validate(stored)
    assert again == shipped
    assert instrument_hash(again) == instrument_hash(shipped)
    assert re.fullmatch("[0-9a-f]{16}", instrument_hash(shipped))


# --- properties --------------------------------------------------------------------------------------------------


def places(values: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if path:
        yield path
    entries = values.items() if isinstance(values, dict) else enumerate(values) if isinstance(values, list) else ()
    for key, value in entries:
        yield from places(value, (*path, key))


PLACES = [(name, path) for name, values in DOCUMENTS.items() for path in places(values)]
ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


FEWER = settings(suppress_health_check=[HealthCheck.too_slow], max_examples=settings.default.max_examples // 2)


def outcome(text: str, name: str) -> BaseModel | tuple[str, ...]:
    """The instrument or its problems; any other exception fails the test."""
    try:
        return load_text(text, name)
    except InstrumentError as error:
        return error.problems


def loads_or_explains(values: object, name: str) -> None:
    text = json.dumps(values, ensure_ascii=False)
    result = outcome(text, name)
    if isinstance(result, BaseModel):
        assert len(instrument_hash(result)) == 16
        instrument_notices(result, "en")
    else:
        assert result
        assert all(problem.startswith("my.yaml") and len(problem) < 1000 for problem in result)


@FEWER
@given(st.sampled_from(PLACES), ANY_JSON)
def test_any_value_anywhere_loads_or_is_explained(place: tuple[str, tuple[str | int, ...]], value: object) -> None:
    name, path = place
    values = copy.deepcopy(DOCUMENTS[name])
    parent_of(values, path)[path[-1]] = value
    loads_or_explains(values, name)


@FEWER
@given(st.sampled_from(PLACES), st.none() | st.text(max_size=12))
def test_any_key_lost_or_renamed_loads_or_is_explained(
    place: tuple[str, tuple[str | int, ...]], renamed: str | None
) -> None:
    name, path = place
    values = copy.deepcopy(DOCUMENTS[name])
    parent = parent_of(values, path)
    value = parent.pop(path[-1])
    if renamed is not None and isinstance(parent, dict):
        parent[renamed] = value
    loads_or_explains(values, name)


@FEWER
@given(
    st.sampled_from(sorted(TEXTS)), st.integers(min_value=0, max_value=10_000), st.integers(min_value=0, max_value=30),
    st.text(alphabet="ab1:-&*!|>'\"[]{}# \n\t", max_size=6),
)  # fmt: skip
def test_any_slip_of_the_keyboard_loads_or_is_explained(name: str, at: int, deleted: int, typed: str) -> None:
    text = TEXTS[name]
    at %= len(text)
    assert outcome(text[:at] + typed + text[at + deleted :], name)
