"""Schemas in the shapes of the originals (pdenno/schedMCP, schedulingTBD), about other things, written by hand: those
have no licence to be copied."""

from __future__ import annotations

from typing import Any

PROCESS: dict[str, Any] = {
    "message-type": "DS-INSTRUCTIONS",
    "budget-decrement": 0.1,
    "interviewer-agent": "process",
    "interview-objective": "Learn how it is made, step by step.",
    "DS": {
        "DS-id": "process/bakery",
        "exhausted?": {"val": True, "comment": "Set this to true once all key steps are documented."},
        "process-id": {"val": "bread-making", "comment": "Name it as you see fit; don't ask the interviewees."},
        "inputs": {"val": ["flour", "water"], "comment": "All that goes in."},
        "outputs": {
            "val": [{"item-id": "loaves", "quantity": {"units": "loaves", "value-string": "200"}}],
            "comment": "inputs and outputs can either be simple strings or objects like this.",
        },
        "resources": {"val": ["oven"], "comment": "What stays."},
        "duration": {"val": {"units": "hours", "value-string": "4-6"}, "comment": "As they say it, 'it varies' too."},
        "subprocesses": [
            {
                "process-id": "mixing", "inputs": ["flour", {"item-id": "water", "from": "well"}], "outputs": ["dough"],
                "resources": ["mixer"], "duration": {"units": "minutes", "value-string": "20"},
                "subprocesses": {"val": [], "comment": "Nothing below."},
            },
            {
                "process-id": "baking", "inputs": [{"item-id": "dough", "from": "mixing"}], "outputs": ["loaves"],
                "resources": ["oven"], "duration": {"units": "hours", "value-string": "1"},
                "optional?": {"val": False, "comment": "Whether it is left out at times."},
                "subprocesses": [
                    {"process-id": "cooling", "inputs": ["loaves"], "outputs": ["cool loaves"], "resources": [],
                        "subprocesses": []}
                ],
            },
        ],
    },
}  # fmt: skip
KINDS: dict[str, Any] = {
    "message-type": "EADS-INSTRUCTIONS",
    "interview-objective": "Tell the kind of problem.\nAsk this question verbatim:\n\n  'What is it that you plan?'\n",
    "EADS": {
        "EADS-id": "process/kinds",
        "principal-kind": {
            "val": "BATCH-KIND",
            "comment": "One of the following:\n  1) BATCH-KIND: many at once.\n  2) SINGLE-KIND: one by one.\n  3) "
            "MIXED-KIND: both.",
        },
        "kinds-beside": {"val": ["BATCH-KIND", "MIXED-KIND"], "comment": "All that seem relevant."},
        "cyclical?": {"val": False, "comment": "Whether it repeats."},
        "remark": {"val": "They bake at night.", "comment": "Optional. One sentence, without asking a question."},
    },
}
EVENTS: dict[str, Any] = {
    "budget-decrement": 0.15,
    "interview-objective": "Which events need which times.",
    "DS": {
        "DS-id": "process/events",
        "events": {
            "comment": "A list.",
            "val": [
                {
                    "event-id": {"val": "class", "comment": "Named by you."},
                    "constituents": [
                        {"constituent": "room", "base": {"val": "place",
                                                  "comment": "Possible values are 'human', 'place', and 'equipment'."}},
                        {"constituent": "pupils", "base": "human",
                         "quantity": {"units": "person", "value-string": "30", "modifier": "up to"}},
                    ],
                    "periodicity": {"val":
                        {"interval": {"units": "week", "value-string": "1"}, "occurrences": {"value-string": "2"}},
                        "comment": "How often."},
                    "when": ["Tue-Thu"],
                },
                {"event-id": "holiday", "constituents": {"val": "none", "comment": "Nobody."},
                 "periodicity": {"val": "none", "comment": "Once."},
                 "when": ["2025-03-17"], "opportunistic?": True},
            ],
        },
        "slots": [
            {"slot-id": "Tue-Thu", "availability": ["Tuesday"],
                "periods": {"val": ["9:00-10:20"], "comment": "As agreed."}},
            {"slot-id": "Lab", "availability": ["Monday"], "periods": ["9:00-11:50"]},
        ],
    },
}  # fmt: skip
FACTS: dict[str, Any] = {
    "budget-decrement": 0.08,
    "interview-objective": "The facts of each area.",
    "DS": {
        "DS-id": "data/facts",
        "exhausted?": {"val": False, "comment": "True at the end."},
        "areas": {"val": ["orders"], "comment": "To discuss."},
        "inquiry-areas": [
            {
                "inquiry-area-id": {"val": "orders", "comment": "One of the areas."},
                "objects-here": {"comment": "What is spoken of.",
                    "val": [{"object-id": "order", "definition": {"val": "by its number", "comment": "Short."}}]},
                "fact-types": [
                    {
                        "fact-type-id": "ORDER-has-DATE", "objects": ["order", "date"],
                        "reference-modes": ["nr", "timepoint"],
                        "mandatory?": {"val": ["must", ""], "comment": "empty string: not mandatory"},
                        "uniqueness": [["key1", ""]],
                        "examples": {"column-headings": ["nr", "date"],
                            "rows": [["7", "2025-01-02"], ["8", "2025-01-03"]]},
                    },
                    {
                        "fact-type-id": "ORDER-has-GOODS-QUANTITY", "objects": ["order", "goods", "quantity"],
                        "reference-modes": ["nr", "code", "quantity"], "uniqueness": [["key1", "key1", ""]],
                        "examples": {"column-headings": ["nr", "code", "quantity"], "rows": [["7", "P1", "2"]]},
                    },
                ],
            }
        ],
    },
}  # fmt: skip
