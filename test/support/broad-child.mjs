/**
 * A broad crawl in a process of its own: almost as many hosts as URLs, on a directory, under a bound on memory. Prints what its parent judges.
 *
 *   push all ─▶ visits, ten links each ─▶ flush ─▶ SIGKILL ─▶ opened again: counts ─▶ visits ─▶ all pushed again ─▶ closed
 *
 * Some links lead to few busy hosts and go before all others, so that the clocks of hosts matter.
 */
import { writeSync } from "node:fs";
import { openFrontier } from "../../dist/index.js";

const load = JSON.parse(process.argv[2]);
const { directory, hosts, urls, visits, memoryBytes, seenBytes, delayMs, isSecond } = load;
const CALL = 1_000;
const MAX_LEASES = 32;
const TICK_MS = 10;
const BUSY_HOSTS = 50;

let now = load.now;
const clock = {
  now: () => now,
  monotonic: () => performance.now(),
  schedule: (_, fn) => timer(fn, 0),
  after: (ms, fn) => timer(fn, ms),
};
function timer(fn, ms) {
  const handle = setTimeout(fn, ms);
  return () => clearTimeout(handle);
}

let residentBytes = 0;
const look = () => {
  residentBytes = Math.max(residentBytes, process.memoryUsage.rss());
};
const print = (fact) => void writeSync(1, `${JSON.stringify(fact)}\n`);
const breathe = () => new Promise((resolve) => setImmediate(resolve));

const started = performance.now();
const frontier = await openFrontier({
  ...{ directory, memoryBytes, seen: { memoryBytes: seenBytes }, clock, leaseMs: 1e9 },
  ...{ durability: { everyMs: 50 }, defaults: { politeness: { delayMs, perHost: 1 } } },
});
look();
report("opened", { seconds: (performance.now() - started) / 1_000 });
if (!isSecond) await pushAll("pushed");
await visitSome();
if (!isSecond) {
  await frontier.flush();
  report("flushed", {});
  process.kill(process.pid, "SIGKILL");
}
const { pending } = frontier.report();
await pushAll("again");
print({ what: "unchanged", isSame: frontier.report().pending === pending });
await frontier.close();

async function pushAll(what) {
  const sum = { accepted: 0, duplicate: 0, full: 0 };
  const before = process.cpuUsage();
  for (let from = 0; from < urls; from += CALL) {
    const end = Math.min(from + CALL, urls);
    const batch = [];
    for (let index = from; index < end; index++) batch.push(urlOf(index));
    const result = frontier.pushMany(batch);
    for (const name of Object.keys(sum)) sum[name] += result[name];
    if ((from / CALL) % 32 !== 0) continue;
    look();
    await breathe();
  }
  report(what, { ...sum, microseconds: spent(before) / urls });
}

async function visitSome() {
  const before = process.cpuUsage();
  const seen = [];
  let next = urls + (isSecond ? visits * 10 : 0);
  for (let taken = 0; taken < visits; now += TICK_MS) {
    for (const lease of frontier.pollMany(Math.min(MAX_LEASES, visits - taken))) {
      taken++;
      const { host } = new URL(lease.url);
      if (host.startsWith("busy")) seen.push([host, now]);
      const found = [{ url: `https://busy${taken % BUSY_HOSTS}.test/${next++}`, priority: 1 }];
      while (found.length < 10) {
        found.push(found.length % 3 === 0 ? urlOf(mixed(next * 7) % urls) : urlOf(next++));
      }
      lease.done({ found });
    }
    if (taken % 512 < MAX_LEASES) await breathe();
    look();
  }
  print({ what: "visits", seen, now });
  report("visited", { microseconds: spent(before) / visits });
}

function spent(before) {
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

function report(what, facts) {
  look();
  const { pending, leased, waiting, done, hosts: known } = frontier.report();
  print({ what, ...facts, pending, leased, waiting, done, hosts: known, residentBytes });
}

/** Each host once, then hosts at random. */
function urlOf(index) {
  const host = index < hosts ? index : mixed(index) % hosts;
  return `https://www.host-${host}.test/articles/${index.toString(36)}/page`;
}

function mixed(index) {
  let word = Math.imul(index ^ (index >>> 16), 0x45d9f3b);
  word = Math.imul(word ^ (word >>> 16), 0x45d9f3b);
  return (word ^ (word >>> 16)) >>> 0;
}
