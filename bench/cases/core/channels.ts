/**
 * channels: the cost of `node:diagnostics_channel` without a subscriber.
 *
 *   asks      the package as it is: each public call checks whether a channel has a subscriber
 *   asks not  a copy of it in build/, in which that check is the constant false
 *
 * A push, a poll and a done of one URL each are the shortest calls there are: a check weighs most there. Rounds are short and many, in
 * one process, so that both sides of a pair have the same neighbours. Every round pushes URLs of its own into the same frontier: a cleared
 * one begins with cold code and new memory, which cost ten times what is measured. Checksum: how many were done.
 *
 * Estimate: three checks of a nanosecond in a push, poll and done of 5 µs: 1.00.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { type BenchCase, type Job, nowNs, numberOf, type Params } from "../../harness/case.ts";
import { urlChunk } from "../../harness/urls.ts";

const LOOK = /return \w+\.hasSubscribers\|\|\w+\.hasSubscribers\|\|\w+\.hasSubscribers/;
const DIST = fileURLToPath(new URL("../../../../dist", import.meta.url));
const COPY = fileURLToPath(new URL("../../../unobserved", import.meta.url));
const WARM_ROUNDS = 30;

export const channels: BenchCase = {
  name: "channels",
  suite: "core",
  about: "Push, poll and done of single URLs, beside a package that never checks for subscribers",
  question: "What do diagnostics channels cost without a subscriber?",
  unit: "operation",
  process: "shared",
  pairs: [["asks", "asks not"]],
  target: "the interval contains 1 and is no wider than ± 2 %",
  sizes: {
    smoke: [{ urls: 200 }],
    real: [{ urls: 1_000 }],
    suite: [{ urls: 200 }],
  },
  rounds: 200,
  setup,
};

async function setup(side: string, params: Params): Promise<Job> {
  const count = numberOf(params, "urls");
  const { openFrontier } = (await import(
    `${side === "asks" ? DIST : copyThatNeverLooks()}/index.js`
  )) as typeof import("../../../src/index.ts");
  const frontier = await openFrontier({ name: "channels", keepOpen: true });
  let [done, start] = [0, 0];
  const run = (): number => {
    const urls = urlChunk(start, count, { hosts: 100 });
    start += count;
    done = 0;
    const startNs = nowNs();
    for (const url of urls) {
      frontier.push(url);
      if (frontier.poll()?.done().late === false) done++;
    }
    return (nowNs() - startNs) / count;
  };
  for (let round = 0; round < WARM_ROUNDS; round++) run();
  return {
    run: () => ({ times: { "push, poll, done": run() } }),
    checksum: () => `${done} done`,
    close: () => frontier.close(),
  };
}

function copyThatNeverLooks(): string {
  rmSync(COPY, { recursive: true, force: true });
  cpSync(DIST, COPY, { recursive: true });
  const path = `${COPY}/chunk-engine.js`;
  const text = readFileSync(path, "utf8");
  if (text.split(LOOK).length !== 2)
    throw new Error(`${path}: no look, or several (expected: one)`);
  writeFileSync(path, text.replace(LOOK, "return false"));
  return COPY;
}
