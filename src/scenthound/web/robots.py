"""robots.txt by RFC 9309.

`parse` makes `RobotsRules` from any bytes; only the group for our product token (or else `*`) is kept. The rules can be
saved as text. `verdict_for_status` says what a reply other than 200 means. How long a host rests and what happens to a
refused URL is decided by the loop.

Why we parse ourselves and do not call Protego: docs/decisions/0003-robots.md.
"""

from __future__ import annotations

import json
import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

LARGEST = 500 * 1024  # bytes that are read; the minimum of RFC 9309, section 2.5
MOST_SITEMAPS = 1000  # of one file

# Misspellings that Google's parser and Protego accept.
_AGENT = frozenset({b"user-agent", b"useragent", b"user agent"})
_DISALLOW = frozenset({b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw"})
_ALLOW = frozenset({b"allow"})
_SITEMAP = frozenset({b"sitemap", b"sitemaps", b"site-map"})
_DELAY = frozenset({b"crawl-delay", b"crawl delay", b"crawldelay"})
_KNOWN = _AGENT | _DISALLOW | _ALLOW | _SITEMAP | _DELAY

_TOKEN = re.compile(rb"[a-z_-]+")
_VERSION = re.compile(rb"[\s/]")
_SECONDS = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")

# Both sides are normalised before they are compared (section 2.2.2): a code for an unreserved character is decoded, any
# other is written in capitals, and what RFC 3986 wants encoded is. The apostrophe too, because browsers encode it in
# queries but not in paths.
_UNRESERVED = frozenset(string.ascii_letters + string.digits + "-._~")
_IN_PATTERN = re.compile(r"%[0-9a-fA-F]{2}|[^A-Za-z0-9\-._~!()*,;:@&=+$/?%]")
_IN_URL = re.compile(r"%[0-9a-fA-F]{2}|[^A-Za-z0-9\-._~!(),;:@&=+/?%]")  # `*` and `$` mean themselves here
_CODES = {f"%{a}{b}": int(a + b, 16) for a in string.hexdigits for b in string.hexdigits}
_SPELLINGS = {chr(code): f"%{code:02X}" for code in range(256)} | {
    raw: chr(code) if chr(code) in _UNRESERVED else raw.upper() for raw, code in _CODES.items()
}
_ALWAYS = 2**62 + 1  # weight of a permission that no pattern outweighs


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin for our crawler."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Normalised patterns of our group, each with whether it allows."""
    delay: float | None = None
    """Crawl-delay of our group, or else of `*`, in seconds, as written."""
    sitemaps: tuple[str, ...] = ()
    """As written, not resolved."""
    _index: _Index = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", _index(self.rules))

    def may_fetch(self, spelling_url: str) -> bool:
        """Whether we may fetch this absolute URL, a spelling from `url.resolve`.

        The rule with the longest pattern decides, of equals the one that allows (section 2.2.2).
        Text outside ASCII can't be compared, and is refused.
        """
        if not spelling_url.isascii():
            return False
        start = spelling_url.find("/", spelling_url.find("://") + 3)
        path = _IN_URL.sub(_respelled, spelling_url[start:]) if start >= 0 else "/"
        return bool(self._index.weight(path) & 1)

    def to_text(self) -> str:
        """JSON that `from_text` reads."""
        return json.dumps({"rules": self.rules, "delay": self.delay, "sitemaps": self.sitemaps})

    @classmethod
    def from_text(cls, text: str) -> RobotsRules:
        """The inverse of `to_text`; `ValueError` for other text."""
        try:
            kept = json.loads(text)
            rules, delay, sitemaps = kept["rules"], kept["delay"], kept["sitemaps"]
            sound = (
                all(isinstance(pattern, str) and isinstance(allows, bool) for pattern, allows in rules)
                and (delay is None or 0 <= (delay := float(delay)) < math.inf)
                and all(isinstance(sitemap, str) for sitemap in sitemaps)
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            sound = False
        if not sound:
            raise ValueError("not the text of robots rules")
        return cls(tuple((pattern, allows) for pattern, allows in rules), delay, tuple(sitemaps))


@dataclass(frozen=True, slots=True)
class _Index:
    """Patterns by the way they are matched. A weight is twice the pattern's length, plus one if it allows."""

    prefixes: tuple[tuple[int, int, Mapping[str, int]], ...]
    """(greatest weight, length, weight by prefix of that length), the greatest first."""
    whole: Mapping[str, int]
    """Patterns without `*` that end in `$`."""
    wildcards: tuple[tuple[int, str, tuple[str, ...], str], ...]
    """(weight, what it begins with, what follows in this order, what it ends with), the greatest first."""

    def weight(self, path: str) -> int:
        best = self.whole.get(path, 1)  # 1: no rule, and so allowed
        for greatest, length, weights in self.prefixes:
            if greatest <= best:
                break
            weight_of_prefix = weights.get(path[:length], 0)
            if weight_of_prefix > best:
                best = weight_of_prefix
        for weight, head, inner, tail in self.wildcards:
            if weight <= best:
                break
            if path.startswith(head) and path.endswith(tail) and _follow(path, len(head), inner, len(tail)):
                return weight
        return best


def parse(body: bytes, agent: str) -> RobotsRules:
    """The rules for the product token `agent` in a robots.txt. Never raises: bad lines are skipped.

    >>> parse(b"User-agent: *\\nDisallow: /private", "scenthound").may_fetch("http://x.test/private/a")
    False
    """
    ours = _Group()
    everyone = _Group()
    sitemaps: dict[str, None] = {}
    token = agent.partition("/")[0].strip().encode("utf-8", "replace").lower()
    open_groups: list[_Group] = []
    closed = True  # by a rule: the next User-agent line begins another group
    for key, value in _lines(body):
        if key in _AGENT:
            if closed:
                open_groups, closed = [], False
            if value[:1] == b"*" and not value[1:2].strip():
                group = everyone
            elif token and token != b"*" and _is_for(value.lower(), token):
                group = ours
            else:
                continue
            group.named = True
            if group not in open_groups:
                open_groups.append(group)
        elif key in _SITEMAP:
            if value and len(sitemaps) < MOST_SITEMAPS:
                sitemaps[value.decode("utf-8", "replace")] = None
        elif key in _DELAY:  # no rule in the sense of section 2.2, so the group stays open (2.2.4)
            for group in open_groups:
                group.slow_down(value)
        else:
            closed = True
            if value:
                for group in open_groups:
                    group.rules[_pattern(value), key in _ALLOW] = None
    group = ours if ours.named else everyone
    delay = ours.delay if ours.delay is not None else everyone.delay
    return RobotsRules(tuple(group.rules), delay, tuple(sitemaps))


def verdict_for_status(status: int) -> Literal["parse", "allow", "refuse"]:
    """What the reply to a request for robots.txt means, after redirects (section 2.3.1).

    4xx: there is none, everything is allowed. 5xx and 429: nothing is allowed for a while. A redirect that leads
    nowhere counts as 4xx.
    """
    if 200 <= status < 300:
        return "parse"
    if 300 <= status < 500 and status != 429:
        return "allow"
    return "refuse"


@dataclass(slots=True, eq=False)
class _Group:
    """All groups of one user agent together."""

    named: bool = False
    rules: dict[tuple[str, bool], None] = field(default_factory=dict)
    delay: float | None = None

    def slow_down(self, value: bytes) -> None:
        """Keep the longest of several delays."""
        match = _SECONDS.match(value)
        if match:
            self.delay = max(float(match[0]), self.delay or 0.0)


def _lines(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Key (in lower case) and value of each line with a known key."""
    if len(body) > LARGEST:
        # Half a line could mean something else.
        end = max(body.rfind(b"\n", 0, LARGEST), body.rfind(b"\r", 0, LARGEST))
        body = body[: max(end, 0)]
    for line in body.removeprefix(b"\xef\xbb\xbf").splitlines():
        line = line.partition(b"#")[0].strip()
        key, colon, value = line.partition(b":")
        if not colon:  # a missing colon is accepted if the meaning is clear
            words = line.split()
            if len(words) != 2:
                continue
            key, value = words
        key = key.strip().lower()
        if key in _KNOWN:
            yield key, value.strip()


def _is_for(value: bytes, token: bytes) -> bool:
    """Whether a User-agent value names us: as the RFC's token (letters, `_`, `-`), or up to a version or space."""
    match = _TOKEN.match(value)
    return (match is not None and match[0] == token) or _VERSION.split(value, maxsplit=1)[0] == token


def _pattern(value: bytes) -> str:
    return _IN_PATTERN.sub(_respelled, value.decode("latin-1"))  # so that a character is a byte


def _respelled(match: re.Match[str]) -> str:
    return _SPELLINGS[match[0]]


def _index(rules: Iterable[tuple[str, bool]]) -> _Index:
    prefixes: dict[int, dict[str, int]] = {}
    whole: dict[str, int] = {"/robots.txt": _ALWAYS}  # section 2.2.2
    wildcards: dict[tuple[str, tuple[str, ...], str], int] = {}
    for pattern, allows in rules:
        weight = 2 * len(pattern) + allows
        bare = pattern.removesuffix("$")
        head, *parts = bare.split("*")
        tail = parts.pop() if parts and bare != pattern else ""
        inner = tuple(part for part in parts if part)
        if inner or tail:
            wildcards[head, inner, tail] = max(weight, wildcards.get((head, inner, tail), 0))
        elif bare != pattern and bare == head:
            whole[head] = max(weight, whole.get(head, 0))
        else:
            same_length = prefixes.setdefault(len(head), {})
            same_length[head] = max(weight, same_length.get(head, 0))
    return _Index(
        tuple(sorted(((max(by.values()), length, by) for length, by in prefixes.items()), key=lambda p: p[:2])[::-1]),
        whole,
        tuple(sorted(((weight, *key) for key, weight in wildcards.items()), reverse=True)),
    )


def _follow(path: str, start: int, inner: tuple[str, ...], tail: int) -> bool:
    """Whether the parts between asterisks come in this order. The first match of each is enough."""
    end = len(path) - tail
    for part in inner:
        start = path.find(part, start, end)
        if start < 0:
            return False
        start += len(part)
    return start <= end


ALLOW_ALL = RobotsRules()
REFUSE_ALL = RobotsRules((("/", False),))
