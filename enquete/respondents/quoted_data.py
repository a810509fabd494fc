"""Other people's words as data: a persona, posts, answers. Doubled brackets in it are spaced and its tag is a hash of its
content, so no content can close its own fence or imitate another.
"""

from __future__ import annotations

import re
from hashlib import sha256

from enquete.models.parsing import clean_text

_DOUBLED = re.compile(r"\[(?=\[)|\](?=\])")


def data_of(text: str) -> str:
    """`text` as it stands within a fence."""
    return _DOUBLED.sub(lambda bracket: f"{bracket[0]} ", clean_text(text))


def fence(name: str, text: str) -> str:
    """`text` as data: nothing in it looks like the beginning or the end of a fence."""
    data = data_of(text)
    tag = sha256(data.encode()).hexdigest()[:12]
    return f"[[{name}:{tag}\n{data}\n{tag}]]"
