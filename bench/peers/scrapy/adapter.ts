/** Scrapy's scheduler among the peers: drive.py, by a Python that has Scrapy (BENCH_PYTHON, or one of the usual places). */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { ROOT } from "../../harness/machine.ts";
import type { Peer } from "../peer.ts";

export const scrapyPeer: Peer = {
  name: "scrapy",
  title: () => "Scrapy's scheduler with its dupe filter",
  missing: () => (pythonOf() === undefined ? "no Python with Scrapy (BENCH_PYTHON)" : undefined),
  urlsMax: 100_000,
  isDurable: true,
  command: () => [pythonOf() as string, join(ROOT, "bench/peers/scrapy/drive.py")],
};

/** The same with the queue that rotates hosts, which its guide recommends for many of them. */
export const scrapyHostsPeer: Peer = {
  ...scrapyPeer,
  name: "scrapy-hosts",
  title: () => "Scrapy's scheduler with a queue for each host",
  urlsMax: 30_000,
  isDurable: false,
  command: () => [pythonOf() as string, join(ROOT, "bench/peers/scrapy/drive.py"), "--per-host"],
};

/** Asks for the package without loading it, which would take a second each time. */
const IS_THERE = "import sys, importlib.util as u; sys.exit(u.find_spec('scrapy') is None)";

/** A Python that has Scrapy. */
export function pythonOf(): string | undefined {
  const given = process.env.BENCH_PYTHON;
  const places = given === undefined ? ["python3", "/usr/bin/python3"] : [given];
  return places.find((python) => {
    const { status } = spawnSync(python, ["-c", IS_THERE], { stdio: "ignore" });
    return status === 0;
  });
}
