"""Run a search. Results are ordered by a blend of how well a page matches and how relevant it is to the crawl's topic.

    score = weight * bm25 / bm25 of the best match + (1 - weight) * relevance / highest relevance in the collection

Both parts are between 0 and 1, and every result states them.

`parse_query` turns what the user types into an FTS5 expression: words, "phrases", field:word, -word, OR, word*. All
words must occur; of words joined by OR, one is enough. A field is `title`, `text`, `host` or `anchor`. Everything
passed to SQLite is quoted, so no part of a query is interpreted as syntax.
"""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from scenthound.errors import BadUsage, UnknownName
from scenthound.model import Step
from scenthound.store.text_index import BEGIN, END, EVERYTHING, FIELDS, INDEX, Filters, Match, PageSummary, TextIndex
from scenthound.text.tokens import Analyser, tokens

DAY = 86_400.0  # seconds
LONGEST = 1000  # characters of a query
MOST_TERMS = 60
_TOKEN = re.compile(
    r"""\s*(?P<minus>-)?(?:(?P<field>[^\W\d_][\w-]*):(?=\S))?(?:"(?P<phrase>[^"]*)(?P<end>"?)(?P<star>\*?)|(?P<word>[^\s"]+))"""
)
HELP = 'words, "a phrase", title:word, host:example.org, anchor:word, -excluded, this OR that, begin*'


@dataclass(frozen=True, slots=True)
class Term:
    """A word or a phrase, optionally limited to one field."""

    text: str
    field: str = ""
    is_prefix: bool = False

    def expression(self) -> str:
        quoted = '"' + self.text.replace('"', '""') + '"' + (" *" if self.is_prefix else "")
        return f"{self.field} : {quoted}" if self.field else quoted


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """All groups must match; a group matches if one of its terms does; no excluded term may occur."""

    groups: tuple[tuple[Term, ...], ...]
    excluded: tuple[Term, ...] = ()

    def expression(self) -> str:
        """The query as an FTS5 expression."""
        parts = ["(" + " OR ".join(term.expression() for term in group) + ")" for group in self.groups]
        required = " AND ".join(parts)
        if not self.excluded:
            return required
        return f"({required}) NOT (" + " OR ".join(term.expression() for term in self.excluded) + ")"


def parse_query(text: str) -> SearchQuery:
    """Parse a query. Raises `BadUsage` or `UnknownName` with a hint.

    >>> parse_query('"hot air" title:club -car').expression()
    '(("hot air") AND (title : "club")) NOT ("car")'
    """
    if len(text) > LONGEST:
        raise BadUsage(f"a query of {len(text):,} characters is too long", f"use at most {LONGEST:,}")
    groups: list[list[Term]] = []
    excluded: list[Term] = []
    is_open = False  # the last word was OR
    for term, minus, is_or in _terms(text):
        if is_or:
            if not groups or is_open:
                raise BadUsage("OR needs a word on both sides", "write it as: balloon OR airship")
            is_open = True
        elif minus:
            if is_open:
                raise BadUsage("OR can't be followed by an excluded word", "write it as: balloon OR airship -car")
            excluded.append(term)
        elif is_open:
            groups[-1].append(term)
            is_open = False
        else:
            groups.append([term])
    if is_open:
        raise BadUsage("OR needs a word on both sides", "write it as: balloon OR airship")
    if excluded and not groups:
        raise BadUsage("the query only says what to leave out", "add a word that has to occur")
    if not groups:
        raise BadUsage("the query has no words", f"write {HELP}")
    if len(excluded) + sum(map(len, groups)) > MOST_TERMS:
        raise BadUsage(f"a query of more than {MOST_TERMS} words is too long", "leave some out")
    return SearchQuery(tuple(map(tuple, groups)), tuple(excluded))


def _terms(text: str) -> list[tuple[Term, bool, bool]]:
    """The terms as (term, is excluded, is the word OR). Terms without letters or digits are skipped."""
    terms: list[tuple[Term, bool, bool]] = []
    for match in _TOKEN.finditer(text.replace("\0", " ").strip()):
        phrase, word, field = match["phrase"], match["word"] or "", (match["field"] or "").lower()
        if phrase is not None and not match["end"]:
            raise BadUsage(f'a quote is not closed: "{phrase[:60]}', 'write a phrase as "hot air"')
        if word == "OR" and not field and not match["minus"]:
            terms.append((Term(""), False, True))
            continue
        if field and field not in FIELDS:
            if word.startswith("//"):
                raise BadUsage(
                    f"a URL is not a query: {field}:{word[:80]}", f"search for its host: host:{word[2:].split('/')[0]}"
                )
            raise UnknownName.among("field", field, FIELDS, f"there are: {', '.join(FIELDS)}; or put it in quotes")
        is_prefix = bool(match["star"]) or word.endswith("*")
        words = (phrase if phrase is not None else word).strip("*").strip()
        if any(character.isalnum() for character in words):
            terms.append((Term(words, field, is_prefix), bool(match["minus"]), False))
    return terms


def parse_day(text: str) -> float:
    """The timestamp of the beginning of a day, in UTC. Raises `BadUsage`."""
    try:
        return datetime.strptime(text.strip(), "%Y-%m-%d").replace(tzinfo=UTC).timestamp()
    except ValueError:
        raise BadUsage(f"not a day: `{text[:40]}`", "write it as 2026-01-31") from None


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
