/**
 * OutstandingLeases: the leases of a worker, by the number under which each was sent. Numbers rise one by one, so the low bits of a
 * number are its place: nothing is hashed, and nothing is allocated as entries come and go.
 *
 *   number ── low bits ──▶ place
 *                            └ an older entry is still there ─▶ `next` skips that number
 *
 *   I1  The entry of a number is at the place of its low bits, or nowhere.
 *   I2  At most half of the places are taken when a number is assigned, so that few are skipped. A table of twice as many
 *       places fits all entries: two that differ in some bits differ in one more.
 */
import { assert } from "../../../base/assert.ts";

/** An entry with a number. */
export interface Numbered {
  readonly id: number;
}

const PLACES_MIN = 64;
/** The highest number; the next one is 1 again. */
const ID_MAX = 0x7fff_ffff;

export class OutstandingLeases<T extends Numbered> {
  #places: Array<T | undefined> = new Array(PLACES_MIN).fill(undefined);
  #mask = PLACES_MIN - 1;
  #size = 0;
  #last: number;

  /** `last`: the number before the first one, for tests of the wrap. */
  constructor(last = 0) {
    this.#last = last;
  }

  get size(): number {
    return this.#size;
  }

  /** The number for the next entry. @hot */
  next(): number {
    if (this.#size * 2 >= this.#places.length) this.#double(); // I2
    do this.#last = this.#last === ID_MAX ? 1 : this.#last + 1;
    while (this.#places[this.#last & this.#mask] !== undefined);
    return this.#last;
  }

  /** @hot */
  get(id: number): T | undefined {
    const entry = this.#places[id & this.#mask];
    return entry?.id === id ? entry : undefined;
  }

  /** Adds an entry whose number no other entry has. @hot */
  add(entry: T): void {
    const { id } = entry;
    while (this.#places[id & this.#mask] !== undefined) {
      assert(this.get(id) === undefined, "a number is given to one");
      this.#double();
    }
    this.#places[id & this.#mask] = entry;
    this.#size++;
  }

  /** Returns false when there is no such entry. @hot */
  delete(id: number): boolean {
    if (this.get(id) === undefined) return false;
    this.#places[id & this.#mask] = undefined;
    this.#size--;
    return true;
  }

  /** All entries, in no order; some may be deleted during the iteration. */
  *values(): Generator<T, void, undefined> {
    const places = this.#places;
    for (let at = 0; at < places.length; at++) {
      const entry = places[at];
      if (entry !== undefined) yield entry;
    }
  }

  /** All entries, the oldest first: a number higher than the last one was assigned before the numbers wrapped. */
  inOrder(): T[] {
    const age = ({ id }: T): number => (id > this.#last ? id - ID_MAX : id);
    return [...this.values()].sort((one, other) => age(one) - age(other));
  }

  #double(): void {
    const all = [...this.values()];
    this.#mask = this.#mask * 2 + 1;
    this.#places = new Array(this.#mask + 1).fill(undefined);
    for (const entry of all) this.#places[entry.id & this.#mask] = entry;
  }
}
