"""What the interviews found, in sentences: how many records are complete, and what was named most in each field.

all_responses.csv has the interviews' words; what was read in them stands in records.jsonl:

- complete, total: records that meet the schema's completion, of the interviews begun (`complete`); questions: their mean number.
- share, low, high: agents who named a value (`record`), among those with anything in that field (n), with Wilson's 95 % interval.
- median, low, high of a number: over all values of the field (quartiles).

Where a rule read more than RULE_AT_MOST of the answers, there is no finding on content: a rule knows words, not meanings.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from enquete.analysis.means import share_interval
from enquete.locale import N_
from enquete.reports.context import Found, at, done_by_rule, listed
from enquete.reports.key_findings import FEWEST, KeyFinding, sentence, shortened
from enquete.reports.markdown import number, share
from enquete.respondents.roles import RULE_AT_MOST
from enquete.state.asking import Language

LABEL_WORDS = 6

WORDS: Mapping[str, str] = {
    "complete": N_(
        "{complete} of {n} records of “{item}” are complete, after {questions} questions on average (n = {n}/{total} interviews)."
    ),
    "by_rule": N_(
        "What was said on “{item}” is read by words only: a rule stood in for the model and read {read} of {answers} answers "
        "(n = {n}/{total})."
    ),
    "named": N_("{label}: most named “{item}”, by {agents} agents ({shown_share}, 95% interval {low} to {high}; n = {n}/{total})."),
    "yes": N_("{label}: yes for {agents} agents ({shown_share}, 95% interval {low} to {high}; n = {n}/{total})."),
    "number": N_("{label}: median {median} {unit}, middle half {low} to {high} (n = {n}/{total})."),
    "contradictions": N_("{agents} agents contradicted themselves about something; each was asked which holds (n = {n}/{total})."),
}  # fmt: skip


def findings(found: Found, language: Language) -> Iterator[KeyFinding]:
    """Completeness, then every required field, then others that half of the agents have."""
    n, total = (int(at(found, "interviews", key) or 0) for key in ("begun", "total"))
    if n < FEWEST:
        return
    yield _complete(found, n, total, language)
    read, answers = read_by_rule(found)
    if read > RULE_AT_MOST * answers:
        text = sentence(
            WORDS["by_rule"], language, item=str(at(found, "title")), read=read, answers=answers, n=n, total=total
        )
        yield KeyFinding("by_rule", text, "null", 0.0, n, total, numbers={"read": read, "answers": answers, "n": n})
        return
    fields = [one for one in listed(found, "fields") if one["required"] or 2 * one["n_known"] >= n]
    for one in fields:
        yield from _field(one, total, language)
    against = sum(bool(one["contradictions"]) for one in listed(found, "records"))
    if against:
        text = sentence(WORDS["contradictions"], language, agents=against, n=n, total=total)
        yield KeyFinding("contradictions", text, "position", against / n, n, total, numbers={"agents": against, "n": n})


def read_by_rule(found: Found) -> tuple[int, int]:
    """Answers that a rule read in a model's place, and all that were read."""
    return done_by_rule(found, "interpret")


def _complete(found: Found, n: int, total: int, language: Language) -> KeyFinding:
    complete = int(at(found, "interviews", "complete"))
    questions = sum(int(one["questions"]) for one in listed(found, "records")) / n
    text = sentence(
        WORDS["complete"], language, item=str(at(found, "title")), complete=complete, n=n, total=total,
        questions=number(questions, language, 1),
    )  # fmt: skip
    numbers = {"complete": complete, "questions": questions, "n": n}
    return KeyFinding("complete", text, "position", complete / n, n, total, figure="completeness", numbers=numbers)


def _field(one: Mapping[str, Any], total: int, language: Language) -> Iterator[KeyFinding]:
    n, label = int(one["n_known"]), shortened(str(one["label"]), LABEL_WORDS)
    label = label[:1].upper() + label[1:]
    if n < FEWEST:
        return
    if one["type"] == "number":
        figures = {key: float(one[key]) for key in ("median", "low", "high")}
        shown = {key: number(value, language, 1) for key, value in figures.items()}
        text = sentence(WORDS["number"], language, label=label, unit=one["unit"], n=n, total=total, **shown).replace(
            "  ", " "
        )
        yield KeyFinding(
            f"number.{one['path']}",
            text,
            "position",
            n / total,
            n,
            total,
            figure="coverage",
            numbers={**figures, "n": n},
        )
        return
    named = one.get("named") or []
    agents = int(one["n_yes"]) if one["type"] == "boolean" else int(named[0]["agents"]) if named else 0
    if one["type"] != "boolean" and agents < 2:
        return
    shares = share_interval(agents, n)
    shown = {key: share(value, language) for key, value in shares.items()}
    word, item = ("yes", "") if one["type"] == "boolean" else ("named", str(named[0]["value"]))
    text = sentence(
        WORDS[word], language, item=item, label=label, agents=agents, n=n, total=total, shown_share=shown["share"],
        low=shown["low"], high=shown["high"],
    )  # fmt: skip
    yield KeyFinding(
        f"{word}.{one['path']}",
        text,
        "position",
        agents / n,
        n,
        total,
        figure="coverage",
        numbers={**shares, "agents": agents, "n": n},
    )
