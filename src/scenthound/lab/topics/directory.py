"""Makes topics with known answers from a directory tree (sheet 60.1).

A directory is read twice: first for its categories and the number of links in each, then for the links of the chosen
categories. So memory holds the names of all categories, but only the entries of the chosen topics.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple, Protocol

from scenthound.errors import NotAUrl
from scenthound.lab.importers.odp_dump import Category, DumpProblem, Listing, Problems, records
from scenthound.model import Url
from scenthound.topic_list import BedTopic
from scenthound.url import make

ROOT = "Top"
MAX_URL_LENGTH = 256  # rule 10 of sheet 10.4, as in the papers
MAX_CATEGORIES = 5_000_000  # six times as many as in the largest dump
MAX_DEPTH = 50  # labels; the deepest real category has 15


class Entry(NamedTuple):
    """An external link of a category, with the editors' title and description."""

    url: Url
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class ImportedTopics:
    """The topics, and all problems of the sources and of topics that were left out."""

    topics: tuple[BedTopic, ...]
    problems: tuple[DumpProblem, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """All categories of a directory, with the number of distinct external links directly in each."""

    links: Mapping[str, int]
    children: Mapping[str, Sequence[str]] = field(repr=False)

    def below(self, root: str, depth: int) -> int:
        """The number of external links in the category and `depth` levels below it."""
        total, level = self.links.get(root, 0), [root]
        for _ in range(depth):
            level = [child for parent in level for child in self.children.get(parent, ())]
            total += sum(self.links.get(child, 0) for child in level)
        return total


class Rule(Protocol):
    """How topics are chosen from a directory."""

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        """The categories that become topics."""
        ...

    def topic_of(self, category: str) -> str:
        """The root category of the topic that the links of `category` belong to; empty if there is none."""
        ...

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        """The topic, or None if it has too few links."""
        ...


@dataclass(frozen=True, slots=True)
class ExpLeaves:
    """Leaf categories found by randomised breadth-first walks from every main category in turn. [EXP]"""

    count: int = 100
    fewest: int = 5
    most_examples: int = 10

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        walks = [self._leaves(survey, main, rng) for main in sorted(survey.children.get(ROOT, ()))]
        chosen: list[str] = []
        while walks and len(chosen) < self.count:
            for walk in list(walks):
                leaf = next(walk, None)
                if leaf is None:
                    walks.remove(walk)
                elif len(chosen) < self.count:
                    chosen.append(leaf)
        return chosen

    def _leaves(self, survey: Survey, main: str, rng: random.Random) -> Iterator[str]:
        level = [main]
        while level:
            next_level: list[str] = []
            for category in level:
                children = sorted(survey.children.get(category, ()))
                if not children and survey.links.get(category, 0) >= self.fewest:
                    yield category
                rng.shuffle(children)
                next_level += children
            level = next_level

    def topic_of(self, category: str) -> str:
        return category

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        if len(entries) < self.fewest:
            return None
        examples = _sample(entries, self.most_examples, rng)
        urls = tuple(entry.url for entry in examples)
        return BedTopic(
            slug(category), labels(category), " ".join(labels(category)), joined_texts(examples), urls, urls, urls
        )


@dataclass(frozen=True, slots=True)
class BizCategories:
    """Categories of companies, consultants and manufacturers with more than 20 links, none of them regional. [BIZ]"""

    count: int | None = None
    more_than: int = 20
    seeds: int = 10
    endings: tuple[str, ...] = ("companies", "consultants", "manufacturers")
    without: tuple[str, ...] = ("regional", "world", "international")

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        matching = sorted(
            path for path, links in survey.links.items() if links > self.more_than and self._matches(path)
        )
        return (
            matching if self.count is None or self.count >= len(matching) else sorted(rng.sample(matching, self.count))
        )

    def _matches(self, path: str) -> bool:
        names = [label.lower() for label in labels(path)]
        return bool(names) and names[-1].rpartition(" ")[2] in self.endings and not set(self.without) & set(names)

    def topic_of(self, category: str) -> str:
        return category

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        if len(entries) <= self.more_than:
            return None
        seeds = {entry.url for entry in _sample(entries, self.seeds, rng)}
        words = _WORD.findall(" ".join(labels(category)[1:]))
        return BedTopic(
            slug(category),
            labels(category),
            " ".join(words),
            joined_texts(entries),
            tuple(entry.url for entry in entries if entry.url in seeds),
            tuple(entry.url for entry in entries if entry.url not in seeds),
        )


@dataclass(frozen=True, slots=True)
class SmpSubtrees:
    """Subtrees: a root at depth `level` (TOPIC-LEVEL) and its descendants down to `depth` (MAX-DEPTH) levels. [GRAPH]

    The seeds are N-SEEDS random targets; `seeds_at_distance` moves them back DIST links in a bed.
    """

    level: int = 2
    depth: int = 2
    count: int | None = 100
    seeds: int = 10

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        roots = sorted(
            path for path in survey.links if len(labels(path)) == self.level and survey.below(path, self.depth)
        )
        return roots if self.count is None or self.count >= len(roots) else sorted(rng.sample(roots, self.count))

    def topic_of(self, category: str) -> str:
        parts = category.split("/")
        return "/".join(parts[: self.level + 1]) if self.level < len(parts) <= self.level + self.depth + 1 else ""

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        if not entries:
            return None
        seeds = tuple(entry.url for entry in _sample(entries, self.seeds, rng))
        targets = tuple(entry.url for entry in entries)
        names = labels(category)
        return BedTopic(slug(category), names, " ".join(names), joined_texts(entries), seeds, targets)


RULES: Mapping[str, type[ExpLeaves] | type[BizCategories] | type[SmpSubtrees]] = {
    "exp": ExpLeaves,
    "biz": BizCategories,
    "smp": SmpSubtrees,
}


def import_odp(
    sources: Sequence[Path], rule: Rule, rng: random.Random, max_url_length: int = MAX_URL_LENGTH
) -> ImportedTopics:
    """Make topics from the RDF files of an ODP/DMOZ directory: structure and content, in any order, plain or gzip.

    The same files, rule and seed of `rng` give the same topics. Unreadable parts are reported as problems and skipped;
    only a file that declares its own entities is refused (`Unreadable`).
    """
    problems = Problems()
    chosen = rule.choose(survey(sources, problems), rng)
    if not chosen:
        problems.add("no-topics", ", ".join(source.name for source in sources), "no category fits the rule")
    collected = collect(sources, set(chosen), rule.topic_of, max_url_length, problems)
    topics: list[BedTopic] = []
    for category in chosen:
        topic = rule.build(category, list(collected.get(category, {}).values()), rng)
        if topic is None:
            problems.add("too-few-links", category, "after invalid and duplicate URLs were removed")
        else:
            topics.append(topic)
    return ImportedTopics(_with_unique_ids(topics), problems.all())


def survey(sources: Iterable[Path], problems: Problems) -> Survey:
    """The tree of categories and the number of links in each.

    Parents without a record of their own are included. A link that appears both in its category's record and in its own
    record counts once; in all dumps, the latter follows the former.
    """
    links: dict[str, int] = {}
    current, current_links = "", set[str]()
    for source in sources:
        for record in records(source, Problems()):  # problems are reported when the links are collected
            if isinstance(record, Category):
                current, current_links = record.path, set(record.links)
                for child in filter(is_category, record.children):
                    links.setdefault(child, 0)
                if is_category(current):
                    links[current] = max(links.get(current, 0), len(current_links))
            elif record.category == current:
                current_links.add(record.raw)
                if is_category(current):
                    links[current] = max(links.get(current, 0), len(current_links))
            elif is_category(record.category):
                current, current_links = record.category, {record.raw}
                links.setdefault(current, 1)
            if len(links) > MAX_CATEGORIES:
                problems.add("too-many-categories", source.name, f"reading stopped at {MAX_CATEGORIES}")
                return _with_children(links)
    return _with_children(links)


def collect(
    sources: Iterable[Path],
    chosen: set[str],
    topic_of: Callable[[str], str],
    max_url_length: int,
    problems: Problems,
) -> dict[str, dict[Url, Entry]]:
    """The external links of the chosen topics by canonical URL, in the order of the files."""
    topics: dict[str, dict[Url, Entry]] = {category: {} for category in sorted(chosen)}
    for link in listed_links(sources, lambda category: topic_of(category) in chosen, max_url_length, problems):
        if "\N{REPLACEMENT CHARACTER}" in link.raw:  # some bytes were invalid, so this URL never existed
            problems.add("broken-url", link.source, link.raw[:100])
            continue
        entries = topics[topic_of(link.category)]
        earlier = entries.get(link.url)
        if earlier is None or not (earlier.title or earlier.description):  # the first description wins
            entries[link.url] = Entry(link.url, link.title, link.description)
    return topics


class ListedLink(NamedTuple):
    """A link of a dump: its URL, its category, and an editor's title and description."""

    url: Url
    raw: str
    category: str
    source: str
    title: str = ""
    description: str = ""


def listed_links(
    sources: Iterable[Path], is_chosen: Callable[[str], bool], max_url_length: int, problems: Problems
) -> Iterator[ListedLink]:
    """The links of the chosen categories, in the order of the files."""
    for source in sources:
        for record in records(source, problems):
            category = record.path if isinstance(record, Category) else record.category
            if not is_chosen(category):
                continue
            texts = (record.title, record.description) if isinstance(record, Listing) else ("", "")
            for raw in record.links if isinstance(record, Category) else (record.raw,):
                try:
                    yield ListedLink(make(raw, longest=max_url_length), raw, category, source.name, *texts)
                except NotAUrl:
                    problems.add("not-a-url", source.name, raw[:100])


def _with_children(links: dict[str, int]) -> Survey:
    children: dict[str, list[str]] = {}
    categories = set(links)
    for path in list(links):
        child = path
        while child != ROOT:
            parent = child.rpartition("/")[0] or ROOT
            children.setdefault(parent, []).append(child)
            if parent in categories or parent == ROOT:
                break
            categories.add(parent)
            links[parent] = 0
            child = parent
    return Survey(links, children)


def labels(path: str) -> tuple[str, ...]:
    """The labels of a category as words, without the root.

    >>> labels("Top/Business/Contract_Manufacturers")
    ('Business', 'Contract Manufacturers')
    """
    return tuple(part.replace("_", " ").strip() for part in path.split("/")[1:])


def is_category(path: str) -> bool:
    """Whether the path is below the root, at most `MAX_DEPTH` levels deep."""
    return path.startswith(ROOT + "/") and path.count("/") <= MAX_DEPTH


def slug(path: str) -> str:
    """A name that can be part of a file name.

    >>> slug("Top/Business/Food_&_Drink")
    'business-food-drink'
    """
    return "-".join(_WORD.findall(" ".join(labels(path)).lower()))[:100] or "topic"


def joined_texts(entries: Iterable[Entry]) -> str:
    """The editors' titles and descriptions, joined into one text."""
    return " ".join(text for entry in entries for text in (entry.title, entry.description) if text)


_WORD = re.compile(r"[^\W_]+")


def _sample(entries: Sequence[Entry], count: int, rng: random.Random) -> list[Entry]:
    """A random sample of the entries, in their original order."""
    return [entries[index] for index in sorted(rng.sample(range(len(entries)), min(count, len(entries))))]


def _with_unique_ids(topics: Sequence[BedTopic]) -> tuple[BedTopic, ...]:
    """The topics, with a number appended to ids that are used already."""
    used: dict[str, int] = {}
    unique: list[BedTopic] = []
    for topic in topics:
        used[topic.id] = used.get(topic.id, 0) + 1
        unique.append(topic if used[topic.id] == 1 else replace(topic, id=f"{topic.id}-{used[topic.id]}"))
    return tuple(unique)
