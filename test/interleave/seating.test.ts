/**
 * One seat, two threads that want it, one after the other, and the owner: every order of their steps. One of the threads may die at
 * any of its own; the owner finds that out, or hears that it left, and makes the seat ready for the next. Rings and seating are
 * the real code.
 */
import { describe, expect, it } from "vitest";
import * as crew from "../../src/layout/threads/worker-seats.ts";
import * as layout from "../../src/layout/threads/spsc-lane.ts";
import {
  attachConsumer,
  attachProducer,
  createSpscLane,
  type LaneConsumer,
  laneNext,
  spscBytes,
} from "../../src/structures/threads/spsc-lane.ts";
import { HEARTBEAT_GONE, HEARTBEAT_ALIVE } from "../../src/workers/protocol/seat-protocol.ts";
import {
  bindSteps,
  explore,
  kill,
  loadSteps,
  type Machine,
  type StepApi,
  type Steps,
  type Thread,
} from "../support/interleave.ts";

const FILES = ["src/structures/threads/spsc-lane.ts", "src/workers/protocol/seat-protocol.ts"];

/** What happens, and what is done in the wrong order. */
interface Play {
  /** Of the threads 0 and 1: the one that dies, at whatever step. */
  readonly dies?: number;
  /** The second one comes when the first has left. */
  readonly isLater?: boolean;
  /** The thread stands up before it has published what it says. */
  readonly leavesEarly?: boolean;
  /** The owner frees the seat before it has emptied the ring. */
  readonly freesEarly?: boolean;
  /** Threads begin a second wait once they have arrived. */
  readonly beatsMore?: boolean;
  /** The thread is there before its first wait has begun. */
  readonly arrivesEarly?: boolean;
  /** Both threads come with the same ticket. */
  readonly areTicketsEqual?: boolean;
  /** The owner empties the ring before it has copied out what was published. */
  readonly emptiesEarly?: boolean;
}

function assert(condition: boolean, invariant: string): void {
  if (!condition) throw new Error(invariant);
}

const FREE = { ...layout, ...crew, VERIFY: false, assert };

function* call(api: StepApi, name: string, ...given: unknown[]) {
  return yield* (api[name] as StepApi[string])(...given);
}

/** The seat, its inbound ring, and what everybody knows of them. */
class Scene {
  readonly api: StepApi;
  readonly machine: Machine;
  readonly play: Play;
  readonly place = { buffer: new SharedArrayBuffer(spscBytes(2)), offset: 0 };
  readonly seat = new Int32Array(new SharedArrayBuffer(crew.SEAT_HEADER_BYTES));
  /** Who sat down last, and whether it has begun its first wait and arrived. */
  sitting = -1;
  hasArrived = false;
  /** Who has died with a wait that the owner can miss. */
  missed = -1;
  /** Who has published something, and of whom it was heard. */
  readonly said: number[] = [];
  readonly heard: number[] = [];
  ring: LaneConsumer | undefined;
  woken = 0;

  constructor(steps: Steps, machine: Machine, play: Play) {
    this.api = bindSteps(steps, machine, FREE);
    this.machine = machine;
    this.play = play;
    createSpscLane(this.place, 2);
  }

  *sit(who: number): Thread {
    const { api, seat, play } = this;
    if (who === 1 && play.isLater === true) {
      yield;
      const state = seat[crew.SEAT_STATE_WORD];
      this.machine.logs[this.machine.current] += `s${state}`;
      if (state !== crew.SEAT_FREE || this.said.length === 0) return;
    }
    const ticket = crew.SEAT_TICKET_MIN + (play.areTicketsEqual === true ? 0 : who);
    if ((yield* call(api, "claimSeat", seat, ticket)) !== true) return;
    this.sitting = who;
    this.hasArrived = false;
    if (play.arrivesEarly !== true) yield* call(api, "firstBeat", seat, ticket);
    if ((yield* call(api, "arrive", seat, ticket)) !== true) return;
    this.sitting = who;
    this.hasArrived = true;
    if (play.arrivesEarly === true) yield* call(api, "firstBeat", seat, crew.SEAT_TAKEN);
    if (play.beatsMore === true) yield* call(api, "nextBeat", seat);
    if (who === 0 && play.leavesEarly === true) yield* call(api, "leaveSeat", seat);
    const lane = attachProducer(this.place);
    yield* call(api, "laneSend", lane, Uint8Array.of(who), 0, 1);
    yield* call(api, "lanePublish", lane);
    this.said.push(who);
    if (who === 0 && play.leavesEarly !== true) yield* call(api, "leaveSeat", seat);
  }

  *die(): Thread {
    yield;
    const dies = this.play.dies as number;
    const isWaiting = this.machine.waits.some(({ thread }) => thread === dies);
    // Who has not arrived is missed by the clock, who has by a wait that it has counted and the owner has not used up.
    const left = (this.seat[crew.SEAT_BEATS_WORD] as number) + 1 - this.woken;
    const isMissed = !this.hasArrived || (isWaiting && left > 0);
    if (this.sitting === dies && isMissed) this.missed = dies;
    kill(this.machine, dies);
  }

  *turn(): Thread {
    const { api, seat } = this;
    const state = yield* call(api, "seatState", seat);
    if (state === crew.SEAT_FREE) return;
    if ((state as number) >= crew.SEAT_TICKET_MIN) {
      // However slow it is: for this owner COMING_MS are over.
      if ((yield* call(api, "reclaimSeat", seat, state)) !== true) return;
    }
    this.ring ??= attachConsumer(this.place);
    if (state === crew.SEAT_TAKEN) {
      const pulse = yield* call(api, "checkBeat", seat, this.woken);
      if (pulse === HEARTBEAT_ALIVE) this.woken++;
      if (pulse !== HEARTBEAT_GONE) return;
      const isDead = this.machine.killed.has(this.sitting);
      assert(isDead || seat[crew.SEAT_STATE_WORD] === crew.SEAT_LEFT, "taken for dead");
    }
    yield* this.bury();
  }

  *bury(): Thread {
    const { api, play, seat } = this;
    if (play.emptiesEarly !== true) yield* this.take();
    yield* call(api, "emptySeat", seat);
    if (play.freesEarly === true) yield* call(api, "freeSeat", seat);
    yield* call(api, "createSpscLane", this.place, 2);
    if (play.emptiesEarly === true) yield* this.take();
    this.ring = undefined;
    this.woken = 0;
    if (play.freesEarly !== true) yield* call(api, "freeSeat", seat);
  }

  *take(): Thread {
    const ring = this.ring as LaneConsumer;
    while ((yield* call(this.api, "laneNext", ring)) === true) {
      this.heard.push(ring.source[ring.start] as number);
      yield* call(this.api, "laneDrop", ring);
    }
  }

  key(): string {
    const { place, seat, sitting, said, heard, woken, ring } = this;
    const words = [...seat.subarray(0, 1), ...seat.subarray(96, 104)];
    const bytes = Buffer.from(place.buffer).toString("latin1");
    const cursors = `${woken}${ring?.head}${ring?.tailSeen}`;
    return `${bytes}${words}|${this.hasArrived}|${sitting}${said}|${heard}|${cursors}`;
  }

  /** Once all have ended: the owner goes on for as long as it takes. */
  check(): void {
    for (let more = 0; more < 4; more++) for (const _ of this.turn());
    const { sitting, missed, seat, place } = this;
    const isFree = seat[crew.SEAT_STATE_WORD] === crew.SEAT_FREE;
    if (missed >= 0) assert(sitting !== missed || isFree, "a dead thread has its seat");
    const ring = this.ring ?? attachConsumer(place);
    const heard = [...this.heard];
    while (laneNext(ring)) {
      heard.push(ring.source[ring.start] as number);
      ring.head = (ring.head + ring.held) | 0;
    }
    assert(heard.sort().join() === [...this.said].sort().join(), "each word is heard once");
  }
}

/** How many states there are. */
function run(steps: Steps, play: Play = {}): number {
  return explore((machine) => {
    const scene = new Scene(steps, machine, play);
    const isFirst = play.isLater !== true;
    function* own(): Thread {
      yield* scene.turn();
      if (isFirst) yield* scene.turn();
    }
    const threads = [scene.sit(0), scene.sit(1), own()];
    if (play.dies !== undefined) threads.push(scene.die());
    return { threads, key: () => scene.key(), check: () => scene.check() };
  });
}

describe("a seat that one thread after another has, in every order of steps", () => {
  const real = loadSteps(FILES);
  const broken = (from: string, to: string): Steps => loadSteps(FILES, [[from, to]]);

  it("loses no word, and no live worker counts as dead, whichever leaves", () => {
    expect(run(real)).toBeGreaterThan(1_000);
    expect(run(real, { isLater: true })).toBeGreaterThan(300);
  });

  it.each([0, 1])(
    "is free again when thread %d has died, and what it had said is heard",
    (dies) => {
      expect(run(real, { dies })).toBeGreaterThan(1_000);
    },
  );

  it.each<[string, Play]>([
    ["a thread stands up before it has said its last word", { leavesEarly: true }],
    ["the owner frees a seat before its ring is empty", { freesEarly: true }],
    ["the owner empties the ring of one that left before it reads it", { emptiesEarly: true }],
  ])("is caught when %s", (_, play) => {
    expect(() => run(real, play)).toThrow(/each word is heard once/);
  });

  it("is caught when two threads may get the same seat", () => {
    const exchange =
      "Atomics.compareExchange(seat, SEAT_STATE_WORD, SEAT_FREE, ticket) === SEAT_FREE";
    const looks =
      "Atomics.load(seat, SEAT_STATE_WORD) === SEAT_FREE && Atomics.store(seat, SEAT_STATE_WORD, ticket) === ticket";
    expect(() => run(broken(exchange, looks))).toThrow(/each word is heard once/);
  });

  it("is caught when a wait is counted before it begins", () => {
    const wait = "const { value } = Atomics.waitAsync(seat, SEAT_BEATS_WORD, count);";
    const store = "Atomics.store(seat, SEAT_BEATS_WORD, (count + 1) | 0);";
    const early = loadSteps(FILES, [
      [store, ""],
      [wait, `${store} const { value } = Atomics.waitAsync(seat, SEAT_BEATS_WORD, count + 1);`],
    ]);
    expect(() => run(early, { beatsMore: true })).toThrow(/taken for dead/);
  });

  it("is caught when the owner reads the count after it has woken", () => {
    const late = loadSteps(FILES, [
      ["const left = beatsLeft(seat, woken);", ""],
      ["return left > 0 ?", "return beatsLeft(seat, woken) > 0 ?"],
    ]);
    expect(() => run(late, { beatsMore: true })).toThrow(/taken for dead/);
  });

  it("is caught when waits of one that left stay at the seat", () => {
    const pulse = broken("Atomics.notify(seat, SEAT_BEATS_WORD);", "");
    expect(() => run(pulse, { dies: 1, beatsMore: true })).toThrow(/a dead thread has its seat/);
    const state = broken("Atomics.notify(seat, SEAT_STATE_WORD);", "");
    expect(() => run(state, { dies: 1 })).toThrow(/a dead thread has its seat/);
  });

  it("is caught when a thread arrives before its first wait, or with a ticket that another has had (I1, I4)", () => {
    expect(() => run(real, { arrivesEarly: true })).toThrow(/taken for dead/);
    expect(() => run(real, { areTicketsEqual: true })).toThrow();
    const blind =
      "return Atomics.compareExchange(seat, SEAT_STATE_WORD, ticket, SEAT_TAKEN) === ticket;";
    const stores = "return Atomics.store(seat, SEAT_STATE_WORD, SEAT_TAKEN) === SEAT_TAKEN;";
    expect(() => run(broken(blind, stores))).toThrow();
  });

  it("is caught when nobody takes a seat back from who did not arrive", () => {
    const back =
      "return Atomics.compareExchange(seat, SEAT_STATE_WORD, ticket, SEAT_LEFT) === ticket;";
    expect(() => run(broken(back, "return false;"), { dies: 0 })).toThrow(
      /a dead thread has its seat/,
    );
  });
});
