/**
 * Good pages as most software lays them out: items, and the lists that lead to them.
 *
 *   Lists   so many items on so many lists, and which list has which item
 *   Kind    URLs and texts of both, how lists lead on, and how items do
 */
import { createRandom, type Random } from "../../../../src/base/random.ts";
import { type Good, links } from "../trap-families/family.ts";
import { hashOf, link, numbersTo, pick } from "../trap-shapes/shape.ts";

interface Lists {
  readonly count: number;
  readonly lists: number;
  readonly listOf: (item: number) => number;
  readonly itemsOf: (list: number) => readonly number[];
  /** The place of an item on its list. */
  readonly placeOf: (item: number) => number;
}

export interface Kind {
  readonly itemAt: (item: number) => string;
  readonly listAt: (list: number) => string;
  readonly label: (item: number) => string;
  readonly item: (item: number) => string;
  /** What stands above the links of a list. */
  readonly list: (list: number) => string;
  /** `index`: each list leads to all of them. `pager`: to those before and after it. */
  readonly lead: "index" | "pager";
  /** `next`: a list leads to its first item, and each item to the one after it. */
  readonly reach: "list" | "next";
}

/** A stream that only this name decides. */
export const fixed = (name: string): Random => createRandom(hashOf(name));

export const named = (urls: readonly string[], text: (n: number) => string): string =>
  urls.map((url, n) => link(url, text(n))).join("");

export function page(
  title: string,
  text: string,
  urls: readonly string[] = [],
  label = "more",
): string {
  return `<h1>${title}</h1>${text}${links(urls, label)}`;
}

export function table(...rows: ReadonlyArray<ReadonlyArray<string | number>>): string {
  const cells = rows.map((row) => row.map((cell) => `<td>${cell}</td>`).join(""));
  return `<table>${cells.map((row) => `<tr>${row}</tr>`).join("")}</table>`;
}

/** `size` pages: lists of `per` items or less, and their items. */
export function listed(size: number, per: number): Lists {
  const lists = Math.max(1, Math.ceil(size / (per + 1)));
  const count = size - lists;
  const listOf = (item: number): number => Math.floor((item * lists) / count);
  const within = new Map<number, number[]>(numbersTo(lists).map((list) => [list, []]));
  for (const item of numbersTo(count)) within.get(listOf(item))?.push(item);
  const itemsOf = (list: number): readonly number[] => within.get(list) ?? [];
  return { count, lists, listOf, itemsOf, placeOf: (n) => n - (itemsOf(listOf(n))[0] ?? 0) };
}

export function collection(random: Random, lists: Lists, kind: Kind): Good {
  const items = numbersTo(lists.count).map(kind.itemAt);
  const all = numbersTo(lists.lists).map(kind.listAt);
  const [hasUp, hasNear] = [random.below(2) === 0, random.below(2) === 0];
  const lead = pick(random, [leadNext, leadNear]);
  const onItem = (n: number): string => {
    const list = lists.listOf(n);
    const near = [n - 1, n + 1].filter((to) => lists.itemsOf(list).includes(to));
    const isNear = hasNear || kind.reach === "next";
    const up = hasUp ? link(all[list] ?? "", "up") : "";
    return up + (isNear ? named(near.map(kind.itemAt), (to) => kind.label(near[to] ?? 0)) : "");
  };
  const onList = (list: number): string => {
    const own = lists.itemsOf(list).slice(0, kind.reach === "next" ? 1 : undefined);
    const others = kind.lead === "index" ? numbersTo(all.length) : lead(list, all.length);
    const toOthers = others.map((to) => link(all[to] ?? "", `${to + 1}`)).join("");
    return named(own.map(kind.itemAt), (at) => kind.label(own[at] ?? 0)) + toOthers;
  };
  return {
    urls: [...items, ...all],
    entries: kind.lead === "index" ? all.slice(0, 12) : all.slice(0, 1),
    page: (n) =>
      n < lists.count
        ? kind.item(n) + onItem(n)
        : kind.list(n - lists.count) + onList(n - lists.count),
  };
}

function leadNext(list: number, count: number): number[] {
  return [list - 1, list + 1].filter((to) => to >= 0 && to < count);
}

function leadNear(list: number, count: number): number[] {
  return numbersTo(count).filter((to) => Math.abs(to - list) < 4 || to === count - 1);
}
