"""The summary by the model: printed only if every figure and answer in it is the findings'."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import enquete
from enquete.reports import narrative
from enquete.reports.synthesis import prepare
from enquete.runs.planning import planned
from enquete.runs.run_session import using
from enquete.state.settings import Machine
from tests.support.ledgers import ScriptedSender
from tests.support.model_server import ModelServer
from tests.support.studies import call_keys, personas

ENOUGH = 50_000_000
Body = dict[str, Any]


def shown_findings(body: Body) -> list[dict[str, Any]] | None:
    """The claims that a request for a narrative shows; None for any other request."""
    text = body["messages"][-1]["content"]
    return findings_in(text) if '"finding_ids"' in text else None


def findings_in(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines() if line.startswith('{"id"')]


def paragraph(text: str, claim: dict[str, Any], answers: list[str]) -> str:
    return json.dumps({"paragraphs": [{"text": text, "finding_ids": [claim["id"]], "answer_ids": answers}]})


def truthful(claims: list[dict[str, Any]]) -> str:
    return paragraph(f"Auffällig ist: {claims[0]['says']}", claims[0], claims[0]["answers"][:1])


def lying(claims: list[dict[str, Any]]) -> str:
    return paragraph("Die Zustimmung stieg um 98,76 Punkte.", claims[0], claims[0]["answers"][:1])


def inventing(claims: list[dict[str, Any]]) -> str:
    return paragraph("Alles wie gehabt.", claims[0], ["run/main/x"])


def interview(tmp_path: Path, server: ModelServer, agents: int = 8, **more: Any) -> enquete.Run:
    asked = {"methods": ["poll"], "model": "m", "base_url": server.base_url, "budget_tokens": ENOUGH, "new": True}
    return enquete.conduct_interviews(personas(tmp_path, agents), out=str(tmp_path / "out"), **{**asked, **more})


def scripted(*replies: Callable[[list[dict[str, Any]]], str]) -> tuple[ModelServer, list[int]]:
    """A server that answers interviews as usual, and requests for a narrative in turn, the last for ever."""
    asked: list[int] = []

    def script(body: Body) -> str | None:
        claims = shown_findings(body)
        if claims is None:
            return None
        asked.append(len(claims))
        return replies[min(len(asked), len(replies)) - 1](claims)

    return ModelServer(script=script), asked


def summary(run: enquete.Run) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((run.path / "narrative.json").read_text("utf-8"))
    return data


def narratives(run: enquete.Run) -> list[tuple[Any, ...]]:
    return [key for key in call_keys(run.folder) if key[3] == "narrative"]


@pytest.mark.usefixtures("report_only")
def test_a_corrected_text_is_printed_and_asked_for_once_whatever_the_run_is_called(
    tmp_path: Path,
) -> None:
    """Ids of answers begin with their run's: were they shown whole, the same answers of another run would make another
    prompt. Walked again nothing is bought, and what is written is the same."""
    server, asked = scripted(lying, truthful)
    with server:
        first = interview(tmp_path, server)
        told = [entry.body["messages"][-1]["content"] for entry in server.requests if shown_findings(entry.body)]
        before = len(server.requests)
        written = (first.report, call_keys(first.folder))
        again = enquete.resume(
            first.run_id, out=str(tmp_path / "out"), fresh=True, budget_tokens=ENOUGH, base_url=server.base_url
        )
        assert (again.report, call_keys(again.folder)) == written
        assert len(server.requests) == before
    assert first.status == "completed"
    assert len(asked) == 2
    assert asked[0] > 1
    assert "98,76 is no figure of the findings cited" in told[1]
    assert "Auffällig ist: " in first.report
    assert "Diese Zusammenfassung hat das Modell m aus den Befunden geschrieben" in first.report
    assert {key[:4] for key in narratives(first)} == {("synthesis", "", "main", "narrative")}
    assert "| Synthese |  | main | narrative | 2 |" in (first.path / "appendix.md").read_text("utf-8")
    audited = [json.loads(line) for line in (first.path / "audit.jsonl").read_text("utf-8").splitlines()]
    assert [call["purpose"] for call in audited] == ["narrative"] * 2
    assert first.run_id not in told[0]
    assert summary(first)["by"] == "model"
    cited = [answer_id for paragraph in summary(first)["paragraphs"] for answer_id in paragraph["answer_ids"]]
    assert cited


@pytest.mark.usefixtures("report_only")
@pytest.mark.parametrize(
    ("replies", "requests", "by", "told"),
    [  # for a figure, and after the one corrective retry for an answer that nobody gave; no JSON at all
        ((lying, inventing), 2, "refused", "wurde auch nach einer Korrektur zurückgewiesen"),
        ((lambda claims: "I would rather not.",), None, "unwritten", "Ein Text des Modells liegt nicht vor"),
    ],
    ids=["false", "unreadable"],
)
def test_a_text_that_cannot_be_printed_leaves_a_complete_run(
    tmp_path: Path, replies: Any, requests: int | None, by: str, told: str
) -> None:
    server, asked = scripted(*replies)
    with server:
        run = interview(tmp_path, server, 6)
    assert run.status == "completed"
    assert len(asked) == requests if requests else asked
    assert summary(run)["by"] == by
    assert told in run.report
    assert "98,76 Punkte" not in run.report


@pytest.mark.usefixtures("report_only")
def test_a_synthetic_run_buys_no_narrative_and_without_budget_nothing_is_sent_or_pinned(tmp_path: Path) -> None:
    """With a model and a budget the text is written."""
    run = enquete.conduct_interviews(personas(tmp_path, 6), out=str(tmp_path / "out"), methods=["poll"])
    assert narratives(run) == []
    assert summary(run)["by"] == "nobody"
    prepared = prepare(run.folder, planned(run.record))
    sender = ScriptedSender(lambda prompt: truthful(findings_in(prompt.messages[-1]["content"])))

    async def written(cap: int) -> object:
        async with using(str(run.folder), Machine(cap_tokens=cap)) as run_session:
            answering = run.record.main.model_copy(update={"respondent": "llm", "model": "m"})
            run_session.record = run.record.model_copy(update={"arms": [answering]})
            run_session._sources = replace(run_session._sources, sender=sender)
            await narrative.write(run_session, prepared.findings)
            return run_session.ledger.pinned("main", "synthesis", "", narrative.subject(prepared.findings, "de"))

    assert asyncio.run(written(run.spent["tokens"] + 100)) is None  # no room for a narrative
    assert sender.sent == []
    data = asyncio.run(written(ENOUGH))
    assert isinstance(data, dict)
    assert data["by"] == "model"
    assert asyncio.run(written(ENOUGH)) == data
    assert len(sender.sent) == 1


SAID = "“Quotas of 2027” fell by 0.64 (scale 1–5; 95% interval 0.46 to 0.82; adjusted p < 0.01; n = 48/50)."
FINDING = narrative.FindingData(id="longitudinal.drift", says=SAID, answers=["main/longitudinal/a"])


def wrong(
    text: str, ids: tuple[str, ...] = ("longitudinal.drift",), answers: tuple[str, ...] = ("main/longitudinal/a",)
) -> list[str]:
    paragraph = narrative.Paragraph(text=text, finding_ids=list(ids), answer_ids=list(answers))
    return narrative.problems(narrative.Narrative(paragraphs=[paragraph]), [FINDING])


@pytest.mark.parametrize("text", [
    "It fell by 0.64, 0,64 in German.", "The 95 % interval is 0.46 to 0.82 for 48 of 50, from T0 to T1.",
        "“Quotas of 2027” fell.", "It fell a lot.",
])  # fmt: skip
def test_figures_and_quotations_of_the_findings_are_right(text: str) -> None:
    assert wrong(text) == []


@pytest.mark.parametrize(("text", "message"), [
    ("It fell by 0.65.", "0.65 is no figure"), ("It fell by 64%.", "64 is no figure"),
        ("It fell by -0.64.", "-0.64 is no figure"),
    ("In 2027 it fell.", "2027 is no figure"), ("It is “a disaster”.", "nobody is quoted"),
        ("½ of them", "cannot be checked"), ("x2 of them", "cannot be checked"),
])  # fmt: skip
def test_others_are_wrong(text: str, message: str) -> None:
    (line,) = wrong(text)
    assert message in line


def test_ids_must_be_those_of_the_findings() -> None:
    assert wrong("It fell.", ()) == [
        "paragraph 1: cites no finding",
        "paragraph 1: answer 'main/longitudinal/a' belongs to none of the findings that it cites",
    ]
    assert wrong("It fell.", ("x",), ()) == ["paragraph 1: finding 'x' does not exist"]
    assert wrong("It fell.", answers=()) == ["paragraph 1: cites no answer"]
    assert wrong(" ") == ["the text is empty"]
