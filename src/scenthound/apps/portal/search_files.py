"""The search index of a portal: JSON files that the browser fetches as it needs them, so that no server has to search.

`about.json` has the number of pages and the words that are not indexed. `words-XY.json` has the words that begin with
XY: for each the pages that have it, as differences of page numbers, each followed by a weight. `pages-N.json` has
title, address, category and first words of 50 pages. The weight is that of BM25 with a fixed average length, in
tenths, so that it does not change when pages are added; the rarity of a word is worked out in the browser.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenthound.apps.portal.collect import PortalPage
from scenthound.formats import printable
from scenthound.text.stopwords import STOP_LISTS

PAGES_PER_FILE = 50
SNIPPET = 180
USUAL_LENGTH = 400  # words: what BM25 takes for the average
_STOP = STOP_LISTS["english"]


def search_files(
    entries: Sequence[PortalPage], counts: Sequence[Mapping[str, int]], categories: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """The files of the index, by name. `counts` are the words of each page, `categories` the name of its category."""
    yield "search/about.json", _json({"pages": len(entries), "perFile": PAGES_PER_FILE, "stop": sorted(_STOP)})
    shards: dict[str, dict[str, list[int]]] = {}
    last: dict[str, int] = {}
    for entry, words in sorted(zip(entries, counts, strict=True), key=lambda pair: pair[0].n):
        length = sum(words.values())
        for word, times in words.items():
            if word not in _STOP:
                listed = shards.setdefault(shard_of(word), {}).setdefault(word, [])
                listed += [entry.n - last.get(word, 0), _weight(times, length)]
                last[word] = entry.n
    for name in sorted(shards):
        yield f"search/words-{name}.json", _json(dict(sorted(shards[name].items())))
    files: dict[int, dict[str, list[str]]] = {}
    for entry, category in zip(entries, categories, strict=True):
        shown = [entry.title or entry.url, entry.url, category, printable(entry.text, SNIPPET)]
        files.setdefault(entry.n // PAGES_PER_FILE, {})[str(entry.n)] = shown
    for number, pages in files.items():
        yield f"search/pages-{number}.json", _json(pages)


def shard_of(word: str) -> str:
    """The file of a word: its first two characters, written out if they are not ASCII.

    >>> shard_of("balloon"), shard_of("δέλτα")
    ('ba', 'u3b4-3ad')
    """
    first = word[:2]
    return first if first.isascii() else "u" + "-".join(f"{ord(character):x}" for character in first)


def _weight(times: int, length: int) -> int:
    return max(1, round(10 * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * length / USUAL_LENGTH))))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
