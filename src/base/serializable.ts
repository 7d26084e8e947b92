/**
 * Serializable: whether msgpack restores a value as an equal one. Functions, symbols, promises, maps and cycles are refused
 * before anything is packed, so that they never become something else.
 *
 *   value ─▶ inspectValue ─▶ withZeros ─▶ packed ─▶ unpacked: equal, −0 included; except for the prototype of an object that had none
 *
 * Memory, disk and other threads carry values by these same steps (frontier: engine/intake/request-extras.ts; between threads:
 * workers/protocol/message-values.ts), so all of them accept the same values.
 */

/** What msgpackr brings back as the bytes of one kind of number, beside Uint8Array. */
const NUMBERS: ReadonlySet<unknown> = new Set<unknown>([
  ArrayBuffer.prototype,
  Uint8ClampedArray.prototype,
  Int8Array.prototype,
  Uint16Array.prototype,
  Int16Array.prototype,
  Uint32Array.prototype,
  Int32Array.prototype,
  Float32Array.prototype,
  Float64Array.prototype,
  BigInt64Array.prototype,
  BigUint64Array.prototype,
]);

/** Deepest nesting that is packed: msgpackr recurses, and hostile data must not overflow the stack. */
const DEPTH_MAX = 200;

/** Most values in one `data`: a small graph of shared objects can stand for 2¹⁰⁰ of them. */
const VALUES_MAX = 2 ** 21;

/**
 * What a look through a value finds: something that msgpack does not bring back equal, nothing but what it does, or
 * among that a −0, for which `withZeros` has to be asked.
 */
export type Finding = "stranger" | "plain" | "zeros";

/** The walk under way: values that may still come, and whether one was −0. */
interface Walk {
  left: number;
  holdsZero: boolean;
}

/**
 * Looks through a value once. One that throws when looked at, or that holds more than VALUES_MAX others (one object
 * named twice counts twice, as it would be packed), is a stranger.
 */
export function inspectValue(value: unknown): Finding {
  const walk = { left: VALUES_MAX, holdsZero: false };
  try {
    if (!isPackable(value, 0, walk)) return "stranger";
  } catch {
    return "stranger";
  }
  return walk.holdsZero ? "zeros" : "plain";
}

/** Whether msgpack brings a value back equal. */
export function isSerializable(value: unknown): boolean {
  return inspectValue(value) !== "stranger";
}

function isPackable(value: unknown, depth: number, walk: Walk): boolean {
  if (--walk.left < 0) return false;
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      if (Object.is(value, -0)) walk.holdsZero = true;
      return true;
    case "boolean":
    case "undefined":
      return true;
    case "bigint":
      return value >= -(2n ** 63n) && value < 2n ** 63n;
    case "object":
      return value === null || isPackableObject(value, depth + 1, walk);
    default:
      return false;
  }
}

function isPackableObject(value: object, depth: number, walk: Walk): boolean {
  if (depth > DEPTH_MAX || Object.getOwnPropertySymbols(value).length > 0) return false;
  if (value instanceof Date || value instanceof Uint8Array) return true;
  if (NUMBERS.has(Object.getPrototypeOf(value))) return true;
  if (Array.isArray(value)) {
    // A hole would come back as undefined, and so would anything that is no index be lost.
    return Object.keys(value).length === value.length && arePackable(value, depth, walk);
  }
  if (value instanceof Set) return arePackable([...value], depth, walk);
  if (!isRecord(value)) return false;
  // msgpackr renames this one key on reading, for safety.
  if (Object.hasOwn(value, "__proto__")) return false;
  for (const key of Object.keys(value)) {
    if (!key.isWellFormed() || !isPackable(value[key], depth, walk)) return false;
  }
  return true;
}

function arePackable(values: readonly unknown[], depth: number, walk: Walk): boolean {
  for (let index = 0; index < values.length; index++) {
    if (!isPackable(values[index], depth, walk)) return false;
  }
  return true;
}

/** Stands for −0, which msgpackr would pack as the whole number 0. */
class NegativeZero {}
const NEGATIVE_ZERO = new NegativeZero();

/** How msgpackr packs and reads it: extension 45 (`-`), one byte of 0, then the number 0. Whoever packs values adds it. */
export const ZERO_EXTENSION = {
  Class: NegativeZero,
  type: 45,
  write: (): number => 0,
  read: (): number => -0,
};

/** Options of packers that can read each other's output. Beside them a packer chooses whether it calls `toJSON`. */
export const PACKED_PLAINLY = {
  useRecords: false,
  structuredClone: false,
  moreTypes: true,
  int64AsType: "bigint",
} as const;

/** A value that is about to be packed: itself, or a copy where some number in it is −0. */
export function withZeros(value: unknown): unknown {
  return holdsZero(value) ? marked(value) : value;
}

function holdsZero(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return Object.is(value, -0);
  if (Array.isArray(value) || value instanceof Set) {
    for (const one of value) if (holdsZero(one)) return true;
    return false;
  }
  if (!isRecord(value)) return false;
  for (const name in value) if (Object.hasOwn(value, name) && holdsZero(value[name])) return true;
  return false;
}

function marked(value: unknown): unknown {
  if (Object.is(value, -0)) return NEGATIVE_ZERO;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(marked);
  if (value instanceof Set) return new Set([...value].map(marked));
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, marked(one)]));
}

/** An object that is nothing but its fields. */
export function isRecord(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
