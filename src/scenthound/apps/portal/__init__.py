"""A collection as a site (CORA): categories, pages with authors and dates, citations, search in the browser.

`collect` reads the pages of a crawl, `stated` what a page says of its authors and dates, `references` joins reference
lists to collected papers, `vectors` compares pages, `categories` sorts them, `search_files` writes the search index,
`pages` the HTML; `build` puts them together and writes only files that have changed.
"""

from scenthound.apps.portal.build_portal import Portal, build_portal

__all__ = ["Portal", "build_portal"]
