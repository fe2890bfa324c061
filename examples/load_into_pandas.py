"""A crawl folder as a pandas data frame with one row per page, and the mean relevance by depth.

Needs `pip install "scenthound[pandas]"`.

    python examples/load_into_pandas.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import pandas

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb


def main(out: Path) -> pandas.DataFrame:
    web = GeneratedWeb(300, seed=3)
    topic = web.topics[0]
    with serving(web) as address:
        scenthound.crawl(topic.keywords, topic.seeds, pages=40, out=out, proxy=f"http://{address}", delay=0).close()
    with scenthound.CrawlFolder.look(out) as folder:
        table = folder.to_pandas()
        best = max(folder.pages(), key=lambda page: page.relevance)
        page = folder.open(best.url)
        print(f"best page: {page.title}, with {len(page.links)} links")
    print(table[["n", "host", "relevance", "depth"]].head())
    print(table.groupby("depth")["relevance"].mean())
    return table


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "crawl")
