"""How common words are in general English: the background against which the words of a topic stand out.

The table has 7,900 stems, those with 5 or more occurrences in a million words (`english_words.LICENSE.txt` says where
it comes from). Words of other languages are not in it and count as rare.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from importlib import resources
from types import MappingProxyType

PAGE = 400
"""Words of a typical page."""


def shares_of_pages() -> Mapping[str, float]:
    """For each stem the share of pages of general English that hold it: 1 - exp(-400 f), f its frequency.

    >>> shares = shares_of_pages()
    >>> round(shares["time"], 2), round(shares["balloon"], 3), "ornithopt" in shares
    (0.61, 0.005, False)
    """
    lines = resources.files("scenthound.text").joinpath("english_words.txt").read_text("ascii").splitlines()
    pairs = (line.split(" ") for line in lines)
    return MappingProxyType({stem: 1 - math.exp(-PAGE * int(times) / 1_000_000) for stem, times in pairs})
