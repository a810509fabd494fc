"""A person is interviewed turn by turn, over operations, the terminal and the page; and nothing is lost by a kill."""

from __future__ import annotations

import asyncio
import io
import json
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from enquete.interfaces.cli.app import run
from enquete.state.errors import InputError
from enquete.study.method_operations import FacadePort, operate
from tests.http.conftest import serving
from tests.methods.laddering.scripted import script
from tests.support.bare_runs import without_reports
from tests.support.model_server import ModelServer
from tests.support.processes import Forked
from tests.support.studies import call_keys

ADA = {"name": "Ada", "concept": "oat_drink", "turns": 6, "language": "en", "synthetic": True}
SAID = ("Mostly the foam in my coffee.", "Because it gives me a calm morning.")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "simulations").mkdir()
    return tmp_path


def do(root: Path, step: str, /, **given: Any) -> Any:
    return asyncio.run(operate(f"{step}_laddering_interview", given, root))


@pytest.mark.usefixtures("no_pictures")
def test_an_interview_is_begun_answered_looked_at_and_ended(root: Path) -> None:
    with without_reports():
        first = do(root, "start", interview_id="ada", **ADA)
        second, third = (do(root, "answer", interview_id="ada", answer=answer) for answer in SAID)
    assert (first["status"], first["question"], first["turns"]) == (
        "waiting", "What matters most to you about “Oat drink in daily life”?", [],
    )  # fmt: skip
    assert [node["text"] for node in second["graph"]["nodes"]] == ["Mostly the foam in my coffee"]
    assert [(edge["source"], edge["target"], edge["label"]) for edge in third["graph"]["edges"]] == [
        ("n1", "n2", "leads to")
    ]
    assert do(root, "show", interview_id="ada") == third
    with pytest.raises(InputError, match="on other terms"):
        do(root, "start", interview_id="ada", **{**ADA, "turns": 3})
    assert do(root, "start", interview_id="ada", **ADA)["question"] == third["question"]  # it goes on where it was
    (listed,) = do(root, "show")["interviews"]
    assert (listed["interview_id"], listed["question"]) == ("ada", third["question"])

    over = do(root, "end", interview_id="ada")
    assert (over["status"], over["stop"], over["question"]) == ("completed", "ended", None)
    assert [turn["answer"] for turn in over["turns"]] == [*SAID, ""]  # the question that waited stays unanswered
    assert over["map"] == [{"source": "Mostly the foam in my coffee", "target": "gives me a calm morning"}]
    assert {code["label"] for code in over["codes"]} == {node["text"] for node in third["graph"]["nodes"]}
    assert do(root, "end", interview_id="ada") == over
    with pytest.raises(InputError, match="is over"):
        do(root, "answer", interview_id="ada", answer="More.")
    with pytest.raises(InputError, match="known: ada"):
        do(root, "start", interview_id="eva")

    codes: Any = asyncio.run(operate("laddering_results", {"sim_id": "ada"}, root, str(root)))
    assert codes["total"] == 2  # what reads a study reads an interview, too
    folder = root / "laddering" / "ada"
    rows = pd.read_csv(next((folder / "synthesis").rglob("all_responses.csv")), keep_default_na=False)
    assert list(zip(rows["respondent"], rows["model"], rows["status"], strict=True)) == [
        ("human", "", "ok"), ("human", "", "ok"), ("human", "", "refused"),
    ]  # fmt: skip
    calls = call_keys(folder / "runs" / over["run_id"])
    assert calls
    assert not [key for key in calls if "answer" in key]  # a person costs no request


@pytest.mark.usefixtures("unreported")
def test_a_process_killed_in_the_middle_of_an_answer_loses_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed while the answer is being read. The same question follows as where nobody was killed, and what was settled
    is not asked for again."""
    given = {"name": "Eva", "language": "de", "turns": 8, "model": "test"}
    answers = [f"Wichtig ist mir Gedanke {number:08x}, und das hat viele Gründe." for number in range(3)]
    with ModelServer(script=script) as server:
        monkeypatch.setenv("LLM_BASE_URL", server.base_url)
        do(root, "start", interview_id="whole", **given)
        for answer in answers:
            whole = do(root, "answer", interview_id="whole", answer=answer)
        undisturbed = len(server.requests)

        do(root, "start", interview_id="killed", **given)
        waiting = do(root, "answer", interview_id="killed", answer=answers[0])
        assert do(root, "start", interview_id="killed") == waiting  # nothing was in flight: the same question
        before, server.latency = len(server.requests), 600.0
        process = Forked(
            ["laddering", "answer_laddering_interview", "interview_id=killed", f"answer={answers[1]}", "--root", root]
        )
        server.wait_for(before + 1, 240.0)
        process.send_signal(signal.SIGKILL)
        assert process.ended()[0] == -signal.SIGKILL
        server.latency = 0.0
        cut_short = do(root, "show", interview_id="killed")
        assert (cut_short["question"], len(cut_short["turns"])) == (None, 1)
        # The page, or the caller, gives the answer once more: it is in already.
        gone_on = do(root, "answer", interview_id="killed", answer=answers[1])
        assert [turn["answer"] for turn in gone_on["turns"]] == answers[:2]
        same = do(root, "answer", interview_id="killed", answer=answers[2])
        names = ("question", "turns", "graph", "turns_left")
        assert {name: same[name] for name in names} == {name: whole[name] for name in names}
        assert len(server.requests) == 2 * undisturbed + 1  # that of the killed process


@pytest.mark.usefixtures("unreported")
def test_an_answer_that_was_filed_and_then_cut_short_is_gone_on_with(root: Path) -> None:
    do(root, "start", interview_id="ada", **ADA)
    folder = root / "laddering" / "ada"
    token = json.loads((folder / "interview.json").read_text("utf-8"))["token"]
    asyncio.run(FacadePort(root, None, "laddering").submit(folder / "person.json", token, SAID[0], out=str(folder)))
    gone_on = do(root, "start", interview_id="ada")
    assert [turn["answer"] for turn in gone_on["turns"]] == [SAID[0]]
    assert gone_on["question"]


@pytest.mark.usefixtures("unreported")
def test_an_interview_in_a_terminal(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def typed(text: str, *words: object) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.stdin", io.StringIO(text))
        code = run(["laddering", *map(str, words), "--root", str(root), "--converse"])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    monkeypatch.setenv("LANG", "C.UTF-8")
    begin = [f"{key}={json.dumps(value) if key == 'synthetic' else value}" for key, value in ADA.items()]
    lines = f"{SAID[0]}\n\n{SAID[1]}\n"  # an empty line is no answer
    code, out, err = typed(lines, "start_laddering_interview", "interview_id=ben", *begin)
    assert code == 4  # waits for a person
    assert "“Mostly the foam in my coffee”" in err
    assert json.loads(out)["status"] == "waiting"
    assert "/end ends the interview" in err
    assert [turn["answer"] for turn in do(root, "show", interview_id="ben")["turns"]] == list(SAID)
    code, out, _ = typed("/end\n", "start_laddering_interview", "interview_id=ben")
    assert code == 0
    assert '"stop": "ended"' in out
    assert typed("", "show_laddering_interview", "interview_id=ben")[0] == 2  # which waits for nobody


@pytest.mark.usefixtures("results_only")
def test_an_interview_on_the_page(root: Path) -> None:
    """Without scripts: every step is a form."""
    with serving(root) as client:
        client.headers["Origin"] = str(client.base_url).rstrip("/")
        assert "Begin an interview" in client.get("/interviews").text
        form = {"interview_id": "ada", **{key: str(value).lower() for key, value in ADA.items()}, "name": "Ada"}
        begun = client.post("/interviews/laddering", data=form, follow_redirects=True)
        assert "What matters most to you about “Oat drink in daily life”?" in begun.text
        assert "it grows with the answers" in begun.text
        here = begun.url.path
        empty = client.post(f"{here}/answer", data={"answer": " "})
        assert empty.status_code == 400
        assert "write an answer" in empty.text
        with without_reports():
            for answer in SAID:
                page = client.post(f"{here}/answer", data={"answer": answer}, follow_redirects=True).text
        assert page.count("<rect") == 2
        assert "Mostly the foam in my coffee – leads to – gives me a calm morning" in page
        hostile = client.post(
            f"{here}/answer", data={"answer": "<b>It means</b> peace to me"}, follow_redirects=True
        ).text
        assert "<b>It" not in hostile
        over = client.post(f"{here}/end", follow_redirects=True).text
        assert "The interview is over" in over
        assert "Value map" in over
        assert client.post(f"{here}/answer", data={"answer": "More"}).status_code == 400
        assert client.get("/interviews/nothing/ada").status_code == 404
        refused = client.post("/interviews/laddering", data={**form, "turns": "900", "interview_id": "b"})
        assert refused.status_code == 400
        assert 'value="900"' in refused.text
        made = client.post("/api/operations/show_laddering_interview", json={"interview_id": "ada"})
        assert made.json()["data"]["stop"] == "ended"
