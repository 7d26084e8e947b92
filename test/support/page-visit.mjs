/** Handlers that do what a page's author writes: links as they stand in it, and values for the owner. */
import { inspect } from "node:util";
import { workerData } from "node:worker_threads";
export default function visit(lease, context) {
  if (lease.depth > 0) return;
  context.push(["/list", "near", "?q=1", "//other.example/x", "https://a.example/abs"]);
  context.push(new URL("https://a.example/object"));
  context.push("/first", { priority: 7 });
  context.push([new URL("https://a.example/two"), { url: "/three", priority: 9 }], { priority: 5 });
  lease.done({ found: ["/found", { url: "asked", depth: 0 }] });
}

/** Sends its number and more, then links; the owner has them before it is done. */
export function sends(lease, context) {
  const number = Number(new URL(lease.url).pathname.slice(1));
  context.send({ number, bytes: new Uint8Array([1, 2]), at: new Date(number) });
  context.send(`second of ${number}`);
  if (number === 1) context.push("/2", { handler: "sends" });
}

/** Sends until there is no room, while the owner stands still; says so, and how much fitted. */
export function fills(_, context) {
  const words = new Int32Array(workerData.words);
  const text = "x".repeat(4_000);
  let sent = 0;
  while (context.send({ text }) === "sent") sent++;
  Atomics.store(words, 1, sent);
  Atomics.store(words, 0, 1);
  Atomics.notify(words, 0);
}

/** Sends what can not be sent, and after its end. */
export function sendsWrong(lease, context) {
  const said = [];
  try {
    context.send(() => 1);
  } catch (error) {
    said.push(error.code, error.message);
  }
  context.send(said);
  lease.done();
  if (context.send("late") !== "rejected") throw new Error("sent late");
}

/** Sends, and dies. */
export function sendsAndDies(_lease, context) {
  context.send("last words");
  queueMicrotask(() => queueMicrotask(() => process.exit(1)));
  return new Promise(() => undefined);
}

/** Sends what a console would show of its lease. */
export function shows(lease, context) {
  context.send(inspect(lease));
  context.send(JSON.stringify(lease));
}
