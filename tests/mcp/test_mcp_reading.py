"""The tools that ask nobody anything, by the official client over streamable HTTP."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
from typing import Any

import pytest
import yaml
from arro3.io import read_parquet
from mcp import MCPError
from mcp.client import Client
from mcp_served import AGENTS, METHOD, Served, size_of, text_of

import enquete
from enquete.interfaces.mcp.finding_rows import rounded
from enquete.interfaces.mcp.results import MAX_RESULT_CHARS
from enquete.interfaces.mcp.server import make_server, make_server_state, write_instructions
from enquete.interfaces.mcp.tool_arguments import option_names
from enquete.methods.registry import methodologies
from enquete.state.errors import SettingsError
from enquete.study.method_operations import operations

pytestmark = pytest.mark.usefixtures("no_figures")

TOOLS = [
    "list_simulations", "draft_questions", "save_questions", "conduct_interviews", "interview_status",
    "control_interviews", "read_report", "read_results", "read_answers",
]  # fmt: skip
MAX_DEFINITIONS_BYTES = 16_000
"""About 4,000 tokens, which a calling model has in its context all the time; 44 tools had 54 kB."""


def test_the_default_tools_are_nine_with_an_example_each_and_their_definitions_are_small(served: Served) -> None:
    listed = served.session(lambda client: client.list_tools())
    assert [tool.name for tool in listed.tools] == TOOLS
    for tool in listed.tools:
        for name, argument in tool.input_schema["properties"].items():
            assert name not in ("ctx", "begun"), tool.name
            assert argument.get("description") or name in ("page", "limit"), (tool.name, name)
        example = json.loads((tool.description or "").partition("Example: ")[2])
        assert set(tool.input_schema.get("required", [])) <= example.keys() <= set(tool.input_schema["properties"])
    definitions = listed.model_dump(mode="json", by_alias=True, exclude_none=True)["tools"]
    compact = json.dumps(definitions, ensure_ascii=False, separators=(",", ":"))
    assert len(compact.encode()) <= MAX_DEFINITIONS_BYTES


def test_every_example_is_taken(served: Served) -> None:
    """Each example names a simulation that there is not: nothing else may be wrong with it."""
    tools = served.session(lambda client: client.list_tools()).tools
    for tool in tools:
        example = json.loads((tool.description or "").partition("Example: ")[2])
        elsewhere = {"sim_id": "sim_nowhere"} if "sim_id" in example else {}
        result = served.call(tool.name, **{**example, **elsewhere})
        if "sim_id" in example:
            assert "no simulation 'sim_nowhere'" in text_of(result), (tool.name, text_of(result))
        else:
            assert not result.is_error, text_of(result)


def test_families_are_switched_on_by_name_and_the_rest_is_named(served: Served) -> None:
    families = {method.offers.command: method.offers for method in methodologies().values() if method.offers}
    state = make_server_state(served.root, ["roundtable", "discovery", "discover"])
    assert state.families == ("roundtable", "discover")

    async def names() -> list[str]:
        async with Client(make_server(state)) as client:
            return [tool.name for tool in (await client.list_tools()).tools]

    listed = asyncio.run(names())
    expected = {operation.name for name in state.families for operation in families[name].operations()}
    assert set(listed) - set(TOOLS) == expected | {"conduct_interview"}  # the alias of discover_record
    assert "discover_record" in listed
    switched_on = write_instructions(state.families)
    assert "Switched off, and switched on where this server is started (--tools NAME,…): laddering" in switched_on
    assert families["roundtable"].taken_for in switched_on
    assert len(operations()) > len(expected)
    with pytest.raises(SettingsError, match="--tools tarot: there is no such family of tools; there are "):
        make_server_state(served.root, ["tarot"])


def test_the_text_of_a_result_has_the_numbers_of_its_structured_part(served: Served) -> None:
    """As YAML it is the same but for what is empty."""
    sim = {"sim_id": served.finished}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("list_simulations", {}), ("interview_status", sim), ("read_results", {**sim, "methodology": METHOD}),
        ("read_report", sim), ("read_answers", sim),
        ("conduct_interviews", {**sim, "methods": ["poll"], "dry_run": True}),
    ]  # fmt: skip
    for tool, arguments in calls:
        result = served.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        assert 0 < size_of(result) <= MAX_RESULT_CHARS, tool
        told = yaml.safe_load(text_of(result))
        assert numbers(told) == numbers(result.structured_content), tool
        assert told == without_empty(result.structured_content), tool


def numbers(value: Any) -> list[float]:
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [float(value)] if isinstance(value, int | float) and not isinstance(value, bool) else []
    return own + [number for each in inner for number in numbers(each)]


def without_empty(value: Any) -> Any:
    if isinstance(value, dict):
        kept = {name: without_empty(inner) for name, inner in value.items()}
        return {name: inner for name, inner in kept.items() if inner is not None and inner not in ("", [], {})}
    return [without_empty(each) for each in value] if isinstance(value, list) else value


def test_lists_and_estimates_are_the_facades(served: Served) -> None:
    simulations = served.call("list_simulations").structured_content["simulations"]
    by_id = {simulation["sim_id"]: simulation for simulation in simulations}
    assert by_id[served.finished]["runs"] == {served.run_id: f"{METHOD}: completed"}
    asked = {"methods": [METHOD], "language": "en"}
    state = served.call("conduct_interviews", sim_id=served.untouched, **asked, dry_run=True).structured_content
    expected = enquete.estimate(served.untouched, root=str(served.root), **asked)
    assert (state["status"], state["run_id"]) == ("estimate", "")
    assert state["estimate"]["agents"] == 4
    assert state["estimate"]["tokens"] == expected.tokens.model_dump()
    assert state["estimate"]["refused"] == []
    assert not enquete.list_runs(served.untouched, root=str(served.root))


def test_status_says_whose_run_it_is_what_to_call_next_and_that_nobody_real_answered(served: Served) -> None:
    result = served.call("interview_status", sim_id=served.finished)
    state = result.structured_content
    assert (state["status"], state["sim_id"], state["run_id"]) == ("completed", served.finished, served.run_id)
    assert state["asked"] == [METHOD]
    (stage,) = state["stages"]
    assert (stage["outcome"], stage["agents_answered"], stage["agents"]) == ("done", AGENTS, AGENTS)
    assert f'read_results(sim_id="{served.finished}", run_id="{served.run_id}")' in state["next"]
    assert "SYNTHETIC" in text_of(result)


def test_pages_of_all_sections_together_hold_the_whole_findings(served: Served) -> None:
    async def read(client: Client) -> dict[str, list[dict[str, Any]]]:
        asked = {"sim_id": served.finished, "methodology": METHOD}
        first = await client.call_tool("read_results", asked)
        (found,) = first.structured_content["methodologies"]
        assert size_of(first) <= MAX_RESULT_CHARS
        assert 1 <= len(found["findings"]) <= 10
        headed: dict[str, list[dict[str, Any]]] = {}
        for section in found["sections"]:
            for page in range(1, section["pages"] + 1):
                wanted = {**asked, "section": section["name"], "page": page}
                result = await client.call_tool("read_results", wanted)
                assert size_of(result) <= MAX_RESULT_CHARS, wanted
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
        first = await client.call_tool("read_report", asked)
        assert size_of(first) <= MAX_RESULT_CHARS
        assert first.structured_content["markdown"] == enquete.load_run(served.finished, root=str(served.root)).brief
        parts = []
        for section in first.structured_content["sections"]:
            for page in range(1, section["pages"] + 1):
                wanted = {**asked, "section": section["name"], "page": page}
                result = await client.call_tool("read_report", wanted)
                assert size_of(result) <= MAX_RESULT_CHARS, wanted
                parts.append(result.structured_content["markdown"])
        return "".join(parts)

    assert served.session(read) == enquete.load_run(served.finished, root=str(served.root)).report


def test_sentences_are_in_the_callers_language_and_ids_have_names(served: Served) -> None:
    """The run is in English: its findings in German are those of the very same evaluation. Who was asked is told by
    name."""
    asked = {"sim_id": served.finished, "methodology": METHOD}

    def findings(**more: str) -> list[str]:
        (found,) = served.call("read_results", **asked, **more).structured_content["methodologies"]
        return list(found["findings"])

    english, german = findings(), findings(language="de")
    run = enquete.load_run(served.finished, root=str(served.root))
    assert english == [finding["text"] for finding in run.page_one["methodologies"][0]["findings"]]
    assert len(german) == len(english)
    assert not set(german) & set(english)
    members = served.call("read_results", **asked, section="types").structured_content
    names = set(run.responses["agent_name"])
    told = {label for named, label in members["labels"].items() if named.startswith("agent:")}
    assert told
    assert told <= names


def test_answers_come_by_item_agent_and_group_page_by_page(served: Served) -> None:
    """The rows of the run's own table, each with the id by which the page of an answer is found."""
    frame = enquete.load_run(served.finished, root=str(served.root)).responses
    frame = frame[frame["status"].isin(["ok", "repaired"])]
    first = frame.iloc[0]

    def read(**chosen: Any) -> dict[str, Any]:
        result = served.call("read_answers", sim_id=served.finished, **chosen)
        assert not result.is_error, text_of(result)
        return dict(result.structured_content)

    by_item = read(item=first["item_id"], limit=100)
    assert by_item["matching"] == (frame["item_id"] == first["item_id"]).sum() == AGENTS
    assert by_item["questions"][first["item_id"]]
    assert [row["agent"] for row in by_item["answers"]] == list(
        frame[frame["item_id"] == first["item_id"]]["agent_name"]
    )
    by_agent = read(agent=str(first["agent_name"]).upper())
    assert by_agent["matching"] == (frame["agent_name"] == first["agent_name"]).sum()
    by_group = read(group=first["stakeholder_type"], item=first["item_id"])
    group = frame[frame["stakeholder_type"] == first["stakeholder_type"]]
    assert by_group["matching"] == (group["item_id"] == first["item_id"]).sum()

    ids: list[str] = []
    cursor = ""
    while True:
        page = read(agent=first["agent_name"], limit=7, cursor=cursor)
        ids += [row["answer_id"] for row in page["answers"]]
        cursor = page["cursor"] or ""
        if not cursor:
            break
    assert len(ids) == len(set(ids)) == by_agent["matching"]
    assert all(identifier.startswith(f"{served.run_id}/main/{METHOD}/T1/") for identifier in ids)


def test_resources_give_the_whole(served: Served) -> None:
    base = f"enquete://runs/{served.finished}/{served.run_id}"
    run = enquete.load_run(served.finished, root=str(served.root))

    async def read(client: Client, uri: str) -> Any:
        return (await client.read_resource(uri)).contents[0]

    files = json.loads(served.session(lambda client: read(client, f"{base}/exports")).text)
    assert {"all_responses.csv", "codebook.json", "agents.csv"} <= files.keys()
    codebook = served.session(lambda client: read(client, f"{base}/exports/codebook.json")).text
    assert json.loads(codebook)
    run.export("parquet")
    table = served.session(lambda client: read(client, f"{base}/exports/parquet%2Fall_responses.parquet"))
    assert len(read_parquet(io.BytesIO(base64.b64decode(table.blob))).read_all()) == len(run.responses)

    wanted = (
        f"{base}/report", f"{base}/results/{METHOD}", f"enquete://instruments/{METHOD}", "enquete://options",
        "enquete://methodologies",
    )  # fmt: skip
    report, results, instrument, options, known = (
        served.session(lambda client, uri=uri: read(client, uri)).text for uri in wanted
    )
    assert report == run.report
    assert json.loads(results) == run.results[METHOD]
    assert "instrument_id:" in instrument
    assert all(f"- `{name}` (" in options for name in option_names())
    assert [row["methodology"] for row in json.loads(known)][: len(methodologies())] == list(methodologies())


def test_the_prompt_leads_through_a_study_and_figures_are_rounded(served: Served) -> None:
    prompts = served.session(lambda client: client.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["run_a_study"]
    asked = {"topic": "Baltic cod", "sim_id": served.finished}
    prompt = served.session(lambda client: client.get_prompt("run_a_study", asked))
    text = prompt.messages[0].content.text
    assert "Baltic cod" in text
    assert served.finished in text
    named = set(re.findall(r"\b[a-z]+_[a-z]+\b", text)) & set(TOOLS)
    assert named >= {"draft_questions", "conduct_interviews", "read_results", "read_answers"}
    assert rounded({"mean": 3.14159, "p": [0.00414, 0.0, -0.25]}) == {"mean": 3.14, "p": [0.0041, 0.0, -0.25]}


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("conduct_interviews", {"sim_id": "sim_finishd"}, "Known, nearest first: sim_finished"),
        ("interview_status", {"sim_id": "../simulations/sim_finished"}, "no simulation"),
        ("interview_status", {"sim_id": "/etc"}, "list_simulations"),
        ("interview_status", {"sim_id": "sim_untouched"}, "conduct_interviews begins a run"),
        ("interview_status", {"sim_id": "sim_finished", "run_id": "../../x"}, "its latest runs: run_"),
        ("control_interviews", {"sim_id": "sim_finished", "run_id": "../x", "action": "resume"}, "its latest runs"),
        ("control_interviews", {"sim_id": "sim_finished", "action": "pause"}, "does not drive that run"),
        ("control_interviews", {"sim_id": "sim_finished", "action": "set_budget"}, "set_budget needs it"),
        ("control_interviews", {"sim_id": "sim_finished", "action": "stop"}, "action: "),
        ("conduct_interviews", {"sim_id": "sim_untouched", "methods": ["tarot"]}, "tarot unknown; there are"),
        ("conduct_interviews", {"sim_id": "sim_untouched", "options": {"sed": 1}}, "(did you mean seed?)"),
        ("conduct_interviews", {"sim_id": "sim_untouched", "options": {"types": "x"}}, "is said by the argument who"),
        ("conduct_interviews", {"sim_id": "sim_untouched", "options": {"root": "/"}}, "there is no option 'root'"),
        ("read_results", {"sim_id": "sim_finished", "methodology": "tarot"}, "has those of: diversity"),
        ("read_results", {"sim_id": "sim_finished", "methodology": METHOD, "section": "x"}, "none of facts"),
        ("read_report", {"sim_id": "sim_finished", "page": 999}, "999 is none; there"),
        ("read_answers", {"sim_id": "sim_finished", "agent": "Nobody"}, "agent: 'Nobody' is none of this run's: "),
        ("read_answers", {"sim_id": "sim_finished", "cursor": "x"}, "cursor: 'x' is none of this run"),
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
        "enquete://instruments/tarot", "enquete://questions/..%2Fsimulations", "enquete://questions/x/y",
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
