"""Two crawls at the same time inside a program with an event loop that does other work as well.

`scenthound.crawl` blocks until the crawl ends. A program with an event loop awaits `crawl_async` instead.

    python examples/crawl_in_asyncio.py
"""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import scenthound
from scenthound.lab.beds.bed_server import serving
from scenthound.lab.generate.simple_web import GeneratedWeb
from scenthound.topic_list import BedTopic


async def crawl(topic: BedTopic, proxy: str, out: Path) -> int:
    with await scenthound.crawl_async(topic.keywords, topic.seeds, pages=30, out=out, proxy=proxy, delay=0) as folder:
        return len(folder.history)


async def heartbeat() -> None:
    """The rest of the program, which keeps running while pages are fetched."""
    while True:
        await asyncio.sleep(0.2)
        print("still here")


async def main(out: Path) -> list[int]:
    web = GeneratedWeb(300, seed=3)
    with serving(web) as address:
        background = asyncio.create_task(heartbeat())
        crawls = [crawl(topic, f"http://{address}", out / topic.id) for topic in web.topics[:2]]
        pages = await asyncio.gather(*crawls)
        background.cancel()
    for topic, count in zip(web.topics, pages, strict=False):
        print(f"{topic.keywords}: {count} pages")
    return list(pages)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        asyncio.run(main(Path(scratch)))
