/**
 * SeatClient: a worker thread's side of its seat in the shared memory. Leases come out of the lanes (lease-inbox.ts); results go into
 * the inbound ring and become visible once per batch.
 *
 *   done, retry … ─▶ sender ─▶ flush: publish, unpark the owner
 *
 *   I1  A lease is settled once; later results are dropped here.
 *   I2  A thread that has left its seat writes nothing there any more: the seat belongs to another.
 */
import {
  checkExtension,
  checkText,
  type DoneFields,
  type Outcome,
  readDone,
  readOutcome,
  readRetry,
  type RetryOptions,
} from "../../base/argument-checks.ts";
import { misuse } from "../../base/errors.ts";
import type {
  LeaseResult,
  RedirectChange,
  RequestInput,
  RequestLike,
} from "../../base/request-types.ts";
import { isSerializable } from "../../base/serializable.ts";
import { isObject } from "../../base/type-guards.ts";
import {
  COMMAND_STOP,
  SHARED_PARK_WORD,
  SHARED_PHASE_WORD,
  PHASE_CLOSED,
  PHASE_GONE,
  PHASE_RUNNING,
  SEAT_COMMAND_WORD,
  SEAT_DUPLICATE_WORD,
  SEAT_REFUSED_WORD,
  SEAT_THREAD_WORD,
} from "../../layout/threads/worker-seats.ts";
import {
  MESSAGE_DONE,
  MESSAGE_EXTEND,
  MESSAGE_FAIL,
  MESSAGE_PUSH,
  MESSAGE_REDIRECT,
  MESSAGE_RELEASE,
  MESSAGE_RETRY,
  MESSAGE_SEND,
} from "../../layout/threads/worker-messages.ts";
import { unpark } from "../../memory/parking.ts";
import { attachProducer, laneUsed } from "../../structures/threads/spsc-lane.ts";
import { setRingFull } from "../protocol/lane-credit.ts";
import {
  type CrewHandle,
  inboundPlace,
  openSharedMemory,
  seatWords,
} from "../protocol/shared-memory.ts";
import { type LinkFacts, unpackLinkFacts } from "../protocol/link-facts-message.ts";
import { NOTHING_DROPPED, writeResult } from "../protocol/result-message.ts";
import { leaveSeat } from "../protocol/seat-protocol.ts";
import { createSender, flushSender, type Sender } from "../protocol/message-sender.ts";
import { sendableErrors } from "./sendable-values.ts";
import { createLinkFilter, type LinkFilter, setLinkFacts } from "./link-filter.ts";
import {
  answerAll,
  createFoundLinks,
  type FoundLinks,
  type Pushed,
  type Pushing,
  isOne,
  packFound,
  addPushed,
} from "./found-links.ts";
import { LeaseInbox } from "./lease-inbox.ts";
import { createFingerprinter, type Fingerprinter } from "./lease-fingerprint.ts";
import {
  type PushAnswer,
  type LeaseActions,
  type SendAnswer,
  WorkerLease,
} from "./worker-lease.ts";

const NO_RESULT: DoneFields = { found: undefined, errors: undefined, outcome: undefined };
const NOTHING_FOUND = { links: [], dropped: NOTHING_DROPPED };

export class SeatClient implements LeaseActions {
  readonly handle: CrewHandle;
  readonly shared: Int32Array;
  readonly seat: Int32Array;
  readonly sender: Sender;
  readonly inbox: LeaseInbox;
  /** Set once the owner has sent the facts by which this thread may decide. */
  #linkFilter: LinkFilter | undefined;
  readonly #printer: Fingerprinter;
  readonly #make = (): WorkerLease => new WorkerLease(this);
  #serial = 0;
  #isFlushing = false;
  #isClosed = false;

  constructor(handle: CrewHandle, seat: number, threadId: number) {
    this.handle = handle;
    this.shared = openSharedMemory(handle);
    this.seat = seatWords(handle.memory, seat);
    this.seat[SEAT_THREAD_WORD] = threadId + 1; // 0: no thread yet
    this.sender = createSender(attachProducer(inboundPlace(handle.memory, seat)));
    this.inbox = new LeaseInbox(handle, seat, (generation, facts) =>
      this.#onLinkFacts(generation, facts),
    );
    this.#printer = createFingerprinter(handle);
    if (handle.edge !== undefined)
      this.#onLinkFacts(handle.edge.generation, unpackLinkFacts(handle.edge.packed));
    unpark(this.shared, SHARED_PARK_WORD);
  }

  get isStopped(): boolean {
    return this.#isClosed || Atomics.load(this.seat, SEAT_COMMAND_WORD) === COMMAND_STOP;
  }

  /** True when nothing is left for now, or for good. */
  get isOver(): boolean {
    return Atomics.load(this.shared, SHARED_PHASE_WORD) !== PHASE_RUNNING;
  }

  /** True when the frontier is closed: nothing pushed from now on will be read. */
  get #isEnded(): boolean {
    return Atomics.load(this.shared, SHARED_PHASE_WORD) >= PHASE_CLOSED; // pairs with close
  }

  /** Whether messages are kept because the ring is full, and the owner may still read them. */
  get holdsWords(): boolean {
    if (this.sender.kept.length === 0) return false;
    return Atomics.load(this.shared, SHARED_PHASE_WORD) !== PHASE_GONE;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** The best lease here, which has now begun. */
  next(): WorkerLease | undefined {
    return this.inbox.next(this.#make);
  }

  /** Pushes links of a page: filtered now, admitted with its done. */
  push(
    lease: WorkerLease,
    given: Pushed,
    fields?: Partial<RequestInput>,
  ): PushAnswer | PushAnswer[] {
    checkFields(fields);
    if (lease.isSettled || this.#isClosed) return answerAll(given, "rejected");
    lease.found ??= this.#page(lease.depth + 1, lease.rule);
    return this.#sift({ given, fields, base: lease.url }, lease.found as FoundLinks);
  }

  /** Pushes links that belong to no page. Answers `full` when the ring is full; nothing was taken then. */
  pushOutsideVisit(
    given: Pushed,
    isClosing: boolean,
    fields?: Partial<RequestInput>,
  ): PushAnswer | PushAnswer[] {
    checkFields(fields);
    if (this.#isClosed || isClosing || this.#isEnded) return answerAll(given, "rejected");
    if (this.inbox.hasMessages()) this.inbox.pull(); // a thread that only pushes reads rules here
    this.flush();
    if (this.sender.kept.length > 0) return answerAll(given, "full");
    const page = this.#page(0, undefined);
    const answers = this.#sift({ given, fields, base: undefined }, page);
    this.#send(MESSAGE_PUSH, 0, page, undefined);
    this.flush();
    if (!this.#isEnded) return answers;
    // The frontier closed meanwhile. Whether it has read this message is unknown (I4 of the hub).
    return typeof answers === "string" ? "rejected" : answers.map(() => "rejected");
  }

  /** Everything that may throw happens before the lease is settled: otherwise the lease could not be ended any more (I1). */
  done(lease: WorkerLease, result: LeaseResult | undefined): void {
    const { found, errors, outcome } = result === undefined ? NO_RESULT : readDone(result);
    if (lease.isSettled || this.#isClosed) return;
    if (found !== undefined) this.push(lease, found as readonly RequestLike[]);
    const page = lease.found as FoundLinks | undefined;
    const isBare = errors === undefined && outcome === undefined;
    const extras = isBare ? undefined : { errors: sendableErrors(errors), outcome };
    const packed = packFound(page, extras);
    if (!this.#settle(lease)) return;
    lease.found = undefined;
    this.#write(MESSAGE_DONE, lease.id, page, packed);
  }

  retry(lease: WorkerLease, options: RetryOptions | undefined): void {
    this.#end(lease, MESSAGE_RETRY, options === undefined ? undefined : readRetry(options));
  }

  fail(lease: WorkerLease, reason?: string, outcome?: Outcome): void {
    checkText(reason, "reason");
    this.#end(lease, MESSAGE_FAIL, { reason, outcome: readOutcome(outcome) });
  }

  release(lease: WorkerLease): void {
    this.#end(lease, MESSAGE_RELEASE, undefined);
  }

  redirect(lease: WorkerLease, url: string, change: RedirectChange | undefined): void {
    if (typeof url !== "string") throw misuse("ARGUMENT_INVALID", "url", url, "a string");
    const extras = change === undefined ? { url } : { url, change };
    if (!isSerializable(change)) {
      throw misuse("ARGUMENT_INVALID", "change", change, "a value that msgpack can encode");
    }
    if (!lease.isSettled) this.#send(MESSAGE_REDIRECT, lease.id, undefined, extras);
  }

  extend(lease: WorkerLease, ms: number): void {
    checkExtension(ms);
    if (!lease.isSettled) this.#send(MESSAGE_EXTEND, lease.id, undefined, { ms });
  }

  /** Sends a value to the pool's listeners, after everything sent before. */
  send(lease: WorkerLease, value: unknown): SendAnswer {
    if (!isSerializable(value)) {
      throw misuse("ARGUMENT_INVALID", "value", value, "what msgpack can carry");
    }
    if (lease.isSettled || this.#isClosed || this.#isEnded) return "rejected";
    this.flush();
    if (this.sender.kept.length > 0) return "full";
    this.#send(MESSAGE_SEND, lease.id, undefined, { value });
    return "sent";
  }

  /** Ends an expired or overdue lease here: later results of its handler are dropped. */
  forget(lease: WorkerLease): void {
    lease.isSettled = true;
    lease.found = undefined;
  }

  /** Sends a message without links; `kind` of MESSAGE_*. */
  sendFault(kind: number, id: number, extras: unknown): void {
    this.#send(kind, id, undefined, extras);
  }

  ruleName(number: number): string {
    return this.inbox.ruleName(number);
  }

  fingerprint(lease: WorkerLease): string {
    return this.#printer(lease);
  }

  /** Makes all messages so far visible to the owner. */
  flush(): void {
    if (this.#isClosed) return; // I2
    if (flushSender(this.sender)) unpark(this.shared, SHARED_PARK_WORD);
    setRingFull(this.seat, this.sender.kept.length > 0);
  }

  /** Whether a full ring has room again. */
  hasRoom(): boolean {
    return laneUsed(this.sender.lane) < this.sender.lane.capacity;
  }

  /** Leaves the seat: unsettled leases return. */
  leave(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    leaveSeat(this.seat);
    unpark(this.shared, SHARED_PARK_WORD);
  }

  #onLinkFacts(generation: number, facts: LinkFacts): void {
    this.#linkFilter ??= createLinkFilter(this.handle, this.shared);
    setLinkFacts(this.#linkFilter, generation, facts);
  }

  #settle(lease: WorkerLease): boolean {
    if (lease.isSettled || this.#isClosed) return false;
    lease.isSettled = true;
    return true;
  }

  #page(depth: number, rule: string | undefined): FoundLinks {
    this.#serial = (this.#serial + 1) & 0x3fff_ffff;
    return createFoundLinks(this.#serial, depth, rule);
  }

  #sift(pushing: Pushing, page: FoundLinks): PushAnswer | PushAnswer[] {
    const answers: PushAnswer[] = [];
    const known = page.dropped[0] as number;
    const dropped = addPushed(this.#linkFilter, page, pushing, answers);
    const duplicates = (page.dropped[0] as number) - known;
    this.seat[SEAT_REFUSED_WORD] = (this.seat[SEAT_REFUSED_WORD] as number) + dropped;
    this.seat[SEAT_DUPLICATE_WORD] = (this.seat[SEAT_DUPLICATE_WORD] as number) + duplicates;
    return isOne(pushing.given) ? (answers[0] as PushAnswer) : answers;
  }

  #send(kind: number, id: number, page: FoundLinks | undefined, extras: unknown): void {
    this.#write(kind, id, page, packFound(page, extras));
  }

  #end(lease: WorkerLease, kind: number, extras: unknown): void {
    if (lease.isSettled || this.#isClosed) return;
    const packed = packFound(undefined, extras);
    if (this.#settle(lease)) this.#write(kind, lease.id, undefined, packed);
  }

  #write(
    kind: number,
    id: number,
    page: FoundLinks | undefined,
    extras: Uint8Array | undefined,
  ): void {
    if (this.#isClosed) return; // I2
    const { links, dropped } = page ?? NOTHING_FOUND;
    writeResult(this.sender, { kind, id, links, extras, dropped });
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    queueMicrotask(() => {
      this.#isFlushing = false;
      this.flush();
    });
  }
}

/** A second link in place of fields is misuse: it would be lost. */
function checkFields(fields: unknown): void {
  if (fields === undefined || isObject(fields)) return;
  throw misuse("ARGUMENT_INVALID", "fields", fields, "an object of request fields");
}
