/**
 * HeldLeases: leases that are out, by names of their holder's choice, the oldest first. For rooms that hold very many.
 *
 *   number   field           of a lease in the table of numbers
 *        0   record          also the next free place, where there is none
 *        1   sequence
 *        2   givenMs
 *        3   deadlineMs
 *        4   turnBefore
 *        5   readyAtBefore
 *        6   readyAtSet
 *
 * A lease as an object takes some five hundred bytes in eight pieces, and the garbage collector moves each of them twice. So a lease is kept
 * as a name and seven numbers. The rest is read from its record, which does not change while the lease is out.
 */
import { LeaseService } from "../leases/lease-service.ts";
import { RecordLease } from "../leases/record-lease.ts";
import type { Lease } from "../types/frontier-types.ts";

const NUMBERS = 7;
const PLACES_MIN = 256;

export class HeldLeases {
  /** Place in the table, or the lease itself where it is more than numbers. */
  readonly #places = new Map<string, number | Lease>();
  /** Goes over the names, the oldest first. A new iterator would pass all deleted names, which a Map keeps until it rehashes. */
  #walk = this.#places.keys();
  /** The name at which it stands; undefined: it goes on. */
  #oldest: string | undefined;
  /** Names set since the walk last moved. An iterator keeps the tables that the map has replaced since. */
  #sets = 0;
  #numbers = new Float64Array(NUMBERS * PLACES_MIN);
  /** Places that were ever used. */
  #used = 0;
  /** First of the chain of free places; −1: none. */
  #free = -1;
  #service: LeaseService | undefined;

  /** Holds a lease; with `isWhole` the object itself, which `get` returns then. */
  set(name: string, lease: Lease, isWhole = false): void {
    this.delete(name);
    this.#places.set(name, isWhole ? lease : this.#place(lease));
    if (++this.#sets > 2 * this.#places.size) this.#begin();
  }

  #place(lease: Lease): number | Lease {
    if (!(lease instanceof RecordLease) || lease.holds !== undefined) return lease;
    if (!(lease.leases instanceof LeaseService)) return lease;
    this.#service = lease.leases;
    const place = this.#take();
    const numbers = this.#numbers;
    const at = place * NUMBERS;
    numbers[at] = lease.record;
    numbers[at + 1] = lease.sequence;
    numbers[at + 2] = lease.givenMs;
    numbers[at + 3] = lease.deadline;
    numbers[at + 4] = lease.turnBefore;
    numbers[at + 5] = lease.readyAtBefore;
    numbers[at + 6] = lease.readyAtSet;
    return place;
  }

  #take(): number {
    const place = this.#free;
    if (place >= 0) {
      this.#free = this.#numbers[place * NUMBERS] as number;
      return place;
    }
    if ((this.#used + 1) * NUMBERS > this.#numbers.length) {
      const more = new Float64Array(this.#numbers.length * 2);
      more.set(this.#numbers);
      this.#numbers = more;
    }
    return this.#used++;
  }

  #deadlineMs(place: number | Lease): number {
    return typeof place === "number"
      ? (this.#numbers[place * NUMBERS + 3] as number)
      : place.deadlineMs;
  }

  /** The lease of a name: its URL is not read, and its data are as long as it stands. */
  get(name: string): Lease | undefined {
    const place = this.#places.get(name);
    if (typeof place !== "number") return place;
    const service = this.#service as LeaseService;
    const numbers = this.#numbers;
    const at = place * NUMBERS;
    const lease = new RecordLease(service);
    lease.record = numbers[at] as number;
    lease.sequence = numbers[at + 1] as number;
    lease.givenMs = numbers[at + 2] as number;
    lease.deadline = numbers[at + 3] as number;
    lease.turnBefore = numbers[at + 4] as number;
    lease.readyAtBefore = numbers[at + 5] as number;
    lease.readyAtSet = numbers[at + 6] as number;
    service.readData(lease);
    return lease;
  }

  delete(name: string): void {
    const place = this.#places.get(name);
    if (place === undefined) return;
    this.#places.delete(name);
    if (name === this.#oldest) this.#oldest = undefined;
    if (typeof place !== "number") return;
    this.#numbers[place * NUMBERS] = this.#free;
    this.#free = place;
  }

  names(): IterableIterator<string> {
    return this.#places.keys();
  }

  /** Forgets leases that have run out, up to the first that has not. */
  dropOld(nowMs: number): void {
    while (this.#places.size > 0) {
      if (this.#oldest === undefined) {
        this.#oldest = this.#walk.next().value;
        this.#sets = 0;
      }
      const name = this.#oldest;
      if (name === undefined) {
        this.#begin(); // a walk that came to the end stays there
      } else if (this.#deadlineMs(this.#places.get(name) as number | Lease) > nowMs) return;
      else this.delete(name);
    }
  }

  #begin(): void {
    this.#walk = this.#places.keys();
    this.#oldest = undefined;
    this.#sets = 0;
  }

  clear(): void {
    this.#places.clear();
    this.#begin();
    this.#numbers = new Float64Array(NUMBERS * PLACES_MIN);
    this.#used = 0;
    this.#free = -1;
  }
}
