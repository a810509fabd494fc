"""What the critic will cost: each answer is graded, each pair compared twice, some pairs once more. For an estimate before the run."""

from __future__ import annotations

from enquete.checkpoints.record import RunRecord
from enquete.models.metered import BYTES_PER_TOKEN
from enquete.models.prices import Prices
from enquete.nodes.estimate import BYTES_LEAST, BYTES_MOST, Line, Range, priced_line
from enquete.nodes.planning import CRITIC
from enquete.nodes.rehearsal import Rehearsal
from enquete.respondents.critic import STAND_IN, Question, comparing, grading

REPEATED = 50
"""Pairs of a run that are compared once more: what a critic says twice about the same pair tells how far it can be trusted."""
PERSONA, QUESTION, ANSWER = 800, 500, 200
"""Bytes beside the critic's own words, in the middle; twice as many at most, nothing at least."""
WRITTEN, BY_STAND_IN = (10, 60, 180), (10, 15, 20)
"""Tokens of a reply, least, likely, most: a sentence or two, and the result; of the stand-in, which always writes the same."""
ANSWERED = 0.5
"""Share of questions that both answer, at least. What both say alike is graded once and not compared; in the middle, half."""


def critic_lines(record: RunRecord, rehearsal: Rehearsal, prices: Prices, url: str) -> list[Line]:
    """None in a run without a second respondent."""
    second, how = record.second, record.critic
    if second is None or how is None:
        return []
    has_model = record.critic_has_model
    model = record.critic_model or STAND_IN
    people = rehearsal.of
    both = min(second.sample, people) / people if 0 < second.sample < people else 1.0
    stages = [
        (stage, (both * rows * scale, both * rehearsal.plans[stage].rows[1] * scale))
        for stage, rows in rehearsal.rows.items()
        if stage[0] not in record.carried
        for scale in [rehearsal.scale(stage[0])]
    ]
    likely, most = (sum(min(each[end], how.pairs or each[end]) for _, each in stages) for end in (0, 1))
    least = sum(ANSWERED * min(rows, how.pairs or rows) for stage, (rows, _) in stages if not _strays(rehearsal, stage))
    written, asked = WRITTEN if has_model else BY_STAND_IN, Question("", "")
    graded = grading(asked, "", how.rubric, record.language)
    compared = comparing(asked, "", "", how.rubric, record.language)
    prompts = {
        "grade": (graded, 1, (least, 1.5 * likely, 2 * most)),
        "compare": (compared, 2, (0, likely, 2 * most)),
        "again": (compared, 2, (0, min(likely, REPEATED), min(most, REPEATED))),
    }
    lines = []
    for purpose, (prompt, answers, (low, middle, high)) in prompts.items():
        own = len(prompt.system.encode()) + len(prompt.messages[0]["content"].encode())
        data = PERSONA + QUESTION + answers * ANSWER
        lines.append(
            priced_line(
                methodology=CRITIC,
                phase="",
                arm=second.id,
                claim=CRITIC,
                purpose=purpose,
                model=model,
                calls=Range(low=low, likely=middle, high=high).whole(),
                input_tokens=Range(
                    low=low * own / BYTES_MOST,
                    likely=middle * (own + data) / BYTES_PER_TOKEN,
                    high=high * (own + 2 * data) / (BYTES_LEAST if has_model else BYTES_PER_TOKEN),
                ).whole(),
                output_tokens=Range(low=low * written[0], likely=middle * written[1], high=high * written[2]).whole(),
                price=prices.of(model, url),
            )
        )
    return lines


def _strays(rehearsal: Rehearsal, stage: tuple[str, str]) -> bool:
    """Whether two respondents may be asked something else each, as conversations go: then nothing need be compared."""
    return "answer" in rehearsal.plans[stage].by_row
