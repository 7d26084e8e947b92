/** Plain copies: what a user gave, kept as it was then; what stands over what; what a lease shows of itself. */
import type { LeaseFields } from "./request-types.ts";

/** A copy that its giver can not change any more; functions stay themselves. */
export function plainCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => plainCopy(one as unknown)) as T;
  const copy: Record<string, unknown> = {};
  for (const field of Object.keys(value)) {
    copy[field] = plainCopy((value as Record<string, unknown>)[field]);
  }
  return copy as T;
}

/** Its fields that are given: one that is undefined is not there, and stands over nothing. */
export function givenOf<T extends object>(options: T): T {
  const fields = Object.entries(options).filter(([, value]) => value !== undefined);
  return Object.fromEntries(fields) as T;
}

/** The method by which Node prints an object. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** Prints a plain value. */
export type Inspect = (value: unknown, options: object) => string;

/** A lease as a console shows it: what a person wants to see of the request, and nothing that has to be computed. */
export function shownLease(
  lease: LeaseFields,
  depth: number,
  { options, inspect }: { options: object; inspect: Inspect },
): string {
  const { url, method, priority, handler, attempt, deliveries, host, rule, parent, data } = lease;
  if (depth < 0) return `[Lease ${url}]`;
  const { redirects, body, headers, deadlineMs } = lease;
  const view = {
    url,
    ...(method === "GET" ? {} : { method }),
    ...{ host, rule, priority, depth: lease.depth, attempt, deliveries, deadlineMs },
    ...givenOf({ handler, headers, body, data, parent }),
    ...(redirects === 0 ? {} : { redirects }),
  };
  return `Lease ${inspect(view, options)}`;
}
