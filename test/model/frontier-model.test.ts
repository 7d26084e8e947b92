/**
 * The naive model against the public contract, one sentence of it per test. Whoever doubts the model starts here.
 */
import { describe, expect, it } from "vitest";
import { A1, A2, B1, C1, openModel, take, urls } from "../support/open-model.ts";

describe("place", () => {
  it("is priority, then FIFO", () => {
    const { frontier } = openModel();
    for (const priority of [100, 900, 0, -900, 0]) {
      frontier.push({ url: `http://a.test/${priority}`, priority, dedup: "skip" });
    }
    const order = frontier.pollMany(9).map((lease) => lease.priority);
    expect(order).toEqual([900, 100, 0, 0, -900]);
  });

  it("is priority, then LIFO where asked", () => {
    const { frontier } = openModel({ defaults: { order: "lifo" } });
    frontier.pushMany([A1, A2, B1]);
    expect(urls(frontier.pollMany(9))).toEqual([B1, A2, A1]);
  });

  it("of a start request is behind the others of its priority with startLast", () => {
    const { frontier } = openModel({ defaults: { startLast: true } });
    frontier.push({ url: A1, start: true });
    frontier.push(A2);
    frontier.push({ url: B1, start: true, priority: 1 });
    expect(urls(frontier.pollMany(9))).toEqual([B1, A2, A1]);
  });

  it("is kept by release and expiry, and new after retry", () => {
    const { frontier, clock } = openModel({ leaseMs: 10, defaults: { retryPriority: 0 } });
    frontier.pushMany([A1, A2, B1]);
    take(frontier).release();
    expect(urls(frontier.peek(9))).toEqual([A1, A2, B1]);
    take(frontier).retry();
    expect(urls(frontier.peek(9))).toEqual([A2, B1, A1]);
    take(frontier);
    clock.advance(10);
    expect(urls(frontier.peek(9))).toEqual([A2, B1, A1]);
    expect(take(frontier).attempt).toBe(2);
  });

  it("is new when a record becomes due, by due time", () => {
    const { frontier, clock } = openModel();
    frontier.push({ url: A1, notBefore: 1_020 });
    frontier.push({ url: A2, notBefore: 1_010 });
    frontier.push(B1);
    expect(frontier.nextDueAt()).toBe(1_000);
    expect(urls(frontier.pollMany(9))).toEqual([B1]);
    expect(frontier.nextDueAt()).toBe(1_010);
    clock.advance(30);
    frontier.push(C1);
    expect(urls(frontier.pollMany(9))).toEqual([A2, A1, C1]);
  });

  it("keeps its sequence under update and a shallower sighting", () => {
    const { frontier } = openModel({ defaults: { depthPriority: 1 } });
    frontier.push({ url: A1, depth: 3 });
    frontier.push({ url: A2, depth: 1 });
    expect(urls(frontier.peek(9))).toEqual([A2, A1]);
    expect(frontier.push({ url: A1, depth: 1 }).status).toBe("duplicate");
    expect(urls(frontier.peek(9))).toEqual([A1, A2]);
    expect(frontier.update(A2, { priority: 5 })).toBe(true);
    expect(take(frontier)).toMatchObject({ url: A2, priority: 5, depth: 1 });
  });
});

describe("attempts", () => {
  it("are N for maxAttempts N, whether retried or expired", () => {
    for (const maxAttempts of [1, 2, 5]) {
      const { frontier, clock } = openModel({ leaseMs: 5, defaults: { maxAttempts } });
      frontier.push(A1);
      let attempts = 0;
      for (let lease = frontier.poll(); lease; lease = frontier.poll()) {
        attempts = lease.attempt;
        if (attempts % 2 === 0) clock.advance(5);
        else lease.retry();
      }
      expect(attempts).toBe(maxAttempts);
      expect(frontier.record(A1)?.state).toBe("failed");
    }
  });

  it("are not counted by release, but deliveries are, up to maxDeliveries", () => {
    const { frontier } = openModel({ maxDeliveries: 2 });
    frontier.push(A1);
    take(frontier).release();
    expect(take(frontier)).toMatchObject({ attempt: 1, deliveries: 2 });
    frontier.pause();
    expect(frontier.poll()).toBeUndefined();
    expect(frontier.record(A1)).toMatchObject({ state: "leased" });
  });

  it("wait for the back-off and lower the priority by one", () => {
    const { frontier, clock } = openModel({ defaults: { backoff: { baseMs: 10 } } });
    frontier.push(A1);
    expect(take(frontier).retry()).toBe("requeued");
    expect(frontier.nextDueAt()).toBe(1_010);
    clock.advance(10);
    const lease = take(frontier);
    expect(lease).toMatchObject({ attempt: 2, priority: -1 });
    lease.retry();
    expect(frontier.nextDueAt()).toBe(1_030);
  });

  it("begin anew when a failed record is requeued", () => {
    const { frontier } = openModel({ defaults: { maxAttempts: 1 } });
    frontier.push(A1);
    take(frontier).fail("gone");
    expect(frontier.requeue({ state: "failed" })).toBe(1);
    expect(take(frontier)).toMatchObject({ attempt: 1, deliveries: 2 });
  });
});

describe("lateness", () => {
  it("is judged by the clock, changes nothing and is counted", () => {
    const { frontier, clock } = openModel({ leaseMs: 10 });
    frontier.push(A1);
    const lease = take(frontier);
    expect(lease.extend(5)).toBe(true);
    clock.advance(15);
    expect(lease.done({ found: [A2] })).toMatchObject({ late: true, size: 0 });
    expect([lease.retry(), lease.fail(), lease.release()]).toEqual(["late", false, false]);
    expect(frontier.report()).toMatchObject({
      pending: 1,
      expired: 1,
      lateResults: 4,
      accepted: 1,
    });
  });

  it("comes with the second done and with the close", async () => {
    const { frontier } = openModel();
    frontier.pushMany([A1, A2]);
    const [first, second] = frontier.pollMany(2);
    expect(first?.done().late).toBe(false);
    expect(first?.done().late).toBe(true);
    await frontier.close();
    expect(second?.done().late).toBe(true);
    expect(frontier.push(B1).status).toBe("closed");
    expect(frontier.poll()).toBeUndefined();
  });
});

describe("identity", () => {
  it("is the URL without its fragment, with the method", () => {
    const { frontier } = openModel();
    const statuses = [A1, "HTTP://A.test/1#x", { url: A1, method: "POST" }].map(
      (request) => frontier.push(request).status,
    );
    expect(statuses).toEqual(["accepted", "duplicate", "accepted"]);
  });

  it("is missing with skip, and with record beside a live one", () => {
    const { frontier } = openModel();
    frontier.push({ url: A1, dedup: "skip" });
    expect(frontier.record(A1)).toBeUndefined();
    expect(frontier.push(A1).status).toBe("accepted");
    expect(frontier.push({ url: A1, dedup: "record" }).status).toBe("accepted");
    expect(frontier.report()).toMatchObject({ pending: 3, seen: 1 });
  });

  it("is new after forget; what was pending finishes without one", () => {
    const { frontier } = openModel();
    frontier.pushMany([A1, A2]);
    take(frontier).done();
    expect(frontier.forget()).toBe(1);
    expect(frontier.report()).toMatchObject({ pending: 1, forgotten: 1, done: 0, seen: 0 });
    expect(frontier.pushMany([A1, A2]).accepted).toBe(2);
  });
});

describe("admission", () => {
  it("gives a reason for what it refuses and remembers nothing of it", () => {
    const { frontier } = openModel({ defaults: { maxDepth: 1 }, accept: (r) => r.url !== B1 });
    const reason = (request: string | { url: string; depth: number }): string | undefined =>
      frontier.push(request).reason;
    expect(reason("nonsense")).toBe("invalid-url");
    expect(reason("mailto:a@b.test")).toBe("scheme");
    expect(reason(`http://a.test/${"x".repeat(9_000)}`)).toBe("too-long");
    expect(reason(B1)).toBe("hook");
    expect(reason({ url: A1, depth: 2 })).toBe("too-deep");
    expect(frontier.push(A1).status).toBe("accepted");
  });

  it("is bounded by capacity after the duplicate check, for outside pushes only", () => {
    const { frontier } = openModel({ capacity: 1 });
    expect(frontier.pushMany([A1, A1, A2])).toMatchObject({ accepted: 1, duplicate: 1, full: 1 });
    const lease = take(frontier);
    expect(lease.done({ found: [A2, B1, C1] })).toMatchObject({ accepted: 3, late: false });
  });

  it("gives children their parent's depth + 1, a redirect the same depth", () => {
    const { frontier } = openModel();
    frontier.push({ url: A1, depth: 4 });
    const lease = take(frontier);
    lease.redirect(A2);
    lease.done({ found: [{ url: B1, depth: 0 }] });
    expect(frontier.peek(9).map((view) => view.depth)).toEqual([4, 5]);
  });

  it("ends with the host's budget of URLs or bytes", () => {
    const budget = { urls: 2, bytes: 10 };
    const { frontier } = openModel({ defaults: { politeness: { budget } } });
    frontier.pushMany([A1, A2, B1]);
    expect(frontier.push("http://a.test/3").reason).toBe("budget");
    frontier.pollMany(3)[2]?.done({ outcome: { bytes: 10 } });
    expect(frontier.push("http://b.test/2").reason).toBe("budget");
  });
});

describe("steering", () => {
  it("removes what has not gone out; its identity stays seen", () => {
    const { frontier } = openModel();
    frontier.pushMany([A1, A2, B1]);
    expect(frontier.remove({ host: "a.test", pattern: "/2$" })).toBe(1);
    expect(frontier.push(A2).status).toBe("duplicate");
    expect(urls(frontier.pollMany(9))).toEqual([A1, B1]);
  });

  it("clears everything, and leases that are out are late", () => {
    const { frontier } = openModel();
    frontier.pushMany([A1, A2]);
    const lease = take(frontier);
    frontier.clear();
    expect(lease.done().late).toBe(true);
    expect(frontier.report()).toMatchObject({ pending: 0, leased: 0, accepted: 0, seen: 0 });
    expect(frontier.push(A1).status).toBe("accepted");
  });
});
