/**
 * The adapter of peers in Java, driven to its end with stand-ins for WebMagic and URLFrontier: small classes of ours with the methods that
 * the drivers call (test/support/peers), as a folder of sources. Whoever gives the real one, or jars, gets numbers in the same way.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import type * as Run from "../../bench/cases/peers/run.ts";
import { hasProgram } from "../../bench/peers/compiled.ts";
import { packageRoot } from "../support/package.ts";
import { skipUnless } from "../support/skip.ts";

const SOURCES = fileURLToPath(new URL("../support/peers/webmagic", import.meta.url));
const URLFRONTIER = fileURLToPath(new URL("../support/peers/urlfrontier", import.meta.url));
const VARIABLES = ["WEBMAGIC_CLASSPATH", "URLFRONTIER_CLASSPATH"] as const;
const before = VARIABLES.map((name) => process.env[name]);
afterAll(() => {
  for (const [at, name] of VARIABLES.entries()) {
    if (before[at] === undefined) delete process.env[name];
    else process.env[name] = before[at];
  }
});

/** The benchmarks as they run: what is made of them in build/. */
async function benchmarks(): Promise<typeof Run> {
  execFileSync(process.execPath, [`${packageRoot}bench/run.mjs`, "--no-build", "--list"]);
  return (await import(`${packageRoot}build/bench/cases/peers/run.js`)) as typeof Run;
}

describe("a peer in Java", () => {
  it("is told as not measured, with what it takes, where nobody names its jars", async () => {
    const { peerMissing } = await benchmarks();
    delete process.env.WEBMAGIC_CLASSPATH;
    const why = peerMissing("webmagic", { urls: 2_000 }, false);
    expect(why).toContain("WEBMAGIC_CLASSPATH, a class path with webmagic-core");
  });

  it("goes through every step where somebody does: numbers, lost and doubled, kill and resume", async (context) => {
    skipUnless(context, hasProgram("javac", "-version"), "no Java compiler on the PATH");
    process.env.WEBMAGIC_CLASSPATH = SOURCES;
    const { openGround, peerMissing, tally } = await benchmarks();
    expect(peerMissing("webmagic", { urls: 2_000 }, true)).toBeUndefined();
    const ground = openGround("webmagic", { urls: 2_000 });
    const memory = await ground.course("memory");
    expect(tally(ground.wanted, memory.polled)).toEqual({ lost: 0, doubled: 0, foreign: 0 });
    const { answer } = memory;
    expect(answer).toMatchObject({ pushed: 2_000, accepted: ground.wanted.size });
    expect(answer.doneNs).toBeUndefined(); // it has no such word
    for (const field of ["pushNs", "pollNs", "openNs", "peakBytes", "longestCallNs"] as const) {
      expect([field, answer[field] > 0]).toEqual([field, true]);
    }
    const fill = await ground.course("fill");
    const resume = await ground.course("resume");
    const counts = tally(ground.wanted, [...fill.polled, ...resume.polled]);
    // The stand-in knows nothing of what it handed out.
    expect(counts).toEqual({ lost: 0, doubled: fill.polled.length, foreign: 0 });
    ground.close();
  });

  it("has every URL out of URLFrontier, whose queues give nothing more while what was asked is under way", async (context) => {
    skipUnless(context, hasProgram("javac", "-version"), "no Java compiler on the PATH");
    process.env.URLFRONTIER_CLASSPATH = URLFRONTIER;
    const { openGround, tally } = await benchmarks();
    const ground = openGround("urlfrontier", { urls: 2_000 });
    const { answer, polled } = await ground.course("memory");
    expect(answer).toMatchObject({ pushed: 2_000, accepted: ground.wanted.size });
    expect(tally(ground.wanted, polled)).toEqual({ lost: 0, doubled: 0, foreign: 0 });
    expect(answer.doneNs).toBeGreaterThan(0);
    ground.close();
  });
});
