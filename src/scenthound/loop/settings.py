"""The settings of a crawl: one frozen dataclass, read from TOML, command-line options or keyword arguments.

The name of a field is its key; the reference documentation is generated from its metadata. An unknown key is an error
with a hint. Times and sizes may have units (`"1.5 s"`, `"10 MB"`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, fields
from typing import Any, TypeVar, get_type_hints

from scenthound.errors import BadConfig, UnknownName
from scenthound.loop.fetch_order import ORDERS
from scenthound.parameters import TYPES_IN_WORDS, default_of, has_type, hint_for_value, parameter
from scenthound.url import UrlRules

T = TypeVar("T")

_SECONDS: dict[str, float] = {"ms": 0.001, "s": 1, "sec": 1, "m": 60, "min": 60, "h": 3600, "d": 86400}
_BYTES: dict[str, float] = {
    "b": 1,
    "kb": 1_000,
    "mb": 1_000_000,
    "gb": 1_000_000_000,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
}
_UNITS: dict[str, dict[str, float]] = {"seconds": _SECONDS, "bytes": _BYTES}
_EXPECTED = {
    "seconds": 'seconds, or a time such as "500 ms" or "2 min"',
    "bytes": 'bytes, or a size such as "10 MB"',
}
_TRUTH = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_QUANTITY = re.compile(r"\s*([0-9][0-9_]*(?:\.[0-9]*)?|\.[0-9]+)\s*([a-zA-Z]*)\s*\Z")


def option(
    default: Any, doc: str, unit: str = "", least: float = 0, among: tuple[str, ...] = (), most: float | None = None
) -> Any:
    """A parameter with a unit (`seconds`, `bytes` or none). Numbers must not be negative unless `least` allows it."""
    declared = parameter(default, doc, least=least, most=most, among=among)
    declared.metadata = declared.metadata | {"unit": unit}
    return declared


REMOVED: Mapping[str, str] = {
    "group_time": "a page is committed after a quarter of a second at the latest",
    "min_rate_time": "`min_rate` is measured over 15 seconds",
}
"""Settings of earlier versions, and what holds instead. A crawl that was begun with them is resumed without them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that controls a crawl apart from topic, seeds and strategy."""

    pages: int = option(1000, "stop after this many pages", least=1)
    time: float = option(0.0, "stop after this long; 0: no limit", "seconds")
    depth: int = option(0, "follow links at most this deep from a seed; 0: no limit")
    pages_per_host: int = option(0, "fetch at most this many pages from one host; 0: no limit")
    frontier: int = option(
        100_000, "keep at most this many URLs waiting, and all seeds; the worst are dropped", least=1
    )
    concurrency: int = option(32, "number of requests in flight at once, over all hosts", least=1)
    slow_requests: int = option(
        128, "slow requests allowed in addition to `concurrency`; beyond that the oldest is cancelled", least=1
    )

    workers: int = option(1, "extra processes that read pages, started when one process can't keep up; 0: none")

    contact: str = option("", "email address or URL at which site owners can reach you; part of the User-Agent")
    user_agent: str = option("", "use this as the whole User-Agent")
    delay: float = option(1.0, "time between two requests to one host", "seconds")
    address_delay: float = option(
        -1.0,
        "time between two requests to one IP address; -1: a quarter of `delay`, none in `allow_private`",
        "seconds",
        least=-1,
    )
    order: str = option(
        "auto",
        "when hosts of better URLs rest: `quality` waits, `speed` takes other URLs; `auto`: quality if time allows",
        among=ORDERS,
    )
    spread: int = option(1, "where possible, choose this many different hosts in a row", least=1)
    robots: bool = option(True, "obey robots.txt, meta robots and X-Robots-Tag")
    robots_cache: float = option(3600.0, "request a robots.txt again after this long", "seconds", most=86_400)
    nofollow: bool = option(True, "do not follow links marked nofollow, by rel, by meta robots or by X-Robots-Tag")
    sitemaps: bool = option(False, "also follow the URLs in sitemaps named in robots.txt, with score 0")
    retries: int = option(2, "repeat a request this often after a temporary failure (timeout, 429, 5xx)")
    backoff: float = option(10.0, "first wait after 429, 503 or a failed robots.txt; doubled each time", "seconds")
    longest_wait: float = option(900.0, "end the crawl when all remaining hosts rest for longer than this", "seconds")

    hosts: list[str] = option([], "stay on these hosts (`www.example.org`)")
    domains: list[str] = option([], "stay in these domains and all their hosts (`example.org`)")
    not_hosts: list[str] = option([], "never visit these hosts")
    not_domains: list[str] = option([], "never visit these domains")
    paths: list[str] = option([], "follow only URLs whose path and query match one of these patterns (RE2)")
    not_paths: list[str] = option([], "do not follow URLs whose path and query match one of these patterns (RE2)")
    traps: bool = option(
        True, "let URLs that look like traps wait behind all others: copies, calendars, mazes, paths that repeat"
    )
    trap_share: float = option(
        0.1,
        "when only URLs that look like traps are left, spend at most this share of the rest of `pages` on samples that"
        " give nothing new; 0: none",
        most=1.0,
    )
    host_patience: int = option(200, "leave a host after this many irrelevant pages in a row; 0: never")
    judge: str = option("topic", "what decides whether a page is relevant: NAME, or NAME:parameter=value,…")
    relevant: float = option(0.0, "a page is relevant from this relevance on; 0: the judge's own threshold")
    stop_share: float = option(
        0.0,
        "stop when at most this share of all relevant pages is expected in the rest of the budget (0.05); 0: never",
        most=0.99,
    )
    dry_window: int = option(0, "stop when the harvest rate over this many pages stays low; 0: never")
    dry_floor: float = option(0.02, "harvest rate that counts as low, or a fifth of the best rate if that is more")
    dry_patience: int = option(200, "stop after this many pages in a row with a low harvest rate", least=1)

    sources: list[str] = option([], "seed sources to ask where to start: `NAME:ADDRESS` (`scenthound sources`)")
    found_seeds: int = option(20, "take at most this many seeds from a source at a time", least=1, most=500)
    reseed_every: int = option(0, "interval, in pages, at which the sources are asked for more seeds; 0: never")

    page_bytes: int = option(10_000_000, "read at most this much of a page, as sent and decompressed", "bytes", least=1)
    unpack_ratio: int = option(200, "refuse a body that decompresses to more than this many times its size", least=1)
    header_bytes: int = option(65_536, "refuse a reply whose headers are larger", "bytes", least=1)
    connect_timeout: float = option(10.0, "give up connecting after this long", "seconds")
    first_byte_timeout: float = option(15.0, "give up a request that gets no byte for this long", "seconds", least=0.01)
    min_rate: float = option(100.0, "give up a reply with fewer bytes per second over 15 seconds; 0: never")
    idle_timeout: float = option(20.0, "give up a reply that pauses for this long", "seconds")
    page_timeout: float = option(60.0, "give up a page after this long", "seconds")
    adaptive_timeout: float = option(
        0.0, "give up a page sooner if its host usually answers fast, but never before this; 0: off", "seconds"
    )
    redirects: int = option(10, "follow at most this many redirects in a row")
    pdf: bool = option(False, "also fetch PDF files and read their text; needs the extra `pdf`")
    links_per_page: int = option(5_000, "use at most this many links of a page", least=1)
    url_length: int = option(2_000, "do not follow longer URLs", least=16)
    default_pages: list[str] = option(
        [], "file names dropped from URLs, like index.html (`default.asp`, `index.php`), to avoid duplicate pages"
    )

    proxy: str = option("", "fetch through this proxy (http://, socks5://)")
    allow_private: list[str] = option([], "private networks that may be visited (`loopback`, `10.0.0.0/8`)")
    verify_tls: bool = option(True, "refuse servers whose certificate can't be verified")

    group_pages: int = option(0, "pages per database transaction; 0: a quarter of `concurrency`")
    sync_time: float = option(0.5, "longest time that a committed page waits to be synced to disk", "seconds")
    snapshot: int = option(500, "pages between two saved states of a strategy that learns", least=1)
    warc_roll: int = option(1_000_000_000, "start a new WARC file at this size", "bytes", least=1)
    disk_reserve: int = option(50_000_000, "stop cleanly when less than this is free on the disk", "bytes")
    seed_number: int = option(0, "seed of the random number generator")

    @property
    def url_rules(self) -> UrlRules:
        """The rules for the canonical form of URLs."""
        return UrlRules(self.url_length, tuple(name.lower() for name in self.default_pages))


def read(kind: type[T], plain: Mapping[str, Any], what: str = "setting") -> T:
    """Make a `kind` (a dataclass) from plain values, each checked against its field.

    >>> read(Settings, {"delay": "500 ms", "pages": 10}).delay
    0.5
    """
    declared: dict[str, Field[Any]] = {f.name: f for f in fields(kind) if f.init}  # type: ignore[arg-type]
    hints = get_type_hints(kind)
    values = {}
    for name, value in plain.items():
        key = name.replace("-", "_")
        if kind is Settings and key in REMOVED:
            raise BadConfig(f"there is no setting `{key}` any more", f"leave it out: {REMOVED[key]}")
        if key not in declared:
            raise UnknownName.among(what, name, declared)
        values[key] = _checked(declared[key], hints[key], value, what)
    return kind(**values)


def _checked(declared: Field[Any], kind: Any, value: Any, what: str) -> Any:
    unit = declared.metadata.get("unit", "")
    typed = _converted(kind, unit, value)
    if not has_type(kind, typed):
        expected = _EXPECTED.get(unit, TYPES_IN_WORDS[kind])
        hint = f"write {expected}; the default is {shown(default_of(declared))}"
    else:
        hint = hint_for_value(declared, kind, typed)
    if hint:
        raise BadConfig(f"{what} `{declared.name}` can't be {value!r}", hint)
    return typed


def _converted(kind: Any, unit: str, value: Any) -> Any:
    """The value in the type of its field if it stands for one, such as text for a number; otherwise unchanged."""
    if kind is bool:
        return _TRUTH.get(value.lower(), value) if isinstance(value, str) else value
    if kind == list[str]:
        if isinstance(value, str):
            return [part.strip() for part in value.split(",") if part.strip()]
        return list(value) if isinstance(value, Iterable) else value
    if kind in (int, float):
        number = _quantity(value, unit) if isinstance(value, str) else value
        if not isinstance(number, bool | str):
            with suppress(ValueError, TypeError, OverflowError):
                return kind(number) if kind is float or kind(number) == number else value
    return value


def _quantity(text: str, unit: str) -> float | str:
    """The number that a text such as "10 MB" stands for; the text itself if it is not one."""
    factors = {"": 1.0, **_UNITS.get(unit, {})}
    match = _QUANTITY.match(text)
    if not match or match[2].lower() not in factors:
        return text
    return float(match[1].replace("_", "")) * factors[match[2].lower()]


def shown(value: Any) -> str:
    """The value of a setting, written as in TOML."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(shown(part) for part in value) + "]"
    return str(value)
