/**
 * Record filters: the records that a call applies to (base/argument-checks.ts has all others).
 *
 *   I1  A field that is unknown, or undefined, never passes: what it was to narrow would be everything.
 *   I2  What changes records takes at least one field; `{ all: true }` asks for everything.
 */
import { misuse } from "../../base/errors.ts";
import {
  ANYTHING,
  type Fields,
  made,
  oneOf,
  readObject,
  shape,
  TEXT,
  TRUTH,
} from "../../base/fields.ts";
import { compileUrlPattern, type UrlPattern } from "../../base/pattern/url-pattern.ts";
import { argument } from "../../base/argument-checks.ts";
import { isObject } from "../../base/type-guards.ts";

const WHERE = { rule: TEXT, host: TEXT };

export interface Where {
  host?: string;
  rule?: string;
}

const STATES = ["pending", "waiting", "leased", "failed", "done"] as const;

export const readScan = filterOf<Where & { state?: (typeof STATES)[number] }>({
  ...WHERE,
  state: oneOf(...STATES),
});

export const readRequeue = chosenOf<Where & { state?: "failed" | "done"; reason?: string }>({
  ...WHERE,
  state: oneOf("failed", "done"),
  reason: TEXT,
});

export const readRemove = chosenOf<Where & { pattern?: UrlPattern }>({
  ...WHERE,
  pattern: made("an ECMAScript pattern", expressionOf),
});

export const readForget = filterOf<{ epoch?: string; request?: unknown }>({
  epoch: TEXT,
  request: ANYTHING,
});

export const readSnapshot = argument<{ path?: string; whole?: boolean }>("options", {
  path: TEXT,
  whole: TRUTH,
});

/** Reads a filter; none given is one without fields (I1). */
function filterOf<T extends object>(fields: Fields<T>): (given: unknown) => T {
  const field = shape(fields);
  return (given = {}) => {
    return readObject<T>(
      (value, name, code) => {
        const read = field(value, name, code);
        for (const key of isObject(value) ? Object.keys(value) : []) {
          if (key in read) continue;
          throw misuse(code, `${name}.${key}`, undefined, "a value, or no such field");
        }
        return read;
      },
      given,
      "filter",
      "ARGUMENT_INVALID",
    );
  };
}

/** Reads the filter of a call that changes what it takes (I2). */
function chosenOf<T extends object>(fields: Fields<T>): (given: unknown) => Omit<T, "all"> {
  const read = filterOf<T & { all?: boolean }>({ ...fields, all: TRUTH } as never);
  const names = Object.keys(fields).join(", ");
  return (given) => {
    const { all = false, ...filter } = read(given);
    const isEmpty = Object.keys(filter).length === 0;
    if (all !== isEmpty) {
      const expected = all ? "no other field beside all" : `one of ${names}, or { all: true }`;
      throw misuse("ARGUMENT_INVALID", "filter", given ?? {}, expected);
    }
    return filter as Omit<T, "all">;
  };
}

function expressionOf(pattern: unknown): UrlPattern | undefined {
  if (typeof pattern !== "string") return undefined;
  const compiled = compiledOf(pattern);
  if (typeof compiled !== "string") return compiled;
  throw misuse("ARGUMENT_INVALID", "filter.pattern", pattern, compiled);
}

function compiledOf(pattern: string): UrlPattern | string | undefined {
  try {
    return compileUrlPattern(pattern, "u");
  } catch {
    return undefined;
  }
}
