/**
 * Sites in memory with good pages and traps, for the case `traps`: a downloader that computes each answer.
 *
 *   good     folders of articles, each with text of its own and links to some others; an index of them by page number
 *   tuning   the traps that the recognition was built with: a calendar by month, the whole site again under a session id, filters of a list
 *   fresh    written last; it showed that a page with and without a variable has to be compared: replies, versions of a page, weeks, folders too deep, sorted lists
 *   held     traps of other shapes, by which it was mended once: sessions in the path, days in one value, filters as folders, searches, folders below folders, tracking numbers
 */
import { createRandom, type Random } from "../../../src/base/random.ts";
import type { Download, Downloader } from "../../../src/crawl.ts";

export interface TrapSite extends Downloader {
  readonly seed: string;
  /** Visits of URLs of traps. */
  readonly trapped: () => number;
  /** Good pages that were visited, of so many. */
  readonly good: () => number;
  readonly goodCount: number;
  readonly trapCount: number;
}

type Page = (url: URL, goodAt: (path: string) => string | undefined) => string | undefined;
interface Trap {
  /** Links into it that every good page has. */
  readonly entry: (random: Random, path: string) => string[];
  readonly page: Page;
}

const ORIGIN = "http://site.example";
const WORDS = 3_000;
const link = (href: string, text = "more"): string => `<a href="${href}">${text}</a> `;

export function openTrapSite(set: TrapSet, seed: number, goodCount: number): TrapSite {
  const words = wordsOf(seed);
  const textOf = (name: string, count: number): string => textFrom(words, name, count);
  const traps = TRAPS[set](textOf, seed);
  const pathOf = (n: number): string =>
    n === 0 ? "/" : `/topic-${"abcdefg"[n % 7]}/article-${n}.html`;
  const numberOf = new Map(Array.from({ length: goodCount }, (_, n) => [pathOf(n), n]));
  const visited = new Set<string>();
  let trapped = 0;
  const goodPage = (n: number, path: string): string => {
    const random = createRandom(seed * 7_919 + n);
    const children = [6 * n + 1, 6 * n + 2, 6 * n + 3, 6 * n + 4, 6 * n + 5, 6 * n + 6];
    const others = [random.below(goodCount), random.below(goodCount)];
    const links = [...children.filter((child) => child < goodCount), ...others].map((other) =>
      link(pathOf(other)),
    );
    const into = traps.flatMap(({ entry }) => entry(random, path)).map((href) => link(href));
    const text = textOf(`good ${n}`, 60 + random.below(200));
    return `<title>Article ${n}</title><p>${text}</p>${[...links, ...into].join("")}`;
  };
  return {
    ...{ seed: `${ORIGIN}/`, goodCount, trapCount: traps.length },
    good: () => visited.size,
    trapped: () => trapped,
    async download({ url }): Promise<Download> {
      const parsed = new URL(url);
      const n = parsed.search === "" ? numberOf.get(parsed.pathname) : undefined;
      let text = n === undefined ? undefined : goodPage(n, parsed.pathname);
      if (n !== undefined) visited.add(url);
      const goodAt = (path: string): string | undefined => {
        const at = numberOf.get(path);
        return at === undefined ? undefined : goodPage(at, path);
      };
      for (const trap of traps) {
        if (text !== undefined) break;
        text = trap.page(parsed, goodAt);
        if (text !== undefined) trapped++;
      }
      const body = Buffer.from(text ?? "");
      const headers = { "content-type": "text/html" };
      const status = text === undefined ? 404 : 200;
      return { url, status, headers, body, bytes: body.length, latencyMs: 1 };
    },
  };
}

export type TrapSet = "tuning" | "held" | "fresh";
type TextOf = (name: string, count: number) => string;

const MONTHS =
  "January February March April May June July August September October November December".split(
    " ",
  );

function tuning(textOf: TextOf): Trap[] {
  const menu = textOf("menu", 40);
  let serial = 0;
  return [
    {
      entry: () => ["/calendar/2026/11"],
      page({ pathname }) {
        const [, year, month] = /^\/calendar\/(\d+)\/(\d+)$/.exec(pathname)?.map(Number) ?? [];
        if (year === undefined || month === undefined) return undefined;
        const next = month === 12 ? `/calendar/${year + 1}/1` : `/calendar/${year}/${month + 1}`;
        const before = month === 1 ? `/calendar/${year - 1}/12` : `/calendar/${year}/${month - 1}`;
        return `${menu}<h1>${MONTHS[month - 1]} ${year}</h1>no events ${link(next)}${link(before)}`;
      },
    },
    {
      entry: (random) => [`/account?sid=${random.below(1e9)}`],
      page({ pathname, searchParams }) {
        const room = /^\/(account|orders|help-\d)$/.exec(pathname)?.[1];
        if (room === undefined || !searchParams.has("sid")) return undefined;
        const rooms = ["account", "orders", "help-1", "help-2", "help-3"];
        const links = rooms.map((each) => link(`/${each}?sid=${++serial}`));
        return `${textOf(room, 80)}${links.join("")}`;
      },
    },
    {
      entry: () => ["/shop?sort=name"],
      page: ({ pathname, searchParams }) =>
        pathname === "/shop" ? filtered(searchParams, textOf, "/shop") : undefined,
    },
  ];
}

const FILTERS: Readonly<Record<string, number>> = {
  colour: 6,
  size: 5,
  brand: 8,
  price: 4,
  sort: 4,
  view: 3,
};

/** A list of things, fewer for each filter; each page leads to every other choice of one filter. */
function filtered(query: URLSearchParams, textOf: TextOf, path: string): string {
  const items = Array.from({ length: 40 }, (_, n) => n).filter((n) =>
    [...query].every(
      ([name, value]) =>
        name === "sort" ||
        name === "view" ||
        (n * 7 + name.length) % (FILTERS[name] ?? 1) === Number(value.length % 3),
    ),
  );
  const links: string[] = [];
  for (const [name, count] of Object.entries(FILTERS))
    for (let value = 0; value < count; value++) {
      const other = new URLSearchParams(query);
      other.set(name, "v".repeat(value + 1));
      links.push(link(`${path}?${other}`, `${name} ${value}`));
    }
  return `${items.map((n) => `<p>${textOf(`item ${n}`, 12)}</p>`).join("")}${links.join("")}`;
}

/** Written after the recognition, and not looked at while it was built. */
function held(textOf: TextOf, seed: number): Trap[] {
  const random = createRandom(seed + 1);
  const word = (): string =>
    Array.from({ length: 6 }, () => String.fromCharCode(97 + random.below(26))).join("");
  const footer = textOf("footer", 50);
  return [
    {
      // The same rooms under an id in the path, a new one for each link.
      entry: () => [`/s/${word()}${random.below(1e6)}/info`],
      page({ pathname }) {
        const room = /^\/s\/[a-z0-9]+\/(info|terms|contact|about)$/.exec(pathname)?.[1];
        if (room === undefined) return undefined;
        const next = ["info", "terms", "contact", "about"].map((each) =>
          link(`/s/${word()}${random.below(1e6)}/${each}`),
        );
        return `<h1>${room}</h1>${textOf(room, 120)}${next.join("")}${footer}`;
      },
    },
    {
      // Days without an end in both directions, in one value.
      entry: () => ["/events?day=2026-11-26"],
      page({ pathname, searchParams }) {
        const day = searchParams.get("day");
        if (pathname !== "/events" || day === null) return undefined;
        const at = Date.parse(day);
        const on = (days: number): string =>
          new Date(at + days * 86_400_000).toISOString().slice(0, 10);
        const name = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"][new Date(at).getUTCDay()];
        const links = [-7, -1, 1, 7].map((days) => link(`/events?day=${on(days)}`, on(days)));
        return `${footer}<h1>${name}, ${day}</h1>Nothing planned.${links.join("")}`;
      },
    },
    {
      // Filters as folders, in any order and any number.
      entry: () => ["/catalogue/"],
      page({ pathname }) {
        const match = /^\/catalogue\/((?:[a-z]+-v+\/)*)$/.exec(pathname);
        if (match === null) return undefined;
        const chosen = (match[1] ?? "").split("/").filter((each) => each !== "");
        const query = new URLSearchParams(
          chosen.map((each) => each.split("-") as [string, string]),
        );
        const names = Object.keys(FILTERS).filter((name) => !query.has(name));
        const links = names.flatMap((name) =>
          ["v", "vv", "vvv"].map((value) => link(`${pathname}${name}-${value}/`, name)),
        );
        const items = Array.from({ length: 30 }, (_, n) => n).filter((n) =>
          chosen.every((each) => (n + each.length) % 3 > 0),
        );
        const things = items.map((n) => `<p>${textOf(`thing ${n}`, 10)}</p>`);
        return [...things, ...links].join("");
      },
    },
    ...heldWords(textOf, seed),
  ];
}

function heldWords(textOf: TextOf, seed: number): Trap[] {
  const random = createRandom(seed + 3);
  const word = (): string =>
    Array.from({ length: 6 }, () => String.fromCharCode(97 + random.below(26))).join("");
  const footer = textOf("footer", 50);
  return [
    {
      // Searches that suggest others: hardly a result, words of its own on each page.
      entry: () => [`/search?q=${word()}`],
      page({ pathname, searchParams }) {
        const asked = searchParams.get("q");
        if (pathname !== "/search" || asked === null) return undefined;
        const links = Array.from({ length: 5 }, word).map((each) =>
          link(`/search?q=${asked.slice(0, 20)}+${each}`, each),
        );
        return `<h1>${asked}</h1>No results for ${asked}. Try ${links.join(" or ")}${footer}`;
      },
    },
    {
      // Folders below folders.
      entry: () => [`/tree/${word()}/`],
      page({ pathname }) {
        if (!/^\/tree\/(?:[a-z]+\/)+$/.test(pathname)) return undefined;
        const links = [word(), word(), word()].map((each) => link(`${pathname}${each}/`, each));
        return `<h1>Index of ${pathname}</h1>${footer}${links.join("")}`;
      },
    },
    {
      // One good page, called by another number from everywhere.
      entry: (draw) => [`/welcome.html?ref=${draw.below(1e9)}`],
      page: ({ pathname, searchParams }) =>
        pathname === "/welcome.html" && searchParams.has("ref")
          ? textOf("welcome", 150)
          : undefined,
    },
  ];
}

/** Written last, after what `held` had shown was mended. */
function fresh(textOf: TextOf, seed: number): Trap[] {
  const random = createRandom(seed + 2);
  const frame = textOf("frame", 60);
  return [
    {
      // The page again for each comment that could be answered.
      entry: (_, path) => [`${path}?replytocom=${random.below(1e6)}`],
      page: ({ pathname, searchParams }, goodAt) =>
        searchParams.has("replytocom") ? goodAt(pathname) : undefined,
    },
    {
      // Versions of one page against each other.
      entry: () => ["/wiki?title=Main&oldid=1&diff=2"],
      page({ pathname, searchParams }) {
        if (pathname !== "/wiki" || !searchParams.has("oldid")) return undefined;
        const links = Array.from({ length: 4 }, () => {
          const [older, newer] = [random.below(1e5), random.below(1e5)];
          return link(`/wiki?title=Main&oldid=${older}&diff=${newer}`, `version ${older}`);
        });
        const by = searchParams.get("diff");
        return `${textOf("main", 100)} changed by user ${by}${links.join("")}`;
      },
    },
    {
      // Weeks of a year, and the years, in folders.
      entry: () => ["/plan/2026/week-48/"],
      page({ pathname }) {
        const [, year, week] = (/^\/plan\/(\d+)\/week-(\d+)\/$/.exec(pathname) ?? []).map(Number);
        if (year === undefined || week === undefined) return undefined;
        const next = week === 52 ? `/plan/${year + 1}/week-1/` : `/plan/${year}/week-${week + 1}/`;
        const later = link(`/plan/${year + 1}/week-${week}/`);
        const said = `<h1>Week ${week} of ${year}</h1>free rooms: all`;
        return `${frame}${said} ${link(next, "next week")}${later}`;
      },
    },
    {
      // A relative link that is one folder too deep.
      entry: () => ["/about/us/"],
      page({ pathname }) {
        if (!/^\/about\/(?:(?:us|team|press)\/)+$/.test(pathname)) return undefined;
        return `${textOf("about us", 90)}${link("us/")}${link("team/")}${link("press/")}`;
      },
    },
    {
      // Columns by which a list can be sorted, with the page and its size.
      entry: () => ["/files?page=1"],
      page({ pathname, searchParams }) {
        if (pathname !== "/files") return undefined;
        const links = ["name", "date", "size", "type"].flatMap((column) =>
          ["asc", "desc"].map((order) => {
            const other = new URLSearchParams(searchParams);
            other.set("sort", column);
            other.set("order", order);
            other.set("rows", String(10 + random.below(90)));
            return link(`/files?${other}`, column);
          }),
        );
        const order = searchParams.get("order") === "desc" ? -1 : 1;
        const rows = Array.from({ length: 30 }, (_, n) => `<p>${textOf(`file ${n}`, 8)}</p>`);
        return `${(order < 0 ? rows.reverse() : rows).join("")}${links.join("")}`;
      },
    },
  ];
}

const TRAPS: Readonly<Record<TrapSet, (textOf: TextOf, seed: number) => Trap[]>> = {
  tuning,
  held,
  fresh,
};

function wordsOf(seed: number): string[] {
  const random = createRandom(seed);
  return Array.from({ length: WORDS }, () =>
    Array.from({ length: 3 + random.below(7) }, () =>
      String.fromCharCode(97 + random.below(26)),
    ).join(""),
  );
}

/** The same name, the same text. */
function textFrom(words: readonly string[], name: string, count: number): string {
  let seed = 7;
  for (let at = 0; at < name.length; at++) seed = (seed * 31 + name.charCodeAt(at)) % 1_000_000_007;
  const random = createRandom(seed);
  return Array.from({ length: count }, () => words[random.below(words.length)]).join(" ");
}
