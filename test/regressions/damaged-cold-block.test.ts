/**
 * A block of the seen-set's cold tier is damaged on disk. The directory opens all the same, since openings do not read the tier whole; the event
 * `error` names the file, and what needs the block, and nothing else, is `full` with reason `disk`.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createVirtualClock, type FrontierError, openFrontier } from "../../src/index.ts";

const URLS = 20_000;
const options = { seen: { mode: "tiered", memoryBytes: 60_000 } } as const;
const urlOf = (index: number): string => `https://host-${index % 50}.test/${index}`;
const all = Array.from({ length: URLS }, (_, index) => urlOf(index));

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "outrider-damaged-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

it("opens, names the file, and refuses only what needs the damaged block", async () => {
  await crawl();
  const run = damageOne();
  const frontier = await openFrontier({ directory, ...options });
  const faults: unknown[] = [];
  frontier.on("error", ({ cause }) => faults.push(cause));
  expect(frontier.report().done).toBe(URLS);
  const first = frontier.pushMany(all);
  const refused = all.filter((_, at) => first.verdict(at).status === "full");
  expect(refused.length).toBeGreaterThanOrEqual(340);
  expect(refused.length).toBeLessThan(500);
  expect(first.accepted).toBe(0);
  expect(first.duplicate).toBe(URLS - refused.length);
  for (const [at] of all.entries()) {
    const { status, reason } = first.verdict(at);
    if (status === "full") expect(reason).toBe("disk");
  }
  // One by one as in a batch, and `put` as `push`.
  for (const url of refused.slice(0, 20)) {
    expect(frontier.push(url)).toMatchObject({ status: "full", reason: "disk" });
    expect(frontier.put(url)).toMatchObject({ status: "full", reason: "disk" });
  }
  const more = frontier.pushMany(["https://host-1.test/new", ...refused.slice(0, 9), urlOf(3)]);
  expect(more.accepted + more.full + more.duplicate).toBe(11);
  expect(more.full).toBeGreaterThanOrEqual(9);
  await untilReported(faults);
  for (const cause of faults) {
    expect((cause as FrontierError).code).toBe("SNAPSHOT_CORRUPT");
    expect((cause as FrontierError).message).toContain(run);
  }
  expect(frontier.report().pending).toBe(more.accepted);
  await frontier.close();
  // The run was not merged away, and not removed.
  expect(readdirSync(join(directory, "default", "seen"))).toContain(run);
});

async function crawl(): Promise<void> {
  const clock = createVirtualClock();
  const frontier = await openFrontier({ directory, ...options, clock });
  for (let from = 0; from < URLS; from += 1000) {
    expect(frontier.pushMany(all.slice(from, from + 1000)).accepted).toBe(1000);
    for (const lease of frontier.pollMany(1000)) lease.done();
    await frontier.flush();
    clock.advance(1);
  }
  for (let step = 0; step < 1000; step++) clock.advance(1); // passes and merges under way end
  await frontier.snapshot(); // what went to the tier is there alone
  await frontier.close();
}

/** Changes one byte of the largest run; returns its name. */
function damageOne(): string {
  const seen = join(directory, "default", "seen");
  const runs = readdirSync(seen)
    .filter((name) => name.endsWith(".cold"))
    .map((name) => ({ name, bytes: readFileSync(join(seen, name)) }))
    .sort((one, other) => other.bytes.length - one.bytes.length);
  const [largest] = runs;
  if (largest === undefined) throw new Error("no run was written");
  expect(largest.bytes.length).toBeGreaterThan(4096 * 5);
  largest.bytes[4096 * 3 + 77] = (largest.bytes[4096 * 3 + 77] as number) ^ 1;
  writeFileSync(join(seen, largest.name), largest.bytes);
  return largest.name;
}

function untilReported(faults: readonly unknown[]): Promise<void> {
  return new Promise((resolve) => {
    const look = (): void => void (faults.length > 0 ? resolve() : setImmediate(look));
    look();
  });
}
