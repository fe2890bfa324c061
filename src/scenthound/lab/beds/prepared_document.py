"""A page of a prepared bed: the same answers as the parser's, from one record of bytes that is the page's alone.

The record holds the text, where its leaves and the elements around its links begin and end in it, and its
tokens. Everything but the links is taken out of it when asked for. Nothing in a document leads to the bed or
to another page: what a strategy is handed can be walked through to its last byte (the no-peeking contract).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from scenthound.lab.beds.unchangeable import to_hand_out, unchangeable
from scenthound.model import Leaf, Link, Page
from scenthound.text import lasting
from scenthound.text.contexts import Around, LinkLeaves, NumberedLeaves, Stream, headings_of, linked, spans_of
from scenthound.text.standing import stand
from scenthound.text.surroundings import Surroundings, gather, registered
from scenthound.text.terms import Terms
from scenthound.text.tokens import Analyser
from scenthound.text.vectors import Counts, term_frequencies

T = TypeVar("T")
Numbers = npt.NDArray[np.int32]
SEPARATOR = "\n"  # between words and between tag-path steps: neither can hold one
_HEADER = 8
_LARGEST = 2**31 - 1


class Written(NamedTuple):
    """What the preparer found out about a page, before it becomes a record."""

    text: str
    leaves: list[tuple[int, int, int, int]]
    """Begin and end in the text, and the numbers of the anchor and of the heading that hold it, or -1."""
    tokens: list[list[str]]
    """Of each leaf."""
    elements: list[tuple[int, int, int, int, int, str]]
    """Parent (or -1), begin and end in the text, first leaf and the one behind the last, step of the tag path."""
    link_elements: list[int]
    spare: int
    """How many characters the page may still repeat in `under`."""


class _Tables(NamedTuple):
    """A record taken apart."""

    leaf_begin: Numbers
    leaf_end: Numbers
    leaf_anchor: Numbers
    leaf_heading: Numbers
    leaf_token: Numbers
    parent: Numbers
    begin: Numbers
    end: Numbers
    first_leaf: Numbers
    behind_leaf: Numbers
    step: Numbers
    link_element: Numbers
    token: Numbers
    texts_at: int
    """Where the text begins in the record; the words and the steps of tag paths follow it."""
    sizes: tuple[int, int, int]
    """How many bytes each of the three has."""


def pack(page: Written) -> tuple[bytes, list[str], list[int]]:
    """The record, and the page's distinct tokens in order of first occurrence with their counts."""
    numbers: dict[str, int] = {}
    counts: list[int] = []
    token_ids: list[int] = []
    starts = [0]
    for leaf in page.tokens:
        for token in leaf:
            number = numbers.get(token)
            if number is None:
                number = numbers[token] = len(counts)
                counts.append(0)
            counts[number] += 1
            token_ids.append(number)
        starts.append(len(token_ids))
    steps: dict[str, int] = {}
    step_ids = [steps.setdefault(element[5], len(steps)) for element in page.elements]
    words = list(numbers)
    text = page.text.encode("utf-8", "surrogatepass")
    blobs = (text, SEPARATOR.join(words).encode(), SEPARATOR.join(steps).encode("utf-8", "surrogatepass"))
    columns: list[Sequence[int]] = [
        [len(page.leaves), len(page.elements), len(page.link_elements), len(token_ids)],
        [*map(len, blobs), max(0, min(page.spare, _LARGEST))],
        *(zip(*page.leaves, strict=True) if page.leaves else [()] * 4),
        starts,
        *(zip(*(element[:5] for element in page.elements), strict=True) if page.elements else [()] * 5),
        step_ids,
        page.link_elements,
        token_ids,
    ]
    body = b"".join(np.array(column, dtype="<i4").tobytes() for column in columns)
    return body + b"".join(blobs), words, counts


def page_words(record: bytes) -> tuple[list[str], list[int]]:
    """The distinct tokens of a record in order of first occurrence, and how often each occurs."""
    tables = _unpack(record)
    words = _words(record, tables)
    return words, np.bincount(tables.token, minlength=len(words)).tolist()


def _unpack(record: bytes) -> _Tables:
    header = np.frombuffer(record, "<i4", _HEADER).tolist()
    leaves, elements, links, tokens, text_size, words_size, steps_size, _ = header
    sizes = (*(leaves,) * 4, leaves + 1, *(elements,) * 6, links, tokens)
    columns: list[Any] = []
    whole = np.frombuffer(record, "<i4", _HEADER + sum(sizes))
    place = _HEADER
    for size in sizes:
        columns.append(whole[place : place + size])
        place += size
    return _Tables._make([*columns, 4 * place, (text_size, words_size, steps_size)])


def _text(record: bytes, tables: _Tables) -> str:
    return record[tables.texts_at : tables.texts_at + tables.sizes[0]].decode("utf-8", "surrogatepass")


def _words(record: bytes, tables: _Tables) -> list[str]:
    begin = tables.texts_at + tables.sizes[0]
    words = record[begin : begin + tables.sizes[1]].decode()
    return words.split(SEPARATOR) if words else []


def _steps(record: bytes, tables: _Tables) -> list[str]:
    begin = tables.texts_at + sum(tables.sizes[:2])
    return record[begin : begin + tables.sizes[2]].decode("utf-8", "surrogatepass").split(SEPARATOR)


class PreparedDocument:
    """A `model.Document` that was parsed and tokenised long ago."""

    __slots__ = (
        *("_given", "_leaves", "_numbered", "_owed", "_record", "_spare", "_steps", "_tables", "_text", "_words"),
        *("_shared", "links", "title"),
    )

    def __init__(
        self,
        title: str,
        links: Sequence[Link],
        record: bytes,
        shared: tuple[Any, ...] | None = None,
        numbered: Mapping[Analyser, tuple[Terms, bytes]] | None = None,
    ) -> None:
        """`shared` is what `Answers` is made of, where crawls share any. `numbered` has the page's terms by some
        analysers, and of each of its distinct tokens the place of its term among these, -1 for none, as `<i4`."""
        self.title, self.links = title, links
        self._shared: Answers | tuple[Any, ...] | None = shared
        self._record, self._numbered = record, numbered or {}
        self._tables: _Tables | None = None
        self._text: str | None = None
        self._words: list[str] | None = None
        self._steps: list[str] | None = None
        self._leaves: list[Leaf] | None = None
        self._given: dict[int, tuple[int, str]] = {}
        self._spare = -1
        self._owed = False  # surroundings were recalled: asked for, they would have cost some of what may be repeated

    @property
    def answers(self) -> Answers | None:
        """Those that crawls share. Made when asked for: many pages are never asked."""
        if isinstance(self._shared, tuple):
            self._shared = Answers(*self._shared)
        return self._shared

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = _text(self._record, self._read())
        return self._text

    @property
    def leaves(self) -> Sequence[Leaf]:
        if self._leaves is None:
            tables, text = self._read(), self.text
            rows = zip(*(column.tolist() for column in tables[:4]), strict=True)
            self._leaves = [Leaf(" ".join(text[begin:end].split()), *held) for begin, end, *held in rows]
        return self._leaves

    def under(self, link: Link, up: int) -> tuple[int, str]:
        """As the parser's: the number of the element `up` levels above the link's own, and all text under it."""
        if self._owed:
            self._owed = False
            for each in self.links:  # so that the answer does not depend on what earlier crawls asked for
                self.under(each, 1)
        tables = self._read()
        element = int(tables.link_element[link.node])
        for _ in range(up):
            parent = int(tables.parent[element])
            if parent < 0:
                break
            element = parent
        known = self._given.get(element)
        if known is None:
            if self._spare < 0:
                self._spare = int(np.frombuffer(self._record, "<i4", _HEADER)[7])
            text = self.text[tables.begin[element] : tables.end[element]] if self._spare else ""
            self._spare = max(0, self._spare - len(text))
            known = self._given[element] = (element, text)
        return known

    @property
    def untouched(self) -> bool:
        """Nothing has been asked yet of what an element says."""
        return not self._given and not self._owed

    def path(self, link: Link) -> str:
        tables = self._read()
        if self._steps is None:
            self._steps = _steps(self._record, tables)
        steps: list[str] = []
        element = int(tables.link_element[link.node])
        while element >= 0:
            steps.append(self._steps[tables.step[element]])
            element = int(tables.parent[element])
        return "/".join(reversed(steps))

    def known(self, key: Hashable) -> Any:
        """The answer to a question of `text.contexts` that the recorded tokens hold; None: not one of these."""
        answers = self.answers
        if answers is not None and key in answers and (not _asks_elements(key) or self.untouched):
            self._owed = _asks_elements(key)
            return answers[key]
        match key:
            case (lasting.STREAM,):
                return self._stream()
            case ("counts", Analyser() as analyser):
                words, counts = page_words(self._record)
                return summed(analyser, words, counts)
            case ("counts", Analyser() as analyser, int(element)) if self._given.get(element, (0, ""))[1]:
                tables = self._read()
                first, behind = tables.first_leaf[element], tables.behind_leaf[element]
                return term_frequencies(analyser.terms_of(self._tokens(first, behind)))
            case Around("element", Analyser() as analyser, int(up)):
                return self._contexts(analyser, up)
            case (lasting.SURROUNDINGS, Analyser() as analyser) if self.untouched:
                self._owed = True
                return self._surroundings(analyser)
            case (lasting.STANDING, Analyser() as analyser):
                return stand(self._distinct(), self._read().token, self._spans(), self.links, analyser)
        return None

    def _contexts(self, analyser: Analyser, up: int) -> list[Counts]:
        tables, known, found = self._read(), dict[int, Counts](), []
        for link in self.links:
            element, text = self.under(link, up)
            counts = known.get(element)
            if counts is None:
                run = self._tokens(tables.first_leaf[element], tables.behind_leaf[element]) if text else []
                counts = known[element] = term_frequencies(analyser.terms_of(run))
            found.append(counts)
        return found

    def _surroundings(self, analyser: Analyser) -> Surroundings:
        """As made of the leaves and of what is under each link, if nothing was asked before. It is not counted yet."""
        tables = self._read()
        terms, tokens, starts = (
            analyser.term_of_each(self._distinct()),
            tables.token.tolist(),
            tables.leaf_token.tolist(),
        )

        def of_leaves(first: int, behind: int) -> list[str]:
            return list(filter(None, map(terms.__getitem__, tokens[starts[first] : starts[behind]])))

        own = tables.link_element[[link.node for link in self.links]]
        elements = np.where(tables.parent[own] < 0, own, tables.parent[own]).tolist() if len(own) else []
        spare, said = int(np.frombuffer(self._record, "<i4", _HEADER)[7]), dict[int, tuple[int, int]]()
        for element in elements:
            if element not in said:
                size = int(tables.end[element] - tables.begin[element]) if spare else 0
                spare = max(0, spare - size)
                leaves = (int(tables.first_leaf[element]), int(tables.behind_leaf[element]))
                said[element] = leaves if size else (0, 0)
        headings = headings_of(tables.leaf_anchor.tolist(), tables.leaf_heading.tolist(), len(self.links))
        return gather(
            self.links,
            self.title,
            headings,
            elements,
            lambda span: of_leaves(*span),
            lambda element: of_leaves(*said[element]),
            analyser,
        )

    def _read(self) -> _Tables:
        if self._tables is None:
            self._tables = _unpack(self._record)
        return self._tables

    def _distinct(self) -> list[str]:
        """The distinct tokens, in order of first occurrence."""
        if self._words is None:
            self._words = _words(self._record, self._read())
        return self._words

    def _tokens(self, first: int, behind: int) -> list[str]:
        """The raw tokens of a run of leaves."""
        tables = self._read()
        run = tables.token[tables.leaf_token[first] : tables.leaf_token[behind]]
        return list(map(self._distinct().__getitem__, run.tolist()))

    def link_leaves(self, analyser: Analyser, outlinks: Sequence[Link]) -> LinkLeaves:
        """As `text.contexts` makes it of the leaves: tokens are numbered in order of first occurrence, so their terms
        are too."""
        tables = self._read()
        terms, of_token = self._places(analyser)
        every = of_token.take(tables.token)
        kept = every >= 0
        behind = np.zeros(len(every) + 1, dtype=np.int32)
        np.cumsum(kept, out=behind[1:])
        leaves = NumberedLeaves(terms, every[kept], behind.take(tables.leaf_token))
        spans = spans_of(tables.leaf_anchor, len(self.links))
        return linked(leaves, spans, self.links, outlinks, analyser)

    def _places(self, analyser: Analyser) -> tuple[Terms, Numbers]:
        """The page's terms, and of each distinct token the place of its term among them."""
        if analyser in self._numbered:
            terms, of_token = self._numbered[analyser]
            return terms, np.frombuffer(of_token, "<i4")
        places, numbers = places_of(analyser, self._distinct())
        return Terms(list(places)), np.array(numbers, dtype=np.int32)

    def _stream(self) -> Stream:
        tables = self._read()
        return Stream(list(map(self._distinct().__getitem__, tables.token.tolist())), self._spans())

    def _spans(self) -> list[tuple[int, int]]:
        """As `text.contexts` makes it of the leaves: an anchor without text stands before the next one with text."""
        tables = self._read()
        spans: list[tuple[int, int] | None] = [None] * len(self.links)
        starts = tables.leaf_token.tolist()
        for place, number in enumerate(tables.leaf_anchor.tolist()):
            if 0 <= number < len(spans):
                span = spans[number]
                spans[number] = (span[0] if span else starts[place], starts[place + 1])
        placed: list[tuple[int, int]] = []
        start = len(tables.token)
        for span in reversed(spans):
            placed.append(span or (start, start))
            start = placed[-1][0]
        return placed[::-1]


def summed(analyser: Analyser, words: Sequence[str], counts: Sequence[int]) -> Counts:
    """Counts of terms from counts of distinct tokens, in order of first occurrence."""
    total = Counts()
    for word, count in zip(words, counts, strict=True):
        for term in analyser.terms_of([word]):
            total[term] = total.get(term, 0) + count
    return total


def places_of(analyser: Analyser, words: Sequence[str]) -> tuple[dict[str, int], list[int]]:
    """The terms of distinct tokens in order of first occurrence, with their places; and of each token the place of its
    term, -1 where it has none."""
    places: dict[str, int] = {}
    terms = analyser.term_of_each(list(words))
    return places, [-1 if term is None else places.setdefault(term, len(places)) for term in terms]


MOST_WORDS = 20_000  # around the links of a page that is remembered


def _lasts(key: Hashable) -> bool:
    """Keys of `text.lasting` that depend on an analyser at most."""
    return (
        isinstance(key, tuple)
        and bool(key)
        and isinstance(key[0], lasting.Lasting)
        and all(type(more) is Analyser for more in key[1:])  # one of a strategy's making may say anything
    )


def _asks_elements(key: Hashable) -> bool:
    return isinstance(key, tuple) and key[:1] == (lasting.SURROUNDINGS,)


class Answers:
    """What follows from a page alone, kept for the next crawl of the process.

    What all strategies share is worked out here, from the record, whatever a strategy has made of its own page; and
    what they get is unchangeable, or a copy. What a strategy works out itself is kept for strategies of its class.
    """

    __slots__ = ("_kept", "_outlinks", "_own", "_owner", "_source")

    def __init__(
        self,
        kept: dict[Hashable, Any],
        title: str,
        links: tuple[Link, ...],
        outlinks: tuple[Link, ...],
        record: bytes,
        numbered: Mapping[Analyser, tuple[Terms, bytes]],
        owner: type | None = None,
    ) -> None:
        """`kept` belongs to the bed: answers under keys of `text.lasting`, counts once unfolded, and by class what
        strategies have worked out. `owner` is the class of the one that asks."""
        self._kept, self._outlinks, self._owner = kept, outlinks, owner
        self._own: dict[Hashable, Any] = kept.get(owner) or {}
        self._source: PreparedDocument | tuple[Any, ...] = (title, links, record, None, numbered)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and (key in self._kept or key in self._own)  # a class is no question

    def __getitem__(self, key: Hashable) -> Any:
        return to_hand_out(self._kept[key]) if key in self._kept else self._own[key]

    def forget(self, key: Hashable) -> None:
        if key in self:
            self._kept.pop(key, None)
            self._own.pop(key, None)

    def keep(self, key: Hashable, made: object) -> None:
        """What a strategy has worked out, for the next of its class."""
        self._own[key] = made
        self._kept[self._owner] = self._own

    def derive(self, key: Hashable) -> Any:
        """Work an answer out and keep it; None for a question that is not one of ours."""
        if isinstance(self._source, tuple):
            self._source = PreparedDocument(*self._source)
        match key:
            case (lasting.WHOLE, _):  # no answer but a mark: somebody looked at every word
                self._kept[key] = ""
                return None
            case (lasting.LINK_LEAVES, Analyser() as analyser):
                made: Any = self._source.link_leaves(analyser, self._outlinks)
            case (lasting.SURROUNDINGS_BY_NUMBER, Analyser() as analyser):
                made = registered(self._kept[lasting.SURROUNDINGS, analyser])
            case (lasting.SURROUNDINGS, Analyser() as analyser):
                made = self._source._surroundings(analyser)
            case _:
                made = self._source.known(key)
        if made is None:
            return None
        made = unchangeable(made)
        if not (isinstance(made, Surroundings) and len(made.flat) > MOST_WORDS):
            self._kept[key] = made
        return to_hand_out(made)


class PreparedPage(Page):
    """A page that asks its record before it computes an answer. Time spent so counts as reading (rule 14)."""

    __slots__ = ()

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        memo = self._memo
        if key in memo:
            return memo[key]  # type: ignore[no-any-return]
        document = self.document
        assert isinstance(document, PreparedDocument)
        answers = document.answers
        if answers is not None and key in answers and not _asks_elements(key):
            made = memo[key] = answers[key]  # so quick that asking for the time would take longer
            return made  # type: ignore[no-any-return]
        before, effort = time.process_time(), self.effort
        is_shared = answers is not None and self._is_shared(document, answers, key)
        found = self._shared(document, key) if is_shared else self._own(document, key)
        made = memo[key] = make() if found is None else found
        if is_shared and found is None and key not in answers:  # type: ignore[operator]
            answers.keep(key, made)  # type: ignore[union-attr]
        self.effort = effort + time.process_time() - before  # what was derived on the way is part of it
        return made

    def forget(self, key: Hashable) -> None:
        self._memo.pop(key, None)
        assert isinstance(self.document, PreparedDocument)
        if self.document.answers is not None:
            self.document.answers.forget(key)

    def _shared(self, document: PreparedDocument, key: Hashable) -> Any:
        """The answer that all crawls of the process get; None for a question that is not one of ours."""
        assert document.answers is not None
        found = document.known(key) if key in document.answers else document.answers.derive(key)
        document._owed = document._owed or _asks_elements(key)
        return found

    def _own(self, document: PreparedDocument, key: Hashable) -> Any:
        """The answer on this visit alone."""
        match key:
            case (lasting.LINK_LEAVES, Analyser() as analyser):
                return document.link_leaves(analyser, self.outlinks)
        return document.known(key)

    def _is_shared(self, document: PreparedDocument, answers: Answers, key: Hashable) -> bool:
        """Whether this answer follows from the page alone, and from nothing that was asked or said on this visit."""
        if not _lasts(key):
            return False
        assert isinstance(key, tuple)
        if key[0] is lasting.SURROUNDINGS_BY_NUMBER:
            around = (lasting.SURROUNDINGS, *key[1:])
            return around in answers and self._memo.get(around) is answers[around]
        return document.untouched or not _asks_elements(key)
