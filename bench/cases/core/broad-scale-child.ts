/** A process of broad-scale.ts: prints one line, and the first of the two kills itself afterwards. Progress goes to stderr. */
import { appendFileSync, readdirSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { type Frontier, openFrontier } from "../../../src/index.ts";
import { createCallLog } from "../../harness/call-log.ts";

export interface BroadLoad {
  readonly directory: string;
  readonly hosts: number;
  readonly urls: number;
  readonly visits: number;
  readonly delayMs: number;
  readonly memoryBytes: number;
  readonly seenBytes: number;
  readonly isSecond: boolean;
  /** Of the clock when the process begins. */
  readonly nowMs: number;
}

export interface BroadFacts {
  /** Of the clock at the end. */
  nowMs: number;
  /** URLs in all states: at the opening, and at the end. */
  knownAtOpening: number;
  known: number;
  full: number;
  /** Of a sample pushed again after the opening: each is lost. */
  admittedAgain: number;
  openNs: number;
  pushNs: number;
  visitNs: number;
  longestMs: number;
  /** The same after the first COLD_URLS, without collections and waits for a core. */
  longestOwnMs: number;
  pushResidentBytes: number;
  residentBytes: number;
  snapshots: number;
  diskBytes: number;
}

const CALL = 1_000;
const LEASES = 32;
const LINKS = 10;
/** Calls in a turn of the event loop, as a program makes them that reads its seeds from a file. */
const CALLS_A_TURN = 16;
const SAMPLE = 100;
/** The first calls run code that is not compiled yet. */
const COLD_URLS = 100 * CALL;

const load = JSON.parse(process.argv[2] ?? "") as BroadLoad;
const { hosts, urls, visits, delayMs, isSecond } = load;
const log = join(load.directory, "visits.bin");
let nowMs = load.nowMs;
const facts: BroadFacts = {
  ...{ nowMs, knownAtOpening: 0, known: 0, full: 0, admittedAgain: 0 },
  ...{ openNs: 0, pushNs: 0, visitNs: 0, longestMs: 0, longestOwnMs: 0 },
  ...{ pushResidentBytes: 0, residentBytes: 0, snapshots: 0, diskBytes: 0 },
};

const startedMs = performance.now();
const frontier = await openFrontier({
  ...{ directory: join(load.directory, "frontier"), clock: clock(), leaseMs: 1e9, keepOpen: true },
  ...{ memoryBytes: load.memoryBytes, seen: { memoryBytes: load.seenBytes } },
  defaults: { politeness: { delayMs, perHost: 1 } },
});
frontier.on("snapshot", () => void facts.snapshots++);
frontier.on("error", (fault) => console.error(fault));
facts.openNs = (performance.now() - startedMs) * 1e6;
facts.knownAtOpening = known(frontier);
look();
console.error(`opened after ${((performance.now() - startedMs) / 1_000).toFixed(1)} s`);
if (isSecond) pushSample();
else await pushAll();
await visit(isSecond ? Math.ceil(visits / 10) : visits);
await frontier.flush();
facts.nowMs = nowMs;
facts.known = known(frontier);
facts.diskBytes = bytesOf(load.directory);
writeSync(1, `${JSON.stringify(facts)}\n`);
if (isSecond) await frontier.close();
else process.kill(process.pid, "SIGKILL");

async function pushAll(): Promise<void> {
  const beganMs = performance.now();
  const calls = createCallLog();
  for (let from = 0; from < urls; from += CALL) {
    const batch: string[] = [];
    for (let index = from; index < Math.min(from + CALL, urls); index++) batch.push(urlOf(index));
    const callMs = performance.now();
    const startNs = from < COLD_URLS ? 0 : calls.begin();
    facts.full += frontier.pushMany(batch).full;
    if (startNs > 0) calls.end(startNs);
    facts.longestMs = Math.max(facts.longestMs, performance.now() - callMs);
    if ((from / CALL) % CALLS_A_TURN === 0) await turn();
    if ((from / CALL) % Math.ceil(urls / CALL / 20) === 0) progress("pushed", from, beganMs);
  }
  facts.pushNs = (performance.now() - beganMs) * 1e6;
  const { facts: longest } = await calls.stop();
  facts.longestOwnMs = longest["longest call without GC and waits ms"] ?? 0;
  facts.pushResidentBytes = facts.residentBytes;
}

/** One in SAMPLE of what was pushed. */
function pushSample(): void {
  for (let from = 0; from < urls; from += SAMPLE * CALL) {
    const batch: string[] = [];
    const end = Math.min(from + SAMPLE * CALL, urls);
    for (let index = from; index < end; index += SAMPLE) batch.push(urlOf(index));
    facts.admittedAgain += frontier.pushMany(batch).accepted;
  }
}

/** Of ten links three are known; the others are new pages, some of them of new hosts. */
async function visit(count: number): Promise<void> {
  const beganMs = performance.now();
  let next = urls + (isSecond ? visits * LINKS : 0);
  const pairs: number[] = [];
  for (let taken = 0; taken < count; nowMs++) {
    for (const lease of frontier.pollMany(Math.min(LEASES, count - taken))) {
      pairs.push(hostOf(lease.url), nowMs);
      const found: string[] = [];
      for (let link = 0; link < LINKS; link++) {
        found.push(link % 3 === 0 ? urlOf(mixed(next * 7) % urls) : urlOf(next++));
      }
      if (lease.done({ found }).late) throw new Error("broad-scale: a lease was late");
      if (++taken % Math.ceil(count / 20) === 0) progress("visited", taken, beganMs);
    }
    if (nowMs % CALLS_A_TURN === 0) await turn();
    if (pairs.length < 10_000 && taken < count) continue;
    appendFileSync(log, new Uint8Array(Float64Array.from(pairs.splice(0)).buffer));
  }
  facts.visitNs = (performance.now() - beganMs) * 1e6;
}

function urlOf(index: number): string {
  const host = index < hosts ? index : mixed(index) % (hosts + hosts / 10);
  return `https://h${Math.floor(host).toString(36)}.example/p/${index.toString(36)}`;
}

function hostOf(url: string): number {
  return Number.parseInt(url.slice(9, url.indexOf(".")), 36);
}

function mixed(index: number): number {
  let word = Math.imul(index ^ (index >>> 16), 0x45d9f3b);
  word = Math.imul(word ^ (word >>> 16), 0x45d9f3b);
  return (word ^ (word >>> 16)) >>> 0;
}

function known(of: Frontier): number {
  const { pending, waiting, leased, resting, done, failed } = of.report();
  return pending + waiting + leased + resting + done + failed;
}

function turn(): Promise<void> {
  look();
  return new Promise((resolve) => setImmediate(resolve));
}

function look(): void {
  facts.residentBytes = Math.max(facts.residentBytes, process.memoryUsage.rss());
}

function progress(what: string, count: number, beganMs: number): void {
  const seconds = ((performance.now() - beganMs) / 1_000).toFixed(1);
  const resident = (process.memoryUsage.rss() / 1e6).toFixed(0);
  console.error(`${what} ${count}: ${seconds} s, ${resident} MB, ${facts.snapshots} snapshots`);
}

function bytesOf(directory: string): number {
  let sum = 0;
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    sum += statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0;
  }
  return sum;
}

/** Moves by itself for leases; timers are the machine's. */
function clock() {
  const timer = (fn: () => void, ms: number): (() => void) => {
    const handle = setTimeout(fn, ms);
    return () => clearTimeout(handle);
  };
  return {
    now: () => nowMs,
    monotonic: () => performance.now(),
    schedule: (_: number, fn: () => void) => timer(fn, 0),
    after: (ms: number, fn: () => void) => timer(fn, ms),
  };
}
