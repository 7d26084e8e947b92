/**
 * HeldLeases: leases that are out, by the URL and the host key of their holder. For rooms that hold very many.
 *
 *   slots   by the hash of both texts, or after it where others stand: 1 + a row; 0: free, at least every second one
 *   rows    number   field
 *                0   record; 0: the row is free
 *                1   sequence; of a free row the next free one
 *                2   givenMs
 *                3   deadlineMs
 *                4   turnBefore
 *                5   readyAtBefore
 *                6   readyAtSet
 *                7   hash
 *
 * A lease as an object takes some five hundred bytes, its URL as a text a hundred, and the garbage collector moves both twice while the lease
 * is out: with thousands a second that stops a server for ten milliseconds again and again. So neither is kept. The rest is read from its record,
 * which does not change while the lease is out.
 *
 *   I1  A row goes with `delete`, or after its deadline: each `set` checks two rows, one after the other, so that no call takes long.
 *   I2  Hashes are keyed, so that no client can choose URLs of one hash; the holder compares what is found.
 */
import { entropyWords } from "../../base/random.ts";
import type { LeaseService } from "../leases/lease-service.ts";
import { RecordLease } from "../leases/record-lease.ts";
import type { Lease } from "../types/frontier-types.ts";

const NUMBERS = 8;
const SEQUENCE = 1;
const DEADLINE = 3;
const HASH = 7;
const ROWS_MIN = 256;
/** Rows that are checked for each one that comes. */
const STEPS = 2;

/** Which of its frontier's hand-outs a lease is. */
export function handOutNumber(lease: Lease): number {
  return (lease as RecordLease).sequence;
}

export class HeldLeases {
  readonly #seed = entropyWords(1)[0] as number;
  #slots = new Int32Array(2 * ROWS_MIN);
  #rows = new Float64Array(ROWS_MIN * NUMBERS);
  /** Rows that were ever used. */
  #used = 0;
  /** First of the chain of free rows; −1: none. */
  #free = -1;
  /** The row that is checked next. */
  #hand = 0;
  /** The row of the lease that was found last. */
  #found = 0;
  #service: LeaseService | undefined;

  /** Holds a lease under the URL of its holder, and its host key where it has one. */
  set(url: string, held: Lease, nowMs: number): void {
    const lease = held as RecordLease; // of a frontier in this thread, without groups
    this.#service = lease.leases as LeaseService;
    this.#expire(nowMs);
    const row = this.#take();
    const rows = this.#rows;
    const at = row * NUMBERS;
    rows[at] = lease.record;
    rows[at + SEQUENCE] = lease.sequence;
    rows[at + 2] = lease.givenMs;
    rows[at + DEADLINE] = lease.deadline;
    rows[at + 4] = lease.turnBefore;
    rows[at + 5] = lease.readyAtBefore;
    rows[at + 6] = lease.readyAtSet;
    rows[at + HASH] = this.#hashOf(lease.hostKey, url);
    place(this.#slots, rows, row);
  }

  /** The lease that is out under a URL and a host key, of which `isIt` holds. */
  get(
    url: string,
    hostKey: string | undefined,
    isIt: (lease: Lease) => boolean,
  ): Lease | undefined {
    const rows = this.#rows;
    const slots = this.#slots;
    const hash = this.#hashOf(hostKey, url);
    for (let slot = hash; ; slot++) {
      const row = (slots[slot & (slots.length - 1)] as number) - 1;
      if (row < 0) return undefined;
      if (rows[row * NUMBERS + HASH] !== hash) continue;
      const lease = this.#leaseAt(row);
      if (lease !== undefined && isIt(lease)) return lease;
    }
  }

  /** Forgets the lease that was found last. */
  delete(lease: Lease): void {
    const at = this.#found * NUMBERS;
    const isIt = this.#rows[at + SEQUENCE] === handOutNumber(lease) && this.#rows[at] !== 0;
    if (isIt) this.#remove(this.#found);
  }

  /** All that are out; each may be deleted. */
  *all(): Generator<Lease> {
    for (let row = 0; row < this.#used; row++) {
      const lease = this.#rows[row * NUMBERS] === 0 ? undefined : this.#leaseAt(row);
      if (lease !== undefined) yield lease;
    }
  }

  clear(): void {
    this.#slots.fill(0);
    this.#used = 0;
    this.#free = -1;
  }

  /** undefined: it is over. */
  #leaseAt(row: number): RecordLease | undefined {
    const service = this.#service as LeaseService;
    const rows = this.#rows;
    const at = row * NUMBERS;
    const lease = new RecordLease(service);
    lease.record = rows[at] as number;
    lease.sequence = rows[at + SEQUENCE] as number;
    lease.givenMs = rows[at + 2] as number;
    lease.deadline = rows[at + DEADLINE] as number;
    lease.turnBefore = rows[at + 4] as number;
    lease.readyAtBefore = rows[at + 5] as number;
    lease.readyAtSet = rows[at + 6] as number;
    this.#found = row;
    return service.reopen(lease) ? lease : undefined;
  }

  #take(): number {
    const row = this.#free;
    if (row >= 0) {
      this.#free = this.#rows[row * NUMBERS + SEQUENCE] as number;
      return row;
    }
    if (this.#used * NUMBERS === this.#rows.length) {
      const rows = new Float64Array(this.#rows.length * 2);
      rows.set(this.#rows);
      this.#rows = rows;
      this.#slots = new Int32Array(this.#slots.length * 2);
      for (let at = 0; at < this.#used; at++) place(this.#slots, rows, at);
    }
    return this.#used++;
  }

  #expire(nowMs: number): void {
    const rows = this.#rows;
    for (let step = 0; step < STEPS && this.#used > 0; step++) {
      if (this.#hand >= this.#used) this.#hand = 0;
      const at = this.#hand * NUMBERS;
      if (rows[at] !== 0 && (rows[at + DEADLINE] as number) <= nowMs) this.#remove(this.#hand);
      this.#hand++;
    }
  }

  #remove(row: number): void {
    const slots = this.#slots;
    const rows = this.#rows;
    const mask = slots.length - 1;
    let slot = (rows[row * NUMBERS + HASH] as number) & mask;
    while (slots[slot] !== row + 1) slot = (slot + 1) & mask;
    // Those after it that stand away from their own place move up.
    for (let next = (slot + 1) & mask; slots[next] !== 0; next = (next + 1) & mask) {
      const home = rows[((slots[next] as number) - 1) * NUMBERS + HASH] as number;
      if (((next - home) & mask) < ((next - slot) & mask)) continue;
      slots[slot] = slots[next] as number;
      slot = next;
    }
    slots[slot] = 0;
    rows[row * NUMBERS] = 0;
    rows[row * NUMBERS + SEQUENCE] = this.#free;
    this.#free = row;
  }

  #hashOf(hostKey: string | undefined, url: string): number {
    const hash = hostKey === undefined ? this.#seed : mixed(this.#seed, hostKey);
    return mixed(hash, url) >>> 1; // it has room to count on
  }
}

/** Enters a row into the slots. @hot */
function place(slots: Int32Array, rows: Float64Array, row: number): void {
  const mask = slots.length - 1;
  let slot = (rows[row * NUMBERS + HASH] as number) & mask;
  while (slots[slot] !== 0) slot = (slot + 1) & mask;
  slots[slot] = row + 1;
}

/** Multiplied and folded, character by character. @hot */
function mixed(seed: number, text: string): number {
  let hash = seed;
  for (let at = 0; at < text.length; at++) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  return hash;
}
