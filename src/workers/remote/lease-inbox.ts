/**
 * LeaseInbox: the messages that the owner has sent to a worker: leases in blocks, best class first, and notices beside them.
 *
 *   lanes 0 … 3 ─▶ pull: blocks copied out, notices read ─▶ next: one lease begins, `taken` is stored ─▶ handler
 *
 *   I1  `taken` of a class counts the leases begun, in the order of that lane, and is stored before the lease is visible:
 *       when this thread dies, the owner can read which had begun.
 *   I2  A lease that expired before it began never begins: it counts as taken, and as nothing else. Only expired leases that were
 *       handed out and have not begun are remembered, at most a window of them.
 */
import {
  SHARED_PARK_WORD,
  LANE_CLASSES,
  SEAT_CALLED_WORD,
} from "../../layout/threads/worker-seats.ts";
import {
  MESSAGE_CANCEL,
  MESSAGE_LINK_FACTS,
  MESSAGE_LEASES,
  MESSAGE_RULE,
} from "../../layout/threads/worker-messages.ts";
import { unpark } from "../../memory/parking.ts";
import {
  attachConsumer,
  type LaneConsumer,
  laneDrop,
  laneFree,
  laneIsEmpty,
  laneNext,
} from "../../structures/threads/spsc-lane.ts";
import { begunOf, countBegun } from "../protocol/lane-credit.ts";
import { type CrewHandle, sharedWords, lanePlace, seatWords } from "../protocol/shared-memory.ts";
import {
  type LinkFacts,
  linkFactsGeneration,
  readLinkFacts,
} from "../protocol/link-facts-message.ts";
import {
  type CancelFields,
  type LeaseBlock,
  type LeaseRow,
  nextId,
  openBlock,
  readCancel,
  readLease,
  skipLease,
} from "../protocol/lease-message.ts";

export class LeaseInbox {
  /** Called when a begun lease has expired. */
  onCancel: ((id: number) => void) | undefined;
  /** Called with the facts by which this thread may decide. */
  readonly #onEdge: (generation: number, facts: LinkFacts) => void;
  readonly #shared: Int32Array;
  readonly #seat: Int32Array;
  readonly #lanes: LaneConsumer[] = [];
  readonly #blocks: LeaseBlock[][] = [];
  readonly #rules: string[] = [];
  /** Leases that expired before they began. */
  readonly #cancelled = new Set<number>();
  /** Leases were taken since the owner was last woken. */
  #hasTaken = false;

  constructor(
    { memory }: CrewHandle,
    seat: number,
    onEdge: (generation: number, facts: LinkFacts) => void,
  ) {
    this.#shared = sharedWords(memory);
    this.#seat = seatWords(memory, seat);
    this.#onEdge = onEdge;
    for (let each = 0; each < LANE_CLASSES; each++) {
      this.#lanes.push(attachConsumer(lanePlace(memory, seat, each)));
      this.#blocks.push([]);
    }
  }

  /** Whether the lanes hold unread messages. */
  hasMessages(): boolean {
    for (const lane of this.#lanes) if (!laneIsEmpty(lane)) return true;
    return false;
  }

  /** Whether leases were pulled that have not begun. */
  hasLease(): boolean {
    for (const blocks of this.#blocks) if (blocks.length > 0) return true;
    return false;
  }

  /** Leases that expired before they began, and are still here or to come. */
  get cancelledCount(): number {
    return this.#cancelled.size;
  }

  /** Copies all messages out of the lanes, so that notices are read while no lease can begin. */
  pull(): void {
    let isFreed = false;
    for (let each = 0; each < LANE_CLASSES; each++) {
      const lane = this.#lanes[each] as LaneConsumer;
      while (laneNext(lane)) {
        this.#read(each, lane);
        laneDrop(lane);
      }
      if (laneFree(lane)) isFreed = true;
    }
    if (isFreed) unpark(this.#shared, SHARED_PARK_WORD);
  }

  /** Moves the best lease here into what `make` returns; the lease has begun. Returns undefined when there is none. */
  next<T extends LeaseRow>(make: () => T): T | undefined {
    for (let each = 0; each < LANE_CLASSES; each++) {
      if (this.#cancelled.size > 0) this.#skipCancelled(each);
      const blocks = this.#blocks[each] as LeaseBlock[];
      const block = blocks[0];
      if (block === undefined) continue;
      countBegun(this.#seat, each); // I1
      this.#hasTaken = true;
      this.#seat[SEAT_CALLED_WORD] = (this.#seat[SEAT_CALLED_WORD] as number) + 1;
      const lease = make();
      readLease(block, lease);
      if (block.next === block.count) blocks.shift();
      return lease;
    }
    return undefined;
  }

  ruleName(number: number): string {
    return this.#rules[number] ?? "";
  }

  /** Wakes the owner when leases were taken: there is room for more. */
  publishTaken(): void {
    if (!this.#hasTaken) return;
    this.#hasTaken = false;
    unpark(this.#shared, SHARED_PARK_WORD);
  }

  #read(priorityClass: number, lane: LaneConsumer): void {
    const { source, start, size } = lane;
    const kind = source.readInt32LE(start);
    if (kind === MESSAGE_LEASES) {
      const copy = Buffer.from(source.subarray(start, start + size));
      (this.#blocks[priorityClass] as LeaseBlock[]).push(openBlock(copy, 0));
    } else if (kind === MESSAGE_RULE) {
      this.#rules[source.readInt32LE(start + 4)] = source.utf8Slice(start + 8, start + size);
    } else if (kind === MESSAGE_CANCEL) {
      this.#cancel(readCancel(source, start));
    } else if (kind === MESSAGE_LINK_FACTS) {
      this.#onEdge(linkFactsGeneration(source, start), readLinkFacts(source, start, size));
    }
  }

  /** The lease's block may be still to come: each lane is read by itself. */
  #cancel({ id, priorityClass, order }: CancelFields): void {
    const hasBegun = ((begunOf(this.#seat, priorityClass) - order) | 0) > 0;
    if (hasBegun) this.onCancel?.(id);
    else this.#cancelled.add(id);
  }

  /** Skips expired leases at the head of a class (I2). */
  #skipCancelled(priorityClass: number): void {
    const blocks = this.#blocks[priorityClass] as LeaseBlock[];
    for (let block = blocks[0]; block !== undefined; block = blocks[0]) {
      if (!this.#cancelled.delete(nextId(block))) return;
      countBegun(this.#seat, priorityClass);
      this.#hasTaken = true;
      skipLease(block);
      if (block.next === block.count) blocks.shift();
    }
  }
}
