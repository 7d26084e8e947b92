/**
 * Shapes of traps that were held back while the rules of `src/crawl/traps` were tuned on those of `tuned.ts`. At their first look 8 of 14 sites
 * stayed within the visits allowed, with all good pages. Three changes followed: numbers in folders are no repetition, a URL with a part that
 * means nothing gives way to the one without, and like texts are asked for again; since then they are held back no longer.
 */
import type { Random } from "../../../../src/base/random.ts";
import {
  DAY_MS,
  dayText,
  letters,
  link,
  numbersTo,
  pageOf,
  pick,
  type Shape,
  token,
} from "./shape.ts";

const NONE: readonly string[] = [];

function upTo(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

const sessionPath: Shape = {
  name: "session in the path",
  make({ random, goodAt, goodPaths }) {
    const isFirst = random.below(2) === 0;
    const mark = pick(random, [";jsessionid=", ";sid=", ";"]);
    const pattern = isFirst ? /^\/\(S\([a-z0-9]{20}\)\)(\/.*)$/ : /^(\/.*);[a-z=]*[0-9A-F]{24}$/;
    const withIt = (path: string): string =>
      isFirst
        ? `/(S(${token(random, 20)}))${path}`
        : `${path.split("?")[0]}${mark}${token(random, 24, 16).toUpperCase()}`;
    return {
      good: NONE,
      entries: (draw, path) => [withIt(path), withIt(pick(draw, goodPaths()))],
      page({ pathname, search }) {
        const path = pattern.exec(pathname)?.[1];
        return path === undefined ? undefined : goodAt(path + search);
      },
    };
  },
};

const mobile: Shape = {
  name: "mobile mirror that leads on to itself",
  make({ random, words, goodAt }) {
    const folder = pick(random, ["/m", "/mobile", "/lite"]);
    const bar = words("mobile bar", upTo(random, 0, 15));
    return {
      good: NONE,
      entries: (_, path) => [folder + path],
      page({ pathname, search }) {
        if (!pathname.startsWith(`${folder}/`)) return undefined;
        const page = goodAt(pathname.slice(folder.length) + search);
        return page === undefined
          ? undefined
          : bar + page.replaceAll('href="/', `href="${folder}/`);
      },
    };
  },
};

const days: Shape = {
  name: "calendar of days, months and years in folders",
  make({ random, words }) {
    const root = pick(random, ["/cal", "/termine", "/diary"]);
    const empty = words("nothing on", upTo(random, 2, 30));
    const split = (ms: number): string => dayText(ms).replaceAll("-", "/");
    return {
      good: NONE,
      entries: () => [`${root}/${split(Date.UTC(2_026, random.below(12), 5))}/`],
      page({ pathname }) {
        const [, year, month, day] =
          new RegExp(`^${root}/(\\d{4})/(?:(\\d\\d)/(?:(\\d\\d)/)?)?$`).exec(pathname) ?? [];
        if (year === undefined) return undefined;
        const at = Date.UTC(Number(year), Number(month ?? 1) - 1, Number(day ?? 1));
        if (Number.isNaN(at)) return undefined;
        const wide = [`${root}/${year}/`, `${root}/${Number(year) + 1}/`, `${root}/${year}/06/`];
        const near = [-7, -1, 1, 7, 31].map((by) => `${root}/${split(at + by * DAY_MS)}/`);
        const all = [...near, ...wide].map((to) => link(to, to));
        return pageOf(`${day ?? ""} ${month ?? ""} ${year}`, empty, ...all);
      },
    };
  },
};

const prefix: Shape = {
  name: "relative menu of a server that ignores folders",
  make({ random, words }) {
    const names = numbersTo(upTo(random, 2, 5)).map(() => letters(random, 6));
    const root = `/${letters(random, 5)}`;
    const size = upTo(random, 20, 150);
    return {
      good: NONE,
      entries: () => [`${root}/${names[0]}/`],
      page({ pathname }) {
        if (!pathname.startsWith(`${root}/`)) return undefined;
        const last = pathname.split("/").at(-2) ?? "";
        if (!names.includes(last)) return undefined;
        return pageOf(last, words(`menu ${last}`, size), ...names.map((name) => link(`${name}/`)));
      },
    };
  },
};

const shown: Shape = {
  name: "a list in every way to show it",
  make({ random, words }) {
    const path = pick(random, ["/stock", "/members", "/downloads"]);
    const [by, way, rows] = [pick(random, ["sort", "o"]), pick(random, ["dir", "asc"]), "per"];
    const urlAt = (query: URLSearchParams): string => `${path}?${query}`;
    return {
      good: NONE,
      entries: () => [`${path}?${by}=a`],
      page({ pathname, searchParams }) {
        if (pathname !== path || !searchParams.has(by)) return undefined;
        const links: string[] = [];
        const add = (name: string, values: readonly string[]): void => {
          for (const value of values) {
            const other = new URLSearchParams(searchParams);
            other.set(name, value);
            links.push(link(urlAt(other), value));
          }
        };
        add(by, ["a", "b", "c", "d", "e"]);
        add(way, ["0", "1"]);
        add(rows, ["10", "20", "50", "100"]);
        add("view", ["table", "cards", "map"]);
        const count = Number(searchParams.get(rows) ?? 20);
        const lines = numbersTo(Math.min(count, 40)).map((n) => words(`row ${n}`, 6));
        return pageOf(
          "All",
          ...(searchParams.get(way) === "1" ? lines.reverse() : lines),
          ...links,
        );
      },
    };
  },
};

const commaFacets: Shape = {
  name: "facets in one value",
  make({ random, words }) {
    const [path, name] = [
      pick(random, ["/search", "/filter", "/jobs"]),
      pick(random, ["f", "tags"]),
    ];
    const by = pick(random, [",", "+", "|"]);
    const values = numbersTo(14).map(() => letters(random, 5));
    const items = upTo(random, 5, 30);
    return {
      good: NONE,
      entries: () => [`${path}?${name}=${values[0]}`],
      page({ pathname, searchParams }) {
        const given = searchParams.get(name);
        if (pathname !== path || given === null) return undefined;
        const chosen = given.split(/[,+| ]/);
        const left = values.filter((value) => !chosen.includes(value));
        const links = left.map((value) =>
          link(`${path}?${name}=${[...chosen, value].map(encodeURIComponent).join(by)}`, value),
        );
        const all = numbersTo(items).filter((n) => (n + chosen.length) % 3 > 0);
        return pageOf(chosen.join(" and "), ...all.map((n) => words(`find ${n}`, 9)), ...links);
      },
    };
  },
};

const compared: Shape = {
  name: "products compared",
  make({ random, words }) {
    const text = (id: number): string => words(`product ${id}`, 18);
    return {
      good: NONE,
      entries: (draw) => [`/compare?ids=${draw.below(60)},${draw.below(60)}`],
      page({ pathname, searchParams }) {
        const ids = searchParams.get("ids")?.split(",").map(Number);
        if (pathname !== "/compare" || ids === undefined || ids.length > 8) return undefined;
        const links = numbersTo(6).map(() => {
          const others = [...ids.slice(-4), random.below(60)];
          return link(`/compare?ids=${others.join(",")}`, "add");
        });
        return pageOf(`Compare ${ids.length}`, ...ids.map(text), ...links);
      },
    };
  },
};

const tags: Shape = {
  name: "tags joined in folders",
  make({ random, words }) {
    const root = pick(random, ["/tag/", "/topics/", "/t/"]);
    const values = numbersTo(12).map(() => letters(random, 6));
    const posts = numbersTo(40).map((n) => words(`tagged ${n}`, 8));
    return {
      good: NONE,
      entries: () => [`${root}${values[0]}`],
      page({ pathname }) {
        if (!pathname.startsWith(root)) return undefined;
        const chosen = pathname.slice(root.length).split("+");
        const links = values
          .filter((value) => !chosen.includes(value))
          .map((value) => link(`${root}${[...chosen, value].join("+")}`, value));
        const at = chosen.map((each) => values.indexOf(each)).reduce((a, b) => a + b, 0);
        const found = posts.filter((_, n) => (n + at) % (2 * chosen.length) === 0);
        return pageOf(`Tagged ${chosen.join(", ")}`, ...found, ...links);
      },
    };
  },
};

const cart: Shape = {
  name: "cart with a token",
  make({ random, words }) {
    const text = words("cart", upTo(random, 2, 40));
    return {
      good: NONE,
      entries: (draw) => [`/cart/add/${draw.below(900)}?token=${token(draw, 16)}`],
      page({ pathname, searchParams }) {
        const id = /^\/cart\/add\/(\d+)$/.exec(pathname)?.[1];
        if (id === undefined || !searchParams.has("token")) return undefined;
        const next = `/cart/add/${random.below(900)}?token=${token(random, 16)}`;
        return pageOf("Cart", text, `You have ${id} in it.`, link(next, "add"), link("/", "home"));
      },
    };
  },
};

const unknown: Shape = {
  name: "names that are answered with the first page",
  make({ random, goodAt, goodPaths }) {
    const root = `/${letters(random, 4)}/`;
    return {
      good: NONE,
      entries: (draw) => [`${root}${token(draw, 8, 16)}-${token(draw, 12, 16)}`],
      page({ pathname }) {
        if (!pathname.startsWith(root)) return undefined;
        const more = numbersTo(3).map(() =>
          link(`${root}${token(random, 8, 16)}-${token(random, 12, 16)}`),
        );
        return `${goodAt(goodPaths()[0] ?? "")}${more.join("")}`;
      },
    };
  },
};

const slots: Shape = {
  name: "times to book, with their length",
  make({ random, words }) {
    const rooms = numbersTo(5).map(() => letters(random, 5));
    const frame = words("booking", upTo(random, 10, 50));
    const urlAt = (room: string, ms: number, hours: number): string =>
      `/book/${room}?at=${new Date(ms).toISOString().slice(0, 16)}&hours=${hours}`;
    return {
      good: NONE,
      entries: () => [urlAt(rooms[0] ?? "", Date.UTC(2_026, 10, 27, 9), 1)],
      page({ pathname, searchParams }) {
        const room = /^\/book\/([a-z]+)$/.exec(pathname)?.[1];
        const at = Date.parse(`${searchParams.get("at")}Z`);
        if (room === undefined || Number.isNaN(at)) return undefined;
        const hours = Number(searchParams.get("hours"));
        const links = [
          urlAt(room, at + DAY_MS / 24, hours),
          urlAt(room, at + DAY_MS, hours),
          urlAt(room, at, (hours % 8) + 1),
          urlAt(pick(random, rooms), at, hours),
        ];
        return pageOf(`Room ${room}`, frame, `Free at ${at}.`, ...links.map((to) => link(to)));
      },
    };
  },
};

const versions: Shape = {
  name: "versions of every page",
  make({ random, goodAt, goodPaths }) {
    const name = pick(random, ["rev", "version", "oldid"]);
    return {
      good: NONE,
      entries: (_, path) => [`${path}${path.includes("?") ? "&" : "?"}${name}=1`],
      page(url) {
        const at = url.searchParams.get(name);
        if (at === null) return undefined;
        url.searchParams.delete(name);
        const path = url.pathname + url.search;
        const page = goodAt(path);
        if (page === undefined) return undefined;
        const to = (other: string, n: number): string =>
          link(`${other}${other.includes("?") ? "&" : "?"}${name}=${n}`, "older");
        const links = [to(path, Number(at) + 1), to(pick(random, goodPaths()), 1)];
        return `${page}Version ${at} of it.${links.join("")}`;
      },
    };
  },
};

export const HELD_SHAPES: readonly Shape[] = [
  ...[sessionPath, mobile, days, prefix, shown, commaFacets, compared, tags, cart, unknown],
  ...[slots, versions],
];
