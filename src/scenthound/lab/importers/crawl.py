"""Imports a crawl folder as a bed: the pages it fetched, with its topic."""

from __future__ import annotations

from pathlib import Path

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import BedTopic, valid_urls
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Brought, Notes, Options
from scenthound.lab.importers.warc import responses_in
from scenthound.lab.importers.warc_stream import check_start
from scenthound.lab.topics.directory import slug
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Topic, Url
from scenthound.store.warc_repository import files_of

LONGEST_DESCRIPTION = 200_000  # characters


@importer("crawl", Options)
def crawl(source: Path, options: Options, notes: Notes) -> Brought:
    """A crawl folder of scenthound: its pages, redirects and topic."""
    if options.also:
        raise BadConfig("only one crawl at a time can become a bed", "leave `also` out")
    with CrawlFolder.look(source) as folder:
        request = folder.request
        seeds = [url for url, _ in request.keyed_seeds()]
        topic = crawl_topic(folder, request.topic, seeds)
    files = [path for path in files_of(source / "pages") if check_start(path)]
    if not files:
        raise BadConfig(f"the crawl in {source} has no pages", "a crawl can become a bed once it has fetched pages")
    started = f", started {request.started}" if request.started else ""
    origin = (
        f"A crawl of scenthound ({request.strategy}{started}). The targets are the pages that its judge "
        f"({request.settings.judge}) called relevant, seeds left out: rated by this crawl itself, not by a person"
    )
    return Brought(responses_in(files, notes), [topic], origin)


def crawl_topic(folder: CrawlFolder, wanted: Topic, seeds: list[Url]) -> BedTopic:
    """The crawl's topic with its answers. A page that a seed redirects to counts as the seed, not as a target."""
    starts = set(seeds)
    targets: dict[Url, str] = {}
    for step in folder.history.trail():
        if step.relevant and step.url not in starts and step.requested not in starts:
            targets[step.url] = step.title
    name = wanted.name or wanted.keywords
    description = " ".join([wanted.description, *targets.values()]).strip() or wanted.keywords
    return BedTopic(
        id=slug(f"Top/{name}"),
        path=(name,),
        keywords=wanted.keywords,
        description=description[:LONGEST_DESCRIPTION],
        seeds=tuple(seeds),
        targets=tuple(targets),
        examples=tuple(valid_urls(wanted.examples)),
    )
