"""Metrics of trails, quality of pages, and statistical comparisons of crawlers."""
