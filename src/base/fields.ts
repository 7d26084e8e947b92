/**
 * Fields: describe once which fields an object from outside may have; `readObject` reads any object by such a description.
 *
 *   const readTake = shape<TakeOptions>({ max: whole(1), timeoutMs: atLeast(0), signal: SIGNAL });
 *   const { max = 1 } = readObject(readTake, given, "options", "ARGUMENT_INVALID");
 *
 *   options.max: 0 (expected: a whole number of at least 1)
 *   options.maks: no such field; did you mean 'max'? (expected: one of max, timeoutMs, signal)
 *
 * A field is a function that reads a value and returns a checked copy, or throws with the given name and code.
 *
 *   I1  A shape reads each field of the object once and returns a copy, so later changes by the caller have no effect.
 *   I2  A field whose value is undefined counts as missing.
 */
import { FrontierError, type FrontierErrorCode, misuse } from "./errors.ts";
import { isObject } from "./type-guards.ts";
import { nearestName } from "./did-you-mean.ts";

export interface Field<T> {
  (value: unknown, name: string, code: FrontierErrorCode): T;
  /** True: the value is kept as it is. Only for plain values, and called first, so that the common case builds no name. */
  readonly isRight?: (value: unknown) => boolean;
}

/** A field for each property of the object type. */
export type Fields<T> = { readonly [K in keyof T]-?: Field<Exclude<T[K], undefined>> };

/** A value that a predicate accepts. */
export function kind<T>(expected: string, isRight: (value: unknown) => boolean): Field<T> {
  const field: Field<T> = (value, name, code) => {
    let isOfKind = false;
    try {
      isOfKind = isRight(value);
    } catch {
      // Such as a revoked proxy: not of the kind.
    }
    if (isOfKind) return value as T;
    throw misuse(code, name, value, expected);
  };
  return Object.assign(field, { isRight });
}

/** A value that `make` converts; it returns undefined for a wrong one. */
export function made<T>(expected: string, make: (value: unknown) => T | undefined): Field<T> {
  return (value, name, code) => {
    const kept = make(value);
    if (kept !== undefined) return kept;
    throw misuse(code, name, value, expected);
  };
}

/** A whole number in a range. */
export function whole(least: number, most: number = Number.MAX_SAFE_INTEGER): Field<number> {
  const isOpen = most === Number.MAX_SAFE_INTEGER;
  const range = isOpen ? `of at least ${least}` : `from ${least} to ${most}`;
  return kind(`a whole number ${range}`, (value) => isWhole(value, least) && Number(value) <= most);
}

/** A whole number, or Infinity for no limit. */
export function count(least: number): Field<number> {
  return kind(
    `a whole number of at least ${least}, or Infinity`,
    (value) => value === Number.POSITIVE_INFINITY || isWhole(value, least),
  );
}

/** A finite number of at least `least`. `expected` replaces the message's text, to name a unit. */
export function atLeast(
  least: number,
  expected = `a finite number of at least ${least}`,
): Field<number> {
  return kind(expected, (value) => Number.isFinite(value) && Number(value) >= least);
}

/** A string of `least` to `most` characters. */
export function textOf(least: number, most: number): Field<string> {
  return kind(
    `a string of ${least} to ${most} characters`,
    (value) => typeof value === "string" && value.length >= least && value.length <= most,
  );
}

/** One of the given strings. */
export function oneOf<T extends string>(...allowed: readonly T[]): Field<T> {
  const expected = allowed.map((each) => `'${each}'`).join(" or ");
  return kind(expected, (value) => (allowed as readonly unknown[]).includes(value));
}

export const TRUTH: Field<boolean> = kind("true or false", (value) => typeof value === "boolean");
export const TEXT: Field<string> = kind("a string", (value) => typeof value === "string");
export const INTEGER: Field<number> = kind("a safe integer", Number.isSafeInteger);
export const MILLISECONDS = atLeast(0, "milliseconds, a finite number of at least 0");
export const ANYTHING: Field<unknown> = (value) => value;

/** Any function. */
export function callable<T>(): Field<T> {
  return kind("a function", (value) => typeof value === "function");
}

/** An object with these fields and no others. The fields in `needed` are required. */
export function shape<T extends object>(
  fields: Fields<T>,
  { needed = [], what }: { needed?: ReadonlyArray<keyof T & string>; what?: string } = {},
): Field<T> {
  const names = Object.keys(fields);
  const readers = Object.values(fields) as readonly Field<unknown>[];
  const isNeeded = names.map((name) => (needed as readonly string[]).includes(name));
  return (value, name, code) => {
    if (!isObject(value)) throw misuse(code, name, value, "an object");
    checkNames(value, names, { name, code, what });
    const read: Record<string, unknown> = {};
    for (let at = 0; at < names.length; at++) {
      const field = names[at] as string;
      const inner: unknown = (value as Record<string, unknown>)[field];
      if (inner === undefined && !isNeeded[at]) continue;
      const reader = readers[at] as Field<unknown>;
      const isPlain = typeof inner !== "object" && reader.isRight?.(inner) === true;
      read[field] = isPlain ? inner : reader(inner, `${name}.${field}`, code);
    }
    return read as T;
  };
}

/** An object with two bounds, of which the second must not be below the first. Both and the `others` are required. */
export function between<T extends object>(
  fields: Fields<T>,
  [low, high, ...others]: readonly [keyof T & string, keyof T & string, ...(keyof T & string)[]],
): Field<T> {
  const read = shape(fields, { needed: [low, high, ...others] });
  return (value, name, code) => {
    const given = read(value, name, code);
    if (given[high] >= given[low]) return given;
    throw misuse(code, `${name}.${high}`, given[high], `at least ${low} (${String(given[low])})`);
  };
}

/** Throws for a name that is not in `known`. Returns the index of the last known name that the object has, −1 if it has none. */
export function checkNames(
  value: object,
  known: readonly string[],
  at: { name: string; code: FrontierErrorCode; what?: string | undefined },
): number {
  const names = Object.keys(value);
  let last = -1;
  for (let index = 0; index < names.length; index++) {
    const place = known.indexOf(names[index] as string);
    if (place < 0) throw unknownName(names[index] as string, known, at);
    if (place > last) last = place;
  }
  return last;
}

/** The error for an unknown name; it suggests the nearest known one. */
export function unknownName(
  field: string,
  known: readonly string[],
  { name, code, what }: { name: string; code: FrontierErrorCode; what?: string | undefined },
): FrontierError {
  const noun = code === "OPTION_INVALID" || code === "RULE_INVALID" ? "option" : "field";
  const nearest = nearestName(field, known);
  const meant = nearest === undefined ? "" : `; did you mean '${nearest}'?`;
  const expected = what ?? `one of ${known.join(", ")}`;
  const message = `${name}.${field}: no such ${noun}${meant} (expected: ${expected})`;
  return new FrontierError(code, message, { name: `${name}.${field}`, expected });
}

/** Reads an object that may be hostile: a getter or proxy that throws counts as misuse. */
export function readObject<T>(
  field: Field<T>,
  given: unknown,
  name: string,
  code: FrontierErrorCode,
): T {
  try {
    return field(given, name, code);
  } catch (cause) {
    if (cause instanceof FrontierError) throw cause;
    throw new FrontierError(code, `${name}: unreadable (expected: plain data)`, { cause });
  }
}

export function isWhole(value: unknown, least: number): boolean {
  return Number.isSafeInteger(value) && (value as number) >= least;
}
