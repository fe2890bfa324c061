"""What a page says, once, and who reads it.

`landing` decides what a response means. Of an HTML page `read` makes a `record`: immutable columns of text, links,
leaves and elements, which travel and rest as bytes. `views` are pure functions of a record: what it says about each
of its links. `page` joins a record with the candidate that led to it; that is what a strategy is handed. With
`keyword_similarity` it is compared with the topic.

With a `pool` of `worker` processes pages are read on another core. `wire` has the messages between them. A worker reads
a page by the same calls as the crawl would, so the result is the same.
"""
