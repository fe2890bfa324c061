"""Make the record of a page from its parsed HTML."""

from __future__ import annotations

from scenthound.model import Url
from scenthound.page.page_limits import MOST_TEXT
from scenthound.page.record import EVERYTHING, Analysed, Parts, Record
from scenthound.text.term_counts import TermCounts, TermNumbers
from scenthound.web.html_document import HtmlDocument, parse_html


def read(document: HtmlDocument, url: Url, parts: Parts, numbers: TermNumbers | None = None) -> Record:
    """The record of a page with the given parts; with `numbers` its terms are numbered.

    The tree is walked only for leaves and elements. Only the first `MOST_TEXT` characters of the text are kept, so that
    an endless body costs a bounded amount of memory.
    """
    text = document.take_text(MOST_TEXT)
    if parts.leaves or parts.elements:
        from scenthound.page.read_tree import read_tree  # imports numpy, which is not needed without these parts

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
