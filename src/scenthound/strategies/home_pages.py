"""Home pages first: the home page of every newly named host, then breadth-first (sheet 80.6).

    score(link) = 1 for the home page of a host named for the first time, else 0; of equal scores the first in is first

Ours: a control for crawls that look for sites. It knows nothing of the topic, so what it finds shows how much is to be
had by visiting many hosts. A link into a new host also brings the host's home page, linked or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scenthound.model import NOTHING, Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.url import host, origin


@strategy("home-pages")
@dataclass
class HomePages(Parameterised):
    """The home page of every newly named host first, otherwise breadth-first; the topic is ignored."""

    memory: int = parameter(1_000_000, "hosts remembered; home pages of hosts beyond are not looked for", least=1)

    @property
    def declaration(self) -> Declaration:
        return Declaration(eviction="refuse", parts=Parts())

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        self.hosts_ = {host(url) for url in seeds}
        return [Candidate(url, float("inf")) for url in dict.fromkeys(seeds)]

    def read(self, page: Page) -> Iterable[Candidate]:
        self.hosts_.add(host(page.url))
        offers = []
        for link in page.outlinks:
            name = host(link.url)
            if name not in self.hosts_ and len(self.hosts_) < self.memory:
                self.hosts_.add(name)
                home = Url(origin(link.url) + "/")
                if home != link.url:
                    depth = page.candidate.depth + 1
                    offers.append(Candidate(home, 1.0, NOTHING, NOTHING, page.url, link.anchor, depth))
                offers.append(page.offer(link, float(home == link.url)))
            else:
                offers.append(page.offer(link, 0.0))
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def save(self) -> Mapping[str, Any]:
        return {"hosts": sorted(self.hosts_)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.hosts_ = set(state["hosts"])
