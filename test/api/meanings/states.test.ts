/**
 * Every call in every status, through the public surface alone: the table of docs/guides/embedding.md, row by row.
 *
 *   running · paused · draining · stopping (closing, files under way) · stopped
 *
 * Each pair has a frontier of its own: two URLs of one host, one of them leased, the other pending.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Frontier, FrontierStatus, HostView, Lease } from "../../../src/index.ts";
import { A, B, codeOf, open } from "../../support/meanings.ts";

const C = "http://c.example/";
const root = mkdtempSync(join(tmpdir(), "outrider-states-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

interface Rig {
  readonly frontier: Frontier;
  readonly lease: Lease;
  readonly host: HostView;
  /** The drain that was asked for, where one was. */
  readonly drained: Promise<void> | undefined;
}

type Act = (rig: Rig) => unknown;
type Met = Exclude<FrontierStatus, "opening">;
const STATUSES: readonly Met[] = ["running", "paused", "draining", "stopping", "stopped"];

async function rigIn(status: Met): Promise<Rig> {
  const directory = status === "stopping" ? { directory: mkdtempSync(join(root, "d")) } : {};
  const { frontier } = await open(directory);
  frontier.pushMany([A, B]);
  const lease = frontier.poll() as Lease;
  const host = frontier.host("a.example");
  let drained: Promise<void> | undefined;
  if (status === "paused") frontier.pause();
  if (status === "draining") drained = frontier.drain();
  if (status === "stopping") void frontier.close();
  if (status === "stopped") await frontier.close();
  expect(frontier.status).toBe(status);
  return { frontier, lease, host, drained };
}

/** What a call says: its value, the code that it throws or rejects with, or that it waits. */
async function answerOf(act: Act, rig: Rig): Promise<unknown> {
  let value: unknown;
  const code = codeOf(() => {
    value = act(rig);
  });
  if (code !== undefined) return code;
  if (!(value instanceof Promise)) return value;
  const settled = value.catch(({ code }: { code: string }) => code);
  return Promise.race([settled, turns(10).then(() => "waits")]);
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
}

const SHUT = "FRONTIER_CLOSED";
const urls = (list: ReadonlyArray<{ url: string }>): string => list.map(({ url }) => url).join(" ");
const next = async ({ frontier }: Rig): Promise<unknown> => {
  const { done, value } = await frontier[Symbol.asyncIterator]().next();
  return done === true ? "ends" : (value as Lease).url;
};

/** name · call · while running · while paused or draining · once close has been called */
const CALLS: ReadonlyArray<readonly [string, Act, unknown, unknown, unknown]> = [
  ["push", ({ frontier }) => frontier.push(C).status, "accepted", "accepted", "closed"],
  ["pushMany", ({ frontier }) => frontier.pushMany([C]).accepted, 1, 1, 0],
  ["pushFrom", ({ frontier }) => frontier.pushFrom([C]).then((all) => all.accepted), 1, 1, SHUT],
  ["put", ({ frontier }) => frontier.put(C).status, "done", "done", "closed"],
  ["put of a lease", ({ frontier }) => frontier.put(A).status, "leased", "leased", "closed"],
  ["poll", ({ frontier }) => frontier.poll()?.url, B, undefined, undefined],
  ["pollMany", ({ frontier }) => urls(frontier.pollMany(9)), B, "", ""],
  ["take", ({ frontier }) => frontier.take().then(urls), B, "waits", ""],
  ["take, no wait", ({ frontier }) => frontier.take({ timeoutMs: 0 }).then(urls), B, "", ""],
  ["iteration", next, B, "waits", "ends"],
  ["peek", ({ frontier }) => urls(frontier.peek(9)), B, "", SHUT],
  ["done of a list", ({ frontier, lease }) => frontier.done([lease]), 1, 1, 0],
  ["lease.done", ({ lease }) => lease.done({ found: [C] }).late, false, false, true],
  ["lease.retry", ({ lease }) => lease.retry(), "requeued", "requeued", "late"],
  ["lease.fail", ({ lease }) => lease.fail(), true, true, false],
  ["lease.release", ({ lease }) => lease.release(), true, true, false],
  ["lease.redirect", ({ lease }) => lease.redirect(C).status, "accepted", "accepted", "closed"],
  ["lease.extend", ({ lease }) => lease.extend(5), true, true, false],
  ["record", ({ frontier }) => frontier.record(A)?.state, "leased", "leased", SHUT],
  ["records", ({ frontier }) => [...frontier.records({})].length, 2, 2, SHUT],
  ["explain", ({ frontier }) => frontier.explain(A).state, "leased", "leased", SHUT],
  ["epochs", ({ frontier }) => [...frontier.epochs()].length, 0, 0, SHUT],
  ["nextDueAt", ({ frontier }) => frontier.nextDueAt() !== undefined, true, false, SHUT],
  ["report", ({ frontier }) => frontier.report().leased, 1, 1, SHUT],
  ["on", ({ frontier }) => typeof frontier.on("done", () => {}), "function", "function", SHUT],
  ["setRules", ({ frontier }) => frontier.setRules([{ id: "r" }]), undefined, undefined, SHUT],
  ["rules", ({ frontier }) => frontier.rules(), undefined, undefined, SHUT],
  ["host", ({ frontier }) => frontier.host(C).limit > 0, true, true, SHUT],
  ["host().hold", ({ host }) => host.hold(), undefined, undefined, SHUT],
  ["update", ({ frontier }) => frontier.update(B, { priority: 3 }), true, true, SHUT],
  ["requeue", ({ frontier }) => frontier.requeue({ all: true }), 0, 0, SHUT],
  ["remove", ({ frontier }) => frontier.remove({ all: true }), 1, 1, SHUT],
  ["forget", ({ frontier }) => frontier.forget(), 0, 0, SHUT],
  ["clear", ({ frontier }) => frontier.clear(), undefined, undefined, SHUT],
  ["state", ({ frontier }) => Object.keys(frontier.state).length, 0, 0, 0],
  ["flush", ({ frontier }) => frontier.flush(), undefined, undefined, SHUT],
  ["share", ({ frontier }) => typeof frontier.share(), "object", "object", SHUT],
  ["pause", ({ frontier }) => frontier.pause(), undefined, undefined, SHUT],
  ["resume", ({ frontier }) => frontier.resume(), undefined, undefined, SHUT],
  ["drain", ({ frontier }) => frontier.drain(), "waits", "waits", SHUT],
  ["close", ({ frontier }) => void frontier.close(), undefined, undefined, undefined],
];

/** The status behind a call that changes it. */
const BEHIND: Readonly<Record<string, Met>> = {
  pause: "paused",
  resume: "running",
  drain: "draining",
  close: "stopped", // in memory at once
};

describe.each(STATUSES)("while %s", (status) => {
  it.each(CALLS)("%s answers what the table says", async (...row) => {
    const [name, act, running, halted, closed] = row;
    const rig = await rigIn(status);
    const isClosed = status === "stopping" || status === "stopped";
    const open = status === "running" ? running : halted;
    const answer = await answerOf(act, rig);
    const behind = isClosed ? status : (BEHIND[name] ?? status);
    expect([answer, rig.frontier.status]).toEqual([isClosed ? closed : open, behind]);
  });
});

describe("A drain that was asked for", () => {
  const endings: ReadonlyArray<readonly [string, Act]> = [
    ["the last lease ends", ({ lease }) => lease.done()],
    ["resume ends it", ({ frontier }) => frontier.resume()],
    ["close ends it", ({ frontier }) => frontier.close()],
  ];
  it.each(endings)("resolves when %s, also while paused meanwhile", async (_, end) => {
    for (const isPaused of [false, true]) {
      const rig = await rigIn("draining");
      if (isPaused) rig.frontier.pause();
      const again = rig.frontier.drain();
      expect(await answerOf(() => rig.drained, rig)).toBe("waits");
      await end(rig);
      await Promise.all([rig.drained, again]);
    }
  });
});

describe("Closing", () => {
  it("may be called again by a listener, and is one closing", async () => {
    for (const options of [{}, { directory: mkdtempSync(join(root, "heard")) }]) {
      const { frontier } = await open(options);
      const told: string[] = [];
      const closings: Array<Promise<void>> = [];
      frontier.on("status", ({ to }) => {
        told.push(to);
        closings.push(frontier.close());
      });
      frontier.push(A);
      await frontier.close();
      await Promise.all(closings);
      expect([told, frontier.status]).toEqual([["stopping", "stopped"], "stopped"]);
    }
  });

  it("takes nothing more, ends although a caller keeps pushing, and keeps what was admitted", async () => {
    const directory = mkdtempSync(join(root, "busy"));
    const { frontier } = await open({ directory });
    frontier.pushMany([A, B]);
    let isOver = false;
    const closing = frontier.close().then(() => {
      isOver = true;
    });
    const again = frontier.close();
    for (let turn = 0; turn < 5_000 && !isOver; turn++) {
      expect(frontier.push(`${C}${turn}`).status).toBe("closed");
      await turns(1);
    }
    await Promise.all([closing, again]);
    const { frontier: reopened } = await open({ directory });
    expect(reopened.report().pending).toBe(2);
  });
});
