"""robots.txt by RFC 9309, with the answers of Google's parser where the RFC leaves room or is read differently.

`parse` makes `RobotsRules` from any bytes; only the group for our product token (or else `*`) is kept. The rules can be
saved as text. `verdict_for_status` says what a reply other than 200 means. How long a host rests and what happens to a
refused URL is decided by the loop.

Why we parse ourselves: docs/decisions/0003-robots.md. Where the answers differ from the RFC's text, and why:
docs/concepts/robots.md.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

LARGEST = 500 * 1024  # bytes that are read; the minimum of RFC 9309, section 2.5
LONGEST_LINE = 8 * 2083 - 1  # bytes of a line that are read, as in Google's parser
MOST_SITEMAPS = 1000  # of one file

Key = Literal["agent", "allow", "disallow", "sitemap", "delay"]

_BOM = b"\xef\xbb\xbf"
_WHITE = b" \t\n\r\v\f"

# A key is known by how it begins, as in Google's parser, with the misspellings that it accepts.
_KEYS: tuple[tuple[Key, tuple[bytes, ...]], ...] = (
    ("agent", (b"user-agent", b"useragent", b"user agent")),
    ("allow", (b"allow",)),
    ("disallow", (b"disallow", b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw")),
    ("sitemap", (b"sitemap", b"site-map")),
    ("delay", (b"crawl-delay", b"crawl delay", b"crawldelay")),
)

_TOKEN = re.compile(rb"[a-zA-Z_-]*")
_SECONDS = re.compile(rb"[0-9]{1,9}(?:\.[0-9]{0,9})?|\.[0-9]{1,9}")
_PATH_BEGINS = re.compile(r"[/?;]")
_CODE = re.compile("%[0-9a-fA-F]{2}")
_TO_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}|[\x80-\xff]")  # in bytes read as Latin-1


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin for our crawler."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Patterns of our group in ASCII, each with whether it allows."""
    delay: float | None = None
    """Crawl-delay of our group, or else of `*`, in seconds, as written."""
    sitemaps: tuple[str, ...] = ()
    """As written, not resolved."""
    _index: _Index = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", _index(self.rules))

    def may_fetch(self, url: str) -> bool:
        """Whether we may fetch this absolute URL, a spelling from `url.resolve` made `comparable`.

        The rule with the longest pattern decides, of equals the one that allows (section 2.2.2). The caller encodes
        the URL: text outside ASCII is compared as its bytes in UTF-8, which no pattern contains.
        """
        path = path_of(url)
        return bool(self._index.weight(path if path.isascii() else path.encode().decode("latin-1")) & 1)

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
    token = agent.encode("utf-8", "replace").lower()
    open_groups: list[_Group] = []
    closed = True  # by a rule: the next User-agent line begins another group
    for key, value in _lines(body):
        if key == "agent":
            if closed:
                open_groups, closed = [], False
            group = everyone if _is_for_everyone(value) else ours if token and _product(value) == token else None
            if group is not None and group not in open_groups:
                group.named = True
                open_groups.append(group)
        elif key == "sitemap":
            if value and len(sitemaps) < MOST_SITEMAPS:
                sitemaps[value.decode("utf-8", "replace")] = None
        elif key == "delay":  # no rule in the sense of section 2.2, so the group stays open (2.2.4)
            for group in open_groups:
                group.slow_down(value)
        else:
            closed = True
            for group in open_groups:
                group.add(_escaped(value), key == "allow")
    group = ours if ours.named else everyone
    delay = ours.delay if ours.delay is not None else everyone.delay
    return RobotsRules(tuple(group.rules), delay, tuple(sitemaps))


def path_of(url: str) -> str:
    """The path and query of a URL, as Google's parser takes them; `/` if there are none.

    >>> path_of("http://x.test?a=1#top")
    '/?a=1'
    """
    begin = 2 if url.startswith("//") else 0
    scheme = url.find("://", begin)
    early = _first_of(url, begin)
    after = begin if scheme < 0 or early < scheme else scheme + 3
    start = _first_of(url, after)
    end = url.find("#", begin)
    if start == len(url) or 0 <= end < start:
        return "/"
    path = url[start : end if end >= 0 else None]
    return path if path.startswith("/") else "/" + path


def comparable(spelling: str) -> str:
    """A spelling from `url.resolve` as patterns are written: percent codes in capitals (RFC 3986, section 6.2.2.1).

    Google's parser leaves this to its caller, and so does `may_fetch`.

    >>> comparable("http://x.test/caf%c3%a9?50%")
    'http://x.test/caf%C3%A9?50%'
    """
    return _CODE.sub(lambda code: code[0].upper(), spelling) if "%" in spelling else spelling


def _first_of(url: str, begin: int) -> int:
    """The index of the first of `/`, `?`, `;`; the length of the URL if there is none."""
    match = _PATH_BEGINS.search(url, begin)
    return match.start() if match else len(url)


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

    def add(self, pattern: str, allows: bool) -> None:
        """Add a rule. `Allow: /x/index.html` allows `/x/` too: an extension of Google's to section 2.2.2."""
        if pattern:
            self.rules[pattern, allows] = None
        folder, slash, file = pattern.rpartition("/")
        if allows and slash and file.startswith("index.htm"):
            self.rules[f"{folder}/$", True] = None

    def slow_down(self, value: bytes) -> None:
        """Keep the longest of several delays."""
        match = _SECONDS.match(value)
        if match:
            self.delay = max(float(match[0]), self.delay or 0.0)


def _lines(body: bytes) -> Iterator[tuple[Key, bytes]]:
    """Key and value of each line with a known key."""
    if len(body) > LARGEST:
        # Half a line could mean something else.
        end = max(body.rfind(b"\n", 0, LARGEST), body.rfind(b"\r", 0, LARGEST))
        body = body[: max(end, 0)]
    for mark in (_BOM[:1], _BOM[1:2], _BOM[2:]):  # Google's parser skips half a mark too
        if not body.startswith(mark):
            break
        body = body[1:]
    for line in body.splitlines():  # of bytes: at CR, LF and CRLF only
        line = line[:LONGEST_LINE].partition(b"\0")[0].partition(b"#")[0].strip(_WHITE)
        name, colon, value = line.partition(b":")
        if not colon:  # a missing colon is accepted if the meaning is clear
            words = line.replace(b"\t", b" ").split(b" ")
            words = [word for word in words if word]
            if len(words) != 2:
                continue
            name, value = words
        name = name.strip(_WHITE).lower()
        for key, beginnings in _KEYS:
            if name.startswith(beginnings):
                yield key, value.strip(_WHITE)
                break


def _is_for_everyone(value: bytes) -> bool:
    """A `*`, perhaps with a space and more after it."""
    return value[:1] == b"*" and (len(value) == 1 or value[1:2] in _WHITE)


def _product(value: bytes) -> bytes:
    """The product token at the beginning of a User-agent value: letters, `_` and `-` (section 2.2.1)."""
    match = _TOKEN.match(value)
    return match[0].lower() if match else b""


def _escaped(value: bytes) -> str:
    """A pattern in ASCII: bytes beyond it percent-encoded, codes in capitals (section 2.2.2). Nothing is decoded."""
    return _TO_ESCAPE.sub(_escape, value.decode("latin-1"))


def _escape(match: re.Match[str]) -> str:
    octet = match[0]
    return octet.upper() if len(octet) == 3 else f"%{ord(octet):02X}"


def _index(rules: Iterable[tuple[str, bool]]) -> _Index:
    prefixes: dict[int, dict[str, int]] = {}
    whole: dict[str, int] = {}
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
