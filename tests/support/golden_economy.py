"""The worked examples of sheet 40.2, for `golden.py`: auctions with their ledgers, difficulty, word weights."""

from __future__ import annotations

from typing import Any

from golden import Inputs, answers
from scenthound.papers.hayek.agents import corr_ub, differential, information_gain
from scenthound.papers.hayek.auction import Trading
from scenthound.papers.hayek.difficulty import Difficulty, DifficultyRules
from scenthound.papers.hayek.market import ROOT, WORLD, Market, MarketRules, Pricing, Transfer, coins, units

NOBODY = {ROOT: "root", WORLD: "world"}


@answers("hayek")
def hayek(inputs: Inputs) -> dict[str, Any]:
    return {
        "estimate": sequence(inputs, MarketRules(rate=0.25)),
        "epsilon": sequence(inputs, MarketRules(epsilon=0.0001), "first"),
    }


def sequence(inputs: Inputs, rules: MarketRules, price: Pricing = "second") -> dict[str, Any]:
    """The auctions of the example, all pages fetched, every draw the first."""
    pages = list(inputs["HY_PAGES"])
    words = list(dict.fromkeys(" ".join(inputs["HY_PAGES"].values()).split()))
    features = {
        pages.index(page): {words.index(word) for word in text.split()} for page, text in inputs["HY_PAGES"].items()
    }
    links = {pages.index(page): [pages.index(one) for one in found] for page, found in inputs["HY_LINKS"].items()}
    goals = {pages.index(page) for page in inputs["HY_GOALS"]}
    log: list[Transfer] = []
    market = Market(rules, log.append, price=price)
    names, trading = settle_agents(inputs["HY_AGENTS"], market, words), Trading(market)

    def join(page: int, owner: int) -> None:
        for link in trading.own(page, owner, links.get(page, [])):
            trading.corona.enter(link, market.matching(features[link]))

    class Everything:
        """All pages are known, and the auctions go on after a goal."""

        ends_at_goal = False

        def is_goal(self, page: int) -> bool:
            return page in goals

        def links(self, page: int) -> list[int]:
            return links.get(page, [])

        def real_bidders(self, page: int) -> list[int]:
            return market.matching(features[page])

    for start in inputs["HY_START"]:
        join(pages.index(start), ROOT)
    rows: list[list[Any]] = []
    for number in range(1, inputs["HY_AUCTIONS"] + 1):
        trading.first_bids(Everything())
        sale = trading.auction()
        if sale is None:
            break
        trading.refine(sale, Everything())
        trading.settle(sale, sale.page in goals)
        join(sale.page, sale.winner)
        told = (names[sale.winner], pages[sale.page], units(sale.bid), units(sale.price), sale.goal, units(sale.profit))
        rows.append([number, *told])
    trading.close()
    end = {names[one.number]: [units(one.wealth), one.bid] for one in market.agents.values()}
    market.tax(coins(inputs["HY_TAX"]))
    assert market.balance() == 0
    return {
        "rows": rows,
        "log": [
            [one.kind, names[one.payer], "" if one.kind == "first bid" else names[one.payee], units(one.coins)]
            for one in log
        ],
        "end": end,
        "root": units(market.root),
        "removed": [name for name, *_ in inputs["HY_AGENTS"] if name in {names[one] for one in market.losers()}],
    }


def settle_agents(given: list[list[Any]], market: Market, words: list[str]) -> dict[int, str]:
    """The example's agents enter the market, oldest first. Gives their names, and those of root and world."""
    numbers: dict[str | None, int] = {None: ROOT}
    by_name = sorted(given, key=lambda one: str(one[0]), reverse=True)  # of equal age the first by name wins ties
    for name, features, wealth, bid, parent, _ in sorted(by_name, key=lambda one: float(one[5])):
        known = [words.index(word) if word in words else len(words) for word in features.split()]
        agent = market.admit(known, capital=coins(wealth), parent=numbers[parent], paid_by=WORLD)
        agent.bid, agent.factor = bid, bid or 0.0
        numbers[name] = agent.number
    return {number: name for name, number in numbers.items() if name is not None} | NOBODY


@answers("curriculum")
def curriculum(inputs: Inputs) -> list[list[Any]]:
    given = inputs["HY_CUR"]
    rules = DifficultyRules(step=given["step"])
    rules.hystlo, rules.hysthi = given["lo"], given["hi"]  # in an order that a crawl refuses
    difficulty = Difficulty(rules)
    return [[met, difficulty.success, level] for met in given["results"] if (level := difficulty.update(bool(met)))]


@answers("ig")
def word_weights(inputs: Inputs) -> list[list[Any]]:
    goals, others = inputs["IG"]["pos"], inputs["IG"]["neg"]
    return [
        [
            word,
            *found,
            float(information_gain(goals, others, *found)),
            float(corr_ub(*found)),
            float(differential(goals, others, *found)),
        ]
        for word, found in inputs["IG"]["words"].items()
    ]
