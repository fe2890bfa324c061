"""The report of a crawl, and answers to questions about it, such as why a page was fetched or not.

Commands and the desk use this package on an open crawl folder. `crawl_facts` gathers the figures, which
`scenthound status` prints and `crawl_report` writes as one HTML file, with stored `copies` of the best pages beside it.
`comparison_page` compares two crawls, for `scenthound demo`. `explain` implements `scenthound explain`: why a page was
fetched, or why not; `causes` explains why a crawl fetched no pages; `long_rests` names hosts that may not be requested
for long; `wording` puts recorded reasons, counts of links and scores into words.

`charts` draws every chart of ours, also those of the reports of experiments (`lab.report`) and of the desk. The
pages are in `templates/`; `report.html`, `macros.html` and `house.css` there are shared with other reports.
"""
