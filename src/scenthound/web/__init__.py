"""From bytes of the web to our data types. Only `fetch` and `connection` touch the network; the rest is pure.

`decode` and `charset` turn a body into text, `guard` and `html_document` text into title, text and links. `robots`,
`metarobots` and `sitemap_file` read what a site says about itself; `addresses` says where a crawler must not connect.
"""
