"""From a topic and a known web to a model: what `scenthound train` does.

The examples are those kept beside the topic file, those of its addresses that the source has, and pages that somebody
labelled; the counter-examples are pages labelled as off topic and a sample of the source.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage, NotAUrl
from scenthound.lab.run.lesson_sources import Source, open_source
from scenthound.lab.run.lessons import REST, Syllabus, WebLessons, background, name_of, path_of, tree
from scenthound.lab.topics.example_file import TopicFile, read_topic_file
from scenthound.lab.topics.taxonomies import Categories, check_good, path_named, read_categories
from scenthound.model import Topic, Url
from scenthound.page.page import Page
from scenthound.parameters import values_of
from scenthound.ports import Taxonomy, Trains, declaration_of
from scenthound.store.models import Model, TrainedOn, save_model
from scenthound.url import make
from scenthound.wiring import make_strategy, versions

Progress = Callable[[str], None]


def train(
    strategy: str,
    topic: TopicFile | Topic | str | Path,
    source: Source | str | Path,
    out: str | Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    taxonomy: str | Path | None = None,
    seed_number: int = 0,
    when: str = "",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Model:
    """Train a strategy on a known web and keep what it learned in the new folder `out`.

    `topic` is a topic file or a `Topic` whose examples are addresses of the source's pages. Raises `ScenthoundError`
    where something is wrong, and then nothing is written. With `jobs` above 1 that many processes read the pages,
    which in a script of yours needs `if __name__ == "__main__":`.
    """
    say = progress or (lambda sentence: None)
    made = make_strategy(strategy, parameters)
    if not isinstance(made, Trains):
        raise BadUsage(f"{strategy} learns nothing before it crawls", f"crawl with it: scenthound crawl … {strategy}")
    if Path(out).exists() and (not Path(out).is_dir() or any(Path(out).iterdir())):
        raise BadConfig(f"there is something already in {out}", "give a new folder as --out")
    known = _topic_file(topic)
    if not isinstance(source, Source):
        say(f"reading {source}")
        source = open_source(source, jobs)
    source.bed.read_parts(declaration_of(made).parts)
    lessons = user_lessons(known, source, _categories(known, taxonomy), seed_number)
    counts = lessons.counts
    say(f"learning from {counts['examples']:,} examples and {counts['others']:,} other pages of {source.name}")
    made.train(lessons, random.Random(f"training:{seed_number}"), say)
    model = Model(
        strategy,
        values_of(made),
        known.topic,
        TrainedOn(source.kind, source.name, source.digest, counts),
        made.model(),
        versions(),
        when,
    )
    save_model(Path(out), model)
    return model


def _topic_file(topic: TopicFile | Topic | str | Path) -> TopicFile:
    if isinstance(topic, TopicFile):
        return topic
    return TopicFile(topic) if isinstance(topic, Topic) else read_topic_file(Path(topic))


def _categories(known: TopicFile, taxonomy: str | Path | None) -> Categories | None:
    if taxonomy is not None:
        return read_categories(taxonomy, known.depth or None)
    return read_categories(known.taxonomy, known.depth or None) if known.taxonomy else None


def user_lessons(
    known: TopicFile, source: Source, categories: Categories | None = None, seed_number: int = 0
) -> WebLessons:
    """The lessons for somebody's topic on a known web. Raises `BadConfig` where there is not one example."""
    stored = {example.url: example.page() for example in known.examples}
    labelled = [url for url, on_topic in source.labels.items() if on_topic]
    refused = [url for url, on_topic in source.labels.items() if not on_topic]
    named = dict.fromkeys([*stored, *_addresses(known.topic.examples), *labelled])
    examples = [url for url in named if url not in refused and (url in stored or url in source.bed)]
    if not examples:
        raise BadConfig(
            "the topic has no example page that could be learned from",
            f"make one: scenthound topic new {known.topic.name or 'mine'}.toml --examples URLS.txt; or name pages that "
            f"are in {source.name}",
        )
    away = {*examples, *refused, *(url for url in source.likely if source.kind == "crawl")}
    rest = background(source.bed, away, random.Random(f"background:{seed_number}"))
    others = tuple(dict.fromkeys([*refused, *rest]))
    syllabus = Syllabus(tuple(examples), others)
    lessons = WebLessons(source.bed, known.topic, syllabus, stored)
    return WebLessons(source.bed, known.topic, syllabus, stored, _tree(known, source, categories, lessons))


def _addresses(examples: Sequence[str]) -> list[Url]:
    """Examples may be texts; only addresses can be looked up."""
    found = []
    for text in examples:
        try:
            found.append(make(text))
        except NotAUrl:
            continue
    return found


def _tree(known: TopicFile, source: Source, categories: Categories | None, lessons: WebLessons) -> Taxonomy | None:
    """The categories there are, with the topic's own examples in theirs; without any, the topic and the rest."""
    placed: dict[tuple[str, ...], list[Page]] = {}
    if categories is not None:
        placed = {path: list(pages) for path, pages in categories.placed.items()}
    elif source.topics and not source.is_made_up:
        for topic in source.topics:
            urls = topic.examples or topic.seeds
            placed[path_of(topic)] = [page for url in urls if (page := lessons.page(url)) is not None]
    if not any(placed.values()):
        placed = {(REST,): list(lessons.others)}
    own = known.topic.name or "the topic"
    said = {example.url: example.category for example in known.examples}
    added: dict[str, None] = {}
    for page in lessons.examples:
        path = path_named(said.get(page.url) or own)
        added[name_of(path)] = None
        placed.setdefault(path, []).append(page)
    spoken = {path: [page for page in pages if page.text.strip()] for path, pages in placed.items()}
    placed = {path: pages for path, pages in spoken.items() if pages}
    names = {name_of(path[:end]) for path in placed for end in range(1, len(path) + 1)}
    good = check_good(known.topic.good, names)
    good += [name for name in added if not any(name == one or name.startswith(f"{one}/") for one in good)]
    good = [name for name in good if not any(name.startswith(f"{one}/") for one in good)]
    return tree(placed, good)
