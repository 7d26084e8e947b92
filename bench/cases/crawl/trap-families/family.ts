/**
 * What a site of families is made of. Unlike `trap-shapes/`, its pages stand in the frame of their site: a menu, a footer, links to some good
 * pages, at times words that change with each visit.
 *
 *   Good    a part of the site: every URL is worth a visit
 *   Trap    URLs without an end, or of the same pages; `answer` may redirect or give a status
 */
import type { Random } from "../../../../src/base/random.ts";
import { link, numbersTo, pick } from "../trap-shapes/shape.ts";

export type Answer = string | { readonly status: number; readonly location?: string };

export interface Site {
  readonly random: Random;
  readonly words: (name: string, count: number) => string;
  readonly goodPaths: () => readonly string[];
  readonly goodAt: (path: string) => string | undefined;
}

export interface Good {
  readonly urls: readonly string[];
  readonly entries: readonly string[];
  /** The page of a URL of this part. */
  readonly page: (n: number) => string;
}

export interface Trap {
  /** Links into it, on a page with this path. */
  readonly entries: (at: Random, path: string) => readonly string[];
  readonly answer: (url: URL, at: Random) => Answer | undefined;
}

export type GoodFamily = (site: Site, size: number) => Good;
export type TrapFamily = (site: Site) => Trap;

export function upTo(random: Random, least: number, most: number): number {
  return least + random.below(most - least + 1);
}

export function links(urls: readonly string[], text = "more"): string {
  return urls.map((url) => link(url, text)).join("");
}

export function withQuery(path: string, values: Readonly<Record<string, string | number>>): string {
  const query = Object.entries(values).map(([name, value]) => `${name}=${value}`);
  return `${path}${path.includes("?") ? "&" : "?"}${query.join("&")}`;
}

/** The URL of a path without some names of its query. */
export function without(url: URL, names: readonly string[]): string {
  const kept = url.search
    .slice(1)
    .split("&")
    .filter((entry) => entry !== "" && !names.includes(entry.split("=")[0] ?? ""));
  return url.pathname + (kept.length > 0 ? `?${kept.join("&")}` : "");
}

export function some(site: Site, at: Random, count: number): string[] {
  return numbersTo(count).map(() => pick(at, site.goodPaths()));
}
