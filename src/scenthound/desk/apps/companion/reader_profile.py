"""The profile of a reader: words with weights that decay.

A page that was read adds its words to the profile, as a vector of length 1, times a weight w for how it was read:

    weight(t) <- weight(t) * decay + w * v(t),    v(t) ~ (1 + ln tf(t)) * -ln b(t),    decay = 0.5 ** (1 / HALF_LIFE)

where b(t) is the share of English texts with the word (`text.background`). All weights decay with each new page, so
that a page read `HALF_LIFE` pages ago counts half. Words are saved but URLs are not, so the file does not show which
pages were read.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

from msgspec import Meta

from scenthound.errors import BadUsage, FileDamaged
from scenthound.files import check_own_file, write_text
from scenthound.text.background import document_share
from scenthound.text.tokens import Analyser, tokens
from scenthound.typed_data import from_json

ANALYSER = Analyser()
HALF_LIFE = 20  # pages
MOST_WORDS = 500
LEAST = 0.005
"""Words with a smaller weight are forgotten."""
WORDS_OF_PAGE = 100
"""How many of the heaviest words of a page are kept and learned."""
FIRST_PAGES = 10
"""Smoothing constant: with few pages, it is unclear which words occur on all of them."""
HEAVIEST = 100.0
"""Largest weight that a person can give a word."""
MOST = 1e9
"""Largest valid weight in a file; a lifetime of reading adds up to less."""
VERSION = 1

Vector = Mapping[str, float]


class Word(NamedTuple):
    """A word of the profile as spelled on a page, with its weight."""

    word: str
    weight: float


class PagesWith:
    """Counts how many of the pages seen so far contain each word."""

    def __init__(self) -> None:
        self._pages = 0
        self._counts: dict[str, int] = {}

    def add(self, page: Vector) -> None:
        self._pages += 1
        for term in page:
            self._counts[term] = self._counts.get(term, 0) + 1

    def rarity(self, term: str) -> float:
        """How rare a word is: near 1 if it is on few pages, near 0 if on all, like the words of menus and footers.

        r(t) = 1 - pages with t / (pages + FIRST_PAGES)
        """
        return 1.0 - self._counts.get(term, 0) / (self._pages + FIRST_PAGES)


class Interest(NamedTuple):
    """A profile as a vector of length 1, with the spelling of its words."""

    words: Vector
    spelling: Mapping[str, str]

    def shared(self, page: Vector, most: int) -> list[str]:
        """The words that contribute most to the match with a page."""
        parts = {term: share * self.words[term] for term, share in page.items() if term in self.words}
        return [self.spelling.get(term, term) for term in sorted(parts, key=lambda term: (-parts[term], term))[:most]]


def vector(counts: Mapping[str, int], most: int = WORDS_OF_PAGE) -> dict[str, float]:
    """The `most` heaviest words of a text, heaviest first, as a vector of length 1.

    >>> [word for word in vector({"time": 1, "balloon": 2})]
    ['balloon', 'time']
    """
    weights = {term: (1 + math.log(count)) * -math.log(document_share(term)) for term, count in counts.items()}
    heaviest = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))[:most]
    length = math.sqrt(sum(weight * weight for _, weight in heaviest))
    return {term: weight / length for term, weight in heaviest if weight} if length else {}


def spellings(text: str) -> dict[str, str]:
    """Map each stem of a text to the first word with that stem."""
    raw = tokens(text)
    first_words: dict[str, str] = {}
    for token, term in zip(raw, ANALYSER.term_of_each(raw), strict=True):
        if term is not None:
            first_words.setdefault(term, token)
    return first_words


@dataclass(slots=True)
class Profile:
    """Weighted words. Words that a person removed are never learned again."""

    weights: dict[str, float] = field(default_factory=dict)
    spelling: dict[str, str] = field(default_factory=dict)
    """Stem -> word as spelled on a page."""
    removed: dict[str, str] = field(default_factory=dict)
    """Stems that must not be learned, with their words."""
    pages: int = 0
    """Number of pages read so far."""

    def fade(self) -> None:
        """Count a new page and decay the weights of earlier ones."""
        self.pages += 1
        decay = 0.5 ** (1 / HALF_LIFE)
        self.weights = {term: faded for term, weight in self.weights.items() if (faded := weight * decay) >= LEAST}

    def learn(self, page: Vector, weight: float, spelling: Mapping[str, str]) -> None:
        """Add the words of a page, times `weight`."""
        for term, share in page.items():
            if term not in self.removed and not term.isdigit():
                self.weights[term] = self.weights.get(term, 0.0) + weight * share
                self.spelling.setdefault(term, spelling.get(term, term))
        self._keep_heaviest()

    def set(self, word: str, weight: float) -> None:
        """Set the weight of a word; 0 removes it permanently.

        Raises `BadUsage` unless it is a single word with a weight from 0 to `HEAVIEST`.
        """
        terms = spellings(word)
        if len(terms) != 1 or not 0.0 <= weight <= HEAVIEST:
            raise BadUsage(
                f"not a word with a weight: `{word[:40]}`",
                f"give one word that is not a stop word, and a weight from 0 to {HEAVIEST:g}",
            )
        ((term, spelling),) = terms.items()
        if weight:
            self.removed.pop(term, None)
            self.weights[term] = weight
            self.spelling.setdefault(term, spelling)
        else:
            self.removed[term] = self.spelling.get(term, spelling)
            self.weights.pop(term, None)
        self._keep_heaviest()

    def words(self) -> list[Word]:
        """All words, heaviest first."""
        ordered = sorted(self.weights.items(), key=lambda pair: (-pair[1], pair[0]))
        return [Word(self.spelling.get(term, term), weight) for term, weight in ordered]

    def interest(self, seen: PagesWith) -> Interest:
        """The profile as a vector for comparisons, with words that occur on most pages weighted down."""
        weights = {term: weight * seen.rarity(term) for term, weight in self.weights.items()}
        length = math.sqrt(sum(weight * weight for weight in weights.values()))
        return Interest({term: weight / length for term, weight in weights.items()} if length else {}, self.spelling)

    def _keep_heaviest(self) -> None:
        if len(self.weights) > MOST_WORDS:
            heaviest = sorted(self.weights.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_WORDS]
            self.weights = dict(heaviest)
        self.spelling = {term: word for term, word in self.spelling.items() if term in self.weights}


@dataclass(frozen=True, slots=True)
class SavedWord:
    term: str
    word: str
    weight: Annotated[float, Meta(ge=0.0, le=MOST)]


@dataclass(frozen=True, slots=True)
class ProfileFile:
    """The content of the file."""

    version: int
    pages: int
    words: list[SavedWord]
    removed: dict[str, str]
    excluded: list[str]


class SavedProfile(NamedTuple):
    """The data that the companion saves."""

    profile: Profile
    excluded: tuple[str, ...] = ()


def save(path: Path, saved: SavedProfile) -> None:
    """Write profile and excluded sites to a file that only the user can read."""
    profile = saved.profile
    words = [
        SavedWord(term, profile.spelling.get(term, term), round(weight, 6)) for term, weight in profile.weights.items()
    ]
    document = asdict(ProfileFile(VERSION, profile.pages, words, profile.removed, list(saved.excluded)))
    write_text(path, json.dumps(document, indent=1, ensure_ascii=False) + "\n", mode=0o600)


def load(path: Path) -> SavedProfile:
    """Read a file written by `save`; return an empty profile if there is no file.

    Raises `FileDamaged`, or `UnsafeFile` for a symbolic link.
    """
    check_own_file(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return SavedProfile(Profile())
    except UnicodeDecodeError:
        text = ""
    try:
        saved = from_json(text, ProfileFile)
    except ValueError:
        saved = None
    if saved is None or saved.version != VERSION:
        raise FileDamaged(path, "is not a companion profile", "move it away, and a new one will be created")
    profile = Profile(
        {entry.term: entry.weight for entry in saved.words},
        {entry.term: entry.word for entry in saved.words},
        saved.removed,
        saved.pages,
    )
    return SavedProfile(profile, tuple(saved.excluded))
