"""Fetch pages and parse what servers send. Only `fetch` and `connection` touch the network; the rest is pure.

The live driver in `loop` calls `fetch`, which returns a `Response` or a `Failure`. `page` uses the functions here to
turn a response into a page; `loop` uses them to read robots.txt files and sitemaps.

* Network: `fetch` (one HTTP request), `connection` (limits on what arrives), `addresses` (where a crawler must not
  connect).
* A body as text: `content_type` (media types and character encodings), `decode` (decompression).
* HTML: `guard` (makes any page fast to parse), `html_document` (title, text and links).
* Other: `robots` (robots.txt, robots directives and refresh), `sitemap_file`, `bookmarks_file` (of a browser).
"""
