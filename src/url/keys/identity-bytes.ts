/**
 * Identity bytes: the input of fingerprint and keyed hash (docs/formats/canonical-url.md §5).
 *
 *   key                                                      GET, no body, no chosen header
 *   key FF method FF bodyLength FF body (FF name ':' value)*  otherwise
 *
 * FF never occurs in UTF-8 and the body's length precedes the body, so two different requests never have the same bytes (I1). Names and
 * methods are HTTP tokens and contain neither ':' nor FF.
 */
import { type HookFault, misuse, refusePromise } from "../../base/errors.ts";
import {
  asciiLowerCase,
  asciiUpperCase,
  type IdentityRequest,
  type NormalPolicy,
} from "./key-policy.ts";

const SEPARATOR = Uint8Array.of(0xff);

/** Whether the identity of a request is just its key: true for nearly every request of a crawl. */
export function isKeyOnly(request: Omit<IdentityRequest, "url">, policy: NormalPolicy): boolean {
  const { method, body, headers } = request;
  if (headers !== undefined && policy.headers.length > 0) {
    if (chosenHeaders(headers, policy).length > 0) return false;
  }
  if (ignoresMethods(policy)) return true;
  if (body !== undefined && body.length > 0) return false;
  return method === undefined || asciiUpperCase(method) === "GET";
}

/**
 * The key that replaces the URL's: the request's own, or the result of `keyOf`. undefined: there is neither. A fault: `keyOf` threw or did
 * not return a string (verdict reason `hook`).
 */
export function keyOverride(
  request: IdentityRequest,
  policy: NormalPolicy,
): string | HookFault | undefined {
  if (request.key !== undefined) return request.key.toWellFormed();
  if (policy.keyOf === undefined) return undefined;
  try {
    const key: unknown = policy.keyOf(request);
    if (typeof key === "string") return key.toWellFormed();
    refusePromise("keyOf", key, "a string");
    return { cause: misuse("ARGUMENT_INVALID", "keyOf(request)", key, "a string") };
  } catch (cause) {
    return { cause };
  }
}

/** Whether the policy exempts a request from duplicate checks: it is not recorded and never a duplicate. */
export function isExempt(method: string | undefined, policy: NormalPolicy): boolean {
  if (policy.exemptMethods.length === 0) return false;
  return policy.exemptMethods.includes(asciiUpperCase(method ?? "GET"));
}

/** The identity bytes of a request, given its key (with any override applied). */
export function identityBytes(
  key: string,
  request: Omit<IdentityRequest, "url">,
  policy: NormalPolicy,
): Uint8Array {
  if (isKeyOnly(request, policy)) return Buffer.from(key, "utf8");
  const ignores = ignoresMethods(policy);
  const method = ignores ? "GET" : asciiUpperCase(request.method ?? "GET");
  const body = ignores ? Buffer.alloc(0) : bodyBytes(request.body);
  const parts: Uint8Array[] = [
    Buffer.from(key, "utf8"),
    SEPARATOR,
    Buffer.from(method, "utf8"),
    SEPARATOR,
    Buffer.from(String(body.length), "utf8"),
    SEPARATOR,
    body,
  ];
  for (const header of chosenHeaders(request.headers ?? {}, policy))
    parts.push(SEPARATOR, Buffer.from(header, "utf8"));
  return Buffer.concat(parts);
}

function ignoresMethods(policy: NormalPolicy): boolean {
  return policy.methods === "ignore" || policy.profile === "url";
}

function bodyBytes(body: string | Uint8Array | undefined): Uint8Array {
  if (body === undefined) return Buffer.alloc(0);
  return typeof body === "string" ? Buffer.from(body, "utf8") : body;
}

/** The headers that the policy chose, as `name:value`, sorted by name, then by value. */
function chosenHeaders(headers: Record<string, string>, policy: NormalPolicy): string[] {
  const chosen: Array<[name: string, value: string]> = [];
  for (const name of Object.keys(headers)) {
    const lower = asciiLowerCase(name);
    if (policy.headers.includes(lower)) chosen.push([lower, String(headers[name]).toWellFormed()]);
  }
  chosen.sort((a, b) => order(a[0], b[0]) || order(a[1], b[1]));
  return chosen.map(([name, value]) => `${name}:${value}`);
}

/** Order of UTF-8 bytes, which is the order of code points. */
function order(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a, "utf8"), Buffer.from(b, "utf8"));
}
