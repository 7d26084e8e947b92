/** Edits of records already admitted, and queries about them: one by its identity, or many in slices. */
import type { PlainRequest } from "../../../base/request-types.ts";
import { argument } from "../../../base/argument-checks.ts";
import { ANYTHING, INTEGER } from "../../../base/fields.ts";
import { FrontierError, misuse } from "../../../base/errors.ts";
import { EPOCH_ALONE } from "../../../engine/api/edit-records.ts";
import {
  readForget,
  readRemove,
  readRequeue,
  readScan,
} from "../../../engine/queries/record-filter.ts";
import { readRequest, TIME } from "../../../engine/intake/request-fields.ts";
import type {
  EpochView,
  PutOptions,
  PutResult,
  RecordView,
  RequestInput,
} from "../../../engine/types/frontier-types.ts";
import {
  VERDICT_ACCEPTED,
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  verdictOf,
} from "../../../frontier/admission/verdicts.ts";
import { FOREVER } from "../../../frontier/epochs/epoch-policy.ts";
import { hostOfUrl } from "../../../url/parsing/host-of-url.ts";
import { BATCH_OK } from "../../../url/batch/row-fields.ts";
import { readRecord } from "../requests/record-bytes.ts";
import { NO_RULE_NUMBER } from "../requests/rule-set.ts";
import { packed } from "../server/packing.ts";
import { type Located, recordOf } from "../requests/request-reader.ts";
import {
  failureOf,
  failureOrder,
  type Found,
  readFound,
  readScanned,
  recordViewOf,
  stateOf,
  unitOf,
} from "./record-views.ts";
import type { PushParts, Pushes } from "./pushes.ts";
import { readStates } from "./state-report.ts";

/** Records of one `scan`, and buckets of one `forget`: about a millisecond of the server. */
const RECORDS = 112;
const BUCKETS = 20;
/** Records of one `edit`: about as long. */
const EDITS = 20;

const readChange = argument<{ priority?: number; notBefore?: number }>("change", {
  priority: INTEGER,
  notBefore: TIME,
});

const readPut = argument<{ dueAt?: number; data?: unknown }>("options", {
  dueAt: TIME,
  data: ANYTHING,
});

interface Wanted {
  readonly rule?: string | undefined;
  readonly host?: string | undefined;
}

export class Edits {
  readonly #parts: PushParts;
  readonly #pushes: Pushes;
  readonly #now: () => number;

  constructor(parts: PushParts, pushes: Pushes, now: () => number) {
    this.#parts = parts;
    this.#pushes = pushes;
    this.#now = now;
  }

  /** Where a request belongs, and what is known of it. */
  async find(request: PlainRequest): Promise<{ located: Located; found: Found | undefined }> {
    const { link, reader } = this.#parts;
    const located = reader.locate(request, this.#now());
    if (!located.hasIdentity) return { located, found: undefined };
    const answer = await link.run("find", located.partition, [located.fingerprint, located.epoch]);
    return { located, found: readFound(answer[1]) };
  }

  async record(request: unknown): Promise<RecordView | undefined> {
    const { found } = await this.find(readRequest(request));
    return found === undefined ? undefined : recordViewOf(found, this.#parts.reader.set);
  }

  /** Records in no order; one that changes meanwhile may be passed over, or come twice. */
  async *records(given: unknown): AsyncGenerator<RecordView, void, undefined> {
    const { state, rule, host } = readScan(given);
    if (state === "done" && !(await this.#hasDone())) {
      const expected = "pages that come again or were put as finished, or another state";
      const message = `records: done (expected with Redis: ${expected})`;
      throw new FrontierError("UNSUPPORTED", message);
    }
    const isWanted = this.#matching({ rule, host });
    for (let partition = 0; partition < this.#parts.link.keys.length; partition++) {
      for await (const list of this.#scan(partition)) {
        for (const found of list) {
          const own = stateOf(found);
          if (state === undefined ? own === "done" : own !== state) continue;
          if (isWanted(found)) yield recordViewOf(found, this.#parts.reader.set);
        }
      }
    }
  }

  /** Epochs by their names, the last first. */
  async *epochs(): AsyncGenerator<EpochView, void, undefined> {
    const { families } = await readStates(this.#parts.link, true);
    for (const name of [...families.keys()].sort().reverse()) yield await this.epochView(name);
  }

  /** An epoch and what became of its identities. Costs a pass over its buckets, in slices. */
  async epochView(name: string): Promise<EpochView> {
    const counts = { pending: 0, waiting: 0, leased: 0, done: 0, failed: 0 };
    let identities = 0;
    const { link } = this.#parts;
    await Promise.all(
      link.keys.map(async (_, partition) => {
        const number = await link.ask(partition, "HGET", `e:${name}`);
        if (number === null) return;
        const argsAt = (cursor: string) => [cursor, String(BUCKETS), String(number)];
        for await (const answer of link.slices("epoch", partition, argsAt)) {
          const [all, pending, waiting, leased, done, failed] = answer
            .slice(2)
            .map(Number) as number[];
          identities += all as number;
          counts.pending += pending as number;
          counts.waiting += waiting as number;
          counts.leased += leased as number;
          counts.done += done as number;
          counts.failed += failed as number;
        }
      }),
    );
    return { name, identities, ...counts };
  }

  async update(
    request: unknown,
    given: { priority?: number; notBefore?: number | Date },
  ): Promise<boolean> {
    const input = readRequest(request);
    const { priority, notBefore } = readChange(given);
    const { located, found } = await this.find(input);
    if (found === undefined || !/[pw]/.test(found.letter)) return false;
    let isDone = true;
    if (priority !== undefined)
      isDone = (await this.#edit(located.partition, "priority", priority, [found.member])) === 1;
    if (notBefore !== undefined && isDone)
      isDone = (await this.#edit(located.partition, "delay", notBefore, [found.member])) === 1;
    return isDone;
  }

  async requeue(given: unknown): Promise<number> {
    const { state, rule, host, reason } = readRequeue(given);
    if (state === "done") {
      throw new FrontierError(
        "UNSUPPORTED",
        "requeue: done (expected with Redis: failed, since done pages are not kept)",
      );
    }
    const isWanted = this.#matching({ rule, host });
    const isAsked = (found: Found): boolean => {
      if (found.letter !== "f" || !isWanted(found)) return false;
      return reason === undefined || failureOf(found.failure).reason === reason;
    };
    let isUnmatched = false;
    const counts = await Promise.all(
      this.#parts.link.keys.map(async (_, partition) => {
        const failed: Array<{ member: Buffer; order: number }> = [];
        for await (const list of this.#scan(partition)) {
          for (const found of list) {
            if (!isAsked(found)) continue;
            failed.push({ member: found.member, order: failureOrder(found.failure) });
            isUnmatched ||= this.#isGone(readRecord(found.bytes));
          }
        }
        failed.sort((a, b) => a.order - b.order);
        let count = 0;
        for (let at = 0; at < failed.length; ) {
          const some = failed.slice(at, at + this.#parts.link.sized(EDITS));
          const members = some.map(({ member }) => member);
          count += await this.#edit(partition, "requeue", 0, members);
          at += some.length;
        }
        return count;
      }),
    );
    if (isUnmatched) await this.matchAgain();
    return counts.reduce((all, one) => all + one, 0);
  }

  /** Its rule is not active any more. */
  #isGone({ rule }: { readonly rule: number }): boolean {
    return this.#parts.reader.set.specs[rule] === undefined;
  }

  async remove(given: unknown): Promise<number> {
    const { rule, host, pattern } = readRemove(given);
    const isWanted = this.#matching({ rule, host });
    return await this.#sweep("remove", (found) => {
      if (!/[pwzk]/.test(found.letter) || !isWanted(found)) return false;
      return pattern === undefined || pattern.test(readRecord(found.bytes).url);
    });
  }

  async forget(given: unknown): Promise<number> {
    const { epoch, request } = readForget(given);
    if (request !== undefined) {
      if (epoch !== undefined) throw misuse("ARGUMENT_INVALID", "filter.epoch", epoch, EPOCH_ALONE);
      return await this.#forgetOne(readRequest(request));
    }
    const { link, recent } = this.#parts;
    recent.clear();
    let count = 0;
    await Promise.all(
      link.keys.map(async (_, partition) => {
        let family = "";
        if (epoch === FOREVER) family = "0";
        else if (epoch !== undefined) {
          const number = await link.ask(partition, "HGET", `e:${epoch}`);
          if (number === null) return;
          family = String(number);
        }
        const argsAt = (cursor: string) => [
          ...[link.batch(), "slice", cursor, String(BUCKETS), family],
        ];
        for await (const answer of link.slices("forget", partition, argsAt))
          count += Number(answer[2]);
        if (epoch === undefined || epoch === FOREVER)
          count += await this.#forgetNameless(partition);
      }),
    );
    recent.clear();
    return count;
  }

  /** One identity and its record; a leased one stays. */
  async #forgetOne(request: PlainRequest): Promise<number> {
    const { reader, link, channel, recent } = this.#parts;
    const { hasIdentity, partition, fingerprint, epoch } = reader.locate(request, this.#now());
    if (!hasIdentity) return 0;
    const one = ["identity", fingerprint, epoch] as const;
    const answer = await link.run("edit", partition, [link.batch(), channel, ...one]);
    recent.clear();
    return Number(answer[1]);
  }

  /** Finished and failed pages that have no identity. */
  async #forgetNameless(partition: number): Promise<number> {
    const { link } = this.#parts;
    const answer = await link.run("forget", partition, [link.batch(), "nameless"]);
    let count = Number(answer[2]);
    for await (const list of this.#scan(partition)) {
      const members = list
        .filter(({ letter, bytes }) => letter === "f" && !readRecord(bytes).hasIdentity)
        .map(({ member }) => member);
      if (members.length > 0) count += await this.#edit(partition, "forget", 0, members);
    }
    return count;
  }

  async put(request: unknown, given?: PutOptions): Promise<PutResult> {
    const read = readRequest(request);
    const { dueAt, data } = readPut(given ?? {});
    const input: RequestInput = typeof read === "string" ? { url: read } : { ...read };
    if (data !== undefined) input.data = data;
    if (dueAt !== undefined) input.notBefore = dueAt;
    const { located, found } = await this.find(input);
    if (found?.letter === "l") return { status: "leased" };
    if (located.status === BATCH_OK && !located.hasIdentity) {
      return { status: "rejected", reason: "no-identity" };
    }
    if (found !== undefined) keepKnown(input, found);
    const origin = {
      ...{ nowMs: this.#now(), depth: undefined, parent: undefined },
      put: dueAt === undefined ? ("visited" as const) : ("put" as const),
    };
    if (found !== undefined) {
      const [row] = this.#parts.reader.read([input], origin);
      if (typeof row === "number") return rejection(row);
    }
    const [code = VERDICT_DUPLICATE] = await this.#pushes.push([input], origin);
    if (code === VERDICT_DUPLICATE) return { status: "leased" };
    if (code > VERDICT_DEFERRED) return rejection(code);
    if (dueAt === undefined) return { status: "done" };
    return { status: code === VERDICT_ACCEPTED ? "pending" : "waiting" };
  }

  async #hasDone(): Promise<boolean> {
    for (let partition = 0; partition < this.#parts.link.keys.length; partition++) {
      for await (const list of this.#scan(partition))
        if (list.some((found) => /[zk]/.test(found.letter))) return true;
    }
    return false;
  }

  #matching({ rule, host }: Wanted): (found: Found) => boolean {
    if (rule === undefined && host === undefined) return () => true;
    const { ids } = this.#parts.reader.set;
    const lower = host?.toLowerCase();
    return ({ bytes }) => {
      const record = readRecord(bytes);
      if (rule !== undefined && ids[record.rule] !== rule) return false;
      return host === undefined || unitOf(record) === host || hostOfUrl(record.url) === lower;
    };
  }

  async #sweep(what: string, isWanted: (found: Found) => boolean): Promise<number> {
    const counts = await Promise.all(
      this.#parts.link.keys.map(async (_, partition) => {
        let count = 0;
        for await (const list of this.#scan(partition)) {
          const members = list.filter(isWanted).map(({ member }) => member);
          if (members.length > 0) count += await this.#edit(partition, what, 0, members);
        }
        return count;
      }),
    );
    return counts.reduce((all, one) => all + one, 0);
  }

  /** All records of a partition, as many at a time as one `edit` takes. */
  async *#scan(partition: number): AsyncGenerator<Found[], void, undefined> {
    const { link } = this.#parts;
    const argsAt = (cursor: string) => [cursor, String(link.sized(RECORDS))];
    for await (const answer of link.slices("scan", partition, argsAt)) {
      const edits = link.sized(EDITS);
      for (let at = 2; at < answer.length; at += edits) {
        yield answer.slice(at, at + edits).map((bytes) => readScanned(bytes as Buffer));
      }
    }
  }

  /** Records of rules that are gone go on under those that take their URLs now, in their places; the others fail. */
  async matchAgain(): Promise<{ moved: number; unmatched: string[] }> {
    const { reader, link, channel } = this.#parts;
    const unmatched: string[] = [];
    let moved = 0;
    for (let partition = 0; partition < link.keys.length; partition++) {
      for await (const list of this.#scan(partition)) {
        const records = list
          .filter(({ letter }) => /[pw]/.test(letter))
          .map(({ member, bytes }) => ({ member, record: readRecord(bytes) }))
          .filter(({ record }) => this.#isGone(record));
        if (records.length === 0) continue;
        const changes = records.map(({ record }) => {
          const row = reader.readAgain(record, this.#now());
          if (row !== undefined) return [row.rule, recordOf(row)];
          unmatched.push(record.url);
          return [NO_RULE_NUMBER];
        });
        const members = records.map(({ member }) => member);
        const fixed = [link.batch(), channel, "rule", packed(changes)];
        const answer = await link.run("edit", partition, [...fixed, ...members]);
        moved += Number(answer[1]);
      }
    }
    return { moved, unmatched };
  }

  async #edit(
    partition: number,
    what: string,
    argument: number,
    members: readonly Buffer[],
  ): Promise<number> {
    const { link, channel } = this.#parts;
    const fixed = [link.batch(), channel, what, String(argument)];
    const answer = await link.run("edit", partition, [...fixed, ...members]);
    link.timed(Number(answer[2]));
    return Number(answer[1]);
  }
}

function rejection(code: number): PutResult {
  const { status, reason } = verdictOf(code);
  return { status: status as "rejected", ...(reason === undefined ? {} : { reason }) };
}

/** Fields that the request leaves out stay as they were. */
function keepKnown(input: RequestInput, found: Found): void {
  if (found.bytes.length === 0) {
    input.depth ??= found.depth;
    return;
  }
  const { extras, depth } = readRecord(found.bytes);
  const { d, h, n, u } = extras;
  if (input.data === undefined && d !== undefined) input.data = d;
  if (input.headers === undefined && h !== undefined) input.headers = h;
  if (input.handler === undefined && n !== undefined) input.handler = n;
  if (input.hostKey === undefined && u !== undefined) input.hostKey = u;
  input.depth ??= depth;
}
