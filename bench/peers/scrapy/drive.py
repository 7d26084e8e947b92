"""Takes Scrapy's scheduler through the steps of bench/peers/driver.ts.

    drive.py [--per-host] memory | fill | resume <workload> <file for polled URLs> <directory>

Default settings: in memory a LIFO queue and RFPDupeFilter, with a directory JOBDIR. There is no acknowledgement: what was
handed out is gone, so `done` has no time. With --per-host its queue is DownloaderAwarePriorityQueue, which asks a downloader
that has nothing under way. Pauses are those of Python's collector of cycles.
"""
import gc
import json
import logging
import os
import signal
import sys
import time
from types import SimpleNamespace

import scrapy
from scrapy.core.downloader import Downloader
from scrapy.core.scheduler import Scheduler
from scrapy.http import Request
from scrapy.spiders import Spider
from scrapy.utils.test import get_crawler

CALL = 1000


def status(field):
    with open("/proc/self/status", encoding="ascii") as lines:
        for line in lines:
            if line.startswith(field):
                return int(line.split()[1]) * 1024
    return 0


def workload(path):
    """The URLs, in calls of 1,000."""
    with open(path, encoding="ascii") as lines:
        magic = next(lines).rstrip("\n")
        if magic != "outrider-workload 1":
            raise SystemExit(f"{path}: begins {magic}")
        left = json.loads(next(lines))["urls"]
        call = []
        for line in lines:
            if left == 0:
                break
            call.append(line.rstrip("\n"))
            left -= 1
            if len(call) == CALL:
                yield call
                call = []
        if call:
            yield call


class Pauses:
    """The longest collection since it was made."""

    def __init__(self):
        self.longest_ns = 0
        self.begin_ns = 0
        gc.callbacks.append(self.hear)

    def hear(self, phase, _info):
        now = time.perf_counter_ns()
        if phase == "start":
            self.begin_ns = now
        else:
            self.longest_ns = max(self.longest_ns, now - self.begin_ns)


def open_scheduler(directory, is_per_host):
    settings = {"REQUEST_FINGERPRINTER_IMPLEMENTATION": "2.7", "TELNETCONSOLE_ENABLED": False}
    if directory:
        settings["JOBDIR"] = directory
    if is_per_host:
        settings["SCHEDULER_PRIORITY_QUEUE"] = "scrapy.pqueues.DownloaderAwarePriorityQueue"
    crawler = get_crawler(Spider, settings)
    spider = crawler.spider = Spider(name="bench")
    spider.crawler = crawler
    if is_per_host:
        crawler.engine = SimpleNamespace(downloader=Downloader(crawler))
    scheduler = Scheduler.from_crawler(crawler)
    scheduler.open(spider)
    return scheduler


def main(mode, path, polled_file, directory, is_per_host):
    logging.disable(logging.CRITICAL)
    pauses = Pauses()
    started = time.perf_counter_ns()
    scheduler = open_scheduler("" if mode == "memory" else directory, is_per_host)
    opened = time.perf_counter_ns() - started
    rest = status("VmRSS:")
    push_ns = pushed = accepted = longest = 0
    if mode != "resume":
        for call in workload(path):
            begin = time.perf_counter_ns()
            for url in call:
                if scheduler.enqueue_request(Request(url)):
                    accepted += 1
            spent = time.perf_counter_ns() - begin
            push_ns += spent
            longest = max(longest, spent)
            pushed += len(call)
    full = status("VmRSS:")
    pending = len(scheduler)
    most = pending // 2 if mode == "fill" else pending
    polled = []
    begin = time.perf_counter_ns()
    while len(polled) < most:
        request = scheduler.next_request()
        if request is None:
            break
        polled.append(request)
    poll_ns = time.perf_counter_ns() - begin
    with open(polled_file, "w", encoding="ascii") as out:
        out.writelines(request.url + "\n" for request in polled)
    answer = {
        "title": f"Scrapy {scrapy.__version__}, scheduler with its dupe filter",
        "pushed": pushed,
        "accepted": accepted,
        "polled": len(polled),
        "pushNs": push_ns,
        "pollNs": poll_ns,
        "openNs": opened,
        "restBytes": rest,
        "fullBytes": full,
        "peakBytes": status("VmHWM:"),
        "longestCallNs": longest,
        "longestGcNs": pauses.longest_ns,
    }
    print(json.dumps(answer), flush=True)
    if mode == "fill":
        os.kill(os.getpid(), signal.SIGKILL)


WORDS = sys.argv[1:]
IS_PER_HOST = WORDS[0] == "--per-host"
main(*WORDS[IS_PER_HOST:], IS_PER_HOST)
