"""Scrapy's disk queue alone, without its scheduler: what JOBDIR writes for each request that waits.

    drive_queuelib.py push <directory> <file of URLs>      pushes each line, in calls of 1,000
    drive_queuelib.py back <directory> <file for URLs>     opens it again and pops all

Prints one line of JSON: {"ns": time of the pushes or of opening and pops, "title"}. Reading and writing the files is outside the
clock. queuelib never syncs: what it wrote is the system's to keep.
"""
import importlib.metadata
import json
import sys
import time
from os.path import join

from queuelib.queue import FifoDiskQueue

CALL = 1000


def push(directory, path):
    with open(path, "rb") as lines:
        urls = lines.read().split(b"\n")[:-1]
    calls = [urls[at : at + CALL] for at in range(0, len(urls), CALL)]
    begin = time.perf_counter_ns()
    queue = FifoDiskQueue(join(directory, "queue"))
    for call in calls:
        for url in call:
            queue.push(url)
    queue.close()
    return time.perf_counter_ns() - begin


def back(directory, path):
    urls = []
    begin = time.perf_counter_ns()
    queue = FifoDiskQueue(join(directory, "queue"))
    while True:
        url = queue.pop()
        if url is None:
            break
        urls.append(url)
    spent = time.perf_counter_ns() - begin
    queue.close()
    with open(path, "wb") as out:
        out.writelines(url + b"\n" for url in urls)
    return spent


MODE, DIRECTORY, FILE = sys.argv[1:]
NS = push(DIRECTORY, FILE) if MODE == "push" else back(DIRECTORY, FILE)
TITLE = f"queuelib {importlib.metadata.version('queuelib')}"
print(json.dumps({"ns": NS, "title": TITLE}), flush=True)
