"""Agents, money and bids of the Hayek economy (sheet 40.2). Pages are numbers here.

    Σ purses + root's purse = brought in + rewards - taxes - purses of the removed     always

Money is counted in whole coins, a billion to the unit, so that none can appear or be lost by rounding: whatever is paid
is taken from one purse and put into another as the same whole number. Bids and reward factors are estimates, not money,
and are plain floats.

The root agent is the bank. It endows the agents it makes, so its purse may be below zero; what is paid to it leaves
circulation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import numpy as np

from scenthound.errors import BadConfig
from scenthound.strategies.hayek.cooperation import Partners

COIN = 10**9
ROOT, WORLD = -1, -2
"""Who pays or is paid without being an agent."""
HIGHEST_BID = 1e9

Pricing = Literal["first", "second"]
Payment = Literal["immediate", "afterwards"]


def coins(units: float) -> int:
    return round(units * COIN)


def units(coins: int) -> float:
    return coins / COIN


@dataclass(frozen=True, slots=True)
class MarketRules:
    """What does not change while an economy runs. `price="first"` is bid-epsilon, `"second"` bid-estimating."""

    price: Pricing = "second"
    reward: float = 100.0
    p: float = 0.05
    q: float = 0.2
    s: float = 0.1
    rate: float = 0.1
    """λ: how fast a reward factor follows what purchases turned out to be worth."""
    epsilon: float = 0.01
    discount: float = 0.02
    discount_wins: int = 50
    chain: int = 3
    """How deep kickbacks are passed on."""
    capital: float = 1.0
    """What an agent starts with, in rewards."""
    spawn: float = 10.0
    """The wealth above which an agent has a child, in rewards."""
    links_worth: float = 0.0
    """The share of what a page's other links would sell for that counts in an exploratory auction."""
    links_valued: float = 0.0
    """The share of the best bids on a page's new links, all but the highest, in the valuation of its purchase."""
    cooperation: int = 1
    """How many agents may bid for a page together."""
    pay: Payment = "immediate"
    adapt: bool = True
    """False: bids stay as they are."""

    def __post_init__(self) -> None:
        if self.p + self.q + self.s > 1.0:
            raise BadConfig(
                f"p + q + s = {self.p + self.q + self.s:g}: more than the whole reward would be passed on",
                "lower one of them, so that they sum to 1 at most",
            )
        if not 0.0 < self.epsilon <= self.reward:
            raise BadConfig(f"`epsilon` can't be {self.epsilon!r}", "give a number above 0, at most the reward")


@dataclass(slots=True)
class Agent:
    """Bids on every page that has all its features."""

    number: int
    """Its birth number: the higher, the younger."""
    features: tuple[int, ...]
    virtual: bool
    """It needs nothing that only a fetched page has."""
    wealth: int
    capital: int
    bid: float | None = None
    """None: an explorer, whose first bid is made when it first meets a page of its own."""
    factor: float = 0.0
    wins: int = 0
    parent: int = ROOT
    children: int = 0
    source: str = ""
    """The page its words were drawn from."""
    promised: int = 0
    """What it owes for purchases that are paid after the sequence."""


class Transfer(NamedTuple):
    """A line of the ledger; a first bid is reported in the same way."""

    kind: str
    payer: int
    payee: int
    coins: int


@dataclass(slots=True)
class Purchase:
    """A page bought: all that payments and valuation need, whenever they are made."""

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
    """Its page is in flight: it will be valued when it is resold."""
    links: int = 0
    """The sum of the best bids on the new links of the page, without the highest."""
    partners: Partners = ()
    """Agents that bid with the winner, and their shares."""
    sellers: Partners = ()
    """Partners of the payee, who share the price."""


@dataclass
class Market:
    """A population and its money.

    `ledger` receives every transfer; `on_change` each agent whose wealth or bid changed.
    """

    rules: MarketRules = field(default_factory=MarketRules)
    ledger: Callable[[Transfer], None] | None = None
    on_change: Callable[[int], None] | None = None

    def __post_init__(self) -> None:
        self.agents: dict[int, Agent] = {}
        self.root = self.brought_in = self.rewards = self.taxes = self.buried = 0
        self.births = 0
        self.index: dict[int, list[int]] = {}
        """Agents by their rarest feature: only these are tested when a page has it."""
        self.rarity: Callable[[int], float] = lambda feature: 0.0
        self.keyed = np.zeros(1024, dtype=np.bool_)
        """Whether a feature is in the index; beyond the end, as the last."""
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
        """A new agent, an explorer. Its start capital comes from `paid_by` (WORLD: brought in)."""
        capital = coins(self.rules.capital * self.rules.reward) if capital is None else capital
        if capital < 0:
            raise BadConfig("an agent can't start with less than nothing", "give it a start capital of 0 or more")
        self.births += 1
        agent = Agent(
            self.births, tuple(dict.fromkeys(features)), virtual, capital, capital, parent=parent, source=source
        )
        if not agent.features:
            raise ValueError("an agent needs a feature to know its pages by")
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
        """Take an agent into the population as it is."""
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
        """An agent dies; its wealth leaves the economy."""
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
        """Agents that have less than their start capital and no living child."""
        return [agent.number for agent in self.agents.values() if agent.wealth < agent.capital and not agent.children]

    def rich(self) -> list[int]:
        """Agents that may have a child."""
        limit = coins(self.rules.spawn * self.rules.reward)
        return [agent.number for agent in self.agents.values() if agent.wealth > limit]

    def tax(self, amount: int) -> None:
        """Every agent pays the tax, or all it has."""
        for agent in self.agents.values():
            taken = min(amount, agent.wealth)
            agent.wealth -= taken
            self.taxes += taken
            self._changed(agent.number)

    def balance(self) -> int:
        """The money there is minus the money there should be: always 0."""
        there = sum(agent.wealth for agent in self.agents.values()) + self.root
        return there - (self.brought_in + self.rewards - self.taxes - self.buried)

    # ---- who bids

    def matching(self, features: set[int]) -> list[int]:
        """The agents whose features are all there. Costs a look at each feature and at the agents keyed by it."""
        return self.among(features & self.index.keys(), features.__contains__)

    def among(self, keys: Iterable[int], has: Callable[[int], bool]) -> list[int]:
        """`matching`, where it is known which features of the index are there."""
        asked = (number for feature in keys for number in self.index[feature])
        return sorted(number for number in asked if all(map(has, self.agents[number].features)))

    def effective(self, agent: Agent) -> int:
        """What an agent really bids: no more than it has."""
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
        """Price, reward and kickbacks of one purchase, in the order of algorithm 6. Fills in what they came to."""
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
        """What a purchase turned out to be worth moves its winner's reward factor (bid-estimating only).

        Valuation is money that should have been paid (the next winner's bid), profit money that was (its price).
        The first purchase of an agent that was given its page is its first bid, if it was worth anything.
        """
        agent = self.agents.get(purchase.winner)
        if agent is None:
            return
        reward = self.rules.reward if purchase.goal else 0.0
        worth = reward - units(purchase.kickbacks) + units(next_bid) + self.rules.links_valued * units(purchase.links)
        if agent.bid is not None:
            self.learn(agent, worth)
        elif worth > 0.0 and self.rules.adapt and self.rules.price == "second":
            self.set_first_bid(agent, worth)

    def learn(self, agent: Agent, worth: float) -> None:
        """Move an agent's reward factor, and with it its bid, towards what a page is worth (bid-estimating only)."""
        if self._is_learning(agent):
            agent.factor += self.rules.rate * (worth - agent.factor)
            self._rebid(agent)

    def _divide(self, partners: Partners, leader: int, amount: int) -> None:
        """Partners of a cooperative bid get their share of what their leader got, or pay it if that is below 0."""
        for partner, share in partners:
            part = round(share * abs(amount))
            payer, payee = (leader, partner) if amount > 0 else (partner, leader)
            self.transfer("share", payer, payee, part)

    def transfer(self, kind: str, payer: int, payee: int, amount: int) -> None:
        """Move coins. The root stands in for an agent that has died."""
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
        """A truncated geometric series: each keeps its part and passes the rest on. Gives what the payer paid."""
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
        return self.rules.adapt and self.rules.price == "second" and agent.bid is not None

    def _rebid(self, agent: Agent) -> None:
        """The bid is the factor, less up to 2% for experienced agents, so that equally good newcomers get a turn."""
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
    """Shares of a sum: each keeps (1 - ratio) of what it receives and passes on the rest; the last keeps all.

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
