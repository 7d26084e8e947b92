/** When a thread of the pool is taken for hung: after a time and several checks, and never after one jump of the clock. */
import { describe, expect, it } from "vitest";
import type { OwnedLease } from "../../../../../src/workers/pool/hub/owner-port.ts";
import { Seat } from "../../../../../src/workers/pool/hub/worker-seat.ts";
import { createSharedMemory } from "../../../../../src/workers/protocol/shared-memory.ts";

const GRACE = { graceMs: 2_000, looks: 6 };

/** A seat with one expired lease, whose cancellation its worker has not read. */
function silent(nowMs: number): Seat {
  const seat = new Seat(createSharedMemory(4), 0, true);
  const lease = { url: "http://a.test/", rule: "all", priority: 0 } as OwnedLease;
  seat.add(lease, "none");
  seat.flush();
  for (const entry of seat.entries.inOrder()) seat.cancel(entry, nowMs);
  seat.flush();
  return seat;
}

describe("a seat whose thread does not read its lanes", () => {
  it("is not taken for stuck when the process itself stood still", () => {
    const seat = silent(1_000);
    expect(seat.isStuck(60_000, GRACE)).toBe(false);
    expect(seat.isStuck(60_001, GRACE)).toBe(false);
  });

  it("is stuck after the time and the checks", () => {
    const seat = silent(1_000);
    const answers = [];
    for (let nowMs = 1_250; nowMs <= 3_250; nowMs += 250) answers.push(seat.isStuck(nowMs, GRACE));
    expect(answers).toEqual([...new Array(8).fill(false), true]);
  });
});
