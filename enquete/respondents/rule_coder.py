"""What a coder of themes is given and what it gives, and the crude one that needs no model."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from enquete.analysis.vocabulary import STOP_WORDS, stemmed

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

# --- The types of theme coding: statements, draft themes of a batch, merged themes, the coded themes.


class Statement(BaseModel):
    """One participant's answer to one open question. `id` is "<participant>|<question>"."""

    model_config = ConfigDict(frozen=True)

    id: str
    text: str


class DraftTheme(BaseModel):
    """A theme found in one batch, with the statements that voice it: handles as shown in the prompt, or full ids."""

    label: str
    description: str = ""
    statement_ids: list[str] = Field(default_factory=list)


class BatchInput(BaseModel):
    topic: str
    statements: list[Statement]
    max_themes: int = 15


class BatchThemes(BaseModel):
    themes: list[DraftTheme]


class MergeInput(BaseModel):
    """`themes` are numbered by their position, from 0."""

    topic: str
    themes: list[DraftTheme]
    max_themes: int = 15


class MergedTheme(BaseModel):
    """`members` are positions in `MergeInput.themes`."""

    label: str
    description: str = ""
    members: list[int] = Field(default_factory=list)


class MergedThemes(BaseModel):
    themes: list[MergedTheme]


class Theme(BaseModel):
    """A theme as it is pinned. `statements` are the ids of the answers that voice it, sorted."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    description: str
    statements: list[str]


class CodedThemes(BaseModel):
    """The themes, the most voiced first, and what coding left over."""

    themes: list[Theme]
    uncoded: list[str]  # ids of statements that no theme holds
    unknown_ids: int = 0  # statement ids and member numbers that do not exist
    dropped_empty: int = 0  # merged themes without a statement or a label
    dropped_duplicates: int = 0  # same label as a more voiced theme
    dropped_over_limit: int = 0  # themes beyond max_themes, the least voiced


class ThemeBrief(BaseModel):
    """What a second coder is told about a theme: not which statements the first one gave it."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    description: str = ""


class AssignInput(BaseModel):
    """Statements to be given to themes that stand already."""

    topic: str
    themes: list[ThemeBrief]
    statements: list[Statement]


class Assignment(BaseModel):
    """The themes that one statement raises, by the numbers of the prompt or by id; none is an answer too."""

    statement: str
    themes: list[str] = Field(default_factory=list)


class Assignments(BaseModel):
    assignments: list[Assignment]


class SecondCoding(BaseModel):
    """Statements of the sample with the ids of their themes, as a second coder gave them; see themes.py."""

    statements: dict[str, list[str]]
    n_sampled: int
    n_statements: int  # that could have been sampled
    uncoded: list[str]  # sampled, and left out of the reply
    unknown_ids: int = 0  # statements and themes that do not exist


def theme_id(label: str, answers: Iterable[str]) -> str:
    """Eight hex digits over the label and the sorted statement ids: the same theme has the same id in every run."""
    content = "\x1f".join([label.strip().casefold(), *sorted(set(answers))])
    return hashlib.sha256(content.encode()).hexdigest()[:8]


# --- Themes without a model: TF-IDF over words and character n-grams, average-linkage clustering, titles quoted from
# the texts. Works for any topic and, through character n-grams and word frequencies, for any language; stop words are
# known for German and English. Measured by tests/respondents/test_themes_coding.py against the planted themes of the
# synthetic panel: 9 or 10 of 10 recovered at 50 and at 1,000 agents, in 3 seconds or less.

NEAR = 0.12  # cosine similarity to a theme's centre from which a stray sentence still belongs to it
ALIKE = 0.15  # cosine similarity of two themes' centres from which they are one; measured beside NEAR, by the same test
GRAMS = (4, 5, 6)  # characters
TITLES = 5  # of the most central sentences, the shortest is the title
TITLE_CHARS, DESCRIPTION_CHARS = 90, 300

_WORD = re.compile(r"[^\W\d_]{3,}")
_SELF = re.compile(r"\b([Ii]ch|[Mm]ich|[Mm]ir|[Mm]ein\w*|I|me|[Mm]y|myself)\b")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+")


TextCluster = tuple[int, ...]
"""Positions of the texts that belong together, the most central first."""


def code_by_rule(data: BatchInput) -> BatchThemes:
    """Draft themes of a batch, found over its sentences; a statement may voice several. Deterministic.

    Statements without a word of three letters stay uncoded. Each draft names full statement ids.
    """
    sentences = [(s.id, part) for s in sorted(data.statements, key=lambda s: s.id) for part in sentences_of(s.text)]
    texts = [text for _, text in sentences]
    clusters = _clusters(texts, data.max_themes)
    titles = [_title(texts, cluster) for cluster in clusters]
    return BatchThemes(
        themes=[
            DraftTheme(
                label=label,
                description=_description(texts, cluster, title),
                statement_ids=sorted({sentences[i][0] for i in cluster}),
            )
            for label, title, cluster in zip(_distinct(titles), titles, clusters, strict=True)
        ]
    )


def merge_by_rule(data: MergeInput) -> MergedThemes:
    """Themes of several batches that say the same, put together by their labels and descriptions. Deterministic."""
    texts = [f"{theme.label}. {theme.description}" for theme in data.themes]
    clusters = _clusters(texts, data.max_themes, keep_all=True)
    centres = [data.themes[cluster[0]] for cluster in clusters]
    labels = _distinct([centre.label for centre in centres])
    return MergedThemes(
        themes=[
            MergedTheme(label=label, description=centre.description, members=sorted(cluster))
            for label, centre, cluster in zip(labels, centres, clusters, strict=True)
        ]
    )


def sentences_of(text: str) -> list[str]:
    """The sentences of a text that hold a word of three letters."""
    return [part.strip() for part in _SENTENCE_END.split(text) if _WORD.search(part)]


def _content_words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.casefold()) if word not in STOP_WORDS]


def _clusters(texts: Sequence[str], most: int, *, keep_all: bool = False) -> list[TextCluster]:
    """At most `most` clusters, the largest first. Strays go to the nearest centre or, unless `keep_all`, nowhere."""
    if not texts:
        return []
    x = features(texts)
    label = _partition(x, most)
    kept = [c for c, _ in sorted(Counter(label.tolist()).items(), key=lambda entry: (-entry[1], entry[0]))][:most]
    nearness = np.asarray(x @ _centres([np.flatnonzero(label == c) for c in kept], x).T)
    home = np.array([kept.index(c) if c in kept else -1 for c in label])
    stray = (home < 0) & (keep_all | (nearness.max(axis=1) >= NEAR))
    home[stray] = nearness[stray].argmax(axis=1)
    groups = _together([np.flatnonzero(home == k) for k in range(len(kept))], x)
    return [tuple(members.tolist()) for members in groups]


def _together(groups: Sequence[NDArray[np.int64]], x: csr_matrix) -> list[NDArray[np.int64]]:
    """Groups whose centres are ALIKE put together, the most alike first; each with its most central member first."""
    left = list(groups)
    while True:
        centres = _centres(left, x)
        likeness = np.tril(centres @ centres.T, -1)
        later, earlier = np.unravel_index(int(likeness.argmax()), likeness.shape)
        if likeness[later, earlier] < ALIKE:
            break
        left[earlier] = np.concatenate([left[earlier], left.pop(int(later))])
    left.sort(key=len, reverse=True)
    nearness = np.asarray(x @ _centres(left, x).T)
    return [group[np.argsort(-nearness[group, k], kind="stable")] for k, group in enumerate(left)]


def _centres(groups: Sequence[NDArray[np.int64]], x: csr_matrix) -> NDArray[np.float64]:
    """Groups × features, of length 1: the direction of each group's sum. One product, not one for each group."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    members = csr_matrix((np.ones(len(group_of)), (group_of, np.concatenate(groups))), shape=(len(groups), x.shape[0]))
    return np.asarray(_unit(members @ x).toarray())


def features(texts: Sequence[str]) -> csr_matrix:
    """Texts × features: stems and character n-grams, each kind weighted by TF-IDF with logarithmic counts; rows of
    length 1 (0 for a text of nothing but stop words, which then is like no other).

    As scikit-learn's TfidfVectorizer weighs them (analyzer "char_wb" for the n-grams), but what a word is made of is
    counted once, not wherever it stands.
    """
    from scipy.sparse import csr_matrix, hstack  # noqa: PLC0415

    words_of = [_content_words(text) or _WORD.findall(text.casefold()) for text in texts]
    if not any(words_of):
        return csr_matrix((len(texts), 1))
    words = list(dict.fromkeys(chain.from_iterable(words_of)))
    spoken = _counts(words_of)
    kinds = (spoken @ _counts([[stemmed(word)] for word in words]), spoken @ _counts([_grams(word) for word in words]))
    x: csr_matrix = _unit(hstack([_unit(_weighted(counts)) for counts in kinds]).tocsr())
    return x


def _counts(rows: Sequence[Sequence[str]]) -> csr_matrix:
    """How often each row has each name: rows × names, in the order of their first occurrence."""
    from scipy.sparse import csr_matrix  # noqa: PLC0415

    places: dict[str, int] = {}
    columns = [places.setdefault(name, len(places)) for row in rows for name in row]
    ends = np.cumsum([0, *map(len, rows)])
    return csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(rows), len(places)))


def _grams(word: str) -> list[str]:
    """Every run of 4 to 6 characters of a word of three letters or more, between blanks."""
    padded = f" {word} "
    return [padded[at : at + n] for n in GRAMS for at in range(len(padded) - n + 1)]


def _weighted(counts: csr_matrix) -> csr_matrix:
    """(1 + log count) · (1 + log((1 + texts) / (1 + texts with the feature)))."""
    rarity = 1 + np.log((1 + counts.shape[0]) / (1 + np.bincount(counts.indices, minlength=counts.shape[1])))
    counts.data = (1 + np.log(counts.data)) * rarity[counts.indices]
    return counts


def _unit(x: csr_matrix) -> csr_matrix:
    """Rows of length 1; an empty one stays."""
    length = np.sqrt(x.multiply(x).sum(axis=1).A1)
    x.data /= np.repeat(np.where(length > 0, length, 1), np.diff(x.indptr))
    return x


def tree_of(x: csr_matrix) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Cosine distances of texts by their features, and the tree that joins them by average linkage."""
    from scipy.cluster.hierarchy import linkage  # noqa: PLC0415
    from scipy.spatial.distance import squareform  # noqa: PLC0415

    distance = np.clip(1 - np.asarray((x @ x.T).todense()), 0, None)
    np.fill_diagonal(distance, 0)
    return distance, linkage(squareform(distance, checks=False), "average")


def _partition(x: csr_matrix, most: int) -> NDArray[np.int64]:
    """Cluster numbers, up to 1.5 × `most` of them: as many as have the best silhouette (Rousseeuw 1987)."""
    from scipy.cluster.hierarchy import fcluster  # noqa: PLC0415

    from enquete.analysis.typology import silhouettes  # noqa: PLC0415

    n = x.shape[0]
    if n < 3:
        return np.arange(n) if most >= n else np.zeros(n, dtype=np.int64)
    distance, tree = tree_of(x)
    best, score = np.zeros(n, dtype=np.int64), -1.0
    for k in range(2, min(most + most // 2, n - 1) + 1):
        label = np.asarray(fcluster(tree, k, "maxclust"), dtype=np.int64)
        if label.max() < 2:
            continue
        reached = float(silhouettes(distance, label - 1).mean())
        if reached > score:
            best, score = label, reached
    return best


def _title(texts: Sequence[str], cluster: TextCluster) -> str:
    """The shortest of the most central sentences: what several say, without what each of them says before it. One about
    the topic where there is any, not one about oneself."""
    theirs = [texts[i] for i in cluster]
    central = ([text for text in theirs if not _SELF.search(text)] or theirs)[:TITLES]
    title = min(central, key=lambda text: len(text.split())).rstrip(" .")
    if len(title) > TITLE_CHARS:
        title = _first_clauses(title)
    return title[:1].upper() + title[1:]


def _first_clauses(sentence: str) -> str:
    """As many clauses as fit, since half a clause says something else; the whole sentence where the first is longer."""
    ends = [match.start() for match in re.finditer(r"[,;:–](?=\s)", sentence)]
    fitting = [end for end in ends if TITLE_CHARS / 3 <= end <= TITLE_CHARS]
    return f"{sentence[: fitting[-1]].rstrip()} …" if fitting else sentence


def _distinct(labels: Sequence[str]) -> list[str]:
    seen = Counter[str]()
    numbered = []
    for label in labels:
        seen[label] += 1
        numbered.append(label if seen[label] == 1 else f"{label} ({seen[label]})")
    return numbered


def _description(texts: Sequence[str], cluster: TextCluster, title: str) -> str:
    """The most central sentences that say in other words what the title says, up to two that fit."""
    told, stems = "", set(_stems_of(title))
    for i in cluster:
        other = set(_stems_of(texts[i]))
        longer = f"{told} {texts[i]}".strip()
        if len(other & stems) <= len(other) / 2 and len(longer) <= DESCRIPTION_CHARS:
            if told:
                return longer
            told, stems = longer, stems | other
    return told


def _stems_of(text: str) -> list[str]:
    return [stemmed(word) for word in _content_words(text)]
