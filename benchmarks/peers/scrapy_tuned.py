"""Scrapy as its documentation has it: its link extractor, its duplicate filter, tuned for concurrency.

python scrapy_tuned.py PAGES OUT SEED...
"""

import sys

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

PAGES, OUT, SEEDS = int(sys.argv[1]), sys.argv[2], sys.argv[3:]


class Peer(Spider):
    name = "peer"
    links = LinkExtractor()

    async def start(self):
        for url in SEEDS:
            yield Request(url)

    def parse(self, response):
        found = self.links.extract_links(response)
        yield {"url": response.url, "title": response.css("title::text").get(), "links": len(found)}
        for link in found:
            yield Request(link.url)


process = CrawlerProcess(
    {
        "LOG_LEVEL": "ERROR",
        "TELNETCONSOLE_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 64,
        "DOWNLOAD_DELAY": 0,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REACTOR_THREADPOOL_MAXSIZE": 20,
        "CLOSESPIDER_PAGECOUNT": PAGES,
        "FEEDS": {OUT: {"format": "jsonlines"}},
    }
)
process.crawl(Peer)
process.start()
