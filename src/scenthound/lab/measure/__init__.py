"""Measure the finished crawls of an experiment and compare their crawlers.

`scenthound lab measure` and `lab compare`, `lab.lab_functions` and the desk call this package. It reads an experiment's
trails and known answers, and writes the Parquet tables that `lab.report` draws.

`measure` computes all tables, with the metrics of `metrics` (one function per metric) and the page measures of
`quality`; `by_cost` takes the values after a number of requests or virtual seconds instead of pages; `equal_pages`
loads values so that crawls of different length can be compared; `statistics` has the means, standard errors and tests,
and tells which topics are independent; `compare_crawlers` answers which crawler is better
and measures first if the tables are out of date.
"""
