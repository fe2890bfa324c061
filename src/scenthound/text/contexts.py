"""What a page, an element around a link, an anchor or a window says (sheet 10.5), each computed once.

All answers go through `Page.derived`, so strategies and the judge share them and a recorded bed may
supply them. The keys, all tuples (`analyser` is an `Analyser`, `number` a link's place in
`page.links`, `node` its `Link.node`, `element` the number that `Document.under` gives, and what is
in capitals is a name of `text.lasting`):

    ("counts", analyser)                    Counts of the whole page
    (WHOLE, analyser)                       the first word of the page, once its Counts are unfolded
    ("numbered", analyser)                  the same Counts as arrays, as NumberedCounts
    ("counts", analyser, element)           Counts of all text under an element
    ("under", node, up)                     the element `up` levels above a link, and its text
    ("anchor", analyser, text)              Counts of an anchor's text
    ("window", analyser, number, width)     Counts of the tokens around an anchor
    (LINK_LEAVES, analyser)                 the terms of all leaves, and where links stand among them, as LinkLeaves
    (SURROUNDINGS, analyser)                what the surroundings of each link say (`text.surroundings`)
    (STANDING, analyser)                    where every term stands, counted in anchors (`text.standing`)
    (STREAM,)                               a Stream: raw tokens and where each anchor stands among them
    ("numbers",)                            from a Link to its number
    Around(...)                             for all links the Counts of one of their contexts

Similarities are not remembered: they are judgement, which `Page.effort` leaves out, and cheap, since
`Counts` know their norm.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, runtime_checkable

from scenthound.model import Leaf, Link, Page, Url
from scenthound.text.lasting import LINK_LEAVES, STREAM, WHOLE
from scenthound.text.terms import NumberedCounts, Terms, numbered
from scenthound.text.tokens import Analyser, tokens
from scenthound.text.vectors import Counts, cosine, term_frequencies

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SHORT = 200  # characters
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


class Around(NamedTuple):
    """What a strategy will ask about every link of a page. One that says so (`Strategy.around`) can have it made by
    the process that reads the page: it is then known under this very key, for all links in one list."""

    kind: Literal["anchor", "element", "window"]
    analyser: Analyser
    size: int = 0
    """Of an element: how many levels above the link; of a window: how many raw tokens on each side."""

    def pieces(self, page: Page) -> Iterator[tuple[Hashable, str | list[str]]]:
        """For each of `page.links` a name of its context, the same where links share one, and its text; of a window
        its raw tokens."""
        if self.kind == "anchor":
            return ((link.anchor, link.anchor) for link in page.links)
        if self.kind == "element":
            return (page.document.under(link, self.size) for link in page.links)
        words, spans = stream(page)
        return ((number, _window(words, spans[number], link, self.size)) for number, link in enumerate(page.links))


@runtime_checkable
class Surveyed(Protocol):
    """Contexts that know a quicker way than one after the other."""

    def similarities(self, query: Counts) -> Sequence[float]: ...


class Stream(NamedTuple):
    """A page's raw tokens, stop words among them, and for every link the slice that is its anchor."""

    tokens: list[str]
    spans: list[tuple[int, int]]


class NumberedLeaves(NamedTuple):
    """The terms of all leaves of a page, as places among the distinct ones."""

    terms: Terms
    """Each once, in order of first occurrence."""
    flat: npt.NDArray[np.int32]
    """The place in `terms` of every term of the page, leaf after leaf."""
    starts: npt.NDArray[np.int32]
    """Where in `flat` each leaf begins; one more for where the last ends."""


class LinkLeaves(NamedTuple):
    """The leaves of a page, and where its links stand among them."""

    leaves: NumberedLeaves
    begins: npt.NDArray[np.int32]
    """Of each link the leaf at which its anchor begins. An anchor without text has an empty slice, before the next
    anchor that has some."""
    ends: npt.NDArray[np.int32]
    """The leaf behind the last of the anchor."""
    pictures: Mapping[int, Sequence[str]]
    """What is said by anchors that have no text among the leaves: the terms of the `alt` text, by place of the link.
    Those that say nothing are left out."""
    places: npt.NDArray[np.int32]
    """The places of the links to each of `page.outlinks`, one outlink after the other."""
    outlinks: npt.NDArray[np.int32]
    """Where in `places` each outlink begins; one more for where the last ends."""


def page_counts(page: Page, analyser: Analyser) -> Counts:
    """The term frequencies of all text of the page."""
    return page.derived(("counts", analyser), lambda: analyser.counts(page.text))


def whole_counts(page: Page, analyser: Analyser) -> Counts:
    """`page_counts` for those who look at every word: what a recorded bed has folded up is unfolded as part of
    reading the page, which is not ranking (rule 14)."""
    counts = page_counts(page, analyser)
    page.derived((WHOLE, analyser), lambda: next(iter(counts), ""))
    return counts


def numbered_counts(page: Page, analyser: Analyser) -> NumberedCounts:
    """`page_counts` for those who number words themselves: a recorded bed gives them without any being read."""
    known = page.known(("numbered", analyser))
    if known is not None:
        return known  # type: ignore[no-any-return]
    counts = page_counts(page, analyser)
    return page.derived(("numbered", analyser), lambda: numbered(counts))


def page_similarity(page: Page, query: Query) -> float:
    """The cosine of the query with the page."""
    return query.similarity(page_counts(page, query.analyser))


def anchor_counts(page: Page, link: Link, analyser: Analyser) -> Counts:
    """The term frequencies of the anchor's text; of an image link its `alt` text."""
    if (told := page.known(Around("anchor", analyser))) is not None:
        return told[link.node]  # type: ignore[no-any-return]
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


def contexts(page: Page, up: int, analyser: Analyser) -> Sequence[Counts]:
    """`context_counts` of all links, in step with `page.links`."""
    if not up:
        return [anchor_counts(page, link, analyser) for link in page.links]
    around = Around("element", analyser, up)
    return page.derived(around, lambda: _contexts(page, around))


def context_similarities(page: Page, up: int, query: Query) -> Iterable[float]:
    """The cosine of the query with the context of each link, in step with `page.links`."""
    found = contexts(page, up, query.analyser)
    if isinstance(found, Surveyed):
        return found.similarities(query.counts)
    shared = {id(counts): counts for counts in found}
    known = {place: query.similarity(counts) for place, counts in shared.items()}
    return [known[id(counts)] for counts in found]


def window_counts(page: Page, link: Link, width: int, analyser: Analyser) -> Counts:
    """The term frequencies of the anchor and of `width` raw tokens before and after it.

    Stop words take up room in the window and are dropped afterwards. It crosses element borders and
    is clipped at the ends of the page. The words of an image link are its `alt` text.
    """
    if (told := page.known(Around("window", analyser, width))) is not None:
        return told[link.node]  # type: ignore[no-any-return]
    number = link_number(page, link)
    words, spans = stream(page)

    def around() -> Counts:
        return term_frequencies(analyser.terms_of(_window(words, spans[number], link, width)))

    return page.derived(("window", analyser, number, width), around)


def link_leaves(page: Page, analyser: Analyser) -> LinkLeaves:
    """The terms of every leaf and where the links stand among them, for those who look each term up, which need be
    done once a page, and at all links at once."""
    outlinks = page.outlinks

    def found() -> LinkLeaves:
        leaves = page.document.leaves
        spans = spans_of([leaf.anchor for leaf in leaves], len(page.links))
        return linked(_leaf_numbers(leaves, analyser), spans, page.links, outlinks, analyser)

    return page.derived((LINK_LEAVES, analyser), found)


def headings_of(anchors: Sequence[int], headings: Sequence[int], links: int) -> Sequence[tuple[int, int]]:
    """Which leaves are the heading that each of so many links stands in or, in document order, nearest behind; (0, 0)
    for none. From the numbers of the anchor and of the heading of every leaf."""
    return _heading_leaves(headings, _anchor_leaves(anchors, links))


def url_text(url: Url) -> str:
    """What of a URL may say something: all but the scheme and `www`.

    >>> url_text("http://www.reef.test/coral-fish/")
    'reef.test/coral-fish/'
    """
    return url.partition("://")[2].removeprefix("www.")


def stream(page: Page) -> Stream:
    """The raw tokens of all leaves, and where the anchors stand among them."""
    return page.derived((STREAM,), lambda: _stream(page.document.leaves, len(page.links)))


def link_number(page: Page, link: Link) -> int:
    """The place of a link in `page.links`, which is what `Leaf.anchor` speaks of."""
    numbers: Mapping[Link, int] = page.derived(
        ("numbers",), lambda: {found: place for place, found in reversed(list(enumerate(page.links)))}
    )
    return numbers[link]


def _contexts(page: Page, around: Around) -> list[Counts]:
    known: dict[Hashable, Counts] = {}
    found = []
    for name, text in around.pieces(page):
        counts = known.get(name)
        if counts is None:
            assert isinstance(text, str)
            counts = _short(around.analyser, text) if len(text) <= SHORT else around.analyser.counts(text)
            known[name] = counts
        found.append(counts)
    return found


@lru_cache(maxsize=1 << 13)
def _short(analyser: Analyser, text: str) -> Counts:
    """Short texts around links are menus: the same on all pages of a site."""
    return analyser.counts(text)


def _window(words: list[str], span: tuple[int, int], link: Link, width: int) -> list[str]:
    start, end = span
    anchor = words[start:end] or tokens(link.anchor)
    return words[max(0, start - width) : start] + anchor + words[end : end + width]


def _under(page: Page, link: Link, up: int) -> tuple[int, str]:
    return page.derived(("under", link.node, up), lambda: page.document.under(link, up))


def _element_counts(page: Page, element: int, text: str, analyser: Analyser) -> Counts:
    return page.derived(("counts", analyser, element), lambda: analyser.counts(text))


def _leaf_numbers(leaves: Sequence[Leaf], analyser: Analyser) -> NumberedLeaves:
    terms = [analyser.terms(leaf.text) for leaf in leaves]
    places: dict[str, int] = {}
    flat = [places.setdefault(term, len(places)) for leaf in terms for term in leaf]
    starts = [0, *accumulate(map(len, terms))]
    import numpy as np  # slow and large, and a process that only reads pages does without

    return NumberedLeaves(Terms(list(places)), np.array(flat, dtype=np.int32), np.array(starts, dtype=np.int32))


def _anchor_leaves(anchors: Sequence[int], links: int) -> list[tuple[int, int]]:
    spans: list[tuple[int, int] | None] = [None] * links
    for place, number in enumerate(anchors):
        if 0 <= number < links:
            known = spans[number]
            spans[number] = (known[0] if known else place, place + 1)
    placed: list[tuple[int, int]] = []
    start = len(anchors)
    for span in reversed(spans):  # as in `_stream`
        placed.append(span or (start, start))
        start = placed[-1][0]
    return placed[::-1]


def spans_of(anchors: Sequence[int] | npt.NDArray[np.int32], links: int) -> tuple[Any, Any]:
    """Where each link's anchor begins and ends among the leaves, of each of which is said which anchor holds it."""
    import numpy as np

    holders = np.asarray(anchors, dtype=np.int32)
    places = np.flatnonzero((holders >= 0) & (holders < links)).astype(np.int32)
    begins, ends = np.full(links + 1, len(holders), dtype=np.int32), np.full(links, -1, dtype=np.int32)
    begins[holders[places[::-1]]] = places[::-1]  # of several places the last that is written stays: the first leaf
    ends[holders[places]] = places + 1
    empty = ends < 0
    following = np.where(empty, links, np.arange(links))  # the next that has text, which those without stand before
    following = np.minimum.accumulate(following[::-1])[::-1]
    begins = begins[following]
    return begins, np.where(empty, begins, ends)


def linked(
    leaves: NumberedLeaves,
    spans: tuple[Any, Any],
    links: Sequence[Link],
    outlinks: Sequence[Link],
    analyser: Analyser,
) -> LinkLeaves:
    """`LinkLeaves` of what was found out about leaves and anchors (`spans_of`)."""
    import numpy as np

    begins, ends = spans
    pictures = {}
    for place in np.flatnonzero(begins == ends).tolist():
        if links[place].anchor and (terms := analyser.terms(links[place].anchor)):
            pictures[place] = terms
    numbers = {link.url: number for number, link in enumerate(outlinks)}
    owners = np.array([numbers.get(link.url, -1) for link in links], dtype=np.int32)
    places = np.argsort(owners, kind="stable")[int(np.count_nonzero(owners < 0)) :].astype(np.int32)
    starts = np.searchsorted(owners[places], np.arange(len(outlinks) + 1)).astype(np.int32)
    return LinkLeaves(leaves, begins, ends, pictures, places, starts)


def _heading_leaves(headings: Sequence[int], spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """A heading inside another ends it: a slice is a run of leaves that one heading holds."""
    runs: list[tuple[int, int]] = []  # of the last heading up to and including each leaf
    begin = end = 0
    for place, number in enumerate(headings):
        if number >= 0:
            begin = begin if place and headings[place - 1] == number else place
            end = place + 1
        runs.append((begin, end))
    ends = dict(runs)  # the link may stand in the middle of its heading
    found: list[tuple[int, int]] = []
    for first, behind in spans:
        begin, end = runs[first] if behind > first else runs[first - 1] if first else (0, 0)
        found.append((begin, ends[begin]) if end else (0, 0))
    return found


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
