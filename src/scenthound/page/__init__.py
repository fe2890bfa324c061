"""From a response to a page that a strategy can read.

`landing` decides what a response means: a page, a miss or a redirect. For an HTML page, `read` makes a `record` within
its limits: immutable columns of text and links, and of leaves and elements (`tree_columns`), which are sent between
processes and stored as bytes. `page.Page` joins a record with the candidate that led to it; the loop hands it to the
strategy and to the judge.

`views` are pure functions of a record that return the text around its links. `link_text` is another, for learners, and
`keyword_similarity` compares a page with the topic. `pdf` turns PDF files into HTML, in a process that runs `read_pdf`.
`main_text` and `references` serve exports and reports.

With a `pool` of `worker` processes, pages are read on other cores; `wire` has the messages. A worker makes the same
calls as the crawl would, so the result is the same.
"""
