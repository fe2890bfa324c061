"""A population of spiders as one frontier: whose turn it is, the links of each, and requests in flight (sheet 40.1).

Agents take turns, oldest first, one page per turn. An agent that waits for a reply is skipped; an agent whose request
only waits for its host to wake may draw another link, after all others. An agent whose links are all on resting hosts
misses its turn. A URL that one agent draws leaves the frontiers of all.
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
from scenthound.papers.parts.strategy_frontier import StrategyFrontier, from_plain, plain
from scenthound.papers.spiders.net import Net
from scenthound.papers.spiders.private_frontier import Hosts, PrivateFrontier
from scenthound.ports import Popped
from scenthound.text.vectors import Counts

FEWEST = 16  # links that an agent may hold, however tight the bound [sheet 40.1]


@dataclass(slots=True, eq=False)
class Spider:
    """One agent: its keywords, net, energy and private frontier."""

    number: int
    parent: int | None
    keywords: Counts
    """Its keywords, in order, with their counts."""
    net: Net
    energy: float
    links: PrivateFrontier
    pages: int = 0
    results: int = 0
    """Number of pages and misses that it has received; also the number of its turn."""
    in_flight: set[Url] = field(default_factory=set)
    columns: dict[str, int] = field(init=False)
    """The column of each keyword in the inputs of the net."""

    def __post_init__(self) -> None:
        self.columns = {word: index for index, word in enumerate(self.keywords)}


class Flight(NamedTuple):
    """A request in flight, with the scores and inputs of its link; no inputs if no link led to the URL."""

    agent: int
    candidate: Candidate
    number: int
    net: float
    page: float
    inputs: Any


class PageView(NamedTuple):
    """An agent's scores and inputs for all links of a page, which are about to be pushed."""

    agent: Spider
    page: float
    """The similarity of the page."""
    rows: Mapping[Url, int]
    net: Sequence[float]
    inputs: Any


class LinkView(NamedTuple):
    """An agent's scores and inputs for one link."""

    agent: Spider
    net: float = 0.0
    page: float = 0.0
    inputs: Any = 0.0


class Population(StrategyFrontier):
    """One `Frontier` over the private frontiers of all agents.

    `before_pop` is called before each draw, `on_retire` with each agent that is removed because it has no links left.
    """

    def __init__(
        self,
        bound: int | None,
        most: int,
        greed: float,
        on_retire: Callable[[Spider], None],
        before_pop: Callable[[], None],
    ) -> None:
        super().__init__(bound)
        self.limit = None if bound is None else max(FEWEST, bound // most)
        self.greed, self._on_retire, self._before_pop = greed, on_retire, before_pop
        self._hosts = Hosts()
        self.agents: dict[int, Spider] = {}
        self.clear(0)

    def clear(self, random_seed: int) -> None:
        """Remove all agents and links, and set the random seed."""
        for agent in list(self.agents.values()):
            self.remove(agent)
        self._forget_urls()
        self.random_seed, self.births = random_seed, 0
        self.view: PageView | None = None
        self._holders: dict[Url, list[int]] = {}
        self._flights: dict[Url, Flight] = {}
        self._unclaimed: dict[Url, Flight] = {}
        self._turn = self._last_keeper = -1
        self._next_number = 0
        self._redirect_target: Url | None = None

    # ---- the port

    def _push(self, candidate: Candidate) -> Candidate | None:
        url, score = candidate.url, candidate.score
        if candidate.due > self.host_clock.now or not self.agents:
            return candidate
        if self._unclaimed:
            self._unclaimed.pop(url, None)
        view = self.view
        row = view.rows.get(url) if view is not None else None
        if view is None or row is None or view.agent.number not in self.agents:
            return self._hold(LinkView(self._keeper(candidate)), candidate)  # a seed, or from a sitemap
        links = view.agent.links
        old_row = links.rows.get(url)
        if old_row is not None and score <= links.score[old_row]:
            return None  # most links were seen before with a score at least as good
        return self._hold(LinkView(view.agent, view.net[row], view.page, view.inputs[row]), candidate)

    def _pop(self) -> Popped | None:
        self._put_back()
        self._before_pop()
        resting = self._hosts.marked(self.host_clock.not_ready())
        ready = None if resting is None else ~resting
        for agent in self._in_turn():
            if self._is_busy(agent):
                continue
            if not agent.links:
                self.retire(agent)
                continue
            drawn = agent.links.draw(self._random_number(agent), self.greed, ready)
            if drawn is not None:
                scores = agent.links.scores_on(None)
                rank = 1 + int(np.count_nonzero(scores > scores[drawn.row]))
                flight = self._take_off(agent, drawn.row, drawn.probability)
                overtakes = resting is not None and self._overtakes(flight.candidate.score)
                return Popped(flight.candidate, rank, flight.number, overtakes)
        self._ask_for_hosts()
        return None

    def _overtakes(self, score: float) -> bool:
        """Whether an agent that may draw has a better link on a host that is ready at a known time."""
        clock = self.host_clock
        later = self._hosts.marked(host for host in clock.not_ready() if clock.ready_at(host) < math.inf)
        agents = [] if later is None else [agent for agent in self.agents.values() if not self._is_busy(agent)]
        return any(bool((agent.links.scores_on(later) > score).any()) for agent in agents)

    def _ask_for_hosts(self) -> None:
        """Ask the clock for all hosts from which an agent may draw."""
        for agent in self.agents.values():
            if agent.links and not self._is_busy(agent):
                numbers = agent.links.host[: len(agent.links.candidates)][agent.links.scores_on(None) > -math.inf]
                for number in np.unique(numbers).tolist():
                    self.host_clock.is_ready(self._hosts.name(number))

    def __len__(self) -> int:
        """The number of distinct waiting URLs."""
        return len(self._holders) + len(self._unclaimed)

    def __contains__(self, url: object) -> bool:
        return url in self._holders or url in self._unclaimed

    def urls(self) -> Collection[Url]:
        return [*self._holders, *self._unclaimed]

    # ---- in flight

    def settle(self, url: Url) -> None:
        """Record that this URL is no longer waited for. If it was redirected, its agent waits for the target."""
        flight, target, self._redirect_target = self._end(url), self._redirect_target, None
        if flight is not None and target is not None and target != url:
            other = self._flights.get(target)
            if other is None or other.candidate.score <= flight.candidate.score:
                self._end(target)
                self._begin(target, flight)
        self._unclaimed.pop(url, None)
        self._withdraw(url)

    def take(self, url: Url) -> Candidate | None:
        """Pop this URL if it waits. As the target of a redirect, it continues the flight of the redirected URL."""
        if (flight := self._unclaimed.pop(url, None)) is not None:
            self._begin(url, flight)
            return flight.candidate
        if self._is_running and url not in self._flights:  # before the first pop this is a restart
            self._redirect_target = url
        if url not in self._holders:
            return None
        holders = [self.agents[number] for number in sorted(self._holders[url])]
        agent = max(holders, key=lambda holder: holder.links.score[holder.links.rows[url]])
        return self._take_off(agent, agent.links.rows[url]).candidate

    def give_back(self, popped: Popped) -> Candidate | None:
        """Return the link to the agent that drew it."""
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
        """Remove an agent without links, unless it is the last agent or waits for a page."""
        if len(self.agents) > 1 and not agent.in_flight and not agent.links:
            self.remove(agent)
            self._on_retire(agent)

    def remove(self, agent: Spider) -> None:
        """Remove an agent and its links."""
        for url in list(agent.links):
            self.drop(agent, url)
        del self.agents[agent.number]

    def drop(self, agent: Spider, url: Url) -> None:
        """Remove a link from an agent."""
        self._hosts.leave(agent.links.remove(url))
        holders = self._holders[url]
        holders.remove(agent.number)
        if not holders:
            del self._holders[url]

    def share(self, agent: Spider, child: Spider) -> None:
        """Give the child every second link of its parent, by score."""
        stay, go = agent.links.halves()
        child.links = agent.links.copy_rows(go, len(child.keywords))
        for url in child.links:
            self._holders[url].remove(agent.number)
            self._holders[url].append(child.number)
        agent.links.keep(stay)
        self.join(child)

    def landed(self, candidate: Candidate) -> tuple[Spider | None, Flight | None]:
        """End the flight of a candidate. Returns its agent, or the oldest if that agent is gone, and the flight."""
        flight = self._end(candidate.url) or self._catch_up(candidate)
        number = flight.agent if flight is not None else candidate.carry.get("agent")
        agent = self.agents.get(number) if isinstance(number, int) else None
        agent = agent or next(iter(self.agents.values()), None)
        if agent is not None:
            agent.results += 1
            self._turn = agent.number
        return agent, flight

    def _catch_up(self, candidate: Candidate) -> Flight | None:
        """On resume, repeat the draw of a page that was drawn after the state was saved."""
        number, link = candidate.carry.get("agent"), candidate.carry.get("link")
        agent = self.agents.get(number) if isinstance(number, int) else None
        if agent is None or not isinstance(link, int) or (url := agent.links.find(link)) is None:
            return None
        for other in self._in_turn():
            if other is agent:
                break
            if not other.links:
                self.retire(other)
        self._take_off(agent, agent.links.rows[url])
        return self._end(url)

    def _put_back(self) -> None:
        """Put back requests that were in flight when the state was saved and have not been claimed since."""
        for url, flight in self._unclaimed.items():
            if flight.agent in self.agents and url not in self._holders:
                self._return(flight)
        self._unclaimed.clear()

    def _in_turn(self) -> list[Spider]:
        """The agents in order of their turns.

        Agents with nothing in flight come first; then oldest first, starting after the agent of the last page.
        """
        numbers = list(self.agents)
        index = bisect_right(numbers, self._turn)
        agents = [self.agents[number] for number in [*numbers[index:], *numbers[:index]]]
        return sorted(agents, key=lambda agent: bool(agent.in_flight)) if self._flights else agents

    def _is_busy(self, agent: Spider) -> bool:
        """Whether an agent waits for a reply. If it only waits for a host to wake, it is free."""
        for url in agent.in_flight:
            until = self.host_clock.ready_at(urls.host(url))
            if until <= self.host_clock.now or until == math.inf:
                return True
        return False

    def _random_number(self, agent: Spider) -> float:
        """A random number for an agent's draw, from 0 to 1.

        It depends only on the agent's turn and its number of links, so it is the same after a restart. A draw without a
        result, such as a link to a page that was already fetched, changes only the latter.
        """
        return random.Random(f"{self.random_seed}:{agent.number}:{agent.results}:{len(agent.links)}").random()

    def _keeper(self, candidate: Candidate) -> Spider:
        """The agent for a URL that no link led to: the one that had it, otherwise each agent in turn."""
        agent = self.agents.get(candidate.carry.get("agent", -1))
        if agent is None:
            numbers = list(self.agents)
            self._last_keeper = numbers[bisect_right(numbers, self._last_keeper) % len(numbers)]
            agent = self.agents[self._last_keeper]
        return agent

    # ---- links

    def _hold(self, link_view: LinkView, candidate: Candidate, number: int = -1) -> Candidate | None:
        """Give a link to an agent. Returns the link that was dropped, if no other agent has it."""
        agent, net, page, inputs = link_view
        links, url = agent.links, candidate.url
        if url in links:
            links.update(candidate, net, page, inputs)
            return None
        if number < 0:
            number, self._next_number = self._next_number, self._next_number + 1
        worst = links.worst() if self.limit is not None and len(links) >= self.limit else None
        if worst is not None and candidate.score <= worst.score:  # the new link would be the worst
            return candidate if url not in self._holders else None
        links.put(candidate, self._hosts.enter(urls.host(url)), number, net, page, inputs)
        self._holders.setdefault(url, []).append(agent.number)
        if worst is None:
            return None
        self.drop(agent, worst.url)
        return worst if worst.url not in self._holders else None

    def _return(self, flight: Flight) -> Candidate | None:
        """Return a link to the agent that drew it, unchanged."""
        candidate = flight.candidate._replace(carry={}, parts={})
        inputs = 0.0 if flight.inputs is None else flight.inputs
        link_view = LinkView(self.agents[flight.agent], flight.net, flight.page, inputs)
        return self._hold(link_view, candidate, flight.number)

    def _withdraw(self, url: Url) -> None:
        for number in list(self._holders.get(url, ())):
            self.drop(self.agents[number], url)

    def _take_off(self, agent: Spider, row: int, probability: float = 0.0) -> Flight:
        links = agent.links
        candidate, number = links.candidates[row], int(links.number[row])
        assert candidate is not None
        parts, inputs = {"agent": float(agent.number), "energy": agent.energy}, None
        if candidate.score < math.inf:
            parts = {"net": float(links.net[row]), "page": float(links.page[row]), **parts, "probability": probability}
            inputs = links.inputs[row].copy()
        carry = {"agent": agent.number, "link": number}
        net, page = float(links.net[row]), float(links.page[row])
        flight = Flight(agent.number, candidate._replace(carry=carry, parts=parts), number, net, page, inputs)
        self._withdraw(candidate.url)
        self._begin(candidate.url, flight)
        return flight

    def _begin(self, url: Url, flight: Flight) -> None:
        self._flights[url] = flight
        if flight.agent in self.agents:
            self.agents[flight.agent].in_flight.add(url)

    def _end(self, url: Url) -> Flight | None:
        flight = self._flights.pop(url, None)
        if flight is not None and flight.agent in self.agents:
            self.agents[flight.agent].in_flight.discard(url)
        return flight

    # ---- saving

    def save(self) -> dict[str, Any]:
        """The state as JSON and arrays."""
        flights = {**self._unclaimed, **self._flights}
        return {
            "agents": [_save_agent(agent) for agent in self.agents.values()],
            "flights": [
                [url, flight.agent, plain(flight.candidate)[:8], *flight[2:6]] for url, flight in flights.items()
            ],
            "luck": str(self.random_seed),
            "counts": [self.births, self._turn, self._last_keeper, self._next_number],
        }

    def load(self, state: Mapping[str, Any]) -> None:
        self.clear(int(state["luck"]))
        self.births, self._turn, self._last_keeper, self._next_number = state["counts"]
        for fields in state["agents"]:
            agent = _load_agent(fields)
            self.agents[agent.number] = agent
            links = agent.links
            for url, row in links.rows.items():
                self._holders.setdefault(url, []).append(agent.number)
                links.host[row] = self._hosts.enter(urls.host(url))
        for url, number, fields, *rest in state["flights"]:
            self._unclaimed[url] = Flight(number, from_plain(fields), *rest)


def _save_agent(agent: Spider) -> dict[str, Any]:
    net = agent.net
    return {
        "agent": [agent.number, agent.parent, agent.energy, agent.pages, agent.results],
        "keywords": [[word, times] for word, times in agent.keywords.items()],
        "net": [net.w1, net.b1, net.w2, net.b2],
        "links": agent.links.save(),
    }


def _load_agent(state: Mapping[str, Any]) -> Spider:
    number, parent, energy, pages, results = state["agent"]
    keywords = Counts(dict(state["keywords"]))
    links = PrivateFrontier.load(state["links"], len(keywords))
    return Spider(number, parent, keywords, Net(*state["net"]), energy, links, pages, results)
