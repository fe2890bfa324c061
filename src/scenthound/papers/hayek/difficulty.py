"""The difficulty of sequences in the Hayek economy (algorithm 2), and where a sequence starts (algorithm 3).

MA ← max(0, MA ± step)                          + after a sequence that met a goal, - after any other
d  ← d + 1 if MA > hystlo · d, else d - 1 if MA < hysthi · d and d > 1
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from scenthound.papers.hayek.known_web import FAR, KnownWeb
from scenthound.parameters import Parameterised, parameter

FEWEST_STARTS = 5
TRIES = 20
FEWEST_LINKS = 2
RECENT = 10  # purchases that should come from several sites


@dataclass
class DifficultyRules(Parameterised):
    """The constants of algorithm 2."""

    hystlo: float = parameter(0.8, "sequences get harder if success > this · difficulty", above=0, most=100)
    hysthi: float = parameter(1.0, "sequences get easier if success < this · difficulty", above=0, most=100)
    step: float = parameter(0.02, "change in the success after each sequence", above=0, most=100)


@dataclass(slots=True)
class Difficulty:
    """Algorithm 2: how many links away from a goal sequences start."""

    rules: DifficultyRules = field(default_factory=DifficultyRules)
    level: int = 1
    success: float = 0.0
    """MA: moves up or down by a step with every sequence, never below 0."""
    most: int = 1_000_000
    """Upper limit [D], because no pages farther from a goal are known, and longer sequences that start nearer would
    meet a goal whatever they buy."""

    def update(self, met_goal: bool) -> int:
        """Count a finished sequence, and return the difficulty of the next."""
        self.success = max(0.0, self.success + (self.rules.step if met_goal else -self.rules.step))
        if self.success > self.rules.hystlo * self.level:
            self.level = max(self.level, min(self.level + 1, self.most))
            self.success = min(self.success, self.rules.hystlo * (self.most + 1))
        elif self.success < self.rules.hysthi * self.level and self.level > 1:
            self.level -= 1
        return self.level

    def restart(self) -> None:
        """Make sequences as easy as at the beginning ([ECON], section 4: a reset from time to time)."""
        self.level, self.success = 1, 0.0


def is_stuck(sites: Collection[str], few: int) -> bool:
    """Whether the last `RECENT` purchases came from at most `few` sites ([ECON], section 4).

    >>> is_stuck(["a"] * 10, 1), is_stuck(["a"] * 9, 1), is_stuck(["a"] * 9 + ["b"], 1)
    (True, False, False)
    """
    return len(sites) >= RECENT and len(set(sites)) <= few


def farthest_start(web: KnownWeb) -> int:
    """The largest distance from a goal at which enough start pages are known; at least 1."""
    for distance in range(FAR - 1, 1, -1):
        if sum(map(len, web.fetched_at(distance).values())) >= FEWEST_STARTS:
            return distance
    return 1


def choose_start(web: KnownWeb, difficulty: int, rng: random.Random, is_open: Callable[[int], bool]) -> int | None:
    """Algorithm 3: draw a page at distance `difficulty` from a goal, from a host drawn uniformly.

    `is_open` tells whether a linked page could be bought. If fewer than 5 such pages are known, or after 20 tries, the
    start is a page of unknown distance or a page next to a goal that no other page links to, with equal probability.
    """
    candidates = web.fetched_at(min(difficulty, FAR - 1))
    if sum(map(len, candidates.values())) >= FEWEST_STARTS:
        start = _try(web, candidates, rng, is_open)
        if start is not None:
            return start
    one_way = {
        host: unlinked
        for host, pages in web.fetched_at(1).items()
        if (unlinked := [number for number in pages if not web.back[number]])
    }
    first, second = (web.fetched_at(FAR), one_way) if rng.random() < 0.5 else (one_way, web.fetched_at(FAR))
    for pages in (first, second, *(web.fetched_at(distance) for distance in range(FAR))):
        start = _try(web, pages, rng, is_open)
        if start is not None:
            return start
    return None


def _try(
    web: KnownWeb, hosts: Mapping[str, Sequence[int]], rng: random.Random, is_open: Callable[[int], bool]
) -> int | None:
    """Draw a page with at least two open links, host first; None after `TRIES` failures."""
    names = list(hosts)
    for _ in range(TRIES if names else 0):
        pages = hosts[names[rng.randrange(len(names))]]
        number = pages[rng.randrange(len(pages))]
        if sum(map(is_open, web.pages[number].links)) >= FEWEST_LINKS:
            return number
    return None
