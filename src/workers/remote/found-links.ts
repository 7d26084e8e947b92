/**
 * FoundLinks: the links that a page has pushed so far, in the thread that visits it.
 *
 *   URLs alone ──▶ filtered here ──▶ links that the owner must see, and counts of those dropped
 *   a request among them ──▶ everything that the page pushes from there on is sent as requests, in their order: a request may have
 *                            a key, a method or an epoch of its own, so the owner decides on each
 *
 *   I1  Links pushed before the first request come before it.
 */
import type { PlainRequest, RequestInput, RequestLike } from "../../base/request-types.ts";
import { isMadeBy } from "../../base/type-guards.ts";
import { absoluteLink } from "../../url/parsing/page-links.ts";
import { pack } from "../protocol/message-values.ts";
import { sendableRequest } from "./sendable-values.ts";
import { type LinkFilter, type Page, filterLinks } from "./link-filter.ts";
import type { PushAnswer } from "./worker-lease.ts";

/** Filtered links, and unchanged requests. */
export interface FoundLinks extends Page {
  /** Requests that are more than a URL, and all links in order once there is one. */
  requests: PlainRequest[] | undefined;
}

export type Pushed = RequestLike | Iterable<RequestLike>;

export function createFoundLinks(
  serial: number,
  depth: number,
  rule: string | undefined,
): FoundLinks {
  return { links: [], dropped: [0, 0, 0, 0, 0, 0, 0], serial, depth, rule, requests: undefined };
}

/** What was pushed, and the fields that go with it. */
export interface Pushing {
  readonly given: Pushed;
  /** Fields for what a request does not set itself. */
  readonly fields: Partial<RequestInput> | undefined;
  /** The URL of the page, where there is one: relative links are resolved against it. */
  readonly base: string | undefined;
}

/** Adds what was pushed, and an answer for each to `answers`. Returns how many were dropped. */
export function addPushed(
  linkFilter: LinkFilter | undefined,
  found: FoundLinks,
  { given, fields, base }: Pushing,
  answers: PushAnswer[],
): number {
  const list = listOf(given);
  if (found.requests === undefined && fields === undefined && areStrings(list)) {
    return filterLinks(linkFilter, { list, base }, found, answers);
  }
  found.requests ??= found.links.splice(0); // I1
  for (let at = 0; at < list.length; at++) {
    const each = withFields(list[at] as RequestLike, fields);
    const { request, isWhole } = sendableRequest(each);
    found.requests.push(base === undefined ? request : absolute(request, base));
    answers.push(isWhole ? "queued" : "rejected");
  }
  return 0;
}

/** A request with the fields that it does not set itself; anything else is returned unchanged. */
function withFields(given: RequestLike, fields: Partial<RequestInput> | undefined): RequestLike {
  if (fields === undefined) return given;
  if (typeof given === "string") return { ...fields, url: given };
  if (isMadeBy(given, URL)) return { ...fields, url: given.href };
  return typeof given === "object" && given !== null ? { ...fields, ...given } : given;
}

/** `null` stands for a value that is no request. */
function absolute(request: PlainRequest | null, base: string): PlainRequest {
  if (typeof request === "string") return absoluteLink(request, base);
  if (typeof request?.url !== "string") return request as PlainRequest;
  return { ...request, url: absoluteLink(request.url, base) };
}

/** Whether one request was pushed, and not a list of them. */
export function isOne(given: Pushed): given is RequestLike {
  return typeof given === "string" || !isIterable(given);
}

/** The same answer for all. */
export function answerAll(given: Pushed, answer: PushAnswer): PushAnswer | PushAnswer[] {
  if (isOne(given)) return answer;
  return Array.from(given as Iterable<RequestLike>, () => answer);
}

/** Packs what is sent beside a message's links; undefined: nothing. */
export function packFound(found: FoundLinks | undefined, extras: unknown): Uint8Array | undefined {
  const requests = found?.requests;
  const all = requests === undefined ? extras : { ...(extras as object | undefined), requests };
  return all === undefined ? undefined : pack(all);
}

function listOf(given: Pushed): readonly RequestLike[] {
  if (isOne(given)) return [given];
  return Array.isArray(given) ? (given as RequestLike[]) : [...(given as Iterable<RequestLike>)];
}

function areStrings(list: readonly RequestLike[]): list is string[] {
  for (let at = 0; at < list.length; at++) if (typeof list[at] !== "string") return false;
  return true;
}

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}
