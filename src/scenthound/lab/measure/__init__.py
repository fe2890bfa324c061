"""Measure the finished crawls of an experiment and compare their crawlers.

`scenthound lab measure` and `lab compare`, `lab.lab_functions` and the desk call this package. It reads an experiment's
trails and known answers, and writes the Parquet tables that `lab.report` draws.

`measure` computes all tables, with the metrics of `metrics` (one function per metric) and the page measures of
`quality`; `by_requests` and `by_time` take the values after a number of requests or virtual seconds instead of pages;
`equal_pages` loads values so that crawls of different length can be compared; `groups` tells which topics are
independent; `statistics` has the means, standard errors and tests; `compare_crawlers` answers which crawler is better
and measures first if the tables are out of date.
"""
