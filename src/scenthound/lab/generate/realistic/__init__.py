"""The realistic generated web: sites of many subjects that link mostly to themselves, calibrated on recorded webs.

`habits` has every setting with its calibrated default. `site_plan` plans hosts, sections and the role of each page;
`link_plan` decides which pages a page links to; `word_tables` has the words, `realistic_text` draws from them,
`realistic_pages` renders HTML, and `realistic_web` is the web itself: pages by number or URL, and topics with known
answers. A page is a function of the seed number and the page's number, so nothing is stored but the plan.

`web_kinds` and `on_the_fly`, one package up, turn the web into a bed. docs/concepts/generated-web.md compares its
measures with those of recorded webs.
"""
