import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import type {
  FrontierOptions,
  Lease,
  RequestInput,
} from "../../../../src/engine/types/frontier-types.ts";
import { openBench, thrownBy } from "../../../support/bench-frontier.ts";
import { killedFiles, openRig } from "../../../support/durable-rig.ts";
import { createMemoryFiles } from "../../../support/memory-files.ts";

const A = "http://a.com/1";
const B = "http://a.com/2";
const AWAY = "http://b.com/";

/** Pushes, polls, redirects, and polls what came of it. */
function moved(request: Partial<RequestInput>, { to = B, change, options }: Moving = {}): Lease {
  const { frontier, check } = openBench(options);
  frontier.push({ url: A, ...request });
  expect(frontier.poll()?.redirect(to, change).admitted).toBe(true);
  check();
  return frontier.poll() as Lease;
}

interface Moving {
  readonly to?: string;
  readonly change?: Parameters<Lease["redirect"]>[1];
  readonly options?: FrontierOptions;
}

describe("a redirected request", () => {
  it("goes on with the data, handler, priority and headers that it had", () => {
    const request = { priority: 3, handler: "page", data: { n: 1n }, headers: { accept: "x" } };
    expect(moved({ ...request, depth: 2 })).toMatchObject({ ...request, url: B, depth: 2 });
  });

  it("goes on with its own number of attempts", () => {
    const { frontier } = openBench({ defaults: { maxAttempts: 5 } });
    frontier.push({ url: A, maxAttempts: 1 });
    frontier.poll()?.redirect(B);
    expect(frontier.poll()?.retry()).toBe("failed");
  });

  it("is a start request still, behind what was found at the same priority", () => {
    const { frontier } = openBench({ defaults: { startLast: true } });
    frontier.push({ url: A, start: true });
    const lease = frontier.poll() as Lease;
    lease.redirect(B);
    lease.done({ found: [AWAY] });
    expect([frontier.poll()?.url, frontier.poll()?.url]).toEqual([AWAY, B]);
  });

  it("keeps what is changed by name, and nothing else is changed", () => {
    const request = { priority: 3, handler: "page", data: { n: 1 } };
    const change = { priority: -1, data: null, handler: "other" };
    expect(moved(request, { change })).toMatchObject({ ...change, url: B });
    expect(moved(request, { change: { data: undefined } }).data).toEqual({ n: 1 });
  });

  it("throws what is wrong with its change, and nothing happens", () => {
    const { frontier } = openBench();
    frontier.push(A);
    const lease = frontier.poll() as Lease;
    for (const [change, code, name] of [
      [5, "ARGUMENT_INVALID", "change"],
      [{ depth: 1 }, "ARGUMENT_INVALID", "change.depth"],
      [{ url: B }, "ARGUMENT_INVALID", "change.url"],
      [{ status: 200 }, "ARGUMENT_INVALID", "change.status"],
      [{ priority: 0.5 }, "REQUEST_INVALID", "change.priority"],
    ] as const) {
      const error = thrownBy(() => lease.redirect(B, change as never));
      expect(error).toMatchObject({ code, message: expect.stringMatching(`^${name}:`) });
    }
    expect(frontier.report()).toMatchObject({ pushed: 1, pending: 0 });
  });
});

describe("the method of a redirect", () => {
  const sent = (method: string, status?: number): string => {
    const change = status === undefined ? undefined : { status };
    const lease = moved({ method, body: "x" }, { change });
    return `${lease.method} ${Buffer.from(lease.body ?? []).toString()}`.trim();
  };

  it("is what fetch makes of it", () => {
    expect([sent("POST"), sent("POST", 301), sent("POST", 302)]).toEqual(["GET", "GET", "GET"]);
    expect([sent("POST", 307), sent("POST", 308)]).toEqual(["POST x", "POST x"]);
    expect([sent("PUT", 302), sent("PUT", 303)]).toEqual(["PUT x", "GET"]);
    expect([sent("HEAD", 303), sent("GET", 303)]).toEqual(["HEAD x", "GET x"]);
  });

  it("takes the headers of a body away with the body", () => {
    const headers = { "Content-Type": "text/plain", "x-mine": "1" };
    expect(moved({ method: "POST", headers }).headers).toEqual({ "x-mine": "1" });
    const kept = moved({ method: "POST", headers }, { change: { status: 307 } });
    expect(kept.headers).toEqual(headers);
  });
});

describe("what proves who asks", () => {
  const headers = { Authorization: "b", cookie: "c", "Proxy-Authorization": "p", a: "1" };

  it("stays at its origin", () => {
    expect(moved({ headers }).headers).toEqual(headers);
    expect(moved({ headers }, { to: AWAY }).headers).toEqual({ a: "1" });
    expect(moved({ headers }, { to: "https://a.com/2" }).headers).toEqual({ a: "1" });
    expect(moved({ headers: { Host: "x" } }).headers).toBeUndefined();
  });

  it("goes where the caller says that it shall", () => {
    expect(moved({ headers }, { to: AWAY, change: { headers } }).headers).toEqual(headers);
  });
});

describe("the priority of a redirect", () => {
  it("is its rule's where it has none of its own", () => {
    const rules = [
      { id: "a", match: { hosts: ["a.com"] }, priority: 9 },
      { id: "b", match: { hosts: ["b.com"] }, priority: -4 },
    ];
    expect(moved({}, { to: AWAY, options: { rules } }).priority).toBe(-4);
    expect(moved({}, { to: B, options: { rules } }).priority).toBe(9);
    expect(moved({ priority: 2 }, { to: AWAY, options: { rules } }).priority).toBe(2);
  });

  it("counts its depth once", () => {
    const options = { defaults: { depthPriority: 10 } };
    expect(moved({ depth: 3 }, { options }).priority).toBe(-30);
    expect(moved({ depth: 3, priority: 5 }, { options }).priority).toBe(-25);
  });

  it("is moved or set as the rule says", () => {
    const by = (redirectPriority: number | { set: number }) => ({
      options: { defaults: { redirectPriority, depthPriority: 1 } },
    });
    expect(moved({ priority: 5, depth: 1 }, by(2)).priority).toBe(6);
    expect(moved({}, by(2)).priority).toBe(2);
    expect(moved({ priority: 5 }, by({ set: 1 })).priority).toBe(1);
    expect(moved({ priority: 5 }, { ...by(2), change: { priority: 0 } }).priority).toBe(0);
  });
});

describe("the identity of a redirect", () => {
  it("is checked, but for a lease that has none", () => {
    const { frontier, check } = openBench({ defaults: { key: { exemptMethods: ["POST"] } } });
    const verdict = (request: Partial<RequestInput>): string => {
      frontier.push({ url: A, ...request });
      const lease = frontier.pollMany(9).find(({ url }) => url === A) as Lease;
      return lease.redirect(B).status;
    };
    expect([verdict({}), verdict({ method: "PUT" })]).toEqual(["accepted", "accepted"]);
    // What comes of a POST is a GET, which is none of the exempt.
    expect(verdict({ method: "POST" })).toBe("duplicate");
    expect(verdict({ dedup: "skip" })).toBe("accepted");
    check();
  });

  it("is in the epoch that the request named, also after a crash", async () => {
    const files = createMemoryFiles();
    const rig = await openRig(files, createVirtualClock(0), { durability: "sync" });
    for (const epoch of ["may", "june"]) {
      rig.frontier.push({ url: A, epoch, data: epoch });
      rig.frontier.poll();
      rig.frontier.push({ url: A, epoch: `${epoch}-late`, data: epoch });
    }
    const again = await openRig(killedFiles(files), createVirtualClock(0), { durability: "sync" });
    for (const lease of again.frontier.pollMany(9)) {
      expect([lease.redirect(B).status, lease.redirect(B).status]).toEqual([
        "accepted",
        "duplicate",
      ]);
    }
    const known = ["may", "june", "may-late", "june-late", "forever"].map((epoch) => {
      return again.frontier.record({ url: B, epoch })?.state;
    });
    expect(known).toEqual(["pending", "pending", "pending", "pending", undefined]);
    const last = await openRig(killedFiles(again.files as typeof files), createVirtualClock(0));
    const found = last.frontier.pollMany(9).filter(({ url }) => url === B);
    expect(found.map(({ data }) => data).sort()).toEqual(["june", "june", "may", "may"]);
  });
});

describe("a volatile redirect", () => {
  it("is never written either, and carries what no message can", () => {
    const data = { call: () => 5 };
    const lease = moved({ volatile: true, data });
    expect(lease.data).toBe(data);
  });
});
