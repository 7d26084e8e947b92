/**
 * LeaseSource: asks partitions for leases, and waits for them: a partition that had nothing is asked again at the time it named, when a
 * message wakes this process, or at a heartbeat.
 *
 *   due partitions ── poll, several at once ──▶ leases      none due ─▶ wait: message · next time · heartbeat
 *
 *   I1  A partition whose poll brought fewer leases than were asked for has marked that a process waits: the next push there publishes a
 *       message. A message that comes while a poll is under way counts for the next poll.
 *   I2  A partition that had nothing, and was neither woken nor is due since, is asked first whether it is unchanged, which is cheap.
 */
import type { HostPlace } from "./redis-host.ts";
import { after, type Clock } from "../../../base/clock.ts";
import type { FrontierFault } from "../../../engine/types/event-types.ts";
import { countHandOut } from "../requests/record-bytes.ts";
import { MACHINE, randomBytes } from "../server/waiting.ts";
import type { ServerLink } from "../server/server-link.ts";

/** What a partition hands out: bytes that hold the record's number and where it begins there, and the record. */
export interface HandOut {
  readonly numbers: Buffer;
  readonly at: number;
  readonly record: Buffer;
}

/** What the leases of one call share. */
interface LeaseBatch {
  readonly partition: number;
  readonly token: Buffer;
  readonly deadlineMs: number;
}

export interface RawLease extends HandOut {
  readonly batch: LeaseBatch;
}

export interface LeaseSourceParts {
  readonly link: ServerLink;
  readonly leaseMs: number;
  /** 0: no limit. */
  readonly maxLeases: number;
  /** The clock of a test; undefined: the server's. */
  readonly clock: Clock | undefined;
  /** A partition has answered: its version of the rules, and its generation and whether it is paused. */
  onAnswer(partition: number, version: number, state: readonly unknown[]): Promise<void>;
  /** A partition has failed, and no caller gets it. */
  onFault(fault: FrontierFault): void;
}

type Failure = readonly [partition: number, cause: unknown];

/** Leases of one script call. */
const LEASES_MAX = 96;
/** The longest delay after a lost message. An idle process makes one call in this time. */
export const HEARTBEAT_MS = 1_000;

export class LeaseSource {
  readonly #parts: LeaseSourceParts;
  /** When each partition may have something, by the server's clock. */
  readonly #dueAt: number[];
  /** The last answer of each partition that had nothing, until it is woken (I2). */
  readonly #empty: Array<readonly unknown[] | undefined> = [];
  /** The partition that is asked first. */
  #next = 0;
  #beatPartition = 0;
  #beatAtMs = 0;
  #offsetMs = 0;
  #asking = 0;
  /** Answers so far. */
  polls = 0;
  #wakers = new Set<() => void>();
  /** Partitions that failed beside leases or in a sweep, until they answer: there is one event of each. */
  readonly #failed = new Set<number>();

  constructor(parts: LeaseSourceParts) {
    this.#parts = parts;
    this.#dueAt = parts.link.keys.map(() => Number.NEGATIVE_INFINITY);
  }

  /** Milliseconds of the clock that decides. */
  now(): number {
    return this.#parts.clock?.now() ?? MACHINE.now() + this.#offsetMs;
  }

  /** The server's clock has just shown this time. */
  setNow(nowMs: number): void {
    this.#offsetMs = nowMs - MACHINE.now();
  }

  /** Something may be there: of a partition, or of all. */
  wake(partition?: number): void {
    const all = partition === undefined ? this.#dueAt.map((_, at) => at) : [partition];
    for (const each of all) {
      this.#dueAt[each] = Number.NEGATIVE_INFINITY;
      this.#empty[each] = undefined;
    }
    this.endWaits();
  }

  /** Ends all waits. */
  endWaits(): void {
    for (const waker of [...this.#wakers]) waker();
  }

  /** Whether a poll is under way, so that what its partition has is not known. */
  get isAsking(): boolean {
    return this.#asking > 0;
  }

  /** The earliest time at which a partition has something, as far as it is known; Infinity: none has named one. */
  nextAt(): number {
    return Math.min(...this.#dueAt);
  }

  /**
   * Up to `most` leases, of the partitions that are due; with `isAsked` of all, where none is known to be. They last `leaseMs`, if
   * given. Where a partition fails, those of others go out, beside an event; without any it rejects.
   */
  async poll(most: number, isAsked: boolean, leaseMs?: number): Promise<RawLease[]> {
    const leases: RawLease[] = [];
    const causes: Failure[] = [];
    const { link } = this.#parts;
    if (isAsked && this.#duePartitions().length === 0) this.#dueAt.fill(Number.NEGATIVE_INFINITY);
    while (leases.length < most && causes.length === 0) {
      const due = this.#duePartitions();
      if (due.length === 0) break;
      const left = most - leases.length;
      // The order is exact within a partition; several share the rest evenly.
      const some = due.slice(0, left);
      this.#next = ((some.at(-1) as number) + 1) % this.#dueAt.length;
      const each = Math.floor(left / some.length);
      const more = left % some.length;
      await Promise.all(
        some.map(async (partition, at) => {
          let want = each + (at < more ? 1 : 0);
          // Without waiting for the others, as long as it has what is asked for.
          for (let isFull = true; isFull && want > 0; ) {
            const asked = Math.min(link.sized(LEASES_MAX), want);
            const list = await this.#pollOne(partition, asked, leaseMs).catch((cause) => {
              causes.push([partition, cause]);
              return [];
            });
            leases.push(...list);
            isFull = list.length === asked;
            want -= asked;
          }
        }),
      );
    }
    return this.#withFailures(leases, causes);
  }

  /** Leases that go out all the same, or nothing but a failure. */
  #withFailures(leases: RawLease[], causes: readonly Failure[]): RawLease[] {
    for (const [partition, cause] of causes) {
      if (leases.length === 0) throw cause;
      this.showFailure(partition, cause);
    }
    return leases;
  }

  /** Emits what no caller gets: that a partition has failed, once until it answers a poll. */
  showFailure(partition: number, cause: unknown): void {
    if (this.#failed.has(partition)) return;
    this.#failed.add(partition);
    this.#parts.onFault({ kind: "server", stage: `partition ${partition}`, cause });
  }

  /** What `poll` would take, by what each partition has answered. */
  shares(answers: ReadonlyArray<readonly unknown[]>, most: number): HandOut[] {
    const left = answers.map((answer): HandOut[] => handOuts(answer));
    const shown: HandOut[] = [];
    let due = left.map((_, at) => (this.#next + at) % left.length);
    while (shown.length < most && due.length > 0) {
      const wanted = most - shown.length;
      const some = due.slice(0, wanted);
      const short = new Set<number>();
      some.forEach((partition, at) => {
        const want = Math.floor(wanted / some.length) + (at < wanted % some.length ? 1 : 0);
        const given = (left[partition] as HandOut[]).splice(0, want);
        if (given.length < want) short.add(partition);
        shown.push(...given);
      });
      due = [...due.slice(some.length), ...some].filter((partition) => !short.has(partition));
    }
    return shown;
  }

  /** Up to `most` leases of one host of a partition. */
  async pollHost(host: HostPlace, most: number, leaseMs?: number): Promise<RawLease[]> {
    const { partition, name } = host;
    const leases: RawLease[] = [];
    try {
      for (let isMore = true; isMore && leases.length < most; ) {
        const asked = Math.min(most - leases.length, this.#parts.link.sized(LEASES_MAX));
        const { list, nextMs } = await this.#ask(partition, asked, leaseMs, ["host", name]);
        // What other hosts have is not part of the answer.
        this.#dueAt[partition] = Math.min(this.#dueAt[partition] as number, nextMs);
        leases.push(...list);
        isMore = list.length > 0 && nextMs <= this.now();
      }
    } catch (cause) {
      return this.#withFailures(leases, [[partition, cause]]);
    }
    return leases;
  }

  /** Asks one partition in turn, due or not, however many wait: a message may have been lost. */
  heartbeat(): void {
    if (MACHINE.monotonic() < this.#beatAtMs) return;
    this.#beatAtMs = MACHINE.monotonic() + 0.9 * HEARTBEAT_MS;
    this.#beatPartition = (this.#beatPartition + 1) % this.#dueAt.length;
    this.#dueAt[this.#beatPartition] = Number.NEGATIVE_INFINITY;
  }

  /** Resolves when a poll may succeed: woken, the next time has come, or `untilMs` has. While polls are held, times do not matter. */
  async wait(untilMs: number, signal: AbortSignal | undefined, isHeld = false): Promise<void> {
    if (!isHeld && this.#duePartitions().length > 0) return;
    const atMs = isHeld ? untilMs : Math.min(this.nextAt(), untilMs);
    const { clock } = this.#parts;
    await new Promise<void>((resolve) => {
      let cancel: () => void = () => undefined;
      const end = (): void => {
        cancel();
        this.#wakers.delete(end);
        signal?.removeEventListener("abort", end);
        resolve();
      };
      this.#wakers.add(end);
      signal?.addEventListener("abort", end);
      if (clock !== undefined) {
        if (Number.isFinite(atMs)) cancel = clock.schedule(atMs, end);
        return;
      }
      cancel = after(Math.min(Math.max(atMs - this.now(), 0), HEARTBEAT_MS), end);
    });
    if (clock === undefined && this.#duePartitions().length === 0) this.heartbeat();
  }

  #duePartitions(): number[] {
    const nowMs = this.now();
    const due: number[] = [];
    const count = this.#dueAt.length;
    for (let step = 0; step < count; step++) {
      const partition = (this.#next + step) % count;
      if ((this.#dueAt[partition] as number) <= nowMs) due.push(partition);
    }
    return due;
  }

  async #pollOne(partition: number, most: number, leaseMs?: number): Promise<RawLease[]> {
    this.#dueAt[partition] = Number.POSITIVE_INFINITY;
    try {
      const { list, nextMs } = await this.#ask(partition, most, leaseMs);
      // A message that came meanwhile has set an earlier time (I1).
      this.#dueAt[partition] = Math.min(this.#dueAt[partition] as number, nextMs);
      if (list.length === most) this.endWaits();
      return list;
    } catch (cause) {
      this.#dueAt[partition] = Number.NEGATIVE_INFINITY;
      throw cause;
    }
  }

  /** What a partition hands out, and when it has something again. */
  async #ask(
    partition: number,
    most: number,
    leaseMs = this.#parts.leaseMs,
    what: readonly string[] = [],
  ): Promise<{ list: RawLease[]; nextMs: number }> {
    const { link, maxLeases, clock, onAnswer } = this.#parts;
    const token = randomBytes(2);
    this.#asking++;
    let answer: readonly unknown[] | undefined;
    try {
      if (what.length === 0) answer = await this.#unchanged(partition);
      answer ??= await link.run("poll", partition, [
        ...[link.batch(), String(most), String(leaseMs), token, String(maxLeases), ...what],
      ]);
    } finally {
      this.#asking--;
    }
    this.polls++;
    this.#failed.delete(partition);
    if (clock === undefined) this.setNow(Number(answer[4]));
    const list = handOuts(answer, { partition, token, deadlineMs: Number(answer[5]) });
    const next = String(answer[1]);
    const later = next === "" ? Number.POSITIVE_INFINITY : Number(next);
    const state = answer[3] as readonly unknown[];
    link.timed(Number(state[2]));
    if (what.length === 0) this.#empty[partition] = list.length === 0 ? answer : undefined;
    await onAnswer(partition, Number(answer[2]), state);
    return { list, nextMs: list.length === most ? Number.NEGATIVE_INFINITY : later };
  }

  /** What a partition that had nothing would answer again: it is as it was, and what it has is not due (I2). */
  async #unchanged(partition: number): Promise<readonly unknown[] | undefined> {
    const answer = this.#empty[partition];
    const [, next, , state] = answer ?? [];
    if (answer === undefined || (String(next) !== "" && Number(next) <= this.now())) return;
    const [generation, isPaused, , counters] = state as readonly Buffer[];
    const asked = [counters as Buffer, String(next) || "inf"];
    const [now] = await this.#parts.link.run("idle", partition, asked);
    if (now === undefined) return undefined;
    return [...answer.slice(0, 3), [generation, isPaused, 0, counters], now, ...answer.slice(5)];
  }
}

/** Bytes of a lease among those of its call: number, clock. */
const LEASE_BYTES = 36;
const NOT_LEASED: LeaseBatch = { partition: 0, token: Buffer.alloc(0), deadlineMs: 0 };

/** What a partition has handed out, or would. */
export function handOuts(answer: readonly unknown[], batch = NOT_LEASED): RawLease[] {
  const numbers = answer[6] as Buffer;
  const list: RawLease[] = [];
  for (let at = 7; at < answer.length; at++) {
    const record = answer[at] as Buffer;
    countHandOut(record);
    list.push({ batch, numbers, at: list.length * LEASE_BYTES, record });
  }
  return list;
}
