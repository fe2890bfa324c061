"""Turn finished live crawls into an experiment: their trails are pooled and measured together, as in the papers.

The bed of the experiment contains all pages that the crawls fetched, the pool of a topic those of all its crawls. The
targets come from a topics file, matched by the topic's name, or else are the pages that the crawls' own judges called
relevant. Crawls of one topic must have the same seeds and keywords. `lab measure`, `compare` and `report` work as on
replayed crawls, except that CPU seconds and requests per page are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scenthound.errors import BadConfig
from scenthound.files import unfinished
from scenthound.formats import full_trail_line
from scenthound.lab.beds.bed import Bed, read_topics, write_bed
from scenthound.lab.beds.cache import digest_of
from scenthound.lab.beds.prepare_bed import Cut
from scenthound.lab.beds.prepared import prepare
from scenthound.lab.importers.crawl import crawl_topic
from scenthound.lab.importers.interface import Notes
from scenthound.lab.importers.warc import check_start, responses_in
from scenthound.lab.importers.write_bed import PageFilter
from scenthound.lab.run.cells import Cell, cell_key, save_cell, write_lines
from scenthound.lab.run.experiment import Experiment, check_topics, open_experiment, open_folder
from scenthound.lab.run.run_cell import CellResult, ReplayLimits
from scenthound.lab.run.spec import ExperimentSpec, StrategySpec
from scenthound.lab.topics.directory import slug
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Response, Step
from scenthound.store.warc_repository import files_of
from scenthound.topic_list import BedTopic
from scenthound.wiring import versions

BED = "bed"


@dataclass(frozen=True, slots=True)
class LiveCrawl:
    """A finished crawl: its topic, the label of its strategy, its trail, and why it ended."""

    folder: Path
    topic: BedTopic
    label: str
    steps: tuple[Step, ...]
    reason: str


def pool_crawls(crawls: Sequence[Path], out: Path, topics: Path | None = None, jobs: int = 1) -> Experiment:
    """Write the experiment of some crawl folders into the new folder `out`. Raises `BadConfig` if they do not match."""
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise BadConfig(f"{out} is not empty", "give a new folder as --out")
    live_crawls = [_read_crawl(folder) for folder in crawls]
    pooled_topics = _topics(live_crawls, read_topics(topics, []) if topics is not None else None)
    with unfinished(out):
        return _write(live_crawls, pooled_topics, out, jobs)


def _write(crawls: Sequence[LiveCrawl], topics: Mapping[str, BedTopic], out: Path, jobs: int) -> Experiment:
    out.mkdir(parents=True, exist_ok=True)
    write_bed(out / BED, out.resolve().name, _responses(crawls), list(topics.values()), origin="pooled live crawls")
    bed = Bed.open(out / BED)
    prepared = prepare(bed, Cut(), jobs)
    cells = _cells(crawls)
    spec = ExperimentSpec(
        bed=str(out / BED),
        name=bed.name,
        digest=digest_of(bed),
        prepared=prepared.folder.name,
        cut=Cut(),
        limits=ReplayLimits(pages=max(len(crawl.steps) for crawl in crawls)),
        strategies=tuple(dict.fromkeys(crawl.label for crawl in crawls)),
        topics=tuple(topics),
        seed_numbers=tuple(sorted({cell.seed_number for cell, _ in cells})),
        oracles=False,
        versions=versions(),
    )
    problems = check_topics(prepared, topics.values())
    open_folder(out, spec, [cell for cell, _ in cells], list(topics.values()), problems)
    for cell, crawl in cells:
        _save(out, cell, crawl)
    return open_experiment(out)


def _read_crawl(folder: Path) -> LiveCrawl:
    with CrawlFolder.look(folder) as crawl:
        request, steps = crawl.request, tuple(crawl.history.trail())
        if not steps:
            raise BadConfig(f"the crawl in {folder} has no pages", "leave it out")
        topic = crawl_topic(crawl, request.topic, [url for url, _ in request.keyed_seeds()])
        label = StrategySpec(request.strategy, dict(request.parameters)).label
        return LiveCrawl(folder, topic, label, steps, crawl.database.meta("ended") or "not finished")


def _topics(crawls: Sequence[LiveCrawl], file_topics: Sequence[BedTopic] | None) -> dict[str, BedTopic]:
    """The topics of the crawls by id, each with the targets of all its crawls, or with those of a topics file."""
    topics: dict[str, BedTopic] = {}
    for crawl in crawls:
        topic = topics.setdefault(crawl.topic.id, crawl.topic)
        for name, ours, theirs in (
            ("seeds", set(topic.seeds), set(crawl.topic.seeds)),
            ("keywords", topic.keywords, crawl.topic.keywords),
        ):
            if ours != theirs:
                raise BadConfig(f"{crawl.folder} and the first crawl of {topic.id} differ in {name}", "leave one out")
        targets = tuple(dict.fromkeys((*topic.targets, *crawl.topic.targets)))
        topics[topic.id] = replace(topic, targets=targets)
    return topics if file_topics is None else {id_: _with_answers(topic, file_topics) for id_, topic in topics.items()}


def _with_answers(topic: BedTopic, file_topics: Sequence[BedTopic]) -> BedTopic:
    """The topic with the targets that a topics file has for it."""
    for entry in file_topics:
        if topic.id in (entry.id, slug(f"Top/{entry.id}")) or topic.keywords == entry.keywords:
            return replace(topic, description=entry.description, targets=entry.targets, examples=(), path=entry.path)
    raise BadConfig(f"the topics file has no topic {topic.id}", "its ids must be the names of the crawled topics")


def _responses(crawls: Sequence[LiveCrawl]) -> Iterator[Response]:
    """The responses that the crawls fetched, each URL once."""
    notes = Notes()
    page_filter = PageFilter(notes, ())
    files = [path for crawl in crawls for path in files_of(crawl.folder / "pages") if check_start(path)]
    return iter(page_filter.apply(responses_in(files, notes)))


def _cells(crawls: Sequence[LiveCrawl]) -> list[tuple[Cell, LiveCrawl]]:
    """A cell for each crawl; further crawls of one strategy and topic get the next seed number."""
    next_number: dict[tuple[str, str], int] = {}
    cells = []
    for crawl in crawls:
        seed_number = next_number.get((crawl.label, crawl.topic.id), 0)
        next_number[crawl.label, crawl.topic.id] = seed_number + 1
        key = cell_key(crawl.label, crawl.topic.id, seed_number, 0, [str(step.url) for step in crawl.steps])
        cells.append((Cell(key, crawl.label, crawl.topic.id, seed_number), crawl))
    return cells


def _save(out: Path, cell: Cell, crawl: LiveCrawl) -> None:
    steps = [step._replace(n=n) for n, step in enumerate(crawl.steps, 1)]  # a crawl that lost pages has gaps
    result = CellResult(steps=steps, requests=[0] * len(steps), reason=crawl.reason, attempts=len(steps))
    save_cell(out, cell.key, result)
    write_lines(out / "trails" / f"{cell.key}.jsonl", map(full_trail_line, steps))  # `requests` are unknown
