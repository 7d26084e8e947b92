/**
 * Runs of what streams bring: messages of one kind and crawl that arrived in one turn of the event loop, of whatever stream, are one
 * call of the crawl.
 *
 *   stream 1 ─ waiting ─┐           ┌─ run: crawl a, discovered ─▶ discover ─┐
 *   stream 2 ─ waiting ─┼─▶ round ──┼─ run: crawl a, known ──────▶ putKnown ─┼─▶ answers, each on its own stream
 *   stream n ─ waiting ─┘           └─ run: crawl b, … ──────────▶ …        ─┘
 *
 *   I1  A stream is in one run at most: what it sent later is applied later.
 *   I2  A round takes the first messages of each stream; other calls have their turn after some 1,024 URLs.
 */
import type { Crawl, Soon } from "../crawls/crawl.ts";
import { crawlIdOf, KEY_LENGTH_MAX } from "../crawls/missing-key.ts";
import type { Calls } from "./calls.ts";
import { FAILED, OK, type PutMessage, type PutUrl, SKIPPED } from "./messages.ts";

/** A run takes messages until it has so many URLs, and a turn of the event loop takes runs. */
const TOGETHER_URLS = 1_024;
const TOGETHER_URLS_MIN = 128;
/** As many of them as a turn is busy with for so long: others wait no longer. Those that Redis decides about take no time here. */
const TURN_MS = 1;

/** A stream that has messages. */
export interface PutSource {
  /** Most messages in one run. */
  readonly messagesMax: number;
  /** Its first message; undefined: none. */
  readonly next: PutMessage | undefined;
  /** Takes the first message off. */
  pass(): void;
  /** Where it had no message: it rests, or ends. */
  goOn(): void;
  /** The statuses of messages, URL by URL from `start`. */
  answered(messages: readonly PutMessage[], statuses: Uint8Array, start: number): void;
}

interface Run {
  readonly isKnown: boolean;
  readonly crawlID: string | undefined;
  readonly urls: PutUrl[];
  readonly parts: Array<{ source: PutSource; messages: readonly PutMessage[]; start: number }>;
}

export interface PutRuns {
  /** A source that has messages and is in no run. */
  add(source: PutSource): void;
}

export function createPutRuns(calls: Calls): PutRuns {
  const ready: PutSource[] = [];
  let isPlanned = false;
  let most = TOGETHER_URLS;
  const plan = (): void => {
    if (isPlanned) return;
    isPlanned = true;
    // Messages of one read of the socket come one by one: wait for all of them.
    setImmediate(turn);
  };
  const turn = (): void => {
    const startedAt = calls.clock.monotonic();
    let urls = 0;
    while (ready.length > 0 && urls < most) {
      for (const run of runsOf(ready, most)) {
        urls += run.urls.length + 1;
        apply(calls, run);
      }
    }
    const fitting = (urls * TURN_MS) / Math.max(calls.clock.monotonic() - startedAt, 0.01);
    // One long turn, as for a collection of garbage, does not count for much.
    most = Math.max(Math.min((most * 3 + fitting) / 4, TOGETHER_URLS), TOGETHER_URLS_MIN);
    isPlanned = false;
    if (ready.length > 0) plan();
  };
  return {
    add(source) {
      ready.push(source);
      plan();
    },
  };
}

/** Runs of the first messages of each stream, until there are enough URLs; streams that were not reached stay. */
function runsOf(sources: PutSource[], most: number): Run[] {
  const runs: Run[] = [];
  let urls = 0;
  let reached = 0;
  for (; reached < sources.length && urls < most; reached++) {
    const source = sources[reached] as PutSource;
    const first = source.next;
    if (first === undefined) source.goOn();
    else urls += addTo(runFor(runs, first), source, most);
  }
  sources.splice(0, reached);
  return runs;
}

function runFor(runs: Run[], { isKnown, crawlID }: PutMessage): Run {
  const found = runs.find((one) => one.crawlID === crawlID && one.isKnown === isKnown);
  if (found !== undefined && crawlID !== undefined) return found;
  const run: Run = { isKnown, crawlID, urls: [], parts: [] };
  runs.push(run);
  return run;
}

/** Takes the messages of a run off a stream; how many URLs they have. */
function addTo({ isKnown, crawlID, urls, parts }: Run, source: PutSource, most: number): number {
  const start = urls.length;
  const messages: PutMessage[] = [];
  for (let left = source.messagesMax; left > 0; left--) {
    const message = source.next;
    if (message === undefined) break;
    if (message.crawlID !== crawlID || message.isKnown !== isKnown) break;
    messages.push(message);
    for (const url of message.urls) urls.push(url);
    source.pass();
    if (urls.length >= most) break;
  }
  parts.push({ source, messages, start });
  return urls.length - start;
}

function apply(calls: Calls, run: Run): void {
  const startedAt = calls.clock.monotonic();
  const answer = (statuses: Uint8Array): void => {
    countPut(calls, run, statuses);
    for (const { source, messages, start } of run.parts) source.answered(messages, statuses, start);
    calls.metrics.countRun(calls.clock.monotonic() - startedAt);
  };
  const statuses = run.crawlID === undefined ? sorted(calls, run) : statusesOf(calls, run);
  if (statuses instanceof Promise) statuses.then(answer);
  else answer(statuses);
}

function countPut({ metrics }: Calls, { urls, isKnown }: Run, statuses: Uint8Array): void {
  metrics.countPut(urls.length, isKnown, statuses);
  if (!isKnown) return;
  for (let at = 0; at < urls.length; at++) {
    if (urls[at]?.refetchAt === 0 && statuses[at] === OK) metrics.completed++;
  }
}

/** Never rejects. FAIL where the server is closing, or the frontier refused: the client may send it again. */
function statusesOf(calls: Calls, { urls, isKnown, crawlID = "" }: Run): Soon<Uint8Array> {
  const fail = (cause?: unknown): Uint8Array => {
    if (cause !== undefined) calls.fault("put", cause);
    return new Uint8Array(urls.length).fill(FAILED);
  };
  const act = (crawl: Crawl): Soon<Uint8Array> =>
    isKnown ? crawl.putKnown(urls) : crawl.discover(urls);
  if (calls.isClosing()) return fail();
  if (crawlID.length > KEY_LENGTH_MAX) return new Uint8Array(urls.length).fill(SKIPPED);
  try {
    const crawl = calls.registry.open(crawlIdOf(crawlID));
    const statuses = crawl instanceof Promise ? crawl.then(act) : act(crawl);
    return statuses instanceof Promise ? statuses.catch(fail) : statuses;
  } catch (cause) {
    return fail(cause);
  }
}

/** Batches whose URLs are of several crawls, or none; each has its status at its place. */
async function sorted(calls: Calls, { urls, isKnown }: Run): Promise<Uint8Array> {
  const statuses = new Uint8Array(urls.length);
  const places = new Map<string, number[]>();
  for (const [place, { crawlID }] of urls.entries()) {
    const list = places.get(crawlID);
    if (list === undefined) places.set(crawlID, [place]);
    else list.push(place);
  }
  for (const [crawlID, list] of places) {
    const some = list.map((place) => urls[place] as PutUrl);
    const made = await statusesOf(calls, { isKnown, crawlID, urls: some, parts: [] });
    for (const [index, place] of list.entries()) statuses[place] = made[index] as number;
  }
  return statuses;
}
