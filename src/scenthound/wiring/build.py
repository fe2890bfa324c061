"""The parts of a crawl, each made from the settings: strategy, fetcher, workers, limits, scope, user agent."""

from __future__ import annotations

import contextlib
import platform
import resource
from collections.abc import Mapping
from dataclasses import fields
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from scenthound.errors import BadConfig, UnknownName
from scenthound.judges import JUDGES
from scenthound.judging import Judge
from scenthound.loop.scope import Scope
from scenthound.loop.settings import Settings, read
from scenthound.model import Topic
from scenthound.page.judge import Judge as Similarity
from scenthound.page.landing import PageLimits
from scenthound.page.pool import ReadingPool
from scenthound.page.record import Parts
from scenthound.page.wire import ReadOptions
from scenthound.ports import Strategy, declaration_of
from scenthound.strategies import SHELF as STRATEGIES
from scenthound.text.tokens import Analyser
from scenthound.web.addresses import parse_networks
from scenthound.web.fetch import FetchLimits, HttpFetcher

PRODUCT = "scenthound"


def make_strategy(name: str, parameters: Mapping[str, Any] | None = None) -> Strategy:
    """A strategy by name, with its parameters checked."""
    kind = STRATEGIES.get(name)
    made: Strategy = read(kind, parameters or {}, what=f"parameter of {name}")
    return made


def make_judge(name: str, parameters: Mapping[str, Any] | None = None) -> Judge:
    """A judge by name, with its parameters checked."""
    made: Judge = read(JUDGES.get(name), parameters or {}, what=f"parameter of judge {name}")
    return made


def split_settings(pairs: Mapping[str, Any], strategy: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options into settings of the crawl and parameters of the strategy, by their names."""
    known = {f.name for f in fields(Settings)}
    own = {f.name for f in fields(STRATEGIES.get(strategy)) if f.init}
    settings: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for name, value in pairs.items():
        key = name.replace("-", "_")
        (parameters if key in own else settings)[key] = value
        if key not in own and key not in known:
            raise UnknownName.among(
                "setting", name, known | own, f"`scenthound strategies {strategy}` lists its parameters"
            )
    return settings, parameters


def check_topic(topic: Topic) -> None:
    """Raise `BadConfig` for a topic without usable keywords."""
    if not topic.keywords.strip():
        raise BadConfig("the topic has no words", "say what you look for, as: hot air ballooning")
    if not Similarity(topic).query.counts:
        raise BadConfig(
            f"nothing is left of the topic “{topic.keywords[:80]}” without its stop words",
            "name what the pages are about, as: hot air ballooning",
        )


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    with contextlib.suppress(PackageNotFoundError):
        found[PRODUCT] = version(PRODUCT)
    return found


def user_agent(settings: Settings) -> str:
    """The User-Agent header: product, version and contact."""
    if settings.user_agent:
        return settings.user_agent
    about = f" (+{settings.contact})" if settings.contact else ""
    return f"{PRODUCT}/{versions().get(PRODUCT, '0')}{about}"


def product_token(settings: Settings) -> str:
    """The name under which robots.txt is read."""
    return (settings.user_agent.split("/")[0].split(" ")[0] or PRODUCT) if settings.user_agent else PRODUCT


def make_fetcher(settings: Settings) -> HttpFetcher:
    limits = FetchLimits(
        bytes=settings.page_bytes,
        header_bytes=settings.header_bytes,
        connect=settings.connect_timeout,
        first_byte=settings.first_byte_timeout,
        rate=settings.min_rate,
        rate_time=settings.min_rate_time,
        idle=settings.idle_timeout,
        total=settings.page_timeout,
        idle_connections=_idle_connections(settings.concurrency, settings.slow_requests),
    )
    return HttpFetcher(
        limits,
        user_agent(settings),
        allow_private=parse_networks(settings.allow_private),
        proxy=settings.proxy or None,
        verify_tls=settings.verify_tls,
    )


def _idle_connections(concurrency: int, slow: int) -> int:
    """Enough to keep the connection of every host in flight while it rests, within the limit on open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(max(256, 2 * concurrency), files - concurrency - slow - 100))


def make_reading_pool(settings: Settings, parts: Parts) -> ReadingPool | None:
    """The worker processes that read pages; None if the settings ask for none."""
    agent = product_token(settings) if settings.robots else ""
    options = ReadOptions(page_limits(settings), agent, parts)
    return ReadingPool(settings.workers, options) if settings.workers else None


def parts_read(strategy: Strategy) -> Parts:
    """The parts of each page that are read: those the strategy declares, and those of the judge."""
    return Parts((Analyser(),)) | declaration_of(strategy).parts


def page_limits(settings: Settings) -> PageLimits:
    return PageLimits(
        unpacked=settings.page_bytes,
        ratio=settings.unpack_ratio,
        links=settings.links_per_page,
        url_length=settings.url_length,
    )


def make_scope(settings: Settings) -> Scope:
    return Scope(
        frozenset(settings.hosts),
        frozenset(settings.domains),
        frozenset(settings.not_hosts),
        frozenset(settings.not_domains),
        tuple(settings.paths),
        tuple(settings.not_paths),
        settings.depth,
        settings.traps,
    )
