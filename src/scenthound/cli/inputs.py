"""The command line of `scenthound crawl`, and the request that it makes together with a configuration file."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenthound import url as urls
from scenthound.cli.output import key_value, say
from scenthound.cli.sources_command import augmented
from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.formats import printable
from scenthound.loop.crawl_toml import (
    DEFAULT_STRATEGY,
    LARGEST_SEED_FILE,
    CrawlRequest,
    check_seeds,
    load_toml,
    read_seed_file,
    read_topic,
    some_seeds,
    topic_from,
)
from scenthound.loop.settings import Settings, read
from scenthound.loop.use_model import parameters_for_model, require_model
from scenthound.model import Topic
from scenthound.parameters import values_of
from scenthound.store.model_folder import load_model
from scenthound.strategies import STRATEGIES
from scenthound.wiring import (
    as_recorded,
    check_sources,
    check_topic,
    find_seeds,
    found_urls,
    make_scope,
    make_strategy,
    split_settings,
)
from scenthound.wiring.paper_setups import profile_values

if TYPE_CHECKING:
    from scenthound.lab.beds.bed import BedTopic

_ABOUT_CRAWLS = {"format", "started", "versions", "found"}  # keys of a crawl.toml that a new crawl does not take over


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """The command line of `scenthound crawl`, as it was typed."""

    topic: str | None = None
    seeds: Sequence[str] = ()
    seed_files: Sequence[str] = ()
    strategy: str | None = None
    model: Path | None = None
    pairs: Sequence[str] = ()
    """Of `--set`."""
    looking_for: str | None = None
    config: Path | None = None
    scope: str = "any"
    augment: bool = False
    topic_from: Path | None = None
    """A file of topics, as beds have it, or a bed."""
    topic_id: str | None = None
    profile: str = "open"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that have an option of their own."""


def crawl_request(options: CrawlOptions) -> CrawlRequest:
    """Combine the configuration file, `--set` and the options; of two that say the same the later wins.

    A model brings its strategy and parameters; `BadConfig` if others are asked for.
    """
    config = options.config
    learned = None if options.model is None else load_model(options.model)
    plain = dict(load_toml(config, "configuration", "pages = 500")) if config else {}
    for key in _ABOUT_CRAWLS:
        plain.pop(key, None)
    topic_table = _table(plain, "topic", config)
    given = {**_table(plain, "settings", config), **_table(plain, "parameters", config)}
    asked_for = plain.pop("strategy", None)
    asked_for = options.strategy or asked_for
    name = asked_for or (learned.strategy if learned is not None else DEFAULT_STRATEGY)
    config_seeds = plain.pop("seeds", [])
    if not isinstance(config_seeds, list) or not all(isinstance(seed, str) for seed in config_seeds):
        raise BadConfig(f"`seeds` in {config} is not a list of texts", 'write: seeds = ["https://example.org/"]')
    if not isinstance(name, str):
        raise BadConfig(f"`strategy` in {config} can't be {name!r}", 'write: strategy = "hound"')
    given |= plain
    _check_file(given, name, config)
    given = {**profile_values(options.profile, name), **given}
    given |= dict(map(key_value, options.pairs))
    given |= _looking_for(options.looking_for, name)
    given = {key: _signed(key, value) for key, value in given.items()}
    settings, parameters = split_settings(given, name)
    flags = {key: value for key, value in options.settings.items() if value is not None and value != ()}
    settings |= {key: _signed(key, value) for key, value in flags.items()}  # never parameters of the same name
    listed = _listed_topic(options)
    topic = listed.topic if listed is not None else _topic(options.topic, topic_table, config)
    check_topic(topic)
    seeds = [*check_seeds([("--seed", seed) for seed in options.seeds]), *_from_files(options.seed_files)]
    seeds = seeds or check_seeds([(f"{config} seeds", seed) for seed in config_seeds])
    seeds = seeds or (list(map(str, listed.seeds)) if listed is not None else [])
    _check_start(options, seeds, asked := read(Settings, settings))
    if learned is not None:
        name, parameters = parameters_for_model(learned, asked_for, parameters, make_strategy)
    strategy = make_strategy(name, parameters)
    if learned is None:
        require_model(strategy, name)
    values = values_of(strategy)
    parameters = {key: values[key] for key in parameters if key in values}
    seeds, found = _found(options, topic, seeds, asked)  # last, since it may take a while
    checked = read(Settings, _scoped(settings, seeds, options.scope))
    make_scope(checked)  # raises for a bad pattern, before anything is written
    return CrawlRequest(topic, tuple(seeds), name, parameters, checked, found=found)


def _check_start(options: CrawlOptions, seeds: Sequence[str], asked: Settings) -> None:
    """Raise `BadUsage` if there are neither seeds nor sources, or no source where one is needed."""
    check_sources(asked.sources)
    if not seeds and not asked.sources:
        raise BadUsage(
            "no seeds: a crawl has to start somewhere",
            "add --seed URL, --seeds FILE with one URL a line, or --source NAME:ADDRESS that knows some",
        )
    if options.augment and not asked.sources:
        raise BadUsage("--augment needs to be told who knows links", "add --source collections:FOLDER, or searxng:URL")


def _found(
    options: CrawlOptions, topic: Topic, seeds: list[str], asked: Settings
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """The seeds, and which of them sources found: all if none were given, and the hubs of `--augment`."""
    found: dict[str, tuple[str, ...]] = {}
    if not seeds:
        answers = asyncio.run(find_seeds(topic, asked))
        for answer in answers:
            told = answer.problem or f"{len(answer.found):,} pages to start from"
            say(f"note: {printable(answer.source)}: {printable(told)}")
        seeds, found = found_urls(answers), as_recorded(answers)
    if options.augment:
        found["augment"] = tuple(augmented(seeds, topic, asked, quiet=False))
        say(f"note: {len(found['augment']):,} pages link to several of the seeds")
        seeds = [*seeds, *found["augment"]]
    return seeds, found


def _looking_for(what: str | None, strategy: str) -> dict[str, str]:
    """The parameter that `--looking-for` sets; `BadUsage` if the strategy has none."""
    if what is None:
        return {}
    if "looking_for" not in {f.name for f in fields(STRATEGIES.get(strategy))}:
        raise BadUsage(f"{strategy} does not know --looking-for", "leave it out, or take --strategy hound")
    return {"looking_for": what}


def slug(topic: Topic) -> str:
    """A folder name made of the topic's words.

    >>> slug(Topic("Hot Air: Ballooning!"))
    'hot-air-ballooning'
    """
    words = re.findall(r"\w+", (topic.name or topic.keywords).lower())
    return "-".join(words)[:60].strip("-") or "crawl"


def _listed_topic(options: CrawlOptions) -> BedTopic | None:
    """The topic that `--topic-from` and `--id` name: a crawl sees of it what it would see in the lab."""
    path = options.topic_from
    if path is None:
        if options.topic_id is not None:
            raise BadUsage("--id names a topic of a file", "add --topic-from topics.jsonl")
        return None
    if options.topic is not None:
        raise BadUsage("a topic and --topic-from are both given", "leave one of them out")
    from scenthound.lab.importers.interface import Notes
    from scenthound.lab.importers.topics_jsonl import read_topics

    topics = {topic.id: topic for topic in read_topics(path / "topics.jsonl" if path.is_dir() else path, Notes())}
    if options.topic_id is None and len(topics) != 1:
        raise BadUsage(f"{path} has {len(topics):,} topics", f"choose one with --id, as {next(iter(topics), 'ID')}")
    if options.topic_id is not None and options.topic_id not in topics:
        raise UnknownName.among("topic", options.topic_id, topics)
    return topics[options.topic_id] if options.topic_id is not None else next(iter(topics.values()))


def _topic(typed: str | None, written: Mapping[str, Any], config: Path | None) -> Topic:
    if typed is None:
        if not written:
            raise BadUsage("no topic: say what you look for", 'scenthound crawl "hot air ballooning" --seed URL')
        return topic_from(written, config or "the configuration")
    if not typed.strip():
        raise BadConfig("the topic has no words", 'say what you look for, as: scenthound crawl "hot air ballooning" …')
    return read_topic(typed)


def _check_file(given: Mapping[str, Any], strategy: str, config: Path | None) -> None:
    """Check the settings of the file alone, so that an error names the file."""
    try:
        settings, parameters = split_settings(given, strategy)
        read(Settings, settings)
        make_strategy(strategy, parameters)
    except (BadConfig, UnknownName) as error:
        if not given:
            raise
        raise type(error)(f"{config}: {error.message}", error.hint) from None


def _signed(key: str, value: Any) -> Any:
    """A negative number as a number, so that the error says too small, and not that it is no number."""
    numbers = {f.name for f in fields(Settings) if f.type in ("int", "float")}
    is_negative = isinstance(value, str) and re.fullmatch(r"-\d+", value) is not None
    return int(value) if is_negative and key.replace("-", "_") in numbers else value


def _from_files(names: Sequence[str]) -> list[str]:
    return [seed for name in names for seed in seeds_of(name)]


def seeds_of(name: str) -> list[str]:
    """The seeds in a file; - is stdin."""
    if name != "-":
        return read_seed_file(Path(name))
    return some_seeds(sys.stdin.buffer.read(LARGEST_SEED_FILE).decode("utf-8-sig", "replace"), "stdin")


def _table(plain: dict[str, Any], name: str, config: Path | None) -> dict[str, Any]:
    table = plain.pop(name, {})
    if not isinstance(table, dict):
        raise BadConfig(f"`{name}` in {config} is not a table", f"write a line [{name}] and its keys below")
    return {key.replace("-", "_"): value for key, value in table.items()}


def _scoped(settings: dict[str, Any], seeds: Sequence[str], scope: str) -> dict[str, Any]:
    """`--scope host` and `domain`: stay on those of the seeds, and on those that were named."""
    if scope == "any":
        return settings
    key = "hosts" if scope == "host" else "domains"
    hosts = [urls.host(urls.make(seed)) for seed in seeds]
    named = settings.get(key, [])
    named = [part.strip() for part in named.split(",") if part.strip()] if isinstance(named, str) else [*named]
    of_seeds = hosts if scope == "host" else [urls.domain(host) for host in hosts]
    return {**settings, key: list(dict.fromkeys([*named, *of_seeds]))}
