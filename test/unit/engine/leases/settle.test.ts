/** One call that ends a lease as an answer of HTTP asks for: 429 and Retry-After included. */
import { describe, expect, it } from "vitest";
import {
  createVirtualClock,
  openFrontier,
  openFrontierThread,
  settle,
} from "../../../../src/index.ts";

const PAGE = "https://a.example/page";

async function leased(maxAttempts = 3) {
  const clock = createVirtualClock(Date.now());
  const frontier = await openFrontier({ clock, defaults: { maxAttempts } });
  frontier.push(PAGE);
  const lease = frontier.poll();
  if (lease === undefined) throw new Error("no lease");
  return { frontier, clock, lease };
}

const answer = (status: number, headers: Record<string, string> = {}): Response =>
  new Response(null, { status, headers });

describe("settle", () => {
  it("finishes the page with its links", async () => {
    for (const status of [200, 204, 304]) {
      const { frontier, lease } = await leased();
      expect(settle(lease, answer(status), { found: ["/next"] })).toBe("done");
      expect(frontier.report()).toMatchObject({ done: 1, pending: 1 });
      expect(settle(lease, answer(status))).toBe("late");
      await frontier.close();
    }
  });

  it("tries again after 429 and faults of the server, and the host waits as Retry-After asks", async () => {
    for (const status of [408, 425, 429, 500, 502, 503, 504]) {
      const { frontier, clock, lease } = await leased();
      expect(settle(lease, answer(status, { "retry-after": "120" }))).toBe("retried");
      expect(frontier.poll()).toBeUndefined();
      clock.advance(119_999);
      expect(frontier.poll()).toBeUndefined();
      clock.advance(1);
      expect(frontier.poll()?.attempt).toBe(2);
      expect(frontier.report().reasons.retried).toEqual({ [`status ${status}`]: 1 });
      await frontier.close();
    }
  });

  it("takes a date against the server's own clock, an hour at most, and plain headers", async () => {
    const { frontier, clock, lease } = await leased();
    const headers = {
      date: "Tue, 01 Sep 2026 10:00:00 GMT",
      "retry-after": "Tue, 01 Sep 2026 23:00:00 GMT",
    };
    expect(settle(lease, { status: 503, headers })).toBe("retried");
    clock.advance(3_599_999);
    expect(frontier.poll()).toBeUndefined();
    clock.advance(1);
    expect(frontier.poll()?.url).toBe(PAGE);
    await frontier.close();
  });

  it("says failed where no attempt is left, and keeps why", async () => {
    const { frontier, lease } = await leased(1);
    expect(settle(lease, answer(503))).toBe("failed");
    expect(frontier.record(PAGE)?.failure).toMatchObject({ reason: "status 503", status: 503 });
    await frontier.close();
  });

  it("fails what is not there, and takes what the outcome adds", async () => {
    const { frontier, lease } = await leased();
    const outcome = { bytes: 7, address: "192.0.2.1" };
    expect(settle(lease, answer(404), { outcome })).toBe("failed");
    expect(frontier.record(PAGE)?.failure).toMatchObject({ reason: "status 404", status: 404 });
    expect(frontier.host("a.example").bytes).toBe(7);
    expect(settle(lease, answer(404))).toBe("late");
    await frontier.close();
  });

  it("continues at a redirect's location, relative or not", async () => {
    const { frontier, lease } = await leased();
    expect(settle(lease, answer(301, { location: "../moved" }))).toBe("redirected");
    expect(frontier.poll()?.url).toBe("https://a.example/moved");
    expect(frontier.report().done).toBe(1);
    await frontier.close();
  });

  it("fails a redirect to nowhere", async () => {
    const { frontier, lease } = await leased();
    expect(settle(lease, answer(302))).toBe("failed");
    await frontier.close();
  });

  it("gives a promise of the same for a lease of another thread", async () => {
    const frontier = await openFrontierThread({ defaults: { maxAttempts: 1 } });
    await frontier.pushMany([PAGE, "https://b.example/", "https://c.example/"]);
    const [a, b, c] = await frontier.pollMany(3);
    if (a === undefined || b === undefined || c === undefined) throw new Error("no lease");
    expect(await settle(a, answer(200))).toBe("done");
    expect(await settle(b, answer(429, { "retry-after": "1" }))).toBe("failed");
    expect(await settle(c, answer(302, { location: "/there" }))).toBe("redirected");
    expect(await settle(a, answer(200))).toBe("late");
    await frontier.close();
  });
});
