"""CC-BFS and CC-BFS-k: breadth-first, only through pages that cluster with the accepted pages (sheet 50.2).

    accept u if max(C0(u), C1(u)) > C2(u)

    C(u)  = linked pairs of u's neighbours / all pairs of u's neighbours
    C0    in the accepted set S with u        C1 among the candidates N1        C2 in N2 with u

Cami and Deo [GRAPH]: communities are dense in triangles. The crawl goes level by level. N1 is the known neighbours of S
(at first the seeds, which count as linked with one another), N2 the neighbours of N1 outside S and N1. Pages of N1 that
are not accepted are rejected for good. No text is read. With `k` above 1 the coefficients are C^(k) of sheet 50.3.

With `step` the pages of N1 form a priority queue by C0, and the best `step` of them are fetched and judged at a time
([GRAPH], section 4: one crawling step processes the top URL or a batch of the top k). S grows after every step, so the
next step is judged against the new S; N1 is the batch and all waiting pages. The crawl goes on after a step that
accepts no page.

Ours, as the sheet decides: links have no direction; S is frozen while a level is judged; with `relax`, a level that
accepts no page is judged again with max(C0, C1) ≥ C2; N1 is fetched in order of C0 as known before fetching, then of
discovery. A link between two pages of N2 is seen only once one of them has been fetched, and `lookahead` says how the
crawl obtains these links: `known` uses those seen so far, `fetch` fetches N2 as well, `graph` looks them up in the
recorded web. The last is an oracle: no crawler could do it, and only the laboratory can provide it.

A URL that can't be fetched in its level, or not until much later, is rejected with that level. The target of a redirect
replaces the URL that led to it. A full frontier refuses new URLs, and once `memory` links are known, no new URL is
added.
"""

from __future__ import annotations

import heapq
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from scenthound.errors import BadConfig
from scenthound.model import DECIMALS, Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.papers.parts.clustering import MOST_LINKS, NeighbourGraph, as_numbers, generalised, redirected_node
from scenthound.papers.parts.level_frontier import ChosenUrl, LevelFrontier
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Frontier
from scenthound.strategies import strategy


class RescoredQueue:
    """Item numbers in order of score, highest first, then of number. Scores are computed when `take` is called."""

    def __init__(self, score: Callable[[int], float]) -> None:
        self._score = score
        self._scores: dict[int, float] = {}
        self._heap: list[tuple[float, int]] = []
        self._changed: set[int] = set()

    def touch(self, numbers: Iterable[int]) -> None:
        """Mark numbers that are new or whose score may have changed."""
        self._changed.update(numbers)

    def take(self, count: int, is_waiting: Callable[[int], bool]) -> list[int]:
        """Remove and return the best `count` numbers that still wait, best first.

        >>> queue = RescoredQueue({1: 0.5, 2: 0.9, 3: 0.5}.__getitem__)
        >>> queue.touch([3, 2, 1])
        >>> queue.take(2, lambda number: True)
        [2, 1]
        """
        for number in self._changed:
            if is_waiting(number) and self._scores.get(number) != (score := self._score(number)):
                self._scores[number] = score
                heapq.heappush(self._heap, (-score, number))
        self._changed.clear()
        taken: list[int] = []
        while self._heap and len(taken) < count:
            score, number = heapq.heappop(self._heap)
            if self._scores.get(number) == -score:  # otherwise the entry is stale
                del self._scores[number]
                if is_waiting(number):
                    taken.append(number)
        return taken


MOST_RINGS = 8  # distances in crawl graphs are rarely larger, and a ring can cover the whole graph


class Clustering(NamedTuple):
    """The clustering coefficients of a page, and whether the rule accepts it."""

    number: int
    c0: float
    c1: float
    c2: float
    is_clustered: bool

    @property
    def is_balanced(self) -> bool:
        """Whether the relaxed rule accepts the page: max(C0, C1) ≥ C2."""
        return round(max(self.c0, self.c1), DECIMALS) >= round(self.c2, DECIMALS)


class Level(NamedTuple):
    """The result of judging a level."""

    is_relaxed: bool
    candidates: Sequence[int]
    """N1 in fetch order."""
    beyond: Sequence[int]
    """N2 in discovery order."""
    verdicts: Sequence[Clustering]
    accepted: Sequence[int]


@strategy("cc-bfs")
@dataclass
class CcBfs(Parameterised):
    """Goes level by level through pages that cluster with the seeds; reads links only, no text."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "C0": "clustering with the accepted pages, as known before fetching; this is the score",
        "C1": "clustering with the other candidates of its level, as known before fetching",
        "C2": "clustering with the pages behind the level, as known before fetching",
        "behind": "1 for a page behind the level that is fetched only for its links (lookahead=fetch)",
    }
    lookahead: str = parameter(
        "known",
        "links among the pages behind a level: known (those seen so far), fetch (fetch these pages too) "
        "or graph (an oracle that reads them from the recording; laboratory only)",
        among=("known", "fetch", "graph"),
    )
    k: int = parameter(1, "rings of neighbours that count; 1 is CC-BFS, more is CC-BFS-k", least=1, most=MOST_RINGS)
    weights: str = parameter("", 'weight of each ring, such as "1 0.5"; empty: each has half the weight of the last')
    relax: bool = parameter(True, "if a level accepts no page, accept pages with max(C0, C1) equal to C2")
    step: int = parameter(0, "pages fetched and judged at a time, largest C0 first; 0: whole levels", least=0)
    wanted: int = parameter(0, "end the crawl at this number of accepted pages, including seeds; 0: never", least=0)
    memory: int = parameter(MOST_LINKS, "links remembered; beyond that no new URL is added", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights_ = ring_weights(self.weights, self.k)
        self.levels_ = LevelFrontier(None, self._next_stage)
        self.peek_: Callable[[Url], Iterable[Url]] | None = None
        self.on_level_: Callable[[Level], None] | None = None
        """Called with the result of each level, for inspection."""

    # ---- the crawl

    def peek(self, links: Callable[[Url], Iterable[Url]]) -> None:
        """Set the function that looks up recorded links, for `lookahead="graph"`; called before `start`."""
        self.peek_ = links

    @property
    def declaration(self) -> Declaration:
        return Declaration(
            parts=Parts(),
            oracle=self.lookahead == "graph",
            oracle_modes=("lookahead=graph",),
            score_parts=self.score_parts,
        )

    def frontier(self, bound: int | None) -> Frontier:
        self.levels_ = LevelFrontier(bound, self._next_stage)
        return self.levels_

    def start(self, topic: Topic, seeds: Sequence[Url]) -> Iterable[Candidate]:
        if self.lookahead == "graph" and self.peek_ is None:
            raise BadConfig(
                "cc-bfs: look-ahead `graph` is an oracle and works only in the laboratory",
                "choose lookahead=known or lookahead=fetch",
            )
        self.levels_.clear()
        self.graph_ = NeighbourGraph(self.memory)
        self.accepted_ = {self.graph_.add(url) for url in seeds}
        self.graph_.clique = set(self.accepted_)
        self.rejected_: set[int] = set()
        self.fetched_: set[int] = set()
        self.fringe_: set[int] = set()  # linked with S, not judged and not in the current level
        self.level_: dict[int, None] = {}  # N1 in fetch order
        self.beyond_: dict[int, None] = {}  # N2 in discovery order
        self.stage_, self.kind_ = 0, "seeds"
        self.queue_ = RescoredQueue(self._c0)
        return [Candidate(Url(url), math.inf, {"stage": 0, "node": node}) for node, url in enumerate(self.graph_.names)]

    def read(self, page: Page) -> Iterable[Candidate]:
        node = self._add_fetched(page)
        self.fetched_.add(node)
        graph, offers = self.graph_, []
        for link in page.outlinks:
            target = graph.number(link.url)
            if target is None:
                if graph.is_full:
                    continue
                target = graph.add(link.url)
            self._connect(node, target)
            if target not in self.fetched_ and not self._is_judged(target) and link.url not in self.levels_:
                offers.append(page.offer(link, 0.0))
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self._catch_up(miss.candidate)
        self.levels_.settle(miss.candidate.url)
        return ()

    # ---- the graph

    def _add_fetched(self, page: Page) -> int:
        """Add a fetched page to the graph and return its node. It replaces a requested URL that redirects to it."""
        self._catch_up(page.candidate)
        self.levels_.settle(page.candidate.url)
        node: int = self.graph_.add(page.url)
        requested = redirected_node(page.candidate, node, len(self.graph_))
        if requested is not None and requested not in self.fetched_:
            self._merge(requested, node)
        return node

    def _merge(self, alias: int, into: int) -> None:
        """Merge two URLs of one page: `into` takes over the links of `alias` and its position in the level."""
        for other in self.graph_.neighbours(alias):
            if other in self.accepted_ and not self._is_judged(into):
                self.fringe_.add(into)
        self.graph_.merge(alias, into)
        if alias in self.accepted_:
            self.accepted_.remove(alias)
            self._accept(into)
        self.fringe_.discard(alias)
        self.queue_.touch((into, *self.graph_.neighbours(into)))
        for members in (self.level_, self.beyond_):
            if alias in members:
                del members[alias]
                if into not in self.level_ and not self._is_judged(into):
                    members[into] = None

    def _connect(self, node: int, other: int) -> None:
        if self.graph_.connect(node, other):
            if node in self.accepted_ and not self._is_judged(other):
                self.fringe_.add(other)
            elif other in self.accepted_ and not self._is_judged(node):
                self.fringe_.add(node)
            self._touch(node, other)

    def _touch(self, node: int, other: int) -> None:
        """Mark the pages whose C0 a new link changes: its ends or, if both are in S, their common neighbours."""
        ends_in_s = (node in self.accepted_) + (other in self.accepted_)
        if self.step and ends_in_s:
            common = self.graph_.neighbours(node) & self.graph_.neighbours(other)
            self.queue_.touch(common if ends_in_s == 2 else (node, other))

    def _is_judged(self, node: int) -> bool:
        return node in self.accepted_ or node in self.rejected_

    def _accept(self, node: int) -> None:
        self.accepted_.add(node)
        self.rejected_.discard(node)
        self.fringe_.discard(node)
        self.fringe_.update(neighbour for neighbour in self.graph_.neighbours(node) if not self._is_judged(neighbour))
        if self.step:
            self.queue_.touch(self.graph_.neighbours(node))

    # ---- the levels

    def _next_stage(self) -> list[ChosenUrl] | None:
        """The URLs to fetch after the current stage: N2, or N1 of the next level; None when the crawl is over."""
        if self.kind_ == "over":
            return None
        if self.kind_ == "N1":
            self.beyond_ = dict.fromkeys(self._neighbours_of_level())
            if self.lookahead == "fetch":
                self.stage_, self.kind_ = self.stage_ + 1, "N2"
                return [self._choice(node) for node in self.beyond_ if node not in self.fetched_]
            self._peek()
        if self.kind_ != "seeds" and self._is_over(self._judge()):
            self.kind_ = "over"
            return None
        return self._next_level()

    def _is_over(self, has_grown: bool) -> bool:
        return (not has_grown and not self.step) or 0 < self.wanted <= len(self.accepted_)

    def _next_level(self) -> list[ChosenUrl] | None:
        """Step 2 of the sheet: N1 in order of C0 before fetching, then of discovery; with `step`, only the first."""
        chosen = self._best_of_queue() if self.step else self._whole_level()
        if not chosen:
            self.kind_ = "over"
            return None
        self.fringe_.difference_update(verdict.number for verdict in chosen)
        self.level_, self.beyond_ = {verdict.number: None for verdict in chosen}, {}
        self.stage_, self.kind_ = self.stage_ + 1, "N1"
        return [self._choice(verdict.number, verdict) for verdict in chosen if verdict.number not in self.fetched_]

    def _whole_level(self) -> list[Clustering]:
        fringe = [node for node in sorted(self.fringe_) if not self._is_judged(node)]
        level = frozenset(fringe)
        verdicts = [self._coefficients(node, level, frozenset()) for node in fringe]
        return sorted(verdicts, key=lambda verdict: (-round(verdict.c0, DECIMALS), verdict.number))

    def _best_of_queue(self) -> list[Clustering]:
        if self.k > 1:
            self.queue_.touch(self.fringe_)  # a link can change C^(k) of pages farther away
        best = self.queue_.take(self.step, lambda node: node in self.fringe_ and not self._is_judged(node))
        return [self._coefficients(node, self.fringe_, frozenset()) for node in best]

    def _c0(self, node: int) -> float:
        return round(generalised(self.graph_, node, self.weights_, self.accepted_), DECIMALS)

    def _choice(self, node: int, verdict: Clustering | None = None) -> ChosenUrl:
        url, carry = Url(self.graph_.names[node]), {"stage": self.stage_, "node": node}
        if verdict is None:
            return ChosenUrl(url, 0.0, carry, {"behind": 1.0})
        return ChosenUrl(url, verdict.c0, carry, {"C0": verdict.c0, "C1": verdict.c1, "C2": verdict.c2})

    def _neighbours_of_level(self) -> list[int]:
        neighbours: set[int] = set()
        for node in self.level_:
            neighbours |= self.graph_.neighbours(node)
        neighbours.difference_update(self.level_)
        waiting = self.fringe_ if self.step else ()
        return sorted(node for node in neighbours if node not in waiting and not self._is_judged(node))

    def _peek(self) -> None:
        """Look up the links of N2 in the recorded web, without fetching N2 (the oracle)."""
        if self.peek_ is not None and self.lookahead == "graph":
            for node in self.beyond_:
                for url in self.peek_(Url(self.graph_.names[node])):
                    target = self.graph_.number(url)  # pages that no fetched page links to stay unknown
                    if target is not None:
                        self._connect(node, target)

    def _judge(self) -> bool:
        """Steps 4 and 5 of the sheet: accept or reject the level. Returns whether a page was accepted."""
        beyond = frozenset(self.beyond_)
        if self.step:
            self.fringe_.update(self.level_)  # N1 is the batch and all waiting pages
        candidates = self.fringe_ if self.step else frozenset(self.level_)
        verdicts = [self._coefficients(node, candidates, beyond) for node in self.level_ if node in self.fetched_]
        accepted = [verdict.number for verdict in verdicts if verdict.is_clustered]
        is_relaxed = not accepted and self.relax and not self.step
        if is_relaxed:
            accepted = [verdict.number for verdict in verdicts if verdict.is_balanced]
        self.rejected_.update(self.level_)
        self.fringe_.difference_update(self.level_)
        for node in accepted:
            self._accept(node)
        if self.on_level_ is not None:
            self.on_level_(Level(is_relaxed, list(self.level_), list(self.beyond_), verdicts, accepted))
        return bool(accepted)

    def _coefficients(self, node: int, level: Set[int], beyond: Set[int]) -> Clustering:
        graph, weights = self.graph_, self.weights_
        c0 = generalised(graph, node, weights, self.accepted_)
        c1 = generalised(graph, node, weights, level)
        c2 = generalised(graph, node, weights, beyond)
        return Clustering(node, c0, c1, c2, round(max(c0, c1), DECIMALS) > round(c2, DECIMALS))

    def _catch_up(self, candidate: Candidate) -> None:
        """On resume, start the stages that had begun before this page was requested; `stage` is their number."""
        stage: Any = candidate.carry.get("stage")
        while _is_integer(stage) and self.stage_ < stage and (chosen := self._next_stage()) is not None:
            self.levels_.begin(chosen)

    # ---- saving

    def save(self) -> Mapping[str, Any]:
        sets = {name: as_numbers(sorted(getattr(self, f"{name}_"))) for name in _SETS}
        ordered = {name: as_numbers(getattr(self, f"{name}_")) for name in _ORDERED}
        state = {"stage": self.stage_, "kind": self.kind_, "frontier": self.levels_.save()}
        return {"graph": self.graph_.save(), **sets, **ordered, **state}

    def load(self, state: Mapping[str, Any]) -> None:
        self.graph_ = NeighbourGraph.load(state["graph"], self.memory)
        for name in _SETS:
            setattr(self, f"{name}_", set(state[name].tolist()))
        for name in _ORDERED:
            setattr(self, f"{name}_", dict.fromkeys(state[name].tolist()))
        self.stage_, self.kind_ = state["stage"], state["kind"]
        self.levels_.load(state["frontier"])
        self.queue_ = RescoredQueue(self._c0)
        self.queue_.touch(self.fringe_)


_SETS = ("accepted", "rejected", "fetched", "fringe")
_ORDERED = ("level", "beyond")


def ring_weights(text: str, k: int) -> tuple[float, ...]:
    """The weights of the first k rings; 2^(1-i) by default."""
    if not text.strip():
        return tuple(2.0 ** (1 - ring) for ring in range(1, k + 1))
    hint = f"give {k} numbers that are not negative, such as " + " ".join(["1", "0.5", "0.25", "0.125"][:k])
    try:
        weights = tuple(float(part) for part in re.split(r"[\s,;/]+", text.strip()))
    except ValueError:
        raise BadConfig(f"cc-bfs: `weights` can't be {text!r}", hint) from None
    if len(weights) != k or not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise BadConfig(f"cc-bfs: `weights` can't be {text!r} with k={k}", hint)
    return weights


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
