/**
 * The methods that cross to a frontier's own thread, listed once: the caller's side makes the methods of its frontier, hosts and leases from
 * these tables (thread-frontier.ts, thread-lease.ts), the owner's side answers by them (call-handler.ts).
 *
 *   caller: read ─▶ (makeSendable) ── message ──▶ owner: the method, pack
 *           unpack ◀──────── answer ────┘
 */
import { readDone, readList } from "../../base/argument-checks.ts";
import { isSerializable } from "../../base/serializable.ts";
import { readHostChange } from "../queries/host-view.ts";
import { listWithoutUrls, readRequest, TIME, withoutUrls } from "../intake/request-fields.ts";
import {
  ownVerdict,
  type PlainLease,
  plainReport,
  plainResult,
  reportFrom,
  resultOf,
} from "./thread-messages.ts";
import {
  sendableCauses,
  sendableFound,
  sendableRequest,
  sendableRequests,
  sendableRequestWith,
} from "./sendable-requests.ts";
import type { Explanation, Lease } from "../types/frontier-types.ts";

/** How one method crosses; what is left out changes nothing. */
export interface Crossing {
  /** Caller: the arguments, checked and read once. */
  readonly read?: (...args: never[]) => readonly unknown[];
  /** Caller, where a message can not carry the arguments: the nearest that it can. */
  readonly makeSendable?: (...args: never[]) => readonly unknown[];
  /** Owner: the answer as plain data; `lend` keeps a lease for the caller. */
  readonly pack?: (answer: never, lend: (lease: Lease) => PlainLease) => unknown;
  /** Caller: the answer that the plain data stand for. */
  readonly unpack?: (plain: never, own: (lease: PlainLease) => unknown) => unknown;
}

type Crossings<M extends string> = Readonly<Record<M, Crossing>>;

const PLAIN: Crossing = {};
const REQUEST: Crossing = {
  read: (request: unknown, ...rest: unknown[]) => [withoutUrls(request), ...rest],
  makeSendable: (request: unknown, ...rest: unknown[]) => [sendableRequest(request), ...rest],
};
const LEASES: Crossing = {
  pack: (leases: Lease[], lend) => leases.map(lend),
  unpack: (leases: PlainLease[], own) => leases.map(own),
};

export const FRONTIER_METHODS = {
  ...{ status: PLAIN, state: PLAIN, setState: PLAIN },
  push: {
    ...REQUEST,
    makeSendable: (request: unknown, fields: unknown) => [sendableRequestWith(request, fields)],
    unpack: ownVerdict,
  },
  pushMany: {
    read: (requests: unknown, defaults: unknown) => [
      listWithoutUrls(readList(requests, "requests", "a list of URLs or requests")),
      defaults,
    ],
    makeSendable: (list: unknown, defaults: unknown) => [sendableRequests(list, defaults)],
    pack: plainResult,
    unpack: resultOf,
  },
  put: { ...REQUEST, makeSendable: sendablePut },
  ...{ pollMany: LEASES, take: LEASES, done: PLAIN, peek: PLAIN },
  record: REQUEST,
  explain: {
    ...REQUEST,
    unpack: (plain: Explanation) => ({ ...plain, verdict: ownVerdict(plain.verdict) }),
  },
  report: { pack: plainReport, unpack: reportFrom },
  update: REQUEST,
  ...{ nextDueAt: PLAIN, rules: PLAIN, setRules: PLAIN },
  ...{ requeue: PLAIN, remove: PLAIN, forget: PLAIN, clear: PLAIN },
  ...{ pause: PLAIN, resume: PLAIN, drain: PLAIN, flush: PLAIN, snapshot: PLAIN, share: PLAIN },
} satisfies Crossings<string>;

export const LEASE_METHODS = {
  done: {
    read: (result = {}) => {
      const { found, ...rest } = readDone(result);
      return [{ ...rest, found: listWithoutUrls(found) }];
    },
    makeSendable: ({ found, errors, ...rest }: ReturnType<typeof readDone>) => [
      {
        ...rest,
        ...(found === undefined ? {} : { found: sendableFound(found) }),
        ...(errors === undefined ? {} : { errors: sendableCauses(errors) }),
      },
    ],
    pack: plainResult,
    unpack: resultOf,
  },
  ...{ retry: PLAIN, fail: PLAIN, release: PLAIN, dispose: PLAIN, extend: PLAIN },
  redirect: { unpack: ownVerdict },
} satisfies Crossings<string>;

export const HOST_METHODS = {
  ...{ view: PLAIN, hold: PLAIN, unhold: PLAIN },
  set: { read: (change: object) => [readHostChange(change)] },
  blockUntil: { read: (at: unknown) => [TIME(at, "at", "ARGUMENT_INVALID")] },
} satisfies Crossings<string>;

/** Data that no message carries is refused by the owner as unserializable. */
function sendablePut(request: unknown, options: unknown): readonly unknown[] {
  const data = (options as { data?: unknown } | undefined)?.data;
  if (data === undefined || isSerializable(data)) return [sendableRequest(request), options];
  return [
    sendableRequest({ ...asInput(request), data }),
    { ...(options as object), data: undefined },
  ];
}

function asInput(request: unknown): object {
  const read = readRequest(request);
  return typeof read === "string" ? { url: read } : read;
}

/** One method for each row of a table. */
export function methodsOf<M extends string>(
  table: Crossings<M>,
  ask: (method: string, args: readonly unknown[], crossing: Crossing) => Promise<unknown>,
): Record<M, (...args: never[]) => Promise<never>> {
  const methods = Object.entries<Crossing>(table).map(([method, crossing]) => {
    return [method, (...args: unknown[]) => ask(method, args, crossing)];
  });
  return Object.fromEntries(methods);
}
