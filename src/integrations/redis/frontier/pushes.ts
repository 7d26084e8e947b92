/**
 * Pushes: requests to their partitions and their codes back, many at a time.
 *
 *   some requests ─▶ rows ─▶ (a recent duplicate: answered here) ─▶ the line of a partition ─▶ codes        push-lines.ts
 *     ▲                                                            │ version refused ─▶ rules read anew, these rows once more
 *     └── the next ones, while the server has those before ────────┘
 */
import { isMemoryFull } from "../../../base/errors.ts";
import type { PlainRequest } from "../../../base/request-types.ts";
import type { EventHub } from "../../../engine/event-hub.ts";
import {
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICT_FULL_MEMORY,
  verdictOf,
} from "../../../frontier/admission/verdicts.ts";
import { packed } from "../server/packing.ts";
import type { ServerLink } from "../server/server-link.ts";
import { type PushBatch, PushLines } from "../requests/push-lines.ts";
import { ROWS_MAX, RowList } from "../requests/row-list.ts";
import { PRINT_BYTES } from "../requests/record-bytes.ts";
import type { Recent } from "../requests/recent-duplicates.ts";
import type { Origin, RequestReader, Row } from "../requests/request-reader.ts";
import type { SharedRules } from "./shared-rules.ts";

/** A duplicate that a later sighting at the same depth may still change (lua/lib-admit.lua). */
const STAYS_DEEPER = 3;

export interface PushParts {
  readonly link: ServerLink;
  readonly reader: RequestReader;
  readonly rules: SharedRules;
  readonly recent: Recent;
  readonly channel: string;
  readonly capacity: number | undefined;
  /** A partition has something new to hand out, or a host of it may go again. */
  changed(partition: number): void;
  /** A request was admitted. */
  admitted(row: Row): void;
}

/** One list of requests, and the code of each so far. */
interface Work {
  readonly origin: Origin;
  readonly codes: Uint8Array;
  readonly isOutside: boolean;
}

/** Requests that are read before the next calls go out: about a call for each of 16 partitions. */
const READ_MAX = 16 * ROWS_MAX;

export class Pushes {
  readonly #parts: PushParts;
  /** Duplicates and refusals of this process that no call has reported yet. */
  #droppedCount = 0;
  #refusals = new Map<string, number>();
  readonly #generations = new Map<number, number>();

  constructor(parts: PushParts) {
    this.#parts = parts;
  }

  /** Codes of requests from outside. */
  async push(list: readonly PlainRequest[], origin: Origin, isOutside = true): Promise<Uint8Array> {
    const codes = new Uint8Array(list.length);
    const all = list.map((_, place) => place);
    await this.#pushSome(list, { origin, codes, isOutside }, all);
    return codes;
  }

  /** Whether a row need not be sent. */
  isKnown(row: Row): boolean {
    const isPlain = row.dedup === "check" && row.epoch === "" && !row.isOnce;
    const isRecrawled = this.#parts.reader.set.specs[row.rule]?.policy.epoch.kind === "again";
    return (
      isPlain && !isRecrawled && this.#parts.recent.has(row.bytes, row.at - PRINT_BYTES, row.depth)
    );
  }

  /** The code of a row by its letter in the server's answer. */
  codeOf(row: Row, letter: number): number {
    // "0" to "9", and from "A" on.
    const code = letter < 0x3a ? letter - 0x30 : letter - 0x37;
    if (code === STAYS_DEEPER) return VERDICT_DUPLICATE;
    this.#remember(row, code);
    return code;
  }

  #remember(row: Row, code: number): void {
    if (code <= VERDICT_DEFERRED) this.#parts.admitted(row);
    if (code > VERDICT_DUPLICATE || row.epoch !== "" || row.dedup === "skip") return;
    if (row.dedup === "put" || row.dedup === "visited") return;
    this.#parts.recent.add(row.bytes, row.at - PRINT_BYTES, row.depth);
  }

  countDropped(count: number): void {
    this.#droppedCount += count;
  }

  countRefused(code: number, count = 1): void {
    const { reason = "" } = verdictOf(code);
    this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + count);
  }

  /** Reports what was counted here. */
  async flush(): Promise<void> {
    if (this.#droppedCount === 0 && this.#refusals.size === 0) return;
    const { version } = this.#parts.reader.set;
    const nothing = { partition: 0, rows: new RowList(), places: [], version };
    await this.#send(nothing, { codes: new Uint8Array(0), isOutside: true });
  }

  async #pushSome(
    list: readonly PlainRequest[],
    work: Work,
    places: readonly number[],
  ): Promise<void> {
    const most = (): number => this.#parts.link.sized(ROWS_MAX);
    const lines = new PushLines((batch) => this.#send(batch, work), most);
    for (let from = 0; from < places.length; from += READ_MAX) {
      if (from > 0) await lines.room();
      if (lines.hasFailed) break;
      this.#read(list, work, { lines, places: places.slice(from, from + READ_MAX) });
    }
    const again = await lines.end();
    if (again.length > 0) await this.#pushSome(list, work, again);
  }

  /** Reads requests; those that must be sent join the lines of their partitions. */
  #read(
    list: readonly PlainRequest[],
    { origin, codes }: Work,
    { lines, places }: { lines: PushLines; places: readonly number[] },
  ): void {
    const { reader } = this.#parts;
    const { version } = reader.set;
    const some = places.map((at) => list[at] as PlainRequest);
    reader.read(some, origin).forEach((row, index) => {
      const place = places[index] as number;
      if (typeof row === "number") {
        codes[place] = row;
        this.countRefused(row);
      } else if (this.isKnown(row)) {
        codes[place] = VERDICT_DUPLICATE;
        this.#droppedCount++;
      } else {
        lines.add(row, place, version);
      }
    });
  }

  /** False: the rules have changed. */
  async #send(
    { partition, rows, places, version }: PushBatch,
    { codes, isOutside }: Pick<Work, "codes" | "isOutside">,
  ): Promise<boolean> {
    const { link, rules, channel, capacity } = this.#parts;
    const refusals = this.#refusals;
    const dropped = this.#droppedCount;
    this.#refusals = new Map();
    this.#droppedCount = 0;
    let answer: readonly unknown[];
    try {
      answer = await link.run("push", partition, [
        ...[link.batch(), String(version), isOutside ? String(capacity ?? "") : ""],
        ...[rows.length === 0 ? "" : rows.packed(), String(dropped)],
        ...[refusals.size === 0 ? "" : packed(Object.fromEntries(refusals)), channel],
      ]);
    } catch (cause) {
      this.#takeBack(dropped, refusals);
      if (!isMemoryFull(cause)) throw cause;
      for (const place of places) codes[place] = VERDICT_FULL_MEMORY;
      return true;
    }
    if (String(answer[0]) === "V") {
      this.#takeBack(dropped, refusals);
      await rules.follow(partition, Number(answer[1]));
      return false;
    }
    link.timed(Number(answer[3]));
    this.watchGeneration(partition, Number(answer[2]));
    const letters = answer[1] as Buffer;
    if (/[01]/.test(String(letters))) this.#parts.changed(partition);
    places.forEach((place, at) => {
      codes[place] = this.codeOf(rows.at(at), letters[at] as number);
    });
    return true;
  }

  #takeBack(dropped: number, refusals: ReadonlyMap<string, number>): void {
    this.#droppedCount += dropped;
    for (const [reason, count] of refusals) {
      this.#refusals.set(reason, (this.#refusals.get(reason) ?? 0) + count);
    }
  }

  /** What was forgotten by any process is new again. */
  watchGeneration(partition: number, generation: number): void {
    const before = this.#generations.get(partition);
    this.#generations.set(partition, generation);
    if (before !== undefined && before !== generation) this.#parts.recent.clear();
  }
}

/** Events of what was not admitted. */
export function emitRefusals(
  events: EventHub,
  list: readonly PlainRequest[],
  codes: Uint8Array,
): void {
  if (!events.wants.rejected && !events.wants.duplicate) return;
  list.forEach((one, at) => {
    const { status, reason, admitted } = verdictOf(codes[at] as number);
    const url = typeof one === "string" ? one : one.url;
    if (status === "duplicate") events.duplicate({ url });
    else if (!admitted) events.rejected(url, reason ?? status);
  });
}
