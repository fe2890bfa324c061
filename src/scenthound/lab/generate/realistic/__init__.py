"""The realistic generated web: sites of many subjects that link mostly to themselves, calibrated on recorded webs.

`sites` plans hosts, sections and the role of each page; `vocabulary` has the words, `text` draws them; `links` decides
who links to whom; `pages` renders HTML; `web` puts them together. What a page says is a function of the seed number and
the page's number. docs/concepts/generated-web.md has the measures beside those of recorded webs.
"""
