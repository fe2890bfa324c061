"""Fetch pages and parse what servers send. Only `fetch` and `connection` touch the network; the rest is pure.

The live driver in `loop` calls `fetch`, which returns a `Response` or a `Failure`. `page` uses the functions here to
turn a response into a page; `loop` uses them to read robots.txt files and sitemaps.

* Network: `fetch` (one HTTP request), `connection` (limits on what arrives), `fetch_failures` (turns errors into a
  `Failure`), `request_headers`, `addresses` (where a crawler must not connect).
* A body as text: `mime` (media types), `decode` (decompression), `charset` (character encodings).
* HTML: `guard` (makes any page fast to parse), `html_document` (title, text and links), `link_context` (the text around
  links), `metarobots` (robots directives and refresh), `site_names` (the name of a site's owner).
* Other files: `robots` (robots.txt), `sitemap_file`, `bookmarks_file` (the bookmarks of a browser).
"""
