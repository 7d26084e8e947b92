/** Handlers for the tests of the pool, each named after its behaviour. */
import { workerData } from "node:worker_threads";

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Does nothing; the URL contains the number of children to push: http://…/<generations>/<children>/… */
export default async function visit(lease, context) {
  const [, generations = "0", children = "0"] = new URL(lease.url).pathname.split("/");
  const left = Number(generations) - lease.depth;
  if (!(left > 0)) return;
  const links = [];
  for (let child = 0; child < Number(children); child++) links.push(`${lease.url}-${child}`);
  context.push(links);
}

export async function tell(lease, context) {
  const { url, method, headers, priority, depth, attempt, deliveries, host, rule } = lease;
  const { parent, handler, data, fingerprint } = lease;
  const body = lease.body === undefined ? undefined : Buffer.from(lease.body).toString();
  const fields = { url, method, headers, priority, depth, attempt, deliveries, host, rule };
  const size = Buffer.isBuffer(data?.bytes) ? data.bytes.length : data?.bytes?.length;
  const told = size === undefined ? data : { size };
  context.push({
    url: `http://told.test/${encodeURIComponent(lease.url.slice(0, 100))}`,
    handler: "hold",
    data: {
      ...fields,
      url: url.slice(0, 200),
      length: url.length,
      parent,
      handler,
      body,
      fingerprint,
      told,
    },
  });
}

/** Fails its lease with what it received, so that the test can read it there. */
export async function hold(lease) {
  lease.fail("held");
}

export async function throws(lease) {
  throw new Error(`no page at ${lease.url}`);
}

/** Pushes data that msgpack cannot carry beside data that it can. */
export function pushesAny(_, context) {
  const cycle = {};
  cycle.me = cycle;
  const answers = [cycle, { f: () => 1 }, new Map([[1, 2]]), { list: [1n, undefined] }].map(
    (data, at) => context.push({ url: `http://any.test/${at}`, handler: "hold", data }),
  );
  context.push({ url: "http://any.test/cycle", handler: "hold", headers: cycle });
  context.push({ url: "http://any.test/answers", handler: "hold", data: answers });
}

/** Ends its lease with a value that throws when it is read. */
export function endsBadly(lease) {
  const fails = function* () {
    yield "http://never.test/";
    throw new RangeError("broke off");
  };
  lease.done({ found: fails() });
}

/** Reports errors that cannot be sent unchanged. */
export function tellsAny(lease) {
  const cycle = {};
  cycle.me = cycle;
  const deep = new TypeError("deep", { cause: cycle });
  lease.done({ errors: [cycle, () => 1, Symbol("s"), deep, "text"] });
}

export function throwsNothingKnown() {
  throw Object.create(null);
}

export async function dies() {
  setImmediate(() => {
    throw new Error("uncaught");
  });
  await later(60_000);
}

export function exits() {
  process.exit(7);
}

export function hangs() {
  for (;;);
}

export async function never() {
  await new Promise(() => setInterval(() => undefined, 1_000));
}

/** Dies at the first attempt, and is done at the second. */
export async function stumbles(lease) {
  if (lease.attempt === 1) process.exit(3);
}

export async function throwsAtFirst(lease) {
  if (lease.attempt === 1) throw new Error(`not yet: ${lease.url}`);
}

/** Takes its time, and pushes its links at the very end. */
export async function returnsLate(lease, context) {
  await later(20);
  context.push(`${lease.url}-late`);
}

export function fills() {
  const kept = [];
  for (;;) kept.push(new Array(100_000).fill(kept.length));
}

/** Sets this thread's clock back by an hour, and never ends. */
export async function turnsBack() {
  const { now } = Date;
  Date.now = () => now() - 3_600_000;
  await never();
}

export async function waits(_lease, { signal }) {
  while (!signal.aborted) await later(5);
}

/** Stays until its lease expires; the next time it is done at once. */
export async function stays({ deliveries }, { signal }) {
  while (deliveries === 1 && !signal.aborted) await later(5);
}

/** Redirects to the URL in its data; that page fails, so that the test can read it there. */
export async function movesOn(lease) {
  if (lease.redirects > 0) lease.fail("held");
  else lease.redirect(lease.data.to, { status: 307, priority: lease.priority + 1 });
}

export async function naps() {
  await later(5);
}

const word = (name) => new Int32Array(workerData[name]);

/** Ends its thread on the test's signal; the next time it is done at once. */
export async function diesOnWord({ attempt }) {
  if (attempt > 1) return;
  while (Atomics.load(word("word"), 0) === 0) await later(5);
  process.exit(3);
}

/** Pushes a while after it has returned. */
export function speaksLater() {
  setTimeout(() => Atomics.store(word("word"), 0, 1), 50);
}

/** Throws an uncaught error once its lease is done. */
export function throwsLater({ attempt, deliveries }) {
  if (attempt * deliveries === 1)
    setTimeout(() => {
      throw new Error("too late");
    });
}

/** Runs until the test's signal. */
export async function staysForWord() {
  while (Atomics.load(word("word"), 0) === 0) await later(5);
}

export async function staysForSecondWord() {
  while (Atomics.load(word("word"), 1) === 0) await later(5);
}

/** Reports in word 0 when it is not alone at its host; some exceed their time and end when they are aborted, some throw. */
export async function alone({ url }, { signal }) {
  const [host, page] = /host(\d+)\D+(\d+)/.exec(url).slice(1).map(Number);
  const busy = word("busy");
  if (Atomics.add(busy, host + 2, 1) !== 0) Atomics.add(busy, 0, 1);
  try {
    if (page % 5 === 1) {
      await new Promise((resolve) => signal.addEventListener("abort", () => resolve(later(10))));
      Atomics.add(busy, 1, 1);
    }
    await later(page % 3);
    if (page % 7 === 3) throw new Error("not this one");
  } finally {
    Atomics.sub(busy, host + 2, 1);
  }
}

/** Blocks its event loop until the owner has reported all earlier blocked ones: word 0 counts those, word 1 these. */
export function blocks() {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5); // longer than a burst
  const words = word("word");
  const before = Atomics.add(words, 1, 1);
  for (let told = 0; told < before; told = Atomics.load(words, 0)) {
    if (Atomics.wait(words, 0, told, 60_000) === "timed-out") throw new Error("never told");
  }
}

/** Blocks its event loop forever; word 1 reports that. */
export function standsStill() {
  const words = word("word");
  Atomics.add(words, 1, 1);
  Atomics.wait(words, 0, 0);
}

/** Records the order in which the leases of this thread began. */
export async function records(lease) {
  const order = new Int32Array(workerData.order);
  order[1 + Atomics.add(order, 0, 1)] = lease.priority;
  const until = performance.now() + 1;
  while (performance.now() < until);
}

/** Finds a page with a long URL and much data: as much returns as came. */
export async function returns(lease, context) {
  context.push({ url: `${lease.url}y`, data: { bytes: lease.data.bytes }, handler: "hold" });
}

/** Leaves work behind that ends its thread on the word's signal, and reports that there. */
export function leavesABomb() {
  const told = word("word");
  setInterval(() => {
    if (Atomics.load(told, 0) === 0) return;
    Atomics.store(told, 1, 1);
    Atomics.notify(told, 1);
    process.exit(9);
  }, 1);
}

/** Three new links, the same again twice, and one that is no page. */
export function links(_, context) {
  context.push(["http://a.test/x", "http://a.test/y", "http://a.test/x"]);
  context.push(["http://a.test/x", "mailto:me@a.test"]);
}
