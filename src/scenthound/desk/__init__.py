"""The desk: start, watch, steer and search crawls in the browser.

Serves HTML pages and a JSON API on a loopback address. It sees crawls only through their folders: a crawl never waits
for the desk, and a desk that dies harms nothing. Started by `scenthound desk` and `scenthound companion`. `apps` has
the five applications, `agent_tools` the tools for AI agents, `commands` the commands of all three.

* `web_app` builds the application from the `ROUTES` of all modules; `security` and `pairing` decide who may do what.
* `crawl_folders` keeps the list of open folders; `crawl_watch` reads the figures of a crawl, which may be running;
  `start_processes` and `jobs` run crawls, indexers and other commands as separate processes.
* `*_api` modules are the JSON API. Each operation is declared once, with its OpenAPI description: see `api_operations`,
  `request_parameters` and `shapes`; `api_base` has the code they share.
* `live_queries` and `live_lists` read a crawl that another process may be writing.
* `*_data` modules and `crawl_data` produce the JSON data that the API returns and the pages show.
* `*_pages` modules gather what one page shows; `main_pages` has the routes of the main pages. `page_templates` renders
  the templates in `templates/`; `static/` has the scripts and styles.
"""
