/** Leases that are held as numbers end as the objects would. */
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { handOutNumber, HeldLeases } from "../../../../src/engine/api/held-leases.ts";
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

/** The lease that is held of an object's URL. */
function heldOf(held: HeldLeases, { url, hostKey }: Lease): Lease | undefined {
  return held.get(url, hostKey, (lease) => lease.url === url && lease.hostKey === hostKey);
}

describe("HeldLeases", () => {
  it("end leases as those that were handed out do, and give their URLs and data", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { maxLength: 60 }), async (steps) => {
        const clocks = [createVirtualClock(NOW), createVirtualClock(NOW)] as const;
        const [frontier, twin] = [await open(60, clocks[0]), await open(60, clocks[1])];
        const held = new HeldLeases();
        const objects = new Map<string, Lease>();
        for (const step of steps) {
          if ("advance" in step) for (const clock of clocks) clock.advance(step.advance);
          else if ("poll" in step) {
            for (const lease of frontier.pollMany(step.poll))
              held.set(lease.url, lease, clocks[0].now());
            for (const lease of twin.pollMany(step.poll)) objects.set(lease.url, lease);
          } else {
            const object = [...objects.values()][step.at % Math.max(objects.size, 1)];
            if (object === undefined) continue;
            const lease = heldOf(held, object) as Lease;
            const { data, deadlineMs, hostKey, url } = object;
            expect({ data, deadlineMs, hostKey, url }).toEqual({
              data: lease.data,
              deadlineMs: lease.deadlineMs,
              hostKey: lease.hostKey,
              url: lease.url,
            });
            held.delete(lease);
            expect(apply(lease, step.end)).toBe(apply(object, step.end));
            objects.delete(url);
            expect(heldOf(held, object)).toBeUndefined();
          }
          expect([...held.all()].map(({ url }) => url).sort()).toEqual([...objects.keys()].sort());
          expect(frontier.peek(9)).toEqual(twin.peek(9));
        }
        expect(seenOf(frontier)).toEqual(seenOf(twin));
        await Promise.all([frontier.close(), twin.close()]);
      }),
      { numRuns: 60 },
    );
  });

  it("are gone once they have run out, where another hand-out has the URL, and on demand", async () => {
    const clock = createVirtualClock(NOW);
    const frontier = await open(6, clock);
    const held = new HeldLeases();
    const urls = (): string[] => [...held.all()].map(({ url }) => url);
    const [early, late] = [frontier.pollMany(2), frontier.pollMany(1, { leaseMs: 60_000 })];
    for (const lease of [...early, ...late]) held.set(lease.url, lease, NOW);
    clock.advance(9_999);
    expect(urls()).toEqual([...early, ...late].map(({ url }) => url));
    clock.advance(1);
    expect(urls()).toEqual(late.map(({ url }) => url));
    const again = frontier.pollMany(9);
    for (const lease of again) held.set(lease.url, lease, clock.now());
    for (const lease of again) {
      expect(handOutNumber(heldOf(held, lease) as Lease)).toBe(handOutNumber(lease));
    }
    held.clear();
    expect([heldOf(held, late[0] as Lease), urls()]).toEqual([undefined, []]);
  });

  it("are found among very many, of which most are over, and take no more room then", async () => {
    const frontier = await openFrontier({ leaseMs: 10_000 });
    onTestFinished(() => frontier.close());
    const held = new HeldLeases();
    const kept: Lease[] = [];
    for (let round = 0; round < 40; round++) {
      frontier.pushMany(Array.from({ length: 500 }, (_, n) => `http://h${n}.test/${round}`));
      for (const [n, lease] of frontier.pollMany(500).entries()) {
        held.set(lease.url, lease, NOW);
        if (n % 10 === round % 10) kept.push(lease);
        else {
          const found = heldOf(held, lease) as Lease;
          if (n % 2 === 0) held.delete(found); // else its row stays, to be passed over
          found.done();
        }
      }
      const { url } = kept[(round * 17) % kept.length] as Lease;
      const found = held.get(url, undefined, (lease) => lease.url === url);
      expect(found?.url).toBe(url);
    }
    expect([...held.all()].map(({ url }) => url)).toEqual(kept.map(({ url }) => url));
    for (const lease of held.all()) {
      held.delete(lease);
      expect(lease.done().late).toBe(false);
    }
    expect(kept.map((lease) => heldOf(held, lease))).toEqual(kept.map(() => undefined));
    expect([...held.all()]).toEqual([]);
  });

  it("keep the same URL in two queues apart", async () => {
    const frontier = await openFrontier({ leaseMs: 10_000 });
    onTestFinished(() => frontier.close());
    const url = "http://a.test/";
    frontier.pushMany(["one", "two"].map((hostKey) => ({ url, hostKey, key: hostKey })));
    const leases = frontier.pollMany(2);
    const held = new HeldLeases();
    for (const lease of leases) held.set(url, lease, NOW);
    for (const lease of leases) expect(heldOf(held, lease)?.hostKey).toBe(lease.hostKey);
    expect(held.get(url, "three", () => true)).toBeUndefined();
    expect(held.get(url, "one", () => false)).toBeUndefined();
  });
});
