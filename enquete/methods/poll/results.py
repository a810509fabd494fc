"""Result tables of a poll: answers in, one DataFrame a table out.

`analyse` calls one function a table. What a column means is in `reports/columns.yaml`, sentences are in `findings.py`,
the section of the report is in `report.md.j2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from enquete.analysis.inference import selected_intervals, share_intervals
from enquete.instruments.polls import QuestionEntry, QuestionsInstrument
from enquete.locale import N_
from enquete.reports.columns import Glossary
from enquete.reports.context import AnalysisContext, responded, wide
from enquete.reports.declarations import Analysis, Ends, compared, compared_choices, shape_results
from enquete.reports.group_tables import declare_choice_group_tables, declare_group_tables
from enquete.state.asking import Language
from enquete.state.methodology import NoSettings

MAX_QUOTED = 5
"""Answers to an open question that the report quotes, evenly spread over the population."""
ERROR = 0.05
"""Of all intervals together."""

# The tables, in the order of the report. The functions below make them, one each.

GLOSSARY = Glossary("poll")
TABLES = (
    GLOSSARY.table("questions", N_("Questions"), key="item", label="wording", columns="item wording kind n n_total"),
    GLOSSARY.table(
        "means", N_("Mean answers"), key="item",
        columns="item n n_total mean low high median sd scale lowest highest scale_min scale_max",
    ),
    GLOSSARY.table(
        "options", N_("Shares of the options"), key="item option", label="label", replicates=("first",),
        columns="item option label count n n_total share low high even first",
    ),
    GLOSSARY.table("distribution", N_("Distribution of the answers"), key="item value", columns="item value n"),
    *declare_group_tables(GLOSSARY, N_("Mean answers by group"), by="item"),
    *declare_choice_group_tables(GLOSSARY, N_("Options by group"), by="item"),
    GLOSSARY.table(
        "said", N_("Open answers"), key="item participant", one_agent=True,
        columns="item participant stakeholder_type text quoted",
    ),
)  # fmt: skip
FACTS = GLOSSARY.facts("n_questions")


def analyse(
    frame: pd.DataFrame, instrument: QuestionsInstrument, settings: NoSettings | None, context: AnalysisContext
) -> Analysis:
    """Return all tables and facts of a poll.

    Args:
        frame: one row an answer, of the main arm.
        instrument: what was asked.
        settings: none are there.
        context: the language of labels, and what agents are compared by.
    """
    poll = PollData(frame, instrument, context.language)
    groups = context.groups_of(frame)
    tables = {
        "questions": list_questions(poll),
        "means": estimate_means(poll),
        "options": estimate_shares(poll),
        "distribution": count_answers(poll),
        "said": list_open_answers(poll),
        **compared(poll.ratings, groups, "item", ends=poll.scale_ends),
        **compared_choices(poll.choices, groups, "item", poll.option_labels),
    }
    return shape_results(TABLES, FACTS, tables, {"n_questions": len(poll.questions)})


@dataclass(frozen=True)
class PollData:
    """A poll's answers, prepared for the tables. frame: one row an answer."""

    frame: pd.DataFrame
    instrument: QuestionsInstrument
    language: Language

    @cached_property
    def questions(self) -> dict[str, QuestionEntry]:
        return {question.question_id: question for question in self.instrument.questions}

    @cached_property
    def answers(self) -> dict[str, pd.DataFrame]:
        """The rows that carry an answer, by question."""
        answered = responded(self.frame)
        return {item: answered[answered["item_id"].eq(item)] for item in self.questions}

    @cached_property
    def participants(self) -> list[str]:
        return list(self.frame["participant"].unique())

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """Participants × questions that are answered by a number, NaN where there is none."""
        return wide(responded(self.frame), self.items_of("likert", "number"), people=self.participants)

    @cached_property
    def choices(self) -> pd.DataFrame:
        """Participants × questions that offer options: the option chosen, None where there is none."""
        people = pd.Index(self.participants)
        chosen = {
            item: self.answers[item].set_index("participant")["choice"].astype(object).reindex(people)
            for item in self.items_of("choice")
        }
        return pd.DataFrame(chosen, index=people, dtype=object)

    @cached_property
    def option_labels(self) -> dict[str, dict[str, str]]:
        """By question and option, what the option is called; options are numbered from 1."""
        return {
            item: {
                str(place): option.label.in_(self.language)
                for place, option in enumerate(self.questions[item].options, start=1)
            }
            for item in self.items_of("choice")
        }

    @cached_property
    def scale_ends(self) -> dict[str, Ends]:
        """By question that is answered by a number, the ends of its scale; None where it has no bound."""
        ends: dict[str, Ends] = {}
        for item in self.items_of("likert", "number"):
            question = self.questions[item]
            if question.kind == "likert":
                scale = self.instrument.scale_of(question)
                ends[item] = (scale.min, scale.max)
            else:
                ends[item] = (question.minimum, question.maximum)
        return ends

    @cached_property
    def interval_error(self) -> float:
        """Error of one question's intervals, so that those of all questions hold together."""
        closed = [question for question in self.questions.values() if question.kind != "open"]
        return ERROR / max(1, len(closed))

    def items_of(self, *kinds: str) -> list[str]:
        """Return the ids of the questions of these kinds, in their order."""
        return [item for item, question in self.questions.items() if question.kind in kinds]


def list_questions(poll: PollData) -> pd.DataFrame:
    """Return every question with how many answered it, of how many that were asked."""
    asked = poll.frame["item_id"].value_counts()
    rows = [
        {
            "item": item,
            "wording": question.wording.in_(poll.language),
            "kind": question.kind,
            "n": len(poll.answers[item]),
            "n_total": asked.get(item, 0),
        }
        for item, question in poll.questions.items()
    ]
    return pd.DataFrame(rows)


def estimate_means(poll: PollData) -> pd.DataFrame:
    """Return mean, interval and spread of every question that is answered by a number.

    The intervals hold for whichever question is singled out; questions on one scale share what is known of their
    spread.
    """
    counts = list_questions(poll).set_index("item")[["n", "n_total"]]
    names = name_scales(poll)
    parts = []
    for ends in dict.fromkeys(poll.scale_ends.values()):
        items = [item for item, others in poll.scale_ends.items() if others == ends]
        ratings, (scale_min, scale_max) = poll.ratings[items], ends
        level = 1 - poll.interval_error * len(items)
        bounds = selected_intervals(ratings.notna().sum(), ratings.mean(), ratings.std(), level=level)
        part = pd.DataFrame(
            {
                "mean": ratings.mean(),
                "low": bounds["low"].clip(scale_min).to_numpy(),
                "high": bounds["high"].clip(upper=scale_max).to_numpy(),
                "median": ratings.median(),
                "sd": ratings.std(),
                "lowest": ratings.min(),
                "highest": ratings.max(),
            }
        )
        parts.append(part.assign(scale=pd.Series(names), scale_min=scale_min, scale_max=scale_max))
    return pd.concat(parts).join(counts).rename_axis("item").reset_index() if parts else pd.DataFrame()


def name_scales(poll: PollData) -> dict[str, str]:
    """Return by question what its scale is called: its points, and the words at its ends if others share these."""
    words: dict[str, list[str]] = {}
    for item, ends in poll.scale_ends.items():
        question = poll.questions[item]
        labels = poll.instrument.scale_of(question).labels if question.kind == "likert" else {}
        words[item] = [labels[int(end)].in_(poll.language) for end in ends if labels and end is not None]

    names = {}
    for item, (low, high) in poll.scale_ends.items():
        points = "" if low is None or high is None else f"{low:g}–{high:g}".replace("-", "−")
        alike = {tuple(words[other]) for other, ends in poll.scale_ends.items() if ends == (low, high)}
        is_ambiguous = len(alike) > 1 and bool(words[item])
        names[item] = f"{points}, {' … '.join(words[item])}" if is_ambiguous else points
    return names


def estimate_shares(poll: PollData) -> pd.DataFrame:
    """Return the share of every option with its interval, and which option is chosen most."""
    asked = poll.frame["item_id"].value_counts()
    parts = []
    for item, labels in poll.option_labels.items():
        n = len(poll.answers[item])
        counts = poll.answers[item]["choice"].astype(str).value_counts().reindex(list(labels), fill_value=0)
        shares = share_intervals(counts.tolist(), n, level=1 - poll.interval_error)
        part = pd.DataFrame(
            {
                "option": list(labels),
                "label": list(labels.values()),
                "count": counts.tolist(),
                "share": shares["estimate"].tolist(),
                "low": shares["low"].tolist(),
                "high": shares["high"].tolist(),
            }
        )
        is_most = part["count"].eq(part["count"].max()) & part["count"].gt(0)
        place = "first" if is_most.sum() == 1 else "tied"
        part["first"] = is_most.map({True: place, False: None})
        parts.append(part.assign(item=item, n=n, n_total=asked.get(item, 0), even=1 / len(labels)))
    return pd.concat(parts) if parts else pd.DataFrame()


def count_answers(poll: PollData) -> pd.DataFrame:
    """Return how many agents gave each answer, of questions that are answered by a number."""
    parts = [
        poll.ratings[item].value_counts().sort_index().rename_axis("value").rename("n").reset_index().assign(item=item)
        for item in map(str, poll.ratings)
    ]
    return pd.concat(parts) if parts else pd.DataFrame()


def list_open_answers(poll: PollData) -> pd.DataFrame:
    """Return what was said in words, and which answers the report quotes: a few, evenly spread."""
    parts = []
    for item in poll.items_of("open"):
        answers = poll.answers[item][["participant", "stakeholder_type", "text"]].reset_index(drop=True)
        step = max(1, -(-len(answers) // MAX_QUOTED))
        parts.append(answers.assign(item=item, quoted=answers.index % step == 0))
    return pd.concat(parts) if parts else pd.DataFrame()
