"""The crawl loop: it decides when to fetch what, but never what is relevant.

`core.Crawl` takes seeds from its caller and candidates from the strategy, keeps them in the frontier, and returns
actions to a driver: `live` (HTTP on asyncio) or `replay` (a test bed). The driver passes each result to `Crawl.landed`.
Pages then go to the repository, every page and miss to the history, and the strategy's new candidates to the frontier,
until the budget is spent or no URL is left. `wiring` builds crawls for commands and scripts, `lab` for experiments.

* Choose a URL: `selection` (which candidate is next), `fetch_order` (whether a better URL waits for its host),
  `admission` (may it be requested now: robots.txt, limits), `scope` (which URLs are never requested),
  `trap_watch` and `suspended_urls` (which URLs look like traps, and wait behind all others).
* Talk to the driver: `messages` (actions and results), `replies` (turns an HTTP reply into a result), `slots` (how many
  requests are in flight), `host_timeouts`, `connectivity` (detects that our own connection is down).
* Process a result: `plugin_calls` (strategy and judge), `new_urls` (links, redirects and sitemaps enter the frontier),
  `service_files` (robots.txt and sitemaps), `recording` (history), `figures` (harvest, curve, speed, what is
  left to find), `link_balance` (what became of every link).
* Configure a crawl: `settings`, `crawl_toml` (the request file), `identity` (User-Agent), `use_model`.
* Keep a crawl: `folder` and `folder_files` (the crawl folder), `snapshots` and `stored_hosts` (saved state), `resume`,
  `plugin_failure` (which plug-in ended it), `stored_page` and `page_rows` (read its pages), `steering` (orders from
  other processes), `change_target` (carries out one of them: look for pages, or for sites).
"""
