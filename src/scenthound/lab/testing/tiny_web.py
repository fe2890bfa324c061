"""Webs small enough to hold in your head, and a function that crawls them without a network."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from scenthound import url as urls
from scenthound.lessons import Taxonomy
from scenthound.loop.core import Crawl
from scenthound.loop.messages import Dropped, Limits
from scenthound.loop.new_urls import bound_for
from scenthound.loop.plugin_calls import Judging
from scenthound.loop.replay import Landing, replay
from scenthound.model import Candidate, Miss, Moved, Step, Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.page import Page
from scenthound.page.read import read, read_html
from scenthound.page.record import EVERYTHING, Parts
from scenthound.ports import Frontier, OwnFrontier, Strategy, declaration_of
from scenthound.store.memory import MemoryHistory
from scenthound.store.memory_frontier import MemoryFrontier
from scenthound.web.html_document import MAX_LINKS, parse_html


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
        """The result of a request for this candidate, read with these parts; an unknown URL gives a 404."""
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
    """A page from HTML, as a strategy receives it."""
    page_url = urls.make(url)
    record = read(parse_html(html, page_url, max_links=max_links), page_url, parts)
    return Page(page_url, candidate or Candidate(page_url, 0.0), record, size=len(html))


def named(name: str) -> Url:
    """A URL from its short name: `a.example/x` is `http://a.example/x`."""
    return urls.make(name if "://" in name else f"http://{name}")


class Walk:
    """A finished replay: the trail, the dropped candidates, and the reason why it ended."""

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


def frontier_of(strategy: Strategy, bound: int | None = None, spread: int = 1) -> Frontier:
    """The frontier of a crawl without a folder: the strategy's own, or one in memory."""
    if isinstance(strategy, OwnFrontier):
        return strategy.frontier(bound)
    return MemoryFrontier(bound, declaration_of(strategy).eviction, spread)


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
    """Crawl a tiny web with a strategy and return the result."""
    topic = Topic(topic) if isinstance(topic, str) else topic
    starts = [named(name) for name in (seeds.split() if isinstance(seeds, str) else seeds)]
    frontier = frontier_of(strategy, bound_for(bound, set(starts)), spread)
    history = MemoryHistory()
    dropped: list[Dropped] = []
    crawl = Crawl(
        strategy,
        frontier,
        history,
        topic,
        [(url, url) for url in starts],
        limits=Limits(pages=pages),
        judging=Judging(similarity=KeywordSimilarity(topic)),
        seed_number=seed_number,
        watch=lambda event: dropped.append(event) if isinstance(event, Dropped) else None,
    )
    crawl.start()
    reason = replay(crawl, fetch or partial(web.fetch, parts=declaration_of(strategy).parts), in_flight)
    return Walk(history, crawl, dropped, reason)


class TinyLessons:
    """Lessons for training a strategy on a `TinyWeb`. Pages have the same short names.

    `categories` are paths, such as `{"sport/volleyball": "a.example/ b.example/"}`, for strategies that use a taxonomy.
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
            parent, category = "root", ""
            for label in path.split("/"):
                category = f"{category}/{label}" if category else label
                if category not in children.setdefault(parent, []):
                    children[parent].append(category)
                parent = category
        return Taxonomy(children, {path: self._pages(names) for path, names in categories.items()}, tuple(good))
