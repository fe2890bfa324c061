"""Process pages as they are fetched: print those that contain a word, and stop after three.

`stream` works in `for` and in `async for`. Leaving the loop stops the crawl and saves it, so that it can be resumed.

    python examples/stream_pages.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.topic_list import BedTopic


def first_three(topic: BedTopic, proxy: str, out: Path) -> int:
    found, word = 0, topic.keywords.split()[-1]
    for page in scenthound.stream(topic.keywords, topic.seeds, pages=60, out=out, proxy=proxy, delay=0):
        if word in page.text.lower():
            print(f"{page.relevance:.2f}  {page.title}: {page.text[:60]}")
            found += 1
        if found == 3:
            break  # stops the crawl and saves it; `scenthound resume` would continue it
    return found


def main(out: Path) -> int:
    web = GeneratedWeb(300, seed=3)
    with serving(web) as address:
        found = first_three(web.topics[0], f"http://{address}", out)
    with scenthound.CrawlFolder.look(out) as folder:
        print(f"{found} pages contain the word among the first {len(folder.history)}")
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(scratch) / "crawl")
