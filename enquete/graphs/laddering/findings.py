"""What the interviews found, in sentences: what leads to what, where it ends, what is spoken of most, whether more would come.

all_responses.csv has the interviews' words; concepts and links are what a model read in them, and stand in pooled_graph.json:

- agents: interviews that name a concept (`concepts`), or give both ends of a link and the link (`implications`, direct).
- share, low, high: of these among n, the interviews begun (agents with an answered turn), with Wilson's 95 % interval.
- concepts, new: different concepts, and those of them that the last quarter of the interviews brought (saturation.json).
- mean, low, high (`adapting`): codes an interview, adaptive − other, over agents interviewed by both (interviews.json,
  comparison), with Student's 95 % interval; the arms are the main one and that of the other strategy.
- read: answers that a rule read instead of a model (turn_log.jsonl, by.extract); answers: all that were read.

Where a rule read more than RULE_AT_MOST of the answers there is no finding but that: a rule knows words, not meanings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from enquete.analysis.means import share_interval
from enquete.graphs.laddering import patterns
from enquete.graphs.laddering.comparing import told
from enquete.locale import N_
from enquete.reports.context import Found, at, done_by_rule, listed
from enquete.reports.key_findings import FEWEST, KeyFinding, Kind, sentence, shortened
from enquete.reports.markdown import share
from enquete.respondents.roles import RULE_AT_MOST
from enquete.state.asking import Language

LINKS, QUOTED = 3, 8  # of the strongest links; words of a concept

WORDS: Mapping[str, str] = {
    "by_rule": N_(
        "What leads to what is not known: a rule stood in for the model and read {read} of {answers} answers "
        "(n = {n}/{total} interviews)."
    ),
    "nothing": N_("No concept was found in the {answers} answers (n = {n}/{total} interviews)."),
    "link": N_(
        "“{item}” {relation} “{target}” in {agents} interviews ({shown_share}, 95% interval {low} to {high}; n = {n}/{total})."
    ),
    "end": N_(
        "Named most as {kind}: “{item}”, in {agents} interviews ({shown_share}, 95% interval {low} to {high}; "
        "n = {n}/{total})."
    ),
    "concept": N_(
        "Spoken of most: “{item}”, in {agents} interviews ({shown_share}, 95% interval {low} to {high}; n = {n}/{total})."
    ),
    "saturation": N_(
        "The last quarter of the interviews brought {new} of {concepts} different concepts (n = {n}/{total})."
    ),
}


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """The strongest links, the end that is named most, the concept that is named most, saturation."""
    stated = Stated(found, language)
    if stated.n < FEWEST:
        return
    if stated.by_rule > RULE_AT_MOST * stated.answers:
        yield stated.null("by_rule", read=stated.by_rule, answers=stated.answers)
    elif not listed(found, "concepts"):
        yield stated.null("nothing", answers=stated.answers)
    else:
        yield from stated.links() if at(found, "ladder") else patterns.findings(found, language)
        yield from stated.ends()
        yield from stated.saturation()
        yield from stated.adapting()


def read_by_rule(found: Found) -> tuple[int, int]:
    """Answers that a rule read in a model's place, and all that were read."""
    return done_by_rule(found, "extract")


class Stated:
    """The findings of one run."""

    def __init__(self, found: Found, language: Language) -> None:
        self.found, self.language = found, language
        self.n, self.total = (int(at(found, "interviews", key) or 0) for key in ("begun", "total"))
        self.by_rule, self.answers = read_by_rule(found)
        self.concepts = {str(one["id"]): one for one in listed(found, "concepts")}
        self.turns = {
            (str(graph["participant"]), str(node["id"])): [str(source["utterance"]) for source in node["sources"]]
            for graph in listed(found, "graphs")
            for node in graph["nodes"]
        }

    def null(self, word: str, **counts: int) -> KeyFinding:
        facts: dict[str, Any] = {**counts, "n": self.n, "total": self.total}
        text = sentence(WORDS[word], self.language, **facts)
        return KeyFinding(word, text, "null", 0.0, self.n, self.total, numbers={**counts, "n": self.n})

    def links(self) -> Iterator[KeyFinding]:
        """The links that most interviews give, if two do at least."""
        for cell in listed(self.found, "implications")[:LINKS]:
            if cell["direct"] > 1:
                source, target = (self.concepts[cell[end]] for end in ("source", "target"))
                name = f"link.{source['label']}.{target['label']}"
                label = shortened(str(target["label"]), QUOTED)
                relation = (at(self.found, "relations") or {})[cell["relation"]]
                yield self._share(name, "link", cell["direct"], [source, target], target=label, relation=relation)

    def ends(self) -> Iterator[KeyFinding]:
        """The concept of the highest rung reached, and of all, that most interviews name."""
        terminal = list(at(self.found, "types") or {})[-1]
        ending = [one for one in self.concepts.values() if one["type"] == terminal]
        ladder = at(self.found, "ladder") or []
        if ending and ladder and ending[0]["agents"] > 1:
            kind = str(ladder[-1])
            yield self._share(f"end.{ending[0]['label']}", "end", ending[0]["agents"], ending[:1], kind=kind)
        first = next(iter(self.concepts.values()))
        yield self._share(f"concept.{first['label']}", "concept", first["agents"], [first])

    def saturation(self) -> Iterator[KeyFinding]:
        """What the last interviews still brought: a share of what all did."""
        curve = listed(self.found, "saturation")
        last = curve[len(curve) - len(curve) // 4 :]
        concepts, new = int(curve[-1]["concepts"]), sum(int(one["new"]) for one in last)
        text = sentence(WORDS["saturation"], self.language, new=new, concepts=concepts, n=self.n, total=self.total)
        numbers = {"new": new, "concepts": concepts, "n": self.n}
        yield KeyFinding(
            "saturation", text, "position", new / concepts, self.n, self.total, None, (), "saturation", numbers
        )

    def adapting(self) -> Iterator[KeyFinding]:
        """Whether adaptive questions found more than those they were compared with: concepts an interview, agent by agent."""
        comparison = at(self.found, "comparison") or {}
        largest = max((one["richness"] or 0.0 for one in listed(comparison, "strategies")), default=0.0)
        for one, text in told(comparison, self.total, self.language):
            if one["verdict"] == "few":
                continue
            numbers = {**{key: one["richness"][key] for key in ("mean", "low", "high")}, "n": one["n"]}
            kind: Kind = "null" if one["verdict"] == "alike" else "difference"
            size = abs(numbers["mean"]) / largest if largest else 0.0
            yield KeyFinding(
                f"adapting.{one['strategy']}",
                text,
                kind,
                min(size, 1.0),
                one["n"],
                self.total,
                one["p"],
                numbers=numbers,
            )

    def _share(
        self, name: str, word: str, agents: int, concepts: Sequence[Mapping[str, Any]], **facts: str
    ) -> KeyFinding:
        numbers = share_interval(agents, self.n)
        shown = {key: share(value, self.language) for key, value in numbers.items()}
        text = sentence(
            WORDS[word], self.language, item=shortened(str(concepts[0]["label"]), QUOTED), agents=agents, n=self.n,
            total=self.total, shown_share=shown.pop("share"), **shown, **facts,
        )  # fmt: skip
        items = {turn for one in concepts for turn in self._items(one)}
        return KeyFinding(
            name, text, "position", agents / self.n, self.n, self.total, None, tuple(sorted(items)), "value_map",
            {**numbers, "agents": agents, "n": self.n},
        )  # fmt: skip

    def _items(self, concept: Mapping[str, Any]) -> Iterator[str]:
        """The turns in which a concept was spoken of, by item id."""
        for unit, node in concept["members"]:
            for utterance in self.turns.get((unit, node), ()):
                yield f"turn_{int(utterance.rpartition('#')[2]):02d}"
