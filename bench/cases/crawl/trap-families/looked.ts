/** Families of traps that are looked at while the recognition is worked on. */
import type { Random } from "../../../../src/base/random.ts";
import { DAY_MS, dayText, letters, link, numbersTo, pick, token } from "../trap-shapes/shape.ts";
import { links, some, type TrapFamily, upTo, withQuery, without } from "./family.ts";

const START_MS = Date.UTC(2026, 10, 28);

const calendar: TrapFamily = ({ random, words }) => {
  const root = pick(random, ["/calendar", "/events", "/termine"]);
  const form = random.below(4);
  const frame = words("calendar", upTo(random, 0, 50));
  const urlAt = (ms: number): string => {
    const [year = "", month = "", day = ""] = dayText(ms).split("-");
    if (form === 0) return `${root}/${year}/${month}/${day}/`;
    if (form === 1) return `${root}?date=${year}-${month}-${day}`;
    return form === 2
      ? `${root}?y=${year}&m=${month}&d=${day}`
      : `${root}/day-${year}${month}${day}`;
  };
  const read = ({ pathname, search }: URL): number => {
    const digits = (pathname + search).slice(root.length).replace(/\D/g, "");
    return Date.parse(`${digits.slice(0, -4)}-${digits.slice(-4, -2)}-${digits.slice(-2)}`);
  };
  return {
    entries: () => [urlAt(START_MS)],
    answer(url) {
      const ms = url.pathname.startsWith(root) ? read(url) : Number.NaN;
      if (Number.isNaN(ms)) return undefined;
      const near = [-365, -30, -1, 1, 30, 365].map((days) => urlAt(ms + days * DAY_MS));
      const head = new Date(ms).toUTCString().split(" ").slice(0, 4).join(" ");
      return `<h1>${head}</h1><p>${frame}</p><p>No events on this day.</p>${links(near)}`;
    },
  };
};

/** All of the site again, under an id that each page makes anew or carries on. */
const session: TrapFamily = (site) => {
  const { random } = site;
  const form = random.below(3);
  const isCarried = random.below(2) === 0;
  const length = upTo(random, 8, 32);
  const name = pick(random, ["sid", "PHPSESSID", "session"]);
  const into = (path: string, id: string): string => {
    if (form === 0) return withQuery(path, { [name]: id });
    if (form === 1) return `/s-${id}${path}`;
    const [file = "", query] = path.split("?");
    return `${file};${name}=${id}${query === undefined ? "" : `?${query}`}`;
  };
  const again = (html: string, id: string): string =>
    html.replace(
      /href="([^"]*)"/g,
      (_, path: string) =>
        `href="${into(path.replaceAll("&amp;", "&"), id).replaceAll("&", "&amp;")}"`,
    );
  return {
    entries: (at, path) => [
      into(path, token(at, length)),
      into(some(site, at, 1)[0] ?? "/", token(at, length)),
    ],
    answer(url, at) {
      const whole = url.pathname + url.search;
      const found =
        form === 1
          ? /^\/s-([^/]+)(\/.*)$/.exec(whole)
          : new RegExp(`[;?&]${name}=([^&?]*)`).exec(whole);
      if (found === null) return undefined;
      const path =
        form === 0
          ? without(url, [name])
          : form === 1
            ? (found[2] ?? "")
            : whole.replace(found[0], "");
      const page = site.goodAt(path);
      if (page === undefined) return { status: 404 };
      return again(page, isCarried ? (found[1] ?? "") : token(at, length));
    },
  };
};

const facets: TrapFamily = ({ random, words }) => {
  const path = pick(random, ["/search/things", "/c/all", "/finder"]);
  const names = numbersTo(upTo(random, 3, 7)).map(() => letters(random, 5));
  const isArray = random.below(3) === 0;
  const count = upTo(random, 12, 60);
  const per = upTo(random, 5, 15);
  return {
    entries: () => [path],
    answer({ pathname, search }) {
      if (pathname !== path) return undefined;
      const chosen = search === "" ? [] : search.slice(1).split("&");
      const all = names.flatMap((name, at) =>
        numbersTo(3 + (at % 3)).map((value) => `${isArray ? `f[]=${name}-` : `${name}=`}${value}`),
      );
      const next = all
        .filter((each) => !chosen.includes(each))
        .map((each) => {
          const name = isArray ? each : each.split("=")[0];
          const kept = chosen.filter((one) => one !== each && one.split("=")[0] !== name);
          return `${path}?${[...kept, each].join("&")}`;
        });
      const shown = numbersTo(count).filter((n) =>
        chosen.every((each) => (n * 13 + each.length + each.charCodeAt(each.length - 1)) % 3 > 0),
      );
      const things = shown.slice(0, per).map((n) => `<p>${words(`facet thing ${n}`, 12)}</p>`);
      return `<h1>${shown.length} things</h1>${things.join("")}${links(next)}`;
    },
  };
};

/** Pages linked with relative links below themselves. */
const relative: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 6)}`;
  const names = numbersTo(upTo(random, 1, 5)).map(() => letters(random, 5));
  const isFile = random.below(2) === 0;
  return {
    entries: () => [`${root}/`],
    answer({ pathname }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const last =
        pathname
          .split("/")
          .filter((each) => each !== "")
          .at(-1) ?? "";
      const folders = names.map((name) => (isFile ? `${name}/index.html` : `${name}/`));
      return `<h1>${last}</h1><p>${words(`relative ${last}`, 60)}</p>${links(folders)}`;
    },
  };
};

/** Numbers that count on, in the path or the query. */
const counter: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 5)}`;
  const form = random.below(3);
  const text = words("counter", upTo(random, 4, 90));
  const urlAt = (n: number): string =>
    form === 0 ? `${root}/${n}` : form === 1 ? `${root}/list?start=${n}` : `${root}/page-${n}.html`;
  return {
    entries: () => [urlAt(1)],
    answer({ pathname, search }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const n = Number(/\d+/.exec((pathname + search).slice(root.length))?.[0] ?? 0);
      const near = [n + 1, n + 10, Math.max(1, n - 1)].map(urlAt);
      return `<h1>Number ${n}</h1><p>${text}</p>${links(near)}`;
    },
  };
};

/** Anything below a folder is answered, with links to more that are not there. */
const softMissing: TrapFamily = (site) => {
  const { random, words } = site;
  const root = `/${letters(random, 6)}/`;
  const text = words("not there", upTo(random, 5, 60));
  const isEchoed = random.below(2) === 0;
  return {
    entries: (at) => [root + letters(at, 8)],
    answer({ pathname }, at) {
      if (!pathname.startsWith(root)) return undefined;
      const next = numbersTo(3).map(() => root + letters(at, 8));
      const echo = isEchoed ? `${pathname} is not here.` : "";
      return `<h1>Sorry</h1><p>${text} ${echo}</p>${links(next)}${links(some(site, at, 2))}`;
    },
  };
};

/** One text with a part by chance. */
const nearlySame: TrapFamily = ({ random, words }) => {
  const root = `/${letters(random, 5)}/`;
  const text = words("nearly the same", upTo(random, 30, 120));
  const count = upTo(random, 2, 8);
  return {
    entries: () => [`${root}1`],
    answer({ pathname }, at) {
      if (!pathname.startsWith(root)) return undefined;
      const part = numbersTo(count).map(() => words(`chance ${at.below(3_000)}`, 1));
      const next = numbersTo(3).map(() => `${root}${at.below(1e7)}`);
      return `<h1>Tip</h1><p>${text}</p><p>${part.join(" ")}</p>${links(next)}`;
    },
  };
};

const VALUES: ReadonlyArray<(at: Random) => string> = [
  (at) => letters(at, 8),
  (at) => String(at.below(1e9)),
  (at) => pick(at, ["mail", "social", "home", "footer", "banner"]),
];

/** Good pages with names in the query that mean nothing. */
const tracking: TrapFamily = (site) => {
  const { random, goodAt } = site;
  const names = ["utm_source", "utm_medium", "ref", "fbclid", "src"].slice(0, upTo(random, 1, 5));
  const value = pick(random, VALUES);
  const into = (path: string, at: Random): string =>
    withQuery(path, Object.fromEntries(names.map((name) => [name, value(at)])));
  return {
    entries: (at, path) => [into(path, at), ...some(site, at, 2).map((to) => into(to, at))],
    answer: (url) =>
      names.some((name) => url.searchParams.has(name)) ? goodAt(without(url, names)) : undefined,
  };
};

/** Each good page to be printed, as a folder, an ending or a query. */
const printed: TrapFamily = ({ random, goodAt }) => {
  const form = random.below(3);
  const into = (path: string): string => {
    if (form === 0) return withQuery(path, { print: 1 });
    if (form === 1) return `/print${path}`;
    return `/print.php?url=${encodeURIComponent(path)}`;
  };
  return {
    entries: (_, path) => [into(path)],
    answer(url) {
      let path: string | undefined;
      if (form === 0 && url.searchParams.has("print")) path = without(url, ["print"]);
      if (form === 1 && url.pathname.startsWith("/print/"))
        path = url.pathname.slice(6) + url.search;
      if (form === 2 && url.pathname === "/print.php") path = url.searchParams.get("url") ?? "/";
      const page = path === undefined ? undefined : goodAt(path);
      return page === undefined
        ? undefined
        : `<p>Print this</p>${page.replace(/<a [^>]*>|<\/a>/g, "")}`;
    },
  };
};

/** Results of a search, with parts of good pages and further searches. */
const searches: TrapFamily = (site) => {
  const { random, words, goodAt } = site;
  const path = pick(random, ["/search", "/s", "/find.php"]);
  const vocabulary = numbersTo(200).map((n) => words(`asked ${n}`, 1));
  const urlAt = (asked: string): string => `${path}?q=${asked}`;
  return {
    entries: (at) => [urlAt(pick(at, vocabulary))],
    answer({ pathname, searchParams }, at) {
      const asked = searchParams.get("q");
      if (pathname !== path || asked === null) return undefined;
      const found = some(site, at, at.below(6));
      const results = found.map((to) => {
        const text = /<p>([^<]*)/.exec(goodAt(to) ?? "")?.[1] ?? "";
        return `<p>${link(to, "result")} ${text.split(" ").slice(0, 12).join(" ")}</p>`;
      });
      const next = numbersTo(4).map(() =>
        urlAt(`${asked.split(" ").slice(-1)}+${pick(at, vocabulary)}`),
      );
      return `<h1>${found.length} results for ${asked}</h1>${results.join("")}${links(next)}`;
    },
  };
};

/** Redirects to good pages, by a number that is never the same. */
const jumps: TrapFamily = (site) => {
  const root = pick(site.random, ["/go/", "/out?id=", "/r/"]);
  return {
    entries: (at) => numbersTo(2).map(() => root + at.below(1e8)),
    answer({ pathname, search }, at) {
      if (!(pathname + search).startsWith(root)) return undefined;
      return { status: 302, location: some(site, at, 1)[0] ?? "/" };
    },
  };
};

/** A list with real pages first, and empty ones without an end behind them. */
const beyond: TrapFamily = ({ random, words }) => {
  const path = `/${letters(random, 6)}`;
  const last = upTo(random, 2, 6);
  const isQuery = random.below(2) === 0;
  const urlAt = (n: number): string => (isQuery ? `${path}?page=${n}` : `${path}/page/${n}`);
  return {
    entries: () => [urlAt(1)],
    answer({ pathname, search }) {
      if (pathname !== path && !pathname.startsWith(`${path}/page/`)) return undefined;
      const n = Number(/\d+$/.exec(pathname + search)?.[0] ?? 1);
      const text = n > last ? "Nothing found." : words(`list page ${n}`, 80);
      const near = [n - 1, n + 1, n + 2].filter((to) => to > 0).map(urlAt);
      return `<h1>List</h1><p>${text}</p>${links(near)}`;
    },
  };
};

/** Each page once more for each language and currency, of one text. */
const crossed: TrapFamily = (site) => {
  const { random, goodAt } = site;
  const languages = ["en", "de", "fr", "es", "it", "nl"].slice(0, upTo(random, 3, 6));
  const currencies = ["usd", "eur", "gbp", "chf"];
  const isPath = random.below(2) === 0;
  const into = (path: string, at: Random): string => {
    const [lang, currency] = [pick(at, languages), pick(at, currencies)];
    return isPath ? `/${lang}-${currency}${path}` : withQuery(path, { lang, currency });
  };
  return {
    entries: (at, path) => numbersTo(3).map(() => into(path, at)),
    answer(url, at) {
      const found = /^\/[a-z]{2}-[a-z]{3}(\/.*)$/.exec(url.pathname + url.search);
      const path = isPath ? found?.[1] : without(url, ["lang", "currency"]);
      if (path === undefined || (!isPath && !url.searchParams.has("lang"))) return undefined;
      const page = goodAt(path);
      return page === undefined ? undefined : page + links(numbersTo(4).map(() => into(path, at)));
    },
  };
};

export const LOOKED_FAMILIES: Readonly<Record<string, TrapFamily>> = {
  ...{ calendar, session, facets, relative, counter, softMissing, nearlySame, tracking, printed },
  ...{ searches, jumps, beyond, crossed },
};
