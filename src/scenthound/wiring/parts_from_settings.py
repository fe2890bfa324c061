"""Make the parts of a crawl from its settings: strategy, judge, fetcher, delays, workers, order, scope."""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any, cast

from scenthound.errors import BadConfig, JudgeFailed, ScenthoundError, UnknownName
from scenthound.judges import JUDGES
from scenthound.judging import ClassifiesPages, Judge, UsesClassifier
from scenthound.looking_for import PAGES
from scenthound.loop.core import Crawl
from scenthound.loop.fetch_order import WINDOW, Order, OrderRule
from scenthound.loop.identity import product_token, user_agent
from scenthound.loop.messages import FOREVER, Limits
from scenthound.loop.plugin_calls import Judging
from scenthound.loop.replies import page_limits as page_limits
from scenthound.loop.scope import Scope
from scenthound.loop.settings import REMOVED, Settings, read
from scenthound.model import LookingFor, Topic, Url
from scenthound.page.keyword_similarity import KeywordSimilarity
from scenthound.page.page import AheadView, Page
from scenthound.page.pdf import require_pypdf
from scenthound.page.pool import ReadingPool
from scenthound.page.record import Parts
from scenthound.page.wire import ReadOptions
from scenthound.ports import OwnFrontier, Strategy, declaration_of
from scenthound.strategies import STRATEGIES
from scenthound.text.tokens import Analyser
from scenthound.web.addresses import parse_networks
from scenthound.web.connection import FetchLimits
from scenthound.web.fetch import HttpFetcher

LOOKING_FOR = "looking_for"
SITEMAPS_PER_HOST = 50


def make_strategy(name: str, parameters: Mapping[str, Any] | None = None) -> Strategy:
    """Make a strategy from its name and parameters, which are checked."""
    kind = STRATEGIES.get(name)
    _refuse_looking_for(kind, parameters or {}, f"the strategy {name}")
    strategy: Strategy = read(kind, parameters or {}, what=f"parameter of {name}")
    return strategy


def make_judge(name: str, parameters: Mapping[str, Any] | None = None) -> Judge:
    """Make a judge from its name and parameters, which are checked."""
    kind = JUDGES.get(name)
    _refuse_looking_for(kind, parameters or {}, f"the judge {name}")
    judge: Judge = read(kind, parameters or {}, what=f"parameter of judge {name}")
    return judge


def _refuse_looking_for(kind: type[Any], parameters: Mapping[str, Any], whose: str) -> None:
    """Raise `BadConfig` for `looking_for`, which hound and the judge `topic` had as parameters of their own."""
    is_given = any(name.replace("-", "_") == LOOKING_FOR for name in parameters)
    if is_given and LOOKING_FOR not in {f.name for f in fields(kind)}:
        raise BadConfig(
            f"`looking_for` is not a parameter of {whose}: strategy and judge follow the topic",
            'use --looking-for sites, or write looking_for = "sites" into the topic; the default is pages',
        )


def named_judge(text: str) -> Judge:
    """Make a judge from a text such as `keywords:threshold=0.2`. Parameters are separated by `,` or `:`."""
    name, _, rest = text.strip().partition(":")
    parameters: dict[str, str] = {}
    for pair in filter(None, rest.replace(":", ",").split(",")):
        key, equals, value = pair.partition("=")
        if not equals or not key.strip():
            raise BadConfig(f"`{pair}` in the judge `{text}` is not a parameter", "write: keywords:threshold=0.2")
        parameters[key.strip()] = value.strip()
    return make_judge(name.strip(), parameters)


def start_judge(
    text: str,
    topic: Topic,
    seeds: Sequence[Url],
    threshold: float = 0.0,
    strategy: Strategy | None = None,
    counted: LookingFor = PAGES,
) -> Judging:
    """Make a judge from a text, start it for a topic, and add the similarity that trails record.

    `counted` is what may be flagged as relevant, whatever the judge. The laboratory, which measures judges, leaves it
    at `pages`, so that it gets their own flags.
    """
    judge, similarity = named_judge(text), KeywordSimilarity(topic)
    if isinstance(judge, UsesClassifier):
        judge.use_classifier(_classifier(strategy, text))
    try:
        judge.start(topic, seeds)
    except ScenthoundError:
        raise
    except Exception as error:
        raise JudgeFailed.of(judge, "at the start", error, "fix the judge, then run this again") from error
    return Judging(judge, similarity, threshold, counted)


def relevance_by(judge: str, topic: Topic, seeds: Sequence[Url]) -> Callable[[Page], bool]:
    """A function that returns whether a judge considers a page relevant. The judge is made on the first call."""
    started: list[Judging] = []

    def is_relevant(page: Page) -> bool:
        if not started:
            started.append(start_judge(judge, topic, seeds))
        return started[0].judge(page).relevant

    return is_relevant


def _classifier(strategy: Strategy | None, judge: str) -> Callable[[Page], float]:
    if isinstance(strategy, ClassifiesPages):
        return strategy.page_probability
    raise BadConfig(
        f"the judge {judge} uses the strategy's classifier, and this strategy has none",
        "use a strategy that is trained, with its model: focused-soft, focused-hard or apprentice",
    )


def split_settings(options: Mapping[str, Any], strategy: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Split options, according to their names, into settings of the crawl and parameters of the strategy."""
    setting_names = {f.name for f in fields(Settings)}
    parameter_names = {f.name for f in fields(STRATEGIES.get(strategy)) if f.init}
    settings: dict[str, Any] = {}
    parameters: dict[str, Any] = {}
    for name, value in options.items():
        key = name.replace("-", "_")
        (parameters if key in parameter_names else settings)[key] = value
        if key not in parameter_names and key not in setting_names and key not in REMOVED:
            raise UnknownName.among(
                "setting",
                name,
                setting_names | parameter_names,
                f"`scenthound strategies {strategy}` lists its parameters",
            )
    return settings, parameters


def check_topic(topic: Topic) -> None:
    """Raise `BadConfig` for a topic without usable keywords."""
    if not topic.keywords.strip():
        raise BadConfig("the topic has no words", "say what you are looking for, such as: hot air ballooning")
    if not KeywordSimilarity(topic).query.counts:
        raise BadConfig(
            f"the topic “{topic.keywords[:80]}” has only stop words",
            "say what the pages are about, such as: hot air ballooning",
        )


def make_fetcher(settings: Settings) -> HttpFetcher:
    limits = FetchLimits(
        bytes=settings.page_bytes,
        header_bytes=settings.header_bytes,
        connect=settings.connect_timeout,
        first_byte=settings.first_byte_timeout,
        rate=settings.min_rate,
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


def make_limits(settings: Settings, now: float) -> Limits:
    """The limits of a crawl that begins or goes on now."""
    return Limits(
        pages=settings.pages,
        ends_at=now + settings.time if settings.time else FOREVER,
        pages_per_host=settings.pages_per_host,
        redirects=settings.redirects,
        retries=settings.retries,
        longest_wait=settings.longest_wait,
        stop_share=settings.stop_share,
        host_patience=settings.host_patience,
        nofollow=settings.nofollow,
        sitemaps=SITEMAPS_PER_HOST if settings.sitemaps else 0,
    )


def make_short_limits(settings: Settings, now: float) -> Limits:
    """The limits of a crawl of a few pages in memory, without those that depend on a host or on a judge."""
    return replace(make_limits(settings, now), pages_per_host=0, stop_share=0.0, host_patience=0, sitemaps=0)


def _idle_connections(concurrency: int, slow: int) -> int:
    """How many idle connections to keep: one for every request in flight, within the limit on open files."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(16, min(max(256, 2 * concurrency), files - concurrency - slow - 100))


def make_reading_pool(settings: Settings, parts: Parts, views: tuple[AheadView, ...] = ()) -> ReadingPool | None:
    """The worker processes that read pages and compute these views; None if `workers` is 0."""
    agent = product_token(settings) if settings.robots else ""
    options = ReadOptions(page_limits(settings), agent, parts, views)
    return ReadingPool(settings.workers, options) if settings.workers else None


def parts_read(strategy: Strategy) -> Parts:
    """The parts of each page to read: those that the strategy declares, and those that judges need."""
    return Parts((Analyser(),)) | declaration_of(strategy).parts


def views_read(crawl: Crawl) -> tuple[AheadView, ...]:
    """The views that the judge and the trap watch need of every page."""
    return (*crawl.judging.ahead, *(crawl.traps.ahead if crawl.traps is not None else ()))


def make_order(settings: Settings) -> OrderRule:
    """The rule for what to do while the hosts of the best URLs are resting."""
    return OrderRule(cast(Order, settings.order), min(settings.concurrency, WINDOW), delay=settings.delay)


def check_spread(strategy: Strategy, name: str, spread: int) -> None:
    """Raise `BadConfig` for a spread that the strategy's own frontier would ignore."""
    if spread > 1 and isinstance(strategy, OwnFrontier):
        raise BadConfig(
            f"{name} chooses among hosts itself and can't obey `spread = {spread}`",
            "leave out `spread`, or use a strategy without its own frontier, such as hound",
        )


def check_pdf(settings: Settings) -> None:
    """Raise `BadUsage` if PDF files are to be read but the extra `pdf` is missing."""
    if settings.pdf:
        require_pypdf()


def make_scope(settings: Settings) -> Scope:
    return Scope(
        frozenset(settings.hosts),
        frozenset(settings.domains),
        frozenset(settings.not_hosts),
        frozenset(settings.not_domains),
        tuple(settings.paths),
        tuple(settings.not_paths),
        settings.depth,
    )
