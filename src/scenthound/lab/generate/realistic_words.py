"""The habits of the realistic web, every share and size that can be set, with its calibrated default; and its words, by
number, with the tables that they are drawn from.

A table is an array of word numbers in which each word occurs in proportion to its probability, so that drawing many
words is one look-up. Besides the words of `subjects.toml` there are invented ones, as many as needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from scenthound.lab.generate import subjects
from scenthound.lab.generate.rng import mix
from scenthound.parameters import Parameterised, parameter


@dataclass(frozen=True, slots=True)
class RealisticHabits(Parameterised):
    """How a realistic web is generated. Shares are from 0 to 1."""

    # subjects and words
    subjects: int = parameter(0, "number of subjects; 0: one for every 500 pages, at most 48", least=0, most=48)
    communities: int = parameter(5, "number of communities per subject, with few links between them", least=1, most=100)
    vocabulary: int = parameter(30_000, "number of words that belong to no subject", least=1000, most=200_000)
    flatness: int = parameter(8, "how even word frequencies are: weight 1 / (rank + flatness)", least=1)
    subject_words: int = parameter(250, "number of words of each subject", least=20, most=2000)
    words: int = parameter(260, "approximate number of words on a page, without stop words", least=20)
    strength: float = parameter(0.35, "share of a page's words that belong to its subject", least=0, most=1)
    jargon: float = parameter(0.18, "share of a page's words that its whole site uses", least=0, most=1)
    burst: float = parameter(0.15, "share of a page's words that come from a few words of its own", least=0, most=1)

    # sites
    section: int = parameter(14, "approximate number of pages in a section of a site", least=2)
    theme: float = parameter(0.2, "share of sections that are on the main subject of their site", least=0, most=1)
    focus: float = parameter(0.2, "share of a section's pages that are on its subject", least=0, most=1)
    guests: float = parameter(0.1, "share of a section's pages that are on a related subject", least=0, most=1)
    near_misses: float = parameter(
        0.06, "share of sections that use words of a subject but are not about it", least=0, most=1
    )
    corridors: float = parameter(0.06, "share of pages that lead to a subject but use different words", least=0, most=1)

    # links
    menu: int = parameter(7, "number of sections in the menu of a site", least=0)
    inside: int = parameter(5, "smallest number of links in the text to the same site; heavy-tailed", least=0)
    follow: float = parameter(
        0.25, "share of links within a section that lead to a page on the same subject", least=0, most=1
    )
    outside: float = parameter(
        0.3, "share of pages with links to other sites, in heavy-tailed numbers", least=0, most=1
    )
    same: float = parameter(0.4, "share of links to other sites that stay on the subject", least=0, most=1)
    related: float = parameter(0.1, "… that go to a related subject", least=0, most=1)
    through: float = parameter(0.1, "… that go to a corridor page of the subject", least=0, most=1)
    misled: float = parameter(0.05, "… that go to a near miss", least=0, most=1)
    joined: float = parameter(0.08, "share of links on the subject that may leave the community", least=0, most=1)
    copying: float = parameter(0.6, "share of linked pages from which a second link is copied", least=0, most=1)
    context: float = parameter(0.45, "share of links with words of the linked page beside them", least=0, most=1)
    generic: float = parameter(0.15, "share of links with an uninformative anchor text", least=0, most=1)
    dead: float = parameter(0.04, "share of pages with a dead link", least=0, most=1)
    moved: float = parameter(0.02, "share of pages with an old address, which some links still use", least=0, most=1)

    # companies
    companies: float = parameter(0.08, "share of pages that belong to companies", least=0, most=0.5)
    trades: float = parameter(0.5, "share of subjects that have companies, called trades", least=0, most=1)
    hubs: float = parameter(0.6, "share of trades with directories; 94 of 159 in [BIZ]", least=0, most=1)
    directories: int = parameter(3, "directories of each such trade; they overlap", least=1)
    coverage: float = parameter(0.35, "share of the trade's companies that each directory lists", least=0, most=1)
    named: float = parameter(0.5, "share of links to a company with the name of its trade beside them", least=0, most=1)
    mentions: float = parameter(0.1, "share of pages on a trade that link to one of its companies", least=0, most=1)
    company_seeds: int = parameter(10, "number of seeds of a company topic", least=1)
    boards: float = parameter(0.0, "share of companies with a page about their board of directors", least=0, most=1)


Table = NDArray[np.int32]
AREA = 6  # subjects in an area: neighbours in `subjects.toml` that share words
SLOTS, MANY_SLOTS = 1 << 12, 1 << 16
COMMUNITY_WORDS, DECOY_WORDS, CORRIDOR_WORDS = 80, 120, 90
CORRIDOR_LEVELS = 2
OWN_WORDS, SITE_WORDS = 12, 30
SHARED = 10  # words of a subject that its near misses use too
NAME = 0.05  # weight of the subject's name in a table that has it; the other words weigh 1
_CONSONANTS, _VOWELS, _LAST = "bdfgklmnprstvz", "aeiou", "aou"
_SCRAMBLE = 104_729  # a prime, so that words with successive numbers don't look alike
_SITE, _OWN = range(40, 42)  # the `purpose` of a call of `mix`


_SYLLABLES = tuple(consonant + vowel for consonant in _CONSONANTS for vowel in _VOWELS)
_ENDINGS = tuple(consonant + vowel for consonant in _CONSONANTS for vowel in _LAST)
_SHORT = len(_SYLLABLES) ** 2 * len(_ENDINGS)  # words of three syllables


def invented(number: int) -> str:
    """The invented word with this number. No two are equal, even when stemmed.

    >>> invented(0), invented(1)
    ('bababa', 'naponu')
    """
    longer, number = divmod(number, _SHORT)
    rest, ending = divmod(number * _SCRAMBLE % _SHORT, len(_ENDINGS))
    first, second = divmod(rest, len(_SYLLABLES))
    word = _SYLLABLES[first] + _SYLLABLES[second] + _ENDINGS[ending]
    return word if not longer else _SYLLABLES[longer - 1] + word


class WebVocabulary:
    """All words of a web with `subject_count` subjects."""

    def __init__(self, habits: RealisticHabits, subject_count: int, seed: int) -> None:
        self._habits, self._seed, self.subject_count = habits, seed, subject_count
        real = dict.fromkeys([*subjects.GENERAL, *(word for leaf in subjects.LEAVES for word in leaf.words)])
        real |= dict.fromkeys(word for leaf in subjects.LEAVES for label in leaf.path for word in label.split())
        real |= dict.fromkeys(subjects.BOARD)
        self._numbers = {word: number for number, word in enumerate(real)}
        self._invented_from = len(real)
        self._decoys_from = habits.subject_words + habits.communities * COMMUNITY_WORDS
        self._corridors_from = self._decoys_from + DECOY_WORDS
        self._block_size = self._corridors_from + CORRIDOR_LEVELS * CORRIDOR_WORDS
        self.words = [*real, *map(invented, range(habits.vocabulary + subject_count * self._block_size))]
        self.subject_table = lru_cache(maxsize=None)(self._subject_table)
        self.decoy_table = lru_cache(maxsize=None)(self._decoy_table)
        self.corridor_table = lru_cache(maxsize=None)(self._corridor_table)

    @cached_property
    def background(self) -> Table:
        """The words that belong to no subject."""
        general = [self._numbers[word] for word in subjects.GENERAL]
        return self._zipf([*general, *self._block(0, self._habits.vocabulary)], MANY_SLOTS)

    @cached_property
    def board(self) -> Table:
        """The words of pages about a board of directors."""
        return self._zipf([self._numbers[word] for word in subjects.BOARD], SLOTS)

    def _subject_table(self, subject: int, community: int) -> Table:
        """The words of a subject as one community uses them. Every second community avoids the subject's name."""
        real_words = [self._numbers[word] for word in subjects.LEAVES[subject].words]
        shared = [*real_words, *self._subject_block(subject, 0, self._habits.subject_words)]
        begin = self._habits.subject_words + community * COMMUNITY_WORDS
        community_words = self._subject_block(subject, begin, COMMUNITY_WORDS)
        start = (community * 7) % max(len(real_words), 1)
        favoured = [*real_words[start::3], *community_words]
        name = self.name(subject) if community % 2 == 0 else []
        parts = [(self._zipf(favoured, SLOTS), 0.45), (self._zipf(shared, SLOTS), 0.55)]
        if name:
            parts.append((np.resize(np.array(name, dtype=np.int32), SLOTS), NAME))
        return _blend(parts)

    def _decoy_table(self, subject: int) -> Table:
        """The words of near misses: pages with some words of a subject and its name that are about something else."""
        real_words = [self._numbers[word] for word in subjects.LEAVES[subject].words[:SHARED]]
        decoys = self._zipf(self._subject_block(subject, self._decoys_from, DECOY_WORDS), SLOTS)
        shared = np.resize(np.array([*self.name(subject), *real_words], dtype=np.int32), SLOTS)
        return _blend([(decoys, 0.7), (shared, 0.3)])

    def _corridor_table(self, subject: int, level: int) -> Table:
        """The words of corridors, which lead to a subject in one link (level 0) or in two (level 1)."""
        words = self._subject_block(subject, self._corridors_from + level * CORRIDOR_WORDS, CORRIDOR_WORDS)
        return self._zipf(words, SLOTS)

    def site_words(self, site: int) -> Table:
        """The words that all pages of a site use."""
        return self._random_words(_SITE, site, SITE_WORDS)

    def own_words(self, page: int) -> Table:
        """A few words that a page uses often."""
        return self._random_words(_OWN, page, OWN_WORDS)

    def name(self, subject: int) -> list[int]:
        """The words of a subject's name, by number."""
        return [self._numbers[word] for word in subjects.LEAVES[subject].name.split()]

    def _random_words(self, purpose: int, number: int, count: int) -> Table:
        bits = mix(self._seed, purpose, number)
        steps = np.arange(count, dtype=np.uint64) * np.uint64(bits | 1) + np.uint64(bits >> 7)
        chosen = (steps >> np.uint64(20)) % np.uint64(self._habits.vocabulary)
        return np.array(chosen + np.uint64(self._invented_from), dtype=np.int32)

    def _subject_block(self, subject: int, begin: int, count: int) -> range:
        return self._block(self._habits.vocabulary + subject * self._block_size + begin, count)

    def _block(self, begin: int, count: int) -> range:
        return range(self._invented_from + begin, self._invented_from + begin + count)

    def _zipf(self, ranked: Sequence[int], slots: int) -> Table:
        offset = self._habits.flatness if slots == MANY_SLOTS else 3
        weights = np.cumsum(1.0 / (np.arange(len(ranked)) + offset))
        ranks = np.searchsorted(weights, (np.arange(slots) + 0.5) / slots * weights[-1])
        table: Table = np.array(ranked, dtype=np.int32)[ranks]
        return table


def _blend(parts: Sequence[tuple[Table, float]]) -> Table:
    """Merge tables into one, in which each has its share of the slots."""
    total, cumulative, blended = sum(share for _, share in parts), 0.0, list[Table]()
    start = 0
    for table, share in parts:
        cumulative += share
        end = int(cumulative / total * SLOTS + 0.5)
        blended.append(table[np.arange(end - start) * len(table) // max(end - start, 1)])
        start = end
    return np.concatenate(blended)
