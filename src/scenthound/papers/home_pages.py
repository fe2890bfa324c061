"""Home pages first: the home page of every newly found host, then breadth-first (sheet 80.6).

    score(link) = 1 for the home page of a host found for the first time, else 0; equal scores first in, first out

Ours: a control for crawls that look for sites. It ignores the topic, so its result shows how much a crawl gains merely
by visiting many hosts. A link into a new host also adds the host's home page, whether or not it is linked.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from scenthound.model import NOTHING, Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration
from scenthound.strategies import strategy
from scenthound.url import host, origin

HOME: Mapping[str, float] = MappingProxyType({"home page": 1.0})
OTHER: Mapping[str, float] = MappingProxyType({"home page": 0.0})


@strategy("home-pages")
@dataclass
class HomePages(Parameterised):
    """Fetches the home page of every newly found host first, otherwise breadth-first; ignores the topic."""

    score_parts: ClassVar[Mapping[str, str]] = {"home page": "1 for a newly found host's home page; this is the score"}
    memory: int = parameter(1_000_000, "hosts remembered; home pages of later hosts are not added", least=1)

    @property
    def declaration(self) -> Declaration:
        return Declaration(eviction="refuse", parts=Parts(), score_parts=self.score_parts)

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
                is_home = home == link.url
                if not is_home:
                    depth = page.candidate.depth + 1
                    offers.append(Candidate(home, 1.0, NOTHING, HOME, page.url, link.anchor, depth))
                offers.append(page.offer(link, float(is_home), parts=HOME if is_home else OTHER))
            else:
                offers.append(page.offer(link, 0.0, parts=OTHER))
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        return ()

    def save(self) -> Mapping[str, Any]:
        return {"hosts": sorted(self.hosts_)}

    def load(self, state: Mapping[str, Any]) -> None:
        self.hosts_ = set(state["hosts"])
