"""Full-text search over the pages of a crawl.

`indexing` makes the index of a folder from its history and its WARC files, and follows a running crawl; `query` reads
what a person typed; `results` answers it, in an order that blends how well the text matches with how relevant the page
is to the topic of the crawl. The index is in `DIR/index`; everything in it can be made again.
"""

from scenthound.search.indexing import Indexer, index_folder
from scenthound.search.query import DAY, SearchQuery, parse_day, parse_query
from scenthound.search.results import WEIGHT, Found, Results, like, relevance_of, search, snippets
from scenthound.store.text_index import Filters

__all__ = [
    "DAY",
    "WEIGHT",
    "Filters",
    "Found",
    "Indexer",
    "Results",
    "SearchQuery",
    "index_folder",
    "like",
    "parse_day",
    "parse_query",
    "relevance_of",
    "search",
    "snippets",
]
