"""Turn what the user types into an FTS5 expression: words, "phrases", field:word, -word, OR, word*.

All words must occur; of words joined by OR, one is enough. A field is `title`, `text`, `host` or `anchor`. Everything
passed to SQLite is quoted, so no part of a query is interpreted as syntax.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from scenthound.errors import BadUsage, UnknownName
from scenthound.store.text_index import FIELDS

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
