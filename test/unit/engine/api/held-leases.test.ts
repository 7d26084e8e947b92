/** Leases that are held as numbers end as the objects would. */
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { HeldLeases } from "../../../../src/engine/api/held-leases.ts";
import { finishKept } from "../../../../src/engine/api/keep-finished.ts";
import { verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import {
  createVirtualClock,
  type Frontier,
  type Lease,
  openFrontier,
} from "../../../../src/index.ts";

const NOW = 1e12;
const ENDS = ["done", "release", "fail", "kept"] as const;
type End = (typeof ENDS)[number];

async function open(count: number, clock = createVirtualClock(NOW)): Promise<Frontier> {
  const frontier = await openFrontier({
    clock,
    leaseMs: 10_000,
    defaults: { politeness: { perHost: 99, delayMs: 100 } },
  });
  onTestFinished(() => frontier.close());
  const hosts = Array.from({ length: count }, (_, n) => ({
    url: `http://h${n % 3}.test/${n}`,
    ...(n % 2 === 0 ? {} : { hostKey: `queue ${n % 5}`, data: [n, new Uint8Array([n & 255])] }),
  }));
  frontier.pushMany(hosts);
  return frontier;
}

function apply(lease: Lease, end: End): unknown {
  if (end === "done") return lease.done().late;
  if (end === "fail") return lease.fail("gone");
  return end === "release" ? lease.release() : finishKept(lease);
}

/** All that the frontier shows of it, places included. */
function seenOf(frontier: Frontier): unknown {
  verifyFrontier(frontier);
  const { pending, leased, done, failed } = frontier.report();
  const states = ["pending", "leased", "failed"] as const;
  const records = states.map((state) =>
    [...frontier.records({ state })].map(({ url, data }) => JSON.stringify([url, data])).sort(),
  );
  return { counts: [pending, leased, done, failed], records, next: frontier.peek(50) };
}

const anyStep = fc.oneof(
  { weight: 2, arbitrary: fc.record({ advance: fc.integer({ min: 1, max: 150 }) }) },
  { weight: 3, arbitrary: fc.record({ poll: fc.integer({ min: 1, max: 9 }) }) },
  { weight: 4, arbitrary: fc.record({ end: fc.constantFrom(...ENDS), at: fc.nat(40) }) },
);

describe("HeldLeases", () => {
  it("end leases as those that were handed out do, and give their data", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60 }), async (steps) => {
        const clocks = [createVirtualClock(NOW), createVirtualClock(NOW)] as const;
        const [frontier, twin] = [await open(60, clocks[0]), await open(60, clocks[1])];
        const held = new HeldLeases();
        const objects = new Map<string, Lease>();
        for (const step of steps) {
          if ("advance" in step) for (const clock of clocks) clock.advance(step.advance);
          else if ("poll" in step) {
            for (const lease of frontier.pollMany(step.poll)) {
              held.set(lease.url, lease, lease.url.endsWith("7"));
            }
            for (const lease of twin.pollMany(step.poll)) objects.set(lease.url, lease);
          } else {
            const name = [...held.names()][step.at % Math.max(objects.size, 1)];
            const lease = name === undefined ? undefined : held.get(name);
            const object = name === undefined ? undefined : objects.get(name);
            if (name === undefined || lease === undefined || object === undefined) continue;
            const { data, deadlineMs, hostKey } = object;
            expect({ data, deadlineMs, hostKey }).toEqual({
              data: lease.data,
              deadlineMs: lease.deadlineMs,
              hostKey: lease.hostKey,
            });
            expect(apply(lease, step.end)).toBe(apply(object, step.end));
            held.delete(name);
            objects.delete(name);
          }
          expect([...held.names()].sort()).toEqual([...objects.keys()].sort());
          expect(frontier.peek(9)).toEqual(twin.peek(9));
        }
        expect(seenOf(frontier)).toEqual(seenOf(twin));
        await Promise.all([frontier.close(), twin.close()]);
      }),
      { numRuns: 60 },
    );
  });

  it("give the object where it was asked for, forget those that ran out, and all on demand", async () => {
    const frontier = await open(6);
    const held = new HeldLeases();
    const [early, late] = [frontier.pollMany(2), frontier.pollMany(2, { leaseMs: 60_000 })];
    for (const lease of [...early, ...late]) held.set(lease.url, lease, lease === early[0]);
    expect(held.get(early[0]?.url as string)).toBe(early[0]);
    expect(held.get(late[0]?.url as string)).not.toBe(late[0]);
    held.dropOld(NOW + 9_999);
    expect([...held.names()].length).toBe(4);
    held.dropOld(NOW + 10_000);
    expect([...held.names()]).toEqual(late.map(({ url }) => url));
    held.clear();
    expect([held.get(late[0]?.url as string), [...held.names()]]).toEqual([undefined, []]);
  });

  it("forget old ones from where they stood, however many were deleted meanwhile", async () => {
    const frontier = await open(0);
    frontier.pushMany(Array.from({ length: 60 }, (_, n) => `http://host${n}.test/`));
    const held = new HeldLeases();
    const leases = frontier.pollMany(60);
    expect(leases.length).toBe(60);
    for (const lease of leases) held.set(lease.url, lease);
    const walks = ["keys", "entries", Symbol.iterator] as const;
    const begun = walks.map((name) => vi.spyOn(Map.prototype, name as "keys"));
    onTestFinished(() => {
      for (const one of begun) one.mockRestore();
    });
    for (const { url } of leases.slice(0, 50)) {
      held.delete(url);
      held.dropOld(NOW);
    }
    expect(begun.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThan(2);
    // The one at which it stands goes, and comes back behind the others.
    const first = leases[50] as Lease;
    held.delete(first.url);
    held.set(first.url, first);
    held.dropOld(NOW + 9_999);
    expect([...held.names()]).toEqual([...leases.slice(51), first].map(({ url }) => url));
    // While it stands still, others come and go.
    for (let time = 0; time < 99; time++) held.set("other", leases[52] as Lease);
    held.dropOld(NOW + 10_000);
    expect([...held.names()]).toEqual([]);
    held.set("again", first);
    held.dropOld(NOW + 10_000);
    held.dropOld(NOW + 10_000);
    expect([...held.names()]).toEqual([]);
  });

  it("have no data of a lease that is over", async () => {
    const frontier = await open(6);
    const held = new HeldLeases();
    const lease = frontier.pollMany(6).find(({ data }) => data !== undefined) as Lease;
    held.set("name", lease);
    expect(held.get("name")?.data).toEqual(lease.data);
    lease.done();
    expect([held.get("name")?.data, held.get("name")?.done().late]).toEqual([undefined, true]);
  });
});
