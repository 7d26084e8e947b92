/** Shapes of traps that the rules of `src/crawl/traps` were tuned on. Their visits are listed with the case's results. */
import type { Random } from "../../../../src/base/random.ts";
import { letters, link, numbersTo, pageOf, pick, type Shape, token } from "./shape.ts";

const NONE: readonly string[] = [];
const FACETS = ["colour", "size", "brand", "price", "stock", "rating"];

function upTo(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

/** The good page again, under a parameter that means nothing and is another one for each link. */
function again(
  name: string,
  names: readonly string[],
  drawValue: (random: Random) => string,
): Shape {
  return {
    name,
    make({ random, goodAt, goodPaths }) {
      const parameter = pick(random, names);
      const withIt = (path: string, value: string): string =>
        `${path}${path.includes("?") ? "&" : "?"}${parameter}=${value}`;
      return {
        good: NONE,
        entries: (draw, path) => [
          withIt(path, drawValue(draw)),
          withIt(pick(draw, goodPaths()), drawValue(draw)),
        ],
        page(url) {
          if (!url.searchParams.has(parameter)) return undefined;
          url.searchParams.delete(parameter);
          return goodAt(url.pathname + url.search);
        },
      };
    },
  };
}

const mirror: Shape = {
  name: "print mirror",
  make({ random, goodAt, goodPaths }) {
    const folder = pick(random, ["/print", "/amp", "/printable"]);
    const title = pick(random, ["", "Print version "]);
    return {
      good: NONE,
      entries: (draw, path) => [folder + path, folder + pick(draw, goodPaths())],
      page({ pathname, search }) {
        if (!pathname.startsWith(`${folder}/`)) return undefined;
        const page = goodAt(pathname.slice(folder.length) + search);
        return page === undefined ? undefined : title + page;
      },
    };
  },
};

const relativeDays: Shape = {
  name: "calendar by relative days",
  make({ random, words }) {
    const path = pick(random, ["/calendar", "/cal/view", "/book/dates"]);
    const name = pick(random, ["offset", "d", "shift"]);
    const frame = words("calendar frame", upTo(random, 0, 40));
    return {
      good: NONE,
      entries: () => [`${path}?${name}=0`],
      page({ pathname, searchParams }) {
        if (pathname !== path || !searchParams.has(name)) return undefined;
        const at = Number(searchParams.get(name));
        const links = [-30, -1, 1, 30].map((days) => link(`${path}?${name}=${at + days}`));
        return pageOf(`In ${at} days`, frame, "No events", ...links);
      },
    };
  },
};

const months: Shape = {
  name: "calendar by month in the query",
  make({ random, words }) {
    const path = pick(random, ["/events", "/kalender", "/whats-on"]);
    const frame = words("months frame", upTo(random, 5, 60));
    const urlAt = (at: number): string =>
      `${path}?year=${Math.floor(at / 12)}&month=${(at % 12) + 1}`;
    return {
      good: NONE,
      entries: () => [urlAt(2_026 * 12 + random.below(12))],
      page({ pathname, searchParams }) {
        if (pathname !== path) return undefined;
        const at = Number(searchParams.get("year")) * 12 + Number(searchParams.get("month")) - 1;
        if (!(at > 0)) return undefined;
        const days = numbersTo(28).map((day) => `${day + 1}`);
        const near = [-12, -1, 1, 12].map((by) => link(urlAt(at + by)));
        return pageOf(`Month ${(at % 12) + 1}`, frame, days.join(" "), ...near);
      },
    };
  },
};

const facets: Shape = {
  name: "facets of repeated names",
  make({ random, words }) {
    const name = pick(random, ["f[]", "filter", "facet"]);
    const path = pick(random, ["/find", "/browse", "/c/shoes"]);
    const values = FACETS.flatMap((facet) => ["a", "b", "c"].map((value) => `${facet}:${value}`));
    const items = upTo(random, 10, 40);
    return {
      good: NONE,
      entries: () => [`${path}?${new URLSearchParams([[name, values[0] ?? ""]])}`],
      page({ pathname, searchParams }) {
        if (pathname !== path || !searchParams.has(name)) return undefined;
        const chosen = searchParams.getAll(name);
        const links = values
          .filter((value) => !chosen.includes(value))
          .map((value) => {
            const all = [...chosen, value].map((each): [string, string] => [name, each]);
            return link(`${path}?${new URLSearchParams(all)}`, value);
          });
        const shown = numbersTo(items).filter((n) =>
          chosen.every((value) => (n + value.length) % 4 > 0),
        );
        return pageOf("Results", ...shown.map((n) => words(`thing ${n}`, 10)), ...links);
      },
    };
  },
};

const pages: Shape = {
  name: "pages without an end",
  make({ random, words }) {
    const path = pick(random, ["/latest", "/feed", "/archive/all"]);
    const last = upTo(random, 1, 4);
    const isPath = random.below(2) === 0;
    const urlAt = (n: number): string => (isPath ? `${path}/page/${n}` : `${path}?page=${n}`);
    return {
      good: NONE,
      entries: () => [urlAt(1)],
      page({ pathname, searchParams }) {
        const n = isPath
          ? Number(new RegExp(`^${path}/page/(\\d+)$`).exec(pathname)?.[1] ?? "x")
          : pathname === path
            ? Number(searchParams.get("page") ?? "x")
            : Number.NaN;
        if (Number.isNaN(n)) return undefined;
        const shown = n > last ? "Nothing more." : words(`page ${n}`, 60);
        return pageOf("Latest", shown, link(urlAt(n + 1), "next"), link(urlAt(Math.max(1, n - 1))));
      },
    };
  },
};

const tokens: Shape = {
  name: "links of random tokens",
  make({ random, words }) {
    const root = pick(random, ["/go/", "/t/", "/click/"]);
    const length = upTo(random, 8, 24);
    const text = words("token text", upTo(random, 0, 80));
    return {
      good: NONE,
      entries: (draw) => [root + token(draw, length)],
      page({ pathname }) {
        if (!pathname.startsWith(root)) return undefined;
        const links = numbersTo(4).map(() => link(root + token(random, length)));
        return pageOf("Welcome", text, `Your code is ${pathname.slice(root.length)}.`, ...links);
      },
    };
  },
};

const missing: Shape = {
  name: "missing pages answered as found",
  make({ random, words }) {
    const root = pick(random, ["/old/", "/assets/", "/archive-2009/"]);
    const text = words("missing", upTo(random, 10, 80));
    return {
      good: NONE,
      entries: (draw) => [root + letters(draw, 6)],
      page({ pathname }) {
        if (!pathname.startsWith(root)) return undefined;
        const links = ["home/", "contact/", "search/"].map((to) => link(to));
        return pageOf("Sorry", text, `There is no ${pathname}.`, ...links);
      },
    };
  },
};

const actions: Shape = {
  name: "actions of a wiki",
  make({ random, words, goodPaths }) {
    const form = words("form of the wiki", upTo(random, 10, 60));
    const names = ["edit", "history", "info", "delete"];
    return {
      good: NONE,
      entries: (_, path) =>
        names.map((name) => `/w?title=${encodeURIComponent(path)}&action=${name}`),
      page({ pathname, searchParams }) {
        const [action, title] = [searchParams.get("action"), searchParams.get("title")];
        if (pathname !== "/w" || action === null || title === null) return undefined;
        const links = names.map((name) => `/w?title=${encodeURIComponent(title)}&action=${name}`);
        const other = `/w?title=${encodeURIComponent(pick(random, goodPaths()))}&action=edit`;
        const all = [...links, other].map((to) => link(to));
        return pageOf(`${action} ${title}`, form, `You are about to ${action} it.`, ...all);
      },
    };
  },
};

const login: Shape = {
  name: "login with the way back",
  make({ random, words }) {
    const [path, name] = [pick(random, ["/login", "/signin", "/account/enter"]), "next"];
    const text = words("login", upTo(random, 3, 50));
    return {
      good: NONE,
      entries: (_, from) => [`${path}?${name}=${encodeURIComponent(from)}`],
      page: ({ pathname, searchParams }) =>
        pathname === path && searchParams.has(name)
          ? pageOf("Log in", text, link(localPath(searchParams.get(name) ?? "/"), "back"))
          : undefined,
    };
  },
};

function localPath(path: string): string {
  return path.startsWith("/") ? path : "/";
}

const replies: Shape = {
  name: "replies of a forum",
  make({ random, words, goodAt, goodPaths }) {
    const form = words("reply form", upTo(random, 8, 40));
    return {
      good: NONE,
      entries: (draw) =>
        numbersTo(2).map(() => `/post/reply?topic=${draw.below(400)}&quote=${draw.below(5_000)}`),
      page({ pathname, searchParams }) {
        const quote = Number(searchParams.get("quote") ?? "x");
        if (pathname !== "/post/reply" || Number.isNaN(quote)) return undefined;
        const next = `/post/reply?topic=${random.below(400)}&quote=${quote + 1}`;
        const quoted = /<p>[^<]*/.exec(goodAt(goodPaths()[quote % 40] ?? "") ?? "")?.[0] ?? "";
        return pageOf("Reply", form, quoted, link(next, "quote"));
      },
    };
  },
};

export const TUNED_SHAPES: readonly Shape[] = [
  again("session in the query", ["sid", "phpsessid", "s"], (draw) => token(draw, 26)),
  again("tracking in the query", ["utm_source", "ref", "fbclid", "from"], (draw) =>
    letters(draw, 9),
  ),
  again("sorted and shown otherwise", ["view", "sort", "order"], (draw) =>
    pick(draw, ["list", "grid", "asc", "desc", "name", "date", "price", "wide"]),
  ),
  ...[mirror, relativeDays, months, facets, pages, tokens, missing, actions, login, replies],
];
