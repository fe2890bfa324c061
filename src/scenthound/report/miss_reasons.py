"""Readable meanings of the short reasons why a request brought no page or a link was not followed."""

from __future__ import annotations

from http import HTTPStatus

from scenthound.formats import printable

LONGEST = 60
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
    return printable(reason, LONGEST)


def _status(code: int) -> str:
    try:
        return f"{HTTPStatus(code).phrase.lower()} ({code})"
    except ValueError:
        return f"the server answered with status {code}"
