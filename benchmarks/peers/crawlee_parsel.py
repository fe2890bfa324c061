"""Crawlee's fastest HTTP crawler (Parsel, storage in memory), robots obeyed, its own link finder and seen-set.

python crawlee_parsel.py PAGES OUT SEED...
"""

import asyncio
import json
import logging
import sys
import warnings
from datetime import timedelta

from crawlee import ConcurrencySettings
from crawlee.crawlers import ParselCrawler, ParselCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

PAGES, OUT, SEEDS = int(sys.argv[1]), sys.argv[2], sys.argv[3:]
warnings.simplefilter("ignore")
logging.disable(logging.WARNING)


async def main() -> None:
    crawler = ParselCrawler(
        respect_robots_txt_file=True,
        max_requests_per_crawl=PAGES,
        max_request_retries=0,
        use_session_pool=False,
        storage_client=MemoryStorageClient(),
        concurrency_settings=ConcurrencySettings(min_concurrency=50, desired_concurrency=64, max_concurrency=200),
        statistics_log_format="inline",
        request_handler_timeout=timedelta(seconds=300),
    )
    with open(OUT, "w", encoding="utf-8") as out:

        @crawler.router.default_handler
        async def handle(context: ParselCrawlingContext) -> None:
            title = context.selector.css("title::text").get()
            out.write(json.dumps({"url": context.request.url, "title": title}) + "\n")
            await context.enqueue_links(strategy="all")

        await crawler.run(SEEDS)


asyncio.run(main())
