"""Turns a collection into a static website (CORA): categories, authors and dates, citations, search in the browser.

Input is a crawl folder, output a folder that any web server can publish; `scenthound portal` and the desk build it.

* `collect` reads the pages of a crawl; `page_metadata` extracts title, authors and date from a page.
* `citations` matches reference lists with collected papers.
* `page_vectors` compares and clusters pages; `categories` assigns them to categories, which `naming` names.
* `portal_html` writes the HTML, `search_files` the search index.
* `build_portal` runs these steps and writes only the files that have changed.
"""

from scenthound.apps.portal.build_portal import Portal, build_portal

__all__ = ["Portal", "build_portal"]
