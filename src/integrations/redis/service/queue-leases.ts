/**
 * QueueLeases: leases of queues that may go. Partitions take turns; within each the order of its queues is exact, and several are asked at once.
 *
 *   partitions ── poll "queues" ──▶ leases of whole queues ──▶ the rest of a queue that is longer than a slice
 *
 *   I1  What a caller does not take goes back by `giveBack`, and its queue's clock is as before.
 */
import { packed, pieceOf } from "../server/packing.ts";
import { randomBytes } from "../server/waiting.ts";
import { hostPiece, readRecord } from "../requests/record-bytes.ts";
import { listOf } from "../requests/row-list.ts";
import type { OpenedFrontier } from "../open-redis-frontier.ts";
import { handOuts } from "../frontier/lease-source.ts";
import { END, packedEnds } from "../frontier/lease-ends.ts";

/** Leases of one script call. */
const LEASES_MAX = 64;
/** Calls that wait for all that is due to come to its queue: an older URL goes before a younger one. */
const WHOLE_MAX = 8;
/** Partitions asked at once. */
const PARTITIONS_MAX = 4;
/** More than a queue may hold: no bound. */
const URLS_ANY = 2 ** 31 - 1;

export interface QueuesAsked {
  /** Most queues. */
  readonly queues: number;
  /** Most URLs of each. */
  readonly urls: number;
  readonly leaseMs: number;
  /** Seconds between two hand-outs of a queue without a delay of its own. */
  readonly gap: number;
}

/** A URL that was handed out. */
export interface QueueLease {
  readonly url: string;
  readonly key: string;
  readonly data: unknown;
  /** Names this hand-out: no other one of the URL has the same. */
  readonly token: string;
  readonly partition: number;
  readonly member: Buffer;
  /** Second of the hand-out. */
  readonly second: number;
}

interface Polled {
  readonly leases: QueueLease[];
  /** How many queues they are of. */
  readonly queues: number;
  /** There may be more. */
  readonly isMore: boolean;
  /** The script's steps were used up, or what has become due left less room for leases, or is not all in its queues. */
  readonly isAgain: boolean;
  /** The last queue may have more, which the same call may have: how many. */
  readonly rest: number;
}

export class QueueLeases {
  readonly #on: OpenedFrontier;
  #turn = 0;

  constructor(on: OpenedFrontier) {
    this.#on = on;
  }

  async *serve(asked: QueuesAsked): AsyncGenerator<QueueLease[], void, undefined> {
    const count = this.#on.link.keys.length;
    const first = this.#turn++ % count;
    let open = Array.from({ length: count }, (_, at) => (first + at) % count);
    let left = asked.queues;
    while (left > 0 && open.length > 0) {
      const some = open.slice(0, Math.min(left, PARTITIONS_MAX));
      const each = Math.floor(left / some.length);
      const more = left % some.length;
      const all = await Promise.all(
        some.map((partition, at) =>
          this.#pollWhole(partition, asked, { queues: each + (at < more ? 1 : 0) }),
        ),
      );
      const leases = all.flatMap((one) => one.leases);
      if (leases.length > 0) yield leases;
      for (const [at, { queues, rest, leases }] of all.entries()) {
        left -= queues;
        const last = leases.at(-1);
        if (rest > 0 && last !== undefined)
          yield* this.#rest(some[at] as number, last.key, asked, rest);
      }
      const ended = new Set(some.filter((_, at) => !(all[at] as Polled).isMore));
      open = [...open.slice(some.length), ...some].filter((partition) => !ended.has(partition));
    }
  }

  async *serveOne(
    partition: number,
    key: string,
    asked: QueuesAsked,
  ): AsyncGenerator<QueueLease[], void, undefined> {
    const { leases, rest } = await this.#pollWhole(partition, asked, { queues: 1, name: key });
    if (leases.length === 0) return;
    yield leases;
    yield* this.#rest(partition, key, asked, rest);
  }

  /** What a queue has beyond the first slice. */
  async *#rest(
    partition: number,
    key: string,
    asked: QueuesAsked,
    most: number,
  ): AsyncGenerator<QueueLease[], void, undefined> {
    for (let left = most; left > 0; ) {
      const some = { ...asked, urls: left };
      const { leases, rest } = await this.#poll(partition, some, { queues: 1, name: key, more: 1 });
      if (leases.length === 0) return;
      yield leases;
      left = rest;
    }
  }

  async #pollWhole(
    partition: number,
    asked: QueuesAsked,
    what: { queues: number; name?: string },
  ): Promise<Polled> {
    for (let whole = WHOLE_MAX; whole > 0; whole--) {
      const polled = await this.#poll(partition, asked, { ...what, whole });
      if (polled.leases.length > 0 || !polled.isAgain) return polled;
    }
    return await this.#poll(partition, asked, what);
  }

  async #poll(
    partition: number,
    { urls, leaseMs, gap }: QueuesAsked,
    what: { queues: number; name?: string; more?: number; whole?: number },
  ): Promise<Polled> {
    const { link, rules } = this.#on;
    const token = randomBytes(2);
    const queues = Math.min(what.queues, URLS_ANY);
    const asked = packed({ ...what, queues, gap, urls: Math.min(urls, URLS_ANY) });
    const answer = await link.run("poll", partition, [
      ...[link.batch(), String(LEASES_MAX), String(leaseMs), token, "0", "queues", asked],
    ]);
    await rules.follow(partition, Number(answer[2]));
    const nowMs = Number(answer[4]);
    const second = Math.floor(nowMs / 1_000);
    const leases = handOuts(answer).map(({ numbers, at, record }): QueueLease => {
      const { extras, url } = readRecord(record);
      const data = extras.d;
      const { at: from, end } = hostPiece(record);
      const key = record.utf8Slice(from, end);
      const member = numbers.subarray(at, at + 6);
      return {
        ...{ url, data, key, partition, member, second },
        token: token.toString("hex"),
      };
    });
    const counts = new Map<string, number>();
    for (const { key } of leases) counts.set(key, (counts.get(key) ?? 0) + 1);
    const isWhole = leases.length < LEASES_MAX;
    const next = String(answer[1]);
    const isAgain = next !== "" && Number(next) <= nowMs;
    const lastCount = counts.get(leases.at(-1)?.key ?? "") ?? 0;
    return {
      ...{ leases, queues: counts.size, isAgain },
      isMore: !isWhole || isAgain || counts.size >= what.queues,
      rest: isWhole && !isAgain ? 0 : urls - lastCount,
    };
  }

  /** Returns leases to their places; queues of which nothing was taken have the clock from before. */
  async giveBack(
    leases: readonly QueueLease[],
    taken: ReadonlySet<string>,
    gap: number,
  ): Promise<void> {
    const { link, reader } = this.#on;
    const byPartition = new Map<number, QueueLease[]>();
    // The last one first, so that each finds its place.
    for (const lease of leases.toReversed()) {
      listOf(byPartition, lease.partition).push(lease);
    }
    for (const [partition, list] of byPartition) {
      for (let at = 0; at < list.length; at += LEASES_MAX) {
        const ends = list.slice(at, at + LEASES_MAX).map(({ member, token, key }) => {
          const host = Buffer.from(key);
          return {
            ...{ kind: END.release, numbers: member, at: 0, token: Buffer.from(token, "hex") },
            ...{ host: pieceOf(host, 0, host.length), rule: 0, rest: [null, null] },
          };
        });
        const version = String(reader.set.version);
        await link.run("settle", partition, [link.batch(), version, packedEnds(ends), "", "", ""]);
      }
      const queues = new Map(list.map(({ key, second }) => [key, second]));
      for (const [key, second] of queues) {
        if (taken.has(key)) continue;
        await link.run("queue", partition, ["back", key, String(gap), String(second)]);
      }
    }
  }
}
