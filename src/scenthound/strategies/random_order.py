"""Random: every URL gets a lot, and the largest lot is visited next.

The blind baseline beside breadth-first; no paper's. A URL's lot is drawn once, uniformly from 0 to 1:
it is a hash of the URL and of `seed`, so it is the same whenever and wherever the URL is offered, and
nothing has to be remembered or saved. Mind what follows: among URLs that came in together all orders
are equally likely, but URLs that have waited long are those with small lots, so this is not a fresh
even draw among all that wait.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from scenthound.errors import BadConfig
from scenthound.model import Candidate, Miss, Page, Topic, Url
from scenthound.strategies import strategy


@strategy("random")
@dataclass
class RandomOrder:
    """Pages in an order that only chance and the links decide; the topic is not looked at."""

    seed: int = field(default=0, metadata={"doc": "another number gives every URL another lot"})

    def __post_init__(self) -> None:
        if not isinstance(self.seed, int):
            raise BadConfig(f"random: `seed` can't be {self.seed!r}", "give a whole number")

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        return [Candidate(url, float("inf")) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        return [page.offer(link, self.lot(link.url)) for link in page.outlinks]

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def lot(self, url: Url) -> float:
        """From 0 up to, but not, 1; a multiple of 2**-48, so that rounding to 12 decimals makes no ties of note."""
        digest = hashlib.blake2b(f"{self.seed} {url}".encode("utf-8", "surrogatepass"), digest_size=6).digest()
        return int.from_bytes(digest, "big") / (1 << 48)
