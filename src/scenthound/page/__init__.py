"""Reading pages in another process: the second core of a machine whose first one fetches, ranks and stores.

`wire` is how a reply goes out and how what was read of it comes back, as bytes that hold nothing but text and
numbers. `worker` is the process: replies in, answers out, until its input ends. `readers.Readers` is the crawl's end
of it. A worker reads a page by the same calls as the crawl would (`web.landing`, `text.tokens`), so nobody can tell
who read it; what it does not send, the tree, is made anew where a strategy asks for it.
"""
