"""The pages that a strategy may learn a topic from in the lab, never the answers it is graded on (sheet 60.7).

The examples are the topic's own example pages, or else its seeds. The counter-examples are the examples of the bed's
other topics, and the taxonomy is the tree of the topics' paths with the same pages. Topics with an equal path are other
samples of the same category (their seeds are this topic's targets), and topics above or below overlap with it, so both
are left out. The known web is the bed: its pages and its back-links.

Ours: for a topic without such counter-examples, a sample of the bed's pages represents the rest of the web.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenthound.lab.beds.replay_bed import ReplayBed
from scenthound.lab.run.handover import visible_topic, withheld_examples
from scenthound.lessons import Taxonomy
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.text.tokens import Analyser
from scenthound.topic_list import BedTopic

BACK_LINKS = 20  # sheet 60.1: the number that a search engine returned
BACKGROUND = 200  # pages that represent the rest of the web if there is no other topic
ROOT, REST = "root", "everything else"
ANALYSER = Analyser()  # a page without terms is not an example of a category


@dataclass(frozen=True, slots=True)
class Syllabus:
    """The URLs of the lessons. With the bed and the strategy, they determine the result of training."""

    examples: tuple[Url, ...]
    others: tuple[Url, ...] = ()
    categories: Mapping[tuple[str, ...], tuple[Url, ...]] = field(default_factory=dict)
    """The pages of each category, by its path in the taxonomy."""
    good: tuple[str, ...] = ()
    """Names of the categories that are on topic."""

    @property
    def plain(self) -> list[Any]:
        """The syllabus as JSON data; it is part of a cell's key."""
        by_path = [["/".join(path), *urls] for path, urls in self.categories.items()]
        return [list(self.examples), list(self.others), by_path, list(self.good)]

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.plain).encode()).hexdigest()


class WebLessons:
    """Lessons on a prepared bed, or on a crawl or pages on disk, which are prepared the same way.

    `stored` has the examples that the bed lacks.
    """

    def __init__(
        self,
        bed: ReplayBed,
        topic: Topic,
        syllabus: Syllabus,
        stored: Mapping[Url, Page] | None = None,
        taxonomy: Taxonomy | None = None,
    ) -> None:
        self._bed, self._stored = bed, dict(stored or {})
        self._topic, self.syllabus = topic, syllabus
        self._loaded: dict[Url, Page] = {}  # a cache: a page may be both an example and in a category
        self._examples, self._others = self._pages(syllabus.examples), self._pages(syllabus.others)
        self._taxonomy = taxonomy if taxonomy is not None else self._tree()

    @property
    def topic(self) -> Topic:
        return self._topic

    @property
    def examples(self) -> Sequence[Page]:
        return self._examples

    @property
    def others(self) -> Sequence[Page]:
        return self._others

    @property
    def taxonomy(self) -> Taxonomy | None:
        return self._taxonomy

    @property
    def counts(self) -> dict[str, int]:
        """The number of pages of each kind to learn from."""
        by_path = self._taxonomy.examples if self._taxonomy else {}
        return {
            "examples": len(self._examples),
            "others": len(self._others),
            "pages": len(self._bed),
            "categories": len(by_path),
            "in categories": sum(map(len, by_path.values())),
        }

    def page(self, url: Url) -> Page | None:
        """The page at this URL, redirects followed."""
        return page_at(self._bed, url) if url in self._bed else self._stored.get(url)

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        """At most `BACK_LINKS` pages that link to this URL, in the order of sheet 60.1, which imitates that of a search
        engine."""
        number = self._bed.number(url)
        target = url if number is None else self._bed.pages[number]
        limit = BACK_LINKS if most is None else max(0, min(most, BACK_LINKS))
        return list(map(Url, self._bed.graph.back_links(target, limit)))

    def _pages(self, urls: Sequence[Url]) -> list[Page]:
        """The pages at these URLs, each once, even if several URLs lead to it."""
        pages = {}
        for url in urls:
            page = self._loaded.get(url) or self.page(url)
            if page is not None:
                pages[page.url] = self._loaded[url] = page
        return list(pages.values())

    def _tree(self) -> Taxonomy | None:
        by_path = {}
        for path, urls in self.syllabus.categories.items():
            if pages := [page for page in self._pages(urls) if page.record.counts(ANALYSER)]:
                by_path[path] = pages
        return tree(by_path, self.syllabus.good)


def lessons_of(
    bed: ReplayBed, topic: BedTopic, topics: Sequence[BedTopic], seeds: Sequence[Url] | None = None
) -> WebLessons:
    """The lessons for a topic of a bed; `topics` are all topics of the bed."""
    return WebLessons(bed, visible_topic(topic, bed.aliases), syllabus_of(bed, topic, topics, seeds))


def syllabus_of(
    bed: ReplayBed, topic: BedTopic, topics: Sequence[BedTopic], seeds: Sequence[Url] | None = None
) -> Syllabus:
    """The URLs of the lessons for a topic (`lessons_of`). `seeds` replaces the topic's own seeds.

    The topic's targets are used only to exclude them.
    """
    starts = tuple(topic.seeds if seeds is None else seeds)
    examples = _visible_examples(topic, bed) or starts
    own = {*examples, *starts, *topic.seeds, *topic.examples}
    by_path: dict[tuple[str, ...], list[Url]] = {}
    for other in topics:
        if other.id == topic.id or _overlap(topic_path(other), topic_path(topic)):
            continue
        urls = by_path.setdefault(topic_path(other), [])
        urls += [url for url in _visible_examples(other, bed) or other.seeds if url not in own and url not in urls]
    others = tuple(dict.fromkeys(url for urls in by_path.values() for url in urls))
    if not any(url in bed for url in others):
        others = background(bed, own, random.Random(f"background:{topic.id}"))
        by_path = {(REST,): list(others)}
    categories = {topic_path(topic): tuple(examples), **{path: tuple(urls) for path, urls in by_path.items()}}
    return Syllabus(tuple(examples), others, categories, (category_name(topic_path(topic)),))


def background(
    bed: ReplayBed, excluded: set[Url] | frozenset[Url], rng: random.Random, count: int = BACKGROUND
) -> tuple[Url, ...]:
    """A random sample of the bed's pages, except the excluded ones."""
    excluded_pages = {bed.pages[number] for url in excluded if (number := bed.number(url)) is not None}
    pool = sorted(url for url in bed.pages if url not in excluded_pages)
    return tuple(rng.sample(pool, min(count, len(pool))))


def page_at(bed: ReplayBed, url: Url) -> Page | None:
    """The page of the bed at this URL, redirects followed."""
    number = bed.number(url)
    page = None if number is None else bed.fetch(Candidate(bed.pages[number], 0.0))
    return page if isinstance(page, Page) else None


def topic_path(topic: BedTopic) -> tuple[str, ...]:
    return topic.path or (topic.id,)


def category_name(path: Sequence[str]) -> str:
    """The unique name of a category: its path.

    >>> category_name(["sport", "beach/volleyball"])
    'sport/beach|volleyball'
    """
    return "/".join(label.replace("/", "|").strip() or "unnamed" for label in path)


def tree(by_path: Mapping[tuple[str, ...], Sequence[Page]], good: Sequence[str]) -> Taxonomy | None:
    """The taxonomy of the categories at these paths, each with its pages; None for fewer than two categories."""
    names = {category_name(path[:end]) for path in by_path for end in range(1, len(path) + 1)}
    root = ROOT
    while root in names:
        root += "_"
    children: dict[str, list[str]] = {root: []}
    examples: dict[str, list[Page]] = {}
    for path, pages in by_path.items():
        parent = root
        for end in range(1, len(path) + 1):
            name = category_name(path[:end])
            if name not in children.setdefault(parent, []):
                children[parent].append(name)
            parent = name
        examples.setdefault(parent, []).extend(pages)
    if len(examples) < 2:
        return None
    return Taxonomy(children, examples, tuple(name for name in good if name in names), root)


def _visible_examples(topic: BedTopic, bed: ReplayBed) -> tuple[Url, ...]:
    """The example pages that are not targets."""
    hidden = set(withheld_examples(topic, bed.aliases))
    return tuple(url for url in topic.examples if url not in hidden)


def _overlap(first: tuple[str, ...], second: tuple[str, ...]) -> bool:
    """Whether the paths are equal, or one is above the other."""
    shorter = min(len(first), len(second))
    return first[:shorter] == second[:shorter]
