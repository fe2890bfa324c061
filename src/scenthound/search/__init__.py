"""Full-text search over the pages of a crawl.

`indexing` builds the index of a folder from its history and its WARC files, and follows a running crawl. `results`
parses what the user typed and runs the search; its order blends how well the text matches with how relevant the page is
to the topic of the crawl. `portal_categories` knows which pages are in a category of the portal. The index itself is
`store.text_index`, in `DIR/index`; it can always be rebuilt.

Used by the commands `search` and `index`, by the desk and the agent tools, and by the seed source `collections`.
"""

from scenthound.search.indexing import Indexer, index_folder
from scenthound.search.results import (
    DAY,
    WEIGHT,
    Results,
    SearchQuery,
    SearchResult,
    like,
    parse_day,
    parse_query,
    relevance_of,
    search,
    snippets,
)
from scenthound.store.text_index import Filters

__all__ = [
    "DAY",
    "WEIGHT",
    "Filters",
    "Indexer",
    "Results",
    "SearchQuery",
    "SearchResult",
    "index_folder",
    "like",
    "parse_day",
    "parse_query",
    "relevance_of",
    "search",
    "snippets",
]
