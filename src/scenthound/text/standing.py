"""Where on a page every term stands, counted in anchors. Known under `(STANDING, analyser)`, see `text.contexts`."""

from __future__ import annotations

import sys
from array import array
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from scenthound.model import Link, Page
from scenthound.text.contexts import stream
from scenthound.text.lasting import STANDING, STREAM
from scenthound.text.numbers import Numbers
from scenthound.text.register import WORDS, fresh
from scenthound.text.tokens import Analyser

REMEMBERED = (
    1 << 18
)  # raw tokens: some 31 MB of prose, at worst some 120 MB of hostile ones; a bed of schools has 172,000
Places = npt.NDArray[np.int32]


class Standing(NamedTuple):
    """The occurrences of each term, in the order of the page, `alt` texts of image links last."""

    epoch: int
    terms: Places
    """Numbers of `WORDS`, in ascending order."""
    starts: Places
    """Where in `where` the occurrences of each term begin; one more for where the last end."""
    where: Places
    """2b + 1 in anchor b, or 2g outside with g anchors before it."""


def standing(page: Page, analyser: Analyser) -> Standing:
    """Where the terms of a page stand, in numbers of the register's present epoch."""

    def read() -> Standing:
        raw, spans = stream(page)
        page.forget((STREAM,))  # it is large, and nobody will ask again
        numbers = Numbers(sys.maxsize)
        tokens = np.array(numbers.of(raw), dtype=np.int32)
        return stand(list(numbers), tokens, spans, page.links, analyser)

    return fresh(page, (STANDING, analyser), read, WORDS)


def stand(
    words: list[str], tokens: Places, spans: Sequence[tuple[int, int]], links: Sequence[Link], analyser: Analyser
) -> Standing:
    """From the distinct raw tokens, the place among them of each token of the page, and where its anchors stand."""
    alts = [
        (2 * number + 1, term)
        for number, (start, end) in enumerate(spans)
        if start == end and (alt := links[number].anchor)
        for term in analyser.terms(alt)
    ]
    epoch, of_words, of_alts = _numbers_of(words, [term for _, term in alts], analyser)
    known = np.array([*of_words, -1], dtype=np.int32)  # one more, for a page without a word
    every = known[tokens]
    places = np.flatnonzero(every >= 0).astype(np.int32)
    owners, where = every[places], _where(places, spans)
    if alts:
        owners = np.concatenate([owners, np.array(of_alts, dtype=np.int32)])
        where = np.concatenate([where, np.array([place for place, _ in alts], dtype=np.int32)])
    order = np.argsort(owners, kind="stable")
    owners = owners[order]
    starts = np.flatnonzero(np.diff(owners, prepend=np.int32(-1)))
    return Standing(epoch, owners[starts], np.append(starts, len(owners)).astype(np.int32), where[order])


class _Numbers(dict[str, int]):
    """From raw tokens to the numbers that their terms have in `WORDS`, -1 for those without a term; of one epoch."""

    epoch = -1


@lru_cache(maxsize=1)
def _met(analyser: Analyser) -> _Numbers:
    return _Numbers()


def _numbers_of(words: list[str], terms: list[str], analyser: Analyser) -> tuple[int, list[int], array[int]]:
    """The numbers of the terms of distinct raw tokens, and of some more terms, all of one epoch."""
    met = _met(analyser)
    if met.epoch != WORDS.epoch:
        met.clear()
    new = [word for word in words if word not in met]
    of_new = analyser.term_of_each(new)
    epoch, numbers = WORDS.of(chain(filter(None, of_new), terms))
    if epoch != met.epoch and met:  # what was met before has other numbers now: all in one question, which is the last
        met.clear()
        new, of_new = words, analyser.term_of_each(words)
        epoch, numbers = WORDS.of(chain(filter(None, of_new), terms))
    met.epoch = epoch
    each = iter(numbers)
    met.update((word, -1 if term is None else next(each)) for word, term in zip(new, of_new, strict=True))
    of_words = list(map(met.__getitem__, words))
    if len(met) > REMEMBERED:
        met.clear()
    return epoch, of_words, array("i", each)


def _where(places: Places, spans: Sequence[tuple[int, int]]) -> Places:
    if not spans:
        return np.zeros(len(places), dtype=np.int32)
    starts, ends = np.array(spans, dtype=np.int32).T
    if (starts[1:] >= starts[:-1]).all():
        anchors = np.searchsorted(starts, places, side="right") - 1
    else:  # anchors in one another: whatever bisection meets
        listed = starts.tolist()
        anchors = np.array([bisect_right(listed, place) - 1 for place in places.tolist()], dtype=np.intp)
    is_inside = (anchors >= 0) & (places < ends[anchors])
    return (2 * anchors + np.where(is_inside, 1, 2)).astype(np.int32)
