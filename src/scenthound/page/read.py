"""Make the record of a page from its parsed HTML, within limits on how much of a page is read."""

from __future__ import annotations

from dataclasses import dataclass

from scenthound import url as urls
from scenthound.model import Url
from scenthound.page.record import EVERYTHING, Analysed, Parts, Record
from scenthound.text.term_counts import TermCounts, TermNumbers
from scenthound.web.guard import SHAPE
from scenthound.web.html_document import MAX_LINKS, HtmlDocument, parse_html

MOST_TEXT = 1 << 19  # characters of a page's text that are kept; the longest of 13,506 recorded pages has 99,897


@dataclass(frozen=True, slots=True)
class PageLimits:
    """How much of a page is read. The defaults are for live crawls; the smaller limits of papers are lab profiles."""

    unpacked: int = 10_000_000
    """Bytes after decompression; longer bodies are truncated."""
    ratio: int = 200
    """A body that unpacks to more than `ratio` times its size, and to more than a megabyte, is a bomb."""
    links: int = MAX_LINKS
    nofollow: bool = True
    """Whether links marked nofollow, by themselves or by their page, are barred; if not, the marks are ignored."""
    url_length: int = urls.LONGEST
    tags: int = SHAPE.tags
    nesting: int = SHAPE.nesting
    """The deepest nesting of elements; deeper pages are flattened, see `guard`."""
    attributes: int = SHAPE.attributes
    """Attributes of one tag; further ones are dropped."""
    pdf: bool = False
    """Whether PDF files are read as pages."""
    default_pages: tuple[str, ...] = ()
    """File names that stand for their folder, such as `index.html`; see `url.UrlRules`."""

    @property
    def url_rules(self) -> urls.UrlRules:
        return urls.UrlRules(self.url_length, self.default_pages)


LIMITS = PageLimits()


def read(document: HtmlDocument, url: Url, parts: Parts, numbers: TermNumbers | None = None) -> Record:
    """The record of a page with the given parts; with `numbers` its terms are numbered.

    The tree is walked only for leaves and elements. Only the first `MOST_TEXT` characters of the text are kept, so that
    an endless body costs a bounded amount of memory.
    """
    text = document.take_text(MOST_TEXT)
    if parts.leaves or parts.elements:
        from scenthound.page.tree_columns import read_tree  # imports numpy, which is not needed without these parts

        return read_tree(document, url, text, parts, numbers)
    analysed = {analyser.key: Analysed(TermCounts.of(analyser.counts(text), numbers)) for analyser in parts.counts}
    return Record(
        url,
        document.title,
        text,
        document.links,
        analysed,
        noindex=document.noindex,
        nofollow=document.nofollow,
        refused=document.refused,
    )


def read_html(html: str, url: Url, parts: Parts = EVERYTHING) -> Record:
    """The record of a page given as HTML text.

    >>> read_html("<title>Clubs</title><a href=/chess>chess</a>", Url("http://clubs.test/")).links[0].url
    'http://clubs.test/chess'
    """
    return read(parse_html(html, url), url, parts)
