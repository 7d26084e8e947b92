/**
 * A web that is computed, not stored: hosts with Zipf sizes, page trees with links across hosts,
 * latencies and misfortunes, all by hashing (seed, host, page). One seed is one web.
 *
 *   size(host)   1 + largest / rank, rank a permutation of the hosts
 *   links(page)  its FANOUT children in the host's own tree (so that page 0 leads to all), and
 *                ACROSS pages of other hosts
 *   item         offset[host] + page: every page of the web has a number
 */

/** The outcome of a visit; all but `done` are rare. */
export type Fate = "done" | "retry" | "busy" | "fail" | "release" | "die" | "late";

export interface Web {
  readonly hosts: number;
  readonly items: number;
  readonly offsets: Float64Array;
  sizeOf(host: number): number;
  urlOf(host: number, page: number): string;
  /** Host and page of a URL of this web. */
  place(url: string): { host: number; page: number };
  linksOf(host: number, page: number): string[];
  latencyMs(host: number, page: number): number;
  fateOf(host: number, page: number, delivery: number): Fate;
}

export interface WebShape {
  seed: number;
  hosts: number;
  /** Pages of the largest host. */
  largest: number;
  /** How many times more often than usual a visit goes wrong. */
  mishaps?: number;
}

const FANOUT = 8;
const ACROSS = 2;

export function createWeb({ seed, hosts, largest, mishaps = 1 }: WebShape): Web {
  const step = stepThrough(hosts);
  const sizeOf = (host: number): number => 1 + Math.floor(largest / (((host * step) % hosts) + 1));
  const offsets = new Float64Array(hosts + 1);
  for (let host = 0; host < hosts; host++) {
    offsets[host + 1] = (offsets[host] as number) + sizeOf(host);
  }
  const urlOf = (host: number, page: number): string => `http://h${host}.test/${page}`;
  return {
    hosts,
    items: offsets[hosts] as number,
    offsets,
    sizeOf,
    urlOf,
    place(url) {
      const dot = url.indexOf(".", 8);
      return { host: Number(url.slice(8, dot)), page: Number(url.slice(dot + 6)) };
    },
    linksOf(host, page) {
      const links: string[] = [];
      const size = sizeOf(host);
      for (let i = 1; i <= FANOUT && page * FANOUT + i < size; i++) {
        links.push(urlOf(host, page * FANOUT + i));
      }
      for (let i = 0; i < ACROSS; i++) {
        const other = hash(seed, host, page, i) % hosts;
        links.push(urlOf(other, hash(seed + 1, host, page, i) % sizeOf(other)));
      }
      return links;
    },
    latencyMs: (host, page) => 20 + (hash(seed + 2, host, page, 0) % 1_500),
    fateOf(host, page, delivery) {
      const chance = hash(seed + 3, host, page, delivery) % Math.floor(1_000 / mishaps);
      if (chance < 10) return "retry";
      if (chance < 14) return "busy";
      if (chance < 16) return "fail";
      if (chance < 22) return "release";
      if (chance < 24) return "die";
      return chance < 26 ? "late" : "done";
    },
  };
}

/** A step that shares no factor with `count` and so visits every number below it. */
function stepThrough(count: number): number {
  let step = Math.floor(count * 0.618) | 1;
  while (divisor(step, count) !== 1) step += 2;
  return step;
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

function hash(seed: number, a: number, b: number, c: number): number {
  let h = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b);
  for (const value of [a, b, c]) {
    h = Math.imul(h ^ value, 0xc2b2ae35);
    h ^= h >>> 15;
    h = Math.imul(h, 0x27d4eb2f);
    h ^= h >>> 13;
  }
  return h >>> 0;
}
