"""The desk: start, watch, steer and search crawls in the browser.

Made here: pages and a JSON API, served by `app` on a loopback address. `collections` knows the folders that are shown.
`watching` reads a crawl that may be running, `views` makes the JSON that scripts and pages share, `api` offers it,
`pages` shows it as HTML (`markup`, `layout`), `openapi` describes it. `security` decides who may do what. `starting`
starts crawls and indexers as processes of their own. Pages that came later have a file each, with their routes: the
map (`map_data`, `map_view`), agents (`population`, `population_view`), experiments (`lab_api`, `lab_view`).

The desk sees crawls through their folders only. A crawl never waits for it, and a desk that dies harms nothing.
"""
