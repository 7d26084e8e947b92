/**
 * Traps whose URL is a place in a space without an end.
 *
 *   days       booking · agenda · weather
 *   numbers    nearby (a point) · converter (an amount) · pager (pages) · positions (moves)
 */
import { type TrapFamily, upTo, withQuery } from "../trap-families/family.ts";
import { DAY_MS, dayText, letters, numbersTo, pick } from "../trap-shapes/shape.ts";
import type { Random } from "../../../../src/base/random.ts";
import { fixed, named, page, table } from "./lists.ts";

const START_MS = Date.UTC(2_026, 10, 30);

/** The first day of a month so many months on. */
function monthOn(ms: number, by: number): number {
  const day = new Date(ms);
  return Date.UTC(day.getUTCFullYear(), day.getUTCMonth() + by, 1);
}

/** Rooms to book: days, weeks and months without an end, and a form for each free hour. */
const booking: TrapFamily = ({ random, words }) => {
  const [root, rooms] = [`/${pick(random, ["mrbs", "reservations", "web"])}`, upTo(random, 2, 9)];
  const urlAt = (view: string, ms: number, room: number): string => {
    const [year = "", month = "", day = ""] = dayText(ms).split("-");
    return withQuery(`${root}/${view}.php`, { year, month, day, area: 1, room });
  };
  return {
    entries: (at) => [urlAt(pick(at, ["day", "week", "month"]), START_MS, 1 + at.below(rooms))],
    answer({ pathname, searchParams }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const of = (name: string): number => Number(searchParams.get(name) ?? 1);
      const [ms, room] = [Date.UTC(of("year"), of("month") - 1, of("day")), of("room")];
      if (!Number.isFinite(ms)) return undefined;
      const view = /(\w+)\.php/.exec(pathname)?.[1] ?? "day";
      if (view === "edit_entry")
        return "<h1>Access denied</h1><p>You have no right to change this item</p>";
      const step = DAY_MS * (view === "day" ? 1 : 7);
      const near = [-1, 1].map((by) =>
        urlAt(view, view === "month" ? monthOn(ms, by) : ms + by * step, room),
      );
      const views = ["day", "week", "month"].map((each) => urlAt(each, ms, room));
      const others = numbersTo(rooms).map((n) => urlAt(view, ms, n + 1));
      const hours = numbersTo(9).map(
        (n) => `${urlAt("edit_entry", ms, room)}&hour=${n + 8}&minute=0`,
      );
      const urls = [...near, ...views, ...others, ...hours];
      return page(words(`room ${room}`, 1), `<p>${dayText(ms)}</p>`, urls, "+");
    },
  };
};

/** A plugin for events: months and days in the path, a list from a day on, past ones, files. */
const agenda: TrapFamily = ({ random, words }) => {
  const root = `/${pick(random, ["events", "whats-on", "veranstaltungen"])}`;
  const months = (ms: number, by: number): string => dayText(monthOn(ms, by)).slice(0, 7);
  return {
    entries: () => [`${root}/month/${months(START_MS, 0)}/`, `${root}/list/?eventDisplay=past`],
    answer({ pathname, searchParams }) {
      if (!pathname.startsWith(`${root}/`)) return undefined;
      const day = /\d{4}-\d\d(-\d\d)?/.exec(pathname)?.[0] ?? searchParams.get("tribe-bar-date");
      const ms = Date.parse(day ?? dayText(START_MS));
      if (!Number.isFinite(ms)) return undefined;
      const near = [-1, 1].map((by) => `${root}/month/${months(ms, by)}/`);
      const days = numbersTo(4).map((n) => `${root}/${dayText(ms + n * 7 * DAY_MS)}/`);
      const list = `${root}/list/?tribe-bar-date=${dayText(ms - 9 * DAY_MS)}&eventDisplay=past`;
      const feed = withQuery(pathname, { ical: 1 });
      const shown =
        ms > START_MS && ms < START_MS + 40 * DAY_MS
          ? words("events of now", 9)
          : "No events found";
      return page(`Events of ${dayText(ms).slice(0, 7)}`, `<p>${shown}</p>`, [
        ...near,
        ...days,
        list,
        feed,
      ]);
    },
  };
};

/** A history of the weather: a day, a week, a month, or any range, of a station. */
const weather: TrapFamily = ({ random, words }) => {
  const stations = numbersTo(upTo(random, 1, 4)).map(() => letters(random, 4).toUpperCase());
  const [root, spans] = [
    `/${pick(random, ["history/airport", "archiv", "wx"])}`,
    ["Daily", "Weekly", "Monthly"],
  ];
  const urlAt = (station: string, ms: number, span: string): string =>
    `${root}/${station}/${dayText(ms).replaceAll("-", "/")}/${span}History.html`;
  return {
    entries: (at) => [
      urlAt(pick(at, stations), START_MS - at.below(3_000) * DAY_MS, pick(at, spans)),
    ],
    answer({ pathname }) {
      const [, station = "", date = "", span = ""] =
        /(\w+)\/(\d+\/\d\d\/\d\d)\/(\w+)History/.exec(pathname) ?? [];
      const ms = Date.parse(date.replaceAll("/", "-"));
      if (!pathname.startsWith(`${root}/`) || !Number.isFinite(ms)) return undefined;
      const at = fixed(pathname);
      const near = [-1, 1, -7, 7, -30].map((by) => urlAt(station, ms + by * DAY_MS, span));
      const others = spans.map((each) => urlAt(station, ms, each));
      const to = dayText(ms + 9 * DAY_MS).split("-");
      const end = `dayend=${to[2]}&monthend=${to[1]}&yearend=${to[0]}`;
      const custom = `${urlAt(station, ms, "Custom")}?${end}`;
      const rows = ["mean", "max", "min", "wind"].map((name) => [
        name,
        at.below(40),
        "–",
        at.below(40),
      ]);
      return page(`${words(station, 1)}, ${date}`, table(...rows), [...near, ...others, custom]);
    },
  };
};

/** What is near a place: other places near it, within other distances. */
const nearby: TrapFamily = (site) => {
  const root = `/${pick(site.random, ["near", "stores/around", "umkreis"])}`;
  const [distances, first] = [[1, 5, 10, 25, 50], upTo(site.random, 40, 55)];
  const urlAt = (lat: number, lon: number, km: number): string =>
    `${root}/${lat.toFixed(3)},${lon.toFixed(3)}/${km}km`;
  return {
    entries: (at) => [urlAt(first + at.unit(), 8 + at.unit(), pick(at, distances))],
    answer({ pathname }) {
      const [lat = Number.NaN, lon = 0, km = 1] = (
        /(-?[\d.]+),(-?[\d.]+)\/(\d+)km$/.exec(pathname) ?? []
      )
        .slice(1)
        .map(Number);
      if (!pathname.startsWith(`${root}/`) || !Number.isFinite(lat)) return undefined;
      const at = fixed(pathname);
      const moved = numbersTo(5).map(() =>
        urlAt(lat + (at.unit() - 0.5) / 9, lon + (at.unit() - 0.5) / 9, km),
      );
      const wider = distances.map((each) => urlAt(lat, lon, each));
      const shops = numbersTo(at.below(3)).map(
        () => `<p>${site.words(`shop ${at.below(25)}`, 4)}, ${at.below(km * 10) / 10} km</p>`,
      );
      return page(`Near ${lat}, ${lon}`, shops.join(""), [...moved, ...wider], "near");
    },
  };
};

/** An explorer of positions: a move more for each link. */
const positions: TrapFamily = ({ random, words }) => {
  const [root, form] = [`/${pick(random, ["explorer", "analysis", "opening"])}`, random.below(2)];
  const move = (at: Random): string =>
    pick(at, ["", "N", "B", "R", "Q"]) + pick(at, "abcdefgh".split("")) + (1 + at.below(8));
  const urlAt = (moves: readonly string[]): string =>
    form === 0 ? `${root}?moves=${moves.join(",")}` : `${root}/${moves.join("_")}`;
  return {
    entries: (at) => [urlAt([move(at)])],
    answer({ pathname, search }) {
      if (pathname !== root && !pathname.startsWith(`${root}/`)) return undefined;
      const moves = (form === 0 ? search.slice(7) : pathname.slice(root.length + 1)).split(
        form === 0 ? "," : "_",
      );
      const [at, kept] = [fixed(pathname + search), moves.slice(-60)];
      const next = numbersTo(8).map(() => move(at));
      const rows = next.map((each) => [each, at.below(500), `${at.below(100)} %`]);
      return `<h1>${words(`opening ${kept[0]}`, 2)}</h1>${table(...rows)}${named(
        next.map((each) => urlAt([...kept, each])),
        (n) => next[n] ?? "",
      )}`;
    },
  };
};

/** A converter: each amount, of each unit, to each other. */
const converter: TrapFamily = ({ random }) => {
  const root = `/${pick(random, ["convert", "umrechnen", "calc"])}`;
  const units = "usd eur gbp jpy chf inr cad aud sek nok".split(" ").slice(0, upTo(random, 4, 10));
  const urlAt = (amount: number, from: string, to: string): string =>
    `${root}/${amount}-${from}-to-${to}`;
  const others = (from: string): string[] => units.filter((unit) => unit !== from);
  return {
    entries(at) {
      const from = pick(at, units);
      return [urlAt(1 + at.below(500), from, pick(at, others(from)))];
    },
    answer({ pathname }) {
      const [, text = "", from = "", to = ""] = /\/(\d+)-(\w+)-to-(\w+)$/.exec(pathname) ?? [];
      if (!pathname.startsWith(`${root}/`) || text === "") return undefined;
      const [amount, rate] = [Number(text), 0.2 + fixed(from + to).unit() * 3];
      const amounts = [amount + 1, amount + 5, amount * 2, amount * 10];
      const near = amounts.map((each) => urlAt(each % 10_000_000, from, to));
      const same = [
        urlAt(amount, to, from),
        ...others(from).map((unit) => urlAt(amount, from, unit)),
      ];
      const result = `<p>${amount} ${from} are ${(amount * rate).toFixed(2)} ${to}</p>`;
      return page(`${amount} ${from} to ${to}`, result, [...near, ...same]);
    },
  };
};

/** Several pagers on a page, whose places share a parameter, and go on past the last one. */
const pager: TrapFamily = ({ random, words }) => {
  const [root, count] = [
    `/${pick(random, ["node", "frontpage", "taxonomy/term/7"])}`,
    upTo(random, 2, 4),
  ];
  const urlAt = (places: readonly number[]): string => `${root}?page=${places.join(",")}`;
  return {
    entries: (at) => [urlAt(numbersTo(count).map(() => at.below(2)))],
    answer({ pathname, search }) {
      if (pathname !== root) return undefined;
      const places = search.replace(/^\D*/, "").split(/,|%2C/).map(Number);
      if (places.some((place) => !Number.isInteger(place))) return undefined;
      const blocks = places.map((place, block) =>
        place > 6 ? "<p>There is no content</p>" : `<p>${words(`block ${block} ${place}`, 15)}</p>`,
      );
      const moved = places.flatMap((_, block) =>
        [-1, 1].map((by) => places.map((each, n) => Math.max(0, n === block ? each + by : each))),
      );
      return page("News", blocks.join(""), moved.map(urlAt), "next");
    },
  };
};

export const SPACE_TRAPS: Readonly<Record<string, TrapFamily>> = {
  ...{ booking, agenda, weather, nearby, positions, converter, pager },
};
