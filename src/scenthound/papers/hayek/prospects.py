"""The knowledge of exploratory auctions in a Hayek economy: the content of all fetched pages."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from scenthound.papers.hayek.agents import AgentFactory
from scenthound.papers.hayek.known_web import FETCHED, KnownWeb


@dataclass(frozen=True)
class KnownProspects:
    """`Prospects` for one sequence, from the known web."""

    web: KnownWeb
    factory: AgentFactory
    banned: Collection[str]
    """Hosts whose pages are off the market."""
    ends_at_goal: bool
    sells_known: bool
    """Whether fetched pages are for sale, or only pages that were never fetched."""

    def is_goal(self, page: int) -> bool:
        known_page = self.web.pages[page]
        return known_page.state == FETCHED and known_page.goal

    def links(self, page: int) -> Iterable[int]:
        pages = self.web.pages
        if pages[page].state != FETCHED or not self.sells_known:
            return ()
        return [link for link in pages[page].links if pages[link].host not in self.banned]

    def real_bidders(self, page: int) -> Iterable[int] | None:
        if self.web.pages[page].state != FETCHED:
            return None
        agents = self.factory.market.agents
        return [number for number in self.factory.matches(page) if not agents[number].virtual]
