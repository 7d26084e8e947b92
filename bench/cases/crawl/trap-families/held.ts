/** Families of traps that are only counted: written before the recognition was worked on, and read while it was improved. Only their seeds are unseen. */
import type { Random } from "../../../../src/base/random.ts";
import { letters, link, numbersTo, pick, token } from "../trap-shapes/shape.ts";
import { links, some, type TrapFamily, upTo, withQuery, without } from "./family.ts";

/** A real list under each order, size and view. */
const orders: TrapFamily = ({ random, words }) => {
  const path = `/${letters(random, 5)}/list`;
  const count = upTo(random, 15, 50);
  return {
    entries: () => [path],
    answer({ pathname, searchParams }) {
      if (pathname !== path) return undefined;
      const next = [
        ...["name", "price", "date", "rank"].map((sort) => ({ sort })),
        ...["asc", "desc"].map((dir) => ({ dir })),
        ...[10, 20, 50, 100].map((size) => ({ size: String(size) })),
        ...["grid", "list", "table"].map((view) => ({ view })),
      ].map(
        (change) =>
          `${path}?${new URLSearchParams({ ...Object.fromEntries(searchParams), ...change })}`,
      );
      const size = Number(searchParams.get("size") ?? 20);
      const key = (searchParams.get("sort") ?? "").length + 3;
      const order = numbersTo(count).sort((a, b) => ((a * key * 7) % 53) - ((b * key * 7) % 53));
      if (searchParams.get("dir") === "desc") order.reverse();
      return `<h1>List</h1>${order
        .slice(0, size)
        .map((n) => `<p>${words(`row ${n}`, 9)}</p>`)
        .join("")}${links(next)}`;
    },
  };
};

/** Months and weeks in three views, by words and numbers. */
const views: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["cal", "schedule", "booking"])}`;
  const names = [
    "jan",
    "feb",
    "mar",
    "apr",
    "may",
    "jun",
    "jul",
    "aug",
    "sep",
    "oct",
    "nov",
    "dec",
  ];
  const isWord = random.below(2) === 0;
  const frame = words("views", upTo(random, 5, 40));
  const urlAt = (view: string, at: number): string => {
    const [year, month] = [Math.floor(at / 12), at % 12];
    return isWord
      ? `${root}/${view}/${names[month]}-${year}`
      : `${root}.php?view=${view}&month=${month + 1}&year=${year}`;
  };
  return {
    entries: () => [urlAt("month", 2_026 * 12)],
    answer({ pathname, searchParams }) {
      const word = new RegExp(`^${root}/(\\w+)/(\\w+)-(\\d+)$`).exec(pathname);
      if (isWord ? word === null : pathname !== `${root}.php`) return undefined;
      const at = isWord
        ? Number(word?.[3]) * 12 + names.indexOf(word?.[2] ?? "")
        : Number(searchParams.get("year")) * 12 + Number(searchParams.get("month")) - 1;
      const view = (isWord ? word?.[1] : searchParams.get("view")) ?? "month";
      const days = numbersTo(view === "week" ? 7 : 30).map((day) => `<p>${day + 1} free</p>`);
      const next = ["month", "week", "list"].flatMap((each) =>
        [at - 12, at - 1, at, at + 1, at + 12].map((to) => urlAt(each, to)),
      );
      const head = `<h1>${names[at % 12]} ${Math.floor(at / 12)}</h1>`;
      return `${head}<p>${frame}</p>${days.join("")}${links(next)}`;
    },
  };
};

/** Tags in any combination, with parts of good pages. */
const tags: TrapFamily = (site) => {
  const { random, words, goodAt } = site;
  const all = numbersTo(upTo(random, 8, 40)).map((n) => words(`tag ${n}`, 1));
  const [root, joint] = [pick(random, ["/tag/", "/topics/", "/t/"]), pick(random, ["+", ",", "/"])];
  return {
    entries: (at) => [root + pick(at, all)],
    answer({ pathname }) {
      if (!pathname.startsWith(root)) return undefined;
      const chosen = decodeURIComponent(pathname.slice(root.length)).split(joint);
      const start = chosen.join("").length * 31;
      const paths = numbersTo(Math.max(0, 6 - chosen.length)).map(
        (n) => site.goodPaths()[(start + n * 17) % site.goodPaths().length] ?? "/",
      );
      const shown = paths.map(
        (to) => `<p>${link(to, "post")}${/<p>([^<]{0,80})/.exec(goodAt(to) ?? "")?.[1] ?? ""}</p>`,
      );
      const next = all
        .filter((tag) => !chosen.includes(tag))
        .slice(0, 12)
        .map((tag) => root + [...chosen, tag].join(joint));
      return `<h1>${chosen.join(" ")}</h1>${shown.join("")}${links(next)}`;
    },
  };
};

/** Things beside each other, in any choice. */
const compared: TrapFamily = ({ random, words }) => {
  const path = "/compare";
  const count = upTo(random, 20, 200);
  const joint = pick(random, [",", "-vs-", "|"]);
  return {
    entries: (at) => [`${path}?ids=${at.below(count)}${joint}${at.below(count)}`],
    answer({ pathname, searchParams }, at) {
      if (pathname !== path) return undefined;
      const ids = (searchParams.get("ids") ?? "").split(joint).slice(0, 4);
      const columns = ids.map((id) => `<p>${words(`compared ${Number(id) % count}`, 25)}</p>`);
      const next = numbersTo(6).map(
        () => `${path}?ids=${[...ids.slice(-2), at.below(count)].join(joint)}`,
      );
      return `<h1>Compare</h1>${columns.join("")}${links(next)}`;
    },
  };
};

/** A basket, a wish list and a log-in for each page: forms of one text. */
const forms: TrapFamily = (site) => {
  const { random, words } = site;
  const form = random.below(3);
  const text = words("form", upTo(random, 5, 60));
  const into = (path: string, at: Random): string => {
    if (form === 0) return `/login?return=${encodeURIComponent(path)}`;
    if (form === 1) return `/cart/add/${at.below(1e5)}?back=${encodeURIComponent(path)}`;
    return `/share/${path.replace(/\W+/g, "-")}/${letters(at, 3)}`;
  };
  return {
    entries: (at, path) => numbersTo(2).map(() => into(path, at)),
    answer({ pathname }, at) {
      if (!/^\/(login|cart|share)\b/.test(pathname)) return undefined;
      const next = [into(pathname, at), ...some(site, at, 1)];
      return `<h1>Please</h1><p>${text}</p>${links(next)}`;
    },
  };
};

/** Pieces of a map, and zoom. */
const map: TrapFamily = ({ random, words }) => {
  const isPath = random.below(2) === 0;
  const text = words("map", upTo(random, 0, 30));
  const urlAt = (z: number, x: number, y: number): string =>
    isPath ? `/map/${z}/${x}/${y}` : `/map?x=${x}&y=${y}&z=${z}`;
  return {
    entries: () => [urlAt(1, 0, 0)],
    answer({ pathname, searchParams }) {
      if (!pathname.startsWith("/map")) return undefined;
      const parts = isPath
        ? pathname.split("/").slice(2).map(Number)
        : ["z", "x", "y"].map((name) => Number(searchParams.get(name)));
      const [z = 1, x = 0, y = 0] = parts;
      const next = [
        urlAt(z + 1, 2 * x, 2 * y),
        urlAt(z, x + 1, y),
        urlAt(z, x - 1, y),
        urlAt(z, x, y + 1),
      ];
      return `<h1>Map</h1><p>${text} at ${x} ${y}</p>${links(next)}`;
    },
  };
};

/** Names that are words by chance, each leading to others; the text is one of a few. */
const slugs: TrapFamily = ({ random, words }) => {
  const root = pick(random, ["/", "/offers/", "/x/y/"]);
  const prefix = letters(random, 3);
  const rooms = upTo(random, 1, 12);
  return {
    entries: (at) => [`${root}${prefix}-${letters(at, 7)}-${letters(at, 5)}`],
    answer({ pathname }, at) {
      if (!pathname.startsWith(`${root}${prefix}-`)) return undefined;
      const next = numbersTo(5).map(() => `${root}${prefix}-${letters(at, 7)}-${letters(at, 5)}`);
      return `<h1>Offer</h1><p>${words(`slug room ${at.below(rooms)}`, 70)}</p>${links(next)}`;
    },
  };
};

/** Two versions of a good page beside each other. */
const differences: TrapFamily = (site) => {
  const { goodAt } = site;
  const urlAt = (path: string, at: Random): string =>
    `/w/index.php?title=${encodeURIComponent(path)}&diff=${at.below(1e6)}&oldid=${at.below(1e6)}`;
  return {
    entries: (at, path) => [urlAt(path, at)],
    answer({ pathname, searchParams }, at) {
      if (pathname !== "/w/index.php") return undefined;
      const path = searchParams.get("title") ?? "/";
      const text = (/<p>([^<]*)/.exec(goodAt(path) ?? "")?.[1] ?? "").split(" ");
      const part = text.slice(0, 10 + at.below(Math.max(1, text.length)));
      return `<h1>Difference</h1><p>Revision by user ${at.below(99)}</p><p>${part.join(" ")}</p>${links(numbersTo(3).map(() => urlAt(path, at)))}`;
    },
  };
};

/** Redirects that lead on to others of their kind. */
const hops: TrapFamily = (site) => {
  const root = pick(site.random, ["/hop/", "/next?n=", "/visit/"]);
  return {
    entries: () => [`${root}1`],
    answer({ pathname, search }, at) {
      const whole = pathname + search;
      if (!whole.startsWith(root)) return undefined;
      const n = Number(whole.slice(root.length));
      if (n % 4 > 0) return { status: 302, location: root + (n + 1) };
      return `<h1>Wait</h1><p>You are being led on.</p>${links([root + (n + 1), root + (n + 1 + at.below(50))])}`;
    },
  };
};

/** Links to pages that are not there, other ones on each page. */
const broken: TrapFamily = ({ random }) => {
  const root = `/${letters(random, 5)}/`;
  const isBelow = random.below(2) === 0;
  return {
    entries: (at, path) =>
      numbersTo(2).map(() =>
        isBelow
          ? `${path.split("?")[0]}/${root.slice(1)}${letters(at, 4)}.gif`
          : root + token(at, 9),
      ),
    answer: ({ pathname }) => (pathname.includes(root) ? { status: 404 } : undefined),
  };
};

/** Good pages by any number of slashes, capitals and endings. */
const spellings: TrapFamily = (site) => {
  const { goodAt, random } = site;
  const form = random.below(3);
  const spelled = (path: string, at: Random): string => {
    const [file = "", query] = path.split("?");
    const rest = query === undefined ? "" : `?${query}`;
    if (form === 0) return `${file.replaceAll("/", "/".repeat(2 + at.below(3)))}${rest}`;
    if (form === 1)
      return [...file, rest]
        .map((part) => (at.below(2) === 0 && part !== rest ? part.toUpperCase() : part))
        .join("");
    return withQuery(path, { _: at.below(1e9) });
  };
  return {
    entries: (at, path) => [spelled(path, at), ...some(site, at, 1).map((to) => spelled(to, at))],
    answer(url) {
      const path = without(url, ["_"]).replace(/\/+/g, "/");
      const known = goodAt(path) ?? goodAt(path.toLowerCase());
      return known;
    },
  };
};

/** Users who have written nothing. */
const users: TrapFamily = ({ random, words }) => {
  const root = pick(random, ["/user/", "/profile.php?id=", "/members/u"]);
  const text = words("user", upTo(random, 3, 40));
  return {
    entries: (at) => [root + at.below(1e6)],
    answer({ pathname, search }, at) {
      const whole = pathname + search;
      if (!whole.startsWith(root)) return undefined;
      const id = whole.slice(root.length);
      const friends = numbersTo(5).map(() => root + at.below(1e6));
      return `<h1>User ${id}</h1><p>${words(`nick ${id}`, 1)} has written nothing. ${text}</p>${links(friends)}`;
    },
  };
};

export const HELD_FAMILIES: Readonly<Record<string, TrapFamily>> = {
  ...{
    orders,
    views,
    tags,
    compared,
    forms,
    map,
    slugs,
    differences,
    hops,
    broken,
    spellings,
    users,
  },
};
