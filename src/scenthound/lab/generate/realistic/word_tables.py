"""The words of the realistic web, by number, and the tables that they are drawn from.

A table is an array of word numbers in which each word occurs in proportion to its probability, so that drawing many
words is one look-up. Besides the words of `subjects.toml` there are invented ones, as many as needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from scenthound.lab.generate import subjects
from scenthound.lab.generate.realistic.habits import RealisticHabits
from scenthound.lab.generate.rng import mix

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
