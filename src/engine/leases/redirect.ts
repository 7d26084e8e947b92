/**
 * Redirect: the request that a redirected page goes on as. It is the same request at another URL, so what it holds
 * goes along; whatever `change` names is taken instead.
 *
 *   goes along      data, handler, headers, start, volatile, own maxAttempts, own epoch, own priority (below);
 *                   a lease without identity (`dedup: 'skip'`, or older than a `forget`) goes on without one
 *   by the status   method and body, as fetch does it: 301, 302 and no status make a GET of a POST, 303 of all but HEAD,
 *                   anything else keeps both; without its body a request has no headers that describe one
 *   stays behind    key and notBefore, which are of the old URL; `host`; on another origin what proves who asks; on another
 *                   host the own host key
 *
 *   I1  Depth, parent and the count of redirects are the engine's and never given here.
 *   I2  A priority that is only the rule's stays the rule's: another rule may take the new URL.
 */
import { argument } from "../../base/argument-checks.ts";
import { ANYTHING, kind } from "../../base/fields.ts";
import { PERIOD_NEVER } from "../../frontier/epochs/adaptive-period.ts";
import { askedPriority, clampPriority, type Core, ruleOf } from "../../frontier/core.ts";
import { FOREVER } from "../../frontier/epochs/epoch-policy.ts";
import { ownsIdentity } from "../../frontier/records/transitions.ts";
import { epochBySalt } from "../../structures/seen/epoch-table.ts";
import {
  blobMaxAttempts,
  blobPeriod,
  RECORD_FLAG_START,
  RECORD_FLAG_VOLATILE,
  recordBlob,
  recordDepth,
  recordFlags,
  recordHi,
  recordLo,
  recordPriority,
} from "../../structures/records/record.ts";
import { isExempt } from "../../url/keys/identity-bytes.ts";
import { hostOfUrl } from "../../url/parsing/host-of-url.ts";
import type { IntakeContext } from "../intake/intake-context.ts";
import { findIdentity } from "../queries/find-identity.ts";
import type { RecordLease } from "./record-lease.ts";
import { requestOf } from "../intake/split-request.ts";
import { readDefaults } from "../intake/request-fields.ts";
import type { RedirectChange, RequestInput } from "../types/frontier-types.ts";

/** What headers of this name describe goes with the body. */
const OF_BODY = /^content-(encoding|language|length|location|type)$/i;
/** Never another server's to see. */
const OF_ORIGIN = /^(authorization|cookie|proxy-authorization)$/i;

/** What a redirect asks, checked; whatever runs the caller's code has run. */
interface Redirect {
  readonly status: number;
  readonly change: Partial<RequestInput>;
}

/** What fetch does by default. */
const FOUND = 302;
const NO_CHANGE: Redirect = Object.freeze({ status: FOUND, change: Object.freeze({}) });

const readChange = argument<{ [K in keyof RedirectChange]?: unknown } & { status?: number }>(
  "change",
  {
    status: kind(
      "a status from 300 to 399",
      (value) => Number.isInteger(value) && Number(value) >= 300 && Number(value) < 400,
    ),
    // The rest is read as a request's fields are.
    ...{ method: ANYTHING, body: ANYTHING, headers: ANYTHING, priority: ANYTHING, key: ANYTHING },
    ...{ notBefore: ANYTHING, epoch: ANYTHING, dedup: ANYTHING, start: ANYTHING, data: ANYTHING },
    ...{ handler: ANYTHING, hostKey: ANYTHING, maxAttempts: ANYTHING, volatile: ANYTHING },
  },
);

export function readRedirect(given: unknown): Redirect {
  if (given === undefined) return NO_CHANGE;
  const { status = FOUND, ...change } = readChange(given);
  return { status, change: readDefaults(change, "change") };
}

/** The request at `url` that a live lease goes on as. */
export function redirected(
  intake: IntakeContext,
  lease: RecordLease,
  { url, status, change }: Redirect & { url: string },
  nowMs: number,
): RequestInput {
  const { hostKey, host } = lease;
  const isKept =
    hostKey !== undefined && URL.canParse(url) && hostOfUrl(new URL(url).href) === host;
  const own = isKept ? { hostKey } : {};
  const wire = sentAlong(lease, url, status);
  return { ...kept(intake, lease, nowMs), ...own, ...wire, ...change, url };
}

/** What the frontier keeps of it. */
function kept(intake: IntakeContext, lease: RecordLease, nowMs: number): Partial<RequestInput> {
  const { core } = intake;
  const { record, handler, data } = lease;
  const flags = recordFlags(core.store, record);
  const blob = recordBlob(core.store, record);
  const maxAttempts = blob === 0 ? 0 : blobMaxAttempts(core.store, blob);
  const priority = priorityOf(core, record);
  const input: Partial<RequestInput> = {};
  if (priority !== undefined) input.priority = priority;
  if (handler !== undefined) input.handler = handler;
  if (data !== undefined) input.data = data;
  if (maxAttempts > 0) input.maxAttempts = maxAttempts;
  if ((flags & RECORD_FLAG_START) !== 0) input.start = true;
  if ((flags & RECORD_FLAG_VOLATILE) !== 0) input.volatile = true;
  if (!ownsIdentity(core, record)) {
    if (lease.key === undefined || !isExempt(lease.method, lease.key)) input.dedup = "skip";
  } else if (blob !== 0 && blobPeriod(core.store, blob) === PERIOD_NEVER) {
    const epoch = ownEpoch(intake, lease, nowMs);
    if (epoch !== undefined) input.epoch = epoch;
  }
  return input;
}

/** What goes over the wire. */
export function sentAlong(
  lease: Pick<RecordLease, "body" | "headers" | "method" | "url"> & { extras: { m?: string } },
  url: string,
  status: number,
): Partial<RequestInput> {
  const { body, headers } = lease;
  const method = lease.method.toUpperCase();
  const isGot = status === 303 ? method !== "GET" && method !== "HEAD" : isPosted(method, status);
  const input: Partial<RequestInput> = {};
  if (!isGot) {
    if (lease.extras.m !== undefined) input.method = lease.method;
    if (body !== undefined) input.body = body;
  }
  if (headers === undefined) return input;
  const isAway = !URL.canParse(url) || new URL(url).origin !== new URL(lease.url).origin;
  const names = Object.keys(headers).filter((name) => {
    if (name.toLowerCase() === "host" || (isGot && OF_BODY.test(name))) return false;
    return !(isAway && OF_ORIGIN.test(name));
  });
  if (names.length === 0) return input;
  input.headers = Object.fromEntries(names.map((name) => [name, headers[name] as string]));
  return input;
}

function isPosted(method: string, status: number): boolean {
  return method === "POST" && (status === 301 || status === FOUND);
}

/** Its own priority before its depth counts, moved as its rule asks of redirects; undefined: it has none (I2). */
function priorityOf(core: Core, record: number): number | undefined {
  const { policy } = ruleOf(core, record);
  if (policy.redirectSet !== undefined) return policy.redirectSet;
  const depth = recordDepth(core.store, record);
  const now = recordPriority(core.store, record);
  if (policy.redirectAdd === 0) return askedPriority(policy, now, depth);
  return clampPriority(now + depth * policy.depthPriority + policy.redirectAdd);
}

/** The epoch that the request named: the one whose salt makes its hash of its request's. */
function ownEpoch(intake: IntakeContext, lease: RecordLease, nowMs: number): string | undefined {
  const { epochs, store } = intake.core;
  const request = { ...requestOf(lease.url, lease.extras), epoch: FOREVER };
  const { hasIdentity, lo, hi } = findIdentity(intake, request, nowMs);
  if (!hasIdentity) return undefined;
  const { record } = lease;
  return epochBySalt(epochs, recordLo(store, record) ^ lo, recordHi(store, record) ^ hi);
}
