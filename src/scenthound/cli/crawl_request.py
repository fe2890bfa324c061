"""Turn the options of `scenthound crawl` and its configuration file into a `CrawlRequest`."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scenthound import url as urls
from scenthound.cli.output import key_value, say
from scenthound.cli.sources_command import find_hubs
from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.formats import printable
from scenthound.looking_for import checked as checked_looking_for
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
from scenthound.wiring import (
    check_sources,
    check_topic,
    find_seeds,
    found_urls,
    make_scope,
    make_strategy,
    split_settings,
    urls_by_source,
)
from scenthound.wiring.profiles import profile_values

if TYPE_CHECKING:
    from scenthound.topic_list import BedTopic

_RECORD_KEYS = {"format", "started", "versions", "found"}  # keys of a crawl.toml that a new crawl does not copy


@dataclass(frozen=True, slots=True)
class CrawlOptions:
    """The options of `scenthound crawl`, as typed."""

    topic: str | None = None
    seeds: Sequence[str] = ()
    seed_files: Sequence[str] = ()
    strategy: str | None = None
    model: Path | None = None
    pairs: Sequence[str] = ()
    """The values of `--set`."""
    looking_for: str | None = None
    """`pages` or `sites`; None if the configuration or the topic decides."""
    config: Path | None = None
    scope: str = "any"
    augment: bool = False
    topic_from: Path | None = None
    """A topics.jsonl file, or a bed that contains one."""
    topic_id: str | None = None
    profile: str = "open"
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Settings that have their own option."""


def crawl_request(options: CrawlOptions) -> CrawlRequest:
    """Combine the configuration file, `--set` and the options; where two set the same key, the later of these wins.

    A model determines strategy and parameters; raises `BadConfig` if the options set others.
    """
    config = options.config
    learned = None if options.model is None else load_model(options.model)
    document = dict(load_toml(config, "configuration", "pages = 500")) if config else {}
    for key in _RECORD_KEYS:
        document.pop(key, None)
    topic_table = _table(document, "topic", config)
    values = {**_table(document, "settings", config), **_table(document, "parameters", config)}
    requested_strategy = document.pop("strategy", None)
    requested_strategy = options.strategy or requested_strategy
    name = requested_strategy or (learned.strategy if learned is not None else DEFAULT_STRATEGY)
    config_seeds = document.pop("seeds", [])
    if not isinstance(config_seeds, list) or not all(isinstance(seed, str) for seed in config_seeds):
        raise BadConfig(f"`seeds` in {config} is not a list of strings", 'write: seeds = ["https://example.org/"]')
    if isinstance(name, str) and ":" in name:
        strategy_name, _, pairs = name.partition(":")
        ways = " ".join(f"--set {pair}" for pair in pairs.split(","))
        raise BadUsage(f"`{name}` is not the name of a strategy", f"write: --strategy {strategy_name} {ways}")
    if not isinstance(name, str):
        raise BadConfig(f"`strategy` in {config} can't be {name!r}", 'write: strategy = "hound"')
    values |= document
    _check_file({key: value for key, value in values.items() if key != "looking_for"}, name, config)
    values = {**profile_values(options.profile, name), **values}
    values |= dict(map(key_value, options.pairs))
    looked_for = values.pop("looking_for", values.pop("looking-for", None))  # --set, or a line of the configuration
    looked_for = options.looking_for if options.looking_for is not None else looked_for
    values = {key: _signed(key, value) for key, value in values.items()}
    settings, parameters = split_settings(values, name)
    flags = {key: value for key, value in options.settings.items() if value is not None and value != ()}
    settings |= {key: _signed(key, value) for key, value in flags.items()}  # never parameters of the same name
    bed_topic = _listed_topic(options)
    topic = bed_topic.topic if bed_topic is not None else _topic(options.topic, topic_table, config)
    check_topic(topic)
    if looked_for is not None:
        topic = replace(topic, looking_for=checked_looking_for(looked_for))
    seeds = [*check_seeds([("--seed", seed) for seed in options.seeds]), *_from_files(options.seed_files)]
    seeds = seeds or check_seeds([(f"{config} seeds", seed) for seed in config_seeds])
    seeds = seeds or (list(map(str, bed_topic.seeds)) if bed_topic is not None else [])
    _check_start(options, seeds, initial := read(Settings, settings))
    if learned is not None:
        name, parameters = parameters_for_model(learned, requested_strategy, parameters, make_strategy)
    strategy = make_strategy(name, parameters)
    if learned is None:
        require_model(strategy, name)
    effective = values_of(strategy)
    parameters = {key: effective[key] for key in parameters if key in effective}
    seeds, found = _find_missing_seeds(options, topic, seeds, initial)  # last, since it may take a while
    checked = read(Settings, _scoped(settings, seeds, options.scope))
    make_scope(checked)  # raises for a bad pattern, before anything is written
    return CrawlRequest(topic, tuple(seeds), name, parameters, checked, found=found)


def _check_start(options: CrawlOptions, seeds: Sequence[str], settings: Settings) -> None:
    """Raise `BadUsage` if there are neither seeds nor sources, or `--augment` without a source."""
    check_sources(settings.sources)
    if not seeds and not settings.sources:
        raise BadUsage(
            "no seeds: a crawl has to start somewhere",
            "add --seed URL, --seeds FILE with one URL per line, or --source NAME:ADDRESS to search for some",
        )
    if options.augment and not settings.sources:
        raise BadUsage(
            "--augment needs a source that knows links", "add --source collections:FOLDER or --source searxng:URL"
        )


def _find_missing_seeds(
    options: CrawlOptions, topic: Topic, seeds: list[str], settings: Settings
) -> tuple[list[str], dict[str, tuple[str, ...]]]:
    """The seeds, and those that each source found: all seeds if none were given, and the hubs of `--augment`."""
    found: dict[str, tuple[str, ...]] = {}
    if not seeds:
        answers = asyncio.run(find_seeds(topic, settings))
        for answer in answers:
            result = answer.problem or f"{len(answer.found):,} pages to start from"
            say(f"note: {printable(answer.source)}: {printable(result)}")
        seeds, found = found_urls(answers), urls_by_source(answers)
    if options.augment:
        found["augment"] = tuple(find_hubs(seeds, topic, settings, quiet=False))
        say(f"note: {len(found['augment']):,} pages link to several of the seeds")
        seeds = [*seeds, *found["augment"]]
    return seeds, found


def slug(topic: Topic) -> str:
    """A folder name made from the topic's words.

    >>> slug(Topic("Hot Air: Ballooning!"))
    'hot-air-ballooning'
    """
    words = re.findall(r"\w+", (topic.name or topic.keywords).lower())
    return "-".join(words)[:60].strip("-") or "crawl"


def _listed_topic(options: CrawlOptions) -> BedTopic | None:
    """The topic that `--topic-from` and `--id` select; the crawl starts with the same data as in the lab."""
    path = options.topic_from
    if path is None:
        if options.topic_id is not None:
            raise BadUsage("--id selects a topic from a file, but no file is given", "add --topic-from topics.jsonl")
        return None
    if options.topic is not None:
        raise BadUsage("a topic and --topic-from are both given", "leave one of them out")
    from scenthound.topic_list import read_topics

    topics = {
        topic.id: topic
        for topic in read_topics(path / "topics.jsonl" if path.is_dir() else path, lambda kind, example: None)
    }
    if options.topic_id is None and len(topics) != 1:
        raise BadUsage(
            f"{path} has {len(topics):,} topics", f"choose one with --id, for example --id {next(iter(topics), 'ID')}"
        )
    if options.topic_id is not None and options.topic_id not in topics:
        raise UnknownName.among("topic", options.topic_id, topics)
    return topics[options.topic_id] if options.topic_id is not None else next(iter(topics.values()))


def _topic(typed: str | None, written: Mapping[str, Any], config: Path | None) -> Topic:
    if typed is None:
        if not written:
            raise BadUsage("no topic: say what you are looking for", 'scenthound crawl "hot air ballooning" --seed URL')
        return topic_from(written, config or "the configuration")
    if not typed.strip():
        raise BadConfig(
            "the topic has no words", 'say what you are looking for: scenthound crawl "hot air ballooning" …'
        )
    return read_topic(typed)


def _check_file(values: Mapping[str, Any], strategy: str, config: Path | None) -> None:
    """Check the settings in the file on their own, so that an error names the file."""
    try:
        settings, parameters = split_settings(values, strategy)
        read(Settings, settings)
        make_strategy(strategy, parameters)
    except (BadConfig, UnknownName) as error:
        if not values:
            raise
        raise type(error)(f"{config}: {error.message}", error.hint) from None


def _signed(key: str, value: Any) -> Any:
    """Convert a negative number, so that the error is that it is too small, not that it is not a number."""
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


def _table(document: dict[str, Any], name: str, config: Path | None) -> dict[str, Any]:
    table = document.pop(name, {})
    if not isinstance(table, dict):
        raise BadConfig(f"`{name}` in {config} is not a table", f"write [{name}] on a line, and its keys below it")
    return {key.replace("-", "_"): value for key, value in table.items()}


def _scoped(settings: dict[str, Any], seeds: Sequence[str], scope: str) -> dict[str, Any]:
    """Apply `--scope host` or `domain`: allow the hosts or domains of the seeds and those named by other options."""
    if scope == "any":
        return settings
    key = "hosts" if scope == "host" else "domains"
    hosts = [urls.host(urls.make(seed)) for seed in seeds]
    named = settings.get(key, [])
    named = [part.strip() for part in named.split(",") if part.strip()] if isinstance(named, str) else [*named]
    of_seeds = hosts if scope == "host" else [urls.domain(host) for host in hosts]
    return {**settings, key: list(dict.fromkeys([*named, *of_seeds]))}
