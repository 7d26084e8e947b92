/**
 * Request fields: what a caller pushes, read once and checked field by field. A wrong field is misuse and throws REQUEST_INVALID
 * naming it; a URL that can not be crawled is a verdict and never throws.
 */
import type { PlainRequest } from "../../base/request-types.ts";
import { readList } from "../../base/argument-checks.ts";
import { FrontierError, misuse } from "../../base/errors.ts";
import { made, unknownName, isWhole } from "../../base/fields.ts";
import { isList, isMadeBy, isObject } from "../../base/type-guards.ts";
import { isEpochName } from "../../frontier/epochs/epoch-policy.ts";
import type { RequestInput } from "../types/frontier-types.ts";

const FIELDS = [
  "url",
  "method",
  "body",
  "headers",
  "priority",
  "depth",
  "notBefore",
  "epoch",
  "key",
  "hostKey",
  "dedup",
  "start",
  "handler",
  "maxAttempts",
  "volatile",
  "data",
];

/** HTTP tokens, as a method or a header name must be. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const CONTROL = /[\0\r\n]/;

const HOST_KEY_BYTES_MAX = 4_096;

/** Latest and earliest time a Date can hold. */
const TIME_MS_MAX = 8.64e15;

/**
 * The request as plain data, every field read once: what is checked is what is used, whatever getters
 * and proxies would answer a second time. Throws REQUEST_INVALID for what is no well-formed request; `index`: its place in the list `name`.
 */
export function readRequest(request: unknown, name = "request", index?: number): PlainRequest {
  if (typeof request === "string") return request;
  if (isMadeBy(request, URL)) return request.href;
  const input = readFields(request, name, index) as RequestInput;
  if (input.url === undefined) throw wrong(at(name, index, "url"), input.url, "a string");
  return input;
}

/** A list of requests without its values that are none, and why each of these is none. */
export interface Sifted {
  readonly good: readonly PlainRequest[];
  readonly bad: ReadonlyArray<{ readonly index: number; readonly cause: unknown }>;
}

/** Reads each value of the list `name` by itself. */
export function siftRequests(list: readonly unknown[], name: string): Sifted {
  const good: PlainRequest[] = [];
  const bad: Array<{ index: number; cause: unknown }> = [];
  for (let index = 0; index < list.length; index++) {
    try {
      good.push(readRequest(list[index], name, index));
    } catch (cause) {
      bad.push({ index, cause });
    }
  }
  return { good, bad };
}

/** The same as `readRequest`, with `fields` for those that the request does not set. */
export function readRequestWith(request: unknown, fields: unknown): PlainRequest {
  const read = readRequest(request);
  if (fields === undefined) return read;
  const standIn = readDefaults(fields, "fields");
  if (typeof read === "string") return { url: read, ...standIn };
  return { ...read, ...missing(standIn, read) };
}

/** The same for fields that are used where requests have none: no URL is needed. */
export function readDefaults(defaults: unknown, name: string): Partial<RequestInput> {
  const input = readFields(defaults, name, undefined);
  if (input.url !== undefined)
    throw wrong(`${name}.url`, input.url, "no url among the defaults: each request has its own");
  return input;
}

/** The requests of a batch as they are to be pushed; plain strings stay the list they came in. */
export function readRequests(given: unknown, defaults: unknown): readonly PlainRequest[] {
  const list = readList(given, "requests", "a list of URLs or requests");
  const standIn = defaults === undefined ? undefined : readDefaults(defaults, "defaults");
  let plain = 0;
  if (standIn === undefined) {
    while (plain < list.length && typeof list[plain] === "string") plain++;
    if (plain === list.length) return list as readonly string[];
  }
  const requests: PlainRequest[] = new Array<PlainRequest>(list.length);
  for (let index = 0; index < list.length; index++) {
    const request = readRequest(list[index], "requests", index);
    // What stands in comes last: an object that begins as a copy of another and grows is slow to make and to read.
    if (standIn === undefined) requests[index] = request;
    else if (typeof request === "string") requests[index] = { url: request, ...standIn };
    else requests[index] = { ...request, ...missing(standIn, request) };
  }
  return requests;
}

/** A request, or any other value, with the text of a `URL` object, which no message can carry, in its place. */
export function withoutUrls(given: unknown): unknown {
  if (typeof given !== "object") return given;
  if (isMadeBy(given, URL)) return given.href;
  if (!isObject(given)) return given;
  try {
    const { url } = given as { url?: unknown };
    return isMadeBy(url, URL) ? { ...given, url: url.href } : given;
  } catch {
    return given; // its reader reports why it cannot be read
  }
}

/** The same of a list: itself, where it is text alone. */
export function listWithoutUrls(list: unknown): unknown {
  if (!isList(list) || list.every((one) => typeof one === "string")) return list;
  return Array.from(list, withoutUrls);
}

function missing(standIn: Partial<RequestInput>, request: RequestInput): Partial<RequestInput> {
  const fields = Object.entries(standIn).filter(([field]) => !Object.hasOwn(request, field));
  return Object.fromEntries(fields);
}

/** Names are put together where something is wrong, and only there: batches of very many requests come through here. */
function readFields(
  given: unknown,
  name: string,
  index: number | undefined,
): Partial<RequestInput> {
  if (typeof given === "object" && given !== null) {
    try {
      if (!Array.isArray(given)) return fieldsOf(given as Record<string, unknown>, name, index);
    } catch (cause) {
      if (cause instanceof FrontierError) throw cause;
      const message = `${at(name, index)}: unreadable (expected: plain data)`;
      throw new FrontierError("REQUEST_INVALID", message, { cause });
    }
  }
  throw wrong(at(name, index), given, "a URL string or a request object");
}

function fieldsOf(
  given: Record<string, unknown>,
  name: string,
  index: number | undefined,
): Partial<RequestInput> {
  const input: Partial<RequestInput> = {};
  const keys = Object.keys(given);
  for (let each = 0; each < keys.length; each++) {
    const field = keys[each] as string;
    const value = given[field];
    const expected = value === undefined ? unknownOf(field) : takeField(input, field, value);
    if (expected === undefined) continue;
    if (expected !== UNKNOWN) throw wrong(at(name, index, field), value, expected);
    throw unknownName(field, FIELDS, { name: at(name, index), code: "REQUEST_INVALID" });
  }
  // Else a prototype may bring some, or what is there is not listed.
  const isAll = Object.getPrototypeOf(given) === Object.prototype && input.url !== undefined;
  for (let each = 0; !isAll && each < FIELDS.length; each++) {
    const field = FIELDS[each] as string;
    const value = keys.includes(field) ? undefined : given[field];
    const expected = value === undefined ? undefined : takeField(input, field, value);
    if (expected !== undefined) throw wrong(at(name, index, field), value, expected);
  }
  return input;
}

const UNKNOWN = "no such field";

function unknownOf(field: string): string | undefined {
  return FIELDS.includes(field) ? undefined : UNKNOWN;
}

/** Takes a field over where it is right; else what was expected. */
function takeField(
  input: Partial<RequestInput>,
  field: string,
  value: unknown,
): string | undefined {
  switch (field) {
    case "url":
      if (typeof value === "string") input.url = value;
      else if (isMadeBy(value, URL)) input.url = value.href;
      else return "a string";
      return undefined;
    case "priority":
      if (!Number.isSafeInteger(value)) return "a safe integer";
      input.priority = value as number;
      return undefined;
    case "data":
      input.data = value;
      return undefined;
    case "depth":
      if (!isWhole(value, 0)) return "a whole number of at least 0";
      input.depth = value as number;
      return undefined;
    case "method":
      if (typeof value !== "string" || !TOKEN.test(value)) return "an HTTP method such as 'GET'";
      input.method = value;
      return undefined;
    case "body":
      if (typeof value !== "string" && !(value instanceof Uint8Array)) {
        return "a string or a Uint8Array";
      }
      input.body = value;
      return undefined;
    default:
      return takeRareField(input, field, value);
  }
}

function takeRareField(
  input: Partial<RequestInput>,
  field: string,
  value: unknown,
): string | undefined {
  switch (field) {
    case "maxAttempts":
      if (!isWhole(value, 1)) return "a whole number of at least 1";
      input.maxAttempts = value as number;
      return undefined;
    case "notBefore": {
      const ms = timeOf(value);
      if (ms === undefined) return TIME_EXPECTED;
      input.notBefore = ms;
      return undefined;
    }
    case "headers": {
      const read = readHeaders(value);
      if (typeof read === "string") return read;
      input.headers = read;
      return undefined;
    }
    case "key":
      if (typeof value !== "string") return "a string";
      input.key = value;
      return undefined;
    case "hostKey":
      if (!isHostKey(value)) return "a well-formed string of 1 to 4,096 bytes";
      input.hostKey = value;
      return undefined;
    case "handler":
      if (typeof value !== "string") return "a string";
      if (!value.isWellFormed()) return "a well-formed string";
      input.handler = value;
      return undefined;
    case "start":
    case "volatile":
      if (typeof value !== "boolean") return "true or false";
      input[field] = value;
      return undefined;
    case "epoch":
      if (!isEpochName(value)) return "a string of 1 to 1,000 characters";
      input.epoch = value;
      return undefined;
    case "dedup":
      if (value !== "check" && value !== "record" && value !== "skip") {
        return "'check', 'record' or 'skip'";
      }
      input.dedup = value;
      return undefined;
    default:
      return UNKNOWN;
  }
}

/** What is named in a message: `requests[3].url`. */
function at(name: string, index: number | undefined, field?: string): string {
  const one = index === undefined ? name : `${name}[${index}]`;
  return field === undefined ? one : `${one}.${field}`;
}

function isHostKey(value: unknown): value is string {
  if (typeof value !== "string" || value === "" || !value.isWellFormed()) return false;
  return Buffer.byteLength(value) <= HOST_KEY_BYTES_MAX;
}

const TIME_EXPECTED = "a Date or milliseconds since 1970";

function timeOf(value: unknown): number | undefined {
  try {
    const ms = value instanceof Date ? value.getTime() : value;
    return typeof ms === "number" && Math.abs(ms) <= TIME_MS_MAX ? ms : undefined;
  } catch {
    return undefined; // what can not be asked is no time
  }
}

/** A time, kept as milliseconds. */
export const TIME = made(TIME_EXPECTED, timeOf);

/** A copy, or what was expected. */
function readHeaders(headers: unknown): Record<string, string> | string {
  if (!isObject(headers)) {
    return "an object of strings";
  }
  const read: Record<string, string> = {};
  for (const [header, value] of Object.entries(headers)) {
    // `__proto__` is a token too, but no object carries it faithfully.
    if (!TOKEN.test(header) || header === "__proto__") {
      return `HTTP header names; ${JSON.stringify(header)} is none`;
    }
    if (typeof value !== "string" || !value.isWellFormed() || CONTROL.test(value)) {
      return `of '${header}' a string, well-formed and of one line`;
    }
    read[header] = value;
  }
  return read;
}

function wrong(name: string, value: unknown, expected: string): FrontierError {
  return misuse("REQUEST_INVALID", name, value, expected);
}
