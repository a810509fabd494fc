"""A model that writes drafts, for the test model server: able, and with faults that a careful reader must see.

It invents a source, a theme and a statement, writes one double-barrelled item that it mends when told, one that it does
not mend, and one German text that says something else than its English.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

THEMES = {
    "consumer protection": "Verbraucherschutz",
    "financial stability": "Finanzstabilität",
    "cashback rates": "Cashback-Sätze",
    "interchange fees": "Interbankenentgelte",
    "oversight of banks": "Aufsicht über Banken",
}
TOPIC = {"de": "Das Cashback-Programm der Halcourt Bank", "en": "The cashback programme of Halcourt Bank"}
MENDED, BROKEN, DOUBTED = "consumer-protection_better", "cashback-rates_fair", "financial-stability_harm"
"""Slots of the questionnaire: mended when told, never mended, and translated wrongly."""
OTHER_CLAIM = "Wer beim Thema „Finanzstabilität“ entscheidet, dem misstraut die Presse."


class Drafter:
    """As ModelServer(script=…). Remembers what it wrote, to translate it back. themes: English → German."""

    def __init__(self, themes: Mapping[str, str] = THEMES, topic: Mapping[str, str] = TOPIC) -> None:
        self.themes, self.topic = themes, topic
        self.english: dict[str, str] = {}
        self.asked: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str:
        prompt = "\n".join(str(message["content"]) for message in body["messages"])
        lines = [(int(number), text) for number, text in re.findall(r"^(\d+)\. (.*)$", prompt, re.MULTILINE)]
        for word, answer in (
            ("A study is prepared", self._themes), ("Statements of a Q-sort", self._statements),
            ("An instrument on", self._texts), ("Translate each into", self._back),
        ):  # fmt: skip
            if word in prompt:
                self.asked.append(word)
                return json.dumps(answer(prompt, lines), ensure_ascii=False)
        raise AssertionError(prompt[:300])

    def _themes(self, prompt: str, lines: list[tuple[int, str]]) -> dict[str, Any]:
        named = [
            {"de": german, "en": english, "posts": [*_speaking(english, lines), 9999]}
            for english, german in self.themes.items()
        ]
        self.english |= {german: english for english, german in self.themes.items()} | {
            self.topic["de"]: self.topic["en"]
        }
        invented = {"de": "Weltraumtourismus", "en": "space tourism", "posts": [1, 2, 9999]}
        return {"topic": self.topic, "themes": [*named, invented]}

    def _statements(self, prompt: str, lines: list[tuple[int, str]]) -> dict[str, Any]:
        """All of the first but two."""
        chosen = []
        for number, text in lines[2:26]:
            claim, digits = text.rpartition(" (")[0], " ".join(re.findall(r"\d+", text.rpartition(" (")[0]))
            negated = " nicht" if re.search(r"\b(not|no|never)\b", claim) else ""
            german = (
                f"Das wurde hier{negated} so gesagt und ist wörtlich gemeint {digits} "
                f"{'sehr ' * (len(claim) // 40)}wie es steht."
            )
            self.english[" ".join(german.split())] = claim
            chosen.append({"number": number, "translation": german})
        return {"statements": [*chosen, {"number": 9999, "translation": "Das hat niemand gesagt."}]}

    def _texts(self, prompt: str, lines: list[tuple[int, str]]) -> dict[str, Any]:
        given = []
        posts = [(number, text) for number, text in lines if "Enquete's own" not in text]
        told = "not usable" in prompt
        for number, text in lines:
            match = re.search(r"Enquete's own: “(.*)” / „(.*)“$", text)
            if match is None:
                continue
            english, german = (wording.strip() for wording in match.groups())
            theme = next((candidate for candidate in self.themes if candidate in english), "")
            sources = [*_speaking(theme, posts)[:3], 9999] if theme else []
            if _is(MENDED, english) and not told:
                english, german = "The bank is honest and it is cheap.", "Die Bank ist ehrlich und sie ist günstig."
            if _is(BROKEN, english):
                english, german = "Banks often cheat and lie.", "Banken betrügen oft und lügen."
            self.english[german] = english
            if _is(DOUBTED, english):
                german = OTHER_CLAIM
                self.english[german] = "The press is suspicious of whoever rules."
            given.append({"number": number, "de": german, "en": english, "posts": sources})
        return {"texts": given}

    def _back(self, prompt: str, lines: list[tuple[int, str]]) -> dict[str, Any]:
        return {"texts": [{"number": number, "text": self.english.get(text, "?")} for number, text in lines]}


def _is(slot: str, english: str) -> bool:
    theme, _, what = slot.partition("_")
    mark = {"better": "more good than harm", "fair": "is treated fairly", "harm": "come to regret"}[what]
    return theme.replace("-", " ") in english and mark in english


def _speaking(theme: str, lines: list[tuple[int, str]]) -> list[int]:
    words = [word for word in theme.split() if len(word) > 3]
    return [number for number, text in lines if any(word in text.casefold() for word in words)][:12]
