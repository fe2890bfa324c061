"""Run a search. Results are ordered by a blend of how well a page matches and how relevant it is to the crawl's topic.

    score = weight * bm25 / bm25 of the best match + (1 - weight) * relevance / highest relevance in the collection

Both parts are between 0 and 1, and every result states them.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scenthound.errors import BadUsage
from scenthound.model import Step
from scenthound.search.query import Term, parse_query
from scenthound.store.text_index import BEGIN, END, EVERYTHING, INDEX, Filters, Match, PageSummary, TextIndex
from scenthound.text.tokens import Analyser, tokens

WEIGHT = 0.6
LIKE_TERMS = 20  # words of a page that "more like this" searches for
COMMON = 0.2  # a word in a larger share of all pages is not distinctive …
FEW = 10  # … unless it occurs in at most this many pages
MOST = 1000  # results of one search


def relevance_of(step: Step) -> float:
    """How relevant a page is to the topic of its crawl, from 0 to 1."""
    return min(max(step.relevance, 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One result. Title and snippet are split into (text, flag); the flag is True for words that were searched for."""

    url: str
    host: str
    title: tuple[tuple[str, bool], ...]
    snippet: tuple[tuple[str, bool], ...]
    score: float
    text_part: float
    """bm25 as a share of the best match."""
    topic_part: float
    """Relevance as a share of the highest in the collection."""
    relevance: float
    language: str
    time: float
    page: int

    def as_plain(self) -> dict[str, Any]:
        return {
            "url": self.url,
            "host": self.host,
            "title": "".join(text for text, _ in self.title),
            "snippet": [{"text": text, "marked": marked} for text, marked in self.snippet],
            "score": round(self.score, 6),
            "text_part": round(self.text_part, 6),
            "topic_part": round(self.topic_part, 6),
            "relevance": round(self.relevance, 6),
            "language": self.language,
            "time": self.time,
            "page": self.page,
        }


@dataclass(frozen=True, slots=True)
class Results:
    """The best results of a search, how many there are in all, and how they are ordered."""

    total: int
    indexed: int
    """The number of pages in the index."""
    weight: float
    found: list[SearchResult] = field(default_factory=list)

    @property
    def order(self) -> str:
        """How the results are ordered, in words."""
        text = round(100 * self.weight)
        return f"text match {text} %, relevance to the topic {100 - text} %"

    def as_plain(self) -> dict[str, Any]:
        return {
            "total": self.total,
            "indexed": self.indexed,
            "weight": self.weight,
            "order": self.order,
            "results": [result.as_plain() for result in self.found],
        }


def search(
    folder: Path, query: str, filters: Filters = EVERYTHING, limit: int = 10, offset: int = 0, weight: float = WEIGHT
) -> Results:
    """Search the index without updating it. An empty query lists all pages that pass the filters, by relevance."""
    with TextIndex(folder / INDEX) as index:
        expression = parse_query(query).expression() if query.strip() else None
        matches = index.pages(filters) if expression is None else index.matches(expression, filters)
        return _ranked(index, matches, expression, limit, offset, weight if expression else 0.0)


def like(
    folder: Path, url: str, filters: Filters = EVERYTHING, limit: int = 10, offset: int = 0, weight: float = WEIGHT
) -> Results:
    """Find pages that share the most distinctive words of a page. Raises `BadUsage` if it is not in the index."""
    with TextIndex(folder / INDEX) as index:
        number = index.number_of(url)
        if number is None:
            raise BadUsage(f"no such page in the index: {url[:200]}", "use a page that the crawl has fetched")
        terms = distinctive_terms(index, number)
        if not terms:
            return Results(0, len(index), weight)
        expression = " OR ".join(Term(term).expression() for term in terms)
        matches = [match for match in index.matches(expression, filters) if match.number != number]
        return _ranked(index, matches, expression, limit, offset, weight)


def snippets(folder: Path, urls: Sequence[str], words: str) -> dict[str, tuple[tuple[str, bool], ...]]:
    """For each page in the index, the passage with the most of these words, marked."""
    terms = list(dict.fromkeys(tokens(words)))[:LIKE_TERMS]
    expression = " OR ".join(Term(term).expression() for term in terms) or None
    passages: dict[str, tuple[tuple[str, bool], ...]] = {}
    with TextIndex(folder / INDEX) as index:
        for url in urls:
            if (number := index.number_of(url)) is not None:
                snippet = index.summary(number, expression).snippet or index.summary(number, None).snippet
                passages[url] = _marked(snippet)
    return passages


def distinctive_terms(index: TextIndex, number: int) -> list[str]:
    """The most distinctive words of a page, by tf-idf, each as it is spelled in the page."""
    analyser, spellings, counts = Analyser(), dict[str, str](), Counter[str]()
    title, text = index.text_of(number)
    words = tokens(f"{title} {text}")
    for word, term in zip(words, analyser.term_of_each(words), strict=True):
        if term is not None and not term.isdigit() and len(term) > 2:
            spellings.setdefault(term, word)
            counts[term] += 1
    pages = len(index)
    weights: dict[str, float] = {}
    for term, times in counts.most_common(10 * LIKE_TERMS):
        pages_with = index.count_pages_with(term)
        if 2 <= pages_with <= max(COMMON * pages, FEW):
            weights[term] = (1 + math.log(times)) * math.log((pages + 1) / pages_with)
    return [spellings[term] for term in heapq.nlargest(LIKE_TERMS, weights, key=lambda term: (weights[term], term))]


def _ranked(
    index: TextIndex, matches: list[Match], expression: str | None, limit: int, offset: int, weight: float
) -> Results:
    if not 0.0 <= weight <= 1.0:
        raise BadUsage(f"not a weight: {weight}", "use a number between 0 (topic only) and 1 (text only)")
    if not 0 <= limit <= MOST or offset < 0:
        raise BadUsage(f"not a number of results: {limit}", f"use a number between 0 and {MOST:,}")
    best = max((match.text_score for match in matches), default=0.0) or 1.0
    highest = index.highest_relevance() or 1.0

    def score(match: Match) -> float:
        return weight * match.text_score / best + (1 - weight) * match.relevance / highest

    top = heapq.nlargest(offset + limit, matches, key=lambda match: (score(match), -match.number))[offset:]
    results = [_result(index.summary(match.number, expression), score(match), match, best, highest) for match in top]
    return Results(len(matches), len(index), weight, results)


def _result(page: PageSummary, score: float, match: Match, best: float, highest: float) -> SearchResult:
    return SearchResult(
        url=page.url,
        host=page.host,
        title=_marked(page.title),
        snippet=_marked(page.snippet),
        score=score,
        text_part=match.text_score / best,
        topic_part=match.relevance / highest,
        relevance=page.relevance,
        language=page.language,
        time=page.time,
        page=page.page,
    )


def _marked(text: str) -> tuple[tuple[str, bool], ...]:
    """Split a text at the marks of the index.

    >>> _marked("the \\x02balloon\\x03 club")
    (('the ', False), ('balloon', True), (' club', False))
    """
    parts: list[tuple[str, bool]] = []
    for index, piece in enumerate(text.split(BEGIN)):
        marked, _, rest = piece.partition(END) if index else ("", "", piece)
        if index and marked:
            parts.append((marked, True))
        if rest:
            parts.append((rest, False))
    return tuple(parts)
