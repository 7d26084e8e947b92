/**
 * Requests as a message can carry them. Asked for when a message was refused and only then, so that what can be sent costs
 * nothing here: what a message can not carry are functions and symbols, mostly in a request's data.
 *
 *   no request at all             ─▶ REQUEST_INVALID as its owner would throw; among links found: a link that is none
 *   data that nothing can carry   ─▶ a stand-in that its owner refuses as unserializable, alone among its batch
 */
import type { PlainRequest } from "../../base/request-types.ts";
import { isSerializable } from "../../base/serializable.ts";
import { readRequest, readRequests, readRequestWith } from "../intake/request-fields.ts";

/** Carried by a message and by no record: msgpack has no patterns. */
const STAND_IN = /unserializable/;

export function sendableRequest(request: unknown): PlainRequest {
  return withoutFunctions(readRequest(request));
}

export function sendableRequestWith(request: unknown, fields: unknown): PlainRequest {
  return withoutFunctions(readRequestWith(request, fields));
}

export function sendableRequests(requests: unknown, defaults?: unknown): PlainRequest[] {
  return readRequests(requests, defaults).map(withoutFunctions);
}

/** Links of a page: one that is no request spoils none of the others. */
export function sendableFound(found: readonly unknown[]): unknown[] {
  return found.map((link) => {
    try {
      return sendableRequest(link);
    } catch {
      return null;
    }
  });
}

/** What went wrong, as text where it is no error. */
export function sendableCauses(causes: readonly unknown[]): unknown[] {
  return causes.map((cause) => (cause instanceof Error ? cause : String(cause)));
}

/** Volatile data stays what it is: no other thread can be given it. */
function withoutFunctions(request: PlainRequest): PlainRequest {
  if (typeof request === "string" || request.volatile === true) return request;
  if (request.data === undefined || isSerializable(request.data)) return request;
  return { ...request, data: STAND_IN };
}
