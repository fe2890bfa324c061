"""Put into words what is recorded: why a request or a link was refused, what became of all links, and scores."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import NamedTuple

from scenthound.errors import ScenthoundError
from scenthound.formats import printable
from scenthound.loop.crawl_toml import CrawlRequest
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
from scenthound.model import Candidate, Step
from scenthound.ports import Explains

LONGEST_REASON, LONGEST_PHRASE = 60, 120
SHOWN = 2  # causes named when a crawl ends early

# ---- reasons why a request brought no page or a link was not followed

REDIRECT = "redirect-"
_MEANINGS = {
    # links that were not followed
    "out-of-scope": "outside the allowed hosts, domains or paths",
    "too-deep": "deeper than allowed",
    "trap-repeats": "the same path part repeated: a loop of relative links",  # of crawls by older versions, like
    "trap-endless": "numbered pages, none of them relevant",  # the next two
    "trap-nothing-new": "pages of this form or host had nothing new",
    "evicted": "pushed out of the full waiting list by a better link",
    "frontier-full": "score too low for a full waiting list",
    "nofollow": "marked nofollow",
    "page-nofollow": "the page says nofollow for all its links",
    "not-offered": "the strategy did not choose it",
    "strategy-dropped": "dropped by the strategy from its own waiting list",
    "fetched-meanwhile": "its page was fetched under another address",
    "not-restored": "lost by a restart: the strategy saves its waiting list now and then",
    "sitemap-other-host": "a sitemap may only list pages of its own host",
    "blocked": "you have blocked the host",
    "host-budget": "the host has reached its page limit",
    "host-asleep": "the host had no relevant page for a long time",
    "host-failing": "the host failed repeatedly",
    "not-http": "not a web address (mailto:, javascript: …)",
    "bad-url": "not a valid address",
    "too-long": "the address is too long",
    "too-many-links": "more links on one page than are read",
    # requests that brought no page
    "robots": "forbidden by robots.txt",
    "robots-unreachable": "robots.txt could not be fetched",
    "timeout": "no answer in time",
    "connect": "no connection",
    "reset": "the connection was broken off",
    "empty-reply": "an empty answer",
    "bad-http": "an answer that is not valid HTTP",
    "header-bomb": "too many or too long headers",
    "client-error": "the request failed",
    "no-network": "no network",
    "dns": "no such host",
    "tls": "the certificate can't be trusted",
    "proxy": "the proxy can't be reached",
    "refused-address": "a private address, which is off by default",
    "not-html": "something other than a web page",
    "no-content": "an answer without a page",
    "not-modified": "“not modified”, though nothing was stored",
    "pdf-not-read": "a PDF file that could not be read",
    "unreadable": "a page that could not be read",
    "too-large": "larger than allowed",
    "bomb": "a small file that unpacks to a huge one",
    "coding": "compressed in a way that can't be unpacked here",
    "damaged": "a damaged file",
    "bad-redirect": "a redirect without a valid target",
    "redirect-loop": "redirects in circles, or too often",
    "redirect-to-known": "redirects to a page that was already fetched or requested",
    "redirect-to-waiting": "redirects to a page that waits to be fetched",
}


def in_words(reason: str) -> str:
    """A reason in words. Unknown reasons are returned unchanged.

    >>> in_words("http-404"), in_words("redirect-too-deep"), in_words("moon")
    ('not found (404)', 'redirects to a page that is not followed: deeper than allowed', 'moon')
    """
    if meaning := _MEANINGS.get(reason):
        return meaning
    kind, _, rest = reason.partition("-")
    if kind == "http" and rest.isdecimal():
        return _status(int(rest[:4]))
    if reason.startswith(REDIRECT) and rest:
        return f"redirects to a page that is not followed: {in_words(rest)}"
    return printable(reason, LONGEST_REASON)


def _status(code: int) -> str:
    try:
        return f"{HTTPStatus(code).phrase.lower()} ({code})"
    except ValueError:
        return f"the server answered with status {code}"


# ---- what became of the links of a crawl, and why it ended because links were refused


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
    "trap-repeats": _TRAPS,
    "trap-endless": _TRAPS,
    "trap-nothing-new": _TRAPS,
    "robots": _Refusal("robots.txt forbids it"),
    "host-budget": _Refusal(
        "their hosts have reached their page limit", "a new crawl with --set pages_per_host=0 has none"
    ),
    "host-asleep": _Refusal(
        "their hosts had no relevant page for a long time", "a new crawl with --set host_patience=0 fetches them"
    ),
    "host-failing": _Refusal("their hosts failed repeatedly", "try again later"),
    "blocked": _Refusal("you have blocked their hosts", "`scenthound control DIR unblock HOST` allows them"),
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


# ---- why a page was chosen: the parts of its score, as the crawl's strategy explains them


class Wording:
    """Words the reasons for a crawl's choices: in the strategy's own phrases, or else with the names of score parts."""

    def __init__(self, request: CrawlRequest) -> None:
        from scenthound.wiring import make_strategy

        self._strategy: Explains | None = None
        try:
            strategy = make_strategy(request.strategy, request.parameters)
        except ScenthoundError:  # the strategy is a plug-in that is not installed here
            return
        self._strategy = strategy if isinstance(strategy, Explains) else None

    def reasons(self, chosen: Step | Candidate) -> list[str]:
        """Phrases with their values, such as `6 relevant pages link here (+1.2)`, the largest first."""
        if self._strategy is None:
            return [f"{printable(name, 40)} {value:.4g}" for name, value in chosen.parts.items()]
        phrases = self._strategy.reasons(chosen.parts, chosen.carry, printable(chosen.anchor, 60))
        return [printable(phrase, LONGEST_PHRASE) + (f" ({value:+.2g})" if value else "") for phrase, value in phrases]
