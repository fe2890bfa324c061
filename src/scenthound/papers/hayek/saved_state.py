"""The saved state of a Hayek economy, and its trained model, as arrays and text.

A model is the population with its money, the word counts and the difficulty. The state of a crawl has the known web and
the current sequence as well.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import astuple
from typing import Any

import numpy as np

from scenthound.papers.hayek.auction import Trading
from scenthound.papers.hayek.economy import Economy
from scenthound.papers.hayek.known_web import FAR, KnownWeb, Lexicon, load_web, save_web
from scenthound.papers.hayek.market import ROOT, Agent, Market, Purchase, units

BOOKS = ("root", "brought_in", "rewards", "taxes", "buried", "births")
_WHOLE = ("number", "virtual", "wealth", "capital", "wins", "parent", "promised")
FEWEST_DOCUMENTS = 2  # words of a single page predict nothing about another web


def save_market(market: Market) -> dict[str, Any]:
    agents = list(market.agents.values())
    return {
        "numbers": np.array([[getattr(agent, name) for name in _WHOLE] for agent in agents], dtype=np.int64).reshape(
            -1, 7
        ),
        "bids": np.array([[math.nan if agent.bid is None else agent.bid, agent.factor] for agent in agents]).reshape(
            -1, 2
        ),
        "lengths": np.array([len(agent.features) for agent in agents], dtype=np.int32),
        "features": np.array([feature for agent in agents for feature in agent.features], dtype=np.int32),
        "sources": "\n".join(agent.source for agent in agents),
        "books": {name: str(getattr(market, name)) for name in BOOKS},  # may be too large for a JSON number
    }


def load_market(market: Market, state: Mapping[str, Any], features: int) -> None:
    """Fill an empty market. Raises ValueError, KeyError or TypeError if the state is invalid."""
    numbers, bids = np.asarray(state["numbers"]), np.asarray(state["bids"], dtype=float)
    lengths, flat = np.asarray(state["lengths"]), np.asarray(state["features"])
    sources = str(state["sources"]).split("\n") if len(numbers) else []
    if (
        numbers.shape != (len(sources), len(_WHOLE))
        or bids.shape != (len(sources), 2)
        or lengths.shape != (len(sources),)
    ):
        raise ValueError("the lists of agents have different lengths")
    if numbers.dtype.kind not in "iu" or flat.dtype.kind not in "iuf":
        raise ValueError("the numbers of agents are not integers")
    if lengths.sum() != len(flat) or (len(flat) and (flat.min() < 0 or flat.max() >= features)):
        raise ValueError("features of agents are missing")
    if (lengths < 1).any() or (len(numbers) and (numbers[:, [0, 2, 3, 4, 6]] < 0).any()):
        raise ValueError("an agent has negative money")
    if np.isinf(bids).any() or np.isnan(bids[:, 1]).any():
        raise ValueError("a bid is not a number")
    if (np.diff(numbers[:, 0]) <= 0).any():
        raise ValueError("agents are not in order of birth")
    offset = 0
    for row, (bid, factor), length, source in zip(
        numbers.tolist(), bids.tolist(), lengths.tolist(), sources, strict=True
    ):
        feature_ids = tuple(int(feature) for feature in flat[offset : offset + length])
        offset += length
        number, virtual, wealth, capital, wins, parent, promised = row
        bid = None if math.isnan(bid) else bid
        market.enlist(
            Agent(number, feature_ids, bool(virtual), wealth, capital, bid, factor, wins, parent, 0, source, promised)
        )
    for name in BOOKS:
        setattr(market, name, int(state["books"][name]))
    if market.births < max(market.agents, default=0) or market.balance() != 0:
        raise ValueError("the money does not add up")


# ---- a model


def save_model(economy: Economy) -> dict[str, Any]:
    """A trained economy as a model for other webs. Features are kept if an agent or several pages have them."""
    web, market = economy.web, economy.market
    web.dictionaries.make_room(len(web.lexicon))
    used = {feature for agent in market.agents.values() for feature in agent.features}
    common = web.dictionaries.documents[:, : len(web.lexicon)].sum(axis=0) >= FEWEST_DOCUMENTS
    kept = sorted(used.union(range(FAR), np.flatnonzero(common).tolist()))
    new_ids = {old: new for new, old in enumerate(kept)}
    state = save_market(market)
    state["features"] = np.array([new_ids[int(old)] for old in state["features"]], dtype=np.int32)
    counts = web.dictionaries.save(len(web.lexicon))
    return {
        **state,
        "words": "\n".join(web.lexicon.names[old] for old in kept),
        "pages": counts["pages"],
        "documents": counts["documents"][:, kept],
        "occurrences": counts["occurrences"][:, kept],
        "difficulty": [economy.difficulty.level, economy.difficulty.success],
        "sequences": economy.counts.sequences,
        "reward": economy.rules.reward,
        "price": economy.market.price,
        "connected": web.connected(),
    }


def load_model(economy: Economy, model: Mapping[str, Any], is_connected: bool = False) -> None:
    """Load the population and the words of a trained economy into a new one; if `is_connected`, also its URLs."""
    if model["price"] != economy.market.price:
        other = "hayek-epsilon" if model["price"] == "first" else "hayek-estimating"
        raise ValueError(f"this economy was trained by {other}")
    web = economy.web
    words = str(model["words"]).split("\n")
    web.lexicon = Lexicon(words)
    if len(web.lexicon) != len(words):
        raise ValueError("a word of the model occurs twice")
    web.dictionaries.load(model, len(words))
    load_market(economy.market, model, len(words))
    level, success = model["difficulty"]
    economy.difficulty.level, economy.difficulty.success = max(1, int(level)), max(0.0, float(success))
    economy.counts.sequences = int(model["sequences"])
    connected = {str(url): int(distance) for url, distance in model.get("connected", {}).items()}
    if any(not 0 <= distance < FAR for distance in connected.values()):
        raise ValueError("a distance from a goal is out of range")
    if is_connected:
        web.connect(connected)


def describe_model(model: Mapping[str, Any], top: int) -> dict[str, Any]:
    """A model as plain data: its `top` richest agents and where the money is. Raises the errors of `load_market`."""
    words = str(model["words"]).split("\n")
    market = Market()
    load_market(market, model, len(words))
    richest = sorted(market.agents.values(), key=lambda agent: (-agent.wealth, agent.number))[:top]
    money = {name: units(getattr(market, name)) for name in BOOKS if name != "births"}
    return {
        "agents": [_agent_facts(agent, words) for agent in richest],
        "population": len(market.agents),
        "births": market.births,
        "sequences": int(model["sequences"]),
        "difficulty": int(model["difficulty"][0]),
        "money": {"wealth": units(sum(agent.wealth for agent in market.agents.values())), **money},
    }


def _agent_facts(agent: Agent, words: Sequence[str]) -> dict[str, Any]:
    return {
        "agent": agent.number,
        "kind": "virtual" if agent.virtual else "real",
        "features": [words[feature] for feature in agent.features],
        "wealth": units(agent.wealth),
        "bid": agent.bid,
        "wins": agent.wins,
        "parent": None if agent.parent == ROOT else agent.parent,
        "children": agent.children,
        "source": agent.source,
    }


# ---- the state of a crawl


def living_agents(state: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """The agents in a result of `save_economy`, by number. Raises the errors of `load_market`."""
    market, words = Market(), str(state["web"]["features"]).split("\n")
    load_market(market, state["market"], len(words))
    return {number: _agent_facts(agent, words) for number, agent in market.agents.items()}


def save_economy(economy: Economy) -> dict[str, Any]:
    counts = economy.counts
    return {
        "web": save_web(economy.web),
        "market": save_market(economy.market),
        "chance": _random_state(economy.rng),
        "difficulty": [economy.difficulty.level, economy.difficulty.success],
        "counts": [counts.sequences, counts.auctions],
        "recognised": [[page, fetched] for page, fetched in counts.recognised.items()],
        "sequence": [
            economy.auctions_left,
            economy.stops_at_goal,
            economy.met_goal,
            economy.idle,
            economy.has_first_agents,
            economy.only_new,
        ],
        "line": list(economy.queue),
        "fetching": list(economy.fetching),
        "banned": sorted(economy.banned),
        "sites": list(economy.recent_sites),
        "trading": None if economy.trading is None else _save_trading(economy.trading, economy.pending),
    }


def load_economy(economy: Economy, state: Mapping[str, Any]) -> None:
    """Load the result of `save_economy` into a new economy with the same parameters."""
    load_web(economy.web, state["web"])
    load_market(economy.market, state["market"], len(economy.web.lexicon))
    version, numbers, gauss = state["chance"]
    economy.rng.setstate((version, tuple(numbers), gauss))
    economy.difficulty.level, economy.difficulty.success = state["difficulty"]
    economy.counts.sequences, economy.counts.auctions = state["tally"] if "tally" in state else state["counts"]
    economy.counts.recognised = dict(state["recognised"])
    economy.auctions_left, economy.stops_at_goal, economy.met_goal, economy.idle = state["sequence"][:4]
    economy.has_first_agents, economy.only_new = map(bool, state["sequence"][4:])
    queue, fetching = (_page_numbers(economy.web, state[name]) for name in ("line", "fetching"))
    economy.queue, economy.fetching, economy.banned = deque(queue), fetching, set(state["banned"])
    economy.recent_sites.extend(state["sites"])
    economy.pending, economy.trading = {}, None
    if state["trading"] is not None:
        economy.resume(*_load_trading(economy, state["trading"]))


def _page_numbers(web: KnownWeb, numbers: Sequence[Any]) -> list[int]:
    """Check page numbers and return them. Raises `ValueError` if there is no such page."""
    if not all(isinstance(number, int) and 0 <= number < len(web.pages) for number in numbers):
        raise ValueError("a page of the saved state does not exist")
    return list(numbers)


def _save_trading(trading: Trading, pending: Mapping[int, Purchase]) -> dict[str, Any]:
    purchases: list[Purchase] = []

    def index_of(purchase: Purchase | None) -> int:
        """The index of a purchase, which is added if it is new; -1 for None."""
        if purchase is None:
            return -1
        for index, other in enumerate(purchases):
            if other is purchase:
                return index
        purchases.append(purchase)
        return len(purchases) - 1

    return {
        "owners": np.array(list(trading.owners.items()), dtype=np.int64).reshape(-1, 2),
        "linkers": np.array(
            [[page, source] for page, sources in trading.linkers.items() for source in sources], dtype=np.int64
        ).reshape(-1, 2),
        "corona": np.array(list(trading.corona.pages), dtype=np.int64),
        "holder": trading.holder,
        "winners": list(trading.winners),
        "stored": [[action, index_of(purchase), bid] for action, purchase, bid in trading.deferred],
        "pending": [[page, index_of(purchase)] for page, purchase in pending.items()],
        "open": index_of(trading.open_purchase),
        "purchases": [_plain(purchase) for purchase in purchases],
    }


def _load_trading(economy: Economy, state: Mapping[str, Any]) -> tuple[Trading, Sequence[int], dict[int, Purchase]]:
    """The sequence, its pages for sale, and purchases whose page is in flight."""
    trading = Trading(economy.market, economy.rng)
    purchases = [_purchase(fields) for fields in state["purchases"]]
    trading.owners = dict(np.asarray(state["owners"]).tolist())
    for page, source in np.asarray(state["linkers"]).tolist():
        trading.linkers.setdefault(page, []).append(source)
    trading.holder, trading.winners = state["holder"], list(state["winners"])
    trading.deferred = [(action, purchases[index], bid) for action, index, bid in state["stored"]]
    trading.open_purchase = purchases[state["open"]] if state["open"] >= 0 else None
    pending = {page: purchases[index] for page, index in state["pending"]}
    return trading, np.asarray(state["corona"]).tolist(), pending


def _plain(purchase: Purchase) -> list[Any]:
    return [list(value) if isinstance(value, tuple) else value for value in astuple(purchase)]


def _purchase(fields: Sequence[Any]) -> Purchase:
    winner, page, bid, price, payee, goal, line, linker, resold, kickbacks, profit, waiting, *rest = fields
    links, partners, sellers = rest or (0, (), ())  # older states have none of these
    groups = (tuple((int(agent), float(share)) for agent, share in group) for group in (partners, sellers))
    first = (winner, page, bid, price, payee, goal, tuple(line), linker, resold, kickbacks, profit, waiting)
    return Purchase(*first, links, *groups)


def _random_state(rng: random.Random) -> list[Any]:
    version, numbers, gauss = rng.getstate()
    return [version, list(numbers), gauss]


__all__ = ["describe_model", "load_economy", "load_model", "save_economy", "save_model"]
