/**
 * What the files of `test/conformance` share: a description of each part of the contract, URLs, and waits on a condition. Tests of what an
 * implementation does not support are not registered for it; refusals.suite.ts judges that it refuses them.
 */
import { describe, expect, it } from "vitest";
import type { AsyncFrontier, AsyncLease } from "../../../src/engine/types/async-frontier.ts";
import type { FrontierOptions, RequestLike } from "../../../src/engine/types/frontier-types.ts";
import type { Skipper } from "../skip.ts";
import type { Implementation, Rig, Supports } from "./implementations.ts";

export const A = "http://a.example/";
export const B = "http://b.example/";
export const C = "http://c.example/";
export const D = "http://d.example/";
/** Long enough to be over soon, also where it really passes. */
export const SOON_MS = 60;
/** Never over while a test runs. */
export const FAR_MS = 3_600_000;

type Need = keyof Supports | "isExact";
type Body = (
  open: (options?: FrontierOptions) => Promise<Rig>,
  implementation: Implementation,
) => Promise<void>;
type Sentence = (title: string, body: Body, ...needs: Need[]) => void;

/** A part of the contract, to be judged of an implementation; `says` states one sentence of it, with what it needs. */
export function suite(
  part: string,
  state: (says: Sentence) => void,
): (implementation: Implementation) => void {
  return (implementation) => {
    describe(`${implementation.name}: ${part}`, () => {
      state((title, body, ...needs) => {
        const { supports, isExact } = implementation;
        if (!needs.every((need) => (need === "isExact" ? isExact : supports[need]))) return;
        it(title, (context: Skipper) =>
          body((options) => implementation.open(context, options), implementation),
        );
      });
    });
  };
}

/** One lease; fails where none is due. */
export async function take(frontier: AsyncFrontier): Promise<AsyncLease> {
  const lease = await frontier.poll();
  expect(lease, "a lease is due").toBeDefined();
  return lease as AsyncLease;
}

/** Up to `max` leases that are due now, whatever a prefetch of the implementation holds. */
export async function takeAll(frontier: AsyncFrontier, max = 1_000): Promise<AsyncLease[]> {
  const leases: AsyncLease[] = [];
  while (leases.length < max) {
    const some = await frontier.pollMany(max - leases.length);
    if (some.length === 0) return leases;
    leases.push(...some);
  }
  return leases;
}

export function urlsOf(leases: Iterable<{ url: string }>): string[] {
  return Array.from(leases, ({ url }) => url);
}

/** The first letter of each lease's host. */
export function hostsOf(leases: Iterable<{ host: string }>): string {
  return Array.from(leases, ({ host }) => host[0]).join("");
}

/** The pages' names behind the last slash. */
export function pathsOf(leases: Iterable<{ url: string }>): string {
  return Array.from(leases, ({ url }) => url.slice(url.lastIndexOf("/") + 1)).join(" ");
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The statuses of pushes one after another, with the reasons. */
export async function verdictsOf(
  frontier: AsyncFrontier,
  requests: readonly RequestLike[],
): Promise<string[]> {
  const words: string[] = [];
  for (const request of requests) {
    const { status, reason } = await frontier.push(request);
    words.push(reason === undefined ? status : `${status} ${reason}`);
  }
  return words;
}

/** Calls until `isMet`, letting time pass between two calls; fails after four minutes. */
export async function until<T>(
  rig: Rig,
  call: () => Promise<T> | T,
  isMet: (value: T) => boolean,
): Promise<T> {
  const end = performance.now() + 240_000;
  for (;;) {
    const value = await call();
    if (isMet(value)) return value;
    expect(performance.now(), `still ${JSON.stringify(value)}`).toBeLessThan(end);
    await rig.pass(5);
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The equation of the counters in `Report`, which holds after every call. */
export async function checkCounts(frontier: AsyncFrontier): Promise<void> {
  const { accepted, deferred, ...report } = await frontier.report();
  const { pending, waiting, leased, done, failed, forgotten, removed } = report;
  const held = pending + waiting + leased + done + failed + forgotten + removed;
  expect(held, "accepted + deferred").toBe(accepted + deferred);
}

/** The code of what a call rejects with. */
export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: { code?: unknown }) => error.code,
  );
}
