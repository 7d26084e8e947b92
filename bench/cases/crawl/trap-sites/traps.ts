/**
 * Traps of the held-out sites, after what real software makes: viewers of versions, shops, plugins for calendars, forums, servers that answer anything.
 *
 * Written before the recognition was worked on again, run once at the end of that work, and not run with it before.
 */
import type { Random } from "../../../../src/base/random.ts";
import { DAY_MS, dayText, letters, link, numbersTo, pick, token } from "../trap-shapes/shape.ts";
import {
  links,
  type Site,
  some,
  type TrapFamily,
  upTo,
  withQuery,
  without,
} from "../trap-families/family.ts";

const START_MS = Date.UTC(2_026, 10, 29);

/** Files of a repository under each commit, with names and values parted by semicolons. */
const repository: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 5)}.git`;
  const files = numbersTo(upTo(random, 6, 25)).map((n) => `${letters(random, 6)}/${n}.c`);
  const kinds = ["blob", "history", "blame", "raw"];
  const urlAt = (kind: string, file: string, hash: string): string =>
    `${root}?a=${kind};f=${file};hb=${hash}`;
  return {
    entries: (at) => [urlAt("blob", pick(at, files), token(at, 40, 16))],
    answer({ pathname, search }, at) {
      if (pathname !== root) return undefined;
      const [, kind = "", file = "", hash = ""] = /a=(\w+);f=([^;]*);hb=(\w+)/.exec(search) ?? [];
      const near = numbersTo(3).map(() => urlAt(kind, file, token(at, 40, 16)));
      const others = kinds.map((each) => urlAt(each, pick(at, files), hash));
      const code = words(`code of ${file}`, 70);
      const head = `<h1>${file}</h1><p>commit ${hash} by ${words(`by ${at.below(9)}`, 1)}</p>`;
      return `${head}<pre>${code}</pre>${links([...near, ...others])}`;
    },
  };
};

/** A feed read on from a token; its items come round again. */
const cursor: TrapFamily = ({ random, words }) => {
  const path = `/${pick(random, ["feed", "latest.php", "timeline/more"])}`;
  const count = upTo(random, 20, 60);
  const form = random.below(2);
  const urlAt = (n: number, at: Random): string => {
    const after = `${token(at, 14)}${n.toString(36)}x`;
    return form === 0 ? `${path}?after=${after}` : `${path}/${after}`;
  };
  return {
    entries: (at) => [urlAt(0, at)],
    answer({ pathname, search }, at) {
      if (!pathname.startsWith(path)) return undefined;
      const from = Number.parseInt(/.*([0-9a-z]+?)x$/.exec(pathname + search)?.[1] ?? "0", 36);
      const items = numbersTo(8).map((n) => `<p>${words(`feed ${(from + n) % count}`, 11)}</p>`);
      return `<h1>Latest</h1>${items.join("")}${links([urlAt((from + 8) % 36, at)], "older")}`;
    },
  };
};

/** A library's catalogue: each link has a new session in its path, and a step. */
const opac: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["F", "opac/DB=1/SET=2/TTL", "cgi-bin/gw"])}`;
  const books = upTo(random, 10, 50);
  const urlAt = (at: Random): string => {
    const step = String(at.below(99_999)).padStart(5, "0");
    const func = pick(at, ["full", "short", "scan", "back"]);
    return `${root}/${token(at, 24).toUpperCase()}-${step}?func=${func}&doc=${at.below(books)}`;
  };
  return {
    entries: (at) => [urlAt(at)],
    answer({ pathname, searchParams }, at) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const [doc, func] = [searchParams.get("doc"), searchParams.get("func")];
      const text = words(
        `book ${doc} ${func === "full" ? "full" : "short"}`,
        func === "full" ? 50 : 15,
      );
      return `<h1>Record ${doc}</h1><p>${text}</p>${links(numbersTo(6).map(() => urlAt(at)))}`;
    },
  };
};

/** Lists of days, weeks and months, and the same for a calendar program. */
const events: TrapFamily = ({ random, words }) => {
  const root = pick(random, ["/events", "/veranstaltungen", "/whatson"]);
  const empty = words("no events", upTo(random, 3, 25));
  const names = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"].join(" ");
  const urlAt = (kind: string, ms: number): string => {
    const day = dayText(ms);
    if (kind === "list") return `${root}/list/?tribe-bar-date=${day}`;
    return kind === "month" ? `${root}/month/${day.slice(0, 7)}/` : `${root}/${day}/`;
  };
  return {
    entries: () => [urlAt("month", START_MS), urlAt("list", START_MS)],
    answer({ pathname, search, searchParams }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const text = /(\d{4}-\d\d)(-\d\d)?/.exec(pathname + search);
      const ms = Date.parse(`${text?.[1]}${text?.[2] ?? "-01"}`);
      if (Number.isNaN(ms)) return { status: 404 };
      const isMonth = pathname.startsWith(`${root}/month/`);
      const days = isMonth ? numbersTo(28).map((n) => urlAt("day", ms + n * DAY_MS)) : [];
      const near = [-31, -1, 1, 31].map((by) => urlAt(pick0(pathname, root), ms + by * DAY_MS));
      const copy = `${pathname}${search === "" ? "?" : `${search}&`}ical=1`;
      if (searchParams.has("ical")) return { status: 302, location: pathname };
      const head = `<h1>Events ${text?.[0]}</h1><p>${names}</p><p>${empty}</p>`;
      const grid = days.map((day, n) => link(day, String(n + 1))).join("");
      return `${head}${grid}${links([...near, copy])}`;
    },
  };
};

function pick0(pathname: string, root: string): string {
  if (pathname.startsWith(`${root}/list`)) return "list";
  return pathname.startsWith(`${root}/month`) ? "month" : "day";
}

/** A shop's filters as folders of name and value. */
const folders: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 6)}/filter`;
  const names = numbersTo(upTo(random, 3, 6)).map(() => letters(random, 5));
  const values = numbersTo(upTo(random, 3, 7)).map(() => letters(random, 4));
  const count = upTo(random, 12, 40);
  return {
    entries: () => [`${root}/${names[0]}/${values[0]}`],
    answer({ pathname }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const parts = pathname.slice(root.length + 1).split("/");
      const chosen = new Map(
        numbersTo(Math.floor(parts.length / 2)).map((n) => [parts[2 * n], parts[2 * n + 1]]),
      );
      const next = names.flatMap((name) =>
        values.map((value) => {
          const all = [...chosen, [name, value] as const];
          return `${root}/${[...new Map(all)].flat().join("/")}`;
        }),
      );
      const start = [...chosen].flat().join("").length;
      const shown = numbersTo(Math.max(0, 10 - 2 * chosen.size)).map(
        (n) => `<p>${words(`in shop ${(start + n * 3) % count}`, 10)} ${20 + n} EUR</p>`,
      );
      return `<h1>Shop</h1>${shown.join("")}${links(next)}`;
    },
  };
};

/** Into a basket or a list of wishes, with the way back in the path: leads back. */
const baskets: TrapFamily = (site) => {
  const key = token(site.random, 16);
  const kind = pick(site.random, ["wishlist/index/add", "checkout/cart/add", "compare/add"]);
  const into = (path: string, at: Random): string => {
    const back = Buffer.from(path).toString("base64url");
    return `/${kind}/product/${at.below(5_000)}/uenc/${back}/key/${key}/`;
  };
  return {
    entries: (at, path) => numbersTo(2).map(() => into(path, at)),
    answer({ pathname }) {
      if (!pathname.startsWith(`/${kind}/`)) return undefined;
      const back = /\/uenc\/([^/]*)\//.exec(pathname)?.[1] ?? "";
      return { status: 302, location: Buffer.from(back, "base64url").toString() || "/" };
    },
  };
};

const LOCALES = "en de fr es it nl pl pt sv da fi cs hu ro el tr".split(" ");
const PLACES = ["us", "gb", "ch", "at", "be", "ca"];

/** The whole site again under any language and country, each page leading to all of them. */
const locales: TrapFamily = (site) => {
  const all = LOCALES.flatMap((lang) => PLACES.map((place) => `${lang}-${place}`));
  const form = site.random.below(2);
  const into = (path: string, locale: string): string =>
    form === 0 ? `/${locale}${path}` : withQuery(path, { hl: locale });
  return {
    entries: (at, path) => numbersTo(5).map(() => into(path, pick(at, all))),
    answer(url, at) {
      const found = /^\/[a-z]{2}-[a-z]{2}(\/.*)$/.exec(url.pathname + url.search)?.[1];
      if (form === 1 && !url.searchParams.has("hl")) return undefined;
      const path = form === 0 ? found : without(url, ["hl"]);
      if (path === undefined) return undefined;
      const page = site.goodAt(path);
      if (page === undefined) return { status: 404 };
      return page + links(numbersTo(6).map(() => into(path, pick(at, all))));
    },
  };
};

/** Notes to answer: a form, with the note that is answered. */
const notes: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["comment/reply/", "node/reply?pid=", "answer/"])}`;
  const form = words("form of notes", upTo(random, 8, 60));
  const count = upTo(random, 5, 60);
  return {
    entries: (at) => numbersTo(2).map(() => root + at.below(90_000)),
    answer({ pathname, search }, at) {
      const whole = pathname + search;
      if (!whole.startsWith(root)) return undefined;
      const id = Number(whole.slice(root.length));
      const quoted = words(`note ${id % count}`, 15);
      const next = [root + (id + 1), root + at.below(90_000), `${root}${id}#form`];
      return `<h1>Answer</h1><p>${quoted}</p><p>${form}</p>${links(next)}`;
    },
  };
};

/** A wiki's doings: differences of two versions, links back, an index, for each page. */
const doings: TrapFamily = (site) => {
  const { random, goodAt } = site;
  const names = ["diff", "backlink", "revisions", "edit", "media", "export"];
  const into = (path: string, name: string, at: Random): string => {
    const other: Record<string, string | number> =
      name === "diff" ? { "rev2[0]": 1e9 + at.below(1e8), "rev2[1]": 1e9 + at.below(1e8) } : {};
    return withQuery("/doku.php", { id: encodeURIComponent(path), do: name, ...other });
  };
  const form = site.words("doings", upTo(random, 10, 50));
  return {
    entries: (at, path) => names.slice(0, 3).map((name) => into(path, name, at)),
    answer({ pathname, searchParams }, at) {
      if (pathname !== "/doku.php") return undefined;
      const [path, name] = [searchParams.get("id") ?? "/", searchParams.get("do") ?? ""];
      const text = (/<p>([^<]*)/.exec(goodAt(path) ?? "")?.[1] ?? "").split(" ").slice(0, 40);
      const shown = name === "backlink" ? "Nothing was found." : text.join(" ");
      const next = names.map((each) => into(path, each, at));
      const other = into(some(site, at, 1)[0] ?? "/", "diff", at);
      return `<h1>${name}</h1><p>${form}</p><p>${shown}</p>${links([...next, other])}`;
    },
  };
};

/** A list in pages that shows its last page for any number beyond it. */
const clamped: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 5)}`;
  const last = upTo(random, 1, 4);
  const isTurned = random.below(2) === 0;
  const urlAt = (n: number): string => `${root}/p${n}.html`;
  return {
    entries: () => [urlAt(1)],
    answer({ pathname }) {
      const n = Number(new RegExp(`^${root}/p(\\d+).html$`).exec(pathname)?.[1] ?? "x");
      if (Number.isNaN(n)) return undefined;
      const shown = isTurned ? n % (last + 1) : Math.min(n, last);
      const near = [n + 1, n + 2, n + 5].map(urlAt);
      return `<h1>Page ${n}</h1><p>${words(`clamped ${shown}`, 70)}</p>${links(near, "next")}`;
    },
  };
};

/** What is not there is answered as found, with the time and the number of the request. */
const clock: TrapFamily = (site) => {
  const { random, words } = site;
  const root = `/${letters(random, 5)}/`;
  const text = words("not found", upTo(random, 8, 50));
  const names = numbersTo(5).map(() => letters(random, 5));
  return {
    entries: (at) => [`${root}${letters(at, 7)}.php`, `${root}${letters(at, 5)}/`],
    answer({ pathname }, at) {
      if (!pathname.startsWith(root)) return undefined;
      const time = `${at.below(24)}:${10 + at.below(50)}:${10 + at.below(50)}`;
      const next = [...names.slice(0, 3).map((name) => `${name}/`), `${letters(at, 6)}.php`];
      const said = `${text} ${time}, request ${token(at, 12, 16)}, ${at.below(900)} ms`;
      return `<h1>Oops</h1><p>${said}</p>${links(next)}${links(some(site, at, 1))}`;
    },
  };
};

/** Searches with parts of good pages around what was asked, and what others asked. */
const snippets: TrapFamily = (site) => {
  const { random, words, goodAt } = site;
  const path = `/${pick(random, ["?s=", "search/", "suche.html?query="])}`;
  const asked = numbersTo(300).map((n) => words(`asked for ${n}`, 1));
  return {
    entries: (at) => [path + pick(at, asked)],
    answer({ pathname, search }, at) {
      const whole = pathname + search;
      if (!whole.startsWith(path) || whole === path) return undefined;
      const results = some(site, at, upTo(at, 2, 6)).map((to) => {
        const text = (/<p>([^<]*)/.exec(goodAt(to) ?? "")?.[1] ?? "").split(" ");
        const from = at.below(Math.max(1, text.length - 10));
        return `<p>${link(to, to)} … ${text.slice(from, from + 12).join(" ")} …</p>`;
      });
      const value = whole.slice(path.length).split(/[+ ]/).at(-1);
      const next = numbersTo(4).map(() => `${path}${value}+${pick(at, asked)}`);
      return `<h1>Results for ${value}</h1>${results.join("")}${links(next, "others asked")}`;
    },
  };
};

/** Lists of files in each order, for each good page and some folders that a server made. */
const indexes: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 4)}/pub`;
  const names = numbersTo(upTo(random, 2, 6)).map(() => letters(random, 6));
  const urlAt = (folder: string, c: string, o: string): string =>
    `${root}/${folder}/?C=${c};O=${o}`;
  return {
    entries: () => [urlAt(names[0] ?? "", "N", "D")],
    answer({ pathname, search }) {
      const folder = new RegExp(`^${root}/(\\w+)/$`).exec(pathname)?.[1];
      if (folder === undefined) return undefined;
      const turn = search.length + search.charCodeAt(3) + search.charCodeAt(7);
      const rows = numbersTo(20).map(
        (n) => `<p>${words(`file ${folder} ${(n * 7 + turn) % 20}`, 3)} 2019</p>`,
      );
      const orders = ["N", "M", "S", "D"].flatMap((c) =>
        ["A", "D"].map((o) => urlAt(folder, c, o)),
      );
      const deeper = names.map(
        (name) => `${root}/${name}/?C=${"NMSD"[turn % 4]};O=A&F=${turn % 90}`,
      );
      return `<h1>Index</h1>${rows.join("")}${links([...orders, ...deeper])}`;
    },
  };
};

/** An image in each size and form, with its caption. */
const sizes: TrapFamily = (site) => {
  const { random, words } = site;
  const kinds = ["sq", "q", "t", "s", "n", "w", "m", "z", "c", "l", "h", "k", "o"];
  const root = `/${pick(random, ["images/", "media/file/"])}`;
  const count = upTo(random, 3, 12);
  const menu = words("sizes", upTo(random, 0, 30));
  return {
    entries: (at) => [`${root}${at.below(1e6)}/sizes/o/`],
    answer({ pathname }, at) {
      const [, id, kind] = new RegExp(`^${root}(\\d+)/sizes/(\\w+)/$`).exec(pathname) ?? [];
      if (id === undefined) return undefined;
      const next = kinds.map((each) => `${root}${id}/sizes/${each}/`);
      const other = numbersTo(2).map(() => `${root}${at.below(1e6)}/sizes/${kind}/`);
      const caption = words(`caption ${Number(id) % count}`, 8);
      return `<h1>Image</h1><p>${caption}</p><p>${menu}</p>${links([...next, ...other])}`;
    },
  };
};

/** Doors that are closed: each page has a link to change it, to whom that is not allowed. */
const closed: TrapFamily = (site: Site) => {
  const status = pick(site.random, [401, 403, 410]);
  const form = site.random.below(2);
  const editor = ["", "admin", "edit", ""].join("/");
  const into = (path: string, at: Random): string =>
    form === 0
      ? editor + at.below(1e6)
      : withQuery(path, { action: "delete", nonce: token(at, 10, 16) });
  return {
    entries: (at, path) => [into(path, at)],
    answer: ({ pathname, searchParams }) =>
      pathname.startsWith(editor) || searchParams.has("nonce") ? { status } : undefined,
  };
};

export const TRAP_PARTS: Readonly<Record<string, TrapFamily>> = {
  ...{ repository, cursor, opac, events, folders, baskets, locales, notes, doings, clamped },
  ...{ clock, snippets, indexes, sizes, closed },
};
