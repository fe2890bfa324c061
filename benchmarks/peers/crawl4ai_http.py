"""Crawl4AI without a browser, in its prefetch mode (HTML and links, no Markdown), breadth-first, robots obeyed.

python crawl4ai_http.py PAGES OUT SEED...
"""

import asyncio
import json
import sys

from crawl4ai import AsyncWebCrawler, CacheMode, CrawlerRunConfig
from crawl4ai.async_crawler_strategy import AsyncHTTPCrawlerStrategy
from crawl4ai.deep_crawling import BFSDeepCrawlStrategy

PAGES, OUT, SEEDS = int(sys.argv[1]), sys.argv[2], sys.argv[3:]


async def main() -> None:
    config = CrawlerRunConfig(
        deep_crawl_strategy=BFSDeepCrawlStrategy(max_depth=1000, include_external=True, max_pages=PAGES),
        prefetch=True,
        check_robots_txt=True,
        cache_mode=CacheMode.BYPASS,
        semaphore_count=64,
        mean_delay=0.0,
        max_range=0.0,
        stream=True,
        verbose=False,
    )
    fetching = AsyncHTTPCrawlerStrategy(max_connections=64)
    with open(OUT, "w", encoding="utf-8") as out:
        async with AsyncWebCrawler(crawler_strategy=fetching, verbose=False) as crawler:
            async for result in await crawler.arun(SEEDS[0], config=config):
                if result.success:
                    links = sum(len(found) for found in result.links.values())
                    out.write(json.dumps({"url": result.url, "links": links}) + "\n")


asyncio.run(main())
