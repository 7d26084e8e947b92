/**
 * Traps after the software of institutions and shops.
 *
 *   conditions   within · parametric · tagged · columns · basket     days    journeys · sittings
 *   pages again  sessions · translated · growing · trail             pairs   revisions
 *   numbers      records · sheets                                    ids     watch
 */
import type { Random } from "../../../../src/base/random.ts";
import { type Site, some, type Trap, type TrapFamily, upTo } from "../trap-families/family.ts";
import { DAY_MS, dayText, drawn, letters, numbersTo, pick, token } from "../trap-shapes/shape.ts";
import { fixed, named, page, table } from "../trap-software/lists.ts";

type Values = ReadonlyArray<string | number>;

/** What stands at values, and which values are near. `at` is of the URL. */
interface Space {
  readonly start: (at: Random) => Values;
  readonly near: (values: readonly string[], at: Random) => readonly Values[];
  readonly shown: (values: readonly string[], at: Random) => string;
  readonly label?: (values: Values) => string;
}

const [START_MS, HOUR_MS] = [Date.UTC(2_026, 10, 30), 3_600_000];

/** A trap whose URL holds values, in folders or in a query. */
function spaceOf({ random }: Site, roots: Values, names: Values, space: Space): Trap {
  const [root, isQuery] = [`/${pick(random, roots)}`, random.below(2) === 0];
  const inQuery = (values: Values): string => values.map((v, n) => `${names[n]}=${v}`).join("&");
  const urlAt = (values: Values): string =>
    isQuery ? `${root}?${inQuery(values)}` : `${root}/${values.join("/")}`;
  return {
    entries: (at) => [urlAt(space.start(at)), urlAt(space.start(at))],
    answer({ pathname, search }) {
      if (isQuery ? pathname !== root : !pathname.startsWith(`${root}/`)) return undefined;
      const folders = pathname.slice(root.length + 1).split("/");
      const values = isQuery ? search.split("&").map((v) => v.replace(/^[^=]*=/, "")) : folders;
      const at = fixed(pathname + search);
      const near = space.near(values, at);
      const text = (n: number): string => space.label?.(near[n] ?? []) ?? "more";
      return space.shown(values, at) + named(near.map(urlAt), text);
    },
  };
}

/** A list without this one, or with it as the last of `most`. */
function toggled(list: string, one: string, glue: string, most: number): string {
  const [of, others] = [list.split(glue), list.split(glue).filter((each) => each !== one)];
  return (others.length < of.length ? others : [...of, one].slice(-most)).join(glue) || one;
}

/** A catalogue that is searched within its results: a condition more for each link. */
const within: TrapFamily = (site) => {
  const [glue, fields] = [pick(site.random, ["+and+", ";", "*"]), ["su:", "au:", "ti:"]];
  const term = (at: Random): string => pick(at, fields) + site.words(`term ${at.below(400)}`, 1);
  return spaceOf(site, ["search", "katalog/suche", "opac/find"], ["q"], {
    start: (at) => [term(at)],
    near: ([list = ""], at) => numbersTo(9).map(() => [toggled(list, term(at), glue, 24)]),
    shown([list = ""], at) {
      const hits = Math.floor(2_000 / 5 ** list.split(glue).length);
      const rows = numbersTo(Math.min(8, hits)).map(() => [site.words(`hit ${at.below(500)}`, 5)]);
      return page(`${hits} hits`, table(...rows));
    },
    label: ([list]) => `${list}`.split(glue).at(-1) ?? "",
  });
};

/** Values of the attributes of electronic parts, each to tick, and pages of the list. */
const parametric: TrapFamily = (site) => {
  const [attributes, options] = [upTo(site.random, 5, 9), upTo(site.random, 4, 9)];
  const one = (at: Random): string => `${2_041 + at.below(attributes)}~${at.below(options)}`;
  const next = (list: string, at: Random): string =>
    toggled(list, one(at), ",", 9).split(",").sort().join(",");
  return spaceOf(site, ["filter", "products/c", "semiconductors"], ["pv", "page"], {
    start: (at) => [one(at), 1],
    near([list = "", n], at) {
      return [[list, Number(n) + 1], ...numbersTo(12).map(() => [next(list, at), 1])];
    },
    shown([list = "", place], at) {
      const count = Math.max(0, 9 - list.split(",").length - Number(place));
      const parts = numbersTo(count).map(() => at.below(300));
      const rows = parts.map((n) => [`${site.words(`maker ${n % 9}`, 1)}${n}`, `${n % 11} V`]);
      return page("Products", table(...rows));
    },
  });
};

/** Photographs that have all of some tags, in the order in which they were clicked. */
const tagged: TrapFamily = (site) => {
  const [count, glue] = [upTo(site.random, 30, 150), pick(site.random, ["+", ",", "_"])];
  const tag = (at: Random): string => site.words(`tag ${at.below(count)}`, 1);
  return spaceOf(site, ["tags", "bildarchiv/thema", "photos/tag"], ["tag"], {
    start: (at) => [tag(at)],
    near: ([list = ""], at) => numbersTo(10).map(() => [toggled(list, tag(at), glue, 5)]),
    shown([list = ""], at) {
      const photos = numbersTo(at.below(Math.max(1, 12 - 3 * list.split(glue).length)));
      return page(list, table(photos.map(() => `IMG_${1000 + at.below(700)}`)));
    },
    label: ([list]) => `${list}`.split(glue).at(-1) ?? "",
  });
};

/** A list of a few rows: any columns of it, in any order, so many at a time. */
const columns: TrapFamily = (site) => {
  const all = numbersTo(upTo(site.random, 11, 15)).map(() => letters(site.random, 4));
  const next = (list: string, one: string): string =>
    toggled(list, one, ",", 15).split(",").sort().join(",");
  return spaceOf(site, ["report.cgi", "query.asp", "finds"], ["columns", "order", "limit"], {
    start: (at) => [drawn(at, all, 5).sort().join(","), pick(at, all), 25],
    near: ([list = "", order = "", limit = ""]) => [
      ...all.map((each) => [next(list, each), order, limit]),
      ...list.split(",").map((each) => [list, each === order ? `${each}.desc` : each, limit]),
      ...[25, 50, 100].map((each) => [list, order, each]),
    ],
    shown([list = "", order = "", limit]) {
      const row = (n: number): number[] => list.split(",").map((c) => fixed(c + n).below(90));
      const rows = numbersTo(Number(limit) / 5).map(row);
      return page("All entries", table(...(order.endsWith(".desc") ? rows.reverse() : rows)));
    },
  });
};

/** Objects put side by side: more of them to add, and each to take away. */
const basket: TrapFamily = (site) => {
  const [count, glue] = [upTo(site.random, 40, 300), pick(site.random, ["-vs-", ",", "."])];
  const one = (at: Random): string => `${100 + at.below(count)}`;
  return spaceOf(site, ["vergleich", "portfolio", "side-by-side"], ["ids"], {
    start: (at) => [one(at)],
    near([list = ""], at) {
      const ids = [...list.split(glue), ...numbersTo(7).map(() => one(at))];
      return ids.map((id) => [toggled(list, id, glue, 6)]);
    },
    shown([list = ""]) {
      const rows = list.split(glue).map((id) => [id, site.words(`thing ${id}`, 4)]);
      return page("Side by side", table(...rows));
    },
  });
};

/** Connections from stop to stop: earlier, later, on other days, back and on. */
const journeys: TrapFamily = (site) => {
  const [count, names] = [upTo(site.random, 4, 40), ["from", "to", "date", "time"]];
  const when = (ms: number): string[] => [dayText(ms), new Date(ms).toISOString().slice(11, 16)];
  return spaceOf(site, ["journey", "fahrplan/auskunft", "trips"], names, {
    start: (at) => [at.below(count), at.below(count), ...when(START_MS + 8 * HOUR_MS)],
    near([from = "", to = "", day = "", time = ""], at) {
      const ms = Date.parse(`${day}T${time}Z`);
      const times = [-HOUR_MS, HOUR_MS, -DAY_MS, DAY_MS].map((by) => when(ms + by));
      const moved = times.map((each) => [from, to, ...each]);
      return [...moved, [to, from, day, time], [to, at.below(count), day, time]];
    },
    shown([from, to, , time]) {
      const at = fixed(`${from} ${to} ${time}`);
      const rows = numbersTo(4).map((n) => [`${time} + ${n * 12}`, `${at.below(90)} min`]);
      return page(site.words(`from ${from} to ${to}`, 2), table(...rows));
    },
  });
};

/** Sittings of committees by week, for ever. */
const sittings: TrapFamily = (site) => {
  const [count, names] = [upTo(site.random, 3, 20), ["year", "week", "committee"]];
  return spaceOf(site, ["sitzungskalender", "diary", "termine"], names, {
    start: (at) => [2_026, 47, at.below(count)],
    near([year = "", week = "", committee = ""]) {
      const weeks = [-52, -1, 1, 52].map((by) => Number(year) * 52 + Number(week) + by);
      const moved = weeks.map((each) => [Math.floor(each / 52), each % 52, committee]);
      return [...moved, ...numbersTo(count).map((each) => [year, week, each])];
    },
    shown([year, week], at) {
      const isHeld = year === "2026" && at.below(4) === 0;
      return page(`Week ${week}, ${year}`, isHeld ? site.words(`on ${week}`, 12) : "No sitting");
    },
  });
};

/** Objects of a collection, with the way back to those that were seen before. */
const trail: TrapFamily = (site) => {
  const [count, longest] = [upTo(site.random, 30, 90), upTo(site.random, 4, 20)];
  const isCoded = site.random.below(2) === 0;
  const coded = (text: string): string => (isCoded ? btoa(text).replaceAll("=", "") : text);
  return spaceOf(site, ["objekt", "item.aspx", "detail"], ["id", "back"], {
    start: (at) => [at.below(count), coded("0")],
    near([id, back = ""]) {
      const seen = [...(isCoded ? atob(back) : back).split("."), `${id}`].slice(-longest);
      const next = [1, 2, 3, 5, 8].map((by) => (Number(id) * 3 + by) % count);
      return next.map((to) => [to, coded(seen.join("."))]);
    },
    shown: ([id]) => page(site.words(`object ${id}`, 3), site.words(`about ${id}`, 30)),
    label: ([id]) => site.words(`object ${id}`, 3),
  });
};

/** Differences between any two revisions of a file, in some forms. */
const revisions: TrapFamily = (site) => {
  const [last, names] = [upTo(site.random, 150, 900), ["file", "r1", "r2", "form"]];
  const files = numbersTo(upTo(site.random, 2, 12)).map((n) => site.words(`source ${n}`, 1));
  return spaceOf(site, ["viewvc", "svnweb", "statutes"], names, {
    start: (at) => [pick(at, files), at.below(last), last, "h"],
    near([file = "", first, second, form = ""], at) {
      const [a, b] = [Number(first), Number(second)];
      const moved = [Math.max(0, a - 1), Math.min(last, b + 1), at.below(last)];
      const pairs = [...moved.map((r) => [r, b]), ...moved.map((r) => [a, r])];
      return [...pairs.map((r) => [file, ...r, form]), ...["h", "u"].map((f) => [file, a, b, f])];
    },
    shown([file, a, b]) {
      const lines = [a, b].map((r) => [site.words(`${file} ${Math.floor(Number(r) / 5)}`, 14)]);
      return page(`${file} ${a} ${b}`, table(...lines));
    },
  });
};

/** Numbers of files of a court, most of which are not open. Each leads to those around it. */
const records: TrapFamily = (site) => {
  const hasTitle = site.random.below(2) === 0;
  return spaceOf(site, ["akte", "docket", "case-file"], ["no"], {
    start: (at) => [70_000 + at.below(90_000)],
    near: ([n]) => [-1, 1, 100].map((by) => [Math.max(1, Number(n) + by)]),
    shown([n]) {
      const text = Number(n) % 31 === 0 ? site.words(`file ${n}`, 12) : "No such file is open";
      return page(hasTitle ? `File ${n}` : "Register", text);
    },
  });
};

/** Sheets of a map: to the sides, closer and wider. */
const sheets: TrapFamily = (site) =>
  spaceOf(site, ["karte", "map", "orthophoto"], ["zoom", "x", "y"], {
    start: (at) => [12, 2_100 + at.below(90), 1_400 + at.below(90)],
    near(values) {
      const [z = 0, x = 0, y = 0] = values.map(Number);
      const sides = [-1, 1].flatMap((by) => [
        [z, x + by, y],
        [z, x, y + by],
      ]);
      const closer = [0, 1].map((by) => [z + 1, x * 2 + by, y * 2 + by]);
      const wider = [z - 1, Math.floor(x / 2), Math.floor(y / 2)];
      return [...sides, ...(z < 18 ? closer : []), ...(z > 3 ? [wider] : [])];
    },
    shown: ([z, x], at) =>
      page(`1 : ${2 ** (29 - Number(z))}`, at.below(9) === 0 ? site.words(`at ${x}`, 1) : ""),
  });

/** Films with an id by chance, and more of them at the side of each. */
const watch: TrapFamily = (site) => {
  const [length, count] = [upTo(site.random, 8, 22), upTo(site.random, 4, 15)];
  const titleOf = (id = ""): string => site.words(`film ${fixed(id).below(400)}`, 4);
  return spaceOf(site, ["watch", "film", "clip"], ["v"], {
    start: (at) => [token(at, length)],
    near: (_, at) => numbersTo(count).map(() => [token(at, length)]),
    shown: ([id], at) => page(titleOf(id), `${at.below(90_000)} views`),
    label: ([id]) => titleOf(`${id}`),
  });
};

/** A good page whose links stay in the copy of the site that it stands in. */
function copied(text: string, into: (path: string) => string): string {
  return text.replaceAll(/href="([^"]*)"/g, (_, path: string) => `href="${into(path)}"`);
}

/** A session begins with each visit, and stays in the links of a page. */
const sessions: TrapFamily = (site) => {
  const [form, name] = [site.random.below(4), pick(site.random, ["zenid", "osCsid", "sess"])];
  const into = (path: string): string => {
    const [id, mark] = [token(site.random, 20), path.includes("?") ? "&" : "?"];
    if (form < 2) return form === 0 ? `/(S(${id}))${path}` : `/s-${id}${path}`;
    return form === 2 ? `${path};${name}=${id}` : `${path}${mark}${name}=${id}`;
  };
  const pattern = /^\/(\(S\(\w{20}\)\)|s-\w{20})(?=\/)|[;?&]\w+=\w{20}$/;
  return {
    entries: (at) => some(site, at, 2).map(into),
    answer({ pathname, search }, at) {
      const path = pathname + search;
      const text = pattern.test(path) ? site.goodAt(path.replace(pattern, "")) : undefined;
      return text && copied(text, into) + page("Viewed", "", some(site, at, 3).map(into));
    },
  };
};

/** The site in more languages, untranslated: a switch puts another folder before the path. */
const translated: TrapFamily = (site) => {
  const codes = drawn(site.random, "en-us de-at fr-ca pt-br".split(" "), upTo(site.random, 2, 4));
  const pattern = new RegExp(`^(/(${codes.join("|")}))+(?=/)`);
  return {
    entries: (at, path) => [`/${pick(at, codes)}${path}`],
    answer({ pathname, search }, at) {
      const folders = pattern.exec(pathname)?.[0];
      if (folders === undefined) return undefined;
      const text = site.goodAt(pathname.slice(folders.length) + search) ?? "Not translated";
      const switches = codes.map((code) => `/${code}${pathname}${search}`);
      const others = some(site, at, 3).map((path) => folders + path);
      return copied(text, (path) => folders + path) + page("", "", [...switches, ...others]);
    },
  };
};

/** Links without a leading slash, under a router that reads the last folder only. */
const growing: TrapFamily = (site) => {
  const root = `/${pick(site.random, ["besuch", "visit", "service"])}/`;
  const names = numbersTo(upTo(site.random, 3, 8)).map((n) => site.words(`on ${root} ${n}`, 1));
  return {
    entries: () => [root],
    answer({ pathname }) {
      const last = pathname.split("/").at(-2) ?? "";
      const urls = names.map((name) => `${name}/`);
      return pathname.startsWith(root) ? page(last, site.words(last, 45), urls) : undefined;
    },
  };
};

export const PLACE_TRAPS: Readonly<Record<string, TrapFamily>> = {
  ...{ within, parametric, tagged, columns, basket, journeys, sittings },
  ...{ trail, revisions, records, sheets, watch, sessions, translated, growing },
};
