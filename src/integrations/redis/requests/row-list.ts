/** Rows as a script takes them (lua/lib-admit.lua): in their order, what several have in common only once. */
import { copyBytes, type Packable, packedWith } from "../server/packing.ts";
import { PRINT_BYTES } from "./record-bytes.ts";
import type { Row } from "./request-reader.ts";

interface Terms {
  readonly fields: readonly Packable[];
  /** The end of a lease that its rows depend on. */
  readonly end: number | undefined;
}

/** Rows and bytes of one script call: bounded work for the server. */
export const ROWS_MAX = 112;
const ROWS_BYTES_MAX = 128 * 1024;

/** Rows that go to one partition in one script call. */
export class RowList {
  readonly #most: number;
  readonly #hosts = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  readonly #terms: Terms[] = [];
  readonly #rows: Row[] = [];
  /** Of each row, the places of its host and of its terms. */
  readonly #hostOf: number[] = [];
  readonly #termsOf: number[] = [];
  #bytes = 0;

  /** For so many rows. */
  constructor(most = ROWS_MAX) {
    this.#most = most;
  }

  /** One call takes no more; a single row is taken however long it is. */
  get isFull(): boolean {
    return this.#rows.length >= this.#most || this.#bytes >= ROWS_BYTES_MAX;
  }

  get length(): number {
    return this.#rows.length;
  }

  at(index: number): Row {
    return this.#rows[index] as Row;
  }

  /** `end`: the place of the lease's end that the row depends on. */
  add(row: Row, end?: number): void {
    const { unit } = row;
    let host = this.#hosts.get(unit);
    if (host === undefined) {
      host = this.#hosts.size;
      this.#hosts.set(unit, host);
    }
    this.#hostOf.push(host);
    this.#termsOf.push(this.#termsFor(row, end));
    this.#rows.push(row);
    this.#bytes += row.end - row.at;
  }

  #termsFor(row: Row, end: number | undefined): number {
    const before = this.#rows.at(-1);
    const last = this.#termsOf.at(-1) ?? -1;
    if (before !== undefined && this.#terms[last]?.end === end && haveSameTerms(row, before))
      return last;
    const { rule, priority, depth } = row;
    const start = row.isStart ? 1 : 0;
    const options = optionsOf(row);
    const more = options === undefined ? "" : JSON.stringify(options);
    const name = `${rule} ${priority} ${depth} ${start} ${end ?? ""}\n${more}`;
    let terms = this.#numbers.get(name);
    if (terms === undefined) {
      terms = this.#terms.length;
      this.#numbers.set(name, terms);
      const fields = [rule, priority, start, depth, options ?? false];
      this.#terms.push({ fields: end === undefined ? fields : [...fields, end], end });
    }
    return terms;
  }

  /** Places of the rows whose ends are kept, in the order of the answer's codes. */
  places(keeps: (end: number) => boolean = () => true): number[] {
    const kept: number[] = [];
    this.#termsOf.forEach((terms, at) => {
      const { end } = this.#terms[terms] as Terms;
      if (end === undefined || keeps(end)) kept.push(at);
    });
    return kept;
  }

  /** The rows as the script unpacks them; those that are kept alone. */
  packed(keeps?: (end: number) => boolean): Buffer {
    const kept = this.places(keeps);
    const places = Buffer.allocUnsafe(kept.length * 4);
    const prints = Buffer.allocUnsafe(kept.length * PRINT_BYTES);
    const rows: Row[] = [];
    for (let index = 0; index < kept.length; index++) {
      const from = kept[index] as number;
      const row = this.#rows[from] as Row;
      places.writeUInt16BE((this.#hostOf[from] as number) + 1, index * 4);
      places.writeUInt16BE((this.#termsOf[from] as number) + 1, index * 4 + 2);
      copyBytes(row.bytes, row.at - PRINT_BYTES, prints, index * PRINT_BYTES, PRINT_BYTES);
      rows.push(row);
    }
    const fields = this.#terms.map((each) => each.fields);
    return packedWith(undefined, [[...this.#hosts.keys()], fields, places, prints], rows);
  }
}

/** Whether two rows without options have the same terms; others are compared by name. */
function haveSameTerms(a: Row, b: Row): boolean {
  const isAlike = a.rule === b.rule && a.priority === b.priority && a.depth === b.depth;
  return isAlike && a.isStart === b.isStart && isBare(a) && isBare(b);
}

function isBare({ dueMs, dedup, epoch, isOnce, domain }: Row): boolean {
  const isPlain = dueMs === undefined && dedup === "check" && epoch === "" && !isOnce;
  return isPlain && domain === undefined;
}

function optionsOf(row: Row): Packable {
  if (isBare(row)) return undefined;
  const { dueMs, dedup, epoch, isOnce, domain } = row;
  return {
    d: dueMs,
    k: dedup === "check" ? undefined : dedup.charAt(0),
    e: epoch === "" ? undefined : epoch,
    o: isOnce ? 1 : undefined,
    f: domain,
  };
}

/** The list of a partition, made where it is missing. */
export function listOf<T>(lists: Map<number, T[]>, partition: number): T[] {
  let list = lists.get(partition);
  if (list === undefined) {
    list = [];
    lists.set(partition, list);
  }
  return list;
}
