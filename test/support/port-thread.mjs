/** A user's own thread at a shared frontier: does workerData.job and posts the result. */
import { parentPort, workerData } from "node:worker_threads";
import { attach } from "../../dist/worker.js";

const port = attach(workerData.handle);
const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const jobs = {
  /** Pushes URLs in batches until all are taken; returns how many got each answer. */
  async push({ urls, batch }) {
    const answers = {};
    for (let at = 0; at < urls.length; ) {
      const some = urls.slice(at, at + batch);
      const said = port.push(some);
      if (said.every((one) => one === "full")) {
        answers.waited = (answers.waited ?? 0) + 1;
        await later(1);
        continue;
      }
      for (const one of said) answers[one] = (answers[one] ?? 0) + 1;
      at += some.length;
    }
    return answers;
  },
  /** On the test's signal, pushes all without waiting, and closes while the ring is full. */
  async flood({ urls, batch, word: buffer }) {
    const word = new Int32Array(buffer);
    Atomics.store(word, 0, 1);
    while (Atomics.load(word, 0) !== 2) await later(1);
    const said = [];
    for (let at = 0; at < urls.length; at += batch)
      said.push(...port.push(urls.slice(at, at + batch)));
    const closing = port.close();
    const late = port.push(urls[0]);
    Atomics.store(word, 0, 3);
    Atomics.notify(word, 0);
    await closing;
    return { said, late };
  },
  /** Pushes all without waiting; returns the answers. */
  pushOn({ urls, batch }) {
    const said = [];
    for (let at = 0; at < urls.length; at += batch)
      said.push(...port.push(urls.slice(at, at + batch)));
    return said;
  },
  /** Works until the frontier is finished; returns the URLs of its leases. */
  async work({ max }) {
    const urls = [];
    for (;;) {
      const leases = await port.take({ max });
      if (leases.length === 0) return urls;
      for (const lease of leases) {
        urls.push(lease.url);
        lease.done();
      }
    }
  },
  /** Takes the leases there are, and dies without leaving. */
  async die({ max }) {
    const leases = await port.take({ max });
    parentPort.postMessage(leases.length);
    await later(10);
    process.exit(1);
  },
  /** Takes what there is, reports it, and exits silently in the given way; `word` is the signal. */
  async goes({ max, how, word: buffer }) {
    const word = new Int32Array(buffer);
    const leases = await port.take({ max });
    parentPort.postMessage(leases.length);
    if (how === "spins") for (;;);
    while (Atomics.load(word, 0) === 0) await later(5);
    if (how === "exits") process.exit(1);
    if (how === "throws")
      setImmediate(() => {
        throw new Error("uncaught");
      });
    const kept = [];
    while (how === "fills") kept.push(new Array(100_000).fill(kept.length));
    await later(600_000);
  },
  /** Takes and closes: unsettled leases return. */
  async leave({ max }) {
    const leases = await port.take({ max });
    leases[0]?.done();
    return leases.length;
  },
};

const result = await jobs[workerData.job](workerData);
await port.close();
parentPort.postMessage(result);
