/** Splits a request: a RequestInput that was checked (request-fields.ts), split into what the rooms below need. */
import type { PlainRequest } from "../../base/request-types.ts";
import { type Finding, inspectValue } from "../../base/serializable.ts";
import type { Admission } from "../../frontier/admission/admission-input.ts";
import { UNDATED_MS } from "../../frontier/epochs/epoch-policy.ts";
import { VERDICT_UNSERIALIZABLE } from "../../frontier/admission/verdicts.ts";
import { isExempt } from "../../url/keys/identity-bytes.ts";
import type { NormalPolicy } from "../../url/keys/key-policy.ts";
import { type Extras, packExtras } from "./request-extras.ts";
import { TIME } from "./request-fields.ts";
import type { RequestInput } from "../types/frontier-types.ts";

/** What the core needs of a checked request; `depth` is the engine's where the request is a child. */
export function admissionOf(
  input: RequestInput,
  policy: NormalPolicy,
  depth: number | undefined,
  packed = packInput(input),
): Admission {
  const isVolatile = input.volatile ?? false;
  const isPackable = packed !== null;
  const exempt = isExempt(input.method, policy);
  return {
    verdict: isPackable || isVolatile ? undefined : VERDICT_UNSERIALIZABLE,
    priority: input.priority,
    depth: depth ?? input.depth ?? 0,
    dueMs:
      input.notBefore === undefined
        ? UNDATED_MS
        : TIME(input.notBefore, "notBefore", "REQUEST_INVALID"),
    dedup: exempt ? "skip" : (input.dedup ?? "check"),
    isStart: input.start ?? false,
    maxAttempts: Math.min(input.maxAttempts ?? 0, 0xffff),
    blob: packed === null ? packOf(extrasOf(input, false), "plain") : packed,
    isVolatile,
    epoch: input.epoch,
    hostKey: input.hostKey,
    volatileData: isPackable ? undefined : input.data,
  };
}

/** The optional part with its data; null: the data can not be packed. */
export function packInput(input: RequestInput): Uint8Array | undefined | null {
  const found = input.data === undefined ? "plain" : inspectValue(input.data);
  if (found === "stranger") return null;
  try {
    return packOf(extrasOf(input, true), found);
  } catch {
    return null; // data that changes while it is looked at, or grows beyond what can be packed
  }
}

function packOf(extras: Extras | undefined, found: Finding): Uint8Array | undefined {
  return extras === undefined ? undefined : packExtras(extras, found);
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

/** The optional part, or undefined when there is none. Also kept: a key that cannot be made from the URL. */
function extrasOf(input: RequestInput, isPackable: boolean): Extras | undefined {
  const { method, body, headers, handler, key, hostKey } = input;
  const data = isPackable ? input.data : undefined;
  const isBare = body === undefined && headers === undefined && data === undefined;
  const isKeyless = key === undefined && hostKey === undefined;
  const isGet = method === undefined || method === "GET";
  if (isBare && isGet && handler === undefined && isKeyless) return undefined;
  const extras: Extras = {};
  if (!isGet) extras.m = method;
  if (body !== undefined) extras.b = typeof body === "string" ? Buffer.from(body, "utf8") : body;
  if (headers !== undefined) extras.h = headers;
  if (handler !== undefined) extras.n = handler;
  if (key !== undefined) extras.k = key.toWellFormed();
  if (hostKey !== undefined) extras.u = hostKey;
  if (data !== undefined) extras.d = data;
  return extras;
}

/** A request under the key that keyOf returned for it: another call might return another key. */
export function withKey(request: PlainRequest, key: string | undefined): PlainRequest {
  if (key === undefined) return request;
  return typeof request === "string" ? { url: request, key } : { ...request, key };
}
