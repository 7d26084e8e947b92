/** Rows as a script takes them (lua/lib-admit.lua): in their order, what several have in common only once. */
import { type Packable, packed } from "../server/packing.ts";
import type { Row } from "./request-reader.ts";

interface Terms {
  readonly fields: readonly Packable[];
  /** The end of a lease that its rows depend on. */
  readonly end: number | undefined;
}

/** Rows and bytes of one script call: bounded work for the server. */
export const ROWS_MAX = 112;
export const ROWS_BYTES_MAX = 128 * 1024;

/** Rows that go to one partition in one script call. */
export class RowList {
  readonly #hosts = new Map<string, number>();
  readonly #numbers = new Map<string, number>();
  readonly #terms: Terms[] = [];
  readonly #places: Array<{ host: number; terms: number }> = [];
  readonly #rows: Row[] = [];
  #bytes = 0;

  /** One call takes no more; a single row is taken however long it is. */
  get isFull(): boolean {
    return this.#rows.length >= ROWS_MAX || this.#bytes >= ROWS_BYTES_MAX;
  }

  /** `end`: the place of the lease's end that the row depends on. */
  add(row: Row, end?: number): void {
    const { unit, rule, priority, depth } = row;
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
    let host = this.#hosts.get(unit);
    if (host === undefined) {
      host = this.#hosts.size;
      this.#hosts.set(unit, host);
    }
    this.#places.push({ host, terms });
    this.#rows.push(row);
    this.#bytes += row.record.length;
  }

  /** Places of the rows whose ends are kept, in the order of the answer's codes. */
  places(keeps: (end: number) => boolean = () => true): number[] {
    const kept: number[] = [];
    this.#places.forEach(({ terms }, at) => {
      const { end } = this.#terms[terms] as Terms;
      if (end === undefined || keeps(end)) kept.push(at);
    });
    return kept;
  }

  /** The rows as the script unpacks them; those that are kept alone. */
  list(keeps?: (end: number) => boolean): Packable[] {
    const kept = this.places(keeps);
    const places = Buffer.allocUnsafe(kept.length * 4);
    const prints = Buffer.allocUnsafe(kept.length * 16);
    kept.forEach((at, index) => {
      const { host, terms } = this.#places[at] as { host: number; terms: number };
      places.writeUInt16BE(host + 1, index * 4);
      places.writeUInt16BE(terms + 1, index * 4 + 2);
      (this.#rows[at] as Row).fingerprint.copy(prints, index * 16);
    });
    const records = kept.map((at) => (this.#rows[at] as Row).record);
    const fields = this.#terms.map((each) => each.fields);
    return [[...this.#hosts.keys()], fields, places, prints, records];
  }

  packed(keeps?: (end: number) => boolean): Buffer {
    return packed(this.list(keeps));
  }
}

function optionsOf(row: Row): Packable {
  const { dueMs, dedup, epoch, isOnce, domain } = row;
  const isPlain = dueMs === undefined && dedup === "check" && epoch === "" && !isOnce;
  if (isPlain && domain === undefined) return undefined;
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
