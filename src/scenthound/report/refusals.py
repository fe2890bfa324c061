"""Say in words what became of the links of a crawl, and why a crawl ended because links were refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from scenthound.loop.link_balance import (
    KNOWN,
    LINKS,
    REPEATED,
    RESTORED,
    SEEDS,
    SELF,
    SITEMAPS,
    STRATEGY,
    LinkBalance,
)

SHOWN = 2  # causes named when a crawl ends early


class _Refusal(NamedTuple):
    why: str
    remedy: str = ""


_NOFOLLOW = "a new crawl with --set nofollow=false follows them"
_TRAPS = _Refusal("they look like traps", "a new crawl with --set traps=false follows them")
_REFUSALS = {
    "page-nofollow": _Refusal("their pages say nofollow", _NOFOLLOW),
    "nofollow": _Refusal("they are marked nofollow", _NOFOLLOW),
    "out-of-scope": _Refusal(
        "they lead outside the allowed hosts, domains or paths",
        "a new crawl with --set hosts=…, domains=… or paths=… allows others",
    ),
    "too-deep": _Refusal("they are deeper than allowed", "a new crawl with --set depth=0 has no limit"),
    "robots": _Refusal("robots.txt forbids it"),
    "host-budget": _Refusal(
        "their hosts have reached their page limit", "a new crawl with --set pages_per_host=0 has none"
    ),
    "host-asleep": _Refusal(
        "their hosts had no relevant page for a long time", "a new crawl with --set host_patience=0 fetches them"
    ),
    "host-failing": _Refusal("their hosts failed repeatedly", "try again later"),
    "blocked": _Refusal("you have blocked their hosts", "`scenthound control DIR unblock HOST` allows them"),
    "trap-repeats": _TRAPS,
    "trap-endless": _TRAPS,
    "trap-nothing-new": _TRAPS,
    "evicted": _Refusal("the waiting list was full", "a new crawl with --set frontier=N has a longer one"),
    "frontier-full": _Refusal("the waiting list was full", "a new crawl with --set frontier=N has a longer one"),
    "too-long": _Refusal("their addresses are too long", "a new crawl with --set url_length=N allows longer ones"),
    "too-many-links": _Refusal(
        "there were more links on a page than are read", "a new crawl with --set links_per_page=N reads more"
    ),
    "not-offered": _Refusal("the strategy did not choose them", "another --strategy may"),
    "strategy-dropped": _Refusal("the strategy dropped them", "another --strategy may keep them"),
}
_SOURCES = {
    LINKS: "links on pages",
    SEEDS: "seeds",
    SITEMAPS: "in sitemaps",
    STRATEGY: "from the strategy",
    RESTORED: "again after a restart",
}
_ONE_SOURCE = {LINKS: "link on a page", SEEDS: "seed", SITEMAPS: "in a sitemap"}
_REPEATS = {
    KNOWN: "to addresses found before",
    REPEATED: "a second time on the same page",
    SELF: "to the page itself",
}


def why_no_url_is_left(not_followed: Mapping[str, int]) -> str:
    """The most frequent reasons for which links were refused, and how to follow them; empty if there are none.

    >>> why_no_url_is_left({"page-nofollow": 34, "not-http": 2})
    '34 links were not followed because their pages say nofollow; a new crawl with --set nofollow=false follows them'
    """
    by_refusal: dict[_Refusal, int] = {}
    for reason, times in not_followed.items():
        if (refusal := _REFUSALS.get(reason)) is not None:
            by_refusal[refusal] = by_refusal.get(refusal, 0) + times
    most = sorted(by_refusal.items(), key=lambda pair: -pair[1])[:SHOWN]
    parts = []
    for refusal, times in most:
        links = "1 link was" if times == 1 else f"{times:,} links were"
        parts.append(f"{links} not followed because {refusal.why}" + (f"; {refusal.remedy}" if refusal.remedy else ""))
    return "; ".join(parts)


def balance_in_words(balance: LinkBalance) -> str:
    """What became of all links that were found.

    >>> balance_in_words(LinkBalance({"links": 40, "seeds": 1}, 5, 1, 0, 2, {"known-url": 20}, {"nofollow": 13}))
    'found 41: 40 links on pages, 1 seed; followed 6, waiting 2, repeated 20, not followed 13'
    >>> balance_in_words(LinkBalance({"links": 1, "seeds": 1}, 2))
    'found 2: 1 link on a page, 1 seed; followed 2, waiting 0, repeated 0, not followed 0'
    """
    if not balance.is_complete:
        return "not counted by the version that started this crawl"
    found = [
        f"1 {_ONE_SOURCE.get(source, _SOURCES[source])}" if times == 1 else f"{times:,} {_SOURCES[source]}"
        for source, times in balance.found.items()
    ]
    sources = ", ".join(found)
    ends = {
        "followed": balance.followed,
        "waiting": balance.waiting,
        "repeated": sum(balance.repeated.values()),
        "not followed": sum(balance.not_followed.values()),
    }
    return f"found {sum(balance.found.values()):,}: {sources}; " + ", ".join(f"{end} {n:,}" for end, n in ends.items())


def repeats_in_words(repeated: Mapping[str, int]) -> dict[str, int]:
    """The counts of repeated links, by what they repeat."""
    return {_REPEATS[kind]: times for kind, times in repeated.items()}
