"""From what was typed to what is asked: topic, seeds, strategy, parameters, settings."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from scenthound import url as urls
from scenthound.errors import BadConfig, BadUsage, UnknownName
from scenthound.loop.crawl_toml import check_seeds, load_toml, read_seeds, topic_from
from scenthound.loop.settings import Settings, read
from scenthound.loop.use_model import parameters_for_model, require_model
from scenthound.model import Topic
from scenthound.store.models import load_model
from scenthound.wiring import check_topic, make_scope, make_strategy, split_settings

LARGEST_SEED_FILE = 50_000_000
_ABOUT_CRAWLS = {"format", "started", "versions"}  # keys of a crawl.toml that say nothing about what is wanted


@dataclass(frozen=True, slots=True)
class Request:
    """All that `wiring.begin` needs."""

    topic: Topic
    seeds: list[str]
    strategy: str
    parameters: dict[str, Any]
    settings: Settings


def understand(
    topic: str | None,
    seeds: Sequence[str],
    seed_files: Sequence[str],
    strategy: str | None,
    pairs: Sequence[str],
    config: Path | None,
    flags: Mapping[str, Any],
    scope: str,
    model: Path | None = None,
) -> Request:
    """Put together the configuration file, `--set` and the flags; of two that say the same the later wins.

    A `model` says strategy and parameters; whoever says otherwise is told so.
    """
    learned = None if model is None else load_model(model)
    plain = dict(load_toml(config, "configuration", "pages = 500")) if config else {}
    for key in _ABOUT_CRAWLS:
        plain.pop(key, None)
    written_topic = _table(plain, "topic", config)
    given = {**_table(plain, "settings", config), **_table(plain, "parameters", config)}
    asked_for = strategy or plain.pop("strategy", None)
    name = asked_for or (learned.strategy if learned is not None else "best-first")
    plain.pop("strategy", None)
    written_seeds = plain.pop("seeds", [])
    if not isinstance(written_seeds, list) or not all(isinstance(seed, str) for seed in written_seeds):
        raise BadConfig(f"`seeds` in {config} is not a list of texts", 'write: seeds = ["https://example.org/"]')
    if not isinstance(name, str):
        raise BadConfig(f"`strategy` in {config} can't be {name!r}", 'write: strategy = "best-first"')
    given |= plain
    _check_file(given, name, config)
    given |= dict(map(_pair, pairs))
    given |= {key: value for key, value in flags.items() if value is not None and value != ()}
    given = {key: _signed(key, value) for key, value in given.items()}
    settings, parameters = split_settings(given, name)
    wanted = _topic(topic, written_topic, config)
    check_topic(wanted)
    all_seeds = [*check_seeds([("--seed", seed) for seed in seeds]), *_from_files(seed_files)]
    all_seeds = all_seeds or check_seeds([(f"{config} seeds", seed) for seed in written_seeds])
    if not all_seeds:
        raise BadUsage(
            "no seeds: a crawl has to start somewhere", "add --seed URL, or --seeds FILE with one URL a line"
        )
    if learned is not None:
        name, parameters = parameters_for_model(learned, asked_for, parameters, make_strategy)
    made = make_strategy(name, parameters)
    if learned is None:
        require_model(made, name)
    known = {f.name for f in fields(made) if f.init}  # type: ignore[arg-type]
    checked = read(Settings, _scoped(settings, all_seeds, scope))
    make_scope(checked)  # complains of patterns that are none, before anything is written
    return Request(wanted, all_seeds, name, {key: getattr(made, key) for key in parameters if key in known}, checked)


def slug(topic: Topic) -> str:
    """A folder name made of the topic's words.

    >>> slug(Topic("Hot Air: Ballooning!"))
    'hot-air-ballooning'
    """
    words = re.findall(r"\w+", (topic.name or topic.keywords).lower())
    return "-".join(words)[:60].strip("-") or "crawl"


def _topic(typed: str | None, written: Mapping[str, Any], config: Path | None) -> Topic:
    if typed is None:
        if not written:
            raise BadUsage("no topic: say what you look for", 'scenthound crawl "hot air ballooning" --seed URL')
        return topic_from(written, config or "the configuration")
    if typed.endswith(".toml") or (len(typed) < 250 and "\n" not in typed and Path(typed).is_file()):
        data = _topic_file(typed)
        inner = data.get("topic")
        return topic_from(inner if isinstance(inner, dict) else data, typed)
    if not typed.strip():
        raise BadConfig("the topic has no words", 'say what you look for, as: scenthound crawl "hot air ballooning" …')
    return Topic(" ".join(typed.split()))


def _topic_file(name: str) -> dict[str, Any]:
    try:
        return load_toml(Path(name), "topic file")
    except BadConfig as error:
        if name.endswith(".toml"):
            raise
        words = f'if the words were meant, and not the file of that name, add a blank: "{name} "'
        raise BadConfig(error.message, words) from None


def _check_file(given: Mapping[str, Any], strategy: str, config: Path | None) -> None:
    """Complain of what stands in the file with the file's name, before flags are put over it."""
    try:
        settings, parameters = split_settings(given, strategy)
        read(Settings, settings)
        make_strategy(strategy, parameters)
    except (BadConfig, UnknownName) as error:
        if not given:
            raise
        raise type(error)(f"{config}: {error.message}", error.hint) from None


def _signed(key: str, value: Any) -> Any:
    """A negative number as a number, so that it is refused for being too small and not for being no number."""
    numbers = {found.name for found in fields(Settings) if found.type in ("int", "float")}
    is_negative = isinstance(value, str) and re.fullmatch(r"-\d+", value) is not None
    return int(value) if is_negative and key.replace("-", "_") in numbers else value


def _from_files(names: Sequence[str]) -> list[str]:
    found = []
    for name in names:
        try:
            raw = sys.stdin.buffer.read(LARGEST_SEED_FILE) if name == "-" else _read(Path(name))
        except OSError as error:
            raise BadConfig(f"the seed file {name} can't be read: {error.strerror}", "check the path") from None
        seeds = read_seeds(raw.decode("utf-8-sig", "replace"), "stdin" if name == "-" else name)
        if not seeds:
            raise BadConfig(
                f"no seeds in {'stdin' if name == '-' else name}", "one URL a line, or a browser's bookmarks in HTML"
            )
        found += seeds
    return found


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(LARGEST_SEED_FILE)


def _pair(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or not key.strip():
        raise BadUsage(f"`--set {text}` sets nothing", "write it as --set KEY=VALUE")
    return key.strip().replace("-", "_"), value.strip()


def _table(plain: dict[str, Any], name: str, config: Path | None) -> dict[str, Any]:
    found = plain.pop(name, {})
    if not isinstance(found, dict):
        raise BadConfig(f"`{name}` in {config} is not a table", f"write a line [{name}] and its keys below")
    return {key.replace("-", "_"): value for key, value in found.items()}


def _scoped(settings: dict[str, Any], seeds: Sequence[str], scope: str) -> dict[str, Any]:
    """`--scope host` and `domain` mean: stay on those of the seeds, and wherever else was named."""
    if scope == "any":
        return settings
    key = "hosts" if scope == "host" else "domains"
    hosts = [urls.host(urls.make(seed)) for seed in seeds]
    named = settings.get(key, [])
    named = [part.strip() for part in named.split(",") if part.strip()] if isinstance(named, str) else [*named]
    places = hosts if scope == "host" else [urls.domain(host) for host in hosts]
    return {**settings, key: list(dict.fromkeys([*named, *places]))}
