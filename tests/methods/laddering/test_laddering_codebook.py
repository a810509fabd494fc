"""A codebook that is applied again: unedited it changes nothing; renamed, merged, split and retyped codes are counted
anew."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

import enquete
from enquete.methods.laddering.files import chains_of
from enquete.state.errors import InputError
from enquete.study.method_operations import operate
from tests.support.bare_runs import results_alone
from tests.support.studies import personas, results_of


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("codebook")
    with results_alone():
        enquete.conduct_interviews(personas(place, 3), out=str(place / "out"), methods=["laddering"],
                                   budget_tokens=10**8, settings={"laddering": {"turns": 4}})  # fmt: skip
    return place / "out"


def do(out: Path, name: str, **given: Any) -> Any:
    return asyncio.run(operate(name, {"sim_id": str(out), **given}, out))


def folder(out: Path) -> Path:
    (path,) = (results_of(out) / "T1" / "laddering").iterdir()
    return path


def test_an_edited_codebook_is_applied_without_a_call_and_its_edits_are_kept(out: Path) -> None:
    place = folder(out)
    before = json.loads((place / "pooled_graph.json").read_text("utf-8"))
    (place / "same.yaml").write_text((place / "codebook.yaml").read_text("utf-8"), "utf-8")
    same = do(out, "apply_codebook", file="same.yaml")
    after = json.loads((place / "recoded" / "pooled_graph.json").read_text("utf-8"))
    assert (same["edits"], same["uncoded"]) == ([], 0)
    assert after == before
    book = yaml.safe_load((place / "codebook.yaml").read_text("utf-8"))
    first, second = book["codes"][:2]
    first["label"] = "a name of one's own"
    first["wordings"] += second["wordings"]
    del book["codes"][1]
    (place / "codebook_edited.yaml").write_text(yaml.safe_dump(book, allow_unicode=True), "utf-8")
    edits = do(out, "apply_codebook")["edits"]
    assert [edit["edit"] for edit in edits] == ["renamed", *["moved"] * len(second["wordings"]), "dropped"]
    codes = do(out, "laddering_results", recoded=True)
    assert codes["total"] == len(before["concepts"]) - 1
    assert "a name of one's own" in {code["label"] for code in codes["codes"]}
    assert "a name of one's own" in (place / "recoded" / "transcripts.md").read_text("utf-8")


def test_a_codebook_that_cannot_be_applied_says_why(out: Path) -> None:
    place = folder(out)
    book = yaml.safe_load((place / "codebook.yaml").read_text("utf-8"))
    book["codes"][0]["type"] = "nonsense"
    (place / "wrong.yaml").write_text(yaml.safe_dump(book), "utf-8")
    with pytest.raises(InputError, match="nonsense"):
        do(out, "apply_codebook", file="wrong.yaml")
    (place / "wrong.yaml").write_bytes("codes: [Öl".encode("latin-1"))
    with pytest.raises(InputError, match=r"wrong\.yaml: "):
        do(out, "apply_codebook", file="wrong.yaml")
    with pytest.raises(InputError, match="no such file"):
        do(out, "apply_codebook", file="missing.yaml")


def test_results_are_read_by_id_below_a_servers_root(out: Path, tmp_path: Path) -> None:
    assert {"label", "agents", "centrality"} <= do(out, "laddering_results")["codes"][0].keys()
    shown = do(out, "laddering_results", part="map")
    assert shown["map_share"] is None or shown["map_share"] > 0
    assert len(do(out, "laddering_results", part="chains")["chains"]) <= 30
    who = json.loads((folder(out) / "turn_log.jsonl").read_text("utf-8").splitlines()[0])["name"]
    assert len(do(out, "laddering_results", part="transcript", agent=who)["turns"]) <= 4
    with pytest.raises(InputError, match="nobody"):
        do(out, "laddering_results", part="transcript", agent="nobody")
    with pytest.raises(InputError):
        asyncio.run(
            operate("laddering_results", {"sim_id": str(out), "part": "map"}, tmp_path, str(tmp_path / "own_folder"))
        )


def test_chains_by_hand() -> None:
    links = [
        {"source": a, "target": b, "direct": n}
        for a, b, n in (("a", "b", 3), ("b", "c", 2), ("b", "d", 5), ("d", "b", 1))
    ]
    assert sorted(chains_of(links)) == [(["a", "b", "c"], 2), (["a", "b", "d"], 3)]
