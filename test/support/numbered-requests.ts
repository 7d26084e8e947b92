/**
 * Requests by number: what a request is follows from its number, so that each lease can be checked by itself: its own URL, data, priority,
 * depth, handler.
 *
 *   number n ─▶ requestOf(n) ─▶ pushed ─▶ leased: numberOf(url) = n, and its fields are those of requestOf(n)
 */
import { expect } from "vitest";
import type { Random } from "../../src/base/random.ts";
import type { RequestInput } from "../../src/index.ts";

export const START_MS = 1_700_000_000_000;

/** What all requests of a program have in common. */
export interface Web {
  readonly salt: number;
  readonly hosts: number;
  /** Characters that every path is filled up with. */
  readonly filling: string;
  readonly isPlain: boolean;
  readonly depthPriority: number;
  readonly hasData: boolean;
}

function mixed(salt: number, n: number): number {
  let z = Math.imul(n ^ salt, 0x9e3779b1) >>> 0;
  z = Math.imul(z ^ (z >>> 15), 0x85ebca6b) >>> 0;
  z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35) >>> 0;
  return (z ^ (z >>> 16)) >>> 0;
}

export function urlOf({ salt, hosts, filling }: Web, n: number): string {
  const host = mixed(salt + 1, n) % hosts;
  return `http://w${host}.s${host % 7}.org/${filling}${n}`;
}

export const numberOf = (url: string): number =>
  Number(url.slice(url.lastIndexOf("/") + 1).replace(/^x*/, ""));

/** Priorities at their ends are kept apart by what a depth takes away. */
export const PRIORITIES = [0, 1, -1, 7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 40];

export function requestOf(web: Web, n: number): string | RequestInput {
  const url = urlOf(web, n);
  const h = mixed(web.salt, n);
  if (web.isPlain || h % 4 === 0) return url;
  const request: RequestInput = { url };
  if (web.hasData && h % 3 === 0) request.data = dataOf(n, h);
  if (h % 5 === 0) request.priority = PRIORITIES[(h >>> 8) % PRIORITIES.length] as number;
  if (h % 7 === 0) request.depth = (h >>> 12) % 3 === 0 ? 65_535 : (h >>> 12) % 9;
  if (h % 11 === 0) request.handler = `h${h % 13}`;
  if (h % 13 === 0) request.notBefore = START_MS + ((h >>> 6) % 400);
  if (h % 17 === 0) request.start = true;
  if (h % 19 === 0) request.volatile = true;
  if (h % 23 === 0) request.headers = { "x-n": String(n) };
  if (h % 29 === 0) request.method = "POST";
  if (h % 29 === 0) request.body = `body ${n}`;
  if (h % 31 === 0) request.maxAttempts = 1 + (h % 4);
  if (h % 37 === 0) request.epoch = `e${h % 3}`;
  if (h % 41 === 0) request.hostKey = `unit ${h % 5}`;
  if (h % 43 === 0) request.key = `key ${n}`;
  return request;
}

function dataOf(n: number, h: number): unknown {
  if (h % 997 === 0) return "d".repeat(70_000) + n;
  return (h >>> 4) % 2 === 0 ? { n, list: [n, "é", -0] } : `text ${n}`;
}

export function webOf(random: Random): Web {
  const isLong = random.below(6) === 0;
  return {
    salt: random.below(1 << 30),
    hosts: [1, 2, 7, 100, 5_000, 60_000][random.below(6)] as number,
    filling: isLong ? "x".repeat([600, 3_000, 8_100][random.below(3)] as number) : "",
    isPlain: random.below(3) === 0,
    depthPriority: random.below(3),
    hasData: random.below(2) === 0,
  };
}

/** A lease, here or elsewhere. */
interface AnyLease {
  readonly url: string;
  readonly data?: unknown;
  readonly handler?: string | undefined;
  readonly hostKey?: string | undefined;
  readonly method: string;
}

/** A lease is what its number says. */
export function checkLease(web: Web, lease: AnyLease): void {
  const given = requestOf(web, numberOf(lease.url));
  const { url, ...request }: RequestInput = typeof given === "string" ? { url: given } : given;
  if (url !== lease.url) expect(lease.url, "the URL of its number").toBe(url);
  const { data, handler, method = "GET", hostKey } = request;
  if (lease.handler !== handler || lease.method !== method || lease.hostKey !== hostKey)
    expect([lease.handler, lease.method, lease.hostKey], lease.url).toEqual([
      handler,
      method,
      hostKey,
    ]);
  if (data !== undefined || lease.data !== undefined) expect(lease.data, lease.url).toEqual(data);
}
