"""What an auction of the Hayek economy costs: `python benchmarks/economy.py [--quick]`.

Populations of 1,000 and 5,000 agents hold sequences of 20 auctions on made-up pages of 100 features; whatever is bought
brings 10 new pages onto the market. Pages have words that some of the agents know; the others know words that are on
no page. So the same agents can be put into a small and a large population, and what an auction costs should follow
those that match something, whatever the size of the crowd. CPU seconds; fixed seeds.
"""

from __future__ import annotations

import argparse
import random
import time
from typing import NamedTuple

from scenthound.strategies.hayek.auction import Trading
from scenthound.strategies.hayek.market import ROOT, WORLD, Market, MarketRules, coins
from scenthound.strategies.hayek.saved_state import load_market, save_market

FEATURES = 100  # of a page
LINKS = 10
AUCTIONS = 20  # of a sequence


class Cost(NamedTuple):
    auctions: float
    """In a second."""
    matching: float
    """Agents that matched a page, on average."""


def population(agents: int, familiar: int, vocabulary: int, rng: random.Random) -> Market:
    """Agents with 1 to 3 features, drawn evenly; the first `familiar` ones know words of pages, the others do not."""
    market = Market(MarketRules())
    for number in range(agents):
        words = range(vocabulary) if number < familiar else range(vocabulary, 2 * vocabulary)
        features = rng.sample(words, rng.choice((1, 1, 2, 3)))
        agent = market.admit(features, capital=coins(1000.0), paid_by=WORLD)
        agent.bid = agent.factor = rng.random() * 100.0
    return market


def measure(agents: int, familiar: int, vocabulary: int, sequences: int) -> Cost:
    """Auctions a second with a population of which so many may match something."""
    rng = random.Random(1)
    market = population(agents, familiar, vocabulary, random.Random(2))
    drawn = [[set(rng.sample(range(vocabulary), FEATURES)) for _ in range(1 + LINKS * AUCTIONS)] for _ in range(20)]
    held = found = entered = 0
    spent = 0.0
    for number in range(sequences):
        pages = drawn[number % len(drawn)]
        before = time.process_time()
        trading, met = Trading(market, rng), 0
        owner = ROOT
        page = 0
        for _ in range(AUCTIONS):
            links = range(met + 1, met + 1 + LINKS)
            met += LINKS
            for link in trading.own(page, owner, links):
                matches = market.matching(pages[link])
                found, entered = found + len(matches), entered + 1
                trading.corona.enter(link, matches)
            sale = trading.auction()
            if sale is None:
                break
            trading.settle(sale, rng.random() < 0.2)
            page, owner, held = sale.page, sale.winner, held + 1
        trading.close()
        spent += time.process_time() - before
    assert market.balance() == 0
    return Cost(held / spent, found / entered)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer sequences")
    sequences = 20 if parser.parse_args().quick else 200
    print(f"{'agents':>8}{'familiar':>10}{'matching a page':>18}{'auctions/s':>13}{'µs an auction':>16}")
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
