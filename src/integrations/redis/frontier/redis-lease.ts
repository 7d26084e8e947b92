/** RedisLease: a lease of a record in the server. Its methods are scripts; its token is the fence. */
import {
  checkExtension,
  checkText,
  readDone,
  readOutcome,
  readRetry,
  type RetryOptions,
} from "../../../base/argument-checks.ts";
import { misuse } from "../../../base/errors.ts";
import { INSPECT, type Inspect, plainLease, shownLease } from "../../../base/plain-copy.ts";
import type { LeaseResult, RedirectChange, PlainRequest } from "../../../base/request-types.ts";
import { DONE_LATE, doneResult } from "../../../engine/intake/push-result.ts";
import { readRequest } from "../../../engine/intake/request-fields.ts";
import { readRedirect, sentAlong } from "../../../engine/leases/redirect.ts";
import type {
  DoneResult,
  Outcome,
  RequestInput,
  RequestView,
  Verdict,
} from "../../../engine/types/frontier-types.ts";
import {
  VERDICT_DUPLICATE,
  VERDICT_INVALID_REQUEST,
  VERDICT_LATE,
  VERDICT_MAX_FOUND,
  VERDICT_NO_FOLLOW,
  verdictOf,
} from "../../../frontier/admission/verdicts.ts";
import { clampPriority, effectivePriority } from "../../../frontier/core.ts";
import type { FrontierPolicy } from "../../../frontier/rules/rule-policy.ts";
import { hostOfUrl } from "../../../url/parsing/host-of-url.ts";
import type { EventHub } from "../../../engine/event-hub.ts";
import { fingerprintOf } from "../../../engine/api/url-functions.ts";
import { absoluteLink } from "../../../url/parsing/page-links.ts";
import {
  hostPiece,
  isLong,
  readRecord,
  type RecordFields,
  ruleAt,
} from "../requests/record-bytes.ts";
import type { Packable } from "../server/packing.ts";
import { recordOf, type Row } from "../requests/request-reader.ts";
import type { PushParts, Pushes } from "./pushes.ts";
import { requestViewOf } from "./record-views.ts";
import { END, type End, type Ended, type LeaseEnds, NO_CODES, spread } from "./lease-ends.ts";
import type { RawLease } from "./lease-source.ts";
import { NO_RULE_NUMBER, type RuleSet } from "../requests/rule-set.ts";

/** What leases need of their frontier. */
export interface LeaseHome {
  readonly ends: LeaseEnds;
  readonly maxFound: number;
  readonly isClosed: boolean;
  rules(): RuleSet;
  fault(cause: unknown, url: string): void;
  /** A lease has ended, with this letter of the script. */
  ended(lease: RedisLease, letter: string, reason: string | undefined): void;
  /** Rule and body of a record whose rule is gone; null: its rule is there. */
  again(lease: RedisLease): Packable;
  /** Rows of links, under the rules of the moment. */
  rowsOf(list: readonly PlainRequest[], lease: RedisLease): Array<Row | number>;
  fingerprintOf(request: RequestInput, ruleId: string): string;
  /** Pushes the request that a redirect goes on as. */
  continueAt(request: RequestInput, lease: RedisLease): Promise<Verdict>;
}

/** Links of a page; undefined: one that is no request. */
type Links = ReadonlyArray<PlainRequest | undefined>;

export class RedisLease {
  readonly rule: string;
  deadlineMs: number;
  readonly #home: LeaseHome;
  readonly #raw: RawLease;
  #read: RecordFields | undefined;
  #fingerprint: string | undefined;
  #hasEnded = false;

  constructor(home: LeaseHome, raw: RawLease) {
    this.rule = home.rules().ids[ruleAt(raw.record)] ?? "";
    this.deadlineMs = raw.batch.deadlineMs;
    this.#home = home;
    this.#raw = raw;
  }

  get #record(): RecordFields {
    this.#read ??= readRecord(this.#raw.record);
    return this.#read;
  }

  get url(): string {
    return this.#record.url;
  }

  get method(): string {
    return this.#record.extras.m ?? "GET";
  }

  get body(): Uint8Array | undefined {
    return this.#record.extras.b;
  }

  get headers(): Record<string, string> | undefined {
    return this.#record.extras.h;
  }

  get priority(): number {
    return this.#record.priority;
  }

  get depth(): number {
    return this.#record.depth;
  }

  get attempt(): number {
    return this.#record.attempt;
  }

  get deliveries(): number {
    return this.#record.deliveries;
  }

  get host(): string {
    return hostOfUrl(this.#record.url);
  }

  get hostKey(): string | undefined {
    return this.#record.extras.u;
  }

  get parent(): string | undefined {
    return this.#record.parent?.toString("hex");
  }

  get handler(): string | undefined {
    return this.#record.extras.n;
  }

  get redirects(): number {
    return this.#record.extras.r ?? 0;
  }

  get data(): unknown {
    return this.#record.extras.d;
  }

  get fingerprint(): string {
    this.#fingerprint ??= this.#home.fingerprintOf(this.request(), this.rule);
    return this.#fingerprint;
  }

  get record(): RecordFields {
    return this.#record;
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  #sent(): Parameters<typeof sentAlong>[0] {
    const { url, method, body, headers } = this;
    return { url, method, body, headers, extras: this.#record.extras };
  }

  /** What events show of it. */
  view(): RequestView {
    return requestViewOf(this.#record, this.rule);
  }

  /** The request that it came from, as far as its identity goes. */
  request(): RequestInput {
    const { k } = this.#record.extras;
    return {
      url: this.url,
      method: this.method,
      ...(this.body === undefined ? {} : { body: this.body }),
      ...(this.headers === undefined ? {} : { headers: this.headers }),
      ...(k === undefined ? {} : { key: k }),
    };
  }

  async done(result: LeaseResult = {}): Promise<DoneResult> {
    const { found, errors = [], outcome } = readDone(result);
    const links = (found ?? []).map((one) => this.#linkOf(one));
    const rest = [outcomeOf(outcome), isLong(this.#raw.record)];
    const ended = await this.#end(END.done, rest, { links });
    if (ended.letter !== "d") return DONE_LATE;
    for (const cause of errors) this.#home.fault(cause, this.url);
    return doneResult(ended.codes);
  }

  async retry(options: RetryOptions = {}): Promise<"requeued" | "failed" | "late"> {
    const { delayMs, priority, reason, outcome } = readRetry(options);
    const { letter } = await this.#end(
      END.retry,
      [outcomeOf(outcome), delayMs, priority, cut(reason), spread(), this.#home.again(this)],
      { reason },
    );
    return letter === "q" ? "requeued" : letter === "f" ? "failed" : "late";
  }

  async fail(reason?: string, given?: Outcome): Promise<boolean> {
    checkText(reason, "reason");
    const outcome = readOutcome(given);
    const { letter } = await this.#end(END.fail, [outcomeOf(outcome), cut(reason)], { reason });
    return letter === "f";
  }

  async release(): Promise<boolean> {
    const { letter } = await this.#end(END.release, [null, this.#home.again(this)]);
    return letter === "r";
  }

  async redirect(url: string, change?: RedirectChange): Promise<Verdict> {
    if (typeof url !== "string") throw misuse("ARGUMENT_INVALID", "url", url, "a string");
    const asked = { ...readRedirect(change), url: absoluteLink(url, this.url) };
    const { letter } = await this.#ask(END.check, [null]);
    if (letter !== "c" && letter !== "n") return verdictOf(VERDICT_LATE);
    const { priority, isStart, maxAttempts } = this.#record;
    // It may have been forgotten since.
    const hasIdentity = this.#record.hasIdentity && letter === "c";
    const { e: epoch } = this.#record.extras;
    const spec = this.#home.rules().specs[this.#record.rule];
    const policy = spec?.policy;
    const shifted = shiftedPriority(priority, this.depth, policy);
    const isSame = URL.canParse(asked.url) && hostOfUrl(new URL(asked.url).href) === this.host;
    const isKept = this.hostKey !== undefined && isSame;
    return await this.#home.continueAt(
      {
        ...(shifted === undefined ? {} : { priority: shifted }),
        ...(this.handler === undefined ? {} : { handler: this.handler }),
        ...(this.data === undefined ? {} : { data: this.data }),
        ...(maxAttempts > 0 ? { maxAttempts } : {}),
        ...(isStart ? { start: true } : {}),
        ...(hasIdentity ? {} : { dedup: "skip" as const }),
        ...(hasIdentity && epoch !== undefined ? { epoch } : {}),
        ...(isKept ? { hostKey: this.hostKey } : {}),
        ...sentAlong(this.#sent(), asked.url, asked.status),
        ...asked.change,
        url: asked.url,
      },
      this,
    );
  }

  async extend(ms: number): Promise<boolean> {
    checkExtension(ms);
    const { letter } = await this.#ask(END.extend, [null, ms]);
    if (letter !== "e") return false;
    this.deadlineMs += ms;
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (!this.#hasEnded) await this.release();
  }

  /** What `console.log` shows. */
  [INSPECT](depth: number, options: object, inspect: Inspect): string {
    return shownLease(this as never, depth, { options, inspect });
  }

  /** What a log of JSON shows. @internal */
  toJSON(): object {
    return plainLease(this as never);
  }

  /** Ends it without links; exactly one of the two is called. */
  finish(tally: Tally): void {
    const resolve = (ended: Ended): void => {
      this.#ended(ended, undefined);
      tally.add(ended.letter === "d");
    };
    if (this.#home.isClosed) {
      resolve(CLOSED);
      return;
    }
    const { batch, numbers, at, record } = this.#raw;
    // Not spread: a spread took ten times as long as all the rest.
    this.#home.ends.add(batch.partition, {
      kind: END.done,
      numbers,
      at,
      token: batch.token,
      host: hostPiece(record),
      rule: ruleAt(record),
      rest: isLong(record) ? BARE_LONG : BARE,
      links: 0,
      children: undefined,
      resolve,
      reject: tally.reject,
    });
  }

  /** The record goes on under another rule, or fails: `rest` is what the script needs. */
  rematch(rest: readonly Packable[]): Promise<Ended> {
    return this.#end(END.rematch, rest, { reason: "no-rule" });
  }

  async #end(
    kind: number,
    rest: readonly Packable[],
    { links, reason }: { links?: Links | undefined; reason?: string | undefined } = {},
  ): Promise<Ended> {
    const ended = await this.#ask(kind, rest, links);
    this.#ended(ended, reason);
    return ended;
  }

  #ended({ letter }: Ended, reason: string | undefined): void {
    this.#hasEnded = true;
    this.#home.ended(this, letter, reason);
  }

  async #ask(kind: number, rest: readonly Packable[], links: Links = []): Promise<Ended> {
    if (this.#home.isClosed) return CLOSED;
    return await this.#home.ends.end(this.#raw.batch.partition, this.#endOf(kind, rest, links));
  }

  #endOf(kind: number, rest: readonly Packable[], links: Links = []): End {
    const { batch, numbers, at, record } = this.#raw;
    const [host, rule] = [hostPiece(record), ruleAt(record)];
    const children = links.length === 0 ? undefined : () => this.#rowsOf(links);
    const { token } = batch;
    return { kind, numbers, at, token, host, rule, rest, links: links.length, children };
  }

  /** A link, absolute; undefined: it is no request. */
  #linkOf(given: unknown): PlainRequest | undefined {
    try {
      const read = readRequest(given);
      if (typeof read === "string") return absoluteLink(read, this.url);
      return { ...read, url: absoluteLink(read.url, this.url) };
    } catch (cause) {
      this.#home.fault(cause, this.url);
      return undefined;
    }
  }

  #rowsOf(links: Links): Array<Row | number> {
    const spec = this.#home.rules().specs[this.#record.rule];
    if (spec?.policy.follow === false) return links.map(() => VERDICT_NO_FOLLOW);
    const good = links.filter((link) => link !== undefined);
    const { maxFound } = this.#home;
    const rows = this.#home.rowsOf(good.slice(0, maxFound), this);
    let at = 0;
    return links.map((link) =>
      link === undefined ? VERDICT_INVALID_REQUEST : (rows[at++] ?? VERDICT_MAX_FOUND),
    );
  }
}

/** Ends all of these as done, without links; how many were not late. */
export function finishAll(leases: readonly RedisLease[]): Promise<number> {
  return new Promise((resolve, reject) => {
    let [left, done] = [leases.length, 0];
    const add = (isDone: boolean): void => {
      if (isDone) done++;
      if (--left === 0) resolve(done);
    };
    if (left === 0) resolve(0);
    const tally = { add, reject };
    for (const lease of leases) lease.finish(tally);
  });
}

/** Takes the ends of many leases. */
interface Tally {
  add(isDone: boolean): void;
  reject(cause: unknown): void;
}

/** What an end needs of a lease that had nothing but a first attempt, and of others. */
const [BARE, BARE_LONG] = [
  [null, false],
  [null, true],
] as const;
/** What an end is when the frontier is closed: late. */
const CLOSED: Ended = Object.freeze({ letter: "l", codes: NO_CODES });

/** Its own priority before its depth counts; undefined: it is only the rule's. */
function shiftedPriority(
  priority: number,
  depth: number,
  policy: FrontierPolicy | undefined,
): number | undefined {
  if (policy === undefined) return priority;
  if (policy.redirectSet !== undefined) return policy.redirectSet;
  const isOwn = priority !== effectivePriority(policy, undefined, depth);
  if (!isOwn && policy.redirectAdd === 0) return undefined;
  return clampPriority(priority + depth * policy.depthPriority + policy.redirectAdd);
}

/** The outcome as scripts have it. */
function outcomeOf(outcome: Outcome | undefined): Packable {
  if (outcome === undefined) return null;
  const { status, latencyMs, retryAfterMs, bytes, address, changed, visited } = outcome;
  return { status, latency: latencyMs, retryAfter: retryAfterMs, bytes, address, changed, visited };
}

const REASON_LENGTH_MAX = 500;

function cut(reason: string | undefined): string | undefined {
  return reason?.slice(0, REASON_LENGTH_MAX);
}

/** Events of ends, by the letters of the script. */
const ENDED: Readonly<Record<string, "done" | "retried" | "failed" | "released">> = {
  ...{ d: "done", q: "retried", f: "failed", r: "released" },
};

/** What leases reach of their frontier. */
interface HomeParts {
  readonly parts: Pick<PushParts, "reader"> & { readonly maxFound: number };
  readonly ends: LeaseEnds;
  readonly pushes: Pushes;
  readonly events: EventHub;
  now(): number;
  isClosed(): boolean;
}

export function homeOf({ parts, ends, pushes, events, now, isClosed }: HomeParts): LeaseHome {
  const { reader, maxFound } = parts;
  return {
    ends,
    maxFound,
    get isClosed() {
      return isClosed();
    },
    rules: () => reader.set,
    fault: (cause, url) => {
      events.fault({ kind: "user", stage: "done", cause, url });
      events.flush();
    },
    ended: (lease, letter, reason) => {
      const name = ENDED[letter];
      if (name === undefined || !events.wants[name]) return;
      const view = lease.view();
      const shown = reason === undefined ? view : Object.assign(view, { reason });
      events.transition(name, shown);
      events.flush();
    },
    rowsOf: (list, lease) =>
      reader.read(list, {
        ...{ nowMs: now(), depth: lease.depth + 1 },
        parent: Buffer.from(lease.fingerprint, "hex"),
      }),
    again: ({ record }) => {
      if (reader.set.specs[record.rule] !== undefined) return null;
      const row = reader.readAgain(record, now());
      return row === undefined ? [NO_RULE_NUMBER] : [row.rule, recordOf(row)];
    },
    fingerprintOf: (request, ruleId) => {
      const { list, key } = reader.set;
      return fingerprintOf(request, list.specs.find(({ id }) => id === ruleId)?.key ?? key);
    },
    continueAt: async (request, lease) => {
      const [code = VERDICT_DUPLICATE] = await pushes.push(
        [request],
        {
          ...{ nowMs: now(), depth: lease.depth, redirects: lease.redirects + 1 },
          parent: Buffer.from(lease.fingerprint, "hex"),
        },
        false,
      );
      return verdictOf(code);
    },
  };
}
