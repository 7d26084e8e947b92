/** How hosts are visited politely: rotation, delays, limits, blocks, host keys. One suite over every implementation. */
import { expect } from "vitest";
import type { FrontierOptions } from "../../src/index.ts";
import {
  A,
  suite,
  FAR_MS,
  hostsOf,
  pathsOf,
  SOON_MS,
  take,
  takeAll,
  until,
  urlsOf,
} from "../support/conformance/suite.ts";

const polite = (politeness: object): FrontierOptions => ({ defaults: { politeness } });
/** Three URLs of a, two of b, one of c, in this order. */
const URLS = ["a/1", "a/2", "b/1", "a/3", "c/1", "b/2"].map(
  (one) => `http://${one[0]}.example${one.slice(1)}`,
);

export const hosts = suite("hosts", (says) => {
  says("without politeness there is no rotation", async (open) => {
    for (const options of [{}, polite({}), polite({ delayMs: 0 })]) {
      const { frontier } = await open(options);
      await frontier.pushMany(URLS);
      expect(hostsOf(await takeAll(frontier))).toBe("aabacb");
    }
  });

  says("the least recently leased host goes first, then in order of joining", async (open) => {
    const { frontier } = await open(polite({ perHost: 9 }));
    await frontier.pushMany(URLS);
    expect(hostsOf(await takeAll(frontier, 2))).toBe("ab");
    await frontier.push("http://d.example/1");
    expect(hostsOf(await takeAll(frontier))).toBe("cdaba");
  });

  says("of the hosts that may go, one with a record of the best priority goes", async (open) => {
    const { frontier } = await open(polite({ delayMs: FAR_MS }));
    await frontier.pushMany([
      { url: "http://a.example/high1", priority: 2 },
      { url: "http://a.example/high2", priority: 2 },
      { url: "http://b.example/mid", priority: 1 },
      "http://c.example/low",
    ]);
    expect(hostsOf(await takeAll(frontier))).toBe("abc");
  });

  says("a host has perHost leases at most, and waits for its delay after each", async (open) => {
    const one = await open(polite({ delayMs: 0, perHost: 1 }));
    await one.frontier.pushMany(URLS);
    const leases = await takeAll(one.frontier);
    expect(hostsOf(leases)).toBe("abc");
    await leases[0]?.done();
    expect(hostsOf(await takeAll(one.frontier))).toBe("a");
    const two = await open(polite({ delayMs: 0, perHost: 2 }));
    await two.frontier.pushMany(URLS);
    expect(hostsOf(await takeAll(two.frontier)).length).toBe(5);
    const far = await open(polite({ delayMs: FAR_MS, perHost: 2 }));
    await far.frontier.pushMany(URLS);
    expect(hostsOf(await takeAll(far.frontier))).toBe("abc");
  });

  says("handing out and the end of a visit each start the delay", async (open) => {
    for (const end of ["done", "retry", "fail"] as const) {
      const rig = await open(polite({ delayMs: SOON_MS }));
      await rig.frontier.pushMany(URLS.slice(0, 2));
      const lease = await take(rig.frontier);
      await rig.pass(SOON_MS * 2);
      expect(await rig.frontier.poll()).toBeUndefined(); // one at a time
      const endedAt = rig.now();
      await lease[end]();
      const [next] = await until(
        rig,
        () => rig.frontier.pollMany(1),
        (some) => some.length > 0,
      );
      expect(rig.now() - endedAt, end).toBeGreaterThanOrEqual(SOON_MS - 1);
      expect(next?.host).toBe("a.example");
    }
  });

  says(
    "delays are exact to the millisecond",
    async (open) => {
      const rig = await open(polite({ delayMs: 100 }));
      await rig.frontier.pushMany(URLS.slice(0, 2));
      const lease = await take(rig.frontier);
      await rig.pass(500);
      await lease.done();
      await rig.pass(99);
      expect(await rig.frontier.poll()).toBeUndefined();
      expect(await rig.frontier.nextDueAt()).toBe(rig.now() + 1);
      await rig.pass(1);
      expect((await rig.frontier.poll())?.url).toBe(URLS[1]);
    },
    "isExact",
  );

  says("release restores the host's time", async (open) => {
    const { frontier } = await open(polite({ delayMs: FAR_MS }));
    await frontier.pushMany(URLS);
    expect(await (await take(frontier)).release()).toBe(true);
    expect(hostsOf(await takeAll(frontier))).toBe("abc");
  });

  says("a host's delay, limit, block and hold are steered one by one", async (open) => {
    const rig = await open();
    const { frontier } = rig;
    await frontier.pushMany(URLS);
    const [a, b] = [frontier.host("a.example"), frontier.host("b.example")];
    await a.blockUntil(rig.now() + FAR_MS);
    await b.hold();
    expect(hostsOf(await frontier.peek(9))).toBe("c");
    expect(await a.view()).toMatchObject({ key: "a.example", held: false });
    expect(await b.view()).toMatchObject({ key: "b.example", held: true });
    await b.unhold();
    expect(
      hostsOf(await takeAll(frontier))
        .split("")
        .sort()
        .join(""),
    ).toBe("bbc");
    await a.blockUntil(rig.now() + SOON_MS);
    await a.set({ delayMs: 0, limit: 2 });
    const leases = await until(
      rig,
      () => takeAll(frontier),
      (some) => some.length > 0,
    );
    expect(hostsOf(leases)).toBe("aa");
    expect(await a.view()).toMatchObject({ delayMs: 0, limit: 2, leased: 2 });
    await expect(a.set({ limit: -1 })).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
    await expect(a.blockUntil("soon" as never)).rejects.toMatchObject({ code: "ARGUMENT_INVALID" });
  });

  says("retryAfterMs of an outcome blocks its host", async (open) => {
    const { frontier } = await open(polite({ delayMs: 1 }));
    await frontier.pushMany(URLS);
    const [a] = await takeAll(frontier);
    await a?.retry({ delayMs: 0, outcome: { status: 429, retryAfterMs: FAR_MS } });
    const { readyAt } = await frontier.host("a.example").view();
    expect(readyAt).toBeGreaterThan(Date.now() - 1e12);
    expect(hostsOf(await frontier.peek(9))).not.toContain("a");
  });

  says("a host that fails in a row is backed off", async (open) => {
    const hostBackoff = { after: 2, baseMs: FAR_MS, maxMs: FAR_MS };
    const rig = await open(polite({ hostBackoff, perHost: 1 }));
    const pages = ["1", "2", "3"].map((page) => `${A}${page}`);
    await rig.frontier.pushMany([...pages, "http://b.example/1"]);
    for (let failures = 0; failures < 2; failures++) {
      const leases = await takeAll(rig.frontier);
      const a = leases.find(({ host }) => host === "a.example");
      await a?.fail("HTTP 500", { status: 500 });
    }
    expect(urlsOf(await takeAll(rig.frontier))).toEqual([]);
    expect((await rig.frontier.report()).pending).toBe(1);
  });

  says("a host is the lower-case URL.host; records are found by it", async (open) => {
    const { frontier } = await open(polite({ delayMs: FAR_MS }));
    const urls = ["HTTP://A.Example:80/1", "http://a.example:8080/2", "https://a.example/3"];
    await frontier.pushMany([...urls, "http://[::1]:81/4", "http://BÜCHER.example/5"]);
    const leases = await takeAll(frontier);
    expect(leases.map(({ host }) => host)).toEqual([
      ...["a.example", "a.example:8080", "[::1]:81", "xn--bcher-kva.example"],
    ]);
    for (const { host, url } of leases) expect(host).toBe(new URL(url).host);
  });

  says("hostKey is the unit of politeness in place of the URL's host", async (open) => {
    const { frontier } = await open(polite({ delayMs: FAR_MS }));
    await frontier.pushMany(URLS.map((url) => ({ url, hostKey: "proxy-1" })));
    await frontier.push({ url: "http://z.example/9", hostKey: "proxy-2" });
    const leases = await takeAll(frontier);
    expect(hostsOf(leases)).toBe("az");
    expect(leases.map(({ hostKey }) => hostKey)).toEqual(["proxy-1", "proxy-2"]);
    expect(await frontier.host("proxy-1").view()).toMatchObject({ leased: 1 });
  });

  says("hostKeys that differ in upper and lower case are two units", async (open) => {
    const { frontier } = await open(polite({ delayMs: FAR_MS }));
    await frontier.push({ url: "http://a.example/1", hostKey: "Proxy" });
    await frontier.push({ url: "http://a.example/2", hostKey: "proxy" });
    await frontier.host("Proxy").hold();
    expect(pathsOf(await frontier.peek(9))).toBe("2");
    expect(await frontier.host("proxy").view()).toMatchObject({ held: false });
    const named = await frontier.pollMany(9, { host: "Proxy" });
    expect(pathsOf(named)).toBe("1");
    expect(await frontier.pollMany(9, { host: "Proxy" })).toEqual([]);
    for (const lease of named) await lease.fail();
    expect(await frontier.requeue({ host: "PROXY" })).toBe(0);
    expect(await frontier.requeue({ host: "Proxy" })).toBe(1);
    expect(await frontier.remove({ host: "Proxy" })).toBe(1);
    expect(pathsOf(await takeAll(frontier))).toBe("2");
  });

  says("by: 'domain' joins the hosts of a registrable domain", async (open) => {
    const { frontier } = await open(polite({ delayMs: FAR_MS, by: "domain" }));
    await frontier.pushMany(["http://x.a.co.uk/1", "http://y.a.co.uk/2", "http://y.b.co.uk/3"]);
    expect(pathsOf(await takeAll(frontier))).toBe("1 3");
  });

  says(
    "groups hold back hosts that share them",
    async (open) => {
      const groups = [{ by: "domain" as const, limit: 1 }];
      const { frontier } = await open(polite({ groups }));
      await frontier.pushMany(["http://x.a.co.uk/1", "http://y.a.co.uk/2", "http://y.b.co.uk/3"]);
      expect(pathsOf(await takeAll(frontier))).toBe("1 3");
    },
    "groups",
  );
});
