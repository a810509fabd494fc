"""Any topic: two simulations are drafted, piloted, asked and reported with the synthetic respondent, and no file is
edited."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.interfaces.conftest import DATA, Command
from tests.support.studies import results_of

pytestmark = pytest.mark.usefixtures("no_figures")

PACK = re.compile(r"fish|fisch|dorsch|hering|\bcod\b|ostsee|baltic|trawl", re.IGNORECASE)
"""What questions that ship would speak of."""
FILES = ("longitudinal", "diversity", "delphi", "scenario", "roundtable")
LAYERS = (("laddering", "concept", "concept"), ("discovery", "ds", "schema"))


@pytest.mark.usefixtures("report_only")
@pytest.mark.parametrize(
    ("sim", "language", "topic", "files", "layers"),
    [
        pytest.param(
            "sim_683e8059ab27", "en", "Halcourt Bank has announced major changes to its cashback", FILES[:2], (),
            id="bank", marks=pytest.mark.soak,
        ),
        pytest.param(
            "sim_5ad1e6c0b742", "de", "Ein Landkreis will die Geburtsstation seines Krankenhauses schließen", FILES,
            LAYERS, id="ward",
        ),
    ],
)  # fmt: skip
def test_drafted_piloted_asked_and_reported(
    command: Command,
    monkeypatch: pytest.MonkeyPatch,
    sim: str,
    language: str,
    topic: str,
    files: tuple[str, ...],
    layers: tuple[tuple[str, str, str], ...],
) -> None:
    monkeypatch.delenv("ENQUETE_FIT")
    assert command("draft", DATA / sim, "--into", "d").code == 0
    aloud = ("--respondent", "synthetic", "--language", language, "--seed", 1)
    piloted = command(
        "check", DATA / sim, "--instrument", "longitudinal=d/longitudinal.yaml", "--pilot", 2, "--json", *aloud
    )
    assert piloted.code == 0
    assert len(piloted.object["pilot"]["items"]) == 16

    words = [word for name in files for word in ("--instrument", f"{name}=d/{name}.yaml")]
    words += [word for name, key, file in layers for word in ("--set", f"{name}.{key}=d/{file}.yaml")]
    words += ["--set", "laddering.turns=3"] if layers else []
    methods = ",".join([*files, *(name for name, _, _ in layers)])
    done = command(
        "run", DATA / sim, "--out", "o", "--methods", methods, "--phase", "T1", "--sample", 3, "--json", *words, *aloud
    )
    assert (done.code, done.object["status"]) == (0, "completed")
    (report,) = (results_of(Path("o")) / "synthesis").glob("*/report.md")
    text = report.read_text("utf-8")
    assert topic in text
    assert not PACK.findall(text)
    (drafts,) = (line for line in text.splitlines() if line.startswith(("- drafts as", "- Entwürfe")))
    assert drafts.count(".yaml") == len(files) + len(layers)
    assert command("draft", "--accept", "d").code == 0


def test_the_likely_cost_is_said_and_nobody_is_paid_unasked(command: Command) -> None:
    result = command("draft", DATA / "sim_5ad1e6c0b742", "--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    assert result.code == 2
    assert re.search(r"m will be asked about \d+ times: likely [\d,]+ tokens \(unknown USD\)", result.err)
    assert "add --yes to agree" in result.err
    assert not list(Path().iterdir())


def test_a_draft_leaves_out_rows_that_are_no_people_where_that_is_asked_for(command: Command, tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    texts = ["catch quotas are set too late", "the harbour needs its boats", "catch quotas are fair", "rents are high"]
    rows = [f'A{place},"I fish. I think that {text}. I fear that {text}."' for place, text in enumerate(texts)]
    people.write_text("\n".join(["name,persona", *rows, "Total,4", ""]), "utf-8")
    asked = ("draft", people, "--into", "d", "--theme", "quotas", "--theme", "harbour")
    refused = command(*asked)
    assert (refused.code, "--skip-non-people" in refused.err) == (2, True)
    assert command(*asked, "--skip-non-people").code == 0
