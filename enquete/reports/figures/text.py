"""Text in figures: how wide it is, and how it is broken into lines."""

from __future__ import annotations

from enquete.state.visible_text import visible

SIZE = 12
"""px, of all text that has no size of its own."""


class _Widths(dict[str, float]):
    """By the size of the text. What is not in it is measured when it is first met."""

    def __missing__(self, one: str) -> float:
        return self.setdefault(one, _CAPITAL if one.isupper() else _OTHER)


_WIDTHS = _Widths(
    {
        **dict.fromkeys("ijl|'.,:;!·", 0.26),
        **dict.fromkeys("ftrI()[]/ -", 0.34),
        **dict.fromkeys("mwMWÄÖÜ%@…—", 0.88),
        **dict.fromkeys("csxyzkvJ", 0.51),
    }
)
_CAPITAL, _OTHER = 0.69, 0.57
BOLD = 1.07
"""Width of bold text by that of other."""


def width(text: str, size: float = SIZE) -> float:
    """px, estimated from the widths of Helvetica's characters; other system fonts differ by a tenth."""
    return _line(text) * size


def _line(text: str) -> float:
    return sum(map(_WIDTHS.__getitem__, text))


def broken(text: object, px: float, most: int = 2, size: float = SIZE - 1) -> list[str]:
    """In at most so many lines of so many px, by default of the size of an axis' labels; what does not fit ends in …"""
    lines: list[str] = []
    for word in visible(str(text)).split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _line(longer) * size <= px:
            lines[-1] = longer
        else:
            lines.append(word)
    rest = " ".join(lines[most - 1 :])
    return [_cut(line, px, size) for line in [*lines[: most - 1], rest] if line]


def _cut(line: str, px: float, size: float) -> str:
    if _line(line) * size <= px:
        return line
    words = line.split()
    while len(words) > 1 and _line(f"{' '.join(words)} …") * size > px:
        words.pop()
    if len(words) > 1 or _line(f"{words[0]} …") * size <= px:
        return f"{' '.join(words)} …"
    word = words[0]
    while word and _line(f"{word}…") * size > px:
        word = word[:-1]
    return f"{word}…"
