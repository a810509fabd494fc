"""The answers behind a report, within its page: of every item who answered what, so that a figure or finding can lead there.

Embedded are up to MOST answers, the main arm's; of a larger run links lead to the table.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qs

import pandas as pd

from enquete.locale import N_, tell
from enquete.reports.context import responded
from enquete.reports.markdown import number
from enquete.reports.table.items import Asked
from enquete.state.asking import Language

MOST = 12_000
TABLE = "exports/all_responses.csv"


class Embedded:
    """Answers by item as HTML, and where a reference to them leads."""

    def __init__(
        self, frame: pd.DataFrame, asked: Sequence[Asked], type_names: Mapping[str, str], language: Language
    ) -> None:
        own = responded(frame[frame["arm_role"].eq("main")])
        self._rows = own if len(own) <= MOST else own.iloc[:0]
        self._wordings = {(one.methodology, one.item_id): one.text(language) for one in asked}
        self._known = set(zip(self._rows["methodology"], self._rows["item_id"], strict=True))
        self._type_names, self._language = type_names, language

    def anchor(self, methodology: str, item: str) -> str:
        """#… of the item's answers; "" where they are not embedded."""
        return f"#{_slug(methodology, item)}" if (methodology, item) in self._known else ""

    def href(self, reference: str) -> str | None:
        """Where a figure's reference to answers leads (see `figures.canvas.answers`); None for nowhere."""
        methodology, _, query = reference.partition("?")
        item = parse_qs(query).get("item_id", [""])[0]
        return self.anchor(methodology, item) or TABLE

    def html(self) -> Iterator[str]:
        """One folded table an item."""
        heads = [
            tell(text, self._language)
            for text in (N_("Agent"), N_("Group"), N_("Phase"), N_("Answer"), N_("In their words"))
        ]
        head = "".join(f"<th>{html.escape(text)}</th>" for text in heads)
        columns = ["agent_name", "stakeholder_type", "phase", "round", "value", "chosen", "text"]
        by_item: dict[tuple[object, object], list[tuple[object, ...]]] = {}
        keyed = self._rows[["methodology", "item_id", *columns]].itertuples(index=False, name=None)
        for methodology, item, *row in keyed:
            by_item.setdefault((methodology, item), []).append(tuple(row))
        for (methodology, item), rows in by_item.items():
            wording = self._wordings.get((str(methodology), str(item)), str(item))
            body = "".join(map(self._row, rows))
            yield (
                f'<details id="{_slug(str(methodology), str(item))}"><summary>{html.escape(wording)} ({len(rows)})</summary>'
                f'<div class="table"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div></details>'
            )

    def _row(self, row: tuple[object, ...]) -> str:
        name, kind, phase, round_, value, chosen, text = row
        when = f"{phase} · {round_}" if round_ else str(phase)
        given = number(value, self._language, 0) if pd.notna(value) else chosen  # type: ignore[call-overload]
        cells = (name, self._type_names.get(str(kind), kind), when, given, text)
        return "<tr>" + "".join(f"<td>{html.escape(str(cell))}</td>" for cell in cells) + "</tr>"


def _slug(methodology: str, item: str) -> str:
    return "a-" + re.sub(r"[^\w-]+", "-", f"{methodology}-{item}")
