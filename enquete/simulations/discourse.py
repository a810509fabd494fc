"""What a simulation talked about: every post with who wrote it and where it stands, statements out of them, and their
themes.

By rule, over words, without a model. A concourse (Stephenson 1953) is what is really said about a matter; statements
are drawn from it so that its themes and its speakers are covered, and what is left out is kept with the reason.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from enquete.analysis.vocabulary import STOP_WORDS, stemmed
from enquete.instruments.review import alike, triples
from enquete.instruments.text import language_of, words_of
from enquete.simulations.action_log import PLATFORMS, LogLines, Platform, database_path, is_action, log_path, opened
from enquete.simulations.experience import LogOwners, owners_of
from enquete.simulations.population import PlatformAccount, Population
from enquete.simulations.sources import clean, one_line
from enquete.state.asking import Spoken

# --- Which sentences take a position that somebody can share or reject, as a Q statement has to. By rule, over words

_WHILE = re.compile(r"While\b[^,]*,\s+")
_BACK = re.compile(r"\bsuch\b(?! as\b)|\bsolche\w*\b|\b(this|these|you|dies\w*)\b", re.IGNORECASE)
"""Words by which a sentence leans on another one, wherever they stand."""
_COMMENDS = re.compile(
    r"\b(commends?|applauds?|praises?|underscores?|underlines?|emphasi[sz]es?|stress(es)?|highlights?|supports?|"
    r"welcomes?|acknowledges?|recogni[sz]es?|reaffirms?|values|champions?|adheres?|oversees?|monitors?|is (aware|"
    r"proud)|(remains?|is|are) (\w+ly )?(committed|dedicated)|(will )?continues? to|(is|are) (a )?(\w+ )?commendable|"
    r"begrüßt|betont|unterstützt|unterstreicht|lobt|würdigt|bekräftigt|bekennt sich|hebt hervor)\b"
)
_NAMED = re.compile(r"[A-ZÄÖÜ]{2,}|\s[A-ZÄÖÜ]\w")
"""An abbreviation, or a capital after the first word: before such a verb, an organisation."""
_OF_ITSELF = re.compile(
    r"(?:The )?(?:[A-Z]{2,}[\w-]*|[A-Z]\w+(?: (?:of |and |for )?[A-Z][\w-]*)+)(?: \([A-Z]+\))? (?:\w+ly )?"
    r"(?!should|must|needs?|ought|can|could|may|might|would|has to|of |for )[a-z]+"
)
"""In English, an organisation and what it does or has; not what it should."""
_FIGURES = re.compile(
    r"\d|\b(zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|(zwan|vier|fünf|sech|sieb|acht|neun)zig|dreißig|"
    r"\w*(hundert|tausend)|million(en)?|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|hundreds?|"
    r"thousands?|millions?|janua(r|ry)|februa(r|ry)|märz|april|juni|juli|june|july|august|septemb(er)|o[kc]tober|"
    r"novemb(er)|de[zc]emb(er))\b",
    re.IGNORECASE,
)
_JUDGES = re.compile(
    r"\b(should|must|ought|can|cannot|could|may|might|would|needs?|has to|have to|too|better|worse|best|worst|more|"
    r"less|only|nobody|never|essential|key|important|vital|crucial|paramount|fundamental|necessary|fair|unfair|good|"
    r"bad|wrong|right|risks?|concerns?|harms?|pivotal|cornerstone|misleading|inaccurate|incorrect|unsustainable|"
    r"impossible|brighter|deserves?|enough|worth\w*|muss|müssen|müsste\w*|soll\w*|darf|dürf\w+|kann|könn\w+|könnte\w*|"
    r"braucht|brauchen|ließe\w*|lässt|würde\w*|zu (viel|wenig)|besser\w*|schlecht\w*|mehr|weniger|nur|höchstens|"
    r"niemand|nie|kein\w*|nicht|wichtig\w*|nötig\w*|falsch\w*|richtig\w*|gerecht\w*|gut|lohnt|verdient|genug|"
    r"\w{4,}bar)\b",
    re.IGNORECASE,
)
"""Modals and words of judgement."""


def alone(sentence: str) -> str:
    """Without a clause before it that concedes something."""
    rest = _WHILE.sub("", sentence.strip(), count=1)
    return rest[:1].upper() + rest[1:]


def judges(sentence: str) -> bool:
    """Whether it has a modal or a word of judgement."""
    return bool(_JUDGES.search(sentence))


def no_position(sentence: str, language: Spoken | None) -> str:
    """Why it takes none of its own; "" where it may."""
    if language == "en" and _OF_ITSELF.match(sentence):
        return "what an organisation says it does"
    if _BACK.search(sentence):
        return "leans on another sentence or on a reader"
    for match in _COMMENDS.finditer(sentence):
        if _NAMED.search(sentence[: match.start()]):
            return f"an organisation about itself or another (“{match[0]}”)"
    if _FIGURES.search(sentence) and not _JUDGES.search(sentence):
        return "a fact: figures or dates, and no judgement"
    return ""


FEWEST_WORDS, MOST_WORDS = 5, 24
"""Of a statement."""
FEWEST, MOST = 18, 36
"""Statements of a Q-sort: fewer good ones rather than more; Watts & Stenner (2012) advise 40 to 80 for people, fewer
where a whole sort is one request."""
ALIKE = 0.6
SHARED_OUT = "its theme has its share"
FLAT, ASIDE = "has no modal and no word of judgement", "shares no word with what it began with"
STANDING = (SHARED_OUT, ASIDE, FLAT)
"""Why a sentence that could be a statement is left out by rule; a model may see more in it."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_UNFIT = re.compile(r"https?://|[#@]\w|\?\s*$|[\"“”]")
_LEANING = re.compile(
    r"(this|that|these|those|it|its|they|he|she|and|but|however|also|so|then|therefore|moreover|dies\w*|deshalb|daher|"
    r"darum|dazu|dabei|aber|und|doch|außerdem|auch|sie|er|es|hier|here|there|such|solche\w*|as you|thank|danke|i |ich |"
    r"we |wir |proud|excited|happy|thrilled|glad|stolz|froh)\b",
    re.IGNORECASE,
)
"""Beginnings of sentences that lean on the one before, or speak of the speaker alone."""
_OWN = re.compile(r"\b(i|we|our|ours|us|my|me|ich|wir|uns|unser\w*|mein\w*|mir|mich)\b", re.IGNORECASE)
"""Words by which a sentence is its speaker's alone: whoever sorts it is somebody else."""
_MODIFYING = 0.6
"""Share of a word's occurrences right before another word of content, from which it is but a part of themes."""
_PARTS = re.compile(r"(?<=[a-zäöüß])(?=[A-ZÄÖÜ])|_")
_FIRST_PHRASE = re.compile(r"[.,;:(\n]")
_OFFICE = re.compile(
    r"((?<!ver)dienste?|klinik(en|um|ums)?|krankenh(aus|auses|äuser)|kreis(e|es)?|rat|tag|kassen?|verb[aä]nde?|ämter|"
    r"amt|behörden?|ministeri(um|en)|gemeinden?|hebammen?|ärzte|arzt|vereine?|kammern?|banke?n?|firm(a|en)|unternehmen|"
    r"verwaltung(en)?|regierung(en)?|initiativen?|bürger(innen)?|personal|frauen|männer|mütter|familien|kinder|banks?|"
    r"regulators?|authorit(y|ies)|councils?|agenc(y|ies)|ministr(y|ies)|governments?|compan(y|ies)|institutions?|"
    r"hospitals?|offices?|departments?|committees?|customers?|consumers?|citizens?|residents?|stakeholders?|bod(y|ies)|"
    r"land|station(en)?)$",
    re.IGNORECASE,
)
"""Ends of words for those who act, and for where they do: no theme of a question, though part of many answers."""
_OF_ANY = """
people thing things time today year years really think believe know need needs want like make makes take more much many
good great better best love commitment committed remain remains ensure ensures ensuring thanks thank says said going
come just still even every everyone menschen sache dinge zeit heute jahr jahre wirklich glauben wissen brauchen wollen
machen gut besser beste danke liebe leute sagen sagt alle alles immer wieder keine jahren zwei drei vier fünf sechs
sieben zehn minute minuten minutes stunde stunden hours euro euros prozent percent million millionen millions
"""
_GENERAL = frozenset(_OF_ANY.split())
"""Words of any discourse."""
_OF_WHOEVER = """
age aged born lives living married husband wife mother father daughter daughters sister brother parents children grew
grown works working worked worker career professional experience experienced degree studied studying student
university school personality type passionate passion enthusiast enthusiastic dedicated driven seasoned loves enjoys
values always constantly keen strong interest interests interested insights ideas individual individuals world follow
journey free background knowledge learning sharing share shares exploring discussing trends latest opportunities
difference life exchange connecting staying informed seeking updated community nature field industry quiet second
third male female other bio former retired local own small institutional institution memory memories account official
social media posts posting speaking style expression expressions habits operational prominently feature maintains
common typical tone communication communications content published audience audiences platform online user users alter
geboren lebt wohnt verheiratet mann vater mutter tochter sohn töchter söhne schwester bruder eltern großvater
großmutter arbeitet arbeit beruf erfahrung studium studiert studierte schule leben familie leidenschaft interesse
interessen welt wissen ansichten hält findet denkt meint glaubt weiß sagt kommt steht führt plant jedes seinem seiner
ihrem ihrer beiden eigene eigenen früher ehemalige ehemaliger rentner rentnerin frau sommer winter woche wochenende
abend morgen nacht generation zwanzig dreißig vierzig fünfzig analyzing analysing engaging reading making finding
using helping positive impact strategies solutions
"""
_BIOGRAPHY = frozenset(_OF_WHOEVER.split())
"""Words of any life: what describes a person and is no matter of discussion."""


@dataclass(frozen=True)
class Post:
    """A text that an agent wrote. source: file and line, or table and number."""

    agent: str
    name: str
    kind: str
    stance: str
    source: str
    text: str


@dataclass(frozen=True)
class PostStatement:
    """A sentence of a post. cluster: its theme, from 0. left_out: why it is not among the statements chosen; "" where
    it is.
    other: the same in the other language, where a model translated it."""

    text: str
    post: Post
    cluster: int = 0
    left_out: str = ""
    other: str = ""


@dataclass(frozen=True)
class DiscourseTheme:
    """What several agents speak of, as they write it; in how many posts of how many agents. labels: in both languages,
    where a model or whoever drafts gave them. described: counted in descriptions of agents, who have written nothing.
    """

    label: str
    posts: int
    agents: int
    labels: Mapping[Spoken, str] = field(default_factory=dict)
    described: bool = False

    def in_(self, language: Spoken) -> str:
        return self.labels.get(language, self.label)


def posts(population: Population) -> list[Post]:
    """In the order of platforms and time; from the databases where they can be read, else from the action logs."""
    people = {who.id: who for who in population.participants}
    posts = []
    for platform in PLATFORMS:
        seats = [seat for seat in population.seats if seat.platform == platform]
        rows = _of_database(population, platform, seats) or _of_log(population, platform, seats)
        for owner, source, text in rows:
            who = people.get(owner)
            if who is not None and text.strip():
                stance = population.stances.get(owner, "")
                posts.append(Post(owner, who.name, who.stakeholder_type, stance, source, one_line(text)))
    return list({(post.agent, post.text): post for post in posts}.values())


_WRITTEN = {
    "post": "SELECT post_id, user_id, COALESCE(NULLIF(quote_content, ''), content) FROM post ORDER BY rowid",
    "comment": "SELECT comment_id, user_id, content FROM comment ORDER BY rowid",
}


def _of_database(
    population: Population, platform: Platform, seats: Sequence[PlatformAccount]
) -> list[tuple[str, str, str]]:
    path = database_path(population.path, platform)
    if not path.is_file():
        return []
    try:
        with opened(path) as connection:
            owners, _, _ = owners_of(connection, path.name, seats)
            return [
                (owners[user], f"{path.name} {kind} {place}", text or "")
                for kind, query in _WRITTEN.items()
                for place, user, text in connection.execute(query)
                if user in owners
            ]
    except (sqlite3.Error, OSError):
        return []


def _of_log(population: Population, platform: Platform, seats: Sequence[PlatformAccount]) -> list[tuple[str, str, str]]:
    path, owners = log_path(population.path, platform), LogOwners(seats)
    if not path.is_file():
        return []
    rows = []
    for number, line in LogLines(path):
        args = line.get("action_args")
        if is_action(line) and isinstance(args, dict) and clean(line.get("action_type")).upper() in _WRITING:
            owner = owners.owner(line)
            text = clean(args.get("quote_content")) or clean(args.get("content"))
            if owner:
                rows.append((owner, f"{platform}/{path.name}:{number}", text))
    return rows


_WRITING = {"CREATE_POST", "CREATE_COMMENT", "QUOTE_POST"}


_PLANNED: Mapping[Spoken, re.Pattern[str]] = {
    "en": re.compile(
        r"\b(plans?|planned|planning|announc\w+|introduc\w+|propos\w+|intends?|bans?|banning|reforms?|clos(?:e|es|ed|"
        r"ing|ure)|launch\w*|bill|law|adopts?|decid\w+|decision|chang\w+|abolish\w*|builds?|building|merg\w+|rais(?:e|"
        r"es|ing)|cuts?|cutting)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(vorhaben|plan\w*|geplant\w*|will|wollen|soll(?:en|te|ten)?|ankündig\w+|angekündigt\w*|einführ\w+|"
        r"eingeführt|vorschlag\w*|schließ\w+|geschlossen|\w*reform\w*|\w*gesetz\w*|\w*verbot\w*|entscheid\w+|beschl\w+|"
        r"änder\w+|abschaff\w+|bauen|\w*bau)\b",
        re.IGNORECASE,
    ),
}


def plans(topic: str) -> bool:
    """Whether a topic or a requirement speaks of something that somebody is about to do."""
    return bool(_PLANNED[language_of([topic]) or "en"].search(topic))


def spoken(written: Sequence[Post]) -> Spoken | None:
    return language_of([post.text for post in written])


# --- descriptions of agents who have written nothing yet --------------------------------------------------------------

_FACT = re.compile(r"\b(?:Age|Gender|MBTI|Country|Profession): [^·\n]*(?:·|$)")
_QUOTED = re.compile(r"[“„\"»]([^“”„\"«»]{20,240}?)[.!]?[”“\"«]")
_THAT = re.compile(
    r"\b(?:believ|think|argu|insist|feel|fear|worr|say|warn|hold|maintain|know|claim|find)(?:s|es|ies|y|e|ing)?(?: "
    r"strongly| firmly)? that "
    r"|\b(?:am|is|are|remains?) (?:\w+ )?(?:convinced|certain|sure|afraid|adamant|worried)(?: that)? ",
    re.IGNORECASE,
)
_DASS = re.compile(
    r"\b(?:findet|meint|glaubt|denkt|sagt|betont|überzeugt|weiß|finde|meine|glaube|denke|sage|sicher)\b[^.;:,]{0,30}, "
    r"dass ",
    re.IGNORECASE,
)
_HOLDS = re.compile(
    r"\b(?:hält|halte) (?P<what>(?:d\w\w|\w*[A-ZÄÖÜ])[^,.;:]{2,80}) für (?P<how>[^,.;:]{3,60})(?=[,.;:]|$)"
)
_ENDS = re.compile(
    r"(?<=[^\d])[.;:!?]|, (?:and|but|und|aber|doch|so)\b|,? (?:and|but) (?:he|she|they|I|also|wants|hopes|(?:\w+) "
    r"that)\b|,? und (?:er|sie|ich|sagt|will|möchte|hält|findet)\b|$"
)
_HIS = re.compile(r"\b(he|she|his|her|hers|him|himself|herself|er|sie|ihm|ihn|ihr\w*|sein\w*)\b", re.IGNORECASE)


def descriptions(population: Population) -> list[Post]:
    """How agents are described, a text of each. source: the persona of whom."""
    return [
        Post(
            who.id, who.name, who.stakeholder_type, population.stances.get(who.id, ""), f"persona of {who.name}",
            one_line(_FACT.sub("", who.persona)),
        )
        for who in population.participants
        if who.persona.strip() and who.id not in population.incomplete
    ]  # fmt: skip


def named(population: Population) -> frozenset[str]:
    """Beginnings of words that name agents and their types: no theme of what they are described by."""
    who = [*population.participants, *population.left_out]
    names = (f"{agent.name} {_PARTS.sub(' ', agent.stakeholder_type)}" for agent in who)
    return stems_of(" ".join(names)) | _STEMS_OF_LIVES


def positions(described: Sequence[Post]) -> list[PostStatement]:
    """What descriptions say that agents think, as somebody who thinks so would say it. Word for word but for what leads
    to it; in German, where the verb stands last after “dass”, with “Ich finde, dass” before it."""
    candidates = [
        PostStatement(text, person)
        for person in described
        for text in dict.fromkeys(_positions(person.text))
        if not _HIS.search(text) and not _why_not(text.removeprefix(_I_FIND).replace(_I_HOLD, "Man hält ", 1), None)
    ]
    kept, doubled = _distinct(candidates)
    return [*kept[:MOST], *(replace(entry, left_out=SHARED_OUT) for entry in kept[MOST:]), *doubled]


_I_FIND, _I_HOLD = "Ich finde, dass ", "Ich halte "


def _positions(text: str) -> Iterator[str]:
    for match in _THAT.finditer(text):
        yield _sentence(_clause(text, match.end()))
    for match in _DASS.finditer(text):
        yield _I_FIND + _clause(text, match.end()) + "."
    for match in _HOLDS.finditer(text):
        if not _HIS.search(match["what"]):
            yield f"{_I_HOLD}{match['what']} für {match['how']}."
    for match in _QUOTED.finditer(text):
        yield _sentence(match[1])


def _clause(text: str, start: int) -> str:
    end = _ENDS.search(text, start)
    return text[start : end.start() if end else len(text)].strip(" ,")


def _sentence(clause: str) -> str:
    return f"{clause[:1].upper()}{clause[1:]}."


# --- themes ----------------------------------------------------------------------------------------------------------


def content(text: str, names: frozenset[str] = frozenset()) -> list[str]:
    """Its words that say something, in small letters; without those of agents' names."""
    idle = STOP_WORDS | _GENERAL | names
    return [word for word in words_of(text) if len(word) > 3 and word not in idle]


def actors(population: Population) -> frozenset[str]:
    """Beginnings of words that name who acts and where: names and types of agents, how a bio begins, and the
    requirement, which is the plan itself."""
    who = [*population.participants, *population.left_out]
    told = [
        population.topic,
        *(agent.name for agent in who),
        *(_PARTS.sub(" ", agent.stakeholder_type) for agent in who),
        *(_FIRST_PHRASE.split(agent.persona, maxsplit=1)[0] for agent in who),
    ]
    return stems_of(" ".join(told))


def _acts(stem: str, form: str, barred: frozenset[str]) -> bool:
    """Whether it says only who or where. Nothing can be better or fair “on the hospital”."""
    return all(part in barred for part in stem.split()) or bool(_OFFICE.search(form))


def themes(
    written: Sequence[Post], most: int = 8, barred: frozenset[str] = frozenset(), *, described: bool = False
) -> list[DiscourseTheme]:
    """Pairs of words and words that most agents use, the widest first; none that is part of another, none that is an
    actor or place.

    barred: as of `actors` for posts, of `named` for descriptions, of which there is one an agent."""
    names = frozenset(word for post in written for word in words_of(post.name))
    language = spoken(written)
    users: defaultdict[str, set[str]] = defaultdict(set)
    places: defaultdict[str, set[int]] = defaultdict(set)
    forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for place, post in enumerate(written):
        words = content(post.text, names)
        for form in [*words, *(f"{a} {b}" for a, b in pairwise(words) if f"{a} {b}" in post.text.casefold())]:
            stem = " ".join(stemmed(word) for word in form.split())
            users[stem].add(post.agent)
            places[stem].add(place)
            forms[stem][form] += 1
    worth = {stem: len(users[stem]) * len(places[stem]) ** 0.5 * (2.0 if " " in stem else 1.0) for stem in users}
    chosen: list[str] = []
    for stem in sorted(worth, key=lambda stem: (-worth[stem], stem)):
        known = {word for phrase in chosen for word in phrase.split()}
        if (
            len(users[stem]) >= min(2, len({post.agent for post in written}))
            and len(places[stem]) > 1
            and not known & set(stem.split())
            and not _acts(stem, forms[stem].most_common(1)[0][0], barred)
            and not (described and barred & set(stem.split()))
            and _is_noun(_as_written(forms[stem].most_common(1)[0][0], written), written, language)
        ):
            chosen.append(stem)
        if len(chosen) == most:
            break
    spelled = {stem: _as_written(forms[stem].most_common(1)[0][0], written) for stem in chosen}
    if language == "en":
        spelled = {stem: _with_article(form, written) for stem, form in spelled.items()}
    return [DiscourseTheme(spelled[stem], len(places[stem]), len(users[stem]), described=described) for stem in chosen]


def _is_noun(form: str, written: Sequence[Post], language: Spoken | None) -> bool:
    """In German by its capitals, of all words where there are two; else a word is none that mostly stands right before
    another one of content, as “regulatory” does."""
    if language == "de":
        return all(word[:1].isupper() for word in form.split())
    if " " in form:
        return True
    pattern = re.compile(rf"\b{re.escape(form)}\b(?: ([^\W\d_]+))?", re.IGNORECASE)
    following = [match for post in written for match in pattern.findall(post.text)]
    before = sum(bool(content(word)) for word in following)
    return before <= _MODIFYING * len(following)


def _with_article(form: str, written: Sequence[Post]) -> str:
    """With “the” where it mostly has an article or stands with whose it is: sentences speak of “the council”."""
    pattern = re.compile(
        rf"(?:\b(the|a|an|this|our|their|its|your|my|his|her|every|each) )?\b{re.escape(form)}\b", re.IGNORECASE
    )
    phrases = [match[1] for post in written for match in pattern.finditer(post.text)]
    return f"the {form}" if sum(map(bool, phrases)) > len(phrases) / 2 else form


def _as_written(form: str, written: Sequence[Post]) -> str:
    """With the capitals that it mostly has."""
    pattern = re.compile(rf"\b{re.escape(form)}\b", re.IGNORECASE)
    counts = Counter(match for post in written for match in pattern.findall(post.text))
    return counts.most_common(1)[0][0] if counts else form


# --- statements ------------------------------------------------------------------------------------------------------


def statements(
    written: Sequence[Post], language: Spoken | None, about: Sequence[str] = (), begun: Sequence[str] = ()
) -> list[PostStatement]:
    """Every sentence that could be one, with what became of it: chosen ones first by theme, speaker and stance.

    about: the topic and its themes. Sentences that speak of none of them, or of their speaker alone, are left out where
    enough others are there.
    begun: the requirement and the first posts. Sentences that share a word with them are preferred in the same way."""
    fit, unfit = _candidates(written, language)
    kept, doubled = _distinct(fit)
    subject = stems_of(" ".join(about))
    kept, elsewhere = _without(kept, lambda text: bool(subject) and not subject & stems_of(text), "is about no theme")
    kept, personal = _without(kept, lambda text: bool(_OWN.search(text)), "speaks of whoever wrote it")
    near = stems_of(" ".join(begun))
    kept, aside = _without(kept, lambda text: bool(near) and not near & stems_of(text), ASIDE)
    kept, flat = _without(kept, lambda text: not judges(text), FLAT)
    return [*_covering(kept, near), *doubled, *personal, *elsewhere, *aside, *flat, *unfit]


def stems_of(text: str) -> frozenset[str]:
    """Beginnings of its words that say something."""
    return frozenset(stemmed(word) for word in content(text))


_STEMS_OF_LIVES = frozenset(map(stemmed, _BIOGRAPHY))


def _without(
    kept: Sequence[PostStatement], unwanted: Callable[[str], bool], why: str
) -> tuple[list[PostStatement], list[PostStatement]]:
    """Those that remain, and those left out; all remain where fewer than a Q-set would."""
    rest = [sentence for sentence in kept if not unwanted(sentence.text)]
    if len(rest) < FEWEST:
        return list(kept), []
    return rest, [replace(sentence, left_out=why) for sentence in kept if unwanted(sentence.text)]


def _candidates(written: Sequence[Post], language: Spoken | None) -> tuple[list[PostStatement], list[PostStatement]]:
    fit: list[PostStatement] = []
    unfit: list[PostStatement] = []
    for post in written:
        for sentence in _SENTENCE.split(post.text):
            text = alone(sentence)
            why = _why_not(text, language)
            (unfit if why else fit).append(PostStatement(text, post, left_out=why))
    return fit, unfit


def _why_not(sentence: str, language: Spoken | None) -> str:
    words = words_of(sentence)
    if not FEWEST_WORDS <= len(words) <= MOST_WORDS:
        return f"{len(words)} words"
    if _UNFIT.search(sentence):
        return "a question, quotation, link or tag"
    if _LEANING.match(sentence.strip()):
        return "leans on the sentence before, or on the speaker"
    if why := no_position(sentence, language):
        return why
    return "another language" if language and language_of([sentence]) not in (language, None) else ""


def _distinct(fit: Sequence[PostStatement]) -> tuple[list[PostStatement], list[PostStatement]]:
    kept: list[tuple[frozenset[str], PostStatement]] = []
    doubled = []
    for sentence in fit:
        pieces = triples(sentence.text)
        twin = next((other for known, other in kept if alike(pieces, known) >= ALIKE), None)
        if twin is None:
            kept.append((pieces, sentence))
        else:
            doubled.append(replace(sentence, left_out=f"says almost the same as {twin.post.source}"))
    return [sentence for _, sentence in kept], doubled


def _covering(kept: Sequence[PostStatement], near: frozenset[str]) -> list[PostStatement]:
    """Clusters in turn, in each the agent and stance heard least so far, statements that share a word with what it
    began with first, then the one nearest to the cluster's centre."""
    if len(kept) <= FEWEST:
        return list(kept)
    from sklearn.cluster import KMeans  # noqa: PLC0415 - runs without a draft do not wait for it
    from sklearn.feature_extraction.text import TfidfVectorizer  # noqa: PLC0415

    vectorizer = TfidfVectorizer(analyzer=lambda text: [stemmed(word) for word in content(text)])
    vectors = vectorizer.fit_transform([sentence.text for sentence in kept])
    model = KMeans(min(8, len(kept) // 4), n_init=4, random_state=0).fit(vectors)
    far = model.transform(vectors).min(axis=1)
    clustered = [replace(sentence, cluster=int(label)) for sentence, label in zip(kept, model.labels_, strict=True)]
    queues: dict[int, list[int]] = defaultdict(list)
    for place in sorted(range(len(kept)), key=lambda place: (not near & stems_of(kept[place].text), float(far[place]))):
        queues[clustered[place].cluster].append(place)
    chosen: list[int] = []
    heard: Counter[str] = Counter()
    for cluster in _in_turn(queues, MOST):
        times = {place: (heard[kept[place].post.agent], heard[kept[place].post.stance]) for place in queues[cluster]}
        place = min(times, key=times.__getitem__)
        queues[cluster].remove(place)
        heard.update({kept[place].post.agent: 1, kept[place].post.stance: 1})
        chosen.append(place)
    left = [sentence for place, sentence in enumerate(clustered) if place not in set(chosen)]
    rest = [replace(sentence, left_out=SHARED_OUT) for sentence in left]
    return [*(clustered[place] for place in chosen), *rest]


def _in_turn(queues: Mapping[int, list[int]], most: int) -> Iterator[int]:
    given = 0
    while given < most and any(queues.values()):
        for cluster in sorted(queues):
            if queues[cluster] and given < most:
                given += 1
                yield cluster
