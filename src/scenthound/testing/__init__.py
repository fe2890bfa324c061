"""Tiny webs and contract suites, for our tests and for authors of plug-ins.

`TinyWeb` is a web that fits in your head; `walk` crawls it without a network. `strategy_contract` checks that a
strategy does what the loop relies on. As in a real crawl, pages have only the parts that the strategy declares.
"""

from __future__ import annotations

import copy
import json
import math
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

from scenthound import url as urls
from scenthound.errors import PartMissing, StrategyFailed
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Dropped, Limits
from scenthound.loop.replay import Landing, replay
from scenthound.model import Candidate, Miss, Moved, Step, Topic, Url
from scenthound.page.judge import Judge
from scenthound.page.page import Page
from scenthound.page.read import read, read_html
from scenthound.page.record import EVERYTHING, Analysed, Parts, Record
from scenthound.ports import Declares, OwnFrontier, Saves, Strategy, Taxonomy, Trains, declaration_of
from scenthound.store.heaps import MemoryFrontier
from scenthound.store.memory import MemoryHistory
from scenthound.text.term_counts import TermCounts
from scenthound.text.tokens import Analyser
from scenthound.web.parse import MAX_LINKS, parse_html


class TinyWeb:
    """Pages by URL: HTML, or `words -> links` in short form, or `=> URL` for a redirect.

    >>> web = TinyWeb({"a.example/": "bees and honey -> b.example/", "old.example/": "=> a.example/"})
    >>> web.html["http://a.example/"]
    '<p>bees and honey</p><p><a href="http://b.example/">b.example/</a></p>'
    """

    def __init__(self, pages: Mapping[str, str]) -> None:
        self.html: dict[Url, str] = {}
        self.moved: dict[Url, Url] = {}
        self.fetched: list[Url] = []
        for name, content in pages.items():
            url = named(name)
            if content.startswith("=>"):
                self.moved[url] = named(content[2:].strip())
            elif content.lstrip().startswith("<"):
                self.html[url] = content
            else:
                words, _, targets = content.partition("->")
                anchors = "".join(f'<p><a href="{named(t)}">{t}</a></p>' for t in targets.split())
                self.html[url] = f"<p>{words.strip()}</p>{anchors}"

    def fetch(self, candidate: Candidate, parts: Parts = EVERYTHING) -> Landing:
        """What a driver would bring for this candidate, read with these parts; a URL the web lacks is a 404."""
        self.fetched.append(candidate.url)
        if candidate.url in self.moved:
            target = self.moved[candidate.url]
            return Moved(candidate, target, target)
        html = self.html.get(candidate.url)
        if html is None:
            return Miss(candidate, "http-404", status=404)
        return Page(candidate.url, candidate, read_html(html, candidate.url, parts), size=len(html))


def page_of(
    html: str,
    url: str = "http://page.test/",
    *,
    candidate: Candidate | None = None,
    parts: Parts = EVERYTHING,
    max_links: int = MAX_LINKS,
) -> Page:
    """A page made of HTML, as a strategy is handed it."""
    made = urls.make(url)
    record = read(parse_html(html, made, max_links=max_links), made, parts)
    return Page(made, candidate or Candidate(made, 0.0), record, size=len(html))


def named(name: str) -> Url:
    """A URL from its short name: `a.example/x` is `http://a.example/x`."""
    return urls.make(name if "://" in name else f"http://{name}")


class Walk:
    """A finished replay: the trail, what fell out of the frontier, and why it ended."""

    def __init__(self, history: MemoryHistory, crawl: Crawl, dropped: list[Dropped], reason: str) -> None:
        self.history, self.crawl, self.dropped, self.reason = history, crawl, dropped, reason

    @property
    def steps(self) -> list[Step]:
        return list(self.history.trail())

    @property
    def visited(self) -> list[Url]:
        return [step.url for step in self.history.trail()]

    @property
    def evicted(self) -> list[Url]:
        return [d.candidate.url for d in self.dropped if d.reason in ("evicted", "frontier-full")]

    def __contains__(self, name: str) -> bool:
        return named(name) in self.visited


def walk(
    web: TinyWeb,
    strategy: Strategy,
    topic: Topic | str,
    seeds: str | Sequence[str],
    *,
    pages: int = 1000,
    bound: int | None = None,
    in_flight: int = 1,
    seed_number: int = 0,
    fetch: Callable[[Candidate], Landing] | None = None,
    spread: int = 1,
) -> Walk:
    """Crawl a tiny web with a strategy and say where it went. Pages have the parts that the strategy declares."""
    topic = Topic(topic) if isinstance(topic, str) else topic
    starts = [named(name) for name in (seeds.split() if isinstance(seeds, str) else seeds)]
    declaration = declaration_of(strategy)
    if isinstance(strategy, OwnFrontier):
        frontier = strategy.frontier(bound)
    else:
        frontier = MemoryFrontier(bound, declaration.eviction, spread)
    history = MemoryHistory()
    dropped: list[Dropped] = []
    crawl = Crawl(
        strategy,
        frontier,
        history,
        topic,
        [(url, url) for url in starts],
        limits=Limits(pages=pages),
        judge=Judge(topic),
        seed_number=seed_number,
        watch=lambda event: dropped.append(event) if isinstance(event, Dropped) else None,
    )
    crawl.start()
    reason = replay(crawl, fetch or partial(web.fetch, parts=declaration.parts), in_flight)
    return Walk(history, crawl, dropped, reason)


class TinyLessons:
    """What a strategy may learn from, on a web that fits in your head. Pages are named as in `TinyWeb`.

    `categories` are paths, as `{"sport/volleyball": "a.example/ b.example/"}`, for strategies that want a taxonomy.
    """

    def __init__(
        self,
        web: TinyWeb,
        topic: Topic | str,
        examples: str,
        others: str = "",
        categories: Mapping[str, str] | None = None,
        good: Sequence[str] = (),
        parts: Parts = EVERYTHING,
    ) -> None:
        self.web, self.parts = web, parts
        self.topic = Topic(topic) if isinstance(topic, str) else topic
        self.examples, self.others = self._pages(examples), self._pages(others)
        self.taxonomy = self._tree(categories, good) if categories else None

    def page(self, url: Url) -> Page | None:
        html = self.web.html.get(url)
        return (
            None if html is None else Page(url, Candidate(url, 0.0), read_html(html, url, self.parts), size=len(html))
        )

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        pages = (page for source in sorted(self.web.html) if (page := self.page(source)) is not None)
        return [page.url for page in pages if any(link.url == url for link in page.outlinks)][:most]

    def _pages(self, names: str) -> list[Page]:
        return [page for name in names.split() if (page := self.page(named(name))) is not None]

    def _tree(self, categories: Mapping[str, str], good: Sequence[str]) -> Taxonomy:
        children: dict[str, list[str]] = {"root": []}
        for path in categories:
            above, whole = "root", ""
            for label in path.split("/"):
                whole = f"{whole}/{label}" if whole else label
                if whole not in children.setdefault(above, []):
                    children[above].append(whole)
                above = whole
        return Taxonomy(children, {path: self._pages(names) for path, names in categories.items()}, tuple(good))


# ---- what every strategy promises

CONTRACT_TOPIC = Topic("bees honey", name="bees", description="Keeping bees and making honey.")
CONTRACT_WEB = {
    "a.example/": "bees honey hive -> b.example/ c.example/ a.example/ missing.example/ a.example/2",
    "a.example/2": "honey jars and honey spoons -> a.example/ d.example/",
    "b.example/": "cars and engines -> d.example/ e.example/",
    "c.example/": "honey cake with bees -> e.example/ f.example/ moved.example/",
    "d.example/": "bees bees bees -> g.example/",
    "e.example/": "",
    "f.example/": "<html><body></body></html>",
    "g.example/": "<title>bees</title><ul><li><a href='/h'>honey <b>map</b></a><li><a href='/h'>again</a></ul>",
    "g.example/h": "honey",
    "moved.example/": "=> c.example/",
}


def ready(strategy: Strategy) -> Strategy:
    """The strategy, trained on the contract's web if it can't start without."""
    if isinstance(strategy, Trains) and getattr(strategy, "trained", False):
        strategy.train(contract_lessons(declaration_of(strategy).parts), random.Random(0), lambda _: None)
    return strategy


def contract_lessons(parts: Parts = EVERYTHING) -> TinyLessons:
    """What the contract trains strategies with; pages have these parts."""
    categories = {"insects/bees": "d.example/ a.example/2", "machines": "b.example/"}
    web, examples, others = TinyWeb(CONTRACT_WEB), "d.example/ g.example/h", "b.example/ e.example/"
    return TinyLessons(web, CONTRACT_TOPIC, examples, others, categories, ["insects"], parts)


def strategy_contract(kind: Callable[[], Strategy]) -> Iterator[tuple[str, Callable[[], None]]]:
    """Checks for one strategy, each a name and a function that asserts.

    It declares the parts of a page that it reads; same calls, same trail; parameters untouched; finite scores; survives
    an empty page; state survives a save and a load in the middle of a crawl; never sees a page that was not fetched;
    what training gave can be used by another of its kind.
    """

    def make() -> Strategy:
        return ready(kind())

    def declares_what_it_reads() -> None:
        try:
            _read_strictly(make())
        except StrategyFailed as failed:
            if isinstance(failed.__cause__, PartMissing):
                raise AssertionError(_undeclared(failed.__cause__)) from failed
            raise
        except PartMissing as missing:
            raise AssertionError(_undeclared(missing)) from missing

    def same_trail() -> None:
        first, second = _contract_walk(make()), _contract_walk(make())
        assert first.visited == second.visited
        assert [s.score for s in first.steps] == [s.score for s in second.steps]

    def parameters_untouched() -> None:
        strategy = make()
        if not is_dataclass(strategy) or isinstance(strategy, type):
            raise AssertionError("a strategy is a dataclass: its fields are its parameters")
        before = {parameter.name: copy.deepcopy(getattr(strategy, parameter.name)) for parameter in fields(strategy)}
        _contract_walk(strategy)
        after = {parameter.name: getattr(strategy, parameter.name) for parameter in fields(strategy)}
        assert after == before, "what is learned ends in `_` and is no field"

    def finite_scores() -> None:
        for step in _contract_walk(make()).steps:
            assert not math.isnan(step.score)
            assert step.score != -math.inf
            assert all(math.isfinite(part) for part in step.parts.values())
            json.dumps(dict(step.carry))

    def only_fetched_pages() -> None:
        web, strategy = TinyWeb(CONTRACT_WEB), make()
        read: list[Url] = []
        inner = strategy.read

        def spy(page: Page) -> Iterable[Candidate]:
            read.append(page.url)
            return inner(page)

        strategy.read = spy  # type: ignore[method-assign]
        walk(web, strategy, CONTRACT_TOPIC, "a.example/ b.example/", pages=50)
        assert set(read) <= set(web.fetched), "a strategy reads only what was fetched"
        assert len(read) == len(set(read)), "and each page once"

    def survives_nothing() -> None:
        empty = TinyWeb({"a.example/": ""})
        assert walk(empty, make(), CONTRACT_TOPIC, "a.example/").visited == ["http://a.example/"]
        assert walk(TinyWeb({}), make(), CONTRACT_TOPIC, "a.example/").visited == []
        assert walk(empty, make(), Topic(""), "a.example/").visited == ["http://a.example/"]

    def state_survives() -> None:
        strategy = make()
        if not isinstance(strategy, Saves):
            return
        _contract_walk(strategy)
        state = strategy.save()
        other = make()
        list(other.start(CONTRACT_TOPIC, [named("a.example/")]))
        assert isinstance(other, Saves)
        other.load(state)
        assert _plain(other.save()) == _plain(state)

    def model_travels() -> None:
        first, second = kind(), kind()
        if not isinstance(first, Trains) or not isinstance(second, Trains):
            return
        first.train(contract_lessons(declaration_of(kind()).parts), random.Random(0), lambda _: None)
        model = json.loads(_plain(first.model()))
        if not any(hasattr(value, "dtype") for value in first.model().values()):
            second.use(model)
        else:
            second.use(first.model())
        assert _plain(second.model()) == _plain(first.model())
        assert isinstance(first, Strategy)
        assert isinstance(second, Strategy)
        assert _contract_walk(first).visited == _contract_walk(second).visited

    yield "it declares the parts of a page that it reads", declares_what_it_reads
    yield "the same calls give the same trail", same_trail
    yield "parameters are left untouched", parameters_untouched
    yield "scores are finite", finite_scores
    yield "it reads only what was fetched, once", only_fetched_pages
    yield "it survives an empty web", survives_nothing
    yield "its state survives a save and a load", state_survives
    yield "its model can be used by another", model_travels


def _contract_walk(strategy: Strategy) -> Walk:
    return walk(TinyWeb(CONTRACT_WEB), strategy, CONTRACT_TOPIC, "a.example/ b.example/", pages=50)


def _read_strictly(strategy: Strategy) -> None:
    """A contract walk in which term counts that the strategy does not declare are missing, as other parts are."""
    if isinstance(strategy, Declares):
        inner, declared = strategy.read, strategy.declaration.parts.counts

        def strict(page: Page) -> Iterable[Candidate]:
            record = _StrictRecord.of(page.record, declared)
            return inner(Page(page.url, page.candidate, record, page.status, page.size))

        strategy.read = strict  # type: ignore[method-assign]
    _contract_walk(strategy)


class _StrictRecord(Record):
    """A record that refuses term counts of analysers that were not declared, instead of working them out."""

    __slots__ = ("_declared",)
    _declared: Sequence[Analyser]

    @classmethod
    def of(cls, record: Record, declared: Sequence[Analyser]) -> _StrictRecord:
        made = cls.__new__(cls)
        for name in Record.__slots__:
            object.__setattr__(made, name, getattr(record, name))
        made._declared = declared
        return made

    def counts(self, analyser: Analyser) -> TermCounts:
        self._check(analyser)
        return super().counts(analyser)

    def analysed(self, analyser: Analyser) -> Analysed:
        self._check(analyser)
        return super().analysed(analyser)

    def _check(self, analyser: Analyser) -> None:
        if analyser not in self._declared:
            raise PartMissing("counts", f"({analyser!r},)")


def _undeclared(missing: PartMissing) -> str:
    return f"it reads the {missing.part} of a page, which it does not declare ({missing.hint})"


def _plain(state: Mapping[str, Any]) -> str:
    return json.dumps(state, default=lambda value: value.tolist(), sort_keys=True)
