"""Explain why a crawl fetched no pages, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable

from scenthound.formats import printable
from scenthound.report.crawl_facts import CrawlFacts

SHOWN = 4
NO_HITS = "no page was relevant: try other words, other pages to start from, or more pages"
_CAUSES: tuple[tuple[Callable[[str], bool], str, str], ...] = (  # test for a reason, its meaning, a hint
    (lambda reason: reason == "proxy", "the proxy can't be reached", "check --proxy: is it running, at that address?"),
    (lambda reason: reason == "dns", "no such host", "check the address and the network"),
    (
        lambda reason: reason == "refused-address",
        "a private address, which is off by default",
        "to allow it, add --allow-private NET, for example `loopback` or `10.0.0.0/8`",
    ),
    (lambda reason: reason == "robots", "robots.txt forbids it", "start from pages that robots.txt allows"),
    (
        lambda reason: reason in ("connect", "reset", "timeout", "empty-reply", "no-network"),
        "the server does not answer",
        "check the address and the network",
    ),
    (lambda reason: reason == "tls", "the certificate can't be trusted", "check the address"),
    (lambda reason: reason.startswith("http-4"), "refused, or no such page", "check the address in a browser"),
    (lambda reason: reason.startswith("http-5"), "the server has a problem", "try again later"),
    (
        lambda reason: reason == "not-html",
        "something other than a web page",
        "start from web pages; --set pdf=true also reads PDF files",
    ),
    (lambda reason: reason == "pdf-not-read", "a PDF file that can't be read", "start from other pages"),
    (
        lambda reason: reason == "redirect-to-known",
        "it redirects to a page that was already fetched or requested",
        "nothing is lost: that page is in the crawl",
    ),
    (
        lambda reason: reason == "redirect-loop",
        "it redirects in circles, or too often",
        "check the address in a browser",
    ),
    (
        lambda reason: reason.startswith("redirect"),
        "it redirects to a page that the crawl may not fetch",
        "start from the target of the redirect",
    ),
    (lambda reason: reason == "robots-unreachable", "its robots.txt can't be fetched", "try again later"),
)


def why_nothing(facts: CrawlFacts) -> tuple[str, str]:
    """Why no seed could be fetched, and what to do about it.

    >>> from collections import Counter
    >>> from scenthound.loop.crawl_toml import CrawlRequest
    >>> from scenthound.loop.figures import Figures
    >>> from scenthound.model import Topic
    >>> request, figures = CrawlRequest(Topic("bees"), ("http://a.test/",)), Figures(misses=Counter(dns=1))
    >>> why_nothing(CrawlFacts(request, figures=figures))
    ('no seed could be fetched: dns 1 (no such host)', 'check the address and the network')
    """
    reasons: dict[str, int] = {reason: times for reason, (times, _) in facts.failures.items()}
    for reason, times in [*facts.figures.misses.items(), *facts.figures.dropped.items()]:
        reasons[reason] = max(times, reasons.get(reason, 0))
    if any(reason in facts.failures for reason in reasons):
        reasons.pop("robots-unreachable", None)  # a consequence of the failures
    if not reasons:
        return f"no seed could be fetched: {facts.why}", "give it more time, or other seeds"
    order = sorted(reasons, key=lambda reason: (_rank(reason), -reasons[reason]))
    causes = [_cause_text(reason, reasons[reason], facts.failures.get(reason, (0, ""))[1]) for reason in order[:SHOWN]]
    return f"no seed could be fetched: {'; '.join(causes)}", _hint(order[0])


def meaning(reason: str) -> str:
    """The meaning of a reason for failure in a few words; empty if it is not listed here."""
    return next((words for matches, words, _ in _CAUSES if matches(reason)), "")


def _cause_text(reason: str, times: int, detail: str) -> str:
    explanation = meaning(reason)
    more = ": ".join(part for part in (explanation, printable(detail, 120)) if part)
    return f"{printable(reason, 40)} {times:,}" + (f" ({more})" if more else "")


def _rank(reason: str) -> int:
    return next((rank for rank, (matches, _, _) in enumerate(_CAUSES) if matches(reason)), len(_CAUSES))


def _hint(reason: str) -> str:
    return next((hint for matches, _, hint in _CAUSES if matches(reason)), "check the seeds in a browser")
