"""Imports topics from an ODP/DMOZ dump, alone or with recorded pages (sheets 60.1 and 60.2).

Without pages, the result is a file of topics. With pages, only categories with links to these pages are chosen, and
seeds can be moved to pages whose links lead to the answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, UnknownName
from scenthound.lab.beds.bed import Bed
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Notes, Options, SourceContent
from scenthound.lab.importers.odp_dump import Problems
from scenthound.lab.importers.page_graph import RecordedGraph, read_recorded, recorded_graph
from scenthound.lab.importers.warc import responses_in, warc_files
from scenthound.lab.topics.crawl_starts import neighbours, seeds_at_distance
from scenthound.lab.topics.directory import (
    RULES,
    BizCategories,
    Entry,
    ExpLeaves,
    Rule,
    SmpSubtrees,
    Survey,
    import_odp,
    listed_links,
)
from scenthound.loop.settings import option
from scenthound.model import Response, Url
from scenthound.sources.augment import augment
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.topic_list import BedTopic

STARTS = ("rule", "neighbours", "distance", "augmented")
_ENDINGS = (".rdf", ".rdf.u8", ".u8", ".xml", ".rdf.gz", ".u8.gz", ".xml.gz")
_ALL = 10**9

ReadPages = Callable[[], Iterable[Response]]
"""Reads the pages from their files at each call, so that they are never all in memory."""


@dataclass(frozen=True, slots=True)
class OdpOptions(Options):
    """How topics are made, which pages they are for, and where their crawls start."""

    rule: str = option("exp", "how topics are made: exp (leaves), biz (companies and the like) or smp (subtrees)")
    count: int = option(0, "number of topics; 0: as in the rule's paper (exp and smp 100, biz all)")
    fewest: int = option(0, "smallest number of links in a category; 0: as in the paper (exp 5, biz 21); not for smp")
    seeds: int = option(10, "number of seeds of a topic (N-SEEDS; exp: examples)", least=1)
    level: int = option(2, "smp: depth of a topic's root in the tree (TOPIC-LEVEL)", least=1)
    depth: int = option(2, "smp: levels below the root that belong to the topic (MAX-DEPTH)")
    pages: list[str] = option([], "the recorded pages: a bed, WARC files, or folders of them")
    recorded_only: bool = option(False, "leave out links that are not among the pages; they may be dead")
    least: int = option(1, "with pages: smallest number of a topic's links that must be among them")
    start: str = option("rule", "where crawls start: rule, neighbours, distance (DIST) or augmented")
    distance: int = option(3, "start = distance: links between a seed and its target (DIST)")
    url_length: int = option(256, "leave out longer URLs", least=16)
    seed_number: int = option(0, "seed of the random generator")


@importer("odp", OdpOptions)
def odp(source: Path, options: OdpOptions, notes: Notes) -> SourceContent:
    """Topics from ODP/DMOZ files (content.rdf.u8, structure.rdf.u8), for pages recorded elsewhere."""
    _check(options)
    dumps = _dumps([source, *map(Path, options.also)])
    names = ", ".join(path.name for path in dumps)
    origin = f"Topics of the Open Directory ({names}) by rule {options.rule}, start {options.start}"
    if not options.pages:
        return SourceContent(None, _topics(dumps, options, notes), origin)
    pages, read_again, page_origin, licence = _recorded(options.pages, notes)
    topics = _topics_in_bed(dumps, options, notes, read_again)
    return SourceContent(pages, topics, f"{page_origin}. {origin}" if page_origin else origin, licence)


def _check(options: OdpOptions) -> None:
    if options.rule not in RULES:
        raise UnknownName.among("topic rule", options.rule, RULES)
    if options.start not in STARTS:
        raise UnknownName.among("kind of start", options.start, STARTS)
    if options.start != "rule" and not options.pages:
        raise BadConfig(
            f"start `{options.start}` needs the links of pages", "add the option `pages`: a bed or WARC files"
        )
    if options.topics:
        raise BadConfig("topics come from the dump or from a file, not from both", "leave out the option `topics`")


def _dumps(sources: Iterable[Path]) -> list[Path]:
    dumps: list[Path] = []
    for source in sources:
        if source.is_dir():
            inside = sorted(path for path in source.iterdir() if path.is_file() and path.name.endswith(_ENDINGS))
            if not inside:
                raise BadConfig(f"{source} contains no ODP dump", "dumps have names like content.rdf.u8")
            dumps += inside
        elif source.is_file():
            dumps.append(source)
        else:
            raise BadConfig(f"{source} does not exist", "give content.rdf.u8, structure.rdf.u8 or their folder")
    return dumps


def _recorded(sources: Sequence[str], notes: Notes) -> tuple[Iterable[Response], ReadPages, str, str]:
    """The pages for the bed, a function that reads them again, and the origin and licence of their bed."""
    folder = Path(sources[0])
    if len(sources) == 1 and (folder / "bed.toml").is_file():
        bed = Bed.open(folder)
        return bed.responses(), bed.responses, str(bed.about.get("origin", "")), str(bed.about.get("licence", ""))
    files = warc_files(map(Path, sources), notes)
    return responses_in(files, notes), lambda: responses_in(files, Notes(notes.progress)), "", ""


# --- choosing topics ---------------------------------------------------------------------------


def _topics(dumps: Sequence[Path], options: OdpOptions, notes: Notes, rule: Rule | None = None) -> Iterator[BedTopic]:
    rng = random.Random(options.seed_number)
    imported = import_odp(dumps, rule or _rule(options), rng, options.url_length)
    for problem in imported.problems:
        where = f"{problem.source}: {problem.detail}" if problem.detail else problem.source
        notes.count(f"problems in the dump ({problem.kind})", where, problem.times)
    if not imported.topics:
        raise BadConfig("no topic could be made from this dump", "; ".join(notes.lines()[:5]))
    for topic in imported.topics:
        # The examples of [EXP] are the targets. Its crawlers get them as seeds or, in task 2, not at all.
        yield replace(topic, examples=()) if set(topic.examples) <= set(topic.targets) else topic


def _rule(options: OdpOptions) -> ExpLeaves | BizCategories | SmpSubtrees:
    arguments: dict[str, Any] = {"count": options.count} if options.count else {}
    if options.rule == "exp":
        arguments |= {"fewest": options.fewest} if options.fewest else {}
        return ExpLeaves(most_examples=options.seeds, **arguments)
    if options.rule == "biz":
        arguments |= {"more_than": options.fewest - 1} if options.fewest else {}
        return BizCategories(seeds=options.seeds, **arguments)
    return SmpSubtrees(level=options.level, depth=options.depth, seeds=options.seeds, **arguments)


@dataclass(frozen=True, slots=True)
class _RecordedRule:
    """A rule restricted to categories with enough links among the recorded pages."""

    rule: ExpLeaves | BizCategories | SmpSubtrees
    pages: set[Url]
    recorded: dict[str, set[Url]] = field(repr=False)
    """The links of each possible topic that are among the pages."""
    least: int
    recorded_only: bool

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        candidates = replace(self.rule, count=_ALL).choose(survey, rng)
        chosen = [category for category in candidates if len(self.recorded.get(category, ())) >= self.least]
        count = self.rule.count
        if count is None or len(chosen) <= count:
            return chosen
        # The walks of [EXP] are already in random order; for the other rules a sample is drawn.
        return chosen[:count] if isinstance(self.rule, ExpLeaves) else sorted(rng.sample(chosen, count))

    def topic_of(self, category: str) -> str:
        return self.rule.topic_of(category)

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        if self.recorded_only:
            entries = [entry for entry in entries if entry.url in self.pages]
        return self.rule.build(category, entries, rng)


def _recorded_links(dumps: Iterable[Path], rule: Rule, pages: set[Url], url_length: int) -> dict[str, set[Url]]:
    """The links of each possible topic that are among the pages."""
    recorded: dict[str, set[Url]] = {}
    problems = Problems()  # discarded: they are reported when the topics are made
    for link in listed_links(dumps, lambda category: bool(rule.topic_of(category)), url_length, problems):
        if link.url in pages:
            recorded.setdefault(rule.topic_of(link.category), set()).add(link.url)
    return recorded


# --- where crawls start ------------------------------------------------------------------------


def _topics_in_bed(
    dumps: Sequence[Path], options: OdpOptions, notes: Notes, read_again: ReadPages
) -> Iterator[BedTopic]:
    """The topics. They are made after the pages have been read, when `notes` knows which pages were kept."""
    rule = _rule(options)
    links = _recorded_links(dumps, rule, notes.kept, options.url_length)
    recorded_rule = _RecordedRule(rule, notes.kept, links, options.least, options.recorded_only)
    topics = list(_topics(dumps, options, notes, recorded_rule))
    if options.start == "rule" and options.rule != "exp":
        yield from topics
        return
    topic_urls = {url for topic in topics for url in (*topic.seeds, *topic.targets)}
    recorded = recorded_graph(read_recorded(read_again()), [*sorted(notes.kept), *sorted(topic_urls - notes.kept)])
    rng = random.Random(f"{options.seed_number} start")
    counts = _hub_counts(topics, recorded, read_again) if options.start == "augmented" else {}
    for topic in topics:
        seeded = _with_seeds(topic, options, recorded, rng, counts)
        if seeded is None:
            notes.count(f"topics left out, no seeds in the bed ({options.start})", topic.id)
        else:
            yield seeded


def _with_seeds(
    topic: BedTopic, options: OdpOptions, recorded: RecordedGraph, rng: random.Random, counts: dict[Url, Counts]
) -> BedTopic | None:
    """The topic with the seeds of the option `start`; None if there are none."""
    if options.rule == "exp" or options.start == "neighbours":
        near = neighbours(topic.examples or topic.seeds, recorded.back_links, rng, number=options.seeds)
        topic = replace(topic, neighbours=_urls(near))
    match options.start:
        case "neighbours":
            return replace(topic, seeds=topic.neighbours) if topic.neighbours else None
        case "distance":
            moved, _ = seeds_at_distance(
                topic.targets, recorded.back_links, rng, number=options.seeds, distance=options.distance
            )
            return replace(topic, seeds=_urls(moved))
        case "augmented":
            description = Analyser().counts(topic.description)
            augmented = augment(topic.seeds, recorded.back_links, description, lambda url: counts.get(Url(url)))
            return replace(topic, seeds=_urls(augmented.all_seeds)) if augmented.hubs else None
    return topic


def _hub_counts(topics: Iterable[BedTopic], recorded: RecordedGraph, read_again: ReadPages) -> dict[Url, Counts]:
    """The term counts of every page that links to several seeds of a topic; only such a page can become a hub."""
    linking: set[str] = set()
    for topic in topics:
        seen: set[str] = set()
        for seed in topic.seeds:
            back = recorded.back_links(seed, 10)
            linking.update(seen.intersection(back))
            seen.update(back)
    pages = read_recorded(read_again(), wants_counts=lambda url: True, only=linking.__contains__)
    return {page.url: page.counts for page in pages if page.counts is not None}


def _urls(names: Iterable[str]) -> tuple[Url, ...]:
    return tuple(map(Url, names))
