"""The request that determines a crawl, stored as `crawl.toml`; and readers for topic files and lists of seeds."""

from __future__ import annotations

import contextlib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import msgspec

from scenthound import url as urls
from scenthound.errors import BadConfig, FolderBroken, NotAUrl, from_os_error
from scenthound.formats import toml_value
from scenthound.looking_for import CHOICES, PAGES, SITES, checked
from scenthound.loop.settings import REMOVED, Settings, read
from scenthound.model import NOTHING, LookingFor, Topic, Url
from scenthound.parameters import changed_values
from scenthound.typed_data import from_plain
from scenthound.web.bookmarks_file import read_bookmarks

FORMAT = 3
DEFAULT_STRATEGY = "hound"
MOST_SEEDS_NAMED = 5
LARGEST_SEED_FILE = 50_000_000
_SECRET = re.compile(  # user:password@ before a host, also without a scheme or if the password contains a slash
    r"(://)(?:[^/?#\s`]*@|[^/?#\s@`]*:(?!\d*(?:[/?#\s`]|$))[^\s`]*@)|^[^/?#\s@`]*:[^/?#\s`]*@", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class CrawlRequest:
    """Everything that determines a crawl: the content of crawl.toml."""

    topic: Topic
    seeds: tuple[str, ...]
    strategy: str = DEFAULT_STRATEGY
    parameters: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    settings: Settings = field(default_factory=Settings)
    versions: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    started: str = ""
    model: str = ""
    """Digest of the model in the same folder that the strategy started with; empty if there is none."""
    found: Mapping[str, Sequence[str]] = field(default_factory=lambda: NOTHING)
    """The seeds found by each seed source. `seeds` includes them, so a resumed crawl does not ask the sources again."""

    def __post_init__(self) -> None:
        """Remove passwords from seeds and examples. They are never sent, and must not be written to a file."""
        object.__setattr__(self, "seeds", tuple(map(without_login, self.seeds)))
        examples = tuple(map(without_login, self.topic.examples))
        object.__setattr__(self, "topic", replace(self.topic, examples=examples))

    def with_looking_for(self, looking_for: LookingFor) -> CrawlRequest:
        """The same request, with something else to look for."""
        return replace(self, topic=replace(self.topic, looking_for=looking_for))

    @property
    def has_secrets(self) -> bool:
        """True if the proxy contains a password."""
        return masked(self.settings.proxy) != self.settings.proxy

    def keyed_seeds(self) -> list[tuple[Url, str]]:
        """The seeds as (canonical URL, spelling), with the first spelling of each."""
        spellings: dict[Url, str] = {}
        for raw in self.seeds:
            spelling = urls.resolve(raw)
            spellings.setdefault(urls.canonical(spelling, self.settings.url_rules), spelling)
        return list(spellings.items())

    def parsed_seeds(self) -> list[Url]:
        """The seeds that are URLs; a crawl.toml that another person wrote may have others."""
        seeds = []
        for seed in self.seeds:
            with contextlib.suppress(NotAUrl):
                seeds.append(urls.make(seed))
        return seeds

    @property
    def _settings_written(self) -> dict[str, Any]:
        """The settings that differ from the defaults, and always the judge, because its verdicts are in the history."""
        return {**changed_values(self.settings), "judge": self.settings.judge}

    def to_toml(self) -> str:
        topic = {"keywords": self.topic.keywords, "name": self.topic.name, "description": self.topic.description}
        return "\n".join(
            [
                "# What this crawl was asked to do. Written once; `scenthound resume` reads it.",
                f"format = {FORMAT}",
                f"started = {toml_value(self.started)}",
                f"strategy = {toml_value(self.strategy)}",
                *([f"model = {toml_value(self.model)}"] if self.model else []),
                f"seeds = {toml_value(list(self.seeds))}",
                "",
                "[topic]",
                *(f"{key} = {toml_value(value)}" for key, value in topic.items() if value or key == "keywords"),
                f"looking_for = {toml_value(self.topic.looking_for)}",
                f"examples = {toml_value(list(self.topic.examples))}",
                f"good = {toml_value(list(self.topic.good))}",
                "",
                "[parameters]",
                *(f"{key} = {toml_value(value)}" for key, value in self.parameters.items()),
                "",
                "[settings]",
                *(f"{key} = {toml_value(value)}" for key, value in self._settings_written.items()),
                "",
                *(["[found]"] if self.found else []),
                *(f"{toml_value(source)} = {toml_value(list(seeds))}" for source, seeds in self.found.items()),
                *([""] if self.found else []),
                "[versions]",
                *(f"{toml_value(key)} = {toml_value(value)}" for key, value in self.versions.items()),
                "",
            ]
        )

    @classmethod
    def from_toml(cls, text: str, where: Path) -> CrawlRequest:
        try:
            data = tomllib.loads(text)
            written = data.get("format")
            if isinstance(written, int) and written not in (2, FORMAT):
                age, hint = (
                    ("a newer", "install the newer version") if written > FORMAT else ("an older", "crawl again")
                )
                problem = f"was written by {age} scenthound (format {written}; this version reads {FORMAT})"
                raise FolderBroken(where, problem, hint)
            file = from_plain(data, _CrawlToml)
            if file.format == 2:
                _add_looking_for(file)
            settings = {name: value for name, value in file.settings.items() if name not in REMOVED}
            return cls(
                topic_from(file.topic, where),
                file.seeds,
                file.strategy,
                file.parameters,
                read(Settings, settings),
                {name: str(version) for name, version in file.versions.items()},
                file.started,
                file.model,
                file.found,
            )
        except (ValueError, RecursionError) as error:
            raise FolderBroken(
                where, f"can't be read: {error}", "it was written by the crawl; put the original back"
            ) from None


class _CrawlToml(msgspec.Struct):
    """The content of crawl.toml."""

    format: int
    topic: dict[str, Any]
    seeds: tuple[str, ...]
    strategy: str
    parameters: dict[str, Any] = {}
    settings: dict[str, Any] = {}
    versions: dict[str, Any] = {}
    started: str = ""
    model: str = ""
    found: dict[str, tuple[str, ...]] = {}


def _add_looking_for(file: _CrawlToml) -> None:
    """Add to the topic of a crawl.toml of format 2 what that crawl looked for.

    In that format it was a parameter `looking_for` of hound, and another of the judge `topic`; with the value `auto`,
    their default, they looked for sites if the seeds were home pages of different hosts.
    """
    chosen = [file.parameters.pop("looking_for", "auto")]
    name, _, judge_parameters = str(file.settings.get("judge", "")).partition(":")
    if "looking_for=" in judge_parameters:
        pairs = judge_parameters.replace(":", ",").split(",")
        kept = [pair for pair in pairs if not pair.startswith("looking_for=")]
        chosen += [pair.partition("=")[2] for pair in pairs if pair not in kept]
        file.settings["judge"] = f"{name}:{','.join(kept)}" if kept else name
    chosen = [value for value in chosen if value in CHOICES]
    are_sites = urls.are_sites(CrawlRequest(Topic(""), file.seeds).parsed_seeds())
    file.topic["looking_for"] = chosen[0] if chosen else SITES if are_sites else PAGES


def masked(text: str) -> str:
    """Text for output, with the user name and password of any URL replaced by asterisks.

    >>> masked("http://me:secret@proxy.test:8080/"), masked("http://a.test/@me")
    ('http://***@proxy.test:8080/', 'http://a.test/@me')
    """
    return _SECRET.sub(lambda match: f"{match[1] or ''}***@", text) if "@" in text else text


def without_login(url: str) -> str:
    """A URL without user name and password; unchanged if it has none.

    >>> without_login("http://me:secret@x.test/a#b"), without_login("http://x.test/@me#b")
    ('http://x.test/a', 'http://x.test/@me#b')
    """
    if masked(url) == url:
        return url
    try:
        return urls.resolve(url)
    except NotAUrl:
        return masked(url)


def load_toml(path: Path, what: str, example: str = 'keywords = "hot air balloons"') -> dict[str, Any]:
    """Load a TOML file. Raises `BadConfig`, which names the broken line and shows a correct `example`."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise BadConfig(f"there is no {what} at {path}", "check the path") from None
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"the {what} {path} can't be read: {error.strerror}", "check the path")
        ) from None
    except UnicodeDecodeError:
        raise BadConfig(
            f"the {what} {path} can't be read: it is not UTF-8 text", f"a line looks like: {example}"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"the {what} {path} is not TOML: {error}", f"a line looks like: {example}") from None


def topic_from(data: Mapping[str, Any], where: Path | str) -> Topic:
    """A topic from TOML data, with its keys checked."""
    names = {f.name for f in fields(Topic)}
    plain = dict(data)
    for key in ("examples", "good"):
        if isinstance(plain.get(key), list) and all(isinstance(part, str) for part in plain[key]):
            plain[key] = tuple(plain[key])
    if isinstance(plain.get("keywords"), list):
        plain["keywords"] = " ".join(map(str, plain["keywords"]))
    if "looking_for" in plain:
        plain["looking_for"] = checked(plain["looking_for"], str(where))
    for key, value in plain.items():
        if key not in names:
            from scenthound.errors import UnknownName

            raise UnknownName.among(f"topic key in {where}", key, names)
        if not isinstance(value, tuple if key in ("examples", "good") else str):
            raise BadConfig(
                f"topic key `{key}` in {where} can't be {value!r}", 'strings are quoted; lists are ["a", "b"]'
            )
    if not plain.get("keywords", "").strip():
        raise BadConfig(f"the topic in {where} has no keywords", 'add a line: keywords = "hot air balloons"')
    return Topic(**plain)


def read_topic(topic: Topic | str | os.PathLike[str]) -> Topic:
    """A topic from keywords, or from a topic file: a path, a name that ends in `.toml`, or an existing file."""
    if isinstance(topic, Topic):
        return topic
    if isinstance(topic, str) and not _is_file_name(topic):
        return Topic(" ".join(topic.split()))
    try:
        data = load_toml(Path(topic), "topic file")
    except BadConfig as error:
        if not isinstance(topic, str) or topic.endswith(".toml"):
            raise
        raise BadConfig(error.message, f'if you mean the words and not the file, add a space: "{topic} "') from None
    table = data.get("topic")
    return topic_from(table if isinstance(table, dict) else data, os.fspath(topic))


def _is_file_name(text: str) -> bool:
    return text.endswith(".toml") or (
        len(text) < 250 and "\n" not in text and "\0" not in text and Path(text).is_file()
    )


def read_seed_file(path: Path) -> list[str]:
    """The seeds in a file. Raises `BadConfig` if it can't be read or has none."""
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST_SEED_FILE).decode("utf-8-sig", "replace")
    except OSError as error:
        raise from_os_error(
            error, path, BadConfig(f"the seed file {path} can't be read: {error.strerror}", "check the path")
        ) from None
    return some_seeds(text, str(path))


def some_seeds(text: str, where: str) -> list[str]:
    """Like `read_seeds`, but raises `BadConfig` if there are no seeds."""
    if not (seeds := read_seeds(text, where)):
        raise BadConfig(f"no seeds in {where}", "write one URL per line, or use a browser's bookmarks in HTML or JSON")
    return seeds


def read_seeds(text: str, where: str) -> list[str]:
    """The seeds in the text of a file: one URL per line (# starts a comment), or a browser's bookmarks in HTML or JSON.

    Raises `BadConfig`, which lists the lines that are not URLs.
    """
    if (bookmarks := read_bookmarks(text)) is not None:
        return [bookmark.url for bookmark in bookmarks]
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1)]
    return check_seeds([(f"{where} line {n}", raw) for n, raw in lines if raw and not raw.startswith("#")])


def check_seeds(seeds: Iterable[tuple[str, str]]) -> list[str]:
    """The seeds of (source, seed) pairs, unchanged. Raises `BadConfig`, which lists those that are not URLs."""
    good, bad = [], []
    for source, raw in seeds:
        try:
            urls.make(raw)
            good.append(raw)
        except NotAUrl as error:
            bad.append(f"{source}: {masked(error.message)}")
    if bad:
        more = f" and {len(bad) - MOST_SEEDS_NAMED} more" if len(bad) > MOST_SEEDS_NAMED else ""
        raise BadConfig(
            "these seeds are not http(s) URLs:\n  " + "\n  ".join(bad[:MOST_SEEDS_NAMED]) + more,
            "write them in full, such as https://example.org/page",
        )
    return good
