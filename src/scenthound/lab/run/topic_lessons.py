"""What a strategy may learn from in the lab: never the answers it will be graded by (sheet 60.7).

Examples of a topic are the pages that its makers set apart as such, or else its seeds. Its counter-examples are those
of the bed's other topics; and the taxonomy is the tree of the topics' paths, with the same pages in it. Topics with an
equal path are other draws of one category (their seeds are this one's targets), and those above or below overlap
with it, so both are left out altogether. The known web is the bed: its pages, and its links read backwards.

Ours, where a topic is alone: a sample of the bed's pages stands for the rest of the world.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.beds.prepared import PreparedBed
from scenthound.lab.run.handover import visible_topic, withheld
from scenthound.model import Candidate, Topic, Url
from scenthound.page.page import Page
from scenthound.ports import Taxonomy
from scenthound.text.tokens import Analyser

BACK_LINKS = 20  # sheet 60.1: as many as a search engine is asked for
BACKGROUND = 200  # pages that stand for the rest of the world where no other topic does
ROOT, REST = "root", "everything else"
SILENCE = Analyser()  # a page without a word for it teaches no category anything


@dataclass(frozen=True, slots=True)
class Syllabus:
    """Which pages are to be learned from, by URL: all that determines a training beside the bed and the strategy."""

    examples: tuple[Url, ...]
    others: tuple[Url, ...] = ()
    categories: Mapping[tuple[str, ...], tuple[Url, ...]] = field(default_factory=dict)
    """Path in the taxonomy, and the pages that lie there."""
    good: tuple[str, ...] = ()

    @property
    def plain(self) -> list[Any]:
        """The same for the same lessons: part of what names a cell."""
        placed = [["/".join(path), *urls] for path, urls in self.categories.items()]
        return [list(self.examples), list(self.others), placed, list(self.good)]

    @property
    def digest(self) -> str:
        return hashlib.sha256(json.dumps(self.plain).encode()).hexdigest()


class WebLessons:
    """Lessons on a prepared bed; also what becomes of a crawl or of pages on disk, which are prepared the same way.

    `stored` are pages that the bed lacks: examples that somebody brought along.
    """

    def __init__(
        self,
        bed: PreparedBed,
        topic: Topic,
        syllabus: Syllabus,
        stored: Mapping[Url, Page] | None = None,
        taxonomy: Taxonomy | None = None,
    ) -> None:
        self._bed, self._stored = bed, dict(stored or {})
        self._topic, self.syllabus = topic, syllabus
        self._taught: dict[Url, Page] = {}  # a page may be an example, and lie in a category too
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
        """How much there is to learn from, for those who keep books."""
        placed = sum(map(len, self._taxonomy.examples.values())) if self._taxonomy else 0
        categories = len(self._taxonomy.examples) if self._taxonomy else 0
        known = {"examples": len(self._examples), "others": len(self._others), "pages": len(self._bed)}
        return {**known, "categories": categories, "in categories": placed}

    def page(self, url: Url) -> Page | None:
        """The page that a request for this URL ends at."""
        number = self._bed.number(url)
        if number is None:
            return self._stored.get(url)
        found = self._bed.fetch(Candidate(self._bed.pages[number], 0.0))
        return found if isinstance(found, Page) else None

    def back_links(self, url: Url, most: int | None = None) -> Sequence[Url]:
        """In the order of sheet 60.1, which stands for a search engine's, and never more than `BACK_LINKS`."""
        number = self._bed.number(url)
        name = url if number is None else self._bed.pages[number]
        limit = BACK_LINKS if most is None else max(0, min(most, BACK_LINKS))
        return [Url(found) for found in self._bed.graph.back_links(name, limit)]

    def _pages(self, urls: Sequence[Url]) -> list[Page]:
        """The pages there are, each once, though several URLs may lead to it."""
        found = {}
        for url in urls:
            page = self._taught.get(url) or self.page(url)
            if page is not None:
                found[page.url] = self._taught[url] = page
        return list(found.values())

    def _tree(self) -> Taxonomy | None:
        placed = {}
        for path, urls in self.syllabus.categories.items():
            if pages := [page for page in self._pages(urls) if page.record.counts(SILENCE)]:
                placed[path] = pages
        return tree(placed, self.syllabus.good)


def lessons_of(
    bed: PreparedBed, topic: BedTopic, topics: Sequence[BedTopic], seeds: Sequence[Url] | None = None
) -> WebLessons:
    """The lessons for a topic of a bed, whose other `topics` are the rest of the world."""
    return WebLessons(bed, visible_topic(topic, bed.aliases), syllabus_of(bed, topic, topics, seeds))


def syllabus_of(
    bed: PreparedBed, topic: BedTopic, topics: Sequence[BedTopic], seeds: Sequence[Url] | None = None
) -> Syllabus:
    """What `lessons_of` teaches. With `seeds` the crawl starts from others than the topic's own, and learns from them.

    Nothing of the topic's targets is looked at but to leave them out.
    """
    started = tuple(topic.seeds if seeds is None else seeds)
    examples = _set_apart(topic, bed) or started
    own = {*examples, *started, *topic.seeds, *topic.examples}
    strangers = [one for one in topics if one.id != topic.id and not _related(topic_path(one), topic_path(topic))]
    placed: dict[tuple[str, ...], list[Url]] = {}
    for one in strangers:
        found = [url for url in _set_apart(one, bed) or one.seeds if url not in own]
        known = placed.setdefault(topic_path(one), [])
        known += [url for url in found if url not in known]
    others = tuple(dict.fromkeys(url for urls in placed.values() for url in urls))
    if not any(url in bed for url in others):
        others = background(bed, own, random.Random(f"background:{topic.id}"))
        placed = {(REST,): list(others)}
    categories = {topic_path(topic): tuple(examples), **{path: tuple(urls) for path, urls in placed.items()}}
    return Syllabus(tuple(examples), others, categories, (category_name(topic_path(topic)),))


def background(
    bed: PreparedBed, known: set[Url] | frozenset[Url], rng: random.Random, number: int = BACKGROUND
) -> tuple[Url, ...]:
    """A sample of the bed's pages without those that are known to be something else."""
    away = {bed.pages[place] for url in known if (place := bed.number(url)) is not None}
    pool = sorted(url for url in bed.pages if url not in away)
    return tuple(rng.sample(pool, min(number, len(pool))))


def topic_path(topic: BedTopic) -> tuple[str, ...]:
    return topic.path or (topic.id,)


def category_name(path: Sequence[str]) -> str:
    """The name of a category: its path, so that it is unique.

    >>> category_name(["sport", "beach/volleyball"])
    'sport/beach|volleyball'
    """
    return "/".join(label.replace("/", "|").strip() or "unnamed" for label in path)


def tree(placed: Mapping[tuple[str, ...], Sequence[Page]], good: Sequence[str]) -> Taxonomy | None:
    """Categories by their paths as a tree; None where there is nothing to tell apart."""
    names = {category_name(path[:end]) for path in placed for end in range(1, len(path) + 1)}
    root = ROOT
    while root in names:
        root += "_"
    children: dict[str, list[str]] = {root: []}
    examples: dict[str, list[Page]] = {}
    for path, pages in placed.items():
        above = root
        for end in range(1, len(path) + 1):
            name = category_name(path[:end])
            if name not in children.setdefault(above, []):
                children[above].append(name)
            above = name
        examples.setdefault(above, []).extend(pages)
    if len(examples) < 2:
        return None
    return Taxonomy(children, examples, tuple(name for name in good if name in names), root)


def _set_apart(topic: BedTopic, bed: PreparedBed) -> tuple[Url, ...]:
    """Example pages that are no targets: what a generated web keeps for those who learn."""
    away = set(withheld(topic, bed.aliases))
    return tuple(url for url in topic.examples if url not in away)


def _related(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether one category is the other, or lies above it."""
    shorter = min(len(one), len(other))
    return one[:shorter] == other[:shorter]
