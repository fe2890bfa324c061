"""The report of an experiment: tables, curves and tests in one HTML file, and the same numbers as downloads.

`scenthound lab report` writes the report into the experiment's folder; the desk shows parts of it for a reader's own
choice. The numbers come from the tables of `lab.measure`, the page layout and charts from `scenthound.report`.

`experiment_report` puts the page together from `experiment_facts`, which reads the data once. Its sections are in
`curves`, `significance`, `requests_section`, `virtual_time_section`, `more_sections` (search length,
cost, overlap, topics, problems) and `easy_topics`. `formatting` formats text and numbers.

`reader_choice` has the numbers for chosen crawlers, topics and a metric; `downloads` writes them as CSV, LaTeX and SVG,
and `paper_figures` writes the figures of the papers with it.
"""
