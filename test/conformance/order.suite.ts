/** In which order URLs are handed out: priority, FIFO and LIFO, places that are kept, shares. One suite over every implementation. */
import { expect } from "vitest";
import type { AsyncFrontier } from "../../src/index.ts";
import {
  A,
  B,
  C,
  suite,
  hostsOf,
  pathsOf,
  SOON_MS,
  take,
  takeAll,
  until,
  urlsOf,
} from "../support/conformance/suite.ts";

const ABC = ["http://a.example/a", "http://b.example/b", "http://c.example/c"];

export const order = suite("order", (says) => {
  says("priority first, any safe integer, then FIFO", async (open) => {
    const { frontier } = await open();
    const { MAX_SAFE_INTEGER, MIN_SAFE_INTEGER } = Number;
    const priorities = [100, MIN_SAFE_INTEGER, 0, MAX_SAFE_INTEGER, -900, MAX_SAFE_INTEGER - 1, 0];
    await frontier.pushMany(priorities.map((priority, at) => ({ url: `${A}${at}`, priority })));
    expect(pathsOf(await takeAll(frontier))).toBe("3 5 0 2 6 4 1");
  });

  says("priority first, then LIFO where the rule asks for it", async (open) => {
    const { frontier } = await open({ defaults: { order: "lifo" } });
    await frontier.pushMany([...ABC, { url: "http://d.example/d", priority: 1 }]);
    expect(pathsOf(await takeAll(frontier, 2))).toBe("d c");
    await frontier.push("http://e.example/e");
    expect(pathsOf(await takeAll(frontier))).toBe("e b a");
  });

  says("a start request is behind the others of its priority with startLast", async (open) => {
    const { frontier } = await open({ defaults: { startLast: true } });
    await frontier.pushMany(["s1", "s2"].map((one) => ({ url: `${A}${one}`, start: true })));
    await frontier.pushMany([...ABC, { url: `${A}low`, priority: -1 }]);
    expect(pathsOf(await takeAll(frontier))).toBe("a b c s1 s2 low");
  });

  says("release keeps the place; retry takes a new one", async (open) => {
    const { frontier } = await open({ defaults: { retryPriority: 0 } });
    await frontier.pushMany(ABC);
    const first = await take(frontier);
    expect(await first.release()).toBe(true);
    expect(pathsOf(await frontier.peek(9))).toBe("a b c");
    expect(await (await take(frontier)).retry()).toBe("requeued");
    await frontier.push("http://d.example/d");
    expect(pathsOf(await takeAll(frontier))).toBe("b c a d");
  });

  says("expiry keeps the place and counts an attempt", async (open) => {
    const rig = await open({ leaseMs: SOON_MS });
    await rig.frontier.pushMany(ABC);
    await takeAll(rig.frontier, 2);
    await rig.pass(SOON_MS + 1);
    await until(
      rig,
      () => rig.frontier.peek(9),
      (views) => views.length === 3,
    );
    await rig.frontier.push("http://d.example/d");
    // Where time is real these expire soon, and come again.
    const leases = await takeAll(rig.frontier, 4);
    expect(pathsOf(leases)).toBe("a b c d");
    expect(leases.map(({ attempt }) => attempt)).toEqual([2, 2, 1, 1]);
  });

  says("requeue takes a new place", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany(ABC);
    await (await take(frontier)).fail("gone");
    expect(await frontier.requeue({ state: "failed" })).toBe(1);
    await frontier.push("http://d.example/d");
    const leases = await takeAll(frontier);
    expect(pathsOf(leases)).toBe("b c a d");
    expect(leases[2]).toMatchObject({ attempt: 1, deliveries: 2 });
  });

  says("becoming due takes a new place, by due time", async (open) => {
    const rig = await open();
    const at = rig.now() + SOON_MS * 4;
    await rig.frontier.pushMany([
      { url: `${A}late`, notBefore: at + SOON_MS },
      { url: `${A}early`, notBefore: new Date(at) },
      ABC[0] as string,
    ]);
    expect(await rig.frontier.report()).toMatchObject({ pending: 1, waiting: 2, deferred: 2 });
    await rig.pass(SOON_MS * 5);
    await until(
      rig,
      () => rig.frontier.peek(9),
      (views) => views.length === 3,
    );
    await rig.frontier.push(ABC[1] as string);
    expect(pathsOf(await takeAll(rig.frontier))).toBe("a early late b");
  });

  says("update changes the priority in place and keeps the sequence", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany(ABC);
    const [a] = ABC as [string];
    expect(await frontier.update(a, { priority: -5 })).toBe(true);
    expect(pathsOf(await frontier.peek(3))).toBe("b c a");
    expect(await frontier.update(a, { priority: 0 })).toBe(true);
    expect(pathsOf(await frontier.peek(3))).toBe("a b c");
    expect(await frontier.update("http://no.example/", { priority: 1 })).toBe(false);
    const lease = await take(frontier);
    expect(await frontier.update(lease.url, { priority: 1 })).toBe(false);
  });

  says("a shallower sighting changes the depth and keeps the sequence", async (open) => {
    const { frontier } = await open({ defaults: { depthPriority: 10 } });
    await frontier.push({ url: ABC[0] as string, depth: 5 });
    await frontier.pushMany(ABC.slice(1).map((url) => ({ url, depth: 3 })));
    expect(pathsOf(await frontier.peek(3))).toBe("b c a");
    await frontier.push({ url: ABC[0] as string, depth: 7 });
    expect((await frontier.record(ABC[0] as string))?.depth).toBe(5);
    await frontier.push({ url: ABC[0] as string, depth: 3 });
    expect(await frontier.record(ABC[0] as string)).toMatchObject({ depth: 3, priority: -30 });
    expect(pathsOf(await takeAll(frontier))).toBe("a b c");
  });

  says(
    "the effective priority counts depth and retries, clamped to safe integers",
    async (open) => {
      const { frontier } = await open({
        defaults: { depthPriority: 2, retryPriority: -10, priority: 5, maxAttempts: 9 },
      });
      await frontier.pushMany([
        { url: A, depth: 3 },
        { url: B, priority: 100 },
      ]);
      await frontier.push({ url: C, depth: 1_000, priority: Number.MIN_SAFE_INTEGER });
      const [b, a, c] = await takeAll(frontier);
      expect([b?.priority, a?.priority, c?.priority]).toEqual([100, -1, Number.MIN_SAFE_INTEGER]);
      await b?.retry();
      expect((await take(frontier)).priority).toBe(90);
      await a?.retry({ priority: 7 });
      expect((await take(frontier)).priority).toBe(7);
    },
  );
});

export const shares = suite("shares", (says) => {
  const rule = (id: string, share: object) => ({
    id,
    match: { hosts: [`${id}.example`] },
    share,
  });
  async function fill(frontier: AsyncFrontier, ids: string, count: number): Promise<void> {
    for (const id of ids) {
      await frontier.pushMany(Array.from({ length: count }, (_, n) => `http://${id}.example/${n}`));
    }
  }

  says("the rule with the lowest pass goes, pass += 1 / rate, ties by rule order", async (open) => {
    const rules = [rule("a", { weight: 100 }), rule("b", { priority: 2, weight: 100 })];
    const { frontier } = await open({ rules });
    await fill(frontier, "ba", 20);
    expect(hostsOf(await takeAll(frontier, 9))).toBe("abaabaaba");
    const { rules: counts } = await frontier.report();
    expect([counts.a?.served, counts.b?.served]).toEqual([6, 3]);
  });

  says("a rule that becomes eligible starts at the current pass", async (open) => {
    const { frontier } = await open({ rules: [rule("a", {}), rule("b", {})] });
    await fill(frontier, "a", 200);
    await takeAll(frontier, 100);
    await fill(frontier, "b", 100);
    const served = hostsOf(await takeAll(frontier, 10));
    expect(served.replaceAll("b", "")).toHaveLength(5);
  });

  says("what one rule leaves is the others'", async (open) => {
    const { frontier } = await open({ rules: [rule("a", {}), rule("b", {})] });
    await fill(frontier, "a", 1);
    await fill(frontier, "b", 5);
    expect(hostsOf(await takeAll(frontier))).toBe("abbbbb");
  });

  says("matches by exact host, longest domain, longest pattern, array order", async (open) => {
    const { frontier } = await open({
      rules: [
        { id: "any" },
        { id: "short", match: { pattern: "/p" } },
        { id: "long", match: { pattern: "/path" } },
        { id: "domain", match: { domains: ["example.com"] } },
        { id: "host", match: { hosts: ["www.example.com"] } },
        { id: "host2", match: { hosts: ["www.example.com"] } },
      ],
    });
    const urls = ["http://o.example/x", "http://o.example/p", "http://o.example/path"];
    urls.push("http://a.example.com/path", "http://www.example.com/path");
    const ids: Array<string | undefined> = [];
    for (const url of urls) ids.push((await frontier.explain(url)).rule);
    expect(ids).toEqual(["any", "short", "long", "domain", "host"]);
    await frontier.pushMany(urls);
    const byUrl = new Map((await takeAll(frontier)).map(({ url, rule: id }) => [url, id]));
    expect(urls.map((url) => byUrl.get(url))).toEqual(ids);
  });

  says(
    "setRules takes effect at once, checks the whole set first, and keeps places",
    async (open) => {
      const rig = await open({ rules: [{ id: "one", match: { domains: ["example"] } }] });
      const { frontier } = rig;
      await frontier.pushMany(ABC);
      const wrong = [{ id: "two" }, { id: "bad", priority: 0.5 }];
      await expect(frontier.setRules(wrong)).rejects.toMatchObject({ code: "RULE_INVALID" });
      expect((await frontier.rules())?.map(({ id }) => id)).toEqual(["one"]);
      expect((await frontier.push("http://other.test/")).reason).toBe("no-rule");
      await frontier.setRules([{ id: "two" }]);
      expect((await frontier.push("http://d.example/d")).status).toBe("accepted");
      const leases = await takeAll(frontier);
      expect(pathsOf(leases)).toBe("a b c d");
      expect(leases.map(({ rule: id }) => id)).toEqual(["two", "two", "two", "two"]);
    },
  );

  says(
    "pending records that no rule takes any more become failed with the reason no-rule",
    async (open) => {
      const rig = await open({ rules: [{ id: "r" }] });
      await rig.frontier.pushMany(ABC);
      const match = { hosts: ["a.example"] };
      await rig.frontier.setRules([{ id: "s", match }]);
      expect(urlsOf(await takeAll(rig.frontier))).toEqual([ABC[0]]);
      const report = await until(
        rig,
        () => rig.frontier.report(),
        ({ failed }) => failed === 2,
      );
      expect(report).toMatchObject({ pending: 0, leased: 1, failed: 2 });
      expect((await rig.frontier.push(ABC[1] as string)).status).toMatch(/duplicate|rejected/);
    },
  );
});
