/**
 * Desk: a worker thread's seat at the crew's memory. Leases come out of the lanes, best class first; results go into the
 * inbound ring and become visible once per batch.
 *
 *   lanes 0 … 3 ─▶ pull: blocks are copied out ─▶ next(): one lease begins, `taken` is stored ─▶ handler
 *   done, retry … ─▶ sender ─▶ flush: publish, unpark the owner
 *
 *   I1  `taken` of a class counts the leases begun, in the order of that lane, and is stored before the lease is seen:
 *       when this thread dies, the owner knows which had begun.
 *   I2  A lease is settled once; what comes after is dropped here.
 *   I3  A lease that ran out before it began never begins: it counts as taken, and as nothing else. What is remembered of
 *       such leases is of those laid out and not begun, no more than a window of them.
 */
import { FrontierError, misuse } from "../../base/errors.ts";
import {
  COMMAND_STOP,
  CREW_PARK_WORD,
  CREW_PHASE_WORD,
  CREW_SEATS,
  LANE_CLASSES,
  PHASE_CLOSED,
  PHASE_RUNNING,
  SEAT_CALLED_WORD,
  SEAT_COMMAND_WORD,
  SEAT_REFUSED_WORD,
  SEAT_THREAD_WORD,
} from "../../layout/crew.ts";
import {
  MESSAGE_CANCEL,
  MESSAGE_DONE,
  MESSAGE_EDGE,
  MESSAGE_EXTEND,
  MESSAGE_FAIL,
  MESSAGE_LEASES,
  MESSAGE_PUSH,
  MESSAGE_REDIRECT,
  MESSAGE_RELEASE,
  MESSAGE_RETRY,
  MESSAGE_RULE,
} from "../../layout/message.ts";
import { unpark } from "../../memory/parking.ts";
import {
  attachConsumer,
  attachProducer,
  type LaneConsumer,
  laneDrop,
  laneFree,
  laneIsEmpty,
  laneNext,
  laneUsed,
} from "../../structures/spsc-lane.ts";
import { begunOf, countBegun, sayFull } from "../protocol/credit.ts";
import { type CrewHandle, inboundPlace, lanePlace, openCrew, seatWords } from "../protocol/crew.ts";
import { type EdgeFacts, edgeGeneration, readEdge, unpackEdge } from "../protocol/edge-message.ts";
import {
  type CancelFields,
  type LeaseBlock,
  nextId,
  openBlock,
  readCancel,
  readLease,
  skipLease,
} from "../protocol/lease-message.ts";
import { pack } from "../protocol/pack.ts";
import { NOTHING_DROPPED, writeResult } from "../protocol/result-message.ts";
import { sitDown, standUp } from "../protocol/seating.ts";
import { createSender, flushSender, type Sender } from "../protocol/sender.ts";
import { createEdge, type Edge, type Page, siftLinks, takeFacts } from "./edge.ts";
import { createPrinter, type Printer } from "./printer.ts";
import {
  type PushAnswer,
  type RemoteDesk,
  type RequestLike,
  WorkerLease,
  type WorkerOutcome,
  type WorkerRedirect,
  type WorkerResult,
  type WorkerRetry,
} from "./worker-lease.ts";

/** What a page has pushed: plain links sifted, and requests as they are. */
interface Found extends Page {
  /** Requests that are more than a URL, and all links in order once there is one. */
  requests: RequestLike[] | undefined;
}

export class Desk implements RemoteDesk {
  readonly handle: CrewHandle;
  readonly crew: Int32Array;
  readonly seat: Int32Array;
  readonly sender: Sender;
  /** Told of a lease that has run out. */
  onCancel: ((id: number) => void) | undefined;
  /** Once the owner has said what may be decided here. */
  #edge: Edge | undefined;
  readonly #printer: Printer;
  readonly #lanes: LaneConsumer[] = [];
  readonly #blocks: LeaseBlock[][] = [];
  readonly #rules: string[] = [];
  /** Leases that ran out before they began. */
  readonly #cancelled = new Set<number>();
  /** Leases were taken since the owner was told of it. */
  #hasTaken = false;
  #serial = 0;
  #isFlushing = false;
  #isClosed = false;

  constructor(handle: CrewHandle, seat: number, threadId: number) {
    this.handle = handle;
    this.crew = openCrew(handle);
    this.seat = seatWords(handle.memory, seat);
    this.seat[SEAT_THREAD_WORD] = threadId + 1; // 0: nobody yet
    this.sender = createSender(attachProducer(inboundPlace(handle.memory, seat)));
    for (let each = 0; each < LANE_CLASSES; each++) {
      this.#lanes.push(attachConsumer(lanePlace(handle.memory, seat, each)));
      this.#blocks.push([]);
    }
    this.#printer = createPrinter(handle);
    if (handle.edge !== undefined)
      this.#hear(handle.edge.generation, unpackEdge(handle.edge.packed));
    unpark(this.crew, CREW_PARK_WORD);
  }

  get isStopped(): boolean {
    return this.#isClosed || Atomics.load(this.seat, SEAT_COMMAND_WORD) === COMMAND_STOP;
  }

  /** Nothing is left for now, or for good. */
  get isOver(): boolean {
    return Atomics.load(this.crew, CREW_PHASE_WORD) !== PHASE_RUNNING;
  }

  /** The frontier is closed: nothing that is pushed from now on will be seen. */
  get #isEnded(): boolean {
    return Atomics.load(this.crew, CREW_PHASE_WORD) === PHASE_CLOSED; // pairs with close
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Whether the lanes hold anything not looked at yet. */
  hasMail(): boolean {
    for (const lane of this.#lanes) if (!laneIsEmpty(lane)) return true;
    return false;
  }

  /** Whether leases were pulled that have not begun. */
  hasLease(): boolean {
    for (const blocks of this.#blocks) if (blocks.length > 0) return true;
    return false;
  }

  /** Leases that ran out before they began, and are still here or to come. */
  get cancelledCount(): number {
    return this.#cancelled.size;
  }

  /** Copies what has come out of the lanes, so that notices are heard while no lease can begin. */
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
    if (isFreed) unpark(this.crew, CREW_PARK_WORD);
  }

  /** The best lease here; it has begun. */
  next(): WorkerLease | undefined {
    for (let each = 0; each < LANE_CLASSES; each++) {
      if (this.#cancelled.size > 0) this.#skipCancelled(each);
      const blocks = this.#blocks[each] as LeaseBlock[];
      const block = blocks[0];
      if (block === undefined) continue;
      const { seat } = this;
      countBegun(seat, each); // I1
      this.#hasTaken = true;
      seat[SEAT_CALLED_WORD] = (seat[SEAT_CALLED_WORD] as number) + 1;
      const lease = new WorkerLease(this);
      readLease(block, lease);
      if (block.next === block.count) blocks.shift();
      return lease;
    }
    return undefined;
  }

  /** Links of a page: sifted now, admitted with its done. */
  push(lease: WorkerLease, given: RequestLike | Iterable<RequestLike>): PushAnswer | PushAnswer[] {
    if (lease.isSettled || this.#isClosed) return answerAll(given, "rejected");
    lease.found ??= this.#page(lease.depth + 1, lease.rule);
    return this.#sift(given, lease.found as Found);
  }

  /** Links of nobody's page. `full`: the ring is full, and nothing of it was taken. */
  pushOutside(
    given: RequestLike | Iterable<RequestLike>,
    isClosing: boolean,
  ): PushAnswer | PushAnswer[] {
    if (this.#isClosed || isClosing || this.#isEnded) return answerAll(given, "rejected");
    if (this.hasMail()) this.pull(); // who only pushes hears of the rules here
    this.flush();
    if (this.sender.kept.length > 0) return answerAll(given, "full");
    const page = this.#page(0, undefined);
    const answers = this.#sift(given, page);
    this.#send(MESSAGE_PUSH, 0, page, undefined);
    this.flush();
    if (!this.#isEnded) return answers;
    // The frontier closed meanwhile: whether it has seen this, nobody can say (I6 of the hub).
    return typeof answers === "string" ? "rejected" : answers.map(() => "rejected");
  }

  done(lease: WorkerLease, result: WorkerResult | undefined): void {
    if (!this.#settle(lease)) return;
    const { found, errors, outcome } = result ?? {};
    let page = lease.found as Found | undefined;
    lease.found = undefined;
    if (found !== undefined) {
      page ??= this.#page(lease.depth + 1, lease.rule);
      this.#sift(found, page);
    }
    const extras = errors === undefined && outcome === undefined ? undefined : { errors, outcome };
    this.#send(MESSAGE_DONE, lease.id, page, extras);
  }

  retry(lease: WorkerLease, options: WorkerRetry | undefined): void {
    if (this.#settle(lease)) this.#send(MESSAGE_RETRY, lease.id, undefined, options);
  }

  fail(lease: WorkerLease, reason?: string, outcome?: WorkerOutcome): void {
    if (this.#settle(lease)) this.#send(MESSAGE_FAIL, lease.id, undefined, { reason, outcome });
  }

  release(lease: WorkerLease): void {
    if (this.#settle(lease)) this.#send(MESSAGE_RELEASE, lease.id, undefined, undefined);
  }

  redirect(lease: WorkerLease, url: string, change: WorkerRedirect | undefined): void {
    if (typeof url !== "string") throw misuse("ARGUMENT_INVALID", "url", url, "a string");
    const extras = change === undefined ? { url } : { url, change };
    if (!lease.isSettled) this.#send(MESSAGE_REDIRECT, lease.id, undefined, extras);
  }

  extend(lease: WorkerLease, ms: number): void {
    if (!(ms > 0)) throw misuse("ARGUMENT_INVALID", "ms", ms, "a number of more than 0");
    if (!lease.isSettled) this.#send(MESSAGE_EXTEND, lease.id, undefined, { ms });
  }

  /** A lease that ran out, or timed out: whatever its handler still says is dropped. */
  forget(lease: WorkerLease): void {
    lease.isSettled = true;
    lease.found = undefined;
  }

  /** Any message of few words; `kind` of MESSAGE_*. */
  tell(kind: number, id: number, extras: unknown): void {
    this.#send(kind, id, undefined, extras);
  }

  ruleName(number: number): string {
    return this.#rules[number] ?? "";
  }

  fingerprint(lease: WorkerLease): string {
    return this.#printer(lease);
  }

  /** Makes everything said so far visible to the owner. */
  flush(): void {
    if (flushSender(this.sender)) unpark(this.crew, CREW_PARK_WORD);
    sayFull(this.seat, this.sender.kept.length > 0);
  }

  /** Where leases were taken since, there is room for more. */
  tellTaken(): void {
    if (!this.#hasTaken) return;
    this.#hasTaken = false;
    unpark(this.crew, CREW_PARK_WORD);
  }

  /** Whether a full ring has room again. */
  hasRoom(): boolean {
    return laneUsed(this.sender.lane) < this.sender.lane.capacity;
  }

  /** Leaves the seat: leases not settled go back. */
  leave(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    standUp(this.seat);
    unpark(this.crew, CREW_PARK_WORD);
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
    } else if (kind === MESSAGE_EDGE) {
      this.#hear(edgeGeneration(source, start), readEdge(source, start, size));
    }
  }

  /** Its block may be still to come: a lane is read by itself. */
  #cancel({ id, priorityClass, order }: CancelFields): void {
    const hasBegun = ((begunOf(this.seat, priorityClass) - order) | 0) > 0;
    if (hasBegun) this.onCancel?.(id);
    else this.#cancelled.add(id);
  }

  /** Goes past leases at the head of a class that have run out (I3). */
  #skipCancelled(priorityClass: number): void {
    const blocks = this.#blocks[priorityClass] as LeaseBlock[];
    for (let block = blocks[0]; block !== undefined; block = blocks[0]) {
      if (!this.#cancelled.delete(nextId(block))) return;
      countBegun(this.seat, priorityClass);
      this.#hasTaken = true;
      skipLease(block);
      if (block.next === block.count) blocks.shift();
    }
  }

  #hear(generation: number, facts: EdgeFacts): void {
    this.#edge ??= createEdge(this.handle, this.crew);
    takeFacts(this.#edge, generation, facts);
  }

  #settle(lease: WorkerLease): boolean {
    if (lease.isSettled || this.#isClosed) return false;
    lease.isSettled = true;
    return true;
  }

  #page(depth: number, rule: string | undefined): Found {
    this.#serial = (this.#serial + 1) & 0x3fff_ffff;
    return {
      links: [],
      dropped: [0, 0, 0, 0, 0, 0, 0],
      serial: this.#serial,
      depth,
      rule,
      requests: undefined,
    };
  }

  #sift(given: RequestLike | Iterable<RequestLike>, page: Found): PushAnswer | PushAnswer[] {
    const isOne = typeof given === "string" || !isIterable(given);
    const list = isOne
      ? [given as RequestLike]
      : Array.isArray(given)
        ? (given as RequestLike[])
        : [...(given as Iterable<RequestLike>)];
    const answers: PushAnswer[] = [];
    if (page.requests === undefined && areStrings(list)) {
      const dropped = siftLinks(this.#edge, list, page, answers);
      this.seat[SEAT_REFUSED_WORD] = (this.seat[SEAT_REFUSED_WORD] as number) + dropped;
    } else {
      // A request may have a key, a method, an epoch of its own: the owner decides on all of this page's from here on.
      page.requests ??= page.links.splice(0);
      for (let at = 0; at < list.length; at++) {
        page.requests.push(list[at] as RequestLike);
        answers.push("queued");
      }
    }
    return isOne ? (answers[0] as PushAnswer) : answers;
  }

  #send(kind: number, id: number, page: Found | undefined, extras: object | unknown): void {
    const requests = page?.requests;
    const all = requests === undefined ? extras : { ...(extras as object | undefined), requests };
    const packed = all === undefined ? undefined : pack(all);
    writeResult(this.sender, {
      kind,
      id,
      links: page?.links ?? [],
      extras: packed,
      dropped: page?.dropped ?? NOTHING_DROPPED,
    });
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.flush();
    });
  }
}

/** A free seat for this thread, by compare-exchange: two threads never get the same. */
export function takeSeat(handle: CrewHandle): number {
  openCrew(handle);
  for (let seat = 0; seat < CREW_SEATS; seat++) {
    if (sitDown(seatWords(handle.memory, seat))) return seat;
  }
  const expected = `at most ${CREW_SEATS} threads attached at one time`;
  throw new FrontierError("STATE_INVALID", `attach: no free seat (expected: ${expected})`);
}

function areStrings(list: readonly RequestLike[]): list is string[] {
  for (let at = 0; at < list.length; at++) if (typeof list[at] !== "string") return false;
  return true;
}

function isIterable(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

function answerAll(given: RequestLike | Iterable<RequestLike>, answer: PushAnswer) {
  if (typeof given === "string" || !isIterable(given)) return answer;
  return Array.from(given as Iterable<RequestLike>, () => answer);
}
