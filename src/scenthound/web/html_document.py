"""HTML to an `HtmlDocument`: title, text and links, by lexbor's HTML5 tree.

Text (sheet 10.1) is every text node in document order, the title included, except those of `script`, `style` and of the
elements whose markup a browser keeps as raw text and never shows (`iframe`, `noembed`, `noframes`). `noscript` is read
as markup, since we run no scripts; `template` is inert, as in a browser: neither its text nor its links count.

Links are `a` and `area` with `href`, `frame` and `iframe` with `src` (documents of their own: their anchor is empty).
Refused ones are counted by reason in `refused`.

Title, text and links take a few calls into C, a fixed number per page or per link. `page.read` walks through the nodes
if a record needs leaves.
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
LONGEST_TITLE = 1000  # characters; both go into every index, table and log that mentions the page
LONGEST_ANCHOR = 2000
WITHOUT_EVENTS = 1  # LexborDocumentOptions.WO_EVENTS: no mutation callbacks, which only copy <selectedcontent>

# Nested anchors repeat the same text. Together they may have 64 times the length of the page; further ones are left
# empty. `page.views` has the same limit for elements.
REPETITION = 64
REPETITION_AT_MOST = 100_000_000

_WANTED = (
    "a[href],area[href],frame[src],iframe,title,meta,base[href],link[rel~=canonical i],script,style,noembed,noframes"
)
_UNSEEN = frozenset(("script", "style", "noembed", "noframes"))
_FRAMES = frozenset(("frame", "iframe"))
_UNENDORSED = frozenset(("nofollow", "ugc", "sponsored"))
_SCHEME = re.compile(r"[\x00-\x20]*([a-zA-Z][a-zA-Z0-9+.\-]*):")
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")
_DROPPED = {9: None, 10: None, 13: None}
_LONGEST_CACHED = 300  # characters of a link or folder; so 32,768 cached results take at most 70 MB
_ANYWHERE = "http://anywhere.invalid/"
_PATH_START = "._~-%"
HEADINGS = "h1,h2,h3,h4,h5,h6"
_new_link: Callable[..., Link] = tuple.__new__  # as Link(...), without a Python call for each
_UNFIT = re.compile(r"[\s/#.]+")


def parse_html(
    text: str, url: str, *, max_links: int = MAX_LINKS, url_rules: UrlRules = RULES, shape: Shape = SHAPE
) -> HtmlDocument:
    """The page at `url`. Never fails: any text is some page. Linear time, since the text goes through `guard`."""
    text, cuts = tame(text, shape)
    try:
        parser = LexborHTMLParser(text, options=WITHOUT_EVENTS)
    except UnicodeEncodeError:  # lone surrogates, which no decoder of ours makes
        parser = LexborHTMLParser(text.encode("utf-8", "replace"), options=WITHOUT_EVENTS)
    return HtmlDocument(parser, url, len(text), max_links, url_rules, cuts)


class HtmlDocument:
    """A parsed page: its text, its links, and what it says about itself."""

    __slots__ = (
        "_text",
        "base",
        "canonical",
        "cuts",
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
        """What relative links are resolved against: the URL of the page, or its `<base href>` if that is valid."""
        self.title = ""
        self.links: Sequence[Link] = ()
        self.refused: Counter[str] = Counter()
        """Links left out, by reason: `not-http`, `bad-url`, `too-long`, `too-many-links`; and `bad-base`."""
        self.metas: list[tuple[str, str]] = []
        """Name (lower case) and content of each named `<meta>`, in document order, at most 200."""
        self.refresh = ""
        """Content of the first `<meta http-equiv=refresh>` outside `<noscript>`."""
        self.canonical: Url | None = None
        """The address that the page claims to have (`rel=canonical`)."""
        self.lang = ""
        """The language that the page claims to be in."""
        self.cuts = cuts
        """What `guard.tame` changed: empty for a normal page."""
        self.noindex = False
        self.nofollow = False
        self._text: str | None = None
        self.nodes: list[LexborNode] = []
        self.spare = min(max(REPETITION * size, 100_000), REPETITION_AT_MOST)
        self.root = parser.root
        if self.root is not None:
            self._read(parser, max_links, url_rules)

    def _read(self, parser: LexborHTMLParser, max_links: int, rules: UrlRules) -> None:
        assert self.root is not None
        anchors: list[LexborNode] = []
        bases, titles, claims = [], [], []
        for node in parser.css(_WANTED):
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
                claims.append(node)
        self.title = next((tidy(node.text())[:LONGEST_TITLE] for node in titles[:20] if not _in_drawing(node)), "")
        self.lang = tidy(self.root.attributes.get("lang") or "")[:40]
        if bases:
            self._rebase(bases[0], rules.longest)
        if claims:
            self.canonical = self._claimed(claims[0], rules)
        self.links = self._harvest(anchors, max_links, rules)

    def _meta(self, node: LexborNode) -> None:
        attributes = node.attributes
        content = attributes.get("content") or ""
        if name := attributes.get("name"):
            self.metas.append((name.strip().lower(), content))
        if not self.refresh and (attributes.get("http-equiv") or "").strip().lower() == "refresh":
            # Inside <noscript> it leads to a page that says "switch scripts on"; the content is here already.
            above = node.parent
            if above is None or above.tag != "noscript":
                self.refresh = content

    def _rebase(self, node: LexborNode, longest: int) -> None:
        # A long base would be read again for every link, so its length is limited.
        try:
            base = resolve(node.attributes.get("href") or "", self.url)
        except NotAUrl:
            base = ""
        if base and len(base) <= longest:
            self.base = base
        else:
            self.refused["bad-base"] += 1

    def _claimed(self, node: LexborNode, rules: UrlRules) -> Url | None:
        try:
            return canonical(resolve(node.attributes.get("href") or "", self.base), rules)
        except NotAUrl:
            return None

    def _harvest(self, anchors: list[LexborNode], max_links: int, rules: UrlRules) -> list[Link]:
        links: list[Link] = []
        nodes = self.nodes
        resolver = LinkResolver(self.base, rules)
        resolved_links: dict[str, tuple[str, Url] | str] = {}
        for place, node in enumerate(anchors):  # about 100 a page: few Python calls for each
            if len(links) >= max_links:  # neither resolved nor kept
                self.refused["too-many-links"] += len(anchors) - place
                break
            attributes = node.attributes
            raw = attributes.get("href")
            framed = node.tag in _FRAMES
            if framed:
                raw = attributes.get("src")
                if raw is None:
                    continue
            elif raw is None:
                raw = ""  # without a value: the page itself
            if "#" in raw:
                raw = raw.partition("#")[0]
            resolved = resolved_links.get(raw)
            if resolved is None:
                if len(resolved_links) > max_links:  # a page full of links that are refused
                    resolved_links.clear()
                resolved = resolved_links[raw] = resolver.resolve(raw)
            if isinstance(resolved, str):
                self.refused[resolved] += 1
                continue
            if node.parent is None:  # it was inside the script or style of a drawing
                continue
            rel = attributes.get("rel")
            nofollow = rel is not None and not _UNENDORSED.isdisjoint(rel.lower().split())
            anchor = ""
            if not framed:
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

    def resolved(self, raw: str, rules: UrlRules = RULES) -> tuple[str, Url] | None:
        """Spelling and URL of an address outside of links; None if it is no http(s) URL."""
        resolved = _resolve(raw, self.base, rules)
        return None if isinstance(resolved, str) else resolved

    def add_link(self, url: Url, spelling: str) -> None:
        """Add a link without an anchor, at the root element."""
        if self.root is not None:
            self.links = [*self.links, Link(url, "", spelling, len(self.nodes))]
            self.nodes.append(self.root)

    def _alternative(self, node: LexborNode, attributes: dict[str, str | None]) -> str:
        """The text of a link that has none: `alt` of an area, or of the images inside."""
        if node.first_child is None:
            return tidy(attributes.get("alt") or "")
        images = node.css("img[alt]")[:20] if self.spare > 0 else ()
        return tidy(" ".join(image.attributes.get("alt") or "" for image in images))

    @property
    def text(self) -> str:
        """All leaves in document order, one space between two; line breaks inside a leaf are kept."""
        if self._text is None:
            self._text = "" if self.root is None else self.root.text(separator=" ", strip=True, skip_empty=True)
        return self._text

    def headings(self) -> dict[int, int]:
        """The memory ids of the heading elements, and their numbers in document order."""
        nodes = self.root.css(HEADINGS) if self.root is not None else []
        return {node.mem_id: number for number, node in enumerate(nodes)}


class LinkResolver:
    """Resolves the links of one page, with a cache that pages share.

    Most links of a site are on many of its pages. A link from the root means the same on the whole host, a relative
    one in the whole folder: these are the keys of the cache.
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
        """The spelling and the URL of `raw` on this page, or why it is refused."""
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
    """One line: white space and control characters collapsed to single spaces."""
    if text.isprintable():  # then there is no white space but the ordinary one
        return " ".join(text.split()) if "  " in text or text[:1] == " " or text[-1:] == " " else text
    text = " ".join(text.split())
    if not text.isprintable():
        text = " ".join(text.translate(_CONTROL).split())
    return text


def _in_drawing(node: LexborNode) -> bool:
    """Whether a `<title>` belongs to a drawing (SVG), not to the page."""
    above = node.parent
    while above is not None:
        if above.tag == "svg":
            return True
        above = above.parent
    return False


def tag_name(node: LexborNode) -> str:
    """Tag with id and first class, as `div#nav.wide`: a step of a tag path."""
    attributes = node.attributes
    step: str = node.tag or ""
    if name := attributes.get("id"):
        step += "#" + _UNFIT.sub("_", name[:80].strip())
    if (classes := attributes.get("class")) and (first := classes[:200].split()[:1]):
        step += "." + _UNFIT.sub("_", first[0][:80])
    return step
