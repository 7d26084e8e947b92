/** Scrapy's scheduler among the peers: drive.py, by a Python that has Scrapy (BENCH_PYTHON, or one of the usual places). */
import { join } from "node:path";
import { ROOT } from "../../harness/machine.ts";
import type { Peer } from "../peer.ts";
import { pythonOf } from "../python.ts";

export const scrapyPeer: Peer = {
  name: "scrapy",
  title: () => "Scrapy's scheduler with its dupe filter",
  missing: () =>
    pythonOf("scrapy") === undefined ? "no Python with Scrapy (BENCH_PYTHON)" : undefined,
  urlsMax: 100_000,
  isDurable: true,
  command: () => [pythonOf("scrapy") as string, join(ROOT, "bench/peers/scrapy/drive.py")],
};

/** The same with the queue that rotates hosts, which its guide recommends for many of them. */
export const scrapyHostsPeer: Peer = {
  ...scrapyPeer,
  name: "scrapy-hosts",
  title: () => "Scrapy's scheduler with a queue for each host",
  urlsMax: 30_000,
  isDurable: false,
  command: () => [
    pythonOf("scrapy") as string,
    join(ROOT, "bench/peers/scrapy/drive.py"),
    "--per-host",
  ],
};
