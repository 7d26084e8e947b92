/**
 * Room `src/crawl/synthetic-web`: a web that is computed from a seed and served on loopback, for tests and demos;
 * exported by outrider/testing.
 */

/**
 * A web that is computed, not stored: thousands of virtual hosts, each page a function of (seed, host, page). One seed
 * is one web, on every machine.
 *
 *   host i      h<i>.outrider.test, sizes by Zipf: largest first, every host at least one page
 *   page k      /p/<k>, 0 is /            children 8k+1 … 8k+8 of its host's tree, so that / leads to all of them
 *   / of host i leads to the first pages of hosts 4i+1 … 4i+4, so that h0 leads to every host
 *   across      some links to other pages and hosts, repeated with a fragment: duplicates
 *   /go/<k>     a redirect (301, 302, 307, 308) to /p/<k>; one link in sixteen goes that way
 *   leaves only: gone (404), broken (500 for ever), flaky (503 once, with Retry-After), reset (cut off)
 *   /private/   named in robots.txt where the host has one; every host links to it
 *   /hidden/    without a link, named in the sitemap of one host in ten
 *   traps       a host of its own, and a domain of ever new subdomains: web-traps.ts
 *
 *   I1  Errors are on leaves: no failure hides another page.
 *   I2  Nothing here keeps state, reads the time or draws a number except from (seed, host, page).
 */

/** Shape of a synthetic web. One seed is one web, on every machine. */
export interface WebShape {
  /** Same seed, same web. */
  readonly seed: number;
  /** Virtual hosts. */
  readonly hosts: number;
  /** Pages of all hosts together, at least one each. */
  readonly pages: number;
  /** Share of leaves that go wrong and of hosts that are slow: 1 as usual, 0 never. */
  readonly mishaps: number;
  /** Whether the first host links to the host of traps. */
  readonly traps: boolean;
}

/** The answer to requests for a page: 200, 404, 500 for good, 503 once, or cut off. */
export type Fate = "well" | "gone" | "broken" | "flaky" | "reset";
/** A host's answer for robots.txt. */
export type RobotsKind = "rules" | "none" | "forbidden" | "broken" | "closed";

/** A synthetic web as a function of its seed: every host, page and link. */
export interface WebPlan {
  /** The shape from which it was made. */
  readonly shape: WebShape;
  /** Pages of all hosts. */
  readonly pages: number;
  /** Pages of a host. */
  sizeOf(host: number): number;
  /** Name of a host. */
  hostName(host: number): string;
  /** Number of a host; −1 for one outside this web. */
  hostOf(name: string): number;
  /** The answer to requests for a page. */
  fateOf(host: number, page: number): Fate;
  /** A host's answer for robots.txt. */
  robotsOf(host: number): RobotsKind;
  /** Whether a host has a sitemap. */
  hasSitemap(host: number): boolean;
  /** How long a host takes to answer, in milliseconds. */
  latencyMsOf(host: number): number;
  /** Encoding of a host's pages. */
  charsetOf(host: number): "utf-8" | "windows-1252" | "utf-16le";
  /** Whether a host compresses its pages. */
  isCompressed(host: number): boolean;
  /** Bytes of filler text on a page. */
  fillerOf(host: number, page: number): number;
  /** Links of a page. */
  linksOf(host: number, page: number): WebLink[];
  /** A number of [0, 2³²) that depends on the seed and these arguments. */
  draw(salt: number, a: number, b: number): number;
}

/** A link of a page. */
export interface WebLink {
  /** Number of the host that it leads to. */
  readonly host: number;
  /** `/p/3`, `/go/3`, `/private/3`. */
  readonly path: string;
  /** Whether the page links to it again with a fragment. */
  readonly isTwice: boolean;
}

const WEB_DOMAIN = "outrider.test";
export const TRAP_HOST = `traps.${WEB_DOMAIN}`;
export const HIDDEN_PAGES = 6;
const FANOUT = 8;
const HOST_FANOUT = 4;

const SALT_FATE = 1;
const SALT_ROBOTS = 2;
const SALT_SITEMAP = 3;
const SALT_LATENCY = 4;
const SALT_CHARSET = 5;
const SALT_CODING = 6;
const SALT_FILLER = 7;
const SALT_LINK = 8;

export function createWebPlan(shape: WebShape): WebPlan {
  const { seed, hosts, mishaps } = shape;
  const sizes = zipfSizes(hosts, shape.pages);
  const draw = (salt: number, a: number, b: number): number => mix(seed, salt, a, b);
  const perMille = (salt: number, a: number, b: number): number => draw(salt, a, b) % 1000;
  const sizeOf = (host: number): number => sizes[host] ?? 0;
  const isLeaf = (host: number, page: number): boolean => page * FANOUT + 1 >= sizeOf(host);
  const pathOf = (host: number, page: number): string => {
    if (page === 0) return "/";
    return draw(SALT_LINK, host, page) % 16 === 0 ? `/go/${page}` : `/p/${page}`;
  };
  const plan: WebPlan = {
    shape,
    pages: sizes.reduce((sum, size) => sum + size, 0),
    sizeOf,
    draw,
    hostName: (host) => `h${host}.${WEB_DOMAIN}`,
    hostOf: (name) => {
      const match = /^h(0|[1-9][0-9]*)\.outrider\.test$/.exec(name);
      const host = match === null ? -1 : Number(match[1]);
      return host < hosts ? host : -1;
    },
    fateOf(host, page) {
      if (page === 0 || mishaps === 0 || !isLeaf(host, page)) return "well";
      const at = perMille(SALT_FATE, host, page) / mishaps;
      if (at < 12) return "gone";
      if (at < 18) return "broken";
      if (at < 30) return "flaky";
      return at < 33 ? "reset" : "well";
    },
    robotsOf(host) {
      if (host === 0) return "rules";
      const at = perMille(SALT_ROBOTS, host, 0);
      if (at < 200) return "none";
      if (at < 240) return "forbidden";
      // Links to a host without readable rules, or with none allowed, are still found: I1 is about pages.
      if (at < 240 + 10 * mishaps) return "broken";
      return at >= 990 ? "closed" : "rules";
    },
    hasSitemap: (host) => plan.robotsOf(host) === "rules" && draw(SALT_SITEMAP, host, 0) % 10 === 0,
    latencyMsOf(host) {
      const at = perMille(SALT_LATENCY, host, 0);
      return at < 20 * mishaps && host > 0 ? 20 + (at % 10) * 10 : 0;
    },
    charsetOf(host) {
      const at = draw(SALT_CHARSET, host, 0) % 20;
      if (at === 0) return "windows-1252";
      return at === 1 ? "utf-16le" : "utf-8";
    },
    isCompressed: (host) => draw(SALT_CODING, host, 0) % 4 === 0,
    fillerOf(host, page) {
      const word = draw(SALT_FILLER, host, page);
      // Each step up is half as likely: 256 bytes to 64 KiB, mostly small, as on the web.
      const step = Math.min(Math.clz32(word), 8);
      return (256 << step) + (word & 255);
    },
    linksOf: (host, page) => linksOf(plan, pathOf, { host, page }),
  };
  return plan;
}

function linksOf(
  plan: WebPlan,
  pathOf: (host: number, page: number) => string,
  { host, page }: { host: number; page: number },
): WebLink[] {
  const { hosts } = plan.shape;
  const size = plan.sizeOf(host);
  const links: WebLink[] = [];
  const add = (toHost: number, path: string, isTwice = false): void => {
    links.push({ host: toHost, path, isTwice });
  };
  for (let child = page * FANOUT + 1; child <= page * FANOUT + FANOUT && child < size; child++) {
    add(host, pathOf(host, child), child % 5 === 0);
  }
  if (page === 0) {
    for (let next = host * HOST_FANOUT + 1; next <= host * HOST_FANOUT + HOST_FANOUT; next++) {
      if (next < hosts) add(next, "/");
    }
    add(host, `/private/${host}`);
  }
  const word = plan.draw(SALT_LINK, host, page + 0x10000);
  if (size > 1) add(host, `/p/${1 + (word % (size - 1))}`, true);
  const other = word % hosts;
  add(other, "/", word % 3 === 0);
  add(other, pathOf(other, (word >>> 8) % plan.sizeOf(other)));
  return links;
}

/** Sizes that fall as 1 / rank and add up to about `pages`, each at least 1. */
function zipfSizes(hosts: number, pages: number): number[] {
  let weights = 0;
  for (let rank = 1; rank <= hosts; rank++) weights += 1 / rank;
  const spare = Math.max(pages - hosts, 0);
  const sizes: number[] = [];
  let given = 0;
  for (let rank = 1; rank <= hosts; rank++) {
    const share = Math.floor(spare / rank / weights);
    sizes.push(1 + share);
    given += share;
  }
  sizes[0] = (sizes[0] as number) + spare - given;
  return sizes;
}

/** Mixes four words into one. */
function mix(seed: number, salt: number, a: number, b: number): number {
  let h = seed | 0;
  for (const word of [salt, a, b]) {
    h = Math.imul(h ^ word, 0x85ebca6b);
    h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
    h ^= h >>> 16;
    h = (h + 0x9e3779b9) | 0;
  }
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d);
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b);
  return (h ^ (h >>> 16)) >>> 0;
}
