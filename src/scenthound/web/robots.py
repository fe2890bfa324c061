"""Robots rules: robots.txt, and the directives in `<meta>` elements and headers, with `<meta http-equiv=refresh>`.

robots.txt is parsed according to RFC 9309, and like Google's parser where the RFC is ambiguous or not followed. `parse`
returns `RobotsRules` for any bytes, keeping only the group for our product token (or else `*`). The rules can be saved
as text. `verdict_for_status` interprets a reply other than 200. The loop decides how long a host rests and what happens
to a refused URL.

docs/decisions/0003-robots.md says why we have our own parser; docs/concepts/robots.md says where it differs from the
text of the RFC, and why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

LARGEST = 500 * 1024  # bytes read of a file; the minimum in RFC 9309, section 2.5
LONGEST_LINE = 8 * 2083 - 1  # bytes read of a line, as in Google's parser
MOST_SITEMAPS = 1000  # read from one file

Key = Literal["agent", "allow", "disallow", "sitemap", "delay"]

_BOM = b"\xef\xbb\xbf"
_WHITE = b" \t\n\r\v\f"

# A key is recognised by its beginning, with the misspellings that Google's parser accepts.
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
_TO_ESCAPE = re.compile(r"%[0-9a-fA-F]{2}|[\x80-\xff]")  # in bytes decoded as Latin-1


@dataclass(frozen=True, slots=True)
class RobotsRules:
    """The rules of one origin for our crawler."""

    rules: tuple[tuple[str, bool], ...] = ()
    """Patterns of our group in ASCII, with True for those that allow."""
    delay: float | None = None
    """The Crawl-delay of our group, or else of `*`, in seconds."""
    sitemaps: tuple[str, ...] = ()
    """URLs of sitemaps as written, not resolved."""
    _index: _Index = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", _index(self.rules))

    def may_fetch(self, url: str) -> bool:
        """Whether we may fetch this absolute URL, a result of `comparable`.

        The rule with the longest pattern decides; among equal lengths, a rule that allows (section 2.2.2). The caller
        percent-encodes the URL: non-ASCII text is compared as UTF-8 bytes, which no pattern contains.
        """
        path = path_of(url)
        return bool(self._index.weight(path if path.isascii() else path.encode().decode("latin-1")) & 1)

    def to_text(self) -> str:
        """The rules as JSON for `from_text`."""
        return json.dumps({"rules": self.rules, "delay": self.delay, "sitemaps": self.sitemaps})

    @classmethod
    def from_text(cls, text: str) -> RobotsRules:
        """The inverse of `to_text`. Raises `ValueError` for other text."""
        try:
            saved = json.loads(text)
            rules, delay, sitemaps = saved["rules"], saved["delay"], saved["sitemaps"]
            is_valid = (
                all(isinstance(pattern, str) and isinstance(allows, bool) for pattern, allows in rules)
                and (delay is None or 0 <= (delay := float(delay)) < math.inf)
                and all(isinstance(sitemap, str) for sitemap in sitemaps)
            )
        except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
            is_valid = False
        if not is_valid:
            raise ValueError("not the text of robots rules")
        return cls(tuple((pattern, allows) for pattern, allows in rules), delay, tuple(sitemaps))


@dataclass(frozen=True, slots=True)
class _Index:
    """The patterns, grouped by kind of match. A weight is twice the length of a pattern, plus one if it allows."""

    prefixes: tuple[tuple[int, int, Mapping[str, int]], ...]
    """(greatest weight, length, weight by prefix of that length), the greatest weight first."""
    whole: Mapping[str, int]
    """Weights of the patterns without `*` that end in `$`."""
    wildcards: tuple[tuple[int, str, tuple[str, ...], str], ...]
    """(weight, beginning, parts in the middle in order, end), the greatest weight first."""

    def weight(self, path: str) -> int:
        """The weight of the rule that decides; 1 if no rule matches, which allows."""
        best = self.whole.get(path, 1)
        for greatest, length, weights in self.prefixes:
            if greatest <= best:
                break
            weight_of_prefix = weights.get(path[:length], 0)
            if weight_of_prefix > best:
                best = weight_of_prefix
        for weight, head, inner, tail in self.wildcards:
            if weight <= best:
                break
            if path.startswith(head) and path.endswith(tail) and _has_parts(path, len(head), inner, len(tail)):
                return weight
        return best


def parse(body: bytes, agent: str) -> RobotsRules:
    """The rules in a robots.txt for the product token `agent`. Never raises: invalid lines are skipped.

    >>> parse(b"User-agent: *\\nDisallow: /private", "scenthound").may_fetch("http://x.test/private/a")
    False
    """
    ours = _Group()
    everyone = _Group()
    sitemaps: dict[str, None] = {}
    token = agent.encode("utf-8", "replace").lower()
    open_groups: list[_Group] = []
    closed = True  # true after a rule, when the next User-agent line begins a new group
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
        elif key == "delay":  # not a rule in section 2.2, so the group stays open (2.2.4)
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
    """The path and query of a URL, as in Google's parser; `/` if there are none.

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
    """A spelling from `url.resolve` in the form of patterns: percent codes in upper case (RFC 3986, section 6.2.2.1).

    Like Google's parser, `may_fetch` leaves this to its caller.

    >>> comparable("http://x.test/caf%c3%a9?50%")
    'http://x.test/caf%C3%A9?50%'
    """
    return _CODE.sub(lambda code: code[0].upper(), spelling) if "%" in spelling else spelling


def _first_of(url: str, begin: int) -> int:
    """The index of the first of `/`, `?`, `;`; the length of the URL if there is none."""
    match = _PATH_BEGINS.search(url, begin)
    return match.start() if match else len(url)


def verdict_for_status(status: int) -> Literal["parse", "allow", "refuse"]:
    """Interpret the status of a robots.txt, after redirects (section 2.3.1).

    4xx: there is no file, everything is allowed. 5xx and 429: nothing is allowed for a while. A redirect that can't be
    followed counts as 4xx.
    """
    if 200 <= status < 300:
        return "parse"
    if 300 <= status < 500 and status != 429:
        return "allow"
    return "refuse"


@dataclass(slots=True, eq=False)
class _Group:
    """All groups of one user agent, combined."""

    named: bool = False
    rules: dict[tuple[str, bool], None] = field(default_factory=dict)
    delay: float | None = None

    def add(self, pattern: str, allows: bool) -> None:
        """Add a rule. `Allow: /x/index.html` also allows `/x/`, which is Google's extension to section 2.2.2."""
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
        # Cut at the end of a line, because half a line could mean something else.
        end = max(body.rfind(b"\n", 0, LARGEST), body.rfind(b"\r", 0, LARGEST))
        body = body[: max(end, 0)]
    for mark in (_BOM[:1], _BOM[1:2], _BOM[2:]):  # Google's parser also skips an incomplete mark
        if not body.startswith(mark):
            break
        body = body[1:]
    for line in body.splitlines():  # `bytes.splitlines` splits at CR, LF and CRLF only
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
    """Whether a User-agent value is `*`, perhaps followed by white space and more."""
    return value[:1] == b"*" and (len(value) == 1 or value[1:2] in _WHITE)


def _product(value: bytes) -> bytes:
    """The product token at the beginning of a User-agent value: letters, `_` and `-` (section 2.2.1)."""
    match = _TOKEN.match(value)
    return match[0].lower() if match else b""


def _escaped(value: bytes) -> str:
    """A pattern in ASCII: other bytes percent-encoded, codes in upper case (section 2.2.2). Nothing is decoded."""
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


def _has_parts(path: str, start: int, inner: tuple[str, ...], tail: int) -> bool:
    """Whether the parts between asterisks occur in this order. The first match of each is enough."""
    end = len(path) - tail
    for part in inner:
        start = path.find(part, start, end)
        if start < 0:
            return False
        start += len(part)
    return start <= end


ALLOW_ALL = RobotsRules()
REFUSE_ALL = RobotsRules((("/", False),))


class Directives(NamedTuple):
    """The requests of a page to crawlers; if there are several statements, the strictest."""

    noindex: bool = False
    """Do not keep or show the page."""
    nofollow: bool = False
    """Do not follow its links."""


# A value ends at a comma, except for the comma in a date (`unavailable_after: Saturday, 25 Jun 2030`).
_DATE_COMMA = re.compile(r"\b(mon|tue|wed|thu|fri|sat|sun)[a-z]*\s*,", re.IGNORECASE)
# Directives that take a value after a colon. Any other name before a colon is a user agent.
_VALUED = frozenset({"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"})
_AGENT = re.compile(r"[a-z_*][a-z0-9_.*-]*")
_EVERYONE = "robots"
_LONGEST = 10_000  # characters read of one statement

_SPACE = "\t\n\f\r "  # ASCII white space in the HTML standard
_REFRESH_TIME = re.compile(rf"[{_SPACE}]*([0-9]*)([0-9.]*)")
_REFRESH_PREFIX = re.compile(rf"url[{_SPACE}]*=[{_SPACE}]*", re.IGNORECASE)
_LONGEST_WAIT = 10**9  # seconds


def directives(
    meta_contents: Iterable[tuple[str, str]],
    x_robots_headers: Iterable[str],
    agent: str,
) -> Directives:
    """The directives for `agent`, a product token, in the meta elements (name, content) and X-Robots-Tag headers.

    >>> directives([("ROBOTS", "NoFollow")], ["otherbot: noindex", "unavailable_after: Sat, 25 Jun 2030"], "us")
    Directives(noindex=False, nofollow=True)
    """
    ours = agent.partition("/")[0].strip().lower()
    words: set[str] = set()
    for name, content in meta_contents:
        if name.strip().lower() in (_EVERYONE, ours):
            words.update(word for _, word in _statements(content))
    for header in x_robots_headers:
        words.update(word for agent_name, word in _statements(header) if agent_name in ("", _EVERYONE, "*", ours))
    return Directives(
        noindex=not words.isdisjoint({"noindex", "none"}),
        nofollow=not words.isdisjoint({"nofollow", "none"}),
    )


def _statements(value: str) -> Iterable[tuple[str, str]]:
    """The user agent (empty: all) and the directive of each statement, in lower case.

    The name of an agent applies until the next name or the end, so that in `a: noindex, b: nofollow`, as in joined
    headers, each agent gets its own directive.
    """
    agent_name = ""
    for part in _DATE_COMMA.sub(" ", value[:_LONGEST]).split(","):
        name, colon, rest = part.strip().lower().partition(":")
        name = name.strip()
        if not colon:
            rest = name
        elif name in _VALUED or not _AGENT.fullmatch(name):  # the latter is the rest of a date
            continue
        else:
            agent_name = name
        for word in rest.split():  # some pages omit the comma
            yield agent_name, word


def meta_refresh(content: str) -> tuple[float, str] | None:
    """Seconds and URL, as written, of a meta refresh; None if it is invalid. An empty URL means the page itself.

    Follows the shared declarative refresh steps of the HTML standard, except that the URL is not resolved.
    """
    time = _REFRESH_TIME.match(content)
    if time is None or not (time[1] or time[2].startswith(".")):
        return None
    seconds = float(min(int(time[1].lstrip("0")[:10] or 0), _LONGEST_WAIT))
    rest = content[time.end() :]
    if not rest:
        return seconds, ""
    if rest[0] not in ";," + _SPACE:
        return None
    rest = rest.lstrip(_SPACE)
    if rest[:1] in (";", ","):
        rest = rest[1:].lstrip(_SPACE)
    return seconds, _refresh_url(rest)


def _refresh_url(rest: str) -> str:
    """The URL of a refresh. The label `url=` may be missing; a quotation mark counts only at the beginning."""
    label = _REFRESH_PREFIX.match(rest)
    if label:
        rest = rest[label.end() :]
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    # Like the URL parser, which strips white space and drops tabs and line breaks inside.
    return rest.strip(_SPACE).translate({ord(c): None for c in "\t\n\r"})
