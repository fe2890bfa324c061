"""Turn a collection into a static website with categories, authors, dates, citations and search, like Cora.

Input is a crawl folder; output is a folder that any web server can publish. `scenthound portal` and the desk build it.

* `collect` reads the pages of a crawl; `page_metadata` extracts title, authors and date from a page.
* `citations` finds collected papers in reference lists.
* `page_vectors` compares and clusters pages; `categories` assigns them to categories, which `naming` names.
* `portal_html` generates the HTML, and `search_files` the search index.
* `build_portal` runs these steps and writes only the files that have changed.
"""

from scenthound.desk.apps.portal.build_portal import Portal, build_portal

__all__ = ["Portal", "build_portal"]
