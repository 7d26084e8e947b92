/**
 * Requests: a RequestInput checked field by field and split into what the rooms below need. A wrong field is misuse
 * and throws REQUEST_INVALID naming it; a URL that can not be crawled is a verdict and never throws.
 */
import { FrontierError, misuse } from "../base/errors.ts";
import type { Admission } from "../frontier/admission.ts";
import { isEpochName } from "../frontier/epoch-policy.ts";
import { VERDICT_UNSERIALIZABLE } from "../frontier/verdict.ts";
import { isExempt } from "../url/identity.ts";
import type { NormalPolicy } from "../url/policy.ts";
import { isSerializable } from "../base/serializable.ts";
import { type Extras, packExtras } from "./codec.ts";
import type { RequestInput, RequestLike } from "./types.ts";

const FIELDS = new Set([
  "url",
  "method",
  "body",
  "headers",
  "priority",
  "depth",
  "notBefore",
  "epoch",
  "key",
  "dedup",
  "start",
  "handler",
  "maxAttempts",
  "volatile",
  "data",
]);

/** HTTP tokens, as a method or a header name must be. */
const TOKEN = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const CONTROL = /[\0\r\n]/;

/** Latest and earliest time a Date can hold. */
const TIME_MS_MAX = 8.64e15;

/**
 * The request as plain data, every field read once: what is checked is what is used, whatever getters
 * and proxies would say a second time. Throws REQUEST_INVALID for what is no well-formed request.
 */
export function readRequest(request: unknown, name = "request"): RequestLike {
  if (typeof request === "string") return request;
  const input = readFields(request, name) as RequestInput;
  if (typeof input.url !== "string") throw wrong(`${name}.url`, input.url, "a string");
  return input;
}

/** The same for fields that stand in where requests do not say: no URL is needed. */
export function readDefaults(defaults: unknown, name: string): Partial<RequestInput> {
  const input = readFields(defaults, name);
  if (input.url !== undefined) throw wrong(`${name}.url`, input.url, "none: each has its own");
  return input;
}

function readFields(given: unknown, name: string): Partial<RequestInput> {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw wrong(name, given, "a URL string or a request object");
  }
  const input: Record<string, unknown> = {};
  try {
    for (const field of Object.keys(given)) {
      if (!FIELDS.has(field)) throw wrong(`${name}.${field}`, "given", "no such field");
    }
    for (const field of FIELDS) {
      const value: unknown = (given as Record<string, unknown>)[field];
      if (value !== undefined)
        input[field] = field === "headers" ? readHeaders(value, name) : value;
    }
    checkFields(input, name);
  } catch (cause) {
    if (cause instanceof FrontierError) throw cause;
    throw new FrontierError("REQUEST_INVALID", `${name}: unreadable (expected: plain data)`, {
      cause,
    });
  }
  return input;
}

/** Checks every field but the URL. */
function checkFields(input: Partial<RequestInput>, name: string): void {
  const { method, body, priority, depth, maxAttempts } = input;
  if (method !== undefined && (typeof method !== "string" || !TOKEN.test(method))) {
    throw wrong(`${name}.method`, method, "an HTTP method such as 'GET'");
  }
  if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw wrong(`${name}.body`, body, "a string or a Uint8Array");
  }
  if (priority !== undefined && !Number.isSafeInteger(priority)) {
    throw wrong(`${name}.priority`, priority, "a safe integer");
  }
  if (depth !== undefined && !(Number.isSafeInteger(depth) && depth >= 0)) {
    throw wrong(`${name}.depth`, depth, "a whole number of at least 0");
  }
  if (maxAttempts !== undefined && !(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1)) {
    throw wrong(`${name}.maxAttempts`, maxAttempts, "a whole number of at least 1");
  }
  if (input.notBefore !== undefined) {
    input.notBefore = timeMs(input.notBefore, `${name}.notBefore`);
  }
  checkText(input.key, `${name}.key`);
  checkText(input.handler, `${name}.handler`);
  if (input.handler?.isWellFormed() === false) {
    throw wrong(`${name}.handler`, input.handler, "a well-formed string");
  }
  checkFlag(input.start, `${name}.start`);
  checkFlag(input.volatile, `${name}.volatile`);
  if (input.epoch !== undefined && !isEpochName(input.epoch)) {
    throw wrong(`${name}.epoch`, input.epoch, "a text of 1 to 1,000 characters");
  }
  if (input.dedup !== undefined && !["check", "record", "skip"].includes(input.dedup)) {
    throw wrong(`${name}.dedup`, input.dedup, "'check', 'record' or 'skip'");
  }
}

/** A time as milliseconds; throws `code` for what is none. */
export function timeMs(
  value: unknown,
  name: string,
  code: "REQUEST_INVALID" | "ARGUMENT_INVALID" = "REQUEST_INVALID",
): number {
  const ms = value instanceof Date ? value.getTime() : value;
  if (typeof ms === "number" && Math.abs(ms) <= TIME_MS_MAX) return ms;
  throw misuse(code, name, value, "a Date or milliseconds since 1970");
}

/** What the core needs of a checked request; `depth` is the engine's where the request is a child. */
export function admissionOf(
  input: RequestInput,
  policy: NormalPolicy,
  depth: number | undefined,
): Admission {
  const isVolatile = input.volatile ?? false;
  const packed = packInput(input);
  const isPackable = packed !== null;
  const exempt = isExempt(input.method, policy);
  return {
    verdict: isPackable || isVolatile ? undefined : VERDICT_UNSERIALIZABLE,
    priority: input.priority,
    depth: depth ?? input.depth ?? 0,
    dueMs: input.notBefore === undefined ? 0 : timeMs(input.notBefore, "notBefore"),
    dedup: exempt ? "skip" : (input.dedup ?? "check"),
    isStart: input.start ?? false,
    maxAttempts: Math.min(input.maxAttempts ?? 0, 0xffff),
    blob: packed === null ? packOf(extrasOf(input, false)) : packed,
    isVolatile,
    epoch: input.epoch,
    volatileData: isPackable ? undefined : input.data,
  };
}

/** The optional part with its data; null: the data can not be packed. */
function packInput(input: RequestInput): Uint8Array | undefined | null {
  if (input.data !== undefined && !isSerializable(input.data)) return null;
  try {
    return packOf(extrasOf(input, true));
  } catch {
    return null; // data that changes while it is looked at, or grows beyond what can be packed
  }
}

function packOf(extras: Extras | undefined): Uint8Array | undefined {
  return extras === undefined ? undefined : packExtras(extras);
}

/** The request that a lease's URL and optional part came from, as far as its identity goes. */
export function requestOf(url: string, { m, b, h, k }: Extras): RequestInput {
  const request: RequestInput = { url };
  if (m !== undefined) request.method = m;
  if (b !== undefined) request.body = b;
  if (h !== undefined) request.headers = h;
  if (k !== undefined) request.key = k;
  return request;
}

/** The optional part, or undefined when there is none. Also kept: the key that no URL gives back. */
function extrasOf(input: RequestInput, isPackable: boolean): Extras | undefined {
  const { method, body, headers, handler, key, data } = input;
  const extras: Extras = {};
  let isEmpty = true;
  const add = <F extends keyof Extras>(field: F, value: Extras[F]): void => {
    if (value === undefined) return;
    extras[field] = value;
    isEmpty = false;
  };
  if (method !== undefined && method !== "GET") add("m", method);
  add("b", typeof body === "string" ? Buffer.from(body, "utf8") : body);
  add("h", headers);
  add("n", handler);
  add("k", key?.toWellFormed());
  if (isPackable) add("d", data);
  return isEmpty ? undefined : extras;
}

function readHeaders(headers: unknown, request: string): Record<string, string> {
  const name = `${request}.headers`;
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    throw wrong(name, headers, "an object of strings");
  }
  const read: Record<string, string> = {};
  for (const [header, value] of Object.entries(headers)) {
    // `__proto__` is a token too, but no object carries it faithfully.
    if (!TOKEN.test(header) || header === "__proto__") {
      throw wrong(`${name}.${header}`, header, "an HTTP header name");
    }
    if (typeof value !== "string" || !value.isWellFormed() || CONTROL.test(value)) {
      throw wrong(`${name}.${header}`, value, "a string, well-formed and of one line");
    }
    read[header] = value;
  }
  return read;
}

function checkText(value: unknown, name: string): void {
  if (value !== undefined && typeof value !== "string") throw wrong(name, value, "a string");
}

function checkFlag(value: unknown, name: string): void {
  if (value !== undefined && typeof value !== "boolean") throw wrong(name, value, "true or false");
}

function wrong(name: string, value: unknown, expected: string): FrontierError {
  return misuse("REQUEST_INVALID", name, value, expected);
}

/** A request under the key that keyOf gave it: asking again might give another. */
export function withKey(request: RequestLike, key: string | undefined): RequestLike {
  if (key === undefined) return request;
  return typeof request === "string" ? { url: request, key } : { ...request, key };
}
