"""Topics of an ODP/DMOZ dump, alone or held against recorded pages (sheets 60.1 and 60.2).

Without pages the answer is a file of topics. With pages only categories are chosen that the pages know
something of, and seeds can be moved to where the bed's own links lead to the answers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, NotAUrl, UnknownName
from scenthound.lab.beds.bed import Bed, BedTopic
from scenthound.lab.importers import importer
from scenthound.lab.importers.odp_dump import Category, Problems, records
from scenthound.lab.importers.page_graph import Recorded, recorded_graph, said_by
from scenthound.lab.importers.port import Brought, Notes, Options
from scenthound.lab.importers.warc import responses_in, warc_files
from scenthound.lab.topics.augment import augment
from scenthound.lab.topics.directory import (
    RULES,
    BizCategories,
    Entry,
    ExpLeaves,
    Rule,
    SmpSubtrees,
    Survey,
    import_odp,
)
from scenthound.lab.topics.seeds import neighbours, seeds_at_distance
from scenthound.loop.settings import option
from scenthound.model import Response, Url
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts
from scenthound.url import make

STARTS = ("rule", "neighbours", "distance", "augmented")
_ENDINGS = (".rdf", ".rdf.u8", ".u8", ".xml", ".rdf.gz", ".u8.gz", ".xml.gz")
_ALL = 10**9

Again = Callable[[], Iterable[Response]]
"""The pages, read from their files each time it is called: they are never all in memory."""


@dataclass(frozen=True, slots=True)
class OdpOptions(Options):
    """How topics are made, which pages they are held against, where crawls of them start."""

    rule: str = option("exp", "how topics are made: exp (leaves), biz (companies and the like) or smp (subtrees)")
    count: int = option(0, "this many topics; 0: as many as the rule's paper (exp and smp 100, biz all)")
    fewest: int = option(0, "links that a category needs; 0: as the paper (exp 5, biz 21); not for smp")
    seeds: int = option(10, "seeds of a topic (N-SEEDS; exp: examples)", least=1)
    level: int = option(2, "smp: depth of a topic's root in the tree (TOPIC-LEVEL)", least=1)
    depth: int = option(2, "smp: levels below the root that belong to the topic (MAX-DEPTH)")
    pages: list[str] = option([], "the recorded pages: a bed, WARC files, or folders of them")
    recorded_only: bool = option(False, "leave links out that are not among the pages, as [EXP] left out stale ones")
    least: int = option(1, "with pages: links of a topic that must be among them")
    start: str = option("rule", "where crawls start: rule, neighbours, distance (DIST) or augmented")
    distance: int = option(3, "start = distance: links between a seed and its target (DIST)")
    url_length: int = option(256, "leave longer URLs out", least=16)
    seed_number: int = option(0, "number that all chance is drawn from")


@importer("odp", OdpOptions)
def odp(source: Path, options: OdpOptions, notes: Notes) -> Brought:
    """Topics of ODP/DMOZ files (content.rdf.u8, structure.rdf.u8), for pages recorded elsewhere."""
    _check(options)
    dumps = _dumps([source, *map(Path, options.also)])
    names = ", ".join(path.name for path in dumps)
    origin = f"Topics of the Open Directory ({names}) by rule {options.rule}, start {options.start}"
    if not options.pages:
        return Brought(None, _topics(dumps, options, notes), origin)
    first, again, about, licence = _recorded(options.pages, notes)
    topics = _topics_in_bed(dumps, options, notes, again)
    return Brought(first, topics, f"{about}. {origin}" if about else origin, licence)


def _check(options: OdpOptions) -> None:
    if options.rule not in RULES:
        raise UnknownName.among("topic rule", options.rule, RULES)
    if options.start not in STARTS:
        raise UnknownName.among("kind of start", options.start, STARTS)
    if options.start != "rule" and not options.pages:
        raise BadConfig(
            f"start `{options.start}` needs links, and so pages", "add the option `pages`: a bed or WARC files"
        )
    if options.topics:
        raise BadConfig("topics come from the dump or from a file, not from both", "leave the option `topics` out")


def _dumps(sources: Iterable[Path]) -> list[Path]:
    found: list[Path] = []
    for source in sources:
        if source.is_dir():
            inside = sorted(path for path in source.iterdir() if path.is_file() and path.name.endswith(_ENDINGS))
            if not inside:
                raise BadConfig(f"there is no ODP dump in {source}", "they are called content.rdf.u8 and the like")
            found += inside
        elif source.is_file():
            found.append(source)
        else:
            raise BadConfig(f"there is nothing at {source}", "name content.rdf.u8, structure.rdf.u8 or their folder")
    return found


def _recorded(places: Sequence[str], notes: Notes) -> tuple[Iterable[Response], Again, str, str]:
    """The pages for the bed, the same once more whenever asked, and what their bed says about itself."""
    folder = Path(places[0])
    if len(places) == 1 and (folder / "bed.toml").is_file():
        bed = Bed.open(folder)
        return bed.responses(), bed.responses, str(bed.about.get("origin", "")), str(bed.about.get("licence", ""))
    files = warc_files(map(Path, places), notes)
    return responses_in(files, notes), lambda: responses_in(files, Notes(notes.progress)), "", ""


# --- choosing topics ---------------------------------------------------------------------------


def _topics(dumps: Sequence[Path], options: OdpOptions, notes: Notes, rule: Rule | None = None) -> Iterator[BedTopic]:
    chance = random.Random(options.seed_number)
    made = import_odp(dumps, rule or _rule(options), chance, options.url_length)
    for problem in made.problems:
        place = f"{problem.source}: {problem.detail}" if problem.detail else problem.source
        notes.count(f"troubles with the dump ({problem.kind})", place, problem.times)
    if not made.topics:
        raise BadConfig("no topic could be made of this dump", "; ".join(notes.lines()[:5]))
    for topic in made.topics:
        # The examples of [EXP] are the targets. Its crawlers hear of them as seeds, or (task 2) not at all.
        yield replace(topic, examples=()) if set(topic.examples) <= set(topic.targets) else topic


def _rule(options: OdpOptions) -> ExpLeaves | BizCategories | SmpSubtrees:
    given: dict[str, Any] = {"count": options.count} if options.count else {}
    if options.rule == "exp":
        given |= {"fewest": options.fewest} if options.fewest else {}
        return ExpLeaves(most_examples=options.seeds, **given)
    if options.rule == "biz":
        given |= {"more_than": options.fewest - 1} if options.fewest else {}
        return BizCategories(seeds=options.seeds, **given)
    return SmpSubtrees(level=options.level, depth=options.depth, seeds=options.seeds, **given)


@dataclass(frozen=True, slots=True)
class _Known:
    """A rule kept to the categories that recorded pages know something of. It chooses as the rule does."""

    rule: ExpLeaves | BizCategories | SmpSubtrees
    pages: set[Url]
    found: dict[str, set[Url]] = field(repr=False)
    """The recorded links of each category that could be a topic."""
    least: int
    recorded_only: bool

    def choose(self, survey: Survey, rng: random.Random) -> list[str]:
        every = replace(self.rule, count=_ALL).choose(survey, rng)
        known = [category for category in every if len(self.found.get(category, ())) >= self.least]
        count = self.rule.count
        if count is None or len(known) <= count:
            return known
        # The walks of [EXP] have their order from chance already; the others draw.
        return known[:count] if isinstance(self.rule, ExpLeaves) else sorted(rng.sample(known, count))

    def topic_of(self, category: str) -> str:
        return self.rule.topic_of(category)

    def build(self, category: str, entries: Sequence[Entry], rng: random.Random) -> BedTopic | None:
        if self.recorded_only:
            entries = [entry for entry in entries if entry.url in self.pages]
        return self.rule.build(category, entries, rng)


def _found(dumps: Iterable[Path], rule: Rule, pages: set[Url], longest: int) -> dict[str, set[Url]]:
    found: dict[str, set[Url]] = {}
    for dump in dumps:
        for record in records(dump, Problems()):  # troubles are noted when the topics are made
            topic = rule.topic_of(record.path if isinstance(record, Category) else record.category)
            if not topic:
                continue
            for raw in record.links if isinstance(record, Category) else (record.raw,):
                try:
                    url = make(raw, longest=longest)
                except NotAUrl:
                    continue
                if url in pages:
                    found.setdefault(topic, set()).add(url)
    return found


# --- where crawls start ------------------------------------------------------------------------


def _topics_in_bed(dumps: Sequence[Path], options: OdpOptions, notes: Notes, again: Again) -> Iterator[BedTopic]:
    """Runs when the pages have been taken, so that it is known which there are."""
    rule = _rule(options)
    found = _found(dumps, rule, notes.kept, options.url_length)
    known = _Known(rule, notes.kept, found, options.least, options.recorded_only)
    topics = list(_topics(dumps, options, notes, known))
    if options.start == "rule" and options.rule != "exp":
        yield from topics
        return
    asked = {url for topic in topics for url in (*topic.seeds, *topic.targets)}
    recorded = recorded_graph(said_by(again()), [*sorted(notes.kept), *sorted(asked - notes.kept)])
    chance = random.Random(f"{options.seed_number} start")
    counts = _hub_counts(topics, recorded, again) if options.start == "augmented" else {}
    for topic in topics:
        begun = _begun(topic, options, recorded, chance, counts)
        if begun is None:
            notes.count(f"topics left out, nothing in the bed to start from ({options.start})", topic.id)
        else:
            yield begun


def _begun(
    topic: BedTopic, options: OdpOptions, recorded: Recorded, chance: random.Random, counts: dict[Url, Counts]
) -> BedTopic | None:
    """The topic with the seeds that were asked for; None where there are none."""
    if options.rule == "exp" or options.start == "neighbours":
        near = neighbours(topic.examples or topic.seeds, recorded.back_links, chance, number=options.seeds)
        topic = replace(topic, neighbours=_urls(near))
    match options.start:
        case "neighbours":
            return replace(topic, seeds=topic.neighbours) if topic.neighbours else None
        case "distance":
            moved, _ = seeds_at_distance(
                topic.targets, recorded.back_links, chance, number=options.seeds, distance=options.distance
            )
            return replace(topic, seeds=_urls(moved))
        case "augmented":
            described = Analyser().counts(topic.description)
            found = augment(topic.seeds, recorded.back_links, described, lambda url: counts.get(Url(url)))
            return replace(topic, seeds=_urls(found.all_seeds)) if found.hubs else None
    return topic


def _hub_counts(topics: Iterable[BedTopic], recorded: Recorded, again: Again) -> dict[Url, Counts]:
    """The words of every page that links to several seeds of a topic: only these can become hubs."""
    linking: set[str] = set()
    for topic in topics:
        met: set[str] = set()
        for seed in topic.seeds:
            back = recorded.back_links(seed, 10)
            linking.update(met.intersection(back))
            met.update(back)
    said = said_by(again(), wants_counts=lambda url: True, only=linking.__contains__)
    return {one.url: one.counts for one in said if one.counts is not None}


def _urls(names: Iterable[str]) -> tuple[Url, ...]:
    return tuple(map(Url, names))
