"""Parse HTML into an `HtmlDocument` with title, text and links, using lexbor's HTML5 tree.

The text (sheet 10.1) is all text nodes in document order, including the title, except those in `script`, `style` and
elements that browsers treat as raw text and never show (`iframe`, `noembed`, `noframes`). `noscript` is read as markup,
because we run no scripts. `template` is ignored, as in a browser: neither its text nor its links count.

Links are `a` and `area` with `href`, and `frame` and `iframe` with `src`, which are documents of their own and have an
empty anchor. Refused links are counted by reason in `refused`.

Title, text and links take only a few calls into C, a fixed number per page or per link. `page.read` walks through the
nodes if a record needs leaves.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache

from selectolax.lexbor import LexborHTMLParser, LexborNode

from scenthound.errors import NotAUrl
from scenthound.model import Link, Url
from scenthound.url import RULES, UrlRules, canonical, resolve
from scenthound.web.guard import SHAPE, Shape, tame

MAX_LINKS = 5000
MAX_METAS = 200
LONGEST_TITLE = 1000  # characters: titles and anchors go into every index, table and log that mentions the page
LONGEST_ANCHOR = 2000
WITHOUT_EVENTS = 1  # LexborDocumentOptions.WO_EVENTS: no mutation callbacks, which only copy <selectedcontent>

# Nested anchors repeat the same text. The texts of all anchors together may be 64 times as long as the page; further
# anchors are left empty. `page.views` has the same limit for elements.
REPETITION = 64
REPETITION_AT_MOST = 100_000_000

_SELECTOR = (
    "a[href],area[href],frame[src],iframe,title,meta,base[href],link[rel~=canonical i],script,style,noembed,noframes"
)
_UNSEEN = frozenset(("script", "style", "noembed", "noframes"))
_FRAMES = frozenset(("frame", "iframe"))
_UNENDORSED = frozenset(("nofollow", "ugc", "sponsored"))
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.\-]*):")
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")
_DROPPED = {9: None, 10: None, 13: None}
_LONGEST_CACHED = 300  # characters of a link or folder, so that 32,768 cached results take at most 70 MB
_ANYWHERE = "http://anywhere.invalid/"
_PATH_START = "._~-%"
HEADINGS = "h1,h2,h3,h4,h5,h6"
_new_link: Callable[..., Link] = tuple.__new__  # like Link(...), but without a Python call
_UNFIT = re.compile(r"[\s/#.]+")


def parse_html(
    text: str, url: str, *, max_links: int = MAX_LINKS, url_rules: UrlRules = RULES, shape: Shape = SHAPE
) -> HtmlDocument:
    """Parse the page at `url`. Never fails: any text is a page. Takes linear time, because `guard` tames the text."""
    text, cuts = tame(text, shape)
    try:
        parser = LexborHTMLParser(text, options=WITHOUT_EVENTS)
    except UnicodeEncodeError:  # lone surrogates, which our decoders never make
        parser = LexborHTMLParser(text.encode("utf-8", "replace"), options=WITHOUT_EVENTS)
    return HtmlDocument(parser, url, len(text), max_links, url_rules, cuts)


class HtmlDocument:
    """A parsed page: its text, its links and its metadata."""

    __slots__ = (
        "_text",
        "base",
        "canonical",
        "cuts",
        "has_bad_base",
        "lang",
        "links",
        "metas",
        "nodes",
        "nofollow",
        "noindex",
        "refresh",
        "refused",
        "root",
        "spare",
        "title",
        "url",
    )

    def __init__(
        self,
        parser: LexborHTMLParser,
        url: str,
        size: int,
        max_links: int,
        url_rules: UrlRules,
        cuts: tuple[str, ...] = (),
    ) -> None:
        self.url = url
        self.base = url
        """The base of relative links: the URL of the page, or its `<base href>` if that is valid."""
        self.title = ""
        self.links: Sequence[Link] = ()
        self.refused: Counter[str] = Counter()
        """Counts of refused links by reason: `not-http`, `bad-url`, `too-long`, `too-many-links`."""
        self.has_bad_base = False
        """Whether its `<base href>` is not valid; then its links are relative to its own URL."""
        self.metas: list[tuple[str, str]] = []
        """Name (in lower case) and content of each named `<meta>`, in document order, at most 200."""
        self.refresh = ""
        """The content of the first `<meta http-equiv=refresh>` outside `<noscript>`."""
        self.canonical: Url | None = None
        """The URL that the page declares as its own (`rel=canonical`)."""
        self.lang = ""
        """The language that the page declares."""
        self.cuts = cuts
        """The changes made by `guard.tame`; empty for a normal page."""
        self.noindex = False
        self.nofollow = False
        """Set by the caller: whether all links are marked nofollow by the page itself."""
        self._text: str | None = None
        self.nodes: list[LexborNode] = []
        self.spare = min(max(REPETITION * size, 100_000), REPETITION_AT_MOST)
        self.root = parser.root
        if self.root is not None:
            self._read(parser, max_links, url_rules)

    def _read(self, parser: LexborHTMLParser, max_links: int, rules: UrlRules) -> None:
        assert self.root is not None
        anchors: list[LexborNode] = []
        bases, titles, canonical_links = [], [], []
        for node in parser.css(_SELECTOR):
            tag = node.tag
            if tag == "a" or tag == "area" or tag == "frame":
                anchors.append(node)
            elif tag in _UNSEEN:
                node.decompose()
            elif tag == "meta":
                if len(self.metas) < MAX_METAS:
                    self._meta(node)
            elif tag == "iframe":
                while (child := node.first_child) is not None:
                    child.decompose()
                anchors.append(node)
            elif tag == "title":
                titles.append(node)
            elif tag == "base":
                bases.append(node)
            else:
                canonical_links.append(node)
        self.title = next((tidy(node.text())[:LONGEST_TITLE] for node in titles[:20] if not _is_in_svg(node)), "")
        self.lang = tidy(self.root.attributes.get("lang") or "")[:40]
        if bases:
            self._rebase(bases[0], rules.longest)
        if canonical_links:
            self.canonical = self._canonical_url(canonical_links[0], rules)
        self.links = self._read_links(anchors, max_links, rules)

    def _meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content") or ""
        if name := attributes.get("name"):
            self.metas.append((name.strip().lower(), content))
        if not self.refresh and (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            # Inside <noscript> it leads to a page that says "enable scripts"; the content is on this page.
            parent = node.parent
            if parent is None or parent.tag != "noscript":
                self.refresh = content

    def _rebase(self, node: LexborNode, longest: int) -> None:
        # The length of a base is limited, because it is parsed again for every link.
        try:
            base = resolve(node.attributes.get("href") or "", self.url)
        except NotAUrl:
            base = ""
        if base and len(base) <= longest:
            self.base = base
        else:
            self.has_bad_base = True

    def _canonical_url(self, node: LexborNode, rules: UrlRules) -> Url | None:
        try:
            return canonical(resolve(node.attributes.get("href") or "", self.base), rules)
        except NotAUrl:
            return None

    def _read_links(self, anchors: list[LexborNode], max_links: int, rules: UrlRules) -> list[Link]:
        links: list[Link] = []
        nodes = self.nodes
        resolver = LinkResolver(self.base, rules)
        resolved_links: dict[str, tuple[str, Url] | str] = {}
        for index, node in enumerate(anchors):  # about 100 per page, so there are few Python calls for each
            if len(links) >= max_links:  # the rest is neither resolved nor kept
                self.refused["too-many-links"] += len(anchors) - index
                break
            attributes = node.attributes
            raw = attributes.get("href")
            is_frame = node.tag in _FRAMES
            if is_frame:
                raw = attributes.get("src")
                if raw is None:
                    continue
            elif raw is None:
                raw = ""  # `href` without a value: the page itself
            if "#" in raw:
                raw = raw.partition("#")[0]
            resolved = resolved_links.get(raw)
            if resolved is None:
                if len(resolved_links) > max_links:  # a page full of refused links
                    resolved_links.clear()
                resolved = resolved_links[raw] = resolver.resolve(raw)
            if isinstance(resolved, str):
                self.refused[resolved] += 1
                continue
            if node.parent is None:  # it was inside the script or style of an SVG image
                continue
            rel = attributes.get("rel")
            nofollow = rel is not None and not _UNENDORSED.isdisjoint(rel.lower().split())
            anchor = ""
            if not is_frame:
                if self.spare > 0:
                    anchor = node.text(True, " ", True, True)
                    self.spare -= len(anchor)
                if "  " in anchor or not anchor.isprintable():
                    anchor = tidy(anchor)
                if not anchor:
                    anchor = self._alternative(node, attributes)
            links.append(_new_link(Link, (resolved[1], anchor[:LONGEST_ANCHOR], resolved[0], len(nodes), nofollow)))
            nodes.append(node)
        return links

    def resolved(self, raw: str, rules: UrlRules = RULES) -> tuple[str, Url] | str:
        """Spelling and URL of a reference that is not an anchor, or the reason why it is refused."""
        return _resolve(raw, self.base, rules)

    def mark_links(self, nofollow: bool) -> None:
        """Mark all links nofollow, or none."""
        self.links = [link._replace(nofollow=nofollow) for link in self.links]

    def add_link(self, url: Url, spelling: str) -> None:
        """Add a link without an anchor, at the root element."""
        if self.root is not None:
            self.links = [*self.links, Link(url, "", spelling, len(self.nodes))]
            self.nodes.append(self.root)

    def _alternative(self, node: LexborNode, attributes: dict[str, str | None]) -> str:
        """The text of a link without text: the `alt` of an area, or of the images inside the link."""
        if node.first_child is None:
            return tidy(attributes.get("alt") or "")
        images = node.css("img[alt]")[:20] if self.spare > 0 else ()
        return tidy(" ".join(image.attributes.get("alt") or "" for image in images))

    @property
    def text(self) -> str:
        """All text in document order, leaves separated by spaces; line breaks inside a leaf are kept."""
        if self._text is None:
            self._text = "" if self.root is None else self.root.text(separator=" ", strip=True, skip_empty=True)
        return self._text

    def take_text(self, most: int) -> str:
        """The first characters of the text. The rest, which may take megabytes, is not kept."""
        self._text = text = self.text[:most]
        return text

    def headings(self) -> dict[int, int]:
        """The heading elements by memory id, numbered in document order."""
        nodes = self.root.css(HEADINGS) if self.root is not None else []
        return {node.mem_id: number for number, node in enumerate(nodes)}


class LinkResolver:
    """Resolves the links of one page, with a cache shared by all pages.

    Most links of a site are on many of its pages. A link that begins with a slash means the same on the whole host, and
    a relative link in its whole folder, so these are the keys of the cache.
    """

    __slots__ = ("_base", "_folder", "_rules", "root")

    def __init__(self, base: str, rules: UrlRules) -> None:
        self._base, self._rules = base, rules
        try:
            bare = resolve(base).partition("?")[0]
        except NotAUrl:
            self.root = self._folder = ""
        else:
            self._folder = bare[: bare.rindex("/") + 1]
            self.root = (
                bare[: bare.index("/", bare.index("://") + 3) + 1] if len(self._folder) <= _LONGEST_CACHED else ""
            )

    def resolve(self, raw: str) -> tuple[str, Url] | str:
        """The spelling and the URL of `raw` on this page, or the reason why it is refused."""
        if len(raw) > _LONGEST_CACHED or not self.root:
            return _resolve(raw, self._base, self._rules)
        first = raw[:1]
        if first == "/":
            return _cached_resolve(raw, self.root, self._rules)
        if raw.startswith(("http://", "https://")):
            return _cached_resolve(raw, _ANYWHERE, self._rules)
        if first.isalnum() or (first in _PATH_START and first):
            return _cached_resolve(raw, self._folder, self._rules)
        return _resolve(raw, self._base, self._rules)


def _resolve(raw: str, base: str, rules: UrlRules) -> tuple[str, Url] | str:
    scheme = _SCHEME.match(raw)
    if scheme is not None and scheme[1].lower() not in ("http", "https"):
        return "not-http"
    try:
        spelling = resolve(raw, base)
    except NotAUrl:
        # A browser drops tabs and line breaks inside a URL before it looks for the scheme.
        hidden = _SCHEME.match(raw[:200].translate(_DROPPED))
        return "not-http" if hidden is not None and hidden[1].lower() not in ("http", "https") else "bad-url"
    try:
        return spelling, canonical(spelling, rules)
    except NotAUrl:
        return "too-long" if len(spelling) > rules.longest else "bad-url"


_cached_resolve = lru_cache(maxsize=32768)(_resolve)


def tidy(text: str) -> str:
    """The text on one line, with white space and control characters collapsed to single spaces."""
    if text.isprintable():  # then the only white space is the ordinary space
        return " ".join(text.split()) if "  " in text or text[:1] == " " or text[-1:] == " " else text
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(text.translate(_CONTROL).split())
    return text


def _is_in_svg(node: LexborNode) -> bool:
    """Whether a `<title>` belongs to an SVG image and not to the page."""
    ancestor = node.parent
    while ancestor is not None:
        if ancestor.tag == "svg":
            return True
        ancestor = ancestor.parent
    return False


def tag_name(node: LexborNode) -> str:
    """The tag with id and first class, such as `div#nav.wide`, as one step of a tag path."""
    attributes = node.attributes
    step: str = node.tag or ""
    if name := attributes.get("id"):
        step += "#" + _UNFIT.sub("_", name[:80].strip())
    if (classes := attributes.get("class")) and (first := classes[:200].split()[:1]):
        step += "." + _UNFIT.sub("_", first[0][:80])
    return step
