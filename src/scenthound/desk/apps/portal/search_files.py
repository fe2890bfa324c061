"""Generate the search index of a portal: JSON files that the browser fetches on demand, without a search server.

`about.json` has the number of pages and the stop words. `words-XY.json` has the words that begin with XY, each with a
posting list: differences between page numbers, each followed by a weight. `pages-N.json` has the title, URL, category
and snippet of up to 50 pages. The weight is the BM25 term weight, in tenths, with a fixed average length so that it
does not change when pages are added; the browser computes the inverse document frequency.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenthound.desk.apps.portal.collect import PortalPage
from scenthound.formats import printable
from scenthound.text.tokens import STOP_LISTS

PAGES_PER_FILE = 50
SNIPPET = 180
USUAL_LENGTH = 400  # words; the average document length for BM25
_STOP = STOP_LISTS["english"]


def search_files(
    entries: Sequence[PortalPage], counts: Sequence[Mapping[str, int]], categories: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield the index files as (name, content). `counts` and `categories` have one entry per page."""
    yield "search/about.json", _json({"pages": len(entries), "perFile": PAGES_PER_FILE, "stop": sorted(_STOP)})
    shards: dict[str, dict[str, list[int]]] = {}
    last_page: dict[str, int] = {}
    for entry, words in sorted(zip(entries, counts, strict=True), key=lambda pair: pair[0].n):
        length = sum(words.values())
        for word, count in words.items():
            if word not in _STOP:
                postings = shards.setdefault(shard_of(word), {}).setdefault(word, [])
                postings += [entry.n - last_page.get(word, 0), _weight(count, length)]
                last_page[word] = entry.n
    for name in sorted(shards):
        yield f"search/words-{name}.json", _json(dict(sorted(shards[name].items())))
    files: dict[int, dict[str, list[str]]] = {}
    for entry, category in zip(entries, categories, strict=True):
        summary = [entry.title or entry.url, entry.url, category, printable(entry.text, SNIPPET)]
        files.setdefault(entry.n // PAGES_PER_FILE, {})[str(entry.n)] = summary
    for number, pages in files.items():
        yield f"search/pages-{number}.json", _json(pages)


def shard_of(word: str) -> str:
    """The shard of a word: its first two characters, as code points if they are not ASCII.

    >>> shard_of("balloon"), shard_of("δέλτα")
    ('ba', 'u3b4-3ad')
    """
    first = word[:2]
    return first if first.isascii() else "u" + "-".join(f"{ord(character):x}" for character in first)


def _weight(count: int, length: int) -> int:
    return max(1, round(10 * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length / USUAL_LENGTH))))


def _json(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
