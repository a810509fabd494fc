"""A desk for work outside a run: its own ledger in a folder, a cap, one model. And what a draft's requests are likely to cost.

Every request is filed before it is sent, as in a run: whoever begins anew after a stop pays for nothing twice.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from enquete.checkpoints.budget import Budget
from enquete.checkpoints.folders import LEDGER, held
from enquete.checkpoints.ledger import Ledger
from enquete.instruments.reading import LANGUAGES
from enquete.models.faults import checked_url
from enquete.models.metered import MeteredModel, Terms, estimate
from enquete.models.prices import Prices, cost
from enquete.models.transport import Transport
from enquete.nodes.authoring import author
from enquete.nodes.authoring.requests import BACK, STATEMENTS, TEXTS, THEMES, BackIn, Numbered
from enquete.nodes.material import Material
from enquete.nodes.workplace import LIMITER, OPENAI_URL
from enquete.respondents.local_desk import LocalDesk
from enquete.respondents.person import HumanRespondent
from enquete.state.asking import Arm
from enquete.state.settings import Machine

RUN = "draft"
TOKENS_OF_FORM = 20
"""Of JSON around a text."""
LABEL_TOKENS = 40
"""Of a theme in two languages with its posts."""


@dataclass(frozen=True)
class Expected:
    """What a draft is likely to take where all of it can be used at once. usd: None where the price is unknown."""

    requests: int
    input_tokens: int
    output_tokens: int
    usd: float | None

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@dataclass(frozen=True)
class Office:
    desk: LocalDesk
    ledger: Ledger
    budget: Budget


def url_of(machine: Machine) -> str:
    return checked_url(machine.base_url or OPENAI_URL)


@asynccontextmanager
async def opened(folder: Path, model: str, machine: Machine) -> AsyncIterator[Office]:
    """The folder is made. Raises RunLocked, LedgerError."""
    folder.mkdir(parents=True, exist_ok=True)
    async with AsyncExitStack() as stack:
        stack.enter_context(held(folder))
        LIMITER.resize(machine.concurrency)
        path = folder / LEDGER
        ledger = Ledger(path, RUN, create=not path.exists())
        stack.push_async_callback(ledger.close)
        await ledger.sweep()
        sender = Transport(
            url_of(machine), machine.api_key, limiter=LIMITER, timeout_s=machine.timeout_s, limits=machine.limits,
            patience_s=machine.patience_s,
        )  # fmt: skip
        stack.push_async_callback(sender.aclose)
        cap = machine.cap_tokens or machine.default_cap_tokens
        budget = Budget(cap, ledger.total("tokens"))
        budget.when_stopped = sender.halt
        terms = Terms(model, 0, 0, Prices.read(machine.prices).of(model, url_of(machine)), "", url_of(machine))
        metered = MeteredModel(ledger, budget, sender, terms)
        arm = Arm(respondent="llm", model=model, temperature=0)
        desk = LocalDesk(
            arm=arm, main_arm=arm.id, methodology=RUN, phase="", language="en", asking="block", population=(), ledger=ledger,
            respondent=HumanRespondent(ledger), model=metered, interviewers=lambda _: metered, interviewer_has_model=True,
        )  # fmt: skip
        yield Office(desk, ledger, budget)


def expected(material: Material, methods: Mapping[str, str], model: str, machine: Machine) -> Expected:
    """Built from the rule's draft: what is asked is that long, and what comes back."""
    shown = author.sample(material.posts)
    candidates = author.candidates(material)
    instruments = author.slots_of(material, methods)
    slots = [slot for own in instruments.values() for slot in own]
    own = [one.text for one in material.chosen]
    prompts = [
        THEMES.prompt(author.themes_input(material, shown), "en"),
        STATEMENTS.prompt(author.statements_input(material, candidates), "en"),
        *(TEXTS.prompt(author.texts_input(material, group, shown), "en") for group in instruments.values()),
    ]
    written = [*own, *(slot.en for slot in slots), *(theme.label for theme in material.themes)]
    batches = [written[place : place + author.AT_ONCE] for place in range(0, len(written), author.AT_ONCE)]
    for batch in batches:
        lines = [Numbered(number=number, text=text) for number, text in enumerate(batch, start=1)]
        prompts.append(BACK.prompt(BackIn(texts=lines, into=LANGUAGES[0]), "en"))
    read = sum(estimate(text) for text in prompts)
    wrote = LABEL_TOKENS * (len(material.themes) + 1)
    wrote += sum(estimate(slot.de) + estimate(slot.en) + TOKENS_OF_FORM for slot in slots)
    wrote += sum(estimate(text) + TOKENS_OF_FORM for text in [*own, *written])
    price = Prices.read(machine.prices).of(model, url_of(machine))
    return Expected(len(prompts), read, wrote, cost(price, read, wrote) if price else None)
