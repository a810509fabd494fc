"""Which sentences take a position that somebody can share or reject, as a Q statement has to. By rule, over words."""

from __future__ import annotations

import re

from enquete.state.asking import Spoken

_WHILE = re.compile(r"While\b[^,]*,\s+")
_BACK = re.compile(r"\bsuch\b(?! as\b)|\bsolche\w*\b|\b(this|these|you|dies\w*)\b", re.IGNORECASE)
"""Words by which a sentence leans on another one, wherever they stand."""
_COMMENDS = re.compile(
    r"\b(commends?|applauds?|praises?|underscores?|underlines?|emphasi[sz]es?|stress(es)?|highlights?|supports?|welcomes?|"
    r"acknowledges?|recogni[sz]es?|reaffirms?|values|champions?|adheres?|oversees?|monitors?|is (aware|proud)|"
    r"(remains?|is|are) (\w+ly )?(committed|dedicated)|(will )?continues? to|"
    r"(is|are) (a )?(\w+ )?commendable|begrüßt|betont|unterstützt|unterstreicht|lobt|würdigt|bekräftigt|bekennt sich|hebt hervor)\b"
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
    r"\w*(hundert|tausend)|million(en)?|two|three|four|five|six|seven|eight|nine|ten|twenty|thirty|hundreds?|thousands?|millions?|"
    r"janua(r|ry)|februa(r|ry)|märz|april|juni|juli|june|july|august|septemb(er)|o[kc]tober|novemb(er)|de[zc]emb(er))\b",
    re.IGNORECASE,
)
_JUDGES = re.compile(
    r"\b(should|must|ought|can|cannot|could|may|might|would|needs?|has to|have to|too|better|worse|best|worst|more|less|only|nobody|"
    r"never|essential|key|important|vital|crucial|paramount|fundamental|necessary|fair|unfair|good|bad|wrong|right|risks?|concerns?|"
    r"harms?|pivotal|cornerstone|misleading|inaccurate|incorrect|unsustainable|impossible|brighter|deserves?|enough|worth\w*|"
    r"muss|müssen|müsste\w*|soll\w*|darf|dürf\w+|kann|könn\w+|könnte\w*|braucht|brauchen|ließe\w*|lässt|würde\w*|zu (viel|wenig)|"
    r"besser\w*|schlecht\w*|mehr|weniger|nur|höchstens|niemand|nie|kein\w*|nicht|wichtig\w*|nötig\w*|falsch\w*|richtig\w*|"
    r"gerecht\w*|gut|lohnt|verdient|genug|\w{4,}bar)\b",
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
    for found in _COMMENDS.finditer(sentence):
        if _NAMED.search(sentence[: found.start()]):
            return f"an organisation about itself or another (“{found[0]}”)"
    if _FIGURES.search(sentence) and not _JUDGES.search(sentence):
        return "a fact: figures or dates, and no judgement"
    return ""
