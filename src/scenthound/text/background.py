"""How common a word is in English: the share of documents that contain it, from a table of stem frequencies.

    b(t) = 1 - exp(-400 f(t)),    f(t) = occurrences of the stem per word of English text

b(t) is the probability that a text of 400 words contains the stem. A stem that is not in the table (a rare word, a
name, a word of another language) has f = 1e-8. The origin and licence of `data/english_stems.txt` are beside it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType

WORDS = 400
UNKNOWN = 1e-8


@lru_cache(maxsize=1)
def stem_shares() -> Mapping[str, float]:
    """b(t) of all stems in the table. Each line is a level, in tenths of a decade below 1, and its stems."""
    table: dict[str, float] = {}
    lines = (files("scenthound.text") / "data" / "english_stems.txt").read_text("ascii").splitlines()
    for line in lines:
        level, *stems = line.split()
        table.update(dict.fromkeys(stems, _share(10 ** (-int(level) / 10))))
    return MappingProxyType(table)


def _share(frequency: float) -> float:
    return 1 - math.exp(-WORDS * frequency)


UNKNOWN_SHARE = _share(UNKNOWN)


def document_share(stem: str) -> float:
    """b(t) of a stem.

    >>> document_share("time") > 0.5, document_share("ballast") < 0.01
    (True, True)
    """
    return stem_shares().get(stem, UNKNOWN_SHARE)
