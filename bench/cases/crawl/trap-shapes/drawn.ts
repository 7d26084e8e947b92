/**
 * Traps at random. URLs, texts and links of a trap are drawn independently from the seed, so a seed that was never run gives shapes that
 * no rule was tuned to.
 *
 *   place   of what varies   a segment · the end of a segment · a value of the query · two values · a parameter after a semicolon · folders, ever deeper
 *   value                    a number from another · a day · a token · one to three words, joined
 *   text                     always the same · one of some rooms · the value, said in the same words · some items of a list, in any order · a good page
 *   links                    to so many other values, of which some are near and some anywhere
 */
import { createRandom, type Random } from "../../../../src/base/random.ts";
import {
  DAY_MS,
  dayText,
  type Draw,
  letters,
  link,
  numbersTo,
  pageOf,
  type Part,
  pick,
  type Shape,
  token,
} from "./shape.ts";

const COUNT = 5;
const START_MS = Date.UTC(2026, 0, 1);

export const DRAWN_SHAPES: readonly Shape[] = numbersTo(COUNT).map((n) => ({
  name: `drawn ${n}`,
  make: (draw) => made(draw, n),
}));

/** Values of what varies: one near another, and one anywhere. */
interface Values {
  readonly any: (random: Random) => string;
  readonly near: (value: string, random: Random) => string;
}

const VALUES: ReadonlyArray<(draw: Draw) => Values> = [
  () => ({
    any: (random) => String(random.below(1e6)),
    near: (value, random) => String(Math.abs(Number(value) + random.below(5) - 2)),
  }),
  () => ({
    any: (random) => dayText(START_MS + random.below(3_000) * DAY_MS),
    near: (value, random) => dayText(Date.parse(value) + (random.below(15) - 7) * DAY_MS),
  }),
  ({ random: own }) => {
    const [length, base] = [6 + own.below(20), pick(own, [10, 16, 36])];
    const any = (random: Random): string => token(random, length, base);
    return { any, near: (_, random) => any(random) };
  },
  ({ random: own }) => {
    const words = numbersTo(12).map(() => letters(own, 3 + own.below(6)));
    const joint = pick(own, ["+", "-", ",", "_"]);
    const any = (random: Random): string =>
      numbersTo(1 + random.below(3))
        .map(() => pick(random, words))
        .join(joint);
    return {
      any,
      near: (value, random) => [...value.split(joint).slice(-2), pick(random, words)].join(joint),
    };
  },
];

/** What varies in its URL, and back. */
interface Place {
  readonly url: (value: string, random: Random, before: string) => string;
  readonly value: (url: URL) => string | undefined;
}

const PLACES: ReadonlyArray<(base: string, name: string, other: string) => Place> = [
  (base, name) => segment(`${base}/`, pickEnd(name, ["", "/", ".html", `/${name}`])),
  (base, name) => segment(`${base}/${name}-`, pickEnd(base, ["", ".php", "/all"])),
  (base, name) => ({
    url: (value) => `${base}?${name}=${value}`,
    value: (url) => (url.pathname === base ? (url.searchParams.get(name) ?? undefined) : undefined),
  }),
  (base, name, other) => ({
    url: (value, random) => `${base}/list?${other}=${random.below(9)}&${name}=${value}`,
    value: (url) =>
      url.pathname === `${base}/list` ? (url.searchParams.get(name) ?? undefined) : undefined,
  }),
  (base, name) => segment(`${base}/index;${name}=`, ""),
  (base) => ({
    url: (value, _, before) => `${before.startsWith(`${base}/`) ? before : `${base}/`}${value}/`,
    value: ({ pathname }) =>
      pathname.startsWith(`${base}/`) && pathname.endsWith("/")
        ? pathname.split("/").at(-2)
        : undefined,
  }),
];

function segment(before: string, after: string): Place {
  return {
    url: (value) => `${before}${value}${after}`,
    value: ({ pathname }) => {
      const isOurs = pathname.startsWith(before) && pathname.endsWith(after);
      const value = pathname.slice(before.length, pathname.length - after.length);
      return isOurs && value !== "" && !value.includes("/") ? value : undefined;
    },
  };
}

/** An end by the letters of a name, so that a place needs no chance of its own. */
function pickEnd(name: string, ends: readonly string[]): string {
  return ends[name.charCodeAt(name.length - 1) % ends.length] as string;
}

type TextOf = (value: string, random: Random) => string;

const TEXTS: ReadonlyArray<(draw: Draw, name: string) => TextOf> = [
  ({ words, random }, name) => {
    const text = words(name, 30 + random.below(150));
    return () => text;
  },
  ({ words, random }, name) => {
    const rooms = 2 + random.below(5);
    return (_, at) => words(`${name} room ${at.below(rooms)}`, 80);
  },
  ({ words, random }, name) => {
    const text = words(name, 40 + random.below(60));
    return (value) => `${text} ${value} ${words(`${name} after`, 20)}`;
  },
  ({ words }, name) =>
    (_, at) =>
      numbersTo(5 + at.below(15))
        .map(() => `<p>${words(`${name} item ${at.below(40)}`, 10)}</p>`)
        .join(""),
  (draw) => (_, at) => draw.goodAt(pick(at, draw.goodPaths())) ?? "",
];

function made(draw: Draw, n: number): Part {
  const { random } = draw;
  const name = `${letters(random, 4)}${n}`;
  const values = pick(random, VALUES)(draw);
  const place = pick(random, PLACES)(`/${name}`, letters(random, 3), letters(random, 3));
  const textOf = pick(random, TEXTS)(draw, name);
  const [near, anywhere] = [1 + random.below(3), random.below(5)];
  const own = createRandom(random.word());
  return {
    good: [],
    entries: (at) => [place.url(values.any(at), at, "")],
    page(url) {
      const value = place.value(url);
      if (value === undefined) return undefined;
      const at = createRandom(own.word());
      const others = [
        ...numbersTo(near).map(() => values.near(value, at)),
        ...numbersTo(anywhere).map(() => values.any(at)),
      ];
      const links = others.map((each) => link(place.url(each, at, url.pathname), each));
      return pageOf(name, textOf(value, at), links.join(""));
    },
  };
}
