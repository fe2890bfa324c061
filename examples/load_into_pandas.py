"""A crawl folder as a pandas table: one row a page, and the mean similarity by depth.

`trail_line` gives a page as plain data, with the keys that `scenthound trail` prints. Needs `pip install pandas`.

    python examples/load_into_pandas.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas

import scenthound
from scenthound.formats import trail_line
from scenthound.lab.beds.serve import serving
from scenthound.lab.generate.web import GeneratedWeb


def table(path: Path) -> pandas.DataFrame:
    """The trail of the crawl in this folder."""
    with scenthound.CrawlFolder.look(path) as folder:
        return pandas.DataFrame([trail_line(step) for step in folder.history.trail()])


def main(out: Path) -> pandas.DataFrame:
    web = GeneratedWeb(300, seed=3)
    topic = web.topics[0]
    with serving(web) as address:
        scenthound.crawl(topic.keywords, topic.seeds, pages=40, out=out, proxy=f"http://{address}", delay=0).close()
    pages = table(out)
    print(pages[["n", "url", "similarity", "depth"]].head())
    print(pages.groupby("depth")["similarity"].mean())
    return pages


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "crawl")
