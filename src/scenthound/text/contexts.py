"""What a page, an element around a link, an anchor or a window says (sheet 10.5), each computed once.

All answers go through `Page.derived`, so strategies and the judge share them and a recorded bed may
supply them. The keys, all plain tuples (`analyser` is an `Analyser`, `number` a link's place in
`page.links`, `node` its `Link.node`, `element` the number that `Document.under` gives):

    ("counts", analyser)                    Counts of the whole page
    ("whole", analyser)                     the first word of the page, once its Counts are unfolded
    ("counts", analyser, element)           Counts of all text under an element
    ("under", node, up)                     the element `up` levels above a link, and its text
    ("anchor", analyser, text)              Counts of an anchor's text
    ("window", analyser, number, width)     Counts of the tokens around an anchor
    ("leaf terms", analyser)                the terms of every leaf
    ("stream",)                             a Stream: raw tokens and where each anchor stands among them
    ("numbers",)                            from a Link to its number

Similarities are not remembered: they are judgement, which `Page.effort` leaves out, and cheap, since
`Counts` know their norm.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from scenthound.model import Leaf, Link, Page, Url
from scenthound.text.tokens import Analyser, tokens
from scenthound.text.vectors import Counts, cosine, term_frequencies

WHOLE_PAGE = sys.maxsize
"""As `up`: climb to the root. The context is then the page, and DOM scores are those of best-first."""


@dataclass(frozen=True)
class Query:
    """Keywords as a vector: raw term frequencies, repeated words counted. Equal queries are equal keys."""

    text: str
    analyser: Analyser = field(default_factory=Analyser)
    counts: Counts = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "counts", self.analyser.counts(self.text))

    def similarity(self, counts: Mapping[str, int]) -> float:
        """The cosine of the keywords with something counted by the same analyser."""
        return cosine(self.counts, counts)


class Stream(NamedTuple):
    """A page's raw tokens, stop words among them, and for every link the slice that is its anchor."""

    tokens: list[str]
    spans: list[tuple[int, int]]


def page_counts(page: Page, analyser: Analyser) -> Counts:
    """The term frequencies of all text of the page."""
    return page.derived(("counts", analyser), lambda: analyser.counts(page.text))


def whole_counts(page: Page, analyser: Analyser) -> Counts:
    """`page_counts` for those who look at every word: what a recorded bed has folded up is unfolded as part of
    reading the page, which is not ranking (rule 14)."""
    counts = page_counts(page, analyser)
    page.derived(("whole", analyser), lambda: next(iter(counts), ""))
    return counts


def page_similarity(page: Page, query: Query) -> float:
    """The cosine of the query with the page."""
    return query.similarity(page_counts(page, query.analyser))


def anchor_counts(page: Page, link: Link, analyser: Analyser) -> Counts:
    """The term frequencies of the anchor's text; of an image link its `alt` text."""
    return page.derived(("anchor", analyser, link.anchor), lambda: analyser.counts(link.anchor))


def context_counts(page: Page, link: Link, up: int, analyser: Analyser) -> Counts:
    """The term frequencies of all text under the aggregation node, `up` levels above the link's `<a>`.

    0 is the anchor itself, 1 its parent [BIZ], `WHOLE_PAGE` the root. Links under one element share
    one answer.
    """
    if up == 0:
        return anchor_counts(page, link, analyser)
    element, text = _under(page, link, up)
    return _element_counts(page, element, text, analyser)


def climbed_counts(page: Page, link: Link, min_words: int, analyser: Analyser, up: int = 1) -> Counts:
    """The context at the first element, from `up` levels above the link upwards, that holds `min_words` terms.

    The root, if none does. Elements that only wrap another are passed without counting again.
    """
    below, said, counts = None, None, Counts()
    while True:
        element, text = _under(page, link, up)
        if element == below:
            return counts
        if text != said:
            counts = _element_counts(page, element, text, analyser)
        if sum(counts.values()) >= min_words:
            return counts
        below, said, up = element, text, up + 1


def window_counts(page: Page, link: Link, width: int, analyser: Analyser) -> Counts:
    """The term frequencies of the anchor and of `width` raw tokens before and after it.

    Stop words take up room in the window and are dropped afterwards. It crosses element borders and
    is clipped at the ends of the page. The words of an image link are its `alt` text.
    """
    number = link_number(page, link)
    words, spans = stream(page)

    def around() -> Counts:
        start, end = spans[number]
        anchor = words[start:end] or tokens(link.anchor)
        raw = words[max(0, start - width) : start] + anchor + words[end : end + width]
        return term_frequencies(analyser.terms_of(raw))

    return page.derived(("window", analyser, number, width), around)


def leaf_terms(page: Page, analyser: Analyser) -> Sequence[Sequence[str]]:
    """The terms of every leaf of the page, in step with `page.document.leaves`."""
    return page.derived(("leaf terms", analyser), lambda: [analyser.terms(leaf.text) for leaf in page.document.leaves])


def stream(page: Page) -> Stream:
    """The raw tokens of all leaves, and where the anchors stand among them."""
    return page.derived(("stream",), lambda: _stream(page.document.leaves, len(page.links)))


def link_number(page: Page, link: Link) -> int:
    """The place of a link in `page.links`, which is what `Leaf.anchor` speaks of."""
    numbers: Mapping[Link, int] = page.derived(
        ("numbers",), lambda: {found: place for place, found in reversed(list(enumerate(page.links)))}
    )
    return numbers[link]


def anchors_by_url(page: Page) -> Mapping[Url, Sequence[Link]]:
    """All anchors of each outlink, in the order of `page.outlinks` (rule 6: the best anchor counts)."""
    anchors: dict[Url, list[Link]] = {link.url: [] for link in page.outlinks}
    for link in page.links:
        if link.url in anchors:
            anchors[link.url].append(link)
    return anchors


def _under(page: Page, link: Link, up: int) -> tuple[int, str]:
    return page.derived(("under", link.node, up), lambda: page.document.under(link, up))


def _element_counts(page: Page, element: int, text: str, analyser: Analyser) -> Counts:
    return page.derived(("counts", analyser, element), lambda: analyser.counts(text))


def _stream(leaves: Sequence[Leaf], links: int) -> Stream:
    words: list[str] = []
    spans: list[tuple[int, int] | None] = [None] * links
    for leaf in leaves:
        start = len(words)
        words += tokens(leaf.text)
        if 0 <= leaf.anchor < links:
            known = spans[leaf.anchor]
            spans[leaf.anchor] = (known[0] if known else start, len(words))
    placed: list[tuple[int, int]] = []
    start = len(words)
    for span in reversed(spans):
        # An anchor without text has no leaf to say where it stands. Before the next anchor with text is a good
        # guess: a picture is mostly followed by the headline or the menu it belongs to.
        placed.append(span or (start, start))
        start = placed[-1][0]
    return Stream(words, placed[::-1])
