"""The desk: start, watch, steer and search crawls in the browser.

Made here: pages and a JSON API, served by `app` on a loopback address. `collections` knows the folders that are shown.
`watching` reads a crawl that may be running, `views` makes the JSON that scripts and pages share, `crawl_api`,
`steering_api` and `search_api` offer it, `pages` shows it as HTML (`markup`, `layout`). An address of the API is
declared once, with what the OpenAPI description says of it (`operations`, `parameters`, `shapes`). `security` decides
who may do what. `starting` starts crawls and indexers as processes of their own. Other pages have a file each, with
their routes: the map (`map_data`, `map_view`), agents (`population`, `population_view`), experiments (`lab_api`,
`lab_view`).

The desk sees crawls through their folders only. A crawl never waits for it, and a desk that dies harms nothing.
"""
