"""Imports a crawl folder as a bed: the pages that it fetched, and its topic."""

from __future__ import annotations

from pathlib import Path

from scenthound.errors import BadConfig
from scenthound.lab.beds.bed import valid_urls
from scenthound.lab.importers import importer
from scenthound.lab.importers.interface import Notes, Options, SourceContent
from scenthound.lab.importers.warc import check_start, responses_in
from scenthound.lab.topics.directory import slug
from scenthound.loop.folder import CrawlFolder
from scenthound.model import Topic, Url
from scenthound.store.warc_repository import files_of
from scenthound.topic_list import BedTopic

MAX_DESCRIPTION = 200_000  # characters


@importer("crawl", Options)
def crawl(source: Path, options: Options, notes: Notes) -> SourceContent:
    """A crawl folder of scenthound: its pages, redirects and topic."""
    if options.also:
        raise BadConfig("only one crawl can be imported at a time", "leave out the option `also`")
    with CrawlFolder.look(source) as folder:
        request = folder.request
        seeds = [url for url, _ in request.keyed_seeds()]
        topic = crawl_topic(folder, request.topic, seeds)
    files = [path for path in files_of(source / "pages") if check_start(path)]
    if not files:
        raise BadConfig(f"the crawl in {source} has no pages", "import it after it has fetched some")
    started = f", started {request.started}" if request.started else ""
    origin = (
        f"A crawl of scenthound ({request.strategy}{started}). The targets are the pages that its judge "
        f"({request.settings.judge}) called relevant, without the seeds: rated by the crawl itself, not by a person"
    )
    return SourceContent(responses_in(files, notes), [topic], origin)


def crawl_topic(folder: CrawlFolder, topic: Topic, seeds: list[Url]) -> BedTopic:
    """The crawl's topic, with its relevant pages as targets. A page that a seed redirects to counts as the seed."""
    seed_urls = set(seeds)
    targets: dict[Url, str] = {}
    for step in folder.history.trail():
        if step.relevant and step.url not in seed_urls and step.requested not in seed_urls:
            targets[step.url] = step.title
    name = topic.name or topic.keywords
    description = " ".join([topic.description, *targets.values()]).strip() or topic.keywords
    return BedTopic(
        id=slug(f"Top/{name}"),
        path=(name,),
        keywords=topic.keywords,
        description=description[:MAX_DESCRIPTION],
        seeds=tuple(seeds),
        targets=tuple(targets),
        examples=tuple(valid_urls(topic.examples)),
        looking_for=topic.looking_for,
    )
