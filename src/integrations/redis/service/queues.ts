/**
 * RedisQueues: a frontier on Redis as the queues of a server's protocol. A queue is a host key; its clock, its limit and its counts are in
 * the server (lua/lib-queue.lua), so that every process that serves it answers alike, and no state is lost with a process.
 *
 *   I1  A call may be made by any process: none has to be the one that handed a URL out.
 */
import type { RecordView, RequestInput } from "../../../engine/types/frontier-types.ts";
import { STATE } from "../server/partition-keys.ts";
import { packed, type Packable, type Unpacked, unpacked } from "../server/packing.ts";
import { isMemoryFull } from "../../../base/errors.ts";
import { readRecord } from "../requests/record-bytes.ts";
import type { Row } from "../requests/request-reader.ts";
import { listOf, RowList } from "../requests/row-list.ts";
import type { OpenedFrontier } from "../open-redis-frontier.ts";
import {
  type Found,
  readFound,
  readScanned,
  recordViewOf,
  unitOf,
} from "../frontier/record-views.ts";
import type { RedisFrontier } from "../frontier/redis-types.ts";
import { readStates } from "../frontier/state-report.ts";
import { QueueLeases, type QueueLease, type QueuesAsked } from "./queue-leases.ts";

/** URLs of one script call: about a millisecond of the server. */
const KNOWN_MAX = 32;
const FOUND_MAX = 128;
const DROPS_MAX = 64;
const RECORDS = 160;
const HOSTS = 128;

/** A URL that is finished, or due at a time. */
export interface KnownRequest {
  /** With its queue as `hostKey`. */
  readonly request: RequestInput;
  /** undefined: finished. */
  readonly dueAt: number | undefined;
  /** The hand-out that this ends; "": any. */
  readonly token: string;
  /** Why the URL has failed; "": it has not. */
  readonly reason: string;
}

/** It is so; its hand-out is over; it was refused before it was sent; there was no room. */
export type KnownAnswer = "kept" | "over" | "refused" | "full";

const ANSWERS: Readonly<Record<string, KnownAnswer>> = { k: "kept", f: "kept", s: "over" };

export interface QueueFacts {
  readonly key: string;
  /** Its place in the order of joining, within its partition. */
  readonly order: number;
  readonly active: number;
  readonly completed: number;
  readonly inProcess: number;
  readonly blockedUntil: number;
}

export interface QueueSums {
  readonly active: number;
  readonly completed: number;
  readonly inProcess: number;
  readonly queues: number;
  /** Differs after every change of a count. */
  readonly mark: string;
}

export class RedisQueues {
  readonly frontier: RedisFrontier;
  readonly leases: QueueLeases;
  readonly #on: OpenedFrontier;

  constructor(on: OpenedFrontier, now: () => number) {
    this.#on = on;
    this.frontier = on.frontier as unknown as RedisFrontier;
    this.leases = new QueueLeases(on);
    this.now = now;
  }

  /** Milliseconds of the clock that decides. */
  readonly now: () => number;

  #partitionOf(key: string): number {
    return this.#on.reader.partitionOf(key, key);
  }

  /** What is known of requests, each with its queue as `hostKey`. */
  async find(requests: readonly RequestInput[]): Promise<Array<RecordView | undefined>> {
    const { link, reader } = this.#on;
    const views: Array<RecordView | undefined> = new Array(requests.length).fill(undefined);
    const places = new Map<number, Array<{ at: number; fingerprint: Buffer }>>();
    requests.forEach((request, at) => {
      const { fingerprint, hasIdentity, partition } = reader.locate(request, this.now());
      if (hasIdentity) listOf(places, partition).push({ at, fingerprint });
    });
    await eachSlice(places, FOUND_MAX, async (partition, slice) => {
      const args = slice.flatMap(({ fingerprint }) => [fingerprint, ""]);
      const answer = await link.run("find", partition, args);
      slice.forEach(({ at }, index) => {
        const found = readFound(answer[index + 1]);
        if (found !== undefined) views[at] = recordViewOf(found, reader.set);
      });
    });
    return views;
  }

  /** Makes URLs finished, or due at their dates, whatever they were; those of a queue in their order. */
  async putKnown(list: readonly KnownRequest[]): Promise<KnownAnswer[]> {
    const answers: KnownAnswer[] = new Array(list.length).fill("refused");
    const places = new Map<number, number[]>();
    this.#rowsOf(list).forEach((row, at) => {
      if (typeof row !== "number") listOf(places, row.partition).push(at);
    });
    await eachSlice(places, KNOWN_MAX, async (partition, slice) => {
      const made = await this.#putSlice(
        partition,
        slice.map((at) => list[at] as KnownRequest),
      );
      slice.forEach((at, index) => {
        answers[at] = made[index] as KnownAnswer;
      });
    });
    return answers;
  }

  /** Rules may have changed since the slice was made: what they refuse now is not sent. */
  async #putSlice(partition: number, list: readonly KnownRequest[]): Promise<KnownAnswer[]> {
    const { link, reader, rules } = this.#on;
    const answers: KnownAnswer[] = new Array(list.length).fill("refused");
    for (;;) {
      const rows = new RowList();
      const sent: number[] = [];
      this.#rowsOf(list).forEach((row, at) => {
        if (typeof row !== "number") rows.add(row, sent.push(at));
      });
      if (sent.length === 0) return answers;
      const facts = sent.map((at) => {
        const { token, reason } = list[at] as KnownRequest;
        return [Buffer.from(token, "hex"), reason];
      });
      const version = String(reader.set.version);
      let answer: readonly unknown[];
      try {
        answer = await link.run("known", partition, [
          ...[link.batch(), version, rows.packed(), packed(facts as Packable)],
        ]);
      } catch (cause) {
        if (!isMemoryFull(cause)) throw cause;
        for (const at of sent) answers[at] = "full";
        return answers;
      }
      if (String(answer[0]) === "K") {
        const letters = String(answer[1]);
        sent.forEach((at, index) => {
          answers[at] = ANSWERS[letters[index] as string] ?? "full";
        });
        return answers;
      }
      await rules.follow(partition, Number(answer[1]));
    }
  }

  /** A row for each, or the code of its refusal. */
  #rowsOf(list: readonly KnownRequest[]): Array<Row | number> {
    const { reader } = this.#on;
    const origin = { nowMs: this.now(), depth: undefined, parent: undefined };
    return list.map(({ request, dueAt }) => {
      const put = dueAt === undefined ? ("visited" as const) : ("put" as const);
      const input = dueAt === undefined ? request : { ...request, notBefore: dueAt };
      return reader.read([input], { ...origin, put })[0] as Row | number;
    });
  }

  /** One queue; undefined: there is none of that key. */
  async view(key: string): Promise<QueueFacts | undefined> {
    const answer = await this.#on.link.run("queue", this.#partitionOf(key), ["view", key]);
    return answer[1] === undefined || answer[1] === null ? undefined : factsOf(answer[1]);
  }

  /** All queues, a slice at a time, in no order. */
  async *views(): AsyncGenerator<QueueFacts[], void, undefined> {
    const { link } = this.#on;
    for (let partition = 0; partition < link.keys.length; partition++) {
      const argsAt = (cursor: string) => ["list", cursor, String(HOSTS)];
      for await (const answer of link.slices("queue", partition, argsAt))
        yield answer.slice(2).map(factsOf);
    }
  }

  async sums(): Promise<QueueSums> {
    const { sum } = await readStates(this.#on.link, false);
    const at = (name: keyof typeof STATE): number => sum[STATE[name]] ?? 0;
    const live = at("pending") + at("waiting") + at("leased") + at("failed");
    const marks = ["accepted", "deferred", "forgotten", "removed"] as const;
    return {
      active: live,
      ...{ completed: at("done"), inProcess: at("leased"), queues: at("hosts") },
      mark: [live, at("done"), ...marks.map(at)].join(),
    };
  }

  /** Sets a queue's own delay, the second until which it is blocked, or its limit. False: there is no such queue. */
  async change(
    key: string,
    { delay, blockedUntil, limit }: { delay?: number; blockedUntil?: number; limit?: number },
    gap: number,
  ): Promise<boolean> {
    const fields = packed({ qd: delay, qu: blockedUntil, ql: limit });
    const partition = this.#partitionOf(key);
    const args = ["change", key, String(gap), fields];
    return Number((await this.#on.link.run("queue", partition, args))[1]) === 1;
  }

  /** Clocks of queues without a delay of their own follow another one. Costs a pass over all queues, in slices. */
  async followDelay(gap: number): Promise<void> {
    const { link } = this.#on;
    await Promise.all(
      link.keys.map(async (_, partition) => {
        const argsAt = (cursor: string) => ["gap", cursor, String(HOSTS), String(gap)];
        for await (const _slice of link.slices("queue", partition, argsAt));
      }),
    );
  }

  /** Records, of one queue or of all, a slice at a time, in no order. Costs a pass over those of the queue's partition, or of all. */
  async *records(key: string): AsyncGenerator<RecordView[], void, undefined> {
    const { reader } = this.#on;
    for await (const { list } of this.#scan(key)) {
      yield list.map((found) => recordViewOf(found, reader.set));
    }
  }

  /** Deletes records of a queue, or of all, also leased ones; how many. */
  async drop(key: string, isWanted: (view: RecordView) => boolean): Promise<number> {
    const { link, reader } = this.#on;
    let count = 0;
    for await (const { partition, list } of this.#scan(key)) {
      const members = list
        .filter((found) => isWanted(recordViewOf(found, reader.set)))
        .map(({ member }) => member);
      for (let at = 0; at < members.length; at += DROPS_MAX) {
        const some = members.slice(at, at + DROPS_MAX);
        count += Number((await link.run("queue", partition, ["drop", ...some]))[1]);
      }
    }
    return count;
  }

  /** Deletes a queue with all of its records; how many those were. */
  async remove(key: string): Promise<number> {
    const count = await this.drop(key, () => true);
    await this.#on.link.run("queue", this.#partitionOf(key), ["remove", key]);
    return count;
  }

  async *#scan(key: string): AsyncGenerator<{ partition: number; list: Found[] }, void, undefined> {
    const { link } = this.#on;
    const all = key === "" ? link.keys.map((_, at) => at) : [this.#partitionOf(key)];
    for (const partition of all) {
      const argsAt = (cursor: string) => [cursor, String(RECORDS)];
      for await (const answer of link.slices("scan", partition, argsAt)) {
        const list = answer.slice(2).map((bytes) => readScanned(bytes as Buffer));
        const isOwn = ({ bytes }: Found): boolean => unitOf(readRecord(bytes)) === key;
        yield { partition, list: key === "" ? list : list.filter(isOwn) };
      }
    }
  }

  /** Leases of the next queues that may go, a slice at a time. */
  serve(asked: QueuesAsked): AsyncGenerator<QueueLease[], void, undefined> {
    return this.leases.serve(asked);
  }

  /** Leases of one queue, if it may go. */
  serveOne(key: string, asked: QueuesAsked): AsyncGenerator<QueueLease[], void, undefined> {
    return this.leases.serveOne(this.#partitionOf(key), key, asked);
  }
}

/** Slices of a partition one after the other, partitions at the same time. */
async function eachSlice<T>(
  lists: ReadonlyMap<number, readonly T[]>,
  most: number,
  act: (partition: number, slice: readonly T[]) => Promise<void>,
): Promise<void> {
  await Promise.all(
    [...lists].map(async ([partition, list]) => {
      for (let at = 0; at < list.length; at += most)
        await act(partition, list.slice(at, at + most));
    }),
  );
}

function factsOf(bytes: unknown): QueueFacts {
  const [key, order, active, completed, inProcess, blockedUntil] = unpacked(
    bytes as Buffer,
  ) as Unpacked[];
  return {
    key: String(key),
    order: Number(order),
    ...{ active: Number(active), completed: Number(completed) },
    ...{ inProcess: Number(inProcess), blockedUntil: Number(blockedUntil) },
  };
}
