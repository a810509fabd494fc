"""Texts compared by their words, in German and English: what they are about, what they share, which side they take.

Measured by tests/analysis/test_vocabulary.py. Words know no meaning: two texts that say the same in other words share
nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from enquete.state.asking import Spoken

LEAST_LETTERS = 4
"""Of a word that says what a text is about."""
_STEM = 6

_DE = """der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren wird
werden wurde hat haben hatte kann können soll sollte sollten muss müssen darf dürfen ich du er sie es wir ihr mich mir
uns sich mein meine unser unsere zu zum zur von vom mit für auf aus bei nach über unter durch gegen ohne um als wie wenn
dass weil auch nur noch schon mehr sehr man jede jeder jedes viel viele wer was wo im am ins keinen unserer habe immer
hier beim seit an ja nein"""
_EN = """the a an and or but not no is are was were be been being has have had can could shall should will would must
may might do does did i you he she it we they me us him them my our your their its to of from with for on at by about
into over under through against without as than that which who what where when how if because also only more most very
every each many much this these those there so all some any out"""
FUNCTION_WORDS: Mapping[Spoken, frozenset[str]] = {"de": frozenset(_DE.split()), "en": frozenset(_EN.split())}
"""They tell the language of a text, and nothing of what it is about."""
_MORE_DE = """alle allem allen aller alles also andere anderen bereits bin bis bleibt daher damit dann daran darauf
davon davor dazu denn deshalb dies diese diesem diesen dieser dieses doch dort eher einfach einmal erst etwas ganz geht
gerade gibt hätte hätten ihm ihn ihre ihrem ihren ihrer jetzt kaum keinem keiner könnte könnten manche meinem meinen
meiner meines nichts nun sehe sein seine selbst sogar sollen sondern statt unserem unseren vielen vor wieder will wollen
wäre wären würde würden zwar zwischen"""
_MORE_EN = """above across after again almost alone along already although always among another anybody anyone anything
anyway around away back became become becomes before behind below beside besides between beyond both came cannot
certainly come comes done down during either else elsewhere enough even ever everybody everyone everything everywhere
except far few first former further get gets getting give given gives go goes going gone got hardly hence her here hers
herself himself his however indeed instead itself just keep keeps last later least less let like likely made make makes
making maybe mean means merely mine mostly myself neither never nevertheless next nobody none nothing nor now nowhere
off often once one ones onto other others otherwise ought ours ourselves own perhaps put quite rather really right same
say says see seem seemed seems several simply since somebody somehow someone something sometimes somewhere soon still
such take takes themselves then therefore thing things though three thus together too took toward towards two unless
until up upon usually via want wants way well went whatever whenever whereas wherever whether while whole whom whose why
within yes yet yours yourself yourselves"""
STOP_WORDS = frozenset().union(*FUNCTION_WORDS.values(), _MORE_DE.split(), _MORE_EN.split())
"""Function words, and words that both languages' sentences are held together by: none says what a text is about."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HOW = """absolut allenfalls allmählich anscheinend äußerst bald bestimmt dauerhaft definitiv deutlich
dringend durchaus eindeutig endlich entschieden ernsthaft erheblich fest freilich gern gerne gewiss
grundsätzlich hoffentlich jedenfalls klar künftig langsam letztlich möglicherweise natürlich
nachdrücklich offenbar ohnehin rasch schließlich schnell selbstverständlich sicher sicherlich sofort
sorgfältig stark tatsächlich unbedingt ungefähr unverzüglich vermutlich vielleicht völlig
vollständig vorsichtig wahrscheinlich weiterhin weitgehend wirklich wohl zügig zweifellos altogether
ahead fast soon today tomorrow very surely indeed perhaps"""
_ADVERBS = frozenset(_HOW.split())
"""German ones, which no ending tells, and English ones without -ly."""
_ADVERB_ENDINGS = ("erweise", "maßen", "ically", "ly")
_LIKE_ADVERBS = """ally anomaly apply assembly bully comply costly daily deadly early elderly family friendly imply
italy july likely lively local lonely monopoly monthly multiply orderly rally rely reply supply
unlikely weekly yearly"""
_NO_ADVERBS = frozenset(_LIKE_ADVERBS.split())
"""English words that end like one."""
_NO = re.compile(
    r"not|no|never|neither|cannot|\w+n['’]t|against|oppos(?:e|es|ed|ing)|reject(?:s|ed|ing)?"
    r"|nicht|kein(?:e|en|em|er|es)?|nie|niemals|weder|gegen|dagegen|ablehnen|ablehne|lehne|lehnen"
)
_NO_NEGATION = re.compile(r"^\W*(?:no|nein|nope)\b\W|\b(?:not only|nicht nur|nicht zuletzt|no doubt)\b")
"""An opening that the sentence repeats, and phrases that deny nothing."""


@lru_cache(maxsize=2**12)  # a round is compared pair by pair
def content_words(text: str) -> frozenset[str]:
    """Different words of at least four letters that are no stop words."""
    words = (word for word in _WORD.findall(text.casefold()) if len(word) >= LEAST_LETTERS)
    return frozenset(words) - STOP_WORDS


def without_adverbs(text: str) -> str:
    """Return a text without its adverbs: "definitely", "gradually", "unbedingt" say how, and leave what is said as it
    is. Negations stay."""
    return _WORD.sub(lambda match: "" if _is_adverb(match[0].casefold()) else match[0], text)


def _is_adverb(word: str) -> bool:
    if word in _ADVERBS:
        return True
    is_long_enough = len(word) > LEAST_LETTERS
    return is_long_enough and word.endswith(_ADVERB_ENDINGS) and word not in _NO_ADVERBS


def stemmed(word: str) -> str:
    """A word's first letters, by which its forms (and German compounds of it) are the same: a stemmer for any language
    with suffixes."""
    return word[:_STEM]


def jaccard(a: frozenset[str], b: frozenset[str]) -> float:
    """|A ∩ B| / |A ∪ B|, 0 where neither has anything."""
    return len(a & b) / len(a | b) if a or b else 0.0


@lru_cache(maxsize=2**12)
def denies(text: str) -> bool:
    """Whether a statement is a negative one: an odd number of negations, so that "not against" is none."""
    words = _WORD.findall(_NO_NEGATION.sub(" ", text.casefold()))
    return sum(_NO.fullmatch(word) is not None for word in words) % 2 == 1


_OPPOSITES = {
    frozenset(pair.split())
    for pair in """mehr weniger|viel wenig|viele wenige|mit ohne|hoch niedrig|hohe niedrige|höhere niedrigere
    gut schlecht|gute schlechte|stark schwach|offen geschlossen|offene geschlossene|teuer billig|sicher gefährlich
    more less|more fewer|many few|much little|with without|high low|higher lower|good bad|strong weak|open closed
    cheap expensive|safe dangerous""".replace("\n", "|").split("|")
}
_OPPOSING = ("un", "in", "im", "ir", "dis", "non")


@lru_cache(maxsize=2**14)  # a label is compared with many
def opposed(first: str, second: str) -> bool:
    """Whether two texts take opposite sides in nearly the same words: one denies what the other does not, or a word of
    the one is the other's contrary ("unwichtig" and "wichtig", "more" and "less")."""
    if denies(first) != denies(second):
        return True
    mine, theirs = (set(_WORD.findall(text.casefold())) for text in (first, second))
    only, others = mine - theirs, theirs - mine
    return any(frozenset((a, b)) in _OPPOSITES or _contrary(a, b) or _contrary(b, a) for a in only for b in others)


def _contrary(plain: str, opposing: str) -> bool:
    return len(plain) >= LEAST_LETTERS and any(opposing == prefix + plain for prefix in _OPPOSING)
