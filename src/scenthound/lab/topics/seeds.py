"""Seeds at some distance from the answers (sheet 60.1), found through the back-links of a bed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence

BackLinks = Callable[[str, int | None], Sequence[str]]
"""Returns the pages that link to a URL, in the order of sheet 60.1, up to a limit, as `LinkGraph.back_links` does."""


def neighbours(
    examples: Sequence[str], back_links: BackLinks, rng: random.Random, width: int = 20, number: int = 10
) -> list[str]:
    """The seeds of task 2 of [EXP]: a random sample of the pages from which an example is two links away.

    Uses up to `width` back-links of each page. Examples are left out.
    """
    first = dict.fromkeys(page for example in examples for page in back_links(example, width))
    second = {page for parent in first for page in back_links(parent, width)} - set(examples)
    return rng.sample(sorted(second), min(number, len(second)))


def seeds_at_distance(
    targets: Iterable[str], back_links: BackLinks, rng: random.Random, number: int = 10, distance: int = 3
) -> tuple[list[str], list[str]]:
    """The seeds of [GRAPH], and the targets S0 that they were moved back from, both without duplicates.

    S0 are `number` random targets. `distance` times, every URL is replaced by a random one of its back-links, if it has
    any. So each seed is at most `distance` links away from some member of S0.
    """
    pool = sorted(set(targets))
    origin = rng.sample(pool, min(number, len(pool)))
    moved = list(origin)
    for _ in range(distance):
        moved = [rng.choice(linking) if (linking := back_links(url, None)) else url for url in moved]
    return list(dict.fromkeys(moved)), origin
