"""The HTML report of an experiment: tables, curves and tests in one file."""
