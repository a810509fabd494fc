"""The same prompts through other programs, each in an environment of its own: `python -m tests.bench.peers NAME WORK`.

inspect   an Inspect AI task whose samples are the prompts, answered by `generate`, with the reply's schema, logged to
files edsl      an EDSL survey of one question in free text, answered by agents whose persona is the system prompt; the
schema
          stands in the question, since EDSL sends none

As for Enquete's interviewing, the clock starts after a warm-up in the same process. Nothing leaves this machine.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from typing import Any

from tests.bench.loops import WARM, Clock, Work, read_requests


def inspect(work: Work, requests: list[dict[str, Any]], folder: str) -> dict[str, float]:
    os.environ["INSPECT_DISABLE_MODEL_API_LOG"] = "1"
    from inspect_ai import Task, eval
    from inspect_ai.dataset import Sample
    from inspect_ai.model import (
        ChatMessageSystem,
        ChatMessageUser,
        GenerateConfig,
        ResponseSchema,
        get_model,
    )
    from inspect_ai.solver import generate

    first = requests[0]
    form = first["response_format"]["json_schema"]
    config = GenerateConfig(
        max_connections=work.in_flight,
        max_tokens=first["max_tokens"],
        temperature=first["temperature"],
        seed=first["seed"],
        response_schema=ResponseSchema(
            name=form["name"], json_schema=_inlined(form["schema"], form["schema"]), strict=form["strict"]
        ),
    )
    model = get_model(
        "openai/bench", base_url=work.base_url, api_key="none", responses_api=False, config=config, memoize=False
    )
    samples = [
        Sample(input=[ChatMessageSystem(content=system["content"]), ChatMessageUser(content=user["content"])])
        for system, user in (request["messages"] for request in requests)
    ]
    (log,) = eval(
        Task(dataset=samples, solver=generate()), model=model, log_dir=folder, display="none",
        max_samples=work.in_flight,
    )  # fmt: skip
    assert log.status == "success", log.error
    used = [sample.output for sample in log.samples or []]
    assert all(json.loads(output.completion) for output in used)
    return {
        "calls": len(used),
        "read": sum(output.usage.input_tokens for output in used if output.usage),
        "written": sum(output.usage.output_tokens for output in used if output.usage),
    }


def edsl(work: Work, requests: list[dict[str, Any]], folder: str) -> dict[str, float]:
    os.environ |= {
        "EDSL_SERVICE_RPM_OPENAI_COMPATIBLE": "10000000",
        "EDSL_SERVICE_TPM_OPENAI_COMPATIBLE": "10000000000",
        "EDSL_MAX_CONCURRENT_TASKS": str(work.in_flight),
        "EDSL_DATABASE_PATH": f"sqlite:///{folder}/edsl.db",
        "OPENAI_COMPATIBLE_API_KEY": "none",
        "OPENAI_COMPATIBLE_BASE_URL": work.base_url,
    }
    from edsl import Agent, AgentList, Cache, Model, QuestionFreeText

    first = requests[0]
    schema = json.dumps(first["response_format"]["json_schema"]["schema"], ensure_ascii=False, separators=(",", ":"))
    asked = f"{first['messages'][1]['content']}\n\nJSON schema:\n{schema}"
    agents = AgentList(
        [
            Agent(
                traits={"persona": request["messages"][0]["content"]},
                traits_presentation_template="{{ persona }}",
                instruction="Answer in character.",
            )
            for request in requests
        ]
    )
    model = Model(
        "bench", service_name="openai_compatible", temperature=first["temperature"], max_tokens=first["max_tokens"]
    )
    results = (
        QuestionFreeText(question_name="answers", question_text=asked)
        .by(agents)
        .by(model)
        .run(
            cache=Cache(), offload_execution=False, use_api_proxy=False, disable_remote_cache=True,
            disable_remote_inference=True, progress_bar=False, max_concurrency=work.in_flight, fresh=True,
        )
    )  # fmt: skip
    replies = results.select("answer.answers").to_list()
    assert all(json.loads(reply) for reply in replies), replies[:3]
    raw = results.select("raw_model_response.answers_raw_model_response").to_list()
    return {
        "calls": len(replies),
        "read": sum(each["usage"]["prompt_tokens"] for each in raw),
        "written": sum(each["usage"]["completion_tokens"] for each in raw),
    }


def _inlined(node: Any, root: dict[str, Any]) -> Any:
    """Without references, of which Inspect's own class for schemas knows nothing."""
    if isinstance(node, list):
        return [_inlined(part, root) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _inlined(root["$defs"][node["$ref"].rpartition("/")[2]], root)
    return {key: _inlined(part, root) for key, part in node.items() if key != "$defs"}


PEERS = {"inspect": inspect, "edsl": edsl}


def main() -> None:
    peer, work = PEERS[sys.argv[1]], Work(**json.loads(sys.argv[2]))
    requests = read_requests(work)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        peer(work, requests[:WARM], folder)
        clock = Clock()
        found = peer(work, requests, folder)
        found |= clock.read()
    print("\n" + json.dumps(found))


if __name__ == "__main__":
    main()
