/**
 * Pushes: requests to their partitions and their codes back, many at a time.
 *
 *   rows ─▶ (a recent duplicate: answered here) ─▶ rows of a partition, a bounded number a call ─▶ codes
 *             version refused ─▶ rules read anew, these rows once more
 */
import type { PlainRequest } from "../../../base/request-types.ts";
import {
  VERDICT_DEFERRED,
  VERDICT_DUPLICATE,
  VERDICT_FULL_MEMORY,
  verdictOf,
} from "../../../frontier/admission/verdicts.ts";
import { packed } from "../server/packing.ts";
import { MemoryFull, type ServerLink } from "../server/server-link.ts";
import { listOf, RowList } from "../requests/row-list.ts";
import type { Recent } from "../requests/recent-duplicates.ts";
import type { Origin, RequestReader, Row } from "../requests/request-reader.ts";
import type { SharedRules } from "./shared-rules.ts";

/** A duplicate that a later sighting at the same depth may still change (lua/lib-admit.lua). */
const STAYS_DEEPER = "3";

export interface PushParts {
  readonly link: ServerLink;
  readonly reader: RequestReader;
  readonly rules: SharedRules;
  readonly recent: Recent;
  readonly channel: string;
  /** 0: no limit. */
  readonly capacity: number;
  /** A partition has something new to hand out, or a host of it may go again. */
  changed(partition: number): void;
  /** A request was admitted. */
  admitted(row: Row): void;
}

interface Sent {
  readonly row: Row;
  readonly place: number;
}

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
    return isPlain && !isRecrawled && this.#parts.recent.has(row.fingerprint, row.depth);
  }

  /** The code of a row by its letter in the server's answer. */
  learn(row: Row, letter: string): number {
    if (letter === STAYS_DEEPER) return VERDICT_DUPLICATE;
    const code = Number.parseInt(letter, 16);
    this.#learn(row, code);
    return code;
  }

  #learn(row: Row, code: number): void {
    if (code <= VERDICT_DEFERRED) this.#parts.admitted(row);
    if (code > VERDICT_DUPLICATE || row.epoch !== "" || row.dedup === "skip") return;
    if (row.dedup === "put" || row.dedup === "visited") return;
    this.#parts.recent.add(row.fingerprint, row.depth);
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
    await this.#send(0, undefined, [], { codes: new Uint8Array(0), isOutside: true });
  }

  async #pushSome(
    list: readonly PlainRequest[],
    work: { origin: Origin; codes: Uint8Array; isOutside: boolean },
    places: readonly number[],
  ): Promise<void> {
    const { reader } = this.#parts;
    const some =
      places.length === list.length ? list : places.map((at) => list[at] as PlainRequest);
    const rows = reader.read(some, work.origin);
    const byPartition = new Map<number, Sent[]>();
    rows.forEach((row, index) => {
      const place = places[index] as number;
      if (typeof row === "number") {
        work.codes[place] = row;
        this.countRefused(row);
      } else if (this.isKnown(row)) {
        work.codes[place] = VERDICT_DUPLICATE;
        this.#droppedCount++;
      } else {
        listOf(byPartition, row.partition).push({ row, place });
      }
    });
    const again: number[] = [];
    await Promise.all(
      [...byPartition].map(async ([partition, sent]) => {
        // In order, so that what a partition gets first stands first.
        for (let at = 0; at < sent.length; ) {
          const rows = new RowList();
          const from = at;
          while (at < sent.length && !rows.isFull) rows.add((sent[at++] as Sent).row);
          const slice = sent.slice(from, at);
          if (!(await this.#send(partition, rows, slice, work))) {
            again.push(...sent.slice(from).map(({ place }) => place));
            return;
          }
        }
      }),
    );
    if (again.length > 0)
      await this.#pushSome(
        list,
        work,
        again.sort((a, b) => a - b),
      );
  }

  /** False: the rules have changed. */
  async #send(
    partition: number,
    rows: RowList | undefined,
    sent: readonly Sent[],
    { codes, isOutside }: { codes: Uint8Array; isOutside: boolean },
  ): Promise<boolean> {
    const { link, rules, reader, channel, capacity } = this.#parts;
    const refusals = this.#refusals;
    const dropped = this.#droppedCount;
    this.#refusals = new Map();
    this.#droppedCount = 0;
    let answer: readonly unknown[];
    try {
      answer = await link.run("push", partition, [
        ...[link.batch(), String(reader.set.version), isOutside ? String(capacity) : "0"],
        ...[rows === undefined ? "" : rows.packed(), String(dropped)],
        ...[refusals.size === 0 ? "" : packed(Object.fromEntries(refusals)), channel],
      ]);
    } catch (cause) {
      this.#takeBack(dropped, refusals);
      if (!(cause instanceof MemoryFull)) throw cause;
      for (const { place } of sent) codes[place] = VERDICT_FULL_MEMORY;
      return true;
    }
    if (String(answer[0]) === "V") {
      this.#takeBack(dropped, refusals);
      await rules.follow(partition, Number(answer[1]));
      return false;
    }
    this.#watchGeneration(partition, Number(answer[2]));
    const text = String(answer[1]);
    if (/[01]/.test(text)) this.#parts.changed(partition);
    sent.forEach(({ row, place }, at) => {
      codes[place] = this.learn(row, text[at] as string);
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
  #watchGeneration(partition: number, generation: number): void {
    const before = this.#generations.get(partition);
    this.#generations.set(partition, generation);
    if (before !== undefined && before !== generation) this.#parts.recent.clear();
  }
}
