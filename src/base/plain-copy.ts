/** Plain copies: of a user's values at the time of the call, of options without undefined fields, and of a lease for the console. */
import type { LeaseFields } from "./request-types.ts";

/** A deep copy, so that later changes by the caller have no effect. Functions are not copied. */
export function plainCopy<T>(value: T): T {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((one) => plainCopy(one as unknown)) as T;
  const copy: Record<string, unknown> = {};
  for (const field of Object.keys(value)) {
    copy[field] = plainCopy((value as Record<string, unknown>)[field]);
  }
  return copy as T;
}

/** The same fields, of which those that may be undefined may be missing. */
type Given<T> = {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>;
} & { [K in keyof T as undefined extends T[K] ? never : K]: T[K] };

/** The fields without undefined ones, so that those do not override defaults. */
export function givenOf<T extends object>(fields: T): Given<T> {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as Given<T>;
}

/** The symbol of the method that Node calls to print an object. */
export const INSPECT: unique symbol = Symbol.for("nodejs.util.inspect.custom") as never;

/** Node's function that prints a plain value. */
export type Inspect = (value: unknown, options: object) => string;

/** A lease as the console prints it. */
export function shownLease(
  lease: LeaseFields,
  depth: number,
  { options, inspect }: { options: object; inspect: Inspect },
): string {
  return depth < 0 ? `[Lease ${lease.url}]` : `Lease ${inspect(plainLease(lease), options)}`;
}

/** What a person wants to see of a lease, in a console and as JSON: the request, without what has to be computed, and nothing internal. */
export function plainLease(lease: LeaseFields): object {
  const { url, method, priority, handler, attempt, deliveries, host, rule, parent, data } = lease;
  const { redirects, body, headers, deadlineMs } = lease;
  return {
    url,
    ...(method === "GET" ? {} : { method }),
    ...{ host, rule, priority, depth: lease.depth, attempt, deliveries, deadlineMs },
    ...givenOf({ handler, headers, body, data, parent }),
    ...(redirects === 0 ? {} : { redirects }),
  };
}
