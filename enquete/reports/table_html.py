"""Tables of a report as HTML, at a fraction of what markdown-it takes, which makes seven tokens of every cell.

Read is what `markdown.table` and our templates write: every line in pipes, escaped pipes within cells. Any
other table is markdown-it's own.
"""

from __future__ import annotations

import re
from itertools import takewhile

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block.table import table as any_table

_RULER = re.compile(r"\|(?: ?-{3}:? ?\|)+")
_BETWEEN = re.compile(r"(?<!\\)\|")
_MARKED = re.compile(r"[\\`*_\[\]!<&\n]")
"""What may begin something other than plain text within a line."""
RIGHT = ' style="text-align:right"'


def with_quick_tables(renderer: MarkdownIt) -> MarkdownIt:
    renderer.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return renderer


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    first = (state.src[state.bMarks[line] : state.eMarks[line]] for line in range(start, end))
    lines = list(takewhile(bool, first)) if state.sCount[start] == state.blkIndent == 0 else []
    if silent or len(lines) < 3 or not _RULER.fullmatch(lines[1]) or not all(map(_piped, lines)):
        return any_table(state, start, end, silent)
    token = state.push("html_block", "", 0)
    token.map = [start, start + len(lines)]
    token.content = _html(lines, state.md)
    state.line = start + len(lines)
    return True


def _piped(line: str) -> bool:
    return line.startswith("| ") and line.endswith(" |")


def _html(lines: list[str], renderer: MarkdownIt) -> str:
    styles = [RIGHT if ruler.endswith(":") else "" for ruler in _cells(lines[1])]
    told: dict[str, str] = {}

    def row(line: str, tag: str) -> str:
        cells = [*_cells(line), *[""] * len(styles)]
        parts = []
        for cell, style in zip(cells, styles, strict=False):
            if cell not in told:
                told[cell] = renderer.renderInline(cell) if _MARKED.search(cell) else escapeHtml(cell)
            parts.append(f"<{tag}{style}>{told[cell]}</{tag}>\n")
        return f"<tr>\n{''.join(parts)}</tr>\n"

    body = "".join(row(line, "td") for line in lines[2:])
    return f"<table>\n<thead>\n{row(lines[0], 'th')}</thead>\n<tbody>\n{body}</tbody>\n</table>\n"


def _cells(line: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in _BETWEEN.split(line[1:-1])]
