"""Cost of an auction in the Hayek economy: `python benchmarks/economy.py [--quick]`.

Populations of 1,000 and 5,000 agents hold sequences of 20 auctions on generated pages with 100 features each; every
page that is bought brings 10 new pages onto the market. Some of the agents know words of the pages (`familiar`), the
others only words that are on no page. So the same familiar agents can be put into a small and a large population: the
cost of an auction should depend on the agents that match a page, not on the size of the population. Times are CPU
seconds; seeds are fixed.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import NamedTuple

from scenthound.papers.hayek.auction import Trading
from scenthound.papers.hayek.market import ROOT, WORLD, Market, MarketRules, coins
from scenthound.papers.hayek.saved_state import load_market, save_market

FEATURES = 100  # per page
LINKS = 10
AUCTIONS = 20  # per sequence


class Cost(NamedTuple):
    auctions: float
    """Per second."""
    matching: float
    """Mean number of agents that match a page."""


def population(agents: int, familiar: int, vocabulary: int, rng: random.Random) -> Market:
    """Agents with 1 to 3 random features each; the first `familiar` agents know words of pages, the others do not."""
    market = Market(MarketRules())
    for index in range(agents):
        words = range(vocabulary) if index < familiar else range(vocabulary, 2 * vocabulary)
        features = rng.sample(words, rng.choice((1, 1, 2, 3)))
        agent = market.admit(features, capital=coins(1000.0), paid_by=WORLD)
        agent.bid = agent.factor = rng.random() * 100.0
    return market


def measure(agents: int, familiar: int, vocabulary: int, sequences: int) -> Cost:
    """Auctions per second in a population in which `familiar` agents can match pages."""
    rng = random.Random(1)
    market = population(agents, familiar, vocabulary, random.Random(2))
    drawn = [[set(rng.sample(range(vocabulary), FEATURES)) for _ in range(1 + LINKS * AUCTIONS)] for _ in range(20)]
    auctions = matched = entered = 0
    spent = 0.0
    for index in range(sequences):
        pages = drawn[index % len(drawn)]
        before = time.process_time()
        trading, pages_seen = Trading(market, rng), 0
        owner = ROOT
        page = 0
        for _ in range(AUCTIONS):
            links = range(pages_seen + 1, pages_seen + 1 + LINKS)
            pages_seen += LINKS
            for link in trading.own(page, owner, links):
                matches = market.matching(pages[link])
                matched, entered = matched + len(matches), entered + 1
                trading.corona.enter(link, matches)
            sale = trading.auction()
            if sale is None:
                break
            trading.settle(sale, rng.random() < 0.2)
            page, owner, auctions = sale.page, sale.winner, auctions + 1
        trading.close()
        spent += time.process_time() - before
    assert market.balance() == 0
    return Cost(auctions / spent, matched / entered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer sequences")
    sequences = 20 if parser.parse_args().quick else 200
    print(f"{'agents':>8}{'familiar':>10}{'matching a page':>18}{'auctions/s':>13}{'µs per auction':>16}")
    for agents, familiar, vocabulary in (
        *((1000, 200, 2000), (5000, 200, 2000)),
        *((1000, 1000, 2000), (5000, 1000, 2000)),
        *((1000, 1000, 10_000), (5000, 1000, 10_000), (5000, 5000, 10_000)),
    ):
        cost = measure(agents, familiar, vocabulary, sequences)
        print(
            f"{agents:>8,}{familiar:>10,}{cost.matching:>18.1f}{cost.auctions:>13,.0f}{1e6 / cost.auctions:>16,.0f}",
            flush=True,
        )
    market = population(5000, 5000, 100_000, random.Random(2))
    before = time.process_time()
    state = save_market(market)
    saved = time.process_time() - before
    before = time.process_time()
    load_market(Market(MarketRules()), state, 100_000)
    print(f"5,000 agents: saved in {saved:.3f} s, loaded in {time.process_time() - before:.3f} s")


if __name__ == "__main__":
    main()
