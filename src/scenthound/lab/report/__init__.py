"""The report of an experiment: tables, curves and tests in one HTML file, and the same numbers as downloads.

`scenthound lab report` writes the report into the experiment's folder; the desk shows parts of it for a reader's own
choice. The numbers come from the tables of `lab.measure`, the frame of the page and charts from `scenthound.report`.

`experiment_report` gathers the values of the page from `experiment_facts`, which reads the data once;
`templates/experiment.html` shows them. `formatting` says how names and numbers are shown.

`reader_choice` has the numbers for chosen crawlers, topics and a metric; `downloads` writes them, and the figures of
the papers, as CSV, LaTeX and SVG.
"""
