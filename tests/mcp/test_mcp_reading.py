"""The tools that ask nobody anything, by the official client over streamable HTTP."""

from __future__ import annotations

import base64
import io
import json
import re
from typing import Any

import pytest
from arro3.io import read_parquet
from mcp import MCPError
from mcp.client import Client
from mcp_served import AGENTS, METHOD, Served, size_of, text_of

import enquete
from enquete.interfaces.mcp.server import input_schema, instructions, output_schema
from enquete.interfaces.mcp.shapes import MOST_CHARS, rounded
from enquete.methods.registry import methodologies
from enquete.study.method_operations import operations

pytestmark = pytest.mark.usefixtures("no_figures")

TOOLS = {
    "conduct_interviews", "estimate_interviews", "resume_interviews", "interview_status", "get_interview_results",
    "get_interview_report", "list_simulations", "list_instruments", "export_responses", "pause_interviews",
    "search_memory", "draft_instruments",
}  # fmt: skip


def test_every_tool_is_listed_with_both_schemas_and_all_definitions_fit_beside_a_conversation(served: Served) -> None:
    tools = served.session(lambda client: client.list_tools()).tools
    assert {tool.name for tool in tools} == TOOLS | operations().keys()
    for tool in tools:
        assert tool.output_schema, tool.name
        assert tool.description, tool.name
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), (tool.name, name)
            assert name not in ("ctx", "begun"), tool.name
            assert name not in ("participant", "participants", "text", "words"), tool.name  # agent, agents, query
    # 51 kB, 44 tools, is about 12,700 tokens, which a calling model has in its context all the time.
    listed = served.session(lambda client: client.list_tools()).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    assert len(json.dumps(listed["tools"], ensure_ascii=False, separators=(",", ":")).encode()) <= 53_000
    text = instructions()
    assert served.session(_instructions) == text
    assert all(re.search(rf"\b{tool['name']}\b", text) for tool in listed["tools"])
    assert all(methodology.offers.taken_for in text for methodology in methodologies().values() if methodology.offers)


async def _instructions(client: Client) -> str | None:
    return client.instructions


def test_schemas_say_what_pydantics_do_in_fewer_words(served: Served) -> None:
    """What is left out is no null; a null that means something stays, and results keep names and kinds."""
    asked = {
        "anyOf": [{"type": "integer", "maximum": 9}, {"type": "null"}], "default": None, "title": "N",
        "description": "n",
    }  # fmt: skip
    kept = {"anyOf": [{"type": "string", "maxLength": 3}, {"type": "null"}], "default": "", "title": "T"}
    given = {"properties": {"title": asked, "t": kept}, "required": ["title"], "title": "Args", "type": "object"}
    assert input_schema(given) == {
        "properties": {
            "title": {"type": "integer", "maximum": 9, "description": "n"},
            "t": {"type": ["string", "null"]},
        },
        "required": ["title"], "type": "object", "additionalProperties": False,
    }  # fmt: skip
    assert output_schema(given)["properties"]["title"] == {"type": ["integer", "null"], "maximum": 9}
    called = served.call("estimate_interviews", sim_id=served.untouched, methods=[METHOD], sample=None, where=None)
    assert not called.is_error, text_of(called)


def test_lists_and_estimates_are_the_facades(served: Served) -> None:
    simulations = served.call("list_simulations").structured_content["simulations"]
    by_id = {simulation["sim_id"]: simulation for simulation in simulations}
    assert by_id[served.finished]["latest_run_id"] == served.run_id
    assert by_id[served.finished]["latest_status"] == "completed"
    instruments = served.call("list_instruments").structured_content["instruments"]
    assert [instrument["methodology"] for instrument in instruments] == list(enquete.list_instruments())
    estimate = served.call(
        "estimate_interviews", sim_id=served.untouched, methods=[METHOD], language="en"
    ).structured_content
    expected = enquete.estimate(served.untouched, root=str(served.root), methods=[METHOD], language="en")
    assert estimate["agents"] == 4
    assert estimate["tokens"] == expected.tokens.model_dump()
    assert estimate["exceeds"] == ""


def test_status_says_what_to_call_next_and_that_nobody_real_answered(served: Served) -> None:
    result = served.call("interview_status", sim_id=served.finished)
    state = result.structured_content
    assert (state["status"], state["run_id"], state["resume_token"]) == ("completed", served.run_id, None)
    (stage,) = state["stages"]
    assert (stage["outcome"], stage["n_responded"], stage["n_total"]) == ("done", AGENTS, AGENTS)
    assert f'get_interview_report(sim_id="{served.finished}", run_id="{served.run_id}")' in state["next"]
    assert "SYNTHETIC" in text_of(result)


def test_pages_of_all_sections_together_hold_the_whole_findings(served: Served) -> None:
    async def read(client: Client) -> dict[str, list[dict[str, Any]]]:
        asked = {"sim_id": served.finished, "methodology": METHOD}
        first = await client.call_tool("get_interview_results", asked)
        assert size_of(first) <= MOST_CHARS
        assert first.structured_content["entries"] == []
        assert 1 <= len(first.structured_content["findings"]) <= 10
        headed: dict[str, list[dict[str, Any]]] = {}
        for section in first.structured_content["sections"]:
            for page in range(1, section["pages"] + 1):
                wanted = {**asked, "section": section["name"], "page": page}
                result = await client.call_tool("get_interview_results", wanted)
                assert size_of(result) <= MOST_CHARS, wanted
                assert result.structured_content["pages"] == section["pages"]
                headed.setdefault(section["name"], []).extend(result.structured_content["entries"])
        return headed

    whole = enquete.load_run(served.finished, root=str(served.root)).results[METHOD]
    contents = served.session(read)
    tables = {
        name: value for name, value in whole.items() if isinstance(value, list) and value and isinstance(value[0], dict)
    }
    whole = {"facts": {name: value for name, value in whole.items() if name not in tables}, **tables}
    assert list(contents) == list(whole)
    for name, entries in contents.items():
        if len(entries) == 1:
            assert entries[0]["value"] == rounded(whole[name])
        else:
            assert leaves(whole[name]) == sum(leaves(entry["value"]) for entry in entries)


def leaves(value: Any) -> int:
    """Scalars; an empty list or mapping counts as one."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else None
    return sum(leaves(each) for each in inner) if inner else 1


def test_the_report_comes_in_sections_that_together_are_the_report(served: Served) -> None:
    async def read(client: Client) -> str:
        asked = {"sim_id": served.finished}
        first = await client.call_tool("get_interview_report", asked)
        assert size_of(first) <= MOST_CHARS
        assert first.structured_content["markdown"] == enquete.load_run(served.finished, root=str(served.root)).brief
        parts = []
        for section in first.structured_content["sections"]:
            for page in range(1, section["pages"] + 1):
                wanted = {**asked, "section": section["name"], "page": page}
                result = await client.call_tool("get_interview_report", wanted)
                assert size_of(result) <= MOST_CHARS, wanted
                parts.append(result.structured_content["markdown"])
        return "".join(parts)

    assert served.session(read) == enquete.load_run(served.finished, root=str(served.root)).report


def test_sentences_are_in_the_callers_language_and_ids_have_names(served: Served) -> None:
    """The run is in English: its findings in German are those of the very same evaluation. Who was asked is told by
    name."""
    asked = {"sim_id": served.finished, "methodology": METHOD}
    english = served.call("get_interview_results", **asked).structured_content["findings"]
    german = served.call("get_interview_results", **asked, language="de").structured_content["findings"]
    run = enquete.load_run(served.finished, root=str(served.root))
    assert english == [finding["text"] for finding in run.page_one["methodologies"][0]["findings"]]
    assert len(german) == len(english)
    assert not set(german) & set(english)
    members = served.call("get_interview_results", **asked, section="types").structured_content
    names = set(run.responses["agent_name"])
    told = {label for named, label in members["labels"].items() if named.startswith("agent:")}
    assert told
    assert told <= names


def test_exports_and_resources_give_the_whole(served: Served) -> None:
    state = served.call("export_responses", sim_id=served.finished).structured_content
    frame = enquete.load_run(served.finished, root=str(served.root)).responses
    assert state["rows"] == len(frame)
    assert "status" in state["columns"]
    files = {file["name"]: file["resource_uri"] for file in state["files"]}
    codebook = served.session(lambda client: client.read_resource(files["codebook.json"]))
    assert json.loads(codebook.contents[0].text)
    more = served.call("export_responses", sim_id=served.finished, formats=["parquet"]).structured_content
    uris = {file["name"]: file["resource_uri"] for file in more["files"]}
    table = served.session(lambda client: client.read_resource(uris["parquet/all_responses.parquet"]))
    assert len(read_parquet(io.BytesIO(base64.b64decode(table.contents[0].blob))).read_all()) == len(frame)
    base = f"enquete://runs/{served.finished}/{served.run_id}"
    run = enquete.load_run(served.finished, root=str(served.root))

    async def read(client: Client) -> list[str]:
        wanted = (f"{base}/report", f"{base}/results/{METHOD}", f"{base}/codebook", f"enquete://instruments/{METHOD}")
        return [(await client.read_resource(uri)).contents[0].text for uri in wanted]

    report, results, codebook, instrument = served.session(read)
    assert report == run.report
    assert json.loads(results) == run.results[METHOD]
    assert codebook.startswith("#")
    assert "instrument_id:" in instrument
    templates = served.session(lambda client: client.list_resource_templates()).resource_templates
    assert len(templates) == 5


def test_what_agents_said_is_found_by_words_and_agent(served: Served) -> None:
    episodes = served.call("search_memory", sim_id=served.finished).structured_content["episodes"]
    names = {episode["agent_name"] for episode in episodes}
    assert len(names - {""}) == AGENTS
    wanted = sorted(names)[-1]
    hits = served.call("search_memory", sim_id=served.finished, agent=wanted).structured_content
    assert {episode["agent_name"] for episode in hits["episodes"]} == {wanted}
    assert hits["warning"]
    refused = text_of(served.call("search_memory", sim_id=served.finished, query="x" * 501))
    assert "query: 'x" in refused
    assert "write a text of at most 500 characters" in refused


def test_every_answer_fits_a_context_window(served: Served) -> None:
    sim = {"sim_id": served.finished}
    asked = {"conduct_interviews": {**sim, "methods": [METHOD], "language": "en"}, "list_simulations": {}}
    others = ("interview_status", "estimate_interviews", "export_responses", "get_interview_report", "search_memory")
    for tool, arguments in {**asked, "list_instruments": {}, **dict.fromkeys(others, sim)}.items():
        result = served.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert 0 < size_of(result) <= MOST_CHARS, tool


def test_the_prompt_plans_a_study_and_figures_are_rounded(served: Served) -> None:
    prompts = served.session(lambda client: client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["plan_a_stakeholder_study"]
    asked = {"topic": "Baltic cod", "sim_id": served.finished}
    prompt = served.session(lambda client: client.get_prompt("plan_a_stakeholder_study", asked))
    text = prompt.messages[0].content.text
    assert "Baltic cod" in text
    assert served.finished in text
    assert "estimate_interviews" in text
    assert rounded({"mean": 3.14159, "p": [0.00414, 0.0, -0.25]}) == {"mean": 3.14, "p": [0.0041, 0.0, -0.25]}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("conduct_interviews", {"sim_id": "sim_finishd"}, "Known, nearest first: sim_finished"),
        ("interview_status", {"sim_id": "../simulations/sim_finished"}, "no simulation"),
        ("interview_status", {"sim_id": "/etc"}, "list_simulations"),
        ("interview_status", {"sim_id": "sim_untouched"}, "conduct_interviews begins a run"),
        ("interview_status", {"sim_id": "sim_finished", "run_id": "../../x"}, "its latest runs: run_"),
        ("resume_interviews", {"resume_token": "../sim_finished"}, "no resume token"),
        ("resume_interviews", {"resume_token": "run_20200101T000000_abcdef"}, "no run"),
        ("conduct_interviews", {"sim_id": "sim_untouched", "methods": ["tarot"]}, "tarot unknown; there are"),
        ("get_interview_results", {"sim_id": "sim_finished", "methodology": "tarot"}, "has those of: diversity"),
        ("get_interview_results", {"sim_id": "sim_finished", "methodology": METHOD, "section": "x"}, "none of facts"),
        ("get_interview_report", {"sim_id": "sim_finished", "page": 999}, "999 is none; there"),
        ("pause_interviews", {"run_id": "run_1"}, "does not drive such a run"),
        ("conduct_interviews", {"sim_id": "sim_untouched", "budget_tokens": 0}, "a number above 0"),
    ],
)
def test_errors_say_what_would_be_right_and_name_no_folder(
    served: Served, tool: str, arguments: dict[str, Any], message: str
) -> None:
    result = served.call(tool, **arguments)
    assert result.is_error
    assert message in text_of(result)
    assert str(served.root) not in text_of(result)


@pytest.mark.parametrize(
    "uri",
    [
        "enquete://runs/..%2Fsim_finished/run_1/report", "enquete://runs/sim_finished/..%2F..%2Fx/report",
        "enquete://runs/sim_finished/{run}/exports/..%2Freport.md",
        "enquete://runs/sim_finished/{run}/exports/%2Fetc%2Fpasswd", "enquete://runs/sim_finished/{run}/results/tarot",
        "enquete://instruments/tarot",
    ],
)  # fmt: skip
def test_no_resource_leaves_the_root(served: Served, uri: str) -> None:
    async def read(client: Client) -> str:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri.format(run=served.run_id))
        return str(refused.value)

    refusal = served.session(read)
    assert str(served.root) not in refusal
    assert "Error" not in refusal  # no crash of a handler, but an answer
