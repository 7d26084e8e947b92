/**
 * A handler whose thread dies during its work: the first pages are done, the next ones stay at work, and the last of them ends the thread
 * half way through writing a result. In the next thread's life all pages are done at once.
 */
import { workerData } from "node:worker_threads";
import { SHARED_PARK_WORD } from "../../build/plain/layout/threads/worker-seats.js";
import { PARK_PARKED } from "../../build/plain/memory/parking.js";
import { laneClaim } from "../../build/plain/structures/threads/spsc-lane.js";

const { doneCount, heldCount, how, isOwnerHeld } = workerData;
/** Leases held; whether a thread has died; the test's signal; the thread's last word. */
const [HELD, DYING, GO, LAST] = [0, 1, 2, 3];
const state = new Int32Array(workerData.state);
const turn = () => new Promise(setImmediate);
const ever = () => new Promise(() => setInterval(() => undefined, 1_000));

export async function diesAmid(lease, context) {
  if (lease.depth === 0) context.push({ url: `${lease.url}x`, handler: "diesAmid" });
  const page = Number(/\d+$/.exec(new URL(lease.url).pathname)?.[0] ?? -1);
  if (page < doneCount || Atomics.load(state, DYING) === 1) return;
  if (Atomics.add(state, HELD, 1) + 1 < heldCount) await ever();
  await turn(); // done results are published
  await (isOwnerHeld ? go() : parked(lease.seatClient.shared));
  Atomics.store(state, DYING, 1);
  const { lane } = lease.seatClient.sender;
  const start = laneClaim(lane, 500);
  if (start < 0) throw new Error("no room");
  lane.slots.fill(0xff, start, start + 250);
  Atomics.store(state, LAST, 1);
  Atomics.notify(state, LAST);
  await die();
}

async function go() {
  while (Atomics.load(state, GO) === 0) await turn();
}

/** Waits until the owner is parked. */
async function parked(shared) {
  while (Atomics.load(shared, SHARED_PARK_WORD) !== PARK_PARKED) await turn();
}

async function die() {
  if (how === "exits") process.exit(3);
  if (how === "throws") {
    setImmediate(() => {
      throw new Error("uncaught");
    });
  }
  const kept = [];
  while (how === "runs out of memory") kept.push(new Array(10_000).fill(kept.length));
  await ever(); // "is terminated"
}
