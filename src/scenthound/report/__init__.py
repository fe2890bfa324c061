"""The report of a crawl, and answers to questions about it: what was found, why was a page fetched or not.

Commands and the desk read an open crawl folder with this package. `crawl_facts` gathers the figures, which
`scenthound status` prints and `crawl_report` writes as one HTML file, with stored `copies` of the best pages beside it.
`comparison_page` compares two crawls, for `scenthound demo`. `explain` is the answer to `scenthound explain`, `causes`
says why a crawl brought no pages; `miss_reasons` and `score_phrases` put recorded reasons and scores into words.

`report_layout` and `axes` are shared with the reports of experiments (`lab.report`); `charts` draws the charts of a
crawl; `web_text` makes text and links from the web safe to show.
"""
