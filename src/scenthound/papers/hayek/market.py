"""Agents, money and bids of the Hayek economy (sheet 40.2). Pages are numbers here.

    Σ wealth + root's wealth = brought in + rewards - taxes - wealth of removed agents     always

Money is counted in whole coins, a billion to the unit, so that rounding can neither create nor lose any: a payment
takes the same whole number from one agent and gives it to another. Bids and reward factors are estimates, not money,
and are plain floats.

The root agent is the bank. It endows the agents it makes, so its wealth may be negative; money paid to it leaves
circulation.

Cooperative bids ([ECON], section 4): agents that match the same page bid for it together and share its value.

    bid(page)  = b1 + b2 / 2 + b3 / 4 + …      the highest effective bids on the page, at most `cooperation` of them
    share(i)   = (b_i / 2^(i-1)) / bid(page)

The highest bidder leads: it is the owner, and appears in the ledger. Its partners pay their share of the price, and get
their share of the reward after kickbacks and of the price at which the right to choose is resold.

Ours: [ECON] cites Fagin and Wimmers (2000) for the weights. Halving them lets a second opinion raise a bid, but never
lets many low bids beat one that is twice as high. The price is the highest bid of an agent outside the group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from scenthound.errors import BadConfig
from scenthound.parameters import Parameterised, parameter

Partners = tuple[tuple[int, float], ...]
"""The agents that bid with the leader, and the share of each."""


class JointBid(NamedTuple):
    """The bid of a group on a page, in coins."""

    bid: int
    leader: int
    page: int
    partners: Partners


def joint_bid(page: int, bids: Iterable[tuple[int, int]], most: int) -> JointBid | None:
    """The bid of the best group on a page, from pairs of an effective bid and an agent; None if there are no bids.

    >>> joint_bid(7, [(40, 1), (100, 2), (60, 3)], most=2)
    JointBid(bid=130, leader=2, page=7, partners=((3, 0.23076923076923078),))
    """
    ranked = sorted((bid for bid in bids if bid[0] > 0), reverse=True)[:most]
    parts = [bid / 2**rank for rank, (bid, _) in enumerate(ranked)]
    total = sum(parts)
    if not total:
        return None
    partners = tuple((agent, part / total) for part, (_, agent) in zip(parts[1:], ranked[1:], strict=True))
    return JointBid(round(total), ranked[0][1], page, partners)


def best_group(pages: Mapping[int, Iterable[int]], bids: Mapping[int, int], most: int) -> JointBid | None:
    """The highest joint bid on any page; among equal bids, that of the youngest leader."""
    groups = (
        joint_bid(page, ((bids.get(agent, 0), agent) for agent in agents), most) for page, agents in pages.items()
    )
    return max((group for group in groups if group is not None), key=lambda group: group[:2], default=None)


COIN = 10**9
ROOT, WORLD = -1, -2
"""Payers and payees that are not agents."""
HIGHEST_BID = 1e9

Pricing = Literal["first", "second"]
Payment = Literal["immediate", "afterwards"]


def coins(units: float) -> int:
    return round(units * COIN)


def units(coins: int) -> float:
    return coins / COIN


@dataclass
class MarketRules(Parameterised):
    """The constants of a market."""

    pay: Payment = parameter("immediate", "when payments are made: immediate, or after the sequence (afterwards)")
    reward: float = parameter(100.0, "the reward for a goal", above=0, most=1e6)
    p: float = parameter(0.05, "share of the profit that goes to the parents", least=0, most=1)
    q: float = parameter(0.2, "share of the reward that goes to earlier winners", least=0, most=1)
    s: float = parameter(0.1, "share of the reward that goes to the owner of a page with the link", least=0, most=1)
    rate: float = parameter(0.1, "learning rate of the estimates (bid-estimating)", above=0, most=1)
    epsilon: float = parameter(
        0.01, "how much a new agent bids above the best bid, in rewards (bid-epsilon)", above=0, most=1
    )
    capital: float = parameter(1.0, "start capital of an agent, in rewards", above=0, most=1000)
    spawn: float = parameter(10.0, "wealth above which an agent has a child, in rewards", above=0)
    discount: float = parameter(
        0.02, "share by which experienced agents lower their bids (bid-estimating)", least=0, most=1
    )
    discount_wins: int = parameter(50, "wins that make an agent experienced (bid-estimating)", least=1)
    chain: int = parameter(3, "how many earlier winners or parents share in a kickback", least=1, most=100)
    links_worth: float = parameter(
        0.0, "share of the bids on a page's other links in its estimated value (bid-estimating)", least=0
    )
    links_valued: float = parameter(
        0.0, "share of the best bids on a page's links in the value of its purchase (bid-estimating)", least=0
    )
    cooperation: int = parameter(1, "how many agents may bid for a page together", least=1, most=10)
    adapt: bool = parameter(True, "false: freeze the population")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p + self.q + self.s > 1.0:
            raise BadConfig(
                f"p + q + s = {self.p + self.q + self.s:g}: more than the whole reward would be passed on",
                "lower one of them, so that their sum is at most 1",
            )
        if self.cooperation > 1 and self.pay == "afterwards":
            raise BadConfig("agents that bid together pay at once", "choose pay=immediate, or cooperation=1")


@dataclass(slots=True)
class Agent:
    """An agent, which bids on every page that has all its features."""

    number: int
    """Birth number: the higher, the younger."""
    features: tuple[int, ...]
    virtual: bool
    """Whether unfetched pages can have all its features."""
    wealth: int
    capital: int
    bid: float | None = None
    """None: an explorer, which makes its first bid when a page that it matches is for sale."""
    factor: float = 0.0
    wins: int = 0
    parent: int = ROOT
    children: int = 0
    source: str = ""
    """The URL of the page from which its words were drawn."""
    promised: int = 0
    """Debt for purchases that are paid after the sequence."""


class Transfer(NamedTuple):
    """A line of the ledger; first bids are reported in the same way."""

    kind: str
    payer: int
    payee: int
    coins: int


@dataclass(slots=True)
class Purchase:
    """A purchased page, with all facts needed for its payments and valuation."""

    winner: int
    page: int
    bid: int
    """The effective bid."""
    price: int
    payee: int
    goal: bool = False
    line: tuple[int, ...] = ()
    """Earlier winners, latest first, each once, without the winner."""
    linker: int | None = None
    """The owner of a page that links to this one."""
    resold: int | None = None
    """The bid of the next winner, once it is known."""
    kickbacks: int = 0
    profit: int = 0
    waiting: bool = False
    """Whether its page is in flight; the purchase is valued when the page is resold."""
    links: int = 0
    """The sum of the best bids on the new links of the page, without the highest."""
    partners: Partners = ()
    """Agents that bid with the winner, and their shares."""
    sellers: Partners = ()
    """Partners of the payee, which share the price."""


@dataclass
class Market:
    """A population and its money. `price="first"` is bid-epsilon, `"second"` bid-estimating.

    `ledger` is called with every transfer, `on_change` with each agent whose wealth or bid changed.
    """

    rules: MarketRules = field(default_factory=MarketRules)
    ledger: Callable[[Transfer], None] | None = None
    on_change: Callable[[int], None] | None = None
    price: Pricing = "second"

    def __post_init__(self) -> None:
        self.agents: dict[int, Agent] = {}
        self.root = self.brought_in = self.rewards = self.taxes = self.buried = 0
        self.births = 0
        self.index: dict[int, list[int]] = {}
        """Agents by their rarest feature, so that a page is tested only against agents whose rarest feature it has."""
        self.rarity: Callable[[int], float] = lambda feature: 0.0
        self.keyed = np.zeros(1024, dtype=np.bool_)
        """Whether each feature is in the index. The last entry is False and stands for all later features."""
        self._keys: dict[int, int] = {}

    # ---- births and deaths

    def admit(
        self,
        features: Iterable[int],
        *,
        virtual: bool = False,
        capital: int | None = None,
        parent: int = ROOT,
        paid_by: int = ROOT,
        source: str = "",
    ) -> Agent:
        """Add a new agent, an explorer. Its start capital comes from `paid_by` (WORLD: brought in)."""
        capital = coins(self.rules.capital * self.rules.reward) if capital is None else capital
        if capital < 0:
            raise BadConfig("the start capital of an agent can't be negative", "give it a start capital of 0 or more")
        self.births += 1
        agent = Agent(
            self.births, tuple(dict.fromkeys(features)), virtual, capital, capital, parent=parent, source=source
        )
        if not agent.features:
            raise ValueError("an agent needs at least one feature")
        if paid_by == WORLD:
            self.brought_in += capital
        elif paid_by == ROOT:
            self.root -= capital
        else:
            self.agents[paid_by].wealth -= capital
            self._changed(paid_by)
        self.enlist(agent)
        return agent

    def enlist(self, agent: Agent) -> None:
        """Add an existing agent to the population and the index."""
        self.agents[agent.number] = agent
        if agent.parent in self.agents:
            self.agents[agent.parent].children += 1
        key = min(agent.features, key=lambda feature: (self.rarity(feature), feature))
        self._keys[agent.number] = key
        self.index.setdefault(key, []).append(agent.number)
        if key >= len(self.keyed) - 1:
            self.keyed = np.concatenate([self.keyed, np.zeros(key + 2, dtype=np.bool_)])
        self.keyed[key] = True

    def bury(self, number: int) -> Agent:
        """Remove an agent; its wealth leaves the economy."""
        agent = self.agents.pop(number)
        self.buried += agent.wealth
        if agent.parent in self.agents:
            self.agents[agent.parent].children -= 1
        key = self._keys.pop(number)
        keyed = self.index[key]
        keyed.remove(number)
        if not keyed:
            del self.index[key]
            self.keyed[key] = False
        return agent

    def losers(self) -> list[int]:
        """Agents with less than their start capital and no living child."""
        return [agent.number for agent in self.agents.values() if agent.wealth < agent.capital and not agent.children]

    def rich(self) -> list[int]:
        """Agents rich enough to have a child."""
        limit = coins(self.rules.spawn * self.rules.reward)
        return [agent.number for agent in self.agents.values() if agent.wealth > limit]

    def tax(self, amount: int) -> None:
        """Take the tax from every agent, or all its wealth if that is less."""
        for agent in self.agents.values():
            taken = min(amount, agent.wealth)
            agent.wealth -= taken
            self.taxes += taken
            self._changed(agent.number)

    def balance(self) -> int:
        """The money in circulation minus the money that should be there: always 0."""
        wealth = sum(agent.wealth for agent in self.agents.values()) + self.root
        return wealth - (self.brought_in + self.rewards - self.taxes - self.buried)

    # ---- bids

    def matching(self, features: set[int]) -> list[int]:
        """The agents whose features are all in this set. Tests only agents indexed by one of the features."""
        return self.agents_among(features & self.index.keys(), features.__contains__)

    def agents_among(self, keys: Iterable[int], has: Callable[[int], bool]) -> list[int]:
        """The agents indexed by one of `keys` for which `has` is true of every feature."""
        indexed = (number for feature in keys for number in self.index[feature])
        return sorted(number for number in indexed if all(map(has, self.agents[number].features)))

    def effective(self, agent: Agent) -> int:
        """The effective bid of an agent: min(bid, wealth), in coins."""
        if agent.bid is None:
            return 0
        return max(0, min(coins(min(agent.bid, HIGHEST_BID)), agent.wealth - agent.promised))

    def set_first_bid(self, agent: Agent, bid: float) -> None:
        agent.bid = agent.factor = bid
        if self.ledger is not None:
            self.ledger(Transfer("first bid", agent.number, ROOT, coins(bid)))
        self._changed(agent.number)

    # ---- payments

    def pay(self, purchase: Purchase) -> None:
        """Pay the price, reward and kickbacks of a purchase, in algorithm 6's order. Records kickbacks and profit."""
        rules, winner = self.rules, purchase.winner
        if winner != purchase.payee:
            self._divide(purchase.partners, winner, -purchase.price)
            self.transfer("price", winner, purchase.payee, purchase.price)
            self._divide(purchase.sellers, purchase.payee, purchase.price)
        reward = 0
        if purchase.goal:
            reward = coins(rules.reward)
            self.transfer("reward", WORLD, winner, reward)
            if purchase.line:
                purchase.kickbacks += self._pass_on("Q", winner, coins(rules.q * rules.reward), rules.q, purchase.line)
            if purchase.linker is not None and purchase.linker != winner:
                purchase.kickbacks += self._pass_on("S", winner, coins(rules.s * rules.reward), 0.0, [purchase.linker])
            self._divide(purchase.partners, winner, reward - purchase.kickbacks)
        purchase.profit = reward - purchase.kickbacks - purchase.price
        if purchase.profit > 0 and winner in self.agents:
            share = round(rules.p * purchase.profit)
            self._pass_on("P", winner, share, rules.p, list(self.parents(winner)))

    def value(self, purchase: Purchase, next_bid: int) -> None:
        """Value a purchase, and move its winner's reward factor towards the valuation (bid-estimating only).

        The valuation uses the next winner's bid, the profit the price that was really paid. If the agent has no bid
        yet, because it got its page for free, a positive valuation becomes its first bid.
        """
        agent = self.agents.get(purchase.winner)
        if agent is None:
            return
        reward = self.rules.reward if purchase.goal else 0.0
        value = reward - units(purchase.kickbacks) + units(next_bid) + self.rules.links_valued * units(purchase.links)
        if agent.bid is not None:
            self.learn(agent, value)
        elif value > 0.0 and self.rules.adapt and self.price == "second":
            self.set_first_bid(agent, value)

    def learn(self, agent: Agent, value: float) -> None:
        """Move an agent's reward factor, and with it its bid, towards a value (bid-estimating only)."""
        if self._is_learning(agent):
            agent.factor += self.rules.rate * (value - agent.factor)
            self._rebid(agent)

    def _divide(self, partners: Partners, leader: int, amount: int) -> None:
        """Pay partners of a cooperative bid their share of the leader's income, or take it if it is negative."""
        for partner, share in partners:
            part = round(share * abs(amount))
            payer, payee = (leader, partner) if amount > 0 else (partner, leader)
            self.transfer("share", payer, payee, part)

    def transfer(self, kind: str, payer: int, payee: int, amount: int) -> None:
        """Move coins. The root replaces an agent that has died."""
        if payer == WORLD:
            self.rewards += amount
        else:
            self._add(payer, -amount)
        self._add(payee, amount)
        if self.ledger is not None:
            self.ledger(Transfer(kind, payer, payee, amount))

    def parents(self, number: int) -> Iterator[int]:
        """The living ancestors of an agent, nearest first, up to the number that receive kickbacks."""
        agent = self.agents.get(number)
        for _ in range(self.rules.chain):
            if agent is None or agent.parent not in self.agents:
                return
            yield agent.parent
            agent = self.agents[agent.parent]

    def _pass_on(self, kind: str, payer: int, total: int, ratio: float, line: Sequence[int]) -> int:
        """Pay a truncated geometric series: each agent keeps its part and passes the rest on. Returns the sum paid."""
        if total <= 0 or not line:
            return 0
        for payee, part in zip(line, series(total, ratio, min(len(line), self.rules.chain)), strict=False):
            self.transfer(kind, payer, payee, part)
            agent = self.agents.get(payee)
            if agent is not None and self._is_learning(agent):
                agent.factor += self.rules.rate * units(part)
                self._rebid(agent)
        return total

    def _is_learning(self, agent: Agent) -> bool:
        return self.rules.adapt and self.price == "second" and agent.bid is not None

    def _rebid(self, agent: Agent) -> None:
        """Set the bid to the factor, less up to 2% for experienced agents, so that equally good new agents can win."""
        rules = self.rules
        agent.factor = min(agent.factor, HIGHEST_BID)
        agent.bid = agent.factor * (1.0 - rules.discount * min(1.0, agent.wins / rules.discount_wins))
        self._changed(agent.number)

    def _add(self, number: int, amount: int) -> None:
        agent = self.agents.get(number)
        if agent is None:
            self.root += amount
        else:
            agent.wealth += amount
            self._changed(number)

    def _changed(self, number: int) -> None:
        if self.on_change is not None:
            self.on_change(number)


def series(total: int, ratio: float, length: int) -> list[int]:
    """Split a sum: each agent keeps (1 - ratio) of what it receives and passes the rest on; the last keeps all.

    >>> series(1000, 0.2, 3)
    [800, 160, 40]
    """
    parts: list[int] = []
    left = total
    for _ in range(length - 1):
        passed = round(left * ratio)
        parts.append(left - passed)
        left = passed
    return [*parts, left] if length else []
