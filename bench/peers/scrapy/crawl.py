"""Crawls one host of the synthetic web with Scrapy: python3 crawl.py <seed> <concurrency>

Prints { seconds, titles }: from the spider's opening to its closing, and the title of every path.
"""
import json
import sys
import time
from urllib.parse import urlparse

import scrapy
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor

SEED = sys.argv[1]
CONCURRENCY = int(sys.argv[2])
HOST = urlparse(SEED).hostname
titles = {}
times = {}


class Pages(scrapy.Spider):
    name = "pages"
    start_urls = [SEED]
    allowed_domains = [HOST]
    links = LinkExtractor()
    custom_settings = {
        "CONCURRENT_REQUESTS": CONCURRENCY,
        "CONCURRENT_REQUESTS_PER_DOMAIN": CONCURRENCY,
        "DOWNLOAD_DELAY": 0,
        "ROBOTSTXT_OBEY": True,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7",
    }

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        crawler.signals.connect(spider.opened, scrapy.signals.spider_opened)
        crawler.signals.connect(spider.ended, scrapy.signals.spider_closed)
        return spider

    def opened(self):
        times["begin"] = time.perf_counter()

    def ended(self):
        times["end"] = time.perf_counter()

    def parse(self, response):
        titles[urlparse(response.url).path] = response.css("title::text").get("")
        for link in self.links.extract_links(response):
            if urlparse(link.url).hostname == HOST:
                yield scrapy.Request(link.url)


process = CrawlerProcess({"LOG_ENABLED": False})
process.crawl(Pages)
process.start()
json.dump({"seconds": times["end"] - times["begin"], "titles": titles}, sys.stdout)
