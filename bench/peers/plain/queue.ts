/**
 * A frontier in plain JavaScript, written to be fast and fair: what a good programmer builds in two days.
 *
 *   url ─ new URL, sort ─▶ Set<string> ─▶ record { url, priority, host } ─┬─▶ lanes: priority → array with a head
 *                                                                        └─▶ host: lanes of its own
 *   ready hosts: heap by (best priority, turn)      hosts that must wait: heap by readyAt
 *
 * Its order is Outrider's: priority, then (with politeness) the host that went longest ago, then order of arrival. It has no
 * leases with deadlines, no retries, no report, and it cannot be saved: whatever that costs, it does not pay.
 */
import { createIndexedHeap, type HeapItem, type IndexedHeap } from "./indexed-heap.ts";
import type { Queue, QueueOptions } from "../queue.ts";

export interface PlainRecord {
  readonly url: string;
  readonly priority: number;
  readonly host: PlainHost | undefined;
}

interface PlainHost extends HeapItem {
  readonly lanes: Lanes;
  readyAtMs: number;
  isLeased: boolean;
  /** Never leased: order of joining, below every lease; else the number of its last lease. */
  turn: number;
}

/** An array that is read from its head; what was read is cut off now and then. */
interface Lane extends HeapItem {
  readonly priority: number;
  records: PlainRecord[];
  head: number;
}

const CUT = 4096;

/** Lanes of one owner by priority; most owners have one. */
class Lanes {
  readonly #byPriority = new Map<number, Lane>();
  readonly #best = createIndexedHeap<Lane>((a, b) => a.priority > b.priority);

  get best(): number {
    return this.#best.items[0]?.priority ?? Number.NEGATIVE_INFINITY;
  }

  get isEmpty(): boolean {
    return this.#best.items.length === 0;
  }

  push(record: PlainRecord): void {
    let lane = this.#byPriority.get(record.priority);
    if (lane === undefined) {
      lane = { priority: record.priority, records: [], head: 0, at: -1 };
      this.#byPriority.set(record.priority, lane);
      this.#best.push(lane);
    }
    lane.records.push(record);
  }

  shift(): PlainRecord | undefined {
    const lane = this.#best.items[0];
    if (lane === undefined) return undefined;
    const record = lane.records[lane.head++] as PlainRecord;
    if (lane.head === lane.records.length) {
      this.#best.pop();
      this.#byPriority.delete(lane.priority);
    } else if (lane.head >= CUT && lane.head * 2 >= lane.records.length) {
      lane.records = lane.records.slice(lane.head);
      lane.head = 0;
    }
    return record;
  }
}

/** With poll and done apart, beside the two in one. */
export interface PlainQueue extends Queue {
  poll(max: number): PlainRecord[];
  done(records: readonly PlainRecord[]): void;
}

export function openPlain({ delayMs }: QueueOptions): PlainQueue {
  const seen = new Set<string>();
  const places = delayMs === 0 ? createOrder() : createPoliteOrder(delayMs);
  const admit = (text: string): number => {
    let url: URL;
    try {
      url = new URL(text);
    } catch {
      return 0;
    }
    url.hash = "";
    const visit = url.href;
    url.searchParams.sort();
    const { href } = url;
    if (seen.has(href)) return 0;
    seen.add(href);
    places.push(visit, url.host, 0);
    return 1;
  };
  const poll = (max: number): PlainRecord[] => {
    const leases: PlainRecord[] = [];
    while (leases.length < max) {
      const record = places.poll();
      if (record === undefined) break;
      leases.push(record);
    }
    return leases;
  };
  return {
    push(urls) {
      let accepted = 0;
      for (const url of urls) accepted += admit(url);
      return accepted;
    },
    pushOne: admit,
    poll,
    done(records) {
      for (const record of records) places.done(record);
    },
    drain(max) {
      const leases = poll(max);
      for (const record of leases) places.done(record);
      return leases.map(({ url }) => url);
    },
    drainOne() {
      const record = places.poll();
      if (record !== undefined) places.done(record);
      return record?.url;
    },
    advance: (ms) => places.advance(ms),
    facts: () => ({}),
    close: () => {},
  };
}

interface Order {
  push(url: string, host: string, priority: number): void;
  poll(): PlainRecord | undefined;
  done(record: PlainRecord): void;
  advance(ms: number): void;
}

function createOrder(): Order {
  const lanes = new Lanes();
  return {
    push: (url, _host, priority) => lanes.push({ url, priority, host: undefined }),
    poll: () => lanes.shift(),
    done: () => {},
    advance: () => {},
  };
}

function createPoliteOrder(delayMs: number): Order {
  const hosts = new Map<string, PlainHost>();
  const ready: IndexedHeap<PlainHost> = createIndexedHeap((a, b) => {
    const [mine, others] = [a.lanes.best, b.lanes.best];
    return mine === others ? a.turn < b.turn : mine > others;
  });
  const clocks = createIndexedHeap<PlainHost>((a, b) => a.readyAtMs < b.readyAtMs);
  let nowMs = 0;
  let leases = 0;
  const queue = (host: PlainHost): void => (host.readyAtMs > nowMs ? clocks : ready).push(host);
  return {
    push(url, name, priority) {
      let host = hosts.get(name);
      if (host === undefined) {
        const turn = hosts.size - Number.MAX_SAFE_INTEGER;
        host = { lanes: new Lanes(), readyAtMs: 0, isLeased: false, turn, at: -1 };
        hosts.set(name, host);
      }
      const wasBest = host.lanes.best;
      host.lanes.push({ url, priority, host });
      if (host.isLeased) return;
      if (host.at < 0) queue(host);
      else if (priority > wasBest && ready.items[host.at] === host) ready.rise(host);
    },
    poll() {
      for (let due = clocks.items[0]; due !== undefined && due.readyAtMs <= nowMs; ) {
        ready.push(clocks.pop() as PlainHost);
        due = clocks.items[0];
      }
      const host = ready.pop();
      if (host === undefined) return undefined;
      host.isLeased = true;
      host.turn = leases++;
      host.readyAtMs = nowMs + delayMs;
      return host.lanes.shift();
    },
    done(record) {
      const { host } = record;
      if (host === undefined) return;
      host.isLeased = false;
      host.readyAtMs = nowMs + delayMs;
      if (!host.lanes.isEmpty) queue(host);
    },
    advance(ms) {
      nowMs += ms;
    },
  };
}
