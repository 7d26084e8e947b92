/**
 * peers-queues: what a bare queue costs, beside a frontier that is used as one.
 *
 *   n different URLs ─▶ push, 1,000 a call ─▶ n waiting ─▶ poll, 1,000 a call      first in, first out
 *
 *   outrider   pushMany, pollMany, done: canonical form, dedup, a record and a lease for each URL
 *   array      an array with a head
 *   denque     push, shift
 *   fastq      push while paused; then a worker at concurrency 1 that answers in a microtask, the soonest that does not recurse
 *
 * The others hand back what they were given and know no more: no dedup, no leases, no politeness, nothing off the heap. The ratio is
 * what that costs. Checksum: every URL, in the order in which it came out.
 *
 * Estimate at 10⁶, nanoseconds a URL: array 3 and 3, denque 8 and 6, fastq 40 and 250 (a microtask each); outrider 550 and 750.
 */
import { openFrontier } from "../../../src/index.ts";
import type { BenchCase, Job, Measured, Params } from "../../harness/case.ts";
import { nowNs, numberOf, warmSize } from "../../harness/case.ts";
import { memoryNow } from "../../harness/machine.ts";
import { createTextSum, type TextSum, urlChunk } from "../../harness/urls.ts";
import { loadPackage, packageMissing } from "../../peers/installed.ts";

const CALL = 1_000;

interface Bare {
  push(urls: readonly string[]): void;
  poll(max: number): string[] | Promise<string[]>;
  close?(): Promise<void>;
}

export const peersQueues: BenchCase = {
  name: "peers-queues",
  suite: "peers",
  about: "push and poll of queues alone, and of a frontier that is used as one",
  question: "What does a frontier cost over a bare queue?",
  unit: "URL",
  process: "fresh",
  pairs: [
    ["outrider", "array"],
    ["outrider", "denque"],
    ["outrider", "fastq"],
  ],
  sizes: { smoke: [{ urls: 2_000 }], real: [{ urls: 1_000_000 }], suite: [{ urls: 300_000 }] },
  rounds: 3,
  setup,
  missing: (side) => (side === "denque" || side === "fastq" ? packageMissing(side) : undefined),
};

async function setup(side: string, params: Params): Promise<Job> {
  const total = numberOf(params, "urls");
  const warm = warmSize(total);
  if (warm > 0) await measure(side, { from: 1_500_000_000, total: warm }, createTextSum());
  const sum = createTextSum();
  return {
    run: () => measure(side, { from: 0, total }, sum),
    checksum: () => sum.value(),
  };
}

async function measure(
  side: string,
  { from, total }: { from: number; total: number },
  sum: TextSum,
): Promise<Measured> {
  const queue = await openBare(side);
  const before = memoryNow();
  let push = 0;
  for (let start = 0; start < total; start += CALL) {
    const urls = urlChunk(from + start, Math.min(CALL, total - start), { hosts: 1_000 });
    const at = nowNs();
    queue.push(urls);
    push += nowNs() - at;
  }
  const after = memoryNow();
  let poll = 0;
  for (let taken = 0; taken < total; ) {
    const at = nowNs();
    const answer = queue.poll(CALL);
    const urls = Array.isArray(answer) ? answer : await answer;
    poll += nowNs() - at;
    if (urls.length === 0) break;
    taken += urls.length;
    for (const url of urls) sum.add(url);
  }
  await queue.close?.();
  const facts = {
    "JS heap bytes/URL": (after.heapBytes - before.heapBytes) / total,
    "resident bytes/URL": (after.residentBytes - before.residentBytes) / total,
  };
  return { times: { push: push / total, poll: poll / total }, facts };
}

async function openBare(side: string): Promise<Bare> {
  if (side === "denque") return openDenque();
  if (side === "fastq") return openFastq();
  return side === "array" ? openArray() : openOurs();
}

async function openOurs(): Promise<Bare> {
  const frontier = await openFrontier({ keepOpen: true });
  return {
    push: (urls) => void frontier.pushMany(urls),
    poll(max) {
      const leases = frontier.pollMany(max);
      const urls = leases.map(({ url }) => url);
      frontier.done(leases);
      return urls;
    },
    close: () => frontier.close(),
  };
}

function openArray(): Bare {
  const waiting: string[] = [];
  let head = 0;
  return {
    push(urls) {
      for (const url of urls) waiting.push(url);
    },
    poll(max) {
      const urls = waiting.slice(head, head + max);
      head += urls.length;
      return urls;
    },
  };
}

interface Denque {
  push(url: string): number;
  shift(): string | undefined;
}

function openDenque(): Bare {
  const queue = new (loadPackage("denque") as new () => Denque)();
  return {
    push(urls) {
      for (const url of urls) queue.push(url);
    },
    poll(max) {
      const urls: string[] = [];
      while (urls.length < max) {
        const url = queue.shift();
        if (url === undefined) break;
        urls.push(url);
      }
      return urls;
    },
  };
}

interface Fastq {
  push(url: string): void;
  pause(): void;
  resume(): void;
  length(): number;
}

type Fastqs = (worker: (url: string, done: () => void) => void, concurrency: number) => Fastq;

function openFastq(): Bare {
  let [urls, most, finish] = [[] as string[], 0, (_: string[]): void => {}];
  const queue = (loadPackage("fastq") as Fastqs)((url, done) => {
    urls.push(url);
    if (urls.length === most || queue.length() === 0) {
      queue.pause();
      finish(urls);
    }
    queueMicrotask(done);
  }, 1);
  queue.pause();
  return {
    push(some) {
      for (const url of some) queue.push(url);
    },
    poll(max) {
      urls = [];
      most = max;
      if (queue.length() === 0) return urls;
      return new Promise((resolve) => {
        finish = resolve;
        queue.resume();
      });
    },
  };
}
