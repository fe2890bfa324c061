"""Auctions of the Hayek economy: pages for sale, bids, and one sequence of sales (sheet 40.2, algorithms 1 and 5).

The corona stores the pages that each agent matches and keeps the bids in a heap. So the cost of an auction depends on
the number of agents whose wealth or bid has changed, not on the size of the population.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from heapq import heapify, heappop, heappush
from typing import Protocol
from weakref import ref

from scenthound.papers.hayek.market import ROOT, Agent, JointBid, Market, Purchase, best_group, coins, units

MOST_EXPLORED = 20  # maximum number of pages in an agent's mean payoff
_Entry = tuple[int, int, int]  # (-effective bid, -birth, agent): among equal bids, the youngest agent's is first


class PagesForSale:
    """The corona: pages for sale in the order in which they were found, with the agents that bid on them."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self.pages: dict[int, list[int]] = {}
        """For every page, the agents that match it."""
        self.matched: dict[int, dict[int, None]] = {}
        """For every agent that matches a page, the pages it matches."""
        self.explorers: set[int] = set()
        self._positions: dict[int, int] = {}  # of each page, in the order in which they were found
        self._found = 0
        self._unsorted: set[int] = set()  # agents that matched an earlier page after a later one
        self._heap: list[_Entry] = []
        self._bids: dict[int, int] = {}

    def enter(self, page: int, agents: Iterable[int]) -> None:
        """Offer a page for sale, or update which agents match it."""
        new = list(agents)
        old = self.pages.get(page)
        if old is not None:
            for number in set(old).difference(new):
                self._unmatch(number, page)
        else:
            self._found += 1
            self._positions[page] = self._found
        self.pages[page] = new
        for number in new:
            self._match(number, page)

    def choices(self, number: int) -> list[int]:
        """The pages that an agent matches, in the order in which they were found."""
        if number in self._unsorted:
            self._unsorted.remove(number)
            self.matched[number] = dict.fromkeys(sorted(self.matched[number], key=self._positions.__getitem__))
        return list(self.matched[number])

    def join(self, agent: Agent, page: int) -> None:
        """Record that a new agent matches a page, if it is for sale."""
        if page in self.pages and page not in self.matched.get(agent.number, ()):
            self.pages[page].append(agent.number)
            self._match(agent.number, page)

    def leave(self, page: int) -> None:
        """Remove a page from the market."""
        for number in self.pages.pop(page, ()):
            self._unmatch(number, page)
        self._positions.pop(page, None)

    def drop(self, number: int) -> None:
        """Remove an agent that has died."""
        for page in self.matched.pop(number, ()):
            self.pages[page].remove(number)
        self.explorers.discard(number)
        self._unsorted.discard(number)
        self._bids.pop(number, None)

    def changed(self, number: int) -> None:
        """Update the effective bid of an agent whose wealth or bid has changed."""
        if number in self.matched:
            self._update_bid(number)

    def first(self, accept: Callable[[int], bool] = lambda number: True) -> Agent | None:
        """The acceptable agent with the highest bid above 0. Costs one step per better bid that is not acceptable."""
        heap, skipped = self._heap, []
        best: Agent | None = None
        while heap:
            entry = heap[0]
            if self._bids.get(entry[2]) != -entry[0]:
                heappop(heap)
                continue
            if accept(entry[2]):
                best = self.market.agents[entry[2]]
                break
            skipped.append(heappop(heap))
        for entry in skipped:
            heappush(heap, entry)
        return best

    def highest(self, accept: Callable[[int], bool] = lambda number: True) -> int:
        """The highest effective bid; 0 if there is none."""
        agent = self.first(accept)
        return 0 if agent is None else self._bids[agent.number]

    def highest_without(self, page: int, accept: Callable[[int], bool] = lambda number: True) -> int:
        """The highest acceptable bid if this page were not for sale."""
        return self.highest(
            lambda number: accept(number) and len(self.matched[number]) > (page in self.matched[number])
        )

    def best_group(self, most: int) -> JointBid | None:
        """The highest joint bid of agents that match the same page."""
        return best_group(self.pages, self._bids, most)

    def links_value(self, links: Iterable[int]) -> int:
        """The sum of the highest bid on each of these pages, except the highest of all.

        The highest is left out because it is the bid for which the right to choose is sold.
        """
        bids = [max((self._bids.get(number, 0) for number in self.pages.get(link, ())), default=0) for link in links]
        return sum(bids) - max(bids, default=0)

    def tied(self, bid: int) -> list[int]:
        """The agents with this effective bid, oldest first."""
        return sorted(number for number, effective in self._bids.items() if effective == bid)

    def _match(self, number: int, page: int) -> None:
        matched = self.matched.get(number)
        if matched is not None:
            if page not in matched:
                if self._positions[next(reversed(matched))] > self._positions[page]:
                    self._unsorted.add(number)
                matched[page] = None
            return
        self.matched[number] = {page: None}
        if self.market.agents[number].bid is None:
            self.explorers.add(number)
        else:
            self._update_bid(number)

    def _unmatch(self, number: int, page: int) -> None:
        matched = self.matched.get(number)
        if matched is None or page not in matched:
            return
        del matched[page]
        if not matched:
            del self.matched[number]
            self._unsorted.discard(number)
            self._bids.pop(number, None)
            self.explorers.discard(number)

    def _update_bid(self, number: int) -> None:
        agent = self.market.agents[number]
        if agent.bid is not None:
            self.explorers.discard(number)
        effective = self.market.effective(agent)
        if self._bids.get(number) == effective:
            return
        if effective <= 0:
            self._bids.pop(number, None)
            return
        self._bids[number] = effective
        heappush(self._heap, (-effective, -number, number))
        if len(self._heap) > 64 + 4 * len(self._bids):  # most entries are outdated
            self._heap = [(-bid, -bidder, bidder) for bidder, bid in self._bids.items()]
            heapify(self._heap)


class Prospects(Protocol):
    """Knowledge that an exploratory auction may use about a page that is, or would be, for sale."""

    def is_goal(self, page: int) -> bool:
        """Whether its content is known and it is a goal."""

    def links(self, page: int) -> Iterable[int]:
        """The pages that would be for sale too if this page were bought; none if its content is not known."""

    def real_bidders(self, page: int) -> Iterable[int] | None:
        """The real agents that match it; None if its content is not known."""

    @property
    def ends_at_goal(self) -> bool:
        """Whether the sequence ends when a goal is bought, so that the right to choose is not resold."""


class Trading:
    """One sequence: the traversed pages with their owners, the pages for sale, and the right to choose.

    Without `rng`, every draw takes the first item, as in the worked example of the sheet.
    """

    def __init__(self, market: Market, rng: random.Random | None = None) -> None:
        self.market, self.rng = market, rng
        self.corona = PagesForSale(market)
        self.owners: dict[int, int] = {}
        """The traversed set: the owner of each page."""
        self.linkers: dict[int, list[int]] = {}
        """For each page, the traversed pages that link to it."""
        self.holder = ROOT
        """The owner of the right to choose: the previous winner."""
        self.winners: list[int] = []
        """Distinct earlier winners, latest last."""
        self.open_purchase: Purchase | None = None
        """The purchase that is valued when the next winner is known."""
        self.deferred: list[tuple[str, Purchase, int]] = []
        """Payments and valuations that are due after the sequence."""
        corona_ref = ref(self.corona)  # a strong reference would be a cycle that keeps the whole web in memory

        def changed(number: int) -> None:
            if (corona := corona_ref()) is not None:
                corona.changed(number)

        market.on_change = changed

    # ---- bids

    def first_bids(self, prospects: Prospects) -> None:
        """Set the first bids of explorers that match a page for sale, oldest first.

        An explorer whose pages all seem worthless makes no bid and tries again in the next auction.
        """
        corona, rules = self.corona, self.market.rules
        explorers = sorted(corona.explorers)
        if self.market.price == "first":
            for number in explorers:
                bid = units(corona.highest()) + rules.epsilon * rules.reward
                self.market.set_first_bid(self.market.agents[number], bid)
            return
        bids = [self._mean_payoff(number, prospects) for number in explorers]
        for number, bid in zip(explorers, bids, strict=True):
            if bid > 0.0:
                self.market.set_first_bid(self.market.agents[number], bid)

    def payoff(self, page: int, prospects: Prospects) -> float:
        """The expected payoff of buying a page: its reward, plus the price of the right to choose afterwards.

        The exploratory auction of algorithm 5, lines 11 to 14: the page leaves the corona, its links join it, and real
        agents bid; then everything is undone.
        """
        is_goal = prospects.is_goal(page)
        reward = self.market.rules.reward if is_goal else 0.0
        if is_goal and prospects.ends_at_goal:
            return reward
        agents = self.market.agents
        rest = self.corona.highest_without(page, lambda number: not agents[number].virtual)
        links = [self._best_real_bid(link, prospects) for link in prospects.links(page) if link not in self.owners]
        sale = max(rest, *links, 0)
        later = sum(links) - (sale if sale > rest else 0)  # the best of these bids is the sale itself
        return reward + units(sale) + self.market.rules.links_worth * units(later)

    def _best_real_bid(self, page: int, prospects: Prospects) -> int:
        bidders = prospects.real_bidders(page) or ()
        return max((self.market.effective(self.market.agents[number]) for number in bidders), default=0)

    def resale_value(self, page: int, prospects: Prospects) -> float:
        """The price of a page that a virtual agent resells: the best real bid, or the best bid on others if unknown."""
        if prospects.real_bidders(page) is None:
            return units(self.corona.highest_without(page))
        return units(self._best_real_bid(page, prospects))

    def _mean_payoff(self, number: int, prospects: Prospects) -> float:
        """The mean payoff of the first `MOST_EXPLORED` pages that an agent matches."""
        value = self.resale_value if self.market.agents[number].virtual else self.payoff
        payoffs = [value(page, prospects) for page in self.corona.choices(number)[:MOST_EXPLORED]]
        return sum(payoffs) / len(payoffs)

    def refine(self, sale: Purchase, prospects: Prospects) -> None:
        """Algorithm 5, line 27: other agents with the winner's bid learn from their mean payoffs. No money moves."""
        if self.market.price == "second":
            for number in self.corona.tied(sale.bid):
                if number != sale.winner:
                    self.market.learn(self.market.agents[number], self._mean_payoff(number, prospects))

    # ---- sales

    def auction(self) -> Purchase | None:
        """Find the highest bidder and draw its page; None if there is no bid above 0. Nothing is paid yet."""
        if self.market.rules.cooperation > 1:
            return self._joint_auction()
        winner = self.corona.first()
        if winner is None:
            return None
        bid = self.corona.highest()
        price = bid
        if self.market.price == "second":
            price = self.corona.highest(lambda number: number != winner.number)
        page = self._draw(self.corona.choices(winner.number))
        return self._sale(winner.number, page, bid, price)

    def _joint_auction(self) -> Purchase | None:
        """An auction in which agents that match the same page bid together."""
        group = self.corona.best_group(self.market.rules.cooperation)
        if group is None:
            return None
        members, price = {group.leader, *(partner for partner, _ in group.partners)}, group.bid
        if self.market.price == "second":
            price = min(price, self.corona.highest(lambda number: number not in members))
        sale = self._sale(group.leader, group.page, group.bid, price)
        sale.partners = group.partners
        return sale

    def resale(self, page: int, bidders: Iterable[int], prospects: Prospects) -> Purchase | None:
        """Sell a page whose content has arrived among the real agents that match it; None if there is no bid."""
        market, rules = self.market, self.market.rules
        agents = [market.agents[number] for number in sorted(bidders)]
        for agent in agents:
            if agent.bid is None:
                if market.price == "first":
                    first = units(max(market.effective(other) for other in agents)) + rules.epsilon * rules.reward
                else:
                    first = self.payoff(page, prospects)
                if first > 0.0:
                    market.set_first_bid(agent, first)
        ranked = sorted(((market.effective(agent), agent.number) for agent in agents), reverse=True)
        if not ranked or ranked[0][0] <= 0:
            return None
        bid, number = ranked[0]
        second = ranked[1][0] if len(ranked) > 1 else 0
        return self._sale(number, page, bid, bid if market.price == "first" else second)

    def free_purchase(self, number: int, page: int) -> Purchase:
        """The purchase of a page without bids, for free, by a new agent or the root."""
        return self._sale(number, page, 0, 0)

    def settle(self, purchase: Purchase, goal: bool, payee: int | None = None) -> None:
        """Complete a sale: the page leaves the corona, the last purchase is valued, and payments are made.

        `payee` is the virtual agent that bought the page unseen; otherwise the previous winner is paid.
        """
        winner = purchase.winner
        purchase.payee = self.holder if payee is None else payee
        if purchase.payee == winner:
            purchase.price = 0
        if self.open_purchase is not None and purchase.payee == self.open_purchase.winner:
            purchase.sellers = self.open_purchase.partners
        purchase.goal = goal
        purchase.line = tuple(earlier for earlier in reversed(self.winners) if earlier != winner)[
            : self.market.rules.chain
        ]
        if goal:
            owners = [self.owners[page] for page in self.linkers.get(purchase.page, ())]
            purchase.linker = self._draw(owners) if owners else None
        if self.open_purchase is not None and not self.open_purchase.waiting:
            self._pay_or_value("value", self.open_purchase, purchase.bid)
        elif self.open_purchase is not None:
            self.open_purchase.resold = purchase.bid
        agent = self.market.agents.get(winner)
        if agent is not None:
            agent.wins += 1
            if self.market.rules.pay == "afterwards":
                agent.promised += purchase.price
                self.corona.changed(winner)
            if winner in self.winners:
                self.winners.remove(winner)
            self.winners.append(winner)
            del self.winners[: -(self.market.rules.chain + 1)]  # one more, since the next winner may be among them
        self.corona.leave(purchase.page)
        self.holder, self.open_purchase = winner, purchase
        self._pay_or_value("pay", purchase, 0)

    def arrived(self, purchase: Purchase, bid: int) -> None:
        """Value a virtual agent's purchase whose page has arrived and was resold for this bid."""
        purchase.waiting = False
        self._pay_or_value("value", purchase, bid)
        if self.open_purchase is purchase:
            self.open_purchase = None

    def lost(self, purchase: Purchase) -> None:
        """Value a virtual agent's purchase whose page never arrived, from the resale of the right, if there was one."""
        purchase.waiting = False
        if self.open_purchase is not purchase:
            self._pay_or_value("value", purchase, purchase.resold or 0)

    def close(self) -> None:
        """End the sequence: the last purchase resells for nothing, and deferred payments are made."""
        if self.open_purchase is not None:
            self._pay_or_value("value", self.open_purchase, 0)
            self.open_purchase = None
        market = self.market
        for _, purchase, _ in self.deferred:
            if purchase.winner in market.agents:
                market.agents[purchase.winner].promised = 0
        for action, purchase, bid in self.deferred:
            if action == "pay":
                market.pay(purchase)
            else:
                market.value(purchase, bid)
        self.deferred.clear()

    # ---- pages

    def own(self, page: int, owner: int, links: Iterable[int]) -> list[int]:
        """Add a page to the traversed set. Returns its links to pages outside, which will be for sale."""
        self.owners[page] = owner
        outside = []
        for link in links:
            if link not in self.owners:
                self.linkers.setdefault(link, []).append(page)
                outside.append(link)
        return outside

    def _sale(self, winner: int, page: int, bid: int, price: int) -> Purchase:
        return Purchase(winner, page, bid, price, self.holder)

    def _pay_or_value(self, action: str, purchase: Purchase, bid: int) -> None:
        """Pay or value a purchase: now, or after the sequence."""
        if self.market.rules.pay == "afterwards":
            self.deferred.append((action, purchase, bid))
        elif action == "pay":
            self.market.pay(purchase)
        else:
            self.market.value(purchase, bid)

    def _draw(self, choices: list[int]) -> int:
        return choices[0] if self.rng is None or len(choices) == 1 else choices[self.rng.randrange(len(choices))]


__all__ = ["PagesForSale", "Trading", "coins"]
