"""A population of spiders as one frontier: whose turn it is, what each has, what is in flight (sheet 40.1).

Agents take turns, oldest first, one page a turn. An agent that waits for a reply lets the others go on; one whose page
only waits for its host to wake may draw another, after the rest. An agent whose links are all on resting hosts misses
its turn. A URL that one agent draws leaves the frontiers of all.
"""

from __future__ import annotations

import math
import random
from bisect import bisect_right
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from scenthound import url as urls
from scenthound.model import Candidate, Url
from scenthound.ports import Frontier, Popped
from scenthound.strategies.spiders.net import Net
from scenthound.strategies.spiders.private_frontier import Hosts, PrivateFrontier, candidate, plain
from scenthound.text.vectors import Counts

FEWEST = 16  # links that an agent may hold however tight the bound is [sheet 40.1]


@dataclass(slots=True, eq=False)
class Spider:
    """One agent: its keywords, net, energy and private frontier."""

    number: int
    parent: int | None
    keywords: Counts
    """Its words, in order, and how often each was said."""
    net: Net
    energy: float
    links: PrivateFrontier
    pages: int = 0
    heard: int = 0
    """Pages and misses that it received: the number of its turn."""
    flying: set[Url] = field(default_factory=set)
    columns: dict[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.columns = {word: index for index, word in enumerate(self.keywords)}


class Flight(NamedTuple):
    """A request in flight and what was seen of its link; without inputs if no link led to it."""

    agent: int
    about: Candidate
    number: int
    net: float
    page: float
    inputs: Any


class View(NamedTuple):
    """What an agent saw of the links of a page that are about to be pushed."""

    agent: Spider
    page: float
    """The similarity of the page."""
    rows: Mapping[Url, int]
    net: Sequence[float]
    inputs: Any


class Sight(NamedTuple):
    """What an agent saw of a link."""

    agent: Spider
    net: float = 0.0
    page: float = 0.0
    inputs: Any = 0.0


class Population(Frontier):
    """One `Frontier` over the private frontiers of all agents."""

    def __init__(
        self, bound: int | None, most: int, greed: float, retired: Callable[[Spider], None], ripen: Callable[[], None]
    ) -> None:
        if bound is not None and bound < 1:
            raise ValueError(f"a frontier's bound is at least 1, not {bound}")
        self.limit = None if bound is None else max(FEWEST, bound // most)
        self.greed, self._retired, self._ripen = greed, retired, ripen
        self._hosts = Hosts()
        self._now = 0.0
        self.agents: dict[int, Spider] = {}
        self.clear(0)

    def clear(self, luck: int) -> None:
        """Remove all agents and links; resting hosts are kept."""
        for agent in list(self.agents.values()):
            self.remove(agent)
        self.luck, self.births = luck, 0
        self.view: View | None = None
        self._holders: dict[Url, list[int]] = {}
        self._flights: dict[Url, Flight] = {}
        self._unclaimed: dict[Url, Flight] = {}
        self._turn = self._dealt = -1
        self._next_number = 0
        self._is_running = False
        self._led_to: Url | None = None

    # ---- the port

    def push(self, candidate: Candidate) -> Candidate | None:
        url, score = candidate.url, candidate.score
        if score != score:
            raise ValueError(f"a score must be a number: {url}")
        if candidate.due > self._now or not self.agents:
            return candidate
        if self._unclaimed:
            self._unclaimed.pop(url, None)
        view = self.view
        row = view.rows.get(url) if view is not None else None
        if view is None or row is None or view.agent.number not in self.agents:
            return self._hold(Sight(self._keeper(candidate)), candidate)  # no link led to it: a seed, or from a sitemap
        links = view.agent.links
        known_row = links.rows.get(url)
        if known_row is not None and score <= links.score[known_row]:
            return None  # most links were seen before with as good a score
        return self._hold(Sight(view.agent, view.net[row], view.page, view.inputs[row]), candidate)

    def rest(self, host: str, until: float) -> None:
        self._hosts.rest(host, until, self._now)

    def pop(self, now: float) -> Popped | None:
        self._now = max(self._now, now)
        self._start()
        self._ripen()
        for agent in self._in_turn():
            if self._is_busy(agent):
                continue
            if not agent.links:
                self.retire(agent)
                continue
            wakes = self._hosts.wakes(agent.links.host[: len(agent.links.about)], self._now)
            drawn = agent.links.draw(self._lot(agent), self.greed, wakes, self._now)
            if drawn is not None:
                scores = agent.links.score[: len(agent.links.about)]
                rank = 1 + int(np.count_nonzero(scores > scores[drawn.row]))
                flight = self._launch(agent, drawn.row, drawn.probability)
                return Popped(flight.about, rank, flight.number)
        return None

    def best_resting(self, now: float) -> tuple[Candidate, float] | None:
        """The best link on a resting host that an agent which may draw has."""
        self._now = max(self._now, now)
        best: tuple[Candidate, float] | None = None
        for agent in self.agents.values():
            size = len(agent.links.about)
            wakes = self._hosts.wakes(agent.links.host[:size], self._now)
            if wakes is None or self._is_busy(agent):
                continue
            scores = np.where((wakes > self._now) & (wakes < math.inf), agent.links.score[:size], -math.inf)
            row = int(np.argmax(scores)) if size else 0
            about = agent.links.about[row] if size and scores[row] > -math.inf else None
            if about is not None and (best is None or about.score > best[0].score):
                best = about, float(wakes[row])
        return best

    def ready_at(self) -> float | None:
        ready = math.inf
        for agent in self.agents.values():
            if not agent.links or self._is_busy(agent):
                continue
            size = len(agent.links.about)
            wakes = self._hosts.wakes(agent.links.host[:size], self._now)
            if wakes is None:
                return self._now
            ready = min(ready, max(self._now, float(wakes[agent.links.score[:size] > -math.inf].min())))
        return ready if self._holders or self._unclaimed else None

    def __len__(self) -> int:
        """How many different URLs wait."""
        return len(self._holders) + len(self._unclaimed)

    def __contains__(self, url: object) -> bool:
        return url in self._holders or url in self._unclaimed

    def urls(self) -> Collection[Url]:
        return [*self._holders, *self._unclaimed]

    # ---- in flight

    def settle(self, url: Url) -> None:
        """Nobody waits for this URL any more. If it was redirected, they wait for the target."""
        flight, led_to, self._led_to = self._end(url), self._led_to, None
        if flight is not None and led_to is not None and led_to != url:
            there = self._flights.get(led_to)
            if there is None or there.about.score <= flight.about.score:
                self._end(led_to)
                self._begin(led_to, flight)
        self._unclaimed.pop(url, None)
        self._withdraw(url)

    def take(self, url: Url) -> Candidate | None:
        """Pop this URL if it waits. A redirect that leads to it continues its flight."""
        if (flight := self._unclaimed.pop(url, None)) is not None:
            self._begin(url, flight)
            return flight.about
        if self._is_running and url not in self._flights:  # before the first pop this is a restart
            self._led_to = url
        if url not in self._holders:
            return None
        holders = [self.agents[number] for number in sorted(self._holders[url])]
        agent = max(holders, key=lambda holder: holder.links.score[holder.links.rows[url]])
        return self._launch(agent, agent.links.rows[url]).about

    def give_back(self, popped: Popped) -> Candidate | None:
        """Return it to the agent that drew it."""
        flight = self._end(popped.candidate.url)
        if flight is None or flight.agent not in self.agents:
            return self.push(popped.candidate)
        return self._return(flight)

    def in_flight(self) -> Collection[Url]:
        return self._flights.keys()

    # ---- agents

    def join(self, agent: Spider) -> None:
        self.agents[agent.number] = agent
        self.births = max(self.births, agent.number + 1)

    def retire(self, agent: Spider) -> None:
        """Remove an agent without links, unless it is the last or waits for a page."""
        if len(self.agents) > 1 and not agent.flying and not agent.links:
            self.remove(agent)
            self._retired(agent)

    def remove(self, agent: Spider) -> None:
        """Remove an agent and its links."""
        for url in list(agent.links):
            self.drop(agent, url)
        del self.agents[agent.number]

    def drop(self, agent: Spider, url: Url) -> None:
        """Remove a link from an agent."""
        self._hosts.leave(agent.links.cross_out(url))
        holders = self._holders[url]
        holders.remove(agent.number)
        if not holders:
            del self._holders[url]

    def share(self, agent: Spider, child: Spider) -> None:
        """Give the child every second link of its parent, by score."""
        stay, go = agent.links.halves()
        child.links = agent.links.part(go, len(child.keywords))
        for url in child.links:
            self._holders[url].remove(agent.number)
            self._holders[url].append(child.number)
        agent.links.keep(stay)
        self.join(child)

    def landed(self, about: Candidate) -> tuple[Spider | None, Flight | None]:
        """The agent that requested a page, and what it saw of the link. The oldest stands in for one that is gone."""
        flight = self._end(about.url) or self._catch_up(about)
        number = flight.agent if flight is not None else about.carry.get("agent")
        agent = self.agents.get(number) if isinstance(number, int) else None
        agent = agent or next(iter(self.agents.values()), None)
        if agent is not None:
            agent.heard += 1
            self._turn = agent.number
        return agent, flight

    def _catch_up(self, about: Candidate) -> Flight | None:
        """On resume, repeat the draw of a page that was drawn after the state was saved."""
        number, link = about.carry.get("agent"), about.carry.get("link")
        agent = self.agents.get(number) if isinstance(number, int) else None
        if agent is None or not isinstance(link, int) or (url := agent.links.find(link)) is None:
            return None
        for other in self._in_turn():
            if other is agent:
                break
            if not other.links:
                self.retire(other)
        self._launch(agent, agent.links.rows[url])
        return self._end(url)

    def _start(self) -> None:
        """Requests that were in flight when the state was saved, and no longer are, wait again."""
        self._is_running = True
        for url, flight in self._unclaimed.items():
            if flight.agent in self.agents and url not in self._holders:
                self._return(flight)
        self._unclaimed.clear()

    def _in_turn(self) -> list[Spider]:
        """Agents in turn: oldest first, starting after the one that got the last page; those with nothing in flight
        first."""
        numbers = list(self.agents)
        index = bisect_right(numbers, self._turn)
        agents = [self.agents[number] for number in [*numbers[index:], *numbers[:index]]]
        return sorted(agents, key=lambda agent: bool(agent.flying)) if self._flights else agents

    def _is_busy(self, agent: Spider) -> bool:
        """True if it waits for a reply. One that only waits for a host to wake is free."""
        for url in agent.flying:
            until = self._hosts.until(urls.host(url))
            if until <= self._now or until == math.inf:
                return True
        return False

    def _lot(self, agent: Spider) -> float:
        """An agent's luck: a function of its turn and of how much it holds, so that after a restart it is the same.

        A draw without a result, as of a link to a page that was fetched already, changes only the latter.
        """
        return random.Random(f"{self.luck}:{agent.number}:{agent.heard}:{len(agent.links)}").random()

    def _keeper(self, candidate: Candidate) -> Spider:
        """The agent for a URL that no link led to: the one that had it, or the agents in turn."""
        agent = self.agents.get(candidate.carry.get("agent", -1))
        if agent is None:
            numbers = list(self.agents)
            self._dealt = numbers[bisect_right(numbers, self._dealt) % len(numbers)]
            agent = self.agents[self._dealt]
        return agent

    # ---- links

    def _hold(self, sight: Sight, about: Candidate, number: int = -1) -> Candidate | None:
        """Give a link to an agent. Returns the link that no agent has any more, if any."""
        agent, net, page, inputs = sight
        links, url = agent.links, about.url
        if url in links:
            links.raise_to(about, net, page, inputs)
            return None
        if number < 0:
            number, self._next_number = self._next_number, self._next_number + 1
        worst = links.last() if self.limit is not None and len(links) >= self.limit else None
        if worst is not None and about.score <= worst.score:  # it would be last
            return about if url not in self._holders else None
        links.put(about, self._hosts.enter(urls.host(url)), number, net, page, inputs)
        self._holders.setdefault(url, []).append(agent.number)
        if worst is None:
            return None
        self.drop(agent, worst.url)
        return worst if worst.url not in self._holders else None

    def _return(self, flight: Flight) -> Candidate | None:
        """Return a link to the agent that drew it, unchanged."""
        about = flight.about._replace(carry={}, parts={})
        inputs = 0.0 if flight.inputs is None else flight.inputs
        return self._hold(Sight(self.agents[flight.agent], flight.net, flight.page, inputs), about, flight.number)

    def _withdraw(self, url: Url) -> None:
        for number in list(self._holders.get(url, ())):
            self.drop(self.agents[number], url)

    def _launch(self, agent: Spider, row: int, probability: float = 0.0) -> Flight:
        links = agent.links
        about, number = links.about[row], int(links.number[row])
        assert about is not None
        parts, inputs = {"agent": float(agent.number), "energy": agent.energy}, None
        if about.score < math.inf:
            parts = {"net": float(links.net[row]), "page": float(links.page[row]), **parts, "probability": probability}
            inputs = links.inputs[row].copy()
        carry = {"agent": agent.number, "link": number}
        net, page = float(links.net[row]), float(links.page[row])
        flight = Flight(agent.number, about._replace(carry=carry, parts=parts), number, net, page, inputs)
        self._withdraw(about.url)
        self._begin(about.url, flight)
        return flight

    def _begin(self, url: Url, flight: Flight) -> None:
        self._flights[url] = flight
        if flight.agent in self.agents:
            self.agents[flight.agent].flying.add(url)

    def _end(self, url: Url) -> Flight | None:
        flight = self._flights.pop(url, None)
        if flight is not None and flight.agent in self.agents:
            self.agents[flight.agent].flying.discard(url)
        return flight

    # ---- what survives a restart

    def save(self) -> dict[str, Any]:
        """JSON and arrays."""
        flights = {**self._unclaimed, **self._flights}
        return {
            "agents": [_saved(agent) for agent in self.agents.values()],
            "flights": [
                [url, flight.agent, plain(flight.about), *flight[2:5], None if flight.inputs is None else flight.inputs]
                for url, flight in flights.items()
            ],
            "luck": str(self.luck),
            "counts": [self.births, self._turn, self._dealt, self._next_number],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear(int(state["luck"]))
        self.births, self._turn, self._dealt, self._next_number = state["counts"]
        for fields in state["agents"]:
            agent = _loaded(fields)
            self.agents[agent.number] = agent
            links = agent.links
            for url, row in links.rows.items():
                self._holders.setdefault(url, []).append(agent.number)
                links.host[row] = self._hosts.enter(urls.host(url))
        for url, number, about, *rest in state["flights"]:
            self._unclaimed[url] = Flight(number, candidate(about), *rest)


def _saved(agent: Spider) -> dict[str, Any]:
    net = agent.net
    return {
        "agent": [agent.number, agent.parent, agent.energy, agent.pages, agent.heard],
        "keywords": [[word, times] for word, times in agent.keywords.items()],
        "net": [net.w1, net.b1, net.w2, net.b2],
        "links": agent.links.save(),
    }


def _loaded(state: Mapping[str, Any]) -> Spider:
    number, parent, energy, pages, heard = state["agent"]
    keywords = Counts(dict(state["keywords"]))
    links = PrivateFrontier.load(state["links"], len(keywords))
    return Spider(number, parent, keywords, Net(*state["net"]), energy, links, pages, heard)
