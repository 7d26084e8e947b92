/**
 * Sendable values: checks a handler's values before they are packed for the owner. A value that msgpack cannot bring back equal is
 * replaced by a stand-in. The owner refuses it by the field's own name, so that it is counted and reported there like any other.
 */
import { shown } from "../../base/errors.ts";
import type { PlainRequest, RequestLike } from "../../base/request-types.ts";
import { isMadeBy } from "../../base/type-guards.ts";
import { isSerializable } from "../../base/serializable.ts";

/** Can be packed, and is refused as data. */
const NO_DATA = Object.freeze(new Error("not serializable"));

/** A request as it can be packed; `isWhole`: the owner will read it unchanged. */
export function sendableRequest(given: RequestLike): { request: PlainRequest; isWhole: boolean } {
  if (isMadeBy(given, URL)) return { request: given.href, isWhole: true };
  if (typeof given !== "object" || given === null) return sendableOther(given);
  const request: Record<string, unknown> = {};
  let isWhole = true;
  try {
    for (const [field, each] of Object.entries(given)) {
      const value: unknown = field === "url" && isMadeBy(each, URL) ? each.href : each;
      if (isSerializable(value)) {
        request[field] = value;
        continue;
      }
      isWhole = false;
      request[field] = field === "data" ? NO_DATA : null; // null is wrong for all others
    }
    // Another thread can hold no data but what was packed.
    if (request.data === NO_DATA) request.volatile = false;
    // Fields of a prototype, such as a class's url.
    if (!Object.hasOwn(request, "url") && typeof given?.url === "string") request.url = given.url;
    isWhole &&= typeof request.url === "string";
  } catch {
    return { request: null as unknown as PlainRequest, isWhole: false };
  }
  return { request: request as unknown as PlainRequest, isWhole };
}

/** A URL, or a value that the owner rejects as no request. */
function sendableOther(given: PlainRequest): { request: PlainRequest; isWhole: boolean } {
  const request = isSerializable(given) ? given : (null as unknown as PlainRequest);
  return { request, isWhole: typeof given === "string" };
}

/** Errors as the owner reports them: unchanged where they can be sent, otherwise their text. */
export function sendableErrors(errors: unknown): unknown {
  if (!Array.isArray(errors)) return isSerializable(errors) ? errors : shown(errors);
  return errors.map((one) => {
    if (one instanceof Error) return Object.assign(new Error(one.message), { name: one.name });
    return isSerializable(one) ? one : shown(one);
  });
}
