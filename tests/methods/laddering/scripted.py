"""What the model server says in a laddering interview: every answer names one new thought, every reading finds and
links it."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

LATEST = re.compile(r'\{"text": "([^"]+)", "type": "attribute"\}')
THOUGHT = re.compile(r"Gedanke [0-9a-f]{8}")


def script(body: dict[str, Any]) -> str | None:
    """By the schema that is asked for; unreadable for the model called "bad"; None (the server's own answer) without
    one."""
    if body.get("model") == "bad":
        return "no idea what you mean"
    text = "\n".join(str(message["content"]) for message in body["messages"])
    asked = (body.get("response_format") or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    mark = hashlib.sha256(text.encode()).hexdigest()[:8]
    if "concepts" in asked:
        return json.dumps(_found(text))
    if "response_depth" in asked:
        rated = {name: {"rating": 4, "rationale": "scripted"} for name in asked if name not in ("sentiment", "topics")}
        return json.dumps({**rated, "sentiment": "neutral", "topics": []})
    if "question" in asked:
        return json.dumps({"question": f"Was steht hinter {mark}?"})
    if any(re.fullmatch(r"q\d+", name) for name in asked):
        sentence = f"Wichtig ist mir Gedanke {mark}, und dafür gibt es in meinem Leben viele gute Gründe."
        return json.dumps({name: {"text": sentence} for name in asked})
    return None


def _found(text: str) -> dict[str, Any]:
    """The thought of the answer, led to by the latest one said before."""
    thought = THOUGHT.findall(text)[-1]
    known = LATEST.findall(text)
    concept = {
        "text": thought, "node_type": "attribute", "confidence": 0.9, "source_quote": thought, "linked_elements": [],
    }  # fmt: skip
    link = {"source_text": known[-1] if known else "", "target_text": thought, "relationship_type": "leads_to",
            "confidence": 0.9, "source_quote": thought}  # fmt: skip
    return {"concepts": [concept], "relationships": [link] if known else []}
