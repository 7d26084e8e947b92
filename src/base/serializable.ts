/**
 * Serializable: whether msgpack restores a value equal to the original. Functions, symbols, promises, maps and cycles are refused before
 * anything is packed, so that they never turn into something else.
 *
 *   value ─▶ inspectValue ─▶ withZeros ─▶ packed ─▶ unpacked: equal, −0 included. Only a missing prototype is not restored.
 *
 * Values in memory, on disk (engine/intake/request-extras.ts) and between threads (workers/protocol/message-values.ts) all pass these
 * steps, so all of them accept the same values.
 */

/** Prototypes of number arrays that msgpackr restores, beside Uint8Array. */
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

/** Most values in one `data`: a small graph of shared objects can expand to 2¹⁰⁰ of them. */
const VALUES_MAX = 2 ** 21;

/**
 * Kinds of values. stranger: msgpack does not restore it equal. plain: it does. zeros: it does once `withZeros` has marked each −0.
 */
export type Finding = "stranger" | "plain" | "zeros";

/** State of one walk: how many more values are allowed, and whether one was −0. */
interface Walk {
  left: number;
  holdsZero: boolean;
}

/**
 * Checks a value in one walk. It is a stranger if reading it throws, or if it holds more than VALUES_MAX values. An object that is
 * referenced twice counts twice, as msgpack packs it twice.
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

/** Whether msgpack restores a value equal to the original. */
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
    // A hole would be restored as undefined, and a property that is not an index would be lost.
    return Object.keys(value).length === value.length && arePackable(value, depth, walk);
  }
  if (value instanceof Set) return arePackable([...value], depth, walk);
  if (!isRecord(value)) return false;
  // msgpackr renames this key when it reads, for safety.
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

/** How msgpackr packs and reads −0: extension 45 (`-`), one byte of 0, then the number 0. Every packer registers it. */
export const ZERO_EXTENSION = {
  Class: NegativeZero,
  type: 45,
  write: (): number => 0,
  read: (): number => -0,
};

/** Options of all packers, so that they can read each other's output. Each packer still decides on its own whether to call `toJSON`. */
export const PACKED_PLAINLY = {
  useRecords: false,
  structuredClone: false,
  moreTypes: true,
  int64AsType: "bigint",
} as const;

/** The value to pack: itself, or a copy with every −0 marked. */
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

/** Whether an object has no prototype but Object's. */
export function isRecord(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
