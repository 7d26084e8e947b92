/**
 * PushLines: the rows of one push on their way to the partitions, as calls of bounded size.
 *
 *   rows, in their order ─▶ line of a partition ─▶ gathered to a full batch ─▶ one call after the other
 *                                                  a batch is refused: its rows, and all that follow in its line, are given back
 *
 *   I1  What a partition gets first stands first, also where the rules change on the way.
 *   I2  A batch has rows that were read under one version of the rules, and names it.
 *   I3  At most CALLS_MAX batches wait or are under way before more rows are asked for.
 */
import { RowList } from "./row-list.ts";
import type { Row } from "./request-reader.ts";

const CALLS_MAX = 64;

export interface PushBatch {
  readonly partition: number;
  readonly rows: RowList;
  /** The place of each row in its push. */
  readonly places: number[];
  readonly version: number;
}

interface Line {
  gathered: PushBatch | undefined;
  last: Promise<void>;
  isRefused: boolean;
}

export class PushLines {
  readonly #send: (batch: PushBatch) => Promise<boolean>;
  readonly #most: (() => number) | undefined;
  readonly #lines = new Map<number, Line>();
  readonly #again: number[] = [];
  #calls = 0;
  #failures: unknown[] = [];
  #wake: () => void = () => undefined;

  /** `send` resolves to false where the rules are others; `most`: rows of the next call. */
  constructor(send: (batch: PushBatch) => Promise<boolean>, most?: () => number) {
    this.#send = send;
    this.#most = most;
  }

  /** Whether a call has rejected: `end` will. */
  get hasFailed(): boolean {
    return this.#failures.length > 0;
  }

  add(row: Row, place: number, version: number): void {
    const { partition } = row;
    const line = this.#lineOf(partition);
    if (line.gathered !== undefined && line.gathered.version !== version) this.#close(line);
    line.gathered ??= { partition, rows: new RowList(this.#most?.()), places: [], version };
    line.gathered.rows.add(row);
    line.gathered.places.push(place);
    if (line.gathered.rows.isFull) this.#close(line);
  }

  /** Resolves when answers that have come are taken, and more rows may come. */
  async room(): Promise<void> {
    await new Promise<void>((resolve) => void setImmediate(resolve));
    while (this.#calls >= CALLS_MAX && !this.hasFailed)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  /** Sends the rest; the places of rows that were given back, in order. Rejects as a call did. */
  async end(): Promise<number[]> {
    for (const line of this.#lines.values()) this.#close(line);
    await Promise.all([...this.#lines.values()].map(({ last }) => last));
    if (this.hasFailed) throw this.#failures[0];
    return this.#again.sort((a, b) => a - b);
  }

  #lineOf(partition: number): Line {
    let line = this.#lines.get(partition);
    if (line === undefined) {
      line = { gathered: undefined, last: Promise.resolve(), isRefused: false };
      this.#lines.set(partition, line);
    }
    return line;
  }

  #close(line: Line): void {
    const batch = line.gathered;
    if (batch === undefined) return;
    line.gathered = undefined;
    this.#calls++;
    line.last = line.last.then(() => this.#next(line, batch));
  }

  async #next(line: Line, batch: PushBatch): Promise<void> {
    try {
      if (this.hasFailed) return;
      line.isRefused ||= !(await this.#send(batch));
      if (line.isRefused) this.#again.push(...batch.places);
    } catch (cause) {
      this.#failures.push(cause);
    } finally {
      this.#calls--;
      this.#wake();
    }
  }
}
