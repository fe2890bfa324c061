"""Resolve and canonicalise URLs (sheet 10.4). Only this module creates a `Url`.

`resolve` returns the spelling that is requested; ada-url implements the WHATWG standard exactly. `canonical` turns it
into the `Url`, the key for everything about the page. Other functions return parts of a URL.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import ada_url

from scenthound.errors import NotAUrl
from scenthound.formats import replace_unprintable
from scenthound.model import Url

LONGEST = 2000  # characters; the default of live crawls. The papers' 256 is a lab profile (sheet 10.4, rule 10)

_INDEX = re.compile(r"(?<=/)index\.html?$", re.IGNORECASE)
_PERCENT = re.compile(r"%[0-9a-fA-F]{2}")
_UNRESERVED = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"
)  # `~` too, but it is written %7E
_PLAIN_HOST = re.compile(r"[a-z0-9.-]*[a-z0-9-]").fullmatch  # no port, query, bracketed address or final dot


class UrlRules(NamedTuple):
    """The adjustable rules of the canonical form."""

    longest: int = LONGEST
    default_pages: tuple[str, ...] = ()
    """File names, in lower case, dropped from the end of a path; index.html and index.htm always are."""


RULES = UrlRules()


def resolve(raw: str, base: str | None = None) -> str:
    """The absolute http(s) URL to which `raw` resolves on a page at `base`, as a browser would request it.

    The fragment is dropped, and so are a user name and a password, which no server should see. Raises
    `NotAUrl`.
    """
    try:
        href = ada_url.normalize_url(raw) if base is None else ada_url.join_url(base, raw)
    except (ValueError, UnicodeError):
        raise NotAUrl(f"not a URL: {_shown(raw)}", "write it as http://host/path", url=raw) from None
    scheme, colon, rest = href.partition(":")
    if scheme not in ("http", "https") or not colon:
        raise NotAUrl(f"not an http(s) URL: {_shown(raw)}", "only http and https are crawled", url=raw)
    href = href.partition("#")[0]
    authority = rest[2:].partition("/")[0].partition("?")[0]
    if "@" in authority:
        href = (
            f"{scheme}://{authority.rpartition('@')[2]}{rest[2 + len(authority.partition('#')[0]) :].partition('#')[0]}"
        )
    return href


def canonical(spelling: str, rules: UrlRules = RULES) -> Url:
    """The canonical form of an absolute URL that `resolve` returned.

    >>> canonical(resolve("HTTP://X.test.:80/~a/./b/../Index.HTM?q=1#z"))
    'http://x.test/%7Ea/?q=1'
    >>> canonical("http://x.test/%61%2fb/Default.asp", UrlRules(default_pages=("default.asp",)))
    'http://x.test/a%2Fb/'
    """
    longest = rules.longest
    if len(spelling) > longest:
        raise NotAUrl(
            f"a URL of {len(spelling)} characters: {_shown(spelling)}", f"at most {longest} are followed", url=spelling
        )
    scheme, _, rest = spelling.partition("://")
    before, question, query = rest.partition("?")
    authority, _, path = before.partition("/")
    name, colon, port = authority.partition(":") if not authority.startswith("[") else (authority, "", "")
    if name.endswith("."):
        name = name.rstrip(".")
    path = "/" + path
    if "%" in path:
        path = _PERCENT.sub(_percent_code, path)
    if "~" in path:
        path = path.replace("~", "%7E")
    if path[-1] in "lLmM":
        path = _INDEX.sub("", path)
    if rules.default_pages and path.rpartition("/")[2].lower() in rules.default_pages:
        path = path[: path.rindex("/") + 1]
    url = f"{scheme}://{name}{colon}{port}{path}{question}{query}"
    if len(url) > longest or not name:
        raise NotAUrl(f"not a usable URL: {_shown(spelling)}", url=spelling)
    return Url(url)


def make(raw: str, base: str | None = None, longest: int = LONGEST) -> Url:
    """`canonical(resolve(raw, base))`."""
    return canonical(resolve(raw, base), UrlRules(longest))


def _percent_code(code: re.Match[str]) -> str:
    """A percent code in canonical form: unreserved characters are decoded, others in upper case (RFC 3986, 6.2.2)."""
    character = chr(int(code[0][1:], 16))
    return character if character in _UNRESERVED else code[0].upper()


@lru_cache(maxsize=65536)
def host(url: str) -> str:
    """The host name, without port.

    >>> host("http://x.test:8080/a")
    'x.test'
    """
    parts = url.split("/", 3)
    if len(parts) == 4 and parts[0][-1:] == ":" and not parts[1] and _PLAIN_HOST(parts[2]):
        return parts[2]
    authority = url.partition("://")[2].partition("/")[0].partition("?")[0]
    if authority.startswith("["):
        return authority.partition("]")[0] + "]"
    return authority.partition(":")[0].rstrip(".")


def origin(url: str) -> str:
    """Scheme, host and port, to which one robots.txt applies."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.partition('/')[0].partition('?')[0]}"


def is_home(url: str) -> bool:
    """True if a URL is the home page of its host.

    >>> is_home("http://x.test/"), is_home("http://x.test/a")
    (True, False)
    """
    return url.partition("://")[2].partition("/")[2] == ""


def are_sites(seeds: Sequence[str]) -> bool:
    """True if at least four in five seeds are home pages on different hosts.

    It decides nothing for a new crawl, which only says how to look for other sites (`looking_for.in_words`).

    >>> are_sites(["http://a.test/", "http://b.test/"]), are_sites(["http://a.test/", "http://a.test/b"])
    (True, False)
    """
    enough = max(2, 0.8 * len(seeds))
    return len({host(url) for url in seeds}) >= enough and sum(map(is_home, seeds)) >= enough


@lru_cache(maxsize=65536)
def domain(name: str) -> str:
    """The registrable domain of a host name (from the bundled public suffix list), or the name itself if it has none.

    >>> domain("news.example.co.uk")
    'example.co.uk'
    """
    return _extract()(name).top_domain_under_public_suffix or name


@lru_cache(maxsize=65536)
def owner_domain(name: str) -> str:
    """Like `domain`, except that each name under a company's shared suffix (`github.io`) is a domain of its own.

    >>> owner_domain("www.bees.github.io"), owner_domain("news.example.co.uk")
    ('bees.github.io', 'example.co.uk')
    """
    return _extract()(name, include_psl_private_domains=True).top_domain_under_public_suffix or name


@lru_cache(maxsize=1)
def _extract():  # type: ignore[no-untyped-def]
    from tldextract import TLDExtract  # slow to import, and rarely needed

    return TLDExtract(suffix_list_urls=(), cache_dir=None)


def file_name(url: Url) -> str:
    """The name of the file that holds a page: the MD5 digest of its canonical URL ([CHAP])."""
    return hashlib.md5(url.encode(), usedforsecurity=False).hexdigest()


def _shown(raw: str) -> str:
    """Text from the web in quotes, safe to print."""
    return f"`{replace_unprintable(raw)}`"
