/** A user's own thread that dies at the point of its work that `workerData.point` names; `word` is the signal that it waits for. */
import { parentPort, threadId, workerData } from "node:worker_threads";
import { SHARED_PARK_WORD, SEAT_PARK_WORD } from "../../build/plain/layout/threads/worker-seats.js";
import { MESSAGE_DONE, MESSAGE_PUSH } from "../../build/plain/layout/threads/worker-messages.js";
import { parkBegin, parkWait, unpark } from "../../build/plain/memory/parking.js";
import {
  laneClaim,
  lanePublish,
  laneSeal,
  laneSend,
} from "../../build/plain/structures/threads/spsc-lane.js";
import { sharedWords, seatWords } from "../../build/plain/workers/protocol/shared-memory.js";
import { NOTHING_DROPPED, writeResult } from "../../build/plain/workers/protocol/result-message.js";
import {
  arrive,
  firstBeat,
  nextBeat,
  drawTicket,
  claimSeat,
} from "../../build/plain/workers/protocol/seat-protocol.js";
import { SeatClient } from "../../build/plain/workers/remote/seat-client.js";

const { handle, point, links, seat } = workerData;
const crew = sharedWords(handle.memory);
const words = seatWords(handle.memory, seat);
const die = () => {
  parentPort.postMessage(point);
  process.exit(1);
};
const at = (name) => {
  if (point === name) die();
};

at("before it sits down");
const ticket = drawTicket(crew);
if (!claimSeat(words, ticket)) throw new Error("the seat is taken");
at("with a ticket");
unpark(crew, SHARED_PARK_WORD);
void firstBeat(words, ticket);
at("with its first wait");
if (!arrive(words, ticket)) throw new Error("too late");
at("as it arrives");
for (let wait = 1; wait < 8; wait++) void nextBeat(words);
const desk = new SeatClient(handle, seat, threadId);
unpark(crew, SHARED_PARK_WORD);
at("at its desk");

/** Waits as a pool's thread does; the event loop is blocked. */
const leases = [];
while (leases.length < 2) {
  desk.inbox.pull();
  for (let lease = desk.next(); lease !== undefined; lease = desk.next()) leases.push(lease);
  desk.inbox.publishTaken();
  if (leases.length >= 2) break;
  parkBegin(desk.seat, SEAT_PARK_WORD);
  parkWait(desk.seat, SEAT_PARK_WORD, 5);
}
at("with leases");
const { lane } = desk.sender;
const done = (id, found) => {
  const said = { kind: MESSAGE_DONE, id, links: found, extras: undefined };
  writeResult(desk.sender, { ...said, dropped: NOTHING_DROPPED });
};

// The first result is whole and visible; the thread dies in the next one.
done(leases[0].id, links.slice(0, 2));
if (!lanePublish(lane)) throw new Error("nothing to publish");
unpark(crew, SHARED_PARK_WORD);
if (point === "after it has published") die();

if (point === "after it has claimed") {
  if (laneClaim(lane, 500) < 0) throw new Error("no room");
  die();
}
if (point === "half way through its copy") {
  const start = laneClaim(lane, 500);
  lane.slots.fill(0xff, start, start + 250);
  die();
}
if (point === "after its copy") {
  const start = laneClaim(lane, 500);
  lane.slots.fill(0, start, start + 500);
  laneSeal(lane, 500);
  die();
}
if (point === "after it has sealed a result") {
  done(leases[1].id, links.slice(2, 4));
  die();
}
if (point === "between two pieces of a message") {
  // Longer than the ring: the first part is published at once.
  const record = Buffer.alloc(lane.capacity * 64 * 2);
  record.writeInt32LE(MESSAGE_PUSH, 0);
  const went = laneSend(lane, record, 0, record.length);
  if (went === 0 || went === record.length) throw new Error("no piece");
  lanePublish(lane);
  unpark(crew, SHARED_PARK_WORD);
  die();
}
if (point === "while it is parked") {
  parentPort.postMessage(point);
  for (;;) {
    parkBegin(desk.seat, SEAT_PARK_WORD);
    parkWait(desk.seat, SEAT_PARK_WORD, 600_000); // the test terminates it
  }
}
if (point === "while it leaves") {
  desk.leave();
  die();
}
throw new Error(`point: ${point}`);
