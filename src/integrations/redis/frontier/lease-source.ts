/**
 * LeaseSource: asks partitions for leases, and waits for them: a partition that had nothing is asked again at the time it named, when a
 * message wakes this process, or at a heartbeat.
 *
 *   due partitions ── poll, several at once ──▶ leases      none due ─▶ wait: message · next time · heartbeat
 *
 *   I1  A partition whose poll brought fewer leases than were asked for has marked that somebody sleeps: what is pushed there next
 *       publishes a message. A message that comes while a poll is under way counts for the next poll.
 */
import type { HostPlace } from "./redis-host.ts";
import { after, type Clock } from "../../../base/clock.ts";
import { countHandOut } from "../requests/record-bytes.ts";
import { MACHINE, randomBytes } from "../server/waiting.ts";
import type { ServerLink } from "../server/server-link.ts";

/** A lease as a partition hands it out. */
export interface RawLease {
  readonly partition: number;
  readonly member: Buffer;
  readonly token: Buffer;
  readonly deadlineMs: number;
  readonly unit: string;
  readonly record: Buffer;
}

export interface LeaseSourceParts {
  readonly link: ServerLink;
  readonly leaseMs: number;
  /** 0: no limit. */
  readonly maxLeases: number;
  /** The clock of a test; undefined: the server's. */
  readonly clock: Clock | undefined;
  /** A partition has named another version of the rules. */
  onVersion(partition: number, version: number): Promise<void>;
}

/** Leases of one script call. */
const LEASES_MAX = 96;
/** A message that was lost costs this much, and an idle process one call in that time. */
export const HEARTBEAT_MS = 1_000;

export class LeaseSource {
  readonly #parts: LeaseSourceParts;
  /** When each partition may have something, by the server's clock. */
  readonly #dueAt: number[];
  #next = 0;
  #beat = 0;
  #offsetMs = 0;
  #wakers = new Set<() => void>();

  constructor(parts: LeaseSourceParts) {
    this.#parts = parts;
    this.#dueAt = parts.link.keys.map(() => Number.NEGATIVE_INFINITY);
  }

  /** Milliseconds of the clock that decides. */
  now(): number {
    return this.#parts.clock?.now() ?? MACHINE.now() + this.#offsetMs;
  }

  /** Something may be there: of a partition, or of all. */
  wake(partition?: number): void {
    if (partition === undefined) this.#dueAt.fill(Number.NEGATIVE_INFINITY);
    else this.#dueAt[partition] = Number.NEGATIVE_INFINITY;
    this.rouse();
  }

  /** Ends all waits. */
  rouse(): void {
    for (const waker of [...this.#wakers]) waker();
  }

  /** The earliest time at which a partition has something, as far as it is known; Infinity: none has named one. */
  nextAt(): number {
    return Math.min(...this.#dueAt);
  }

  /** Up to `most` leases, of the partitions that are due; with `isAsked` of all, where none is known to be. They last `leaseMs`, if given. */
  async poll(most: number, isAsked: boolean, leaseMs?: number): Promise<RawLease[]> {
    const leases: RawLease[] = [];
    if (isAsked && this.#duePartitions().length === 0) this.#dueAt.fill(Number.NEGATIVE_INFINITY);
    while (leases.length < most) {
      const due = this.#duePartitions();
      if (due.length === 0) break;
      const left = most - leases.length;
      // The order is exact within a partition; several share the rest evenly.
      const some = due.slice(0, left);
      const each = Math.floor(left / some.length);
      const more = left % some.length;
      const lists = await Promise.all(
        some.map((partition, at) =>
          this.#pollOne(partition, Math.min(LEASES_MAX, each + (at < more ? 1 : 0)), leaseMs),
        ),
      );
      for (const list of lists) leases.push(...list);
    }
    return leases;
  }

  /** Up to `most` leases of one host of a partition. */
  async pollHost(host: HostPlace, most: number, leaseMs?: number): Promise<RawLease[]> {
    return await this.#pollOne(host.partition, Math.min(most, LEASES_MAX), leaseMs, [
      "host",
      host.name,
    ]);
  }

  /** Asks one partition in turn, due or not: a message may have been lost. */
  beat(): void {
    this.#beat = (this.#beat + 1) % this.#dueAt.length;
    this.#dueAt[this.#beat] = Number.NEGATIVE_INFINITY;
  }

  /** Resolves when a poll may succeed: woken, the next time has come, or `untilMs` has. */
  async wait(untilMs: number, signal: AbortSignal | undefined): Promise<void> {
    if (this.#duePartitions().length > 0) return;
    const atMs = Math.min(this.nextAt(), untilMs);
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
    if (clock === undefined && this.#duePartitions().length === 0) this.beat();
  }

  #duePartitions(): number[] {
    const nowMs = this.now();
    const due: number[] = [];
    const count = this.#dueAt.length;
    for (let step = 0; step < count; step++) {
      const partition = (this.#next + step) % count;
      if ((this.#dueAt[partition] as number) <= nowMs) due.push(partition);
    }
    this.#next = (this.#next + 1) % count;
    return due;
  }

  async #pollOne(
    partition: number,
    most: number,
    leaseMs = this.#parts.leaseMs,
    what: readonly string[] = [],
  ): Promise<RawLease[]> {
    const { link, maxLeases, clock, onVersion } = this.#parts;
    const token = randomBytes(2);
    this.#dueAt[partition] = Number.POSITIVE_INFINITY;
    let answer: readonly unknown[];
    try {
      answer = await link.run("poll", partition, [
        ...[link.batch(), String(most), String(leaseMs), token, String(maxLeases), ...what],
      ]);
    } catch (cause) {
      this.#dueAt[partition] = Number.NEGATIVE_INFINITY;
      throw cause;
    }
    if (clock === undefined) this.#offsetMs = Number(answer[4]) - MACHINE.now();
    const leases: RawLease[] = [];
    const deadlineMs = Number(answer[5]);
    for (const { member, unit, record } of handOuts(answer)) {
      leases.push({ partition, member, token, deadlineMs, unit, record });
    }
    const next = String(answer[1]);
    const nextMs =
      leases.length === most
        ? Number.NEGATIVE_INFINITY
        : next === ""
          ? Number.POSITIVE_INFINITY
          : Number(next);
    // A message that came meanwhile has set an earlier time (I1).
    this.#dueAt[partition] = Math.min(this.#dueAt[partition] as number, nextMs);
    await onVersion(partition, Number(answer[2]));
    return leases;
  }
}

/** What a partition has handed out, or would. */
export function handOuts(
  answer: readonly unknown[],
): Array<Pick<RawLease, "member" | "unit" | "record">> {
  const list: Array<Pick<RawLease, "member" | "unit" | "record">> = [];
  for (let at = 6; at + 2 < answer.length; at += 3) {
    const [member, unit, record] = answer.slice(at, at + 3) as Buffer[] as [Buffer, Buffer, Buffer];
    countHandOut(record);
    list.push({ member, unit: unit.toString("utf8"), record });
  }
  return list;
}
