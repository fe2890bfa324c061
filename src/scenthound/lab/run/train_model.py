"""Train a strategy on a topic and a known web: the work of `scenthound train`.

The examples are those stored beside the topic file, its example URLs that the source has, and pages labelled on topic.
The counter-examples are pages labelled off topic and a sample of the source.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from scenthound.errors import BadConfig, BadUsage
from scenthound.judges import DEFAULT as JUDGE
from scenthound.lab.beds.bed import valid_urls
from scenthound.lab.run.lesson_sources import Source, open_source
from scenthound.lab.run.topic_lessons import REST, Syllabus, WebLessons, background, category_name, topic_path, tree
from scenthound.lab.topics.example_file import TopicFile, read_topic_file
from scenthound.lab.topics.taxonomies import Categories, check_good, path_named, read_categories
from scenthound.lessons import Taxonomy, TrainsByJudge
from scenthound.model import Topic
from scenthound.page.page import Page
from scenthound.parameters import values_of
from scenthound.ports import Trains, declaration_of
from scenthound.store.model_folder import TrainedModel, TrainedOn, save_model
from scenthound.wiring import make_strategy, relevance_by, versions

Progress = Callable[[str], None]


def train(
    strategy: str,
    topic: TopicFile | Topic | str | Path,
    source: Source | str | Path | Callable[[], Source],
    out: str | Path,
    *,
    parameters: Mapping[str, Any] | None = None,
    taxonomy: str | Path | None = None,
    judge: str = JUDGE,
    seed_number: int = 0,
    when: str = "",
    jobs: int = 1,
    progress: Progress | None = None,
) -> TrainedModel:
    """Train a strategy on a known web and save the model in the new folder `out`.

    `judge` decides which pages are relevant, for strategies that use a judge (`goal=judge` of the economies). `topic`
    is a topic file or a `Topic` whose examples are URLs of the source's pages. A source that takes long to make may be
    a function, which is called only after everything else has been checked. Raises `ScenthoundError` if something is
    wrong; then nothing is written. `jobs` is the number of processes that read the pages; above 1, a script needs
    `if __name__ == "__main__":`.
    """
    say = progress or (lambda sentence: None)
    learner = make_strategy(strategy, parameters)
    if not isinstance(learner, Trains):
        raise BadUsage(f"{strategy} learns nothing before it crawls", f"crawl with it: scenthound crawl … {strategy}")
    if Path(out).exists() and (not Path(out).is_dir() or any(Path(out).iterdir())):
        raise BadConfig(f"{out} is not empty", "give a new folder as --out")
    topic_file = _topic_file(topic)
    if callable(source):
        source = source()
    if not isinstance(source, Source):
        say(f"reading {source}")
        source = open_source(source, jobs)
    source.bed.read_parts(declaration_of(learner).parts)
    lessons = user_lessons(topic_file, source, _categories(topic_file, taxonomy), seed_number)
    counts = lessons.counts
    say(f"learning from {counts['examples']:,} examples and {counts['others']:,} other pages of {source.name}")
    if source.leading:
        say(f"{len(source.leading):,} pages lead to the examples; they are not counter-examples")
    if isinstance(learner, TrainsByJudge):
        learner.use_judge(relevance_by(judge, topic_file.topic, lessons.syllabus.examples))
    learner.train(lessons, random.Random(f"training:{seed_number}"), say)
    model = TrainedModel(
        strategy,
        values_of(learner),
        topic_file.topic,
        TrainedOn(source.kind, source.name, source.digest, counts),
        learner.model(),
        versions(),
        when,
    )
    save_model(Path(out), model)
    return model


def _topic_file(topic: TopicFile | Topic | str | Path) -> TopicFile:
    if isinstance(topic, TopicFile):
        return topic
    return TopicFile(topic) if isinstance(topic, Topic) else read_topic_file(Path(topic))


def _categories(topic_file: TopicFile, taxonomy: str | Path | None) -> Categories | None:
    if taxonomy is not None:
        return read_categories(taxonomy, topic_file.depth or None)
    return read_categories(topic_file.taxonomy, topic_file.depth or None) if topic_file.taxonomy else None


def user_lessons(
    topic_file: TopicFile, source: Source, categories: Categories | None = None, seed_number: int = 0
) -> WebLessons:
    """The lessons for a user's topic on a known web. Raises `BadConfig` if there is no example."""
    stored = {example.url: example.page() for example in topic_file.examples}
    labelled = [url for url, on_topic in source.labels.items() if on_topic]
    off_topic = [url for url, on_topic in source.labels.items() if not on_topic]
    off_topic += [example.url for example in topic_file.examples if not example.on_topic]
    candidates = dict.fromkeys([*stored, *valid_urls(topic_file.topic.examples), *labelled])
    examples = [url for url in candidates if url not in off_topic and (url in stored or url in source.bed)]
    if not examples:
        raise BadConfig(
            "the topic has no example page to learn from",
            f"make one: scenthound topic new {topic_file.topic.name or 'mine'}.toml --examples URLS.txt; or name pages "
            f"that are in {source.name}",
        )
    likely = source.likely if source.kind == "crawl" else ()
    excluded = {*examples, *off_topic, *likely, *source.leading}
    rest = background(source.bed, excluded, random.Random(f"background:{seed_number}"))
    others = tuple(dict.fromkeys([*off_topic, *rest]))
    syllabus = Syllabus(tuple(examples), others)
    lessons = WebLessons(source.bed, topic_file.topic, syllabus, stored)
    return WebLessons(source.bed, topic_file.topic, syllabus, stored, _tree(topic_file, source, categories, lessons))


def _tree(topic_file: TopicFile, source: Source, categories: Categories | None, lessons: WebLessons) -> Taxonomy | None:
    """The known categories plus the topic's own examples; if none are known, the topic and everything else."""
    by_path: dict[tuple[str, ...], list[Page]] = {}
    if categories is not None:
        by_path = {path: list(pages) for path, pages in categories.pages.items()}
    elif source.topics and not source.is_made_up:
        for topic in source.topics:
            urls = topic.examples or topic.seeds
            by_path[topic_path(topic)] = [page for url in urls if (page := lessons.page(url)) is not None]
    if not any(by_path.values()):
        by_path = {(REST,): list(lessons.others)}
    topic_name = topic_file.topic.name or "the topic"
    categories_of_examples = {example.url: example.category for example in topic_file.examples}
    for example in topic_file.examples:
        if not example.on_topic and example.category:
            by_path.setdefault(path_named(example.category), []).append(example.page())
    added: dict[str, None] = {}
    for page in lessons.examples:
        path = path_named(categories_of_examples.get(page.url) or topic_name)
        added[category_name(path)] = None
        by_path.setdefault(path, []).append(page)
    with_text = {path: [page for page in pages if page.text.strip()] for path, pages in by_path.items()}
    by_path = {path: pages for path, pages in with_text.items() if pages}
    names = {category_name(path[:end]) for path in by_path for end in range(1, len(path) + 1)}
    good = check_good(topic_file.topic.good, names)
    good += [name for name in added if not any(f"{name}/".startswith(f"{above}/") for above in good)]
    good = [name for name in good if not any(name.startswith(f"{above}/") for above in good)]
    return tree(by_path, good)
