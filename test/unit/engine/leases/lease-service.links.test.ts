/** Links as pages write them: relative ones are resolved against the lease, a URL object is a URL, and fields stand beside it. */
import { describe, expect, it } from "vitest";
import { openFrontier, openFrontierThread } from "../../../../src/index.ts";
import { absoluteLink, absoluteLinks } from "../../../../src/url/parsing/page-links.ts";
import { withPool } from "../../../support/pool.ts";

const PAGE = "https://a.example/dir/page";
const FOUND = ["/y", "near", "?q=1", "//b.example/x", "../up", "HTTPS://A.example/abs"];
const RESOLVED = [
  "https://a.example/y",
  "https://a.example/dir/near",
  "https://a.example/dir/page?q=1",
  "https://b.example/x",
  "https://a.example/up",
  "https://a.example/abs",
];

describe("done({ found })", () => {
  it("resolves relative links against the lease's URL, also those of requests", async () => {
    const frontier = await openFrontier();
    frontier.push(PAGE);
    const result = frontier.poll()?.done({ found: [...FOUND, { url: "z", priority: -1 }] });
    expect(result).toMatchObject({ accepted: 7, rejected: 0 });
    expect(frontier.pollMany(9).map(({ url }) => url)).toEqual([
      ...RESOLVED,
      "https://a.example/dir/z",
    ]);
    await frontier.close();
  });

  it("says of each link that leads nowhere what it said before", async () => {
    const frontier = await openFrontier();
    frontier.push(PAGE);
    const found = ["", " ", "#", "javascript:void(0)", "mailto:x@a.example", "http://", "//"];
    const result = frontier.poll()?.done({ found });
    const reasons = found.map((_, at) => result?.verdict(at).reason);
    expect(reasons).toEqual([
      ...["invalid-url", "invalid-url", "invalid-url", "scheme", "scheme"],
      ...["invalid-url", "invalid-url"],
    ]);
    await frontier.close();
  });

  it("takes a fragment for the page itself", async () => {
    const frontier = await openFrontier();
    frontier.push(PAGE);
    expect(frontier.poll()?.done({ found: ["#top"] })).toMatchObject({ duplicate: 1 });
    await frontier.close();
  });

  it("resolves a redirect's location too", async () => {
    const frontier = await openFrontier();
    frontier.push(PAGE);
    expect(frontier.poll()?.redirect("/moved", { status: 301 }).status).toBe("accepted");
    expect(frontier.poll()?.url).toBe("https://a.example/moved");
    await frontier.close();
  });

  it("does the same through a thread", async () => {
    const frontier = await openFrontierThread();
    await frontier.push(new URL(PAGE));
    const found = [...FOUND, new URL("https://c.example/"), { url: new URL("https://d.example/") }];
    const result = await (await frontier.poll())?.done({ found: found as string[] });
    expect(result).toMatchObject({ accepted: 8, rejected: 0 });
    const leases = await frontier.pollMany(9);
    expect(leases.map(({ url }) => url)).toEqual([
      ...[...RESOLVED, "https://c.example/", "https://d.example/"],
    ]);
    await frontier.close();
  });

  it("does the same in a worker: its links, its requests and its done", async () => {
    const pool = { handler: new URL("../../../support/page-visit.mjs", import.meta.url) };
    await withPool({ pool }, async ({ frontier, pool, faults }) => {
      const order: Array<[string, number]> = [];
      frontier.on("accepted", (views) => {
        for (const { url, priority } of views) order.push([url, priority]);
      });
      frontier.push(PAGE);
      await pool.run();
      expect(faults).toEqual([]);
      expect(order.slice(1)).toEqual([
        ["https://a.example/list", 0],
        ["https://a.example/dir/near", 0],
        ["https://a.example/dir/page?q=1", 0],
        ["https://other.example/x", 0],
        ["https://a.example/abs", 0],
        ["https://a.example/object", 0],
        ["https://a.example/first", 7],
        ["https://a.example/two", 5],
        ["https://a.example/three", 9],
        ["https://a.example/found", 0],
        ["https://a.example/dir/asked", 0],
      ]);
    });
  });

  it("gives a list of absolute links on as it is", () => {
    const links = ["https://a.example/", "http://b.example/"];
    expect(absoluteLinks(links, PAGE)).toBe(links);
    expect(absoluteLink("https:relative", PAGE)).toBe("https:relative");
    expect(absoluteLink("/x", "no base")).toBe("/x");
  });
});

describe("push", () => {
  it("takes a URL object, alone, in a list, and as a request's url", async () => {
    const frontier = await openFrontier();
    const url = new URL("https://a.example/1");
    expect(frontier.push(url).status).toBe("accepted");
    expect(frontier.pushMany([url, "https://a.example/2"])).toMatchObject({
      ...{ duplicate: 1, accepted: 1 },
    });
    const request = { url: new URL("https://a.example/3") } as never;
    expect(frontier.push(request).status).toBe("accepted");
    expect(frontier.record(url)?.state).toBe("pending");
    expect(frontier.explain(url).verdict.status).toBe("duplicate");
    expect(frontier.update(url, { priority: 3 })).toBe(true);
    expect(await frontier.pushFrom([url])).toMatchObject({ duplicate: 1 });
    await frontier.close();
  });

  it("takes fields beside a URL, which a request's own fields stand over", async () => {
    const frontier = await openFrontier();
    frontier.push("https://a.example/1", { priority: 10, data: { from: "test" } });
    frontier.push({ url: "https://a.example/2", priority: 20 }, { priority: 1, handler: "h" });
    const [second, first] = frontier.pollMany(2);
    expect([second?.url, second?.priority, second?.handler]).toEqual([
      ...["https://a.example/2", 20, "h"],
    ]);
    expect([first?.priority, first?.data]).toEqual([10, { from: "test" }]);
    expect(() => frontier.push("https://a.example/3", { priority: 0.5 })).toThrow(
      "fields.priority: 0.5 (expected: a safe integer)",
    );
    expect(() => frontier.push("https://a.example/3", 7 as never)).toThrow("fields: 7");
    expect(frontier.report().pushed).toBe(2);
    await frontier.close();
  });

  it("takes both through a thread, data that no message carries refused alone", async () => {
    const frontier = await openFrontierThread();
    const push = await frontier.push(new URL("https://a.example/1"), { priority: 4 });
    expect(push.status).toBe("accepted");
    const data = (): void => undefined;
    expect((await frontier.push("https://a.example/2", { data })).reason).toBe("unserializable");
    const list = [new URL("https://a.example/3"), "https://a.example/4"];
    expect(await frontier.pushMany(list)).toMatchObject({ accepted: 2 });
    expect(await frontier.pushFrom(list)).toMatchObject({ duplicate: 2 });
    expect(await frontier.record(new URL("https://a.example/1"))).toMatchObject({ priority: 4 });
    await frontier.close();
  });
});
