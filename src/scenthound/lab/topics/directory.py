"""Topics with known answers from a directory tree (sheet 60.1).

A directory is read twice: first for its categories and how many links each has, then for the links of the chosen
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
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.importers.odp_dump import Category, Listing, Problem, Problems, records
from scenthound.model import Url
from scenthound.url import make

ROOT = "Top"
LONGEST_URL = 256  # rule 10 of sheet 10.4, as in the papers
MOST_CATEGORIES = 5_000_000  # six times the largest dump there was
DEEPEST = 50  # labels; the deepest real category has 15


class Entry(NamedTuple):
    """An external link of a category, with the editors' title and description."""

    url: Url
    title: str
    description: str


@dataclass(frozen=True, slots=True)
class Imported:
    """The topics, and all problems of the sources and of topics that were left out."""

    topics: tuple[BedTopic, ...]
    problems: tuple[Problem, ...]


@dataclass(frozen=True, slots=True)
class Survey:
    """All categories of a directory and how many distinct external links each has itself."""

    links: Mapping[str, int]
    children: Mapping[str, Sequence[str]] = field(repr=False)

    def below(self, root: str, depth: int) -> int:
        """External links in the category and `depth` levels below it."""
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
        """The category whose topic a link of `category` belongs to; empty if none."""
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
            below: list[str] = []
            for category in level:
                children = sorted(survey.children.get(category, ()))
                if not children and survey.links.get(category, 0) >= self.fewest:
                    yield category
                rng.shuffle(children)
                below += children
            level = below

    def topic_of(self, category: str) -> str:
        return category

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        if len(entries) < self.fewest:
            return None
        examples = _sample(entries, self.most_examples, rng)
        urls = tuple(entry.url for entry in examples)
        return BedTopic(
            slug(category), labels(category), " ".join(labels(category)), described(examples), urls, urls, urls
        )


@dataclass(frozen=True, slots=True)
class BizCategories:
    """Categories of companies, consultants and manufacturers with more than 20 links, nothing regional. [BIZ]"""

    count: int | None = None
    more_than: int = 20
    seeds: int = 10
    endings: tuple[str, ...] = ("companies", "consultants", "manufacturers")
    without: tuple[str, ...] = ("regional", "world", "international")

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        fitting = sorted(path for path, links in survey.links.items() if links > self.more_than and self._fits(path))
        return fitting if self.count is None or self.count >= len(fitting) else sorted(rng.sample(fitting, self.count))

    def _fits(self, path: str) -> bool:
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
            described(entries),
            tuple(entry.url for entry in entries if entry.url in seeds),
            tuple(entry.url for entry in entries if entry.url not in seeds),
        )


@dataclass(frozen=True, slots=True)
class SmpSubtrees:
    """Subtrees: a root at depth `level` (TOPIC-LEVEL) and its nodes down to `depth` (MAX-DEPTH) below. [GRAPH]

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
        return BedTopic(slug(category), names, " ".join(names), described(entries), seeds, targets)


RULES: Mapping[str, type[ExpLeaves] | type[BizCategories] | type[SmpSubtrees]] = {
    "exp": ExpLeaves,
    "biz": BizCategories,
    "smp": SmpSubtrees,
}


def import_odp(sources: Sequence[Path], rule: Rule, rng: random.Random, longest_url: int = LONGEST_URL) -> Imported:
    """Topics of an ODP/DMOZ directory in its RDF files, structure and content in any order, plain or gzip.

    The same files, rule and seed of `rng` give the same topics. What can't be read is a problem, and the rest goes on;
    only a file that declares its own entities is refused (`Unreadable`).
    """
    problems = Problems()
    seen = survey(sources, problems)
    chosen = rule.choose(seen, rng)
    if not chosen:
        problems.add("no-topics", ", ".join(source.name for source in sources), "no category fits the rule")
    collected = collect(sources, set(chosen), rule.topic_of, longest_url, problems)
    topics: list[BedTopic] = []
    for category in chosen:
        topic = rule.build(category, list(collected.get(category, {}).values()), rng)
        if topic is None:
            problems.add("too-few-links", category, "after its URLs were made canonical")
        else:
            topics.append(topic)
    return Imported(_with_unique_ids(topics), problems.all())


def survey(sources: Iterable[Path], problems: Problems) -> Survey:
    """The tree of categories and the number of links in each.

    Parents without a record of their own are included. A link that both its category and its own record name (in all
    dumps the record follows the category) counts once.
    """
    links: dict[str, int] = {}
    current, own = "", set[str]()
    for source in sources:
        for record in records(source, Problems()):  # problems are reported when the links are collected
            if isinstance(record, Category):
                current, own = record.path, set(record.links)
                for child in filter(is_category, record.children):
                    links.setdefault(child, 0)
                if is_category(current):
                    links[current] = max(links.get(current, 0), len(own))
            elif record.category == current:
                own.add(record.raw)
                if is_category(current):
                    links[current] = max(links.get(current, 0), len(own))
            elif is_category(record.category):
                current, own = record.category, {record.raw}
                links.setdefault(current, 1)
            if len(links) > MOST_CATEGORIES:
                problems.add("too-many-categories", source.name, f"reading stopped at {MOST_CATEGORIES}")
                return _with_children(links)
    return _with_children(links)


def collect(
    sources: Iterable[Path],
    wanted: set[str],
    topic_of: Callable[[str], str],
    longest_url: int,
    problems: Problems,
) -> dict[str, dict[Url, Entry]]:
    """The external links of the wanted topics by canonical URL, in the order of the files."""
    topics: dict[str, dict[Url, Entry]] = {category: {} for category in sorted(wanted)}
    for link in listed_links(sources, lambda category: topic_of(category) in wanted, longest_url, problems):
        if "\N{REPLACEMENT CHARACTER}" in link.raw:  # bytes were lost: this URL never existed
            problems.add("broken-url", link.source, link.raw[:100])
            continue
        entries = topics[topic_of(link.category)]
        before = entries.get(link.url)
        if before is None or not (before.title or before.description):  # the first words of an editor stay
            entries[link.url] = Entry(link.url, link.title, link.description)
    return topics


class ListedLink(NamedTuple):
    """A link of a dump: its URL, its category, and what an editor wrote."""

    url: Url
    raw: str
    category: str
    source: str
    title: str = ""
    description: str = ""


def listed_links(
    sources: Iterable[Path], is_wanted: Callable[[str], bool], longest_url: int, problems: Problems
) -> Iterator[ListedLink]:
    """The links of the wanted categories, in the order of the files."""
    for source in sources:
        for record in records(source, problems):
            category = record.path if isinstance(record, Category) else record.category
            if not is_wanted(category):
                continue
            words = (record.title, record.description) if isinstance(record, Listing) else ("", "")
            for raw in record.links if isinstance(record, Category) else (record.raw,):
                try:
                    yield ListedLink(make(raw, longest=longest_url), raw, category, source.name, *words)
                except NotAUrl:
                    problems.add("not-a-url", source.name, raw[:100])


def _with_children(links: dict[str, int]) -> Survey:
    children: dict[str, list[str]] = {}
    known = set(links)
    for path in list(links):
        child = path
        while child != ROOT:
            parent = child.rpartition("/")[0] or ROOT
            children.setdefault(parent, []).append(child)
            if parent in known or parent == ROOT:
                break
            known.add(parent)
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
    """Whether the path is below the root and not absurdly deep."""
    return path.startswith(ROOT + "/") and path.count("/") <= DEEPEST


def slug(path: str) -> str:
    """A name that can be part of a file name.

    >>> slug("Top/Business/Food_&_Drink")
    'business-food-drink'
    """
    return "-".join(_WORD.findall(" ".join(labels(path)).lower()))[:100] or "topic"


def described(entries: Iterable[Entry]) -> str:
    """The editors' titles and descriptions as one text."""
    return " ".join(text for entry in entries for text in (entry.title, entry.description) if text)


_WORD = re.compile(r"[^\W_]+")


def _sample(entries: Sequence[Entry], count: int, rng: random.Random) -> list[Entry]:
    """A random sample of the entries, in their old order."""
    return [entries[index] for index in sorted(rng.sample(range(len(entries)), min(count, len(entries))))]


def _with_unique_ids(topics: Sequence[BedTopic]) -> tuple[BedTopic, ...]:
    """The topics; equal ids get a number."""
    used: dict[str, int] = {}
    unique: list[BedTopic] = []
    for topic in topics:
        used[topic.id] = used.get(topic.id, 0) + 1
        unique.append(topic if used[topic.id] == 1 else replace(topic, id=f"{topic.id}-{used[topic.id]}"))
    return tuple(unique)
