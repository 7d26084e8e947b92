/**
 * Request extras: the optional part of a request as msgpack, and back.
 *
 *   extras = { m?: method, b?: body, h?: headers, n?: handler, k?: own key, u?: own host key, d?: data, r?: redirects so far,
 *              e?: epoch that the request named (on Redis) }
 *
 * Only what is given is written; data comes back equal or the request is refused as unserializable: the caller that packs
 * has looked at every value before (base/serializable.ts).
 */
import type { Finding } from "../../base/serializable.ts";
import { packr, packValue } from "../../persistence/msgpack.ts";

export interface Extras {
  m?: string;
  b?: Uint8Array;
  h?: Record<string, string>;
  n?: string;
  k?: string;
  u?: string;
  d?: unknown;
  r?: number;
  e?: string;
}

/** A request that is a URL and nothing more. */
export const NO_EXTRAS: Extras = Object.freeze({});

/** Packs them; `found` in their data by a caller that has just looked, else −0 is looked for. */
export function packExtras(
  extras: Extras,
  found: Finding = extras.d === undefined ? "plain" : "zeros",
): Uint8Array {
  return found === "plain" ? packr.pack(extras) : packValue(extras);
}

/** A packed optional part with more in it. */
export function addExtras(packed: Uint8Array | undefined, more: Extras): Uint8Array {
  return packExtras(packed === undefined ? more : { ...unpackExtras(packed), ...more });
}

export function unpackExtras(bytes: Uint8Array): Extras {
  return packr.unpack(bytes) as Extras;
}
