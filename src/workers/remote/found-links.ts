/**
 * FoundLinks: the links that a page has pushed so far, in the thread that visits it.
 *
 *   URLs alone ──▶ filtered here ──▶ links that the owner must see, and counts of those dropped
 *   a request among them ──▶ everything that the page pushes from there on is sent as requests, in their order: a request may have
 *                            a key, a method or an epoch of its own, so the owner decides on each
 *
 *   I1  Links pushed before the first request come before it.
 */
import type { RequestLike } from "../../base/request-types.ts";
import { pack } from "../protocol/message-values.ts";
import { sendableRequest } from "./sendable-values.ts";
import { type LinkFilter, type Page, filterLinks } from "./link-filter.ts";
import type { PushAnswer } from "./worker-lease.ts";

/** Filtered links, and unchanged requests. */
export interface FoundLinks extends Page {
  /** Requests that are more than a URL, and all links in order once there is one. */
  requests: RequestLike[] | undefined;
}

export type Pushed = RequestLike | Iterable<RequestLike>;

export function createFoundLinks(
  serial: number,
  depth: number,
  rule: string | undefined,
): FoundLinks {
  return { links: [], dropped: [0, 0, 0, 0, 0, 0, 0], serial, depth, rule, requests: undefined };
}

/** Adds what was pushed, and an answer for each to `answers`. Returns how many were dropped. */
export function addPushed(
  linkFilter: LinkFilter | undefined,
  found: FoundLinks,
  given: Pushed,
  answers: PushAnswer[],
): number {
  const list = listOf(given);
  if (found.requests === undefined && areStrings(list)) {
    return filterLinks(linkFilter, list, found, answers);
  }
  found.requests ??= found.links.splice(0); // I1
  for (let at = 0; at < list.length; at++) {
    const { request, isWhole } = sendableRequest(list[at] as RequestLike);
    found.requests.push(request);
    answers.push(isWhole ? "queued" : "rejected");
  }
  return 0;
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
