/**
 * Codec: the optional part of a request as msgpack, and back.
 *
 *   extras = { m?: method, b?: body, h?: headers, n?: handler, k?: own key, d?: data }
 *
 * Only what is given is written; data comes back equal or the request is refused as unserializable, so the codec
 * looks at every value before it packs: functions, symbols, promises, maps and cycles never come back as something else.
 */
import { Packr } from "msgpackr";

export interface Extras {
  m?: string;
  b?: Uint8Array;
  h?: Record<string, string>;
  n?: string;
  k?: string;
  d?: unknown;
}

/** A request that is a URL and nothing more. */
export const NO_EXTRAS: Extras = Object.freeze({});

const packr = new Packr({
  useRecords: false,
  structuredClone: false,
  moreTypes: true,
  int64AsType: "bigint",
});

/** Deepest nesting that is packed: msgpackr recurses, and hostile data must not overflow the stack. */
const DEPTH_MAX = 200;

export function packExtras(extras: Extras): Uint8Array {
  return packr.pack(extras);
}

export function unpackExtras(bytes: Uint8Array): Extras {
  return packr.unpack(bytes) as Extras;
}

/** Whether msgpack brings a value back equal. */
export function isSerializable(value: unknown, depth = 0): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
    case "boolean":
    case "undefined":
      return true;
    case "bigint":
      return value >= -(2n ** 63n) && value < 2n ** 63n;
    case "object":
      return value === null || isSerializableObject(value, depth);
    default:
      return false;
  }
}

function isSerializableObject(value: object, depth: number): boolean {
  if (depth >= DEPTH_MAX) return false;
  if (value instanceof Date || value instanceof Uint8Array) return true;
  if (Array.isArray(value)) return value.every((one) => isSerializable(one, depth + 1));
  if (value instanceof Set) return [...value].every((one) => isSerializable(one, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  // msgpackr renames this one key on reading, for safety.
  if (Object.hasOwn(value, "__proto__")) return false;
  return Object.entries(value).every(
    ([key, one]) => key.isWellFormed() && isSerializable(one, depth + 1),
  );
}
