"""docs/transcript.txt: what the original systems do, done here in a terminal by a person. Real output, made by
`python -m tests.interfaces.test_transcript`, with the inputs of the tests of each part; the model is a stand-in."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from enquete.interfaces.cli.app import run
from enquete.memory.zep import PAGE, Waiting
from tests.memory.test_memory_zep import MARIE, connected
from tests.methods.discovery import originals
from tests.methods.discovery.test_discovery_people import STEPS, TIMES, reader, steps
from tests.methods.laddering.test_laddering_translation import METHOD
from tests.study.test_drafting_personas import HARBOUR
from tests.support.model_server import ModelServer
from tests.support.zep_server import ZepServer, node

FILE = Path(__file__).parents[2] / "docs" / "transcript.txt"
HEAD = """\
What a person does in a terminal, part by part (roundtables: roundtable-transcript.txt). Real output, made anew by
`python -m tests.interfaces.test_transcript`; lines after `>` were typed, replies are cut to the values that are named.
"""
Say = Callable[[Mapping[str, Any]], str]


class Terminal:
    def __init__(self, root: Path):
        self.root, self.lines = root, [HEAD]

    def title(self, text: str) -> None:
        self.lines.append(f"\n## {text}\n")

    def shown(self, text: str) -> None:
        self.lines.append(text.replace(str(self.root), "…").rstrip())

    def enquete(self, *words: str, answers: str = "", shows: Say | None = None, as_typed: str = "") -> Any:
        """A command as it is typed; `answers`: what is typed while it waits; `shows`: what of its reply."""
        typed = Echoed(answers)
        out, err = io.StringIO(), typed.screen
        stdin = sys.stdin
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            sys.stdin = typed
            try:
                code = run([*words, "--root", str(self.root)])
            finally:
                sys.stdin = stdin
        self.shown(f"$ enquete {as_typed or ' '.join(w if w.replace('=', '').isalnum() else quoted(w) for w in words)}")
        if err.getvalue().strip():
            self.shown(err.getvalue().strip("\n"))
        data = json.loads(out.getvalue()) if out.getvalue().startswith("{") else {}
        if shows and data:
            self.shown(shows(data))
        elif out.getvalue() and not data:
            self.shown(out.getvalue())
        self.shown(f"(exit code {code})")
        self.lines.append("")
        return data


def quoted(word: str) -> str:
    return f"'{word}'" if re.search(r"[\s\"{}]", word) else word


class Echoed(io.StringIO):
    """What is typed is seen on the screen, too."""

    def __init__(self, typed: str):
        super().__init__(typed)
        self.screen = io.StringIO()

    def readline(self, size: int | None = -1, /) -> str:
        line = super().readline()
        self.screen.write(f"> {line}" if line else "(Ctrl-D)\n")
        return line


def picked(*names: str) -> Say:
    return lambda data: "\n".join(in_lines(name, data.get(name)) for name in names)


def in_lines(name: str, value: Any) -> str:
    """A list, or lists within, an entry a line."""
    if isinstance(value, dict) and value:
        return "\n".join(
            [f"{name}:", *(f"  {line}" for each in value.items() for line in in_lines(*each).splitlines())]
        )
    if isinstance(value, list) and value:
        return "\n".join([f"{name}:", *(f"  - {json.dumps(each, ensure_ascii=False)}" for each in value)])
    return f"{name}: {json.dumps(value, ensure_ascii=False)}"


def grown(data: Mapping[str, Any]) -> str:
    """The graph that the page draws beside the conversation, in lines."""
    graph = data["graph"]
    text = {concept["id"]: concept["text"] for concept in graph["nodes"]}
    lines = [f"  [{concept['type']}] {concept['text']}" for concept in graph["nodes"]]
    lines += [f"  {text[edge['source']]} – {edge['label']} → {text[edge['target']]}" for edge in graph["edges"]]
    codes = [f"  code: {code['label']} ({code['type']})" for code in data.get("codes", ())]
    return "\n".join([f"status: {data['status']}; the graph beside it:", *lines, *codes])


def transcript(root: Path) -> str:
    (root / "simulations").mkdir()
    terminal = Terminal(root)
    laddering(terminal)
    translation(terminal)
    discovery(terminal)
    comparison(terminal)
    drafts(terminal)
    zep(terminal)
    return "\n".join(terminal.lines).rstrip() + "\n"


def laddering(terminal: Terminal) -> None:
    terminal.title("Laddering: a person, interviewed with a pause")
    begin = ["laddering", "start_laddering_interview", "interview_id=ada"]
    terminal.enquete(
        *begin, "name=Ada", "concept=oat_drink", "turns=6", "synthetic=true", "--converse",
        answers="Mostly the foam in my coffee.\nBecause it gives me a calm morning.\n", shows=grown,
    )  # fmt: skip
    terminal.enquete(*begin, "--converse", answers="The price, of course.\n/end\n", shows=grown)
    terminal.enquete("laddering", "answer_laddering_interview", "interview_id=ada", "answer=More.")


def translation(terminal: Terminal) -> None:
    terminal.title("Laddering: a methodology of interview-system-v2, as it is")
    (terminal.root / "rung_ladder.yaml").write_text(METHOD, "utf-8")
    terminal.enquete(
        "laddering", "read_laddering_file", f"file={terminal.root / 'rung_ladder.yaml'}",
        shows=lambda data: "\n".join(
            f"{fate}:\n" + "\n".join(f"  {entry}" for entry in entries)
            for fate, entries in data.items() if isinstance(entries, list) and entries
        ),
    )  # fmt: skip


def discovery(terminal: Terminal) -> None:
    terminal.title("Discovery: an original's schema, filled from a person's answers, with quantities as they were said")
    times = " ".join(TIMES.split("\n"))
    durations = (
        {"units": "minutes", "value-string": "20-30"}, {"units": "hours", "value-string": "2-4 (longer in winter)"},
        {"value-string": "it varies"}, {"units": "hour", "value-string": "1"},
    )  # fmt: skip
    described = " ".join(STEPS.split("\n"))
    with (
        ModelServer(script=reader({described: steps(), times: steps(*durations)})) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setenv("LLM_BASE_URL", server.base_url)
        patch.setenv("LLM_MODEL_NAME", "reader")
        terminal.enquete(
            "discover", "add_discovery_schema", f"definition={json.dumps(originals.PROCESS)}",
            as_typed="discover add_discovery_schema 'definition={\"DS\": {\"DS-id\": \"process/bakery\", …}}'",
            shows=picked("ds_id", "complete_when", "translated"),
        )  # fmt: skip
        terminal.enquete("discover", "start_project", "project_id=p", shows=picked("project_id"))
        place = ["project_id=p", "conversation_id=bob", "ds_id=process/bakery"]
        terminal.enquete(
            "discover", "discover_record", *place, "person=Bob", "budget=5", "--converse",
            answers=f"{described}\n{times}\n", shows=picked("status", "missing", "ascr"),
        )  # fmt: skip


def comparison(terminal: Terminal) -> None:
    terminal.title("Two respondents: answers that wait for one another, verdicts later and in the words of a person")
    for question, side, answer in (
        ("q1", "a", "Because of the tide."), ("q2", "b", "I do not know."), ("q3", "a", "By four in the morning."),
        ("q3", "b", "Early."), ("q1", "b", "It is late."), ("q2", "a", "The oven decides."),
    ):  # fmt: skip
        given = [f"question_id={question}", f"side={side}", f"question=Why ({question})?", f"answer={answer}"]
        terminal.enquete("compare", "offer_answer", "comparison_id=c", *given, shows=picked("waiting", "to_prefer"))
    for verdict in ("A", "B because it says what decides", "[Response B]", "Neither"):
        terminal.enquete(
            "compare", "prefer", "comparison_id=c", f"verdict={verdict}",
            shows=lambda data: "\n".join(
                f"{pair['question_id']}: {json.dumps(pair['preferred_by_person'])}" for pair in data["pairs"]
            ) + "\nby persons, respondent A : B = {respondent_a} : {respondent_b}".format_map(data["by_person"]),
        )  # fmt: skip


def drafts(terminal: Terminal) -> None:
    terminal.title("Drafts from personas that have written nothing")
    people = terminal.root / "harbour.csv"
    with people.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([("name", "type", "persona"), *HARBOUR])
    terminal.enquete(
        "draft", str(people), "--topic", "Der Hafen bis 2040 = The harbour by 2040",
        "--theme", "Fangquoten = catch quotas", "--theme", "Hafen = the harbour",
        "--into", str(terminal.root / "drafts"),
    )  # fmt: skip
    for name in ("diversity", "scenario"):
        lines = (terminal.root / "drafts" / f"{name}.yaml").read_text("utf-8").splitlines()
        passages = [line for line in lines if re.search(r"^\s+en: |# from: |\ben: ", line)]
        terminal.shown("\n".join([f"{name}.yaml:", *passages[:10], "…", ""]))


def zep(terminal: Terminal) -> None:
    terminal.title("Zep: a 429 while a graph is read (zep-cloud's own client, against a stand-in over HTTP)")
    waits: list[float] = []
    with ZepServer() as server:
        server.lists["node"] = [node(f"n{i:04}", f"Somebody {i}", "") for i in range(PAGE)]
        server.lists["node"].append(node("u1", "Marie", "Fishes off Langeland."))
        server.retry_after = "60"
        graph = connected("zep-cloud", server, waiting=Waiting(100, waits.append, clock=lambda: 0.0))
        server.next("POST /graph/node", 0, 429)
        summary = graph.read([MARIE])[MARIE].summary
        graph.close()
        asked = [f"  {request}" for request in requested(server)]
    terminal.shown("\n".join([*asked, f"waited: {waits[0]:.0f} s, as Retry-After said; read of Marie: {summary}"]))


def requested(server: ZepServer) -> Iterator[str]:
    for request in server.requests:
        yield str(getattr(request, "line", request))[:60]


@pytest.mark.usefixtures("no_figures")
def test_the_transcript_is_what_the_commands_say(tmp_path: Path) -> None:
    assert transcript(tmp_path) == FILE.read_text("utf-8")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        FILE.write_text(transcript(Path(folder).resolve()), "utf-8")
