"""A crawl of ours as a bed: what it fetched, with the topic it was about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from scenthound.errors import BadConfig, NotAUrl
from scenthound.lab.beds.bed import BedTopic
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Brought, Notes, Options
from scenthound.lab.importers.warc import responses_in
from scenthound.lab.importers.warc_stream import check_start
from scenthound.lab.topics.directory import slug
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Topic, Url
from scenthound.store.warc import files_of
from scenthound.url import make

LONGEST_DESCRIPTION = 200_000  # characters


@importer("crawl", Options)
def crawl(source: Path, options: Options, notes: Notes) -> Brought:
    """A crawl folder of scenthound: its pages, redirects and topic."""
    if options.also:
        raise BadConfig("only one crawl at a time can become a bed", "leave `also` out")
    with CrawlFolder.look(source) as folder:
        asked = folder.asked
        seeds = [url for url, _ in asked.keyed_seeds()]
        relevant = asked.settings.relevant
        topic = _topic(folder, asked.topic, seeds, relevant)
    files = [path for path in files_of(source / "pages") if check_start(path)]
    if not files:
        raise BadConfig(f"the crawl in {source} has no pages", "a crawl becomes a bed when it has fetched something")
    started = f", started {asked.started}" if asked.started else ""
    origin = (
        f"A crawl of scenthound ({asked.strategy}{started}). The targets are the pages with a similarity of at least "
        f"{relevant:g} to the topic, seeds left out: what this crawl found and its own judge liked, no human's choice"
    )
    return Brought(responses_in(files, notes), [topic], origin)


def _topic(folder: CrawlFolder, asked: Topic, seeds: list[Url], relevant: float) -> BedTopic:
    """The crawl's topic with its answers. A page that a seed redirected to is that seed, and no target."""
    starts = set(seeds)
    targets: dict[Url, str] = {}
    for step in folder.history.trail():
        if step.similarity >= relevant and step.url not in starts and step.requested not in starts:
            targets[step.url] = step.title
    name = asked.name or asked.keywords
    said = " ".join([asked.description, *targets.values()]).strip() or asked.keywords
    return BedTopic(
        id=slug(f"Top/{name}"),
        path=(name,),
        keywords=asked.keywords,
        description=said[:LONGEST_DESCRIPTION],
        seeds=tuple(seeds),
        targets=tuple(targets),
        examples=tuple(_urls_among(asked.examples)),
    )


def _urls_among(examples: tuple[str, ...]) -> Iterator[Url]:
    """Examples may be texts; only addresses of pages are something a bed can hold."""
    for text in examples:
        try:
            yield make(text)
        except NotAUrl:
            continue
