"""The Hayek economy: runs sequences of auctions and decides which page to fetch next (sheet 40.2, algorithm 1).

`decide` runs auctions until one needs a page that has not been fetched, and returns it; `landed` or `missed` takes the
result. So the same class serves training on a known web, where every page is available at once, and crawling.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from scenthound.errors import BadConfig
from scenthound.page.page import Page
from scenthound.papers.hayek.agents import AgentFactory, KnownProspects, weighting_parameter
from scenthound.papers.hayek.auction import Trading
from scenthound.papers.hayek.difficulty import RECENT, Difficulty, choose_start, farthest_start, is_stuck
from scenthound.papers.hayek.known_web import FAR, FETCHED, NEW, REQUESTED, KnownWeb
from scenthound.papers.hayek.market import ROOT, WORLD, Agent, Market, MarketRules, Pricing, Purchase, coins, units
from scenthound.papers.hayek.page_features import FEATURE_CLASSES, MORE_CLASSES, OPERATORS
from scenthound.parameters import Parameterised, parameter

Sequences = Literal["restarted", "endless"]
ROUND = 10  # interval, in auctions, between rounds of deaths and births in an endless sequence


@dataclass
class EconomyOptions(Parameterised):
    """Options of an economy besides the rules of its market."""

    fetch_all: bool = parameter(False, "fetch all links of a bought page before the next auction")
    sequences: Sequences = parameter("endless", "one endless sequence, or short sequences (restarted)")
    forget: bool = parameter(True, "links are bought unseen in every sequence, even if their page was fetched")
    blacklist_site_after_goal: bool = parameter(False, "after a goal, buy no more pages of its host in this sequence")
    weighting: str = weighting_parameter("information-gain")
    agents: int = parameter(20, "agents at the start", least=0)
    cap: int = parameter(1000, "maximum number of agents; the study had 1000 to 5000", least=1)
    retrace: int = parameter(10, "sequences in a row without a new page before one sells only new pages", least=0)
    features: str = parameter("words url links distance", "feature classes that agents may match pages by")
    operators: str = parameter("", "conditions that agents may have besides words: " + " ".join(OPERATORS))
    tax: float = parameter(0.01, "tax that every agent pays, in rewards", least=0, most=1)
    tax_interval: int = parameter(100, "interval, in sequences, between taxes", least=1)
    stop_at_goal: bool = parameter(True, "end a short sequence when a goal is bought")
    long_interval: int = parameter(
        500, "interval, in sequences, between longer ones that do not stop at goals", least=1
    )
    long_offset: int = parameter(20, "additional auctions of a longer sequence", least=0)
    whole_site: bool = parameter(False, "buy only one page of a host in a sequence")
    reset_interval: int = parameter(0, "interval, in sequences, between resets of the difficulty; 0: never", least=0)
    few_sites: int = parameter(
        0, "end a short sequence if its last 10 pages are from at most this many sites; 0: never", least=0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_names("features", self.features, (*FEATURE_CLASSES, *MORE_CLASSES))
        _check_names("operators", self.operators, OPERATORS)
        if not self.fetch_all and not {*self.features.split()} - {"words", "ngrams", "bayes"}:
            raise BadConfig(
                "`features` has no class that unfetched pages have", "add url, links or distance to `features`"
            )


def _check_names(parameter_name: str, text: str, known: Sequence[str]) -> None:
    if unknown := sorted({*text.split()} - {*known}):
        raise BadConfig(f"`{parameter_name}` has no {unknown[0]!r}", "choose among " + " ".join(known))


@dataclass(slots=True)
class EconomyCounts:
    """Running counts, for progress and saved state."""

    sequences: int = 0
    auctions: int = 0
    recognised: dict[int, int] = field(default_factory=dict)
    """Goals that an agent has bought, each with the number of pages fetched by then."""
    selected: dict[int, int] = field(default_factory=dict)
    """All pages that were bought with known content, each with the number of pages fetched by then. Not saved."""


class Economy:
    """A market, the web it trades in and the current sequence. `emit` is called for births, deaths, sales and goals."""

    def __init__(
        self,
        rules: MarketRules,
        options: EconomyOptions,
        web: KnownWeb,
        rng: random.Random,
        difficulty: Difficulty | None = None,
        emit: Callable[[str, Mapping[str, Any], int | None], None] | None = None,
        price: Pricing = "second",
    ) -> None:
        self.rules, self.options, self.web, self.rng = rules, options, web, rng
        self.difficulty = difficulty or Difficulty()
        self.market = Market(rules, price=price)
        self.market.rarity = web.document_count
        features, operators = options.features.split(), options.operators.split()
        self.factory = AgentFactory(web, self.market, rng, options.weighting, features, operators)
        self.recent_sites: deque[str] = deque(maxlen=RECENT)
        self.counts = EconomyCounts()
        self.trading: Trading | None = None
        self.auctions_left = 0
        self.stops_at_goal = True
        self.met_goal = False
        self.idle = 0  # sequences in a row that needed no new page
        self.only_new = False  # whether only unfetched pages are for sale in this sequence
        self.queue: deque[int] = deque()  # pages to fetch before the next auction
        self.fetching: list[int] = []  # pages taken from the queue since the last auction
        self.pending: dict[int, Purchase] = {}  # purchases of unseen pages, which are in flight
        self.banned: set[str] = set()
        self.has_first_agents = False
        self._emit = emit or (lambda kind, facts, page: None)

    # ---- for the crawl

    def make_first_agents(self) -> None:
        """Make the first agents from the pages known so far; without pages, the root makes agents when needed."""
        self.has_first_agents = True
        for number in range(self.options.agents if self.rules.adapt and not self.market.births else 0):
            page = self.factory.any_page()
            if page is not None:
                self._new_agent(page, virtual=not self.options.fetch_all and number % 2 == 1, paid_by=WORLD)

    def expect(self, seeds: Iterable[str]) -> None:
        """Mark pages that are requested without an auction."""
        for url in seeds:
            if (page := self.web.add(url)) >= 0:
                self.web.pages[page].state = REQUESTED

    def decide(self, until: int | None = None) -> int | None:
        """The next page to fetch; None if there is none, or after `until` sequences."""
        if not self.has_first_agents:
            self.make_first_agents()
        while until is None or self.counts.sequences < until:
            while self.queue:
                if self._is_new(page := self.queue.popleft()):
                    self.fetching.append(page)
                    return self._request(page)
            self._drop_unanswered()
            if self.trading is None and not self._begin():
                return self._any_new_page()
            if self._is_over():
                self._finish()
                self.idle += 1
                if self._has_retraced(1) or self.options.sequences == "endless":
                    self.idle = 0
                    return self._any_new_page()
                continue
            needed = self._auction()
            if needed is not None:
                self.idle = 0
                return self._request(needed)
        return None

    def landed(self, page: Page, requested: str | None = None) -> int:
        """Take a fetched page, perhaps requested under another URL. Returns its number."""
        requested_number = self.web.numbers.get(requested or page.url, -1)
        number = self.web.learn(page, requested)
        purchase = self.pending.pop(requested_number, None) or self.pending.pop(number, None)
        if number >= 0 and self.web.pages[number].goal:
            self._emit("goal", {"goals": len(self.web.goals)}, number)
        if purchase is not None and self.trading is not None:
            if number < 0 or number in self.trading.owners:
                self.trading.lost(purchase)
            else:
                purchase.page = number
                self._resell(purchase)
        return number

    def missed(self, url: str) -> None:
        """Take a failed request."""
        number = self.web.mark_dead(url)
        purchase = self.pending.pop(number, None)
        if self.trading is not None:
            self.trading.corona.leave(number)
            if purchase is not None:
                self.trading.lost(purchase)

    def resume(self, trading: Trading, corona: Sequence[int], pending: Mapping[int, Purchase]) -> None:
        """Continue an interrupted sequence."""
        self.trading, self.pending = trading, dict(pending)
        for page in corona:
            trading.corona.enter(page, self._bidders(page))

    # ---- sequences

    def _begin(self) -> bool:
        """Begin a sequence. Returns False if there is no page to start from."""
        endless, start = self.options.sequences == "endless", None
        self.only_new = not endless and self._has_retraced()
        if not endless:
            start = choose_start(self.web, self.difficulty.level, self.rng, self._may_be_bought)
            if start is None and self.only_new:
                self.only_new = False
                start = choose_start(self.web, self.difficulty.level, self.rng, self._may_be_bought)
        starts = self.web.fetched if endless else [start] if start is not None else []
        if not starts:
            return False
        self.trading = Trading(self.market, self.rng)
        options = self.options
        long = self.counts.sequences % options.long_interval == options.long_interval - 1
        self.auctions_left = 2 * self.difficulty.level + (options.long_offset if long else 0)
        self.stops_at_goal, self.met_goal = options.stop_at_goal and not long, False
        self.banned.clear()
        self.recent_sites.clear()
        for page in starts:
            self._traverse(page, ROOT)
        return True

    def _has_retraced(self, more: int = 0) -> bool:
        """Whether more than `retrace` + `more` sequences in a row needed no new page."""
        return self.idle > self.options.retrace + more

    def _is_over(self) -> bool:
        assert self.trading is not None
        self._refresh()
        if not self.trading.corona.pages:
            return True
        if self.options.sequences == "endless":
            return False
        if self.options.few_sites and is_stuck(self.recent_sites, self.options.few_sites):
            return True
        return self.auctions_left <= 0 or (self.met_goal and self.stops_at_goal)

    def _finish(self) -> None:
        """End the sequence: make open payments, set the next difficulty, handle deaths and births."""
        assert self.trading is not None
        for purchase in self.pending.values():
            self.trading.lost(purchase)
        self.pending.clear()
        self.trading.close()
        self.trading, self.market.on_change = None, None
        self.difficulty.most = farthest_start(self.web)
        self.difficulty.update(self.met_goal)
        if self.options.reset_interval and (self.counts.sequences + 1) % self.options.reset_interval == 0:
            self.difficulty.restart()
        self._update_population()

    def _update_population(self) -> None:
        """Count a sequence, collect taxes, remove losers and make children."""
        self.counts.sequences += 1
        market, corona = self.market, self.trading.corona if self.trading else None
        if not self.rules.adapt:
            return
        if self.counts.sequences % self.options.tax_interval == 0:
            market.tax(coins(self.options.tax * self.rules.reward))
        for number in market.losers():
            agent = market.bury(number)
            if corona is not None:
                corona.drop(number)
            self._emit("died", {"agent": number, "wealth": units(agent.wealth), "wins": agent.wins}, None)
        for number in market.rich():
            if len(market.agents) >= self.options.cap:
                break
            child = self.factory.child(market.agents[number])
            if child is not None:
                self._announce(child)
        self._spawn_from_root()

    def _spawn_from_root(self) -> None:
        """If the root is rich enough, it makes and endows an agent from a page near a goal, like any other agent."""
        market = self.market
        if market.root <= coins(self.rules.spawn * self.rules.reward) or len(market.agents) >= self.options.cap:
            return
        page = self.factory.any_page()
        if page is not None:
            self._new_agent(page, virtual=not self.options.fetch_all and market.births % 2 == 1)

    # ---- one auction

    def _auction(self) -> int | None:
        """Sell the right to choose. Returns the page whose content is needed next, if any."""
        trading = self.trading
        assert trading is not None
        self.auctions_left -= 1
        self.counts.auctions += 1
        if self.options.sequences == "endless" and self.counts.auctions % ROUND == 0:
            self._update_population()
        prospects = self._prospects()
        trading.first_bids(prospects)
        sale = trading.auction()
        if sale is not None:
            trading.refine(sale, prospects)
        if sale is None:
            waiting = list(trading.corona.pages)
            page = waiting[self.rng.randrange(len(waiting))]
            sale = trading.free_purchase(self._agent_for(page, virtual=not self._is_real(page)), page)
        winner = self.market.agents.get(sale.winner)
        if self._is_real(sale.page) and (winner is None or not winner.virtual):
            self._complete(sale, self.web.pages[sale.page].goal)
            return None
        sale.waiting = True
        trading.settle(sale, False)
        self._record_sale(sale)
        if self.web.pages[sale.page].state == FETCHED:
            self._resell(sale)
            return None
        self.pending[sale.page] = sale
        return sale.page

    def _resell(self, bought: Purchase) -> None:
        """Sell a page whose content has arrived to the highest real bidder, or give it to a new agent."""
        trading, page = self.trading, bought.page
        assert trading is not None
        goal, prospects = self.web.pages[page].goal, self._prospects()
        sale = trading.resale(page, prospects.real_bidders(page) or (), prospects)
        if sale is None:
            sale = trading.free_purchase(self._agent_for(page, virtual=False), page)
        trading.arrived(bought, sale.bid)
        self._complete(sale, goal, bought.winner)

    def _complete(self, sale: Purchase, goal: bool, payee: int | None = None) -> None:
        """Complete the sale of a page with known content: pay, count it, and put its links up for sale."""
        assert self.trading is not None
        self.trading.settle(sale, goal, payee)
        self._record_sale(sale)
        self.counts.selected.setdefault(sale.page, len(self.web.fetched))
        if goal:
            self.met_goal = True
            self.counts.recognised.setdefault(sale.page, len(self.web.fetched))
        if self.options.whole_site or (goal and self.options.blacklist_site_after_goal):
            self._ban(self.web.pages[sale.page].host)
        self._traverse(sale.page, sale.winner)
        self.recent_sites.append(self.web.pages[sale.page].host)
        if self.rules.links_valued:
            sale.links = self.trading.corona.links_value(self.web.pages[sale.page].links)

    def _traverse(self, page: int, owner: int) -> None:
        """Add a page to the traversed set and its links to the corona; with `fetch_all`, queue these for fetching."""
        trading = self.trading
        assert trading is not None
        trading.corona.leave(page)
        for link in trading.own(page, owner, self.web.pages[page].links):
            if not self._may_be_bought(link):
                continue
            if link not in trading.corona.pages:
                trading.corona.enter(link, self._bidders(link))
            if self.options.fetch_all and self._is_new(link):
                self.queue.append(link)

    def _ban(self, host: str) -> None:
        """Take all pages of a host off the market."""
        assert self.trading is not None
        self.banned.add(host)
        for page in [other for other in self.trading.corona.pages if self.web.pages[other].host == host]:
            self.trading.corona.leave(page)

    # ---- agents

    def _agent_for(self, page: int, virtual: bool) -> int:
        """Make an agent that matches the page; the root itself at the cap, or if the population is frozen."""
        if not self.rules.adapt or len(self.market.agents) >= self.options.cap:
            return ROOT
        agent = self._new_agent(page, virtual=virtual)
        return ROOT if agent is None else agent.number

    def _new_agent(self, page: int, *, virtual: bool, paid_by: int = ROOT) -> Agent | None:
        agent = self.factory.new_agent(page, virtual=virtual, paid_by=paid_by)
        if agent is not None:
            self._announce(agent)
        return agent

    def _announce(self, agent: Agent) -> None:
        """Record the birth of an agent, and let it bid on the pages for sale that it matches."""
        names = self.web.lexicon.names
        parent = None if agent.parent == ROOT else agent.parent
        facts = {"agent": agent.number, "parent": parent, "features": [names[feature] for feature in agent.features]}
        self._emit("born", facts, self.web.numbers.get(agent.source))
        if self.trading is not None:
            for page in self.web.pages_with(agent.features):
                if page in self.trading.corona.pages and (agent.virtual or self._is_real(page)):
                    self.trading.corona.join(agent, page)

    def _bidders(self, page: int) -> list[int]:
        """The agents that match a page and may bid on it: only virtual agents while its content is not on sale."""
        matching = self.factory.matches(page)
        if self._is_real(page):
            return matching
        return [number for number in matching if self.market.agents[number].virtual]

    def _refresh(self) -> None:
        """Update the bidders of pages whose features have changed."""
        if self.trading is not None:
            corona = self.trading.corona
            for page in sorted(self.web.changed & corona.pages.keys()):
                corona.enter(page, self._bidders(page))
        self.web.changed.clear()

    # ---- pages

    def _drop_unanswered(self) -> None:
        """Take pages off the market whose requests had no result and never will."""
        for page in self.fetching:
            if self.web.pages[page].state == REQUESTED and self.trading is not None:
                self.trading.corona.leave(page)
        self.fetching.clear()

    def _is_new(self, page: int) -> bool:
        return self.web.pages[page].state == NEW

    def _is_real(self, page: int) -> bool:
        """Whether its content is on the market: once fetched, unless each sequence forgets."""
        return self.web.pages[page].state == FETCHED and (self.options.fetch_all or not self.options.forget)

    def _prospects(self) -> KnownProspects:
        ends = self.stops_at_goal and self.options.sequences == "restarted"
        return KnownProspects(self.web, self.factory, self.banned, ends, not self.only_new)

    def _may_be_bought(self, page: int) -> bool:
        known_page = self.web.pages[page]
        if self.trading is not None and (page in self.trading.owners or known_page.host in self.banned):
            return False
        return known_page.state == NEW or (known_page.state == FETCHED and not self.only_new)

    def _request(self, page: int) -> int:
        self.web.pages[page].state = REQUESTED
        return page

    def _any_new_page(self) -> int | None:
        """A random page that has not been requested, if possible linked from a page that leads to a goal."""
        new = [
            link
            for page in self.web.fetched
            for link in self.web.pages[page].links
            if self._is_new(link) and self.web.pages[page].distance < FAR
        ] or [number for number, known_page in enumerate(self.web.pages) if known_page.state == NEW]
        return self._request(new[self.rng.randrange(len(new))]) if new else None

    def _record_sale(self, sale: Purchase) -> None:
        """Emit an event for the first sale of a page to a virtual agent, and for the first to a real agent."""
        known_page, kind = self.web.pages[sale.page], 1 if sale.waiting else 2
        if known_page.bought & kind:
            return
        known_page.bought |= kind
        facts = {"agent": sale.winner, "bid": units(sale.bid), "price": units(sale.price), "seller": sale.payee}
        self._emit("sold", facts | {"goal": sale.goal}, sale.page)
