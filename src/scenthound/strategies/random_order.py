"""Random: at every step each waiting URL is equally likely to be fetched next.

    score(link) = -(t + E)     t: the time at which it was found, E: exponentially distributed with mean 1

The second blind baseline beside breadth-first; of no paper. An even draw among all waiting URLs would need the whole
frontier at every pop. Alarm clocks give the same: a URL found at time t rings at t + E, the first to ring is fetched,
and the time is then that of its ring. The exponential distribution has no memory, so at any time the rest of every
wait is a fresh draw, and all URLs are equally likely to ring next.

E is a hash of the URL, the topic, `seed` and the crawl's seed number: nothing has to be saved, and a URL that is found
again keeps its earlier ring.
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
    """Pages in random order along the links; the topic only seeds the random numbers."""

    seed: int = parameter(0, "another number gives every URL another lot")

    def __post_init__(self) -> None:
        super().__post_init__()
        self.luck_ = 0

    @property
    def declaration(self) -> Declaration:
        return Declaration(parts=Parts())

    def use_random(self, rng: random.Random) -> None:
        self.luck_ = rng.getrandbits(64)

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        prefix = f"{self.seed} {self.luck_} {topic.keywords} "
        self.hash_ = hashlib.blake2b(prefix.encode("utf-8", "surrogatepass"), digest_size=8)
        return [Candidate(url, float("inf")) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        rang = page.candidate.score
        clock = -rang if math.isfinite(rang) else 0.0
        return [page.offer(link, -(clock + self.wait(link.url))) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def wait(self, url: Url) -> float:
        """How long this URL's clock runs: exponentially distributed, with mean 1."""
        url_hash = self.hash_.copy()
        url_hash.update(url.encode("utf-8", "surrogatepass"))
        return -math.log((int.from_bytes(url_hash.digest(), "big") + 1) / ((1 << 64) + 1))
