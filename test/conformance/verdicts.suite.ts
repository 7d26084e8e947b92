/** What a push answers: verdicts, reasons, batches, identity and keys, capacity. One suite over every implementation. */
import { expect } from "vitest";
import {
  A,
  B,
  C,
  checkCounts,
  codeOf,
  suite,
  D,
  FAR_MS,
  take,
  takeAll,
  urlsOf,
  verdictsOf,
} from "../support/conformance/suite.ts";

export const verdicts = suite("verdicts", (says) => {
  says("the first push of a URL is accepted, every later one a duplicate", async (open) => {
    const { frontier } = await open();
    expect(await verdictsOf(frontier, [A, A, `${A}#part`, "HTTP://A.EXAMPLE:80/"])).toEqual([
      "accepted",
      ...["duplicate", "duplicate", "duplicate"],
    ]);
    await (await take(frontier)).done();
    expect((await frontier.push(A)).status).toBe("duplicate");
    expect(await frontier.report()).toMatchObject({
      pushed: 5,
      accepted: 1,
      duplicate: 4,
      seen: 1,
    });
    await checkCounts(frontier);
  });

  says("what is refused has a reason and is not seen", async (open) => {
    const { frontier } = await open({
      ...{ maxUrlBytes: 100 },
      rules: [{ id: "r", match: { domains: ["a.example", "b.example"] }, maxDepth: 3 }],
    });
    const refused = ["", "nonsense", "http://", "mailto:a@b", "javascript:1"];
    const others = [`${A}${"x".repeat(200)}`, C, { url: B, depth: 4 }, { url: B, data: () => 1 }];
    expect(await verdictsOf(frontier, [...refused, ...others])).toEqual([
      ...["rejected invalid-url", "rejected invalid-url", "rejected invalid-url"],
      ...["rejected scheme", "rejected scheme", "rejected too-long", "rejected no-rule"],
      ...["rejected too-deep", "rejected unserializable"],
    ]);
    expect(await frontier.push({ url: B, depth: 3 })).toEqual({
      status: "accepted",
      admitted: true,
    });
    const { rejected, seen } = await frontier.report();
    expect([rejected, seen]).toEqual([
      {
        ...{ "invalid-url": 3, scheme: 2, "too-long": 1, "no-rule": 1, "too-deep": 1 },
        unserializable: 1,
      },
      1,
    ]);
  });

  says(
    "a batch has counts and a verdict for each of its requests, in their order",
    async (open) => {
      const rig = await open();
      const late = { url: B, notBefore: rig.now() + FAR_MS };
      const result = await rig.frontier.pushMany([A, late, A, "nonsense", C, C]);
      expect({ ...result }).toMatchObject({
        ...{ size: 6, accepted: 2, deferred: 1, duplicate: 2, rejected: 1, full: 0 },
      });
      const words = Array.from({ length: 6 }, (_, at) => result.verdict(at).status);
      expect(words).toEqual([
        ...["accepted", "deferred", "duplicate", "rejected", "accepted", "duplicate"],
      ]);
      expect(() => result.verdict(6)).toThrow(/index/);
      await checkCounts(rig.frontier);
    },
  );

  says("defaults of a batch fill the fields that a request does not set", async (open) => {
    const { frontier } = await open();
    await frontier.pushMany([A, { url: B, priority: 9 }], { priority: 5, depth: 2, handler: "h" });
    const leases = await takeAll(frontier);
    expect(leases.map(({ priority, depth, handler }) => [priority, depth, handler])).toEqual([
      [9, 2, "h"],
      [5, 2, "h"],
    ]);
  });

  says("a large batch is admitted whole, each URL once", async (open) => {
    const { frontier } = await open();
    const urls = Array.from({ length: 5_000 }, (_, at) => `http://h${at % 50}.example/${at}`);
    const result = await frontier.pushMany([...urls, ...urls.slice(0, 500)]);
    expect([result.accepted, result.duplicate]).toEqual([5_000, 500]);
    const leased = urlsOf(await takeAll(frontier, 6_000));
    expect(leased.sort()).toEqual(urls.sort());
    await checkCounts(frontier);
  });

  says("pushFrom takes an asynchronous source in slices", async (open) => {
    const { frontier } = await open();
    async function* source(): AsyncGenerator<string> {
      for (let at = 0; at < 120; at++) yield `${A}${at % 100}`;
    }
    const result = await frontier.pushFrom(source(), { batch: 17 });
    expect([result.size, result.accepted, result.duplicate]).toEqual([120, 100, 20]);
    expect((await frontier.report()).pending).toBe(100);
  });

  says(
    "capacity binds pushes from outside, behind the duplicate check, not children",
    async (open) => {
      const { frontier } = await open({ capacity: 2 });
      const result = await frontier.pushMany([A, A, B, C, A]);
      expect(Array.from({ length: 5 }, (_, at) => result.verdict(at).status)).toEqual([
        ...["accepted", "duplicate", "accepted", "full", "duplicate"],
      ]);
      const lease = await take(frontier);
      expect((await frontier.push(C)).status).toBe("accepted");
      expect((await frontier.push(D)).status).toBe("full");
      const { accepted } = await lease.done({ found: [D, `${D}1`, `${D}2`] });
      expect(accepted).toBe(3);
      expect((await frontier.push(`${D}3`)).status).toBe("full");
      expect(await frontier.report()).toMatchObject({ pending: 5, done: 1, full: 3 });
      await checkCounts(frontier);
    },
  );

  says("capacity 0 leaves room for nothing", async (open) => {
    const { frontier } = await open({ capacity: 0 });
    const { full, rejected } = await frontier.pushMany([A, "no url", B]);
    expect([full, rejected]).toEqual([2, 1]);
    expect((await frontier.push(C)).status).toBe("full");
  });

  says("a budget of a host's URLs is the verdict 'budget'", async (open) => {
    const { frontier } = await open({ defaults: { politeness: { budget: { urls: 2 } } } });
    expect(await verdictsOf(frontier, [A, `${A}1`, `${A}2`, B])).toEqual([
      ...["accepted", "accepted", "rejected budget", "accepted"],
    ]);
  });

  says("wrong fields and arguments are refused by code, and nothing changes", async (open) => {
    const { frontier } = await open();
    const bad = (value: unknown): never => value as never;
    expect(await codeOf(frontier.push(bad(42)))).toBe("REQUEST_INVALID");
    expect(await codeOf(frontier.push({ url: A, priority: 0.5 }))).toBe("REQUEST_INVALID");
    expect(await codeOf(frontier.pushMany(bad(7)))).toBe("ARGUMENT_INVALID");
    expect(await codeOf(frontier.pollMany(-1))).toBe("ARGUMENT_INVALID");
    expect(await codeOf(frontier.peek(Number.NaN))).toBe("ARGUMENT_INVALID");
    expect(await codeOf(frontier.update(A, { notBefore: Number.NaN }))).toBe("ARGUMENT_INVALID");
    expect(await codeOf(frontier.remove({}))).toBe("ARGUMENT_INVALID");
    expect(await codeOf(frontier.requeue({}))).toBe("ARGUMENT_INVALID");
    expect(await codeOf(frontier.setRules([bad({})]))).toBe("RULE_INVALID");
    expect(await frontier.report()).toMatchObject({ pushed: 0, accepted: 0 });
    await expect(open({ capacity: -1 })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(open({ clock: bad({}) })).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(open(bad({ nosuch: 1 }))).rejects.toMatchObject({ code: "OPTION_INVALID" });
    await expect(open({ rules: [bad({ id: 3 })] })).rejects.toMatchObject({ code: "RULE_INVALID" });
  });
});

export const identity = suite("identity", (says) => {
  says("method, body, chosen headers and a key of its own are part of it", async (open) => {
    const { frontier } = await open({ defaults: { key: { headers: ["X-Part"] } } });
    const requests = [
      { url: A },
      { url: A, method: "POST" },
      { url: A, method: "POST", body: "x" },
      { url: A, headers: { "x-part": "1" } },
      { url: A, key: "other" },
    ];
    expect(new Set(await verdictsOf(frontier, requests))).toEqual(new Set(["accepted"]));
    expect(new Set(await verdictsOf(frontier, requests))).toEqual(new Set(["duplicate"]));
    expect((await frontier.push({ url: A, headers: { other: "1" } })).status).toBe("duplicate");
    const prints = (await takeAll(frontier)).map(({ fingerprint }) => fingerprint);
    expect(new Set(prints).size).toBe(5);
    for (const print of prints) expect(print).toMatch(/^[0-9a-f]{32}$/);
  });

  says("the key policy shapes the key, not the URL that is visited", async (open) => {
    const key = { dropParams: ["utm"], sortQuery: true };
    const { frontier } = await open({ defaults: { key } });
    const url = `${A}p?b=2&a=1&utm=x`;
    expect(await verdictsOf(frontier, [url, `${A}p?a=1&b=2`])).toEqual(["accepted", "duplicate"]);
    expect((await take(frontier)).url).toBe(url);
    const other = await open({ defaults: { key: { ...key, visit: "canonical" } } });
    await other.frontier.push(url);
    expect((await take(other.frontier)).url).toBe(`${A}p?a=1&b=2`);
    const kept = await open({ defaults: { key: { fragment: "keep" } } });
    expect(await verdictsOf(kept.frontier, [`${A}#1`, `${A}#2`])).toEqual(["accepted", "accepted"]);
  });

  says("dedup 'skip' and exempt methods make records without identity", async (open) => {
    const { frontier } = await open({ defaults: { key: { exemptMethods: ["POST"] } } });
    const skip = { url: A, dedup: "skip" as const };
    const post = { url: A, method: "POST" };
    expect(new Set(await verdictsOf(frontier, [skip, skip, post, post, A]))).toEqual(
      new Set(["accepted"]),
    );
    expect(await frontier.report()).toMatchObject({ seen: 1, pending: 5, accepted: 5 });
    const leases = await takeAll(frontier);
    expect(urlsOf(leases)).toEqual([A, A, A, A, A]);
    expect(await frontier.done(leases)).toBe(5);
    expect((await frontier.record(A))?.state).toBe("done");
    await checkCounts(frontier);
  });

  says("dedup 'record' is never refused but remembered", async (open) => {
    const { frontier } = await open();
    const record = { url: A, dedup: "record" as const };
    const requests = [record, A, { ...record, data: 2 }];
    expect(await verdictsOf(frontier, requests)).toEqual(["accepted", "duplicate", "accepted"]);
    expect(await frontier.report()).toMatchObject({ pending: 2, seen: 1 });
    const [first, second] = await takeAll(frontier);
    expect([first?.data, second?.data]).toEqual([undefined, 2]);
    await second?.done();
    expect((await frontier.record(A))?.state).toBe("leased");
    await first?.done();
    expect((await frontier.record(A))?.state).toBe("done");
    await checkCounts(frontier);
  });

  says("a lease carries everything that was pushed, equal", async (open) => {
    const { frontier } = await open();
    const data = { list: [1, "two", null], at: new Date(5), bytes: new Uint8Array([1, 2]) };
    const headers = { cookie: "a=1", "x-y": "ü" };
    await frontier.push({
      ...{ url: `${A}?q=1`, method: "POST", body: "späte", headers, data, handler: "page" },
      ...{ priority: -7, depth: 3 },
    });
    const lease = await take(frontier);
    expect(new TextDecoder().decode(lease.body)).toBe("späte");
    expect(lease).toMatchObject({
      ...{ url: `${A}?q=1`, method: "POST", handler: "page", priority: -7, depth: 3 },
      ...{ attempt: 1, deliveries: 1, host: "a.example" },
    });
    expect({ ...lease.headers }).toEqual(headers);
    expect(lease.data).toEqual(data);
  });

  says("the first sighting's data win", async (open) => {
    const { frontier } = await open();
    await frontier.push({ url: A, data: { n: 1 }, priority: 1, handler: "one" });
    await frontier.push({ url: A, data: { n: 2 }, priority: 9, handler: "two" });
    const lease = await take(frontier);
    expect([lease.data, lease.priority, lease.handler]).toEqual([{ n: 1 }, 1, "one"]);
  });
});
