"""Scrapy written for speed: plain href xpath, a seen-set of its own, no duplicate filter, uvloop, all extras off.

python scrapy_fast.py PAGES OUT SEED...
"""

import sys

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

PAGES, OUT, SEEDS = int(sys.argv[1]), sys.argv[2], sys.argv[3:]


class Peer(Spider):
    name = "peer"
    seen = set(SEEDS)

    async def start(self):
        for url in SEEDS:
            yield Request(url, dont_filter=True)

    def parse(self, response):
        hrefs = response.xpath("//a/@href").getall()
        yield {"url": response.url, "title": response.xpath("//title/text()").get(), "links": len(hrefs)}
        for href in hrefs:
            url = response.urljoin(href)
            if url.startswith("http") and url not in self.seen:
                self.seen.add(url)
                yield Request(url, dont_filter=True)


process = CrawlerProcess(
    {
        "LOG_LEVEL": "ERROR",
        "LOGSTATS_INTERVAL": 0,
        "TELNETCONSOLE_ENABLED": False,
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": 200,
        "CONCURRENT_REQUESTS_PER_DOMAIN": 200,
        "DOWNLOAD_DELAY": 0,
        "COOKIES_ENABLED": False,
        "RETRY_ENABLED": False,
        "REDIRECT_ENABLED": False,
        "REFERER_ENABLED": False,
        "DUPEFILTER_CLASS": "scrapy.dupefilters.BaseDupeFilter",
        "SPIDER_MIDDLEWARES_BASE": {},
        "TWISTED_REACTOR": "twisted.internet.asyncioreactor.AsyncioSelectorReactor",
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "CLOSESPIDER_PAGECOUNT": PAGES,
        "FEEDS": {OUT: {"format": "jsonlines"}},
    }
)
process.crawl(Peer)
process.start()
