/**
 * Tagged JSON: msgpack values as JSON without loss. A value that JSON cannot express is `{ "$": type, "v": text }`:
 *
 *   bytes    base64 (uint8: as msgpackr packs a Uint8Array that is not a Buffer)
 *   date     milliseconds, or null
 *   bigint   digits                       set      list
 *   number   NaN, Infinity, -Infinity, -0 undefined
 *   object   an object that itself has a field `$`
 *   msgpack  base64 of the packed value: arrays of numbers, and anything that would not return byte for byte
 */
import { dateOf } from "../../base/time/calendar.ts";
import { packr } from "../msgpack.ts";

type Tagged = { readonly $: string; readonly v?: unknown };

/** A packed value as JSON; the decoded JSON packs to the same bytes. */
export function jsonOfPacked(bytes: Uint8Array): unknown {
  const json = encode(packr.unpack(bytes));
  const back = packr.pack(decode(json));
  return Buffer.compare(back, bytes) === 0 ? json : packedJson(bytes);
}

function packedJson(bytes: Uint8Array): Tagged {
  return { $: "msgpack", v: Buffer.from(bytes).toString("base64") };
}

/** The packed value of the JSON that `jsonOfPacked` returned, after JSON.stringify and JSON.parse. */
export function packedOfJson(json: unknown): Uint8Array {
  if (isTagged(json) && json.$ === "msgpack") return Buffer.from(String(json.v), "base64");
  return Uint8Array.from(packr.pack(decode(json)));
}

export function encode(value: unknown): unknown {
  switch (typeof value) {
    case "undefined":
      return { $: "undefined" };
    case "bigint":
      return { $: "bigint", v: String(value) };
    case "number":
      if (Number.isFinite(value) && !Object.is(value, -0)) return value;
      return { $: "number", v: Object.is(value, -0) ? "-0" : String(value) };
    case "object":
      return value === null ? null : encodeObject(value);
    default:
      return value;
  }
}

function encodeObject(value: object): unknown {
  if (value instanceof Uint8Array) {
    const text = Buffer.from(value.buffer, value.byteOffset, value.length).toString("base64");
    return { $: Buffer.isBuffer(value) ? "bytes" : "uint8", v: text };
  }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return packedJson(packr.pack(value));
  }
  if (value instanceof Date) return { $: "date", v: value.getTime() };
  if (value instanceof Set) return { $: "set", v: [...value].map(encode) };
  if (Array.isArray(value)) return value.map(encode);
  const fields = Object.entries(value).map(([name, one]) => [name, encode(one)] as const);
  const plain = Object.fromEntries(fields);
  return Object.hasOwn(value, "$") ? { $: "object", v: plain } : plain;
}

/** Throws for an unknown tag. */
export function decode(json: unknown): unknown {
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map(decode);
  if (!isTagged(json)) return decodeFields(json);
  const { $, v } = json;
  switch ($) {
    case "undefined":
      return undefined;
    case "bigint":
      return BigInt(String(v));
    case "number":
      return Number(v);
    case "bytes":
      return Buffer.from(String(v), "base64");
    case "uint8":
      return new Uint8Array(Buffer.from(String(v), "base64"));
    case "date":
      return dateOf(v === null ? Number.NaN : Number(v));
    case "msgpack":
      return packr.unpack(Buffer.from(String(v), "base64"));
    case "set":
      return new Set((v as unknown[]).map(decode));
    case "object":
      return decodeFields(v as object);
    default:
      throw new TypeError(`unknown type of value: ${JSON.stringify($)}`);
  }
}

function decodeFields(json: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(json).map(([name, one]) => [name, decode(one)]));
}

function isTagged(json: unknown): json is Tagged {
  return typeof json === "object" && json !== null && Object.hasOwn(json, "$");
}
