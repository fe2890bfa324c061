"""The report of a crawl, and answers to questions about it, such as why a page was fetched or not.

Commands and the desk use this package on an open crawl folder. `crawl_facts` gathers the figures, which
`scenthound status` prints and `crawl_report` writes as one HTML file, with stored `copies` of the best pages beside it.
`comparison_page` compares two crawls, for `scenthound demo`. `explain` implements `scenthound explain`, `causes`
explains why a crawl fetched no pages, `refusals` why links were not followed, and `refused_links` why a single one was
not; `long_rests` names hosts that may not be requested for long; `miss_reasons` and `score_phrases` put recorded
reasons and scores into words.

`charts` draws every chart of ours, also those of the reports of experiments (`lab.report`) and of the desk. The
pages are in `templates/` (of the laboratory still in `report_layout`); `report.html`, `macros.html` and `house.css`
there are shared with `lab.report`.
"""
