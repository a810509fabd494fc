"""The sentence of an answer that speaks of something, so that a report need not print the whole answer each time."""

from __future__ import annotations

import re

_SENTENCE = re.compile(r"(?<=[.!?…])\s+(?=[A-ZÄÖÜ„“\"(0-9])")
_WORD = re.compile(r"[^\W\d_]{4,}")
GAP = "[…]"


def excerpt(text: str, about: str) -> str:
    """The sentence of `text` that shares most words with `about`, with […] where something was left out.

    Words are compared by their first six letters, which outlives most endings. The whole text where it is one sentence
    or no sentence shares a word.
    """
    sentences = _SENTENCE.split(" ".join(text.split()))
    wanted = _stems(about)
    shared = [len(_stems(sentence) & wanted) for sentence in sentences]
    if len(sentences) < 2 or not max(shared):
        return text
    best = shared.index(max(shared))
    before, after = (f"{GAP} " if best else ""), (f" {GAP}" if best < len(sentences) - 1 else "")
    return f"{before}{sentences[best]}{after}"


def _stems(text: str) -> set[str]:
    return {word.lower()[:6] for word in _WORD.findall(text)}
