/** FrontierRequestManager as crawlers of version 4 drive it: signals of pace, readiness, and requests that it does not have. */
import { describe, expect, it, onTestFinished } from "vitest";
import {
  FrontierRequestManager,
  type OpenManagerOptions,
  type PacingSignal,
} from "../../../../src/crawlee.ts";
import { createVirtualClock, openFrontierThread } from "../../../../src/index.ts";

/** As much of version 4's class as the manager calls. */
class Request {
  id?: string;
  url = "";
  uniqueKey = "";
  handledAt?: string;
  constructor(options: object) {
    Object.assign(this, options);
  }
  static computeUniqueKey({ url }: { url: string }): string {
    return url;
  }
  static fromSchema(schema: object): Request {
    return new Request(schema);
  }
}

const START_MS = 1e12;

async function open(options: OpenManagerOptions = {}) {
  const clock = createVirtualClock(START_MS);
  const manager = await FrontierRequestManager.open({
    clock,
    Request: Request as never,
    ...options,
  });
  onTestFinished(() => manager.close());
  const add = (...urls: string[]) => manager.addRequestsBatched(urls);
  return { manager, clock, add, next: () => manager.fetchNextRequest<Request>() };
}
const must = (request: Request | null): Request => {
  if (request === null) throw new Error("no request (expected: one)");
  return request;
};
const pathOf = (request: Request | null): string | undefined =>
  request?.url.slice("http://".length);
const floorOfDomains: PacingSignal = {
  reason: "minIntervalEverywhere",
  intervalMs: 1_000,
  scope: "registrableDomain",
};

describe("a least interval between two visits of each registrable domain", () => {
  it("holds back the other hosts of a domain, and no other domain", async () => {
    const { manager, clock, add, next } = await open();
    expect(manager.recordPacingSignal(floorOfDomains)).toBe(true);
    await add("http://a.site.org/1", "http://b.site.org/1", "http://a.site.org/2", "http://c.net/");
    expect(pathOf(await next())).toBe("a.site.org/1");
    expect(pathOf(await next())).toBe("c.net/");
    expect(await next()).toBeNull();
    expect(await manager.checkReadiness()).toEqual({
      status: "waiting",
      readyAt: START_MS + 1_000,
    });
    clock.advance(999);
    expect(await next()).toBeNull();
    const later = [];
    for (let times = 0; times < 2; times++) {
      clock.advance(times === 0 ? 1 : 1_000);
      later.push(must(await next()).url);
      expect(await next()).toBeNull();
    }
    expect(later.sort()).toEqual(["http://a.site.org/2", "http://b.site.org/1"]);
  });

  it("counts no attempt of what it gives back, and keeps its data", async () => {
    const { manager, clock, next } = await open();
    manager.recordPacingSignal(floorOfDomains);
    await manager.addRequestsBatched([
      "http://a.site.org/",
      { url: "http://b.site.org/", uniqueKey: "b", userData: { own: 1 }, retryCount: 2 },
    ]);
    await manager.markRequestAsHandled(must(await next()));
    for (let times = 0; times < 5; times++) {
      clock.advance(100);
      expect(await next()).toBeNull();
    }
    clock.advance(500);
    expect(await next()).toMatchObject({ uniqueKey: "b", userData: { own: 1 }, retryCount: 2 });
  });

  it("is the longest that was asked for", async () => {
    const { manager, clock, add, next } = await open();
    for (const intervalMs of [1_000, 5_000, 2_000])
      manager.recordPacingSignal({ ...floorOfDomains, intervalMs } as PacingSignal);
    await add("http://a.site.org/", "http://b.site.org/");
    await next();
    await next();
    clock.advance(4_999);
    expect(await next()).toBeNull();
    clock.advance(1);
    expect(pathOf(await next())).toBe("b.site.org/");
  });

  it("is refused on a frontier elsewhere, and so is any other scope wider than a host", async () => {
    const frontier = await openFrontierThread();
    onTestFinished(() => frontier.close());
    const elsewhere = new FrontierRequestManager({ frontier });
    expect(() => elsewhere.recordPacingSignal(floorOfDomains)).toThrow(/signal\.scope/);
    const { manager } = await open();
    const url = "http://a.test/";
    for (const scope of ["account", "registrableDomain"])
      expect(() => manager.recordPacingSignal({ reason: "rateLimited", url, scope })).toThrow(
        /signal\.scope/,
      );
  });
});

it("does not take a signal of another reason", async () => {
  const { manager } = await open();
  const signal = { reason: "lunch", url: "http://a.test/" } as unknown as PacingSignal;
  expect(manager.recordPacingSignal(signal)).toBe(false);
});

describe("a host that refuses everything", () => {
  const refuse = (manager: FrontierRequestManager, waitMs?: number) =>
    manager.recordPacingSignal({
      reason: "rateLimited",
      url: "http://a.test/",
      ...(waitMs && { waitMs }),
    });

  it("is stalled when it still refuses after maxDomainStallSecs", async () => {
    const { manager, clock, add } = await open({ maxDomainStallSecs: 100, maxDelaySecs: 60 });
    await add("http://a.test/");
    const seen: string[] = [];
    for (let times = 0; times < 5; times++) {
      refuse(manager, 30_000);
      seen.push((await manager.checkReadiness()).status);
      clock.advance(30_000);
    }
    expect(seen).toEqual(["waiting", "waiting", "waiting", "waiting", "stalled"]);
  });

  it("is not while a single Retry-After lasts longer than that", async () => {
    const { manager, clock, add } = await open({ maxDomainStallSecs: 100 });
    await add("http://a.test/");
    refuse(manager, 600_000);
    clock.advance(300_000);
    expect(await manager.checkReadiness()).toEqual({
      status: "waiting",
      readyAt: START_MS + 600_000,
    });
  });

  it("is not when nothing of it is left, though others wait", async () => {
    const { manager, clock, add, next } = await open({ maxDomainStallSecs: 100 });
    await add("http://a.test/1", "http://a.test/2");
    const refused = must(await next());
    const served = must(await next());
    refuse(manager);
    await manager.markRequestAsHandled(refused);
    await manager.markRequestAsHandled(served);
    manager.setCrawlDelay("http://b.test/", 1_000);
    await add("http://b.test/1", "http://b.test/2");
    await next();
    clock.advance(200_000);
    expect((await manager.checkReadiness()).status).toBe("waiting");
  });
});

describe("requests that are not there", () => {
  it("are neither handled nor reclaimed: nothing is added", async () => {
    const { manager, add, next } = await open();
    await add("http://a.test/1", "http://a.test/2");
    const fetched = must(await next());
    await manager.purge();
    expect(await manager.markRequestAsHandled(fetched)).toBeNull();
    expect(await manager.reclaimRequest(fetched)).toBeNull();
    expect(await manager.getTotalCount()).toBe(0);
    expect((await manager.checkReadiness()).status).toBe("finished");
  });

  it("and a handled one is not reclaimed", async () => {
    const { manager, add, next } = await open({ keepHandled: true });
    await add("http://a.test/1");
    const request = must(await next());
    await manager.markRequestAsHandled(request);
    expect(await manager.reclaimRequest(request)).toBeNull();
    expect(await manager.markRequestAsHandled(request)).toMatchObject({ wasAlreadyHandled: true });
    expect((await manager.checkReadiness()).status).toBe("finished");
    expect(await manager.getHandledCount()).toBe(1);
  });
});

it("returns what is over the limit as sources that have a URL, which is what crawlers read", async () => {
  const { manager } = await open();
  const sources = ["http://a.test/1", "http://a.test/2", { url: "http://a.test/3" }];
  const { requestsOverLimit } = await manager.addRequestsBatched(sources, { maxNewRequests: 1 });
  const over: Array<{ url?: string }> | undefined = requestsOverLimit;
  expect(over).toEqual([{ url: "http://a.test/2" }, { url: "http://a.test/3" }]);
});

it("finds a request by its id and by its unique key", async () => {
  const { manager } = await open();
  const { requestId } = await manager.addRequest({ url: "http://a.test/", uniqueKey: "own key" });
  expect(await manager.getRequest(requestId)).toMatchObject({ uniqueKey: "own key" });
  expect(await manager.getRequest("own key")).toMatchObject({ id: requestId });
  expect(await manager.getRequest("another")).toBeNull();
});
