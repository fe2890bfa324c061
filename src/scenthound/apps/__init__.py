"""Applications: what people use topical crawls for. Each is a thin layer over crawl folders.

`related` finds organisations of the same kind as a few given ones; `site_map` shows what a site has on a topic;
`portal` makes a browsable, searchable site of a collection; `ask` answers a question with a short crawl; `companion`
looks ahead while somebody browses. They return plain data or files; the command line, the desk and the tools for agents
show it.
"""
