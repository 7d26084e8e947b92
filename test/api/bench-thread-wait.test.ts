import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { ModuleKind, transpileModule } from "typescript";
import { expect, it } from "vitest";
import { THREAD_WAIT_FILE } from "../../bench/harness/thread-wait.ts";
import { skipUnless } from "../support/skip.ts";

const SOURCE = fileURLToPath(new URL("../../bench/harness/thread-wait.ts", import.meta.url));

/** Reads what the system counts of its own thread before and after the reader's answer. */
const THREAD = `
const { readFileSync } = require("node:fs");
const { parentPort, workerData } = require("node:worker_threads");
const own = () => Number(readFileSync("${THREAD_WAIT_FILE}", "latin1").split(" ")[1]);
import(workerData).then(({ openThreadWait }) => {
  const read = openThreadWait();
  const answers = [];
  for (let i = 0; i < 100; i++) answers.push([own(), read(), own()]);
  parentPort.postMessage(answers);
});`;

it("a reader of waits tells those of the thread that opened it, not those of the first thread", async (context) => {
  skipUnless(context, existsSync(THREAD_WAIT_FILE), `the system has no ${THREAD_WAIT_FILE}`);
  const options = { compilerOptions: { module: ModuleKind.ESNext } };
  const { outputText } = transpileModule(readFileSync(SOURCE, "utf8"), options);
  const workerData = `data:text/javascript,${encodeURIComponent(outputText)}`;
  const worker = new Worker(THREAD, { eval: true, workerData });
  const [answers] = (await once(worker, "message")) as [[number, number, number][]];
  await worker.terminate();
  for (const [before, told, after] of answers) {
    expect(told).toBeGreaterThanOrEqual(before);
    expect(told).toBeLessThanOrEqual(after);
  }
});
