"""The report of a crawl: `crawl_facts` gathers the figures, `crawl_report` writes them as one HTML file.

`layout`, `axes` and `charts` are the look that the reports of crawls and of experiments share. `explain` and `causes`
answer two questions: why was this page (not) fetched, and why did a crawl bring no pages?
"""
