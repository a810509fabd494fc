"""The agents of a simulation folder, joined over its files, with every disagreement between the files reported.

A run in which one file omits an entity shifts every later index of that file. Joining by index would then interview
one agent as another, so names and uuids join, indices are only checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field

from enquete.instruments.reading import fold
from enquete.simulations.records import Record
from enquete.simulations.sources import Issue

# --- Which record of one file is the same agent as which record of another, without ever trusting the index alone ----

Key = Callable[[Record], Hashable | None]


@dataclass
class Pairing:
    """Positions into `left` and `right`: `pairs` left -> right, and what stayed alone on either side."""

    left: Sequence[Record]
    right: Sequence[Record]
    pairs: dict[int, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.left_alone: dict[int, Record] = dict(enumerate(self.left))
        self.right_alone: dict[int, Record] = dict(enumerate(self.right))

    @property
    def shifted(self) -> bool:
        return any(self.left[a].index != self.right[b].index for a, b in self.pairs.items())

    def join(self, a: int, b: int) -> None:
        self.pairs[a] = b
        del self.left_alone[a], self.right_alone[b]

    def doubtful(self) -> list[tuple[Record, Record]]:
        """Records that stayed alone although the other side has a candidate: same name several times, or same index."""
        by_name = {fold(record.name): record for record in self.right_alone.values() if record.name}
        by_index = {record.index: record for record in self.right_alone.values()}
        candidates = [(r, by_name.get(fold(r.name)) or by_index.get(r.index)) for r in self.left_alone.values()]
        return [(record, other) for record, other in candidates if other is not None]


def pair(left: Sequence[Record], right: Sequence[Record]) -> Pairing:
    """Join by uuid, then by name and username, then by a name unique on both sides; by position only within equal names.

    Two agents may bear the same name: they are told apart by uuid or username, and by position only as long as
    nothing else is shifted, because a shift would silently swap them.
    """
    pairing = Pairing(left, right)
    join_unique(pairing, lambda record: record.uuid or None)
    join_unique(pairing, lambda record: (fold(record.name), fold(record.username)) if record.username else None)
    join_unique(pairing, lambda record: fold(record.name) or None)
    join_nameless(pairing)
    if not pairing.shifted:
        join_positions(pairing)
    return pairing


def join_unique(pairing: Pairing, key: Key) -> None:
    right = unique(pairing.right_alone, key)
    for value, a in unique(pairing.left_alone, key).items():
        if value in right and compatible(pairing.left[a], pairing.right[right[value]]):
            pairing.join(a, right[value])


def unique(records: Mapping[int, Record], key: Key) -> dict[Hashable, int]:
    keys = {position: value for position, record in records.items() if (value := key(record)) is not None}
    counts = Counter(keys.values())
    return {value: position for position, value in keys.items() if counts[value] == 1}


def join_nameless(pairing: Pairing) -> None:
    """Some twitter CSVs carry no name column: there the username identifies."""
    nameless = any_nameless(pairing.left) or any_nameless(pairing.right)
    if nameless:
        join_unique(pairing, lambda record: fold(record.username) or None)


def any_nameless(records: Iterable[Record]) -> bool:
    return any(not record.name for record in records)


def join_positions(pairing: Pairing) -> None:
    """Same index and the same name (equally often on both sides); or no name at all on one side of equally long files."""
    left = Counter(fold(record.name) for record in pairing.left_alone.values())
    right = Counter(fold(record.name) for record in pairing.right_alone.values())
    by_index = {record.index: b for b, record in pairing.right_alone.items()}
    for a, mine in list(pairing.left_alone.items()):
        b = by_index.get(mine.index)
        if b is None or b not in pairing.right_alone or not compatible(mine, pairing.right[b]):
            continue
        name, other = fold(mine.name), fold(pairing.right[b].name)
        same_name = name == other and left[name] == right[name]
        no_name = not (name and other) and len(pairing.left) == len(pairing.right)
        if same_name or no_name:
            pairing.join(a, b)


def compatible(a: Record, b: Record) -> bool:
    """Two different uuids are two entities, whatever their names."""
    return not (a.uuid and b.uuid) or a.uuid == b.uuid


CONFIG = "simulation_config.json"
REDDIT, TWITTER = "reddit_profiles.json", "twitter_profiles.csv"


@dataclass
class Agent:
    """One agent: its richest profile, its index on each platform, its entry in the configuration."""

    profile: Record
    platforms: dict[str, Record] = field(default_factory=dict)
    config: Record | None = None

    @property
    def name(self) -> str:
        named = (self.profile.name, *(record.name for record in self.platforms.values()))
        return next(filter(None, (*named, self.config.name if self.config else "", self.profile.username)), "")

    @property
    def uuid(self) -> str:
        known = (self.config, self.profile, *self.platforms.values())
        return next((record.uuid for record in known if record and record.uuid), "")

    @property
    def type(self) -> str:
        return (self.config.type if self.config else "") or self.profile.type or self.profile.profession or "unknown"

    @property
    def facts(self) -> dict[str, str]:
        """Its other columns over all files; the richest profile's win."""
        known = [*(record.facts for record in self.sources()), self.profile.facts]
        return {name: text for facts in known for name, text in facts.items()}

    @property
    def aligned(self) -> bool:
        """Whether every file has the agent at the same index."""
        return len({record.index for record in self.sources()}) == 1

    def sources(self) -> list[Record]:
        return [*self.platforms.values(), *([self.config] if self.config else [])]


def reconcile(
    reddit: Sequence[Record], twitter: Sequence[Record], configs: Sequence[Record]
) -> tuple[list[Agent], list[Issue]]:
    """Reddit's agents in their order, then twitter's own; each with its configuration where it has one."""
    issues: list[Issue] = []
    agents = join_platforms(reddit, twitter, {fold(record.name) for record in configs}, issues)
    join_configs(agents, configs, issues)
    issues.extend(shift_warning(agent) for agent in agents if not agent.aligned)
    issues.extend(repeated_uuids(agents))
    return agents, issues


def join_platforms(
    reddit: Sequence[Record], twitter: Sequence[Record], known: Set[str], issues: list[Issue]
) -> list[Agent]:
    """`known`: folded names of the configuration, where two names at one index are simply two entities."""
    pairing = pair(reddit, twitter)
    agents = [Agent(record, {"reddit": record}) for record in reddit]
    for a, b in pairing.pairs.items():
        agents[a].platforms["twitter"] = twitter[b]
    for mine, other in pairing.doubtful():
        mine_known, other_known = fold(mine.name) in known, fold(other.name) in known
        if fold(mine.name) == fold(other.name) or not (mine_known and other_known):
            issues.append(doubt(mine, other))
    alone = list(pairing.right_alone.values())
    if reddit and alone:
        names = ", ".join(record.name or record.username for record in alone[:5])
        issues.append(Issue("info", TWITTER, f"{len(alone)} agents are not in {REDDIT} and were appended: {names}"))
    return agents + [Agent(record, {"twitter": record}) for record in alone]


def join_configs(agents: Sequence[Agent], configs: Sequence[Record], issues: list[Issue]) -> None:
    if not configs:
        return
    pairing = pair([agent.profile for agent in agents], configs)
    for a, b in pairing.pairs.items():
        agents[a].config = configs[b]
    doubtful = pairing.doubtful()
    issues.extend(doubt(mine, other) for mine, other in doubtful)
    doubted = {id(mine) for mine, _ in doubtful} | {id(other) for _, other in doubtful}
    for record in pairing.left_alone.values():
        if id(record) not in doubted:
            message = f"{record.where}: {record.name!r} is not in {CONFIG}: no entity type"
            issues.append(Issue("warning", record.file, message))
    for record in pairing.right_alone.values():
        if id(record) not in doubted:
            message = f"{record.where}: {record.name!r} has no profile and is not interviewed"
            issues.append(Issue("warning", record.file, message))


def doubt(mine: Record, other: Record) -> Issue:
    """Nothing tells who is who: the person who ran the simulation has to."""
    same = fold(mine.name) == fold(other.name)
    reason = "several agents of this name, and the files are shifted" if same else "the names differ at the same index"
    here = f"{mine.where} (index {mine.index}) is {mine.name or mine.username!r}"
    there = f"{other.file}, {other.where} (index {other.index}) is {other.name or other.username!r}"
    remedy = "give both records the same name, or the entity's uuid in source_entity_uuid"
    return Issue("error", mine.file, f"{here}, {there}: {reason}. Not joined; {remedy}")


def shift_warning(agent: Agent) -> Issue:
    places = ", ".join(f"{record.file} {record.index}" for record in agent.sources())
    message = f"index shift: {agent.name!r} stands at different indices ({places}); joined by name, not by index"
    return Issue("warning", agent.profile.file, message)


def repeated_uuids(agents: Sequence[Agent]) -> list[Issue]:
    counts = Counter(agent.uuid for agent in agents if agent.uuid)
    repeated = [uuid for uuid, count in counts.items() if count > 1]
    names: dict[str, list[str]] = {uuid: [] for uuid in repeated}
    for agent in agents:
        if agent.uuid in names:
            names[agent.uuid].append(agent.name)
    return [
        Issue("error", CONFIG, f"entity_uuid {uuid!r} belongs to several agents: {', '.join(names[uuid][:5])}")
        for uuid in repeated
    ]
