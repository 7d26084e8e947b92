/**
 * Requests: a RequestInput checked field by field and split into what the rooms below need. A wrong field is misuse
 * and throws REQUEST_INVALID naming it; a URL that can not be crawled is a verdict and never throws.
 */
import { FrontierError, misuse } from "../base/errors.ts";
import type { Admission } from "../frontier/admission.ts";
import { VERDICT_UNSERIALIZABLE } from "../frontier/verdict.ts";
import { isExempt } from "../url/identity.ts";
import type { NormalPolicy } from "../url/policy.ts";
import { type Extras, isSerializable, packExtras } from "./codec.ts";
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

/** Latest and earliest time a Date can hold. */
const TIME_MS_MAX = 8.64e15;

/** Throws REQUEST_INVALID unless the request is a string or a well-formed RequestInput. */
export function checkRequest(request: unknown, name = "request"): asserts request is RequestLike {
  if (typeof request === "string") return;
  if (typeof request !== "object" || request === null || Array.isArray(request)) {
    throw wrong(name, request, "a URL string or a request object");
  }
  for (const field of Object.keys(request)) {
    if (!FIELDS.has(field)) throw wrong(`${name}.${field}`, "given", "no such field");
  }
  const input = request as RequestInput;
  if (typeof input.url !== "string") throw wrong(`${name}.url`, input.url, "a string");
  checkDefaults(input, name);
}

/** Checks every field but the URL. */
export function checkDefaults(input: Partial<RequestInput>, name: string): void {
  const { method, body, headers, priority, depth, maxAttempts } = input;
  if (method !== undefined && (typeof method !== "string" || !TOKEN.test(method))) {
    throw wrong(`${name}.method`, method, "an HTTP method such as 'GET'");
  }
  if (body !== undefined && typeof body !== "string" && !(body instanceof Uint8Array)) {
    throw wrong(`${name}.body`, body, "a string or a Uint8Array");
  }
  if (headers !== undefined) checkHeaders(headers, `${name}.headers`);
  if (priority !== undefined && !Number.isSafeInteger(priority)) {
    throw wrong(`${name}.priority`, priority, "a safe integer");
  }
  if (depth !== undefined && !(Number.isSafeInteger(depth) && depth >= 0)) {
    throw wrong(`${name}.depth`, depth, "a whole number of at least 0");
  }
  if (maxAttempts !== undefined && !(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1)) {
    throw wrong(`${name}.maxAttempts`, maxAttempts, "a whole number of at least 1");
  }
  if (input.notBefore !== undefined) timeMs(input.notBefore, `${name}.notBefore`);
  checkText(input.key, `${name}.key`);
  checkText(input.handler, `${name}.handler`);
  checkFlag(input.start, `${name}.start`);
  checkFlag(input.volatile, `${name}.volatile`);
  if (input.epoch !== undefined) {
    throw new FrontierError("UNSUPPORTED", `${name}.epoch: given (expected: none in this version)`);
  }
  if (input.dedup !== undefined && !["check", "record", "skip"].includes(input.dedup)) {
    throw wrong(`${name}.dedup`, input.dedup, "'check', 'record' or 'skip'");
  }
}

/** A time as milliseconds; throws REQUEST_INVALID for what is none. */
export function timeMs(value: unknown, name: string): number {
  const ms = value instanceof Date ? value.getTime() : value;
  if (typeof ms === "number" && Math.abs(ms) <= TIME_MS_MAX) return ms;
  throw wrong(name, value, "a Date or milliseconds since 1970");
}

/** What the core needs of a checked request; `depth` is the engine's where the request is a child. */
export function admissionOf(
  input: RequestInput,
  policy: NormalPolicy,
  depth: number | undefined,
): Admission {
  const isVolatile = input.volatile ?? false;
  const isPackable = input.data === undefined || isSerializable(input.data);
  const exempt = isExempt(input.method, policy);
  const extras = extrasOf(input, isPackable);
  return {
    verdict: isPackable || isVolatile ? undefined : VERDICT_UNSERIALIZABLE,
    priority: input.priority,
    depth: depth ?? input.depth ?? 0,
    dueMs: input.notBefore === undefined ? 0 : timeMs(input.notBefore, "notBefore"),
    dedup: exempt ? "skip" : (input.dedup ?? "check"),
    isStart: input.start ?? false,
    maxAttempts: Math.min(input.maxAttempts ?? 0, 0xffff_ffff),
    blob: extras === undefined ? undefined : packExtras(extras),
    isVolatile,
    volatileData: isPackable ? undefined : input.data,
  };
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

function checkHeaders(headers: unknown, name: string): void {
  if (typeof headers !== "object" || headers === null || Array.isArray(headers)) {
    throw wrong(name, headers, "an object of strings");
  }
  for (const [header, value] of Object.entries(headers)) {
    if (!TOKEN.test(header)) throw wrong(`${name}.${header}`, header, "an HTTP header name");
    if (typeof value !== "string") throw wrong(`${name}.${header}`, value, "a string");
  }
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
