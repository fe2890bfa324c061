"""Applications built on topical crawls. Each is a thin layer over crawl folders.

* `ask` finds pages for a question with a short crawl.
* `portal` turns a collection into a website with categories and search.
* `site_map` shows what a site has on a topic, as a tree.
* `related` finds organisations similar to a few examples.
* `companion` fetches pages ahead while a person browses, and suggests links.

They return plain data or write files. The command line, the desk and the tools for AI agents present the results.
"""
