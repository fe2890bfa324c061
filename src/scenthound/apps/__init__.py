"""Applications: what people use topical crawls for. Each is a thin layer over crawl folders.

`portal` makes a browsable, searchable site of a collection; `ask` answers a question with a short crawl. They read what
a crawl has stored and return plain data or files; the command line and the desk show it.
"""
