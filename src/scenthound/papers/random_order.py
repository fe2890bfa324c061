"""Random: at every step each waiting URL is equally likely to be fetched next.

    score(link) = -(t + E)     t: the time at which it was found, E: exponentially distributed with mean 1

The second blind baseline besides breadth-first; not from a paper. A uniform draw among all waiting URLs would need the
whole frontier at every pop. Alarm clocks give the same distribution: a URL found at time t rings at t + E, the first to
ring is fetched, and that is the new time. The exponential distribution is memoryless, so at any time every remaining
wait is a fresh draw, and all URLs are equally likely to ring next.

E is derived from a hash of the URL, the topic, `seed` and the crawl's seed number. So there is no state to save, and a
URL that is found again keeps its earlier time.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scenthound.model import Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy


@strategy("random")
@dataclass
class RandomOrder(Parameterised):
    """Fetches pages in random order along the links; the topic only seeds the random numbers."""

    seed: int = parameter(0, "change it to get another random order")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.seed_number_ = 0

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts())

    def use_random(self, rng: random.Random) -> None:
        self.seed_number_ = rng.getrandbits(64)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        prefix = f"{self.seed} {self.seed_number_} {topic.keywords} "
        self.hash_ = hashlib.blake2b(prefix.encode("utf-8", "surrogatepass"), digest_size=8)
        return [Candidate(url, float("inf")) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        rang_at = -page.candidate.score
        now = rang_at if math.isfinite(rang_at) else 0.0
        return [page.offer(link, -(now + self.wait(link.url))) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def wait(self, url: Url) -> float:
        """The time until a URL rings: exponentially distributed with mean 1."""
        url_hash = self.hash_.copy()
        url_hash.update(url.encode("utf-8", "surrogatepass"))
        return -math.log((int.from_bytes(url_hash.digest(), "big") + 1) / ((1 << 64) + 1))
