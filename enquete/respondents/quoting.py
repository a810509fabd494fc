"""Other people's words: whether something was said, and how what was said stands in a prompt as data."""

from __future__ import annotations

import re
from functools import lru_cache
from hashlib import sha256

from enquete.models.parsing import clean_text

# --- Whether something was said: words compared as they are spoken, without case, punctuation and line breaks.

_NO_WORD = re.compile(r"[\W_]+")


@lru_cache(maxsize=65_536)
def normal(text: str) -> str:
    """Lower case, words only, single spaces."""
    return _NO_WORD.sub(" ", text.casefold()).strip()


def stands_in(quote: str, answer: str) -> bool:
    """Whether the answer has these words, whole and in this order."""
    words = normal(quote)
    return bool(words) and f" {words} " in f" {normal(answer)} "


# --- Other people's words as data: a persona, posts, answers. Doubled brackets in it are spaced and its tag is a hash
# of its content, so no content can close its own fence or imitate another.

_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")


def data_of(text: str) -> str:
    """`text` as it stands within a fence."""
    return _DOUBLED.sub(lambda bracket: f"{bracket[0]} ", clean_text(text))


def fence(name: str, text: str) -> str:
    """`text` as data: nothing in it looks like the beginning or the end of a fence."""
    data = data_of(text)
    tag = sha256(data.encode()).hexdigest()[:12]
    return f"[[{name}:{tag}\n{data}\n{tag}]]"
