"""Money in the Hayek economy: no coin appears or is lost, whatever is auctioned and whenever it is paid."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenthound.errors import BadConfig
from scenthound.lab.testing import TinyWeb, walk
from scenthound.model import Topic
from scenthound.papers.hayek.auction import Trading
from scenthound.papers.hayek.hayek_crawler import HayekEpsilon, HayekEstimating
from scenthound.papers.hayek.market import (
    COIN,
    ROOT,
    WORLD,
    Market,
    MarketRules,
    Pricing,
    Transfer,
    coins,
    series,
    units,
)
from support.long_form import long_form


class Purses:
    """An account kept by others: from what the ledger says, in exact fractions of a unit."""

    def __init__(self, market: Market) -> None:
        self.market = market
        self.held = {number: Fraction(agent.wealth, COIN) for number, agent in market.agents.items()}
        self.held[ROOT] = Fraction(market.root, COIN)
        self.rewards = Fraction(0)

    def hear(self, line: Transfer) -> None:
        if line.kind == "first bid":
            return
        amount = Fraction(line.coins, COIN)
        assert amount >= 0
        if line.payer == WORLD:
            assert line.kind == "reward"
            self.rewards += amount
        else:
            self.held[line.payer] -= amount
        self.held[line.payee] += amount

    def check(self) -> None:
        for number, agent in self.market.agents.items():
            assert self.held[number] == Fraction(agent.wealth, COIN)
            assert agent.wealth >= 0, "nobody bids money he has not"
        assert self.held[ROOT] == Fraction(self.market.root, COIN)
        assert self.rewards == Fraction(self.market.rewards, COIN)
        assert self.market.balance() == 0


class SomeKnown:
    """Prospects of random pages, some of them known; the links are drawn when they are asked for."""

    def __init__(
        self,
        market: Market,
        pages: dict[int, set[int]],
        known: set[int],
        is_goal: dict[int, bool],
        rng: random.Random,
    ) -> None:
        self.market, self.pages, self.known, self.goals, self.rng = market, pages, known, is_goal, rng
        self.ends_at_goal = rng.random() < 0.5

    def is_goal(self, page: int) -> bool:
        return page in self.known and self.goals[page]

    def links(self, page: int) -> list[int]:
        return self.rng.sample(range(20), 3) if page in self.known else []

    def real_bidders(self, page: int) -> list[int] | None:
        matching = self.market.matching(self.pages[page])
        return [number for number in matching if not self.market.agents[number].virtual] if page in self.known else None


def auctions(rules: MarketRules, price: Pricing, rng: random.Random, rounds: int) -> tuple[int, int]:
    """Random sequences over random pages, real and virtual, some of which never come. How many sales, and goals."""
    market = Market(rules, price=price)
    for _ in range(rng.randint(1, 12)):
        parent = rng.choice([ROOT, *market.agents])
        features = rng.sample(range(12), rng.randint(1, 3))
        agent = market.admit(
            features, virtual=rng.random() < 0.4, capital=rng.randrange(200 * COIN), parent=parent, paid_by=WORLD
        )
        agent.bid = rng.choice([None, rng.random() * 150])
        agent.factor = agent.bid or 0.0
    purses = Purses(market)
    market.ledger = purses.hear
    sold = goals = 0
    for _ in range(rounds):
        pages = {page: set(rng.sample(range(12), 6)) for page in range(20)}
        is_goal = {page: rng.random() < 0.3 for page in pages}
        real = {page: rng.random() < 0.6 for page in pages}
        trading = Trading(market, rng)

        def bidders(page: int, pages: dict[int, set[int]] = pages, real: dict[int, bool] = real) -> list[int]:
            found = market.matching(pages[page])
            return found if real[page] else [one for one in found if market.agents[one].virtual]

        def join(page: int, owner: int, trading: Trading = trading) -> None:
            for link in trading.own(page, owner, rng.sample(range(20), 5)):
                trading.corona.enter(link, bidders(link))

        prospects = SomeKnown(market, pages, {page for page in pages if real[page]}, is_goal, rng)
        join(0, ROOT)
        waiting = []
        for _ in range(rng.randint(1, 12)):
            if not trading.corona.pages:
                break
            trading.first_bids(prospects)
            if (best := trading.auction()) is not None:
                trading.refine(best, prospects)
            sale = best or trading.free_purchase(ROOT, next(iter(trading.corona.pages)))
            agent = market.agents.get(sale.winner)
            seen = real[sale.page] and (agent is None or not agent.virtual)
            sale.waiting = not seen
            trading.settle(sale, seen and is_goal[sale.page])
            sold, goals = sold + 1, goals + sale.goal
            if seen:
                join(sale.page, sale.winner)
            else:
                waiting.append(sale)
            while waiting and rng.random() < 0.7:
                bought = waiting.pop(rng.randrange(len(waiting)))
                if rng.random() < 0.2:
                    trading.lost(bought)
                    continue
                matching = [one for one in market.matching(pages[bought.page]) if not market.agents[one].virtual]
                goal = is_goal[bought.page]
                resold = trading.resale(bought.page, matching, prospects) or trading.free_purchase(ROOT, bought.page)
                trading.arrived(bought, resold.bid)
                trading.settle(resold, goal, bought.winner)
                sold, goals = sold + 1, goals + goal
                join(resold.page, resold.winner)
            purses.check()
        for bought in waiting:
            trading.lost(bought)
        trading.close()
        purses.check()
    return sold, goals


@settings(deadline=None, max_examples=long_form(40, 120))
@given(
    luck=st.integers(0, 2**32),
    price=st.sampled_from(["first", "second"]),
    pay=st.sampled_from(["immediate", "afterwards"]),
    shares=st.tuples(*[st.floats(0, 1)] * 4),
)
def test_no_coin_appears_or_is_lost_in_random_auctions(luck: int, price, pay, shares) -> None:  # type: ignore[no-untyped-def]
    whole = sum(shares) or 1.0
    p, q, s, _ = (0.999 * share / whole for share in shares)
    auctions(MarketRules(p=p, q=q, s=s, pay=pay), price, random.Random(luck), rounds=6)


def test_thousands_of_auctions_of_every_kind_keep_the_books() -> None:
    for number, (price, pay) in enumerate((a, b) for a in ("first", "second") for b in ("immediate", "afterwards")):
        sold, goals = auctions(MarketRules(pay=pay), price, random.Random(number), rounds=400)  # type: ignore[arg-type]
        assert sold > 1000
        assert goals > 50


MODES = [
    {},
    {"sequences": "restarted"},
    {"sequences": "restarted", "fetch_all": True},
    {"sequences": "restarted", "pay": "afterwards"},
]


@pytest.mark.parametrize("kind", [HayekEstimating, HayekEpsilon])
@pytest.mark.parametrize("more", MODES)
def test_a_whole_crawl_with_taxes_deaths_and_births_keeps_the_books(kind, more) -> None:  # type: ignore[no-untyped-def]
    rng = random.Random(5)
    words = ["bees", "honey", "cars", "road", "hive", "music", "sea", "ship"]
    pages = {
        f"h{number % 7}.example/{number}": " ".join(rng.sample(words, 4))
        + " -> "
        + " ".join(f"h{one % 7}.example/{one}" for one in rng.sample(range(90), 5))
        for number in range(80)
    }
    strategy = kind(**more)
    found = walk(TinyWeb(pages), strategy, Topic("bees honey"), "h0.example/0 h1.example/1")
    market = strategy.economy_.market
    assert len(found.visited) == 78, "all that can be reached"
    assert market.balance() == 0
    assert market.rewards > 0
    assert market.births > len(market.agents), "somebody died"


def test_after_payment_later_the_same_history_gives_the_same_purses() -> None:
    """The arithmetic is the same; only who can bid in between may differ, so nobody is short of money here."""
    ends = []
    for pay in ("immediate", "afterwards"):
        market = Market(MarketRules(pay=pay), price="first")  # type: ignore[arg-type]
        for bid in (10.0, 20.0, 30.0):
            agent = market.admit([0], capital=coins(10_000), paid_by=WORLD)
            agent.bid = bid
        trading = Trading(market)
        for page in trading.own(0, ROOT, [1, 2, 3]):
            trading.corona.enter(page, market.matching({0}))
        for number, goal in ((1, False), (2, True), (3, True)):
            sale = trading.auction()
            assert sale is not None
            trading.settle(sale, goal)
            if pay == "afterwards" and number < 3:
                assert market.rewards == 0, "nothing has moved yet"
            market.agents[sale.winner].bid = 1.0 / number  # so that another one wins next
            trading.corona.changed(sale.winner)
        trading.close()
        ends.append([(agent.wealth, agent.wins) for agent in market.agents.values()] + [(market.root, 0)])
    assert ends[0] == ends[1]


def test_a_kickback_is_passed_on_as_a_truncated_geometric_series() -> None:
    assert series(coins(20), 0.2, 1) == [coins(20)]
    assert [units(part) for part in series(coins(20), 0.2, 3)] == [16.0, 3.2, 0.8]
    assert sum(series(7, 0.3, 3)) == 7


def test_kickbacks_that_would_pass_on_more_than_the_reward_are_refused() -> None:
    with pytest.raises(BadConfig, match="more than the whole reward") as refused:
        HayekEstimating(p=0.5, q=0.4, s=0.2)
    assert "at most 1" in str(refused.value.hint)
    HayekEstimating(p=0.5, q=0.4, s=0.1)


def test_nobody_starts_with_less_than_nothing() -> None:
    with pytest.raises(BadConfig, match="negative"):
        Market().admit([1], capital=-1)


def test_an_agent_short_of_money_bids_what_it_has_and_pays_no_more_tax_than_that() -> None:
    market = Market()
    agent = market.admit([1], capital=coins(3), paid_by=WORLD)
    agent.bid = 40.0
    assert units(market.effective(agent)) == 3.0
    market.tax(coins(5))
    assert agent.wealth == 0
    assert units(market.taxes) == 3.0
    assert market.balance() == 0


def test_a_parent_is_kept_while_a_child_lives() -> None:
    market = Market()
    parent = market.admit([1], capital=coins(2000), paid_by=WORLD)
    child = market.admit([1, 2], parent=parent.number, paid_by=parent.number)
    assert units(parent.wealth) == 1900.0
    assert market.losers() == []
    child.wealth -= 1
    market.root += 1
    assert market.losers() == [child.number]
    market.bury(child.number)
    assert market.losers() == [parent.number]
    assert market.balance() == 0


class Shelf:
    """Prospects of a web in which page 0 links to the goal 1, and everything is known."""

    def __init__(self, market: Market, *, ends_at_goal: bool = False) -> None:
        self.market, self.ends_at_goal = market, ends_at_goal

    def is_goal(self, page: int) -> bool:
        return page == 1

    def links(self, page: int) -> list[int]:
        return [1] if page == 0 else []

    def real_bidders(self, page: int) -> list[int]:
        return self.market.matching({page})


def for_sale(*bids: tuple[int, float | None]) -> Trading:
    """Page 0 is for sale; each agent knows the one page of its number and bids so much on it."""
    market = Market()
    for page, bid in bids:
        agent = market.admit([page], paid_by=WORLD)
        agent.bid, agent.factor = bid, bid or 0.0
    trading = Trading(market)
    trading.corona.enter(0, market.matching({0}))
    return trading


def test_a_page_that_links_to_a_goal_is_worth_what_the_goal_would_sell_for() -> None:
    trading = for_sale((0, None), (1, 80.0))
    trading.first_bids(Shelf(trading.market))
    assert trading.market.agents[1].bid == 80.0
    assert trading.corona.pages.keys() == {0}, "the change of the corona is undone"


def test_nothing_is_resold_after_a_goal_that_ends_the_sequence() -> None:
    trading = for_sale((0, 30.0), (1, None))
    trading.corona.enter(1, [2])
    assert trading.payoff(1, Shelf(trading.market)) == 130.0
    assert trading.payoff(1, Shelf(trading.market, ends_at_goal=True)) == 100.0


def test_an_explorer_that_expects_nothing_stays_one_and_bids_later() -> None:
    trading = for_sale((0, None), (1, None))
    trading.first_bids(Shelf(trading.market))
    assert trading.market.agents[1].bid is None
    assert trading.auction() is None
    trading.market.set_first_bid(trading.market.agents[2], 50.0)
    trading.first_bids(Shelf(trading.market))
    assert trading.market.agents[1].bid == 50.0


def test_an_agent_that_was_given_its_page_bids_what_that_was_worth() -> None:
    trading = for_sale((0, None))
    trading.settle(trading.free_purchase(1, 0), goal=True)
    trading.close()
    assert trading.market.agents[1].bid == pytest.approx(100.0, rel=0.01), "it paid nothing, and nobody had won before"


def test_others_that_bid_as_much_as_the_winner_learn_from_payoffs_without_paying() -> None:
    trading = for_sale((0, 60.0), (0, 60.0), (1, 90.0))
    sale = trading.auction()
    assert sale is not None
    wealth = {number: agent.wealth for number, agent in trading.market.agents.items()}
    trading.refine(sale, Shelf(trading.market))
    other = trading.market.agents[1 if sale.winner == 2 else 2]
    assert other.factor == pytest.approx(60.0 + 0.1 * (90.0 - 60.0))
    assert trading.market.agents[sale.winner].factor == 60.0
    assert wealth == {number: agent.wealth for number, agent in trading.market.agents.items()}


def test_other_links_count_by_their_share_where_it_is_set() -> None:
    class Two(Shelf):
        def links(self, page: int) -> list[int]:
            return [1, 2] if page == 0 else []

    market = Market(MarketRules(links_worth=0.5))
    for page, bid in ((1, 80.0), (2, 20.0)):
        agent = market.admit([page], paid_by=WORLD)
        agent.bid = agent.factor = bid
    trading = Trading(market)
    trading.corona.enter(0, [])
    assert trading.payoff(0, Two(market)) == 80.0 + 0.5 * 20.0
