"""CC-BFS and CC-BFS-k: breadth-first, only through pages well clustered with the accepted ones (sheet 50.2).

    accept u if max(C0(u), C1(u)) > C2(u)

    C(u)  = linked pairs of u's neighbours / all pairs of them
    C0    in the accepted set S with u        C1 among the candidates N1        C2 in N2 with u

Cami and Deo [GRAPH]: communities are dense in triangles. The crawl goes level by level. N1 are the known neighbours of
S (at first the seeds, which count as linked with one another), N2 the neighbours of N1 beyond. Pages of N1 that are not
accepted are thrown away for good. No text is read. With `k` above 1 the coefficients are C^(k) of sheet 50.3.

With `step` the pages of N1 are a priority queue by C0, and the best `step` of them are fetched and judged at a time
([GRAPH], section 4: one crawling step processes the top URL or a batch of the top k). S grows after every step, so the
next is judged by what is known then; N1 is the batch and all that wait. A step that accepts nobody ends nothing.

Ours, as the sheet decides: links have no direction; S is frozen while a level is judged; a level that accepts nobody is
judged by "not smaller" if `relax`; N1 is fetched by C0 as known before fetching, then in the order of discovery. Links
between two pages of N2 are seen only once one of them was fetched, and `lookahead` says what is paid for them: `known`
uses what is known, `fetch` fetches N2 as well, `graph` looks them up in the recorded web. That is an oracle: no crawler
could do it, and only the laboratory can provide it.

A URL that can't be fetched in its level, or may be requested only much later, is thrown away with that level. The
target of a redirect takes the place of the URL that led to it. A full frontier refuses new URLs, and once `memory`
links are known no new URL is added.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from scenthound.errors import BadConfig
from scenthound.graph.clustering import MOST_LINKS, NeighbourGraph, as_numbers, generalised
from scenthound.model import DECIMALS, Candidate, Miss, Topic, Url
from scenthound.page.page import Page
from scenthound.page.record import Parts
from scenthound.parameters import Parameterised, parameter
from scenthound.ports import Declaration, Frontier
from scenthound.strategies import strategy
from scenthound.strategies.parts.changed_queue import ChangedQueue
from scenthound.strategies.parts.level_frontier import ChosenUrl, LevelFrontier

MOST_RINGS = 8  # distances in crawl graphs are rarely larger, and a ring may be the whole graph


class Clustering(NamedTuple):
    """The clustering coefficients of a page and whether they speak for it."""

    number: int
    c0: float
    c1: float
    c2: float
    is_clustered: bool

    @property
    def is_balanced(self) -> bool:
        """The relaxed rule."""
        return round(max(self.c0, self.c1), DECIMALS) >= round(self.c2, DECIMALS)


class Level(NamedTuple):
    """A level after it was judged."""

    is_relaxed: bool
    candidates: Sequence[int]
    """N1 in the order of fetching."""
    beyond: Sequence[int]
    """N2 in the order of discovery."""
    verdicts: Sequence[Clustering]
    accepted: Sequence[int]


@strategy("cc-bfs")
@dataclass
class CcBfs(Parameterised):
    """Level by level through pages that cluster with the seeds; links only, no text."""

    score_parts: ClassVar[Mapping[str, str]] = {
        "C0": "clustering with the accepted pages, as known before fetching: the score itself",
        "C1": "clustering with the other candidates of its level, as known before fetching",
        "C2": "clustering with the pages behind the level, as known before fetching",
        "behind": "1 for a page behind the level that is fetched to see its links (lookahead=fetch)",
    }
    lookahead: str = parameter(
        "known",
        "links among the pages behind a level: known (those seen so far), fetch (fetch these pages too) "
        "or graph (an oracle that reads them from the recording; laboratory only)",
        among=("known", "fetch", "graph"),
    )
    k: int = parameter(1, "rings of neighbours that count; 1 is CC-BFS, more CC-BFS-k", least=1, most=MOST_RINGS)
    weights: str = parameter("", 'weight of each ring, as "1 0.5"; if empty each has half the weight of the last')
    relax: bool = parameter(True, "if a level accepts no page, accept pages that are not less clustered")
    step: int = parameter(0, "pages that are fetched and judged at a time, by C0; 0: whole levels", least=0)
    wanted: int = parameter(0, "the crawl ends when so many pages are accepted, seeds included; 0: never", least=0)
    memory: int = parameter(MOST_LINKS, "links remembered; beyond that no new URL is added", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.weights_ = ring_weights(self.weights, self.k)
        self.levels_ = LevelFrontier(None, self._next_stage)
        self.peek_: Callable[[Url], Iterable[Url]] | None = None
        self.on_level_: Callable[[Level], None] | None = None
        """Called with every level after it was judged, for inspection."""

    # ---- what the crawl asks

    def peek(self, links: Callable[[Url], Iterable[Url]]) -> None:
        """Receive the recorded links of any page from the laboratory, for `lookahead="graph"`; before `start`."""
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
                "cc-bfs: look-ahead `graph` is an oracle and works in the laboratory only",
                "choose lookahead=known or lookahead=fetch",
            )
        self.levels_.clear()
        self.graph_ = NeighbourGraph(self.memory)
        self.accepted_ = {self.graph_.add(url) for url in seeds}
        self.graph_.clique = set(self.accepted_)
        self.rejected_: set[int] = set()
        self.fetched_: set[int] = set()
        self.fringe_: set[int] = set()  # linked with S, not judged and not in the current level
        self.level_: dict[int, None] = {}  # N1, in the order of fetching
        self.beyond_: dict[int, None] = {}  # N2, in the order of discovery
        self.stage_, self.kind_ = 0, "seeds"
        self.queue_ = ChangedQueue(self._c0)
        return [
            Candidate(Url(url), math.inf, {"stage": 0, "node": number}) for number, url in enumerate(self.graph_.names)
        ]

    def read(self, page: Page) -> Iterable[Candidate]:
        number = self._arrived(page)
        self.fetched_.add(number)
        graph, offers = self.graph_, []
        for link in page.outlinks:
            other = graph.number(link.url)
            if other is None:
                if graph.is_full:
                    continue
                other = graph.add(link.url)
            self._tie(number, other)
            if other not in self.fetched_ and not self._is_judged(other) and link.url not in self.levels_:
                offers.append(page.offer(link, 0.0))
        return offers

    def miss(self, miss: Miss) -> Iterable[Candidate]:
        self._catch_up(miss.candidate)
        self.levels_.settle(miss.candidate.url)
        return ()

    # ---- the graph

    def _arrived(self, page: Page) -> int:
        """The node of a fetched page. If a redirect led to it, it replaces the requested URL."""
        self._catch_up(page.candidate)
        self.levels_.settle(page.candidate.url)
        number: int = self.graph_.add(page.url)
        asked: Any = page.candidate.carry.get("node")
        is_known = isinstance(asked, int) and 0 <= asked < len(self.graph_)
        if is_known and asked != number and asked not in self.fetched_:
            self._merge(asked, number)
        return number

    def _merge(self, alias: int, into: int) -> None:
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

    def _tie(self, node: int, other: int) -> None:
        if self.graph_.connect(node, other):
            if node in self.accepted_ and not self._is_judged(other):
                self.fringe_.add(other)
            elif other in self.accepted_ and not self._is_judged(node):
                self.fringe_.add(node)
            self._touch(node, other)

    def _touch(self, node: int, other: int) -> None:
        """Note whose C0 a new link changes: its ends, or, between two pages of S, those next to both."""
        known = (node in self.accepted_) + (other in self.accepted_)
        if self.step and known:
            both = self.graph_.neighbours(node) & self.graph_.neighbours(other)
            self.queue_.touch(both if known == 2 else (node, other))

    def _is_judged(self, number: int) -> bool:
        return number in self.accepted_ or number in self.rejected_

    def _accept(self, number: int) -> None:
        self.accepted_.add(number)
        self.rejected_.discard(number)
        self.fringe_.discard(number)
        self.fringe_.update(neighbour for neighbour in self.graph_.neighbours(number) if not self._is_judged(neighbour))
        if self.step:
            self.queue_.touch(self.graph_.neighbours(number))

    # ---- the levels

    def _next_stage(self) -> list[ChosenUrl] | None:
        """What is fetched after the current stage: N2, or the N1 of the next level; None when the crawl is over."""
        if self.kind_ == "over":
            return None
        if self.kind_ == "N1":
            self.beyond_ = dict.fromkeys(self._neighbours_of_level())
            if self.lookahead == "fetch":
                self.stage_, self.kind_ = self.stage_ + 1, "N2"
                return [self._choice(number) for number in self.beyond_ if number not in self.fetched_]
            self._peek()
        if self.kind_ != "seeds" and self._is_over(self._judge()):
            self.kind_ = "over"
            return None
        return self._next_level()

    def _is_over(self, has_grown: bool) -> bool:
        return (not has_grown and not self.step) or 0 < self.wanted <= len(self.accepted_)

    def _next_level(self) -> list[ChosenUrl] | None:
        """Step 2: N1 by C0 as known before fetching, then by discovery; with `step` the first of them."""
        chosen = self._best_of_queue() if self.step else self._whole_level()
        if not chosen:
            self.kind_ = "over"
            return None
        self.fringe_.difference_update(number for _, number in chosen)
        self.level_, self.beyond_ = {number: None for _, number in chosen}, {}
        self.stage_, self.kind_ = self.stage_ + 1, "N1"
        return [self._choice(number, verdict) for verdict, number in chosen if number not in self.fetched_]

    def _whole_level(self) -> list[tuple[Clustering, int]]:
        fringe = [number for number in sorted(self.fringe_) if not self._is_judged(number)]
        level = frozenset(fringe)
        judged = [(self._coefficients(number, level, frozenset()), number) for number in fringe]
        judged.sort(key=lambda one: (-round(one[0].c0, DECIMALS), one[1]))
        return judged

    def _best_of_queue(self) -> list[tuple[Clustering, int]]:
        if self.k > 1:
            self.queue_.touch(self.fringe_)  # a link may change C^(k) of pages that are farther away
        best = self.queue_.take(self.step, lambda number: number in self.fringe_ and not self._is_judged(number))
        return [(self._coefficients(number, self.fringe_, frozenset()), number) for number in best]

    def _c0(self, number: int) -> float:
        return round(generalised(self.graph_, number, self.weights_, self.accepted_), DECIMALS)

    def _choice(self, number: int, verdict: Clustering | None = None) -> ChosenUrl:
        carry = {"stage": self.stage_, "node": number}
        if verdict is None:
            return ChosenUrl(Url(self.graph_.names[number]), 0.0, carry, {"behind": 1.0})
        parts = {"C0": verdict.c0, "C1": verdict.c1, "C2": verdict.c2}
        return ChosenUrl(Url(self.graph_.names[number]), verdict.c0, carry, parts)

    def _neighbours_of_level(self) -> list[int]:
        neighbours: set[int] = set()
        for number in self.level_:
            neighbours |= self.graph_.neighbours(number)
        neighbours.difference_update(self.level_)
        waiting = self.fringe_ if self.step else ()
        return sorted(number for number in neighbours if number not in waiting and not self._is_judged(number))

    def _peek(self) -> None:
        """The oracle's look-ahead: the links of N2, without fetching it."""
        if self.peek_ is not None and self.lookahead == "graph":
            for number in self.beyond_:
                for url in self.peek_(Url(self.graph_.names[number])):
                    other = self.graph_.number(url)  # pages without links to them stay unknown
                    if other is not None:
                        self._tie(number, other)

    def _judge(self) -> bool:
        """Steps 4 and 5. False if no page was accepted."""
        beyond = frozenset(self.beyond_)
        if self.step:
            self.fringe_.update(self.level_)  # N1 is the batch and all that wait
        candidates = self.fringe_ if self.step else frozenset(self.level_)
        verdicts = [self._coefficients(number, candidates, beyond) for number in self.level_ if number in self.fetched_]
        accepted = [verdict.number for verdict in verdicts if verdict.is_clustered]
        is_relaxed = not accepted and self.relax and not self.step
        if is_relaxed:
            accepted = [verdict.number for verdict in verdicts if verdict.is_balanced]
        self.rejected_.update(self.level_)
        self.fringe_.difference_update(self.level_)
        for number in accepted:
            self._accept(number)
        if self.on_level_ is not None:
            self.on_level_(Level(is_relaxed, list(self.level_), list(self.beyond_), verdicts, accepted))
        return bool(accepted)

    def _coefficients(self, number: int, level: Set[int], beyond: Set[int]) -> Clustering:
        graph, weights = self.graph_, self.weights_
        c0 = generalised(graph, number, weights, self.accepted_)
        c1 = generalised(graph, number, weights, level)
        c2 = generalised(graph, number, weights, beyond)
        return Clustering(number, c0, c1, c2, round(max(c0, c1), DECIMALS) > round(c2, DECIMALS))

    def _catch_up(self, candidate: Candidate) -> None:
        """On resume, start the levels that had begun before this page was fetched; its stage says how many."""
        stage: Any = candidate.carry.get("stage")
        while _is_whole(stage) and self.stage_ < stage and (chosen := self._next_stage()) is not None:
            self.levels_.begin(chosen)

    # ---- what survives a restart

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
        self.queue_ = ChangedQueue(self._c0)
        self.queue_.touch(self.fringe_)


_SETS = ("accepted", "rejected", "fetched", "fringe")
_ORDERED = ("level", "beyond")


def ring_weights(text: str, k: int) -> tuple[float, ...]:
    """The weights of the first k rings; 2^(1-i) by default."""
    if not text.strip():
        return tuple(2.0 ** (1 - ring) for ring in range(1, k + 1))
    hint = f"give {k} numbers, 0 or more, as " + " ".join(["1", "0.5", "0.25", "0.125"][:k])
    try:
        weights = tuple(float(part) for part in re.split(r"[\s,;/]+", text.strip()))
    except ValueError:
        raise BadConfig(f"cc-bfs: `weights` can't be {text!r}", hint) from None
    if len(weights) != k or not all(math.isfinite(weight) and weight >= 0 for weight in weights):
        raise BadConfig(f"cc-bfs: `weights` can't be {text!r} with k={k}", hint)
    return weights


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
