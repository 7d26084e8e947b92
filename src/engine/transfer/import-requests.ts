/**
 * The requests of an import: of lines, pushed in slices. Nothing is polled meanwhile, so requests without room are counted and not waited
 * for.
 *
 *   lines ─┬─ the first ones, as many as were visited ─▶ pushed, and taken out again: seen
 *          └─ all others ─▶ pushed ─▶ counted by verdict
 */
import { decode } from "../../persistence/transfer/tagged-json.ts";
import type { Line } from "../../persistence/transfer/export-lines.ts";
import { askedPriority, ruleOfId } from "../../frontier/core.ts";
import type { FrontierPolicy } from "../../frontier/rules/rule-policy.ts";
import { lifecycleOf } from "../api/lifecycles.ts";
import type { LocalFrontier } from "../api/local-frontier.ts";
import { abortOf, slicesOf } from "../api/push-from.ts";
import { nextTurn } from "../next-turn.ts";
import type { PushResult, RequestInput, RequestLike } from "../types/frontier-types.ts";

/** Requests that are pushed at once: about a millisecond of work. */
export const BATCH = 1_000;
/** Fields of a record's line that a push takes. */
const REQUEST_FIELDS = [
  ...["url", "method", "body", "headers", "priority", "depth", "key", "dedup", "start"],
  ...["handler", "hostKey", "maxAttempts", "data"],
];

export type Count = "size" | "accepted" | "deferred" | "duplicate" | "rejected" | "full";
export const COUNTS: readonly Count[] = [
  ...(["size", "accepted", "deferred"] as const),
  ...(["duplicate", "rejected", "full"] as const),
];

export interface Pushed extends Readonly<Record<Count, number>> {
  /** Lines that were no request. */
  readonly passed: number;
  /** Why requests were rejected or found no room, with their numbers. */
  readonly reasons: Readonly<Record<string, number>>;
}

/** Pushes the requests of lines; the first `visited` of them are seen then, and not pending. Throws the disk's error. */
export async function pushLines(
  frontier: LocalFrontier,
  lines: AsyncIterable<Line | string>,
  visited: number,
): Promise<Pushed> {
  const sum = { size: 0, accepted: 0, deferred: 0, duplicate: 0, rejected: 0, full: 0 };
  const reasons: Record<string, number> = {};
  const core = lifecycleOf(frontier)?.need().core;
  const requests = new Requests(lines, (request) => {
    if (core?.active.some(({ policy }) => policy.depthPriority !== 0) !== true) return undefined;
    return ruleOfId(core, frontier.explain(request).rule ?? "")?.policy;
  });
  const push = (some: RequestLike[]): PushResult => {
    const result = frontier.pushMany(some);
    for (const name of COUNTS) sum[name] += result[name];
    addReasons(reasons, result);
    return result;
  };
  for await (const slice of slicesOf(requests, BATCH, abortOf(undefined))) {
    const over = slice.splice(0, visited - sum.size);
    if (over.length > 0) {
      const { accepted, deferred } = push(over);
      frontier.remove({ pattern: "" });
      // What was visited elsewhere is nothing new here.
      sum.accepted -= accepted;
      sum.deferred -= deferred;
      sum.duplicate += accepted + deferred;
    }
    if (slice.length > 0) push(slice);
    if (reasons.disk !== undefined) await frontier.flush(); // throws the reason
    await nextTurn();
  }
  await frontier.flush();
  return { ...sum, passed: requests.passed, reasons };
}

type PolicyOf = (request: RequestInput) => FrontierPolicy | undefined;

/** Requests of lines; what is none of an export is passed over and counted. */
export class Requests implements AsyncIterable<RequestLike> {
  passed = 0;
  readonly #lines: AsyncIterable<Line | string>;
  readonly #policyOf: PolicyOf;

  /** `policyOf`: of the rule that a record's request will be of. */
  constructor(lines: AsyncIterable<Line | string>, policyOf: PolicyOf) {
    this.#lines = lines;
    this.#policyOf = policyOf;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RequestLike> {
    for await (const line of this.#lines) {
      const request = this.#requestOf(line);
      if (request === undefined) this.passed++;
      else yield request;
    }
  }

  /** The request of a line; undefined: it is a line of an export that is none. */
  #requestOf(line: Line | string): RequestLike | undefined {
    if (typeof line === "string") return line;
    if (!isOfExport(line)) return line as unknown as RequestInput;
    if (typeof line.url !== "string") return undefined;
    const request = requestOfRecord(line) as unknown as RequestInput;
    restorePriority(request, this.#policyOf);
    return request;
  }
}

/** A record's priority holds its depth already: its rule shall not subtract that once more. */
function restorePriority(request: RequestInput, policyOf: PolicyOf): void {
  const { priority, depth = 0 } = request;
  // The push rejects what is no number.
  if (depth === 0 || !Number.isSafeInteger(priority) || !Number.isSafeInteger(depth)) return;
  request.priority = askedPriority(policyOf(request), priority as number, depth);
}

/** Adds why requests of a batch were rejected or found no room. */
export function addReasons(reasons: Record<string, number>, result: PushResult): void {
  if (result.rejected + result.full === 0) return;
  for (let at = 0; at < result.size; at++) {
    const { status, reason = status } = result.verdict(at);
    if (status !== "rejected" && status !== "full") continue;
    reasons[reason] = (reasons[reason] ?? 0) + 1;
  }
}

function isOfExport(line: Line): boolean {
  return typeof line.url !== "string" || ("state" in line && "order" in line);
}

/** What a push takes of a record's line. */
function requestOfRecord(line: Line): Line {
  const request: Line = {};
  for (const name of REQUEST_FIELDS) {
    if (line[name] !== undefined) request[name] = decode(line[name]);
  }
  if (request.maxAttempts === 0) delete request.maxAttempts;
  if (line.state === "waiting") request.notBefore = decode(line.dueMs);
  return request;
}
