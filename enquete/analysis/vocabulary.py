"""Texts compared by their words, in German and English: what they are about, how much of it they share, which side they take.

Measured by tests/analysis/test_vocabulary.py. Words know no meaning: two texts that say the same in other words share nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from enquete.state.asking import Spoken

LEAST_LETTERS = 4
"""Of a word that says what a text is about."""
_STEM = 6

_GERMAN = """aber alle allem allen aller alles als also andere anderen auch auf aus bei beim bereits bin bis bleibt daher damit
dann daran darauf darf das dass davon dazu dem den denn der des deshalb die dies diese diesem diesen dieser dieses doch dort
durch ein eine einem einen einer eines einfach eher etwas für ganz gegen geht gerade gibt hat hatte haben ich ihm ihn ihr ihre
ihrem ihren ihrer immer ins ist jede jeder jedes jetzt kann kaum kein keine keinem keinen keiner
können man manche mehr mein meine meinem meinen
meiner meines mich mir mit muss müssen nach nicht nichts noch nun nur oder ohne schon sehe sehr sein seine seit selbst sich sie
sind sogar soll sollen sollte sollten sondern statt und uns unser unsere unserem unseren viel viele vielen vom von vor war wäre
was weil wenn wer werden wie wieder will wir wird wollen wurde zum zur zwar zwischen über
davor einmal erst hätte hätten könnte könnten wären würde würden"""
_ENGLISH = """a about above across after afterwards again against all almost alone along already also although always
am among amongst amoungst amount an and another any anyhow anyone anything anyway anywhere are around as at back be
became because become becomes becoming been before beforehand behind being below beside besides between beyond bill
both bottom but by call can cannot cant co con could couldnt cry de describe detail do done down due during each eg
eight either eleven else elsewhere empty enough etc even ever every everyone everything everywhere except few fifteen
fifty fill find fire first five for former formerly forty found four from front full further get give go had has hasnt
have he hence her here hereafter hereby herein hereupon hers herself him himself his how however hundred i ie if in
inc indeed interest into is it its itself keep last latter latterly least less ltd made many may me meanwhile might
mill mine more moreover most mostly move much must my myself name namely neither never nevertheless next nine no
nobody none noone nor not nothing now nowhere of off often on once one only onto or other others otherwise our ours
ourselves out over own part per perhaps please put rather re same see seem seemed seeming seems serious several she
should show side since sincere six sixty so some somehow someone something sometime sometimes somewhere still such
system take ten than that the their them themselves then thence there thereafter thereby therefore therein thereupon
these they thick thin third this those though three through throughout thru thus to together too top toward towards
twelve twenty two un under until up upon us very via was we well were what whatever when whence whenever where
whereafter whereas whereby wherein whereupon wherever whether which while whither who whoever whole whom whose why
will with within without would yet you your yours yourself yourselves"""
"""scikit-learn's ENGLISH_STOP_WORDS, of the Glasgow Information Retrieval Group: it takes .6 s to import."""
_DE = """der die das den dem des ein eine einen einem einer eines und oder aber nicht kein keine ist sind war waren wird werden wurde hat
haben hatte kann können soll sollte sollten muss müssen darf dürfen ich du er sie es wir ihr mich mir uns sich mein meine unser
unsere zu zum zur von vom mit für auf aus bei nach über unter durch gegen ohne um als wie wenn dass weil auch nur noch schon mehr
sehr man jede jeder jedes viel viele wer was wo im am ins keinen unserer habe immer hier beim seit an ja nein"""
_EN = """the a an and or but not no is are was were be been being has have had can could shall should will would must may might do does did
i you he she it we they me us him them my our your their its to of from with for on at by about into over under through against
without as than that which who what where when how if because also only more most very every each many much this these those there
so all some any out"""
FUNCTION_WORDS: Mapping[Spoken, frozenset[str]] = {"de": frozenset(_DE.split()), "en": frozenset(_EN.split())}
"""They tell the language of a text, and nothing of what it is about."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NO = re.compile(
    r"not|no|never|neither|cannot|\w+n['’]t|against|oppos(?:e|es|ed|ing)|reject(?:s|ed|ing)?"
    r"|nicht|kein(?:e|en|em|er|es)?|nie|niemals|weder|gegen|dagegen|ablehnen|ablehne|lehne|lehnen"
)
_NO_NEGATION = re.compile(r"^\W*(?:no|nein|nope)\b\W|\b(?:not only|nicht nur|nicht zuletzt|no doubt)\b")
"""An opening that the sentence repeats, and phrases that deny nothing."""


@cache
def stop_words() -> frozenset[str]:
    return frozenset(f"{_GERMAN} {_ENGLISH}".split())


@lru_cache(maxsize=2**12)  # a round is compared pair by pair
def content_words(text: str) -> frozenset[str]:
    """Different words of at least four letters that are no stop words."""
    words = (word for word in _WORD.findall(text.casefold()) if len(word) >= LEAST_LETTERS)
    return frozenset(words) - stop_words()


def stemmed(word: str) -> str:
    """A word's first letters, by which its forms (and German compounds of it) are the same: a stemmer for any language with
    suffixes."""
    return word[:_STEM]


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """|A ∩ B| / |A ∪ B|, 0 where neither has anything."""
    return len(one & other) / len(one | other) if one or other else 0.0


@lru_cache(maxsize=2**12)
def denies(text: str) -> bool:
    """Whether a statement is a negative one: an odd number of negations, so that "not against" is none."""
    words = _WORD.findall(_NO_NEGATION.sub(" ", text.casefold()))
    return sum(_NO.fullmatch(word) is not None for word in words) % 2 == 1


_OPPOSITES = {
    frozenset(pair.split())
    for pair in """mehr weniger|viel wenig|viele wenige|mit ohne|hoch niedrig|hohe niedrige|höhere niedrigere|gut schlecht
    gute schlechte|stark schwach|offen geschlossen|offene geschlossene|teuer billig|sicher gefährlich|more less|more fewer|many few
    much little|with without|high low|higher lower|good bad|strong weak|open closed|cheap expensive|safe dangerous""".replace(
        "\n", "|"
    ).split("|")
}
_OPPOSING = ("un", "in", "im", "ir", "dis", "non")


@lru_cache(maxsize=2**14)  # a label is compared with many
def opposed(one: str, other: str) -> bool:
    """Whether two texts take opposite sides in nearly the same words: one denies what the other does not, or a word of the one is
    the other's contrary ("unwichtig" and "wichtig", "more" and "less")."""
    if denies(one) != denies(other):
        return True
    mine, theirs = (set(_WORD.findall(text.casefold())) for text in (one, other))
    only, others = mine - theirs, theirs - mine
    return any(frozenset((a, b)) in _OPPOSITES or _contrary(a, b) or _contrary(b, a) for a in only for b in others)


def _contrary(plain: str, opposing: str) -> bool:
    return len(plain) >= LEAST_LETTERS and any(opposing == prefix + plain for prefix in _OPPOSING)
