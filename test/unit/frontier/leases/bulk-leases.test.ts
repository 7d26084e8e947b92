/** What the kernel hands out by itself where rules take turns: the last record of a rule, and as many turns as are charged at once. */
import { describe, expect, it } from "vitest";
import { coreOf, verifyFrontier } from "../../../../src/engine/api/verify-frontier.ts";
import { createVirtualClock, type Frontier, openFrontier } from "../../../../src/index.ts";

const RULES = 200;

/** What a poll hands out, and the names of the exports that it calls. */
function pollOf(frontier: Frontier, max: number): { urls: string[]; called: Set<string> } {
  const { kernel } = coreOf(frontier).store;
  const { exports } = kernel;
  const called = new Set<string>();
  const noted = new Proxy(exports, {
    get(target, name: keyof typeof exports) {
      called.add(name);
      return target[name];
    },
  });
  Object.assign(kernel, { exports: noted });
  const leases = frontier.pollMany(max);
  Object.assign(kernel, { exports });
  verifyFrontier(frontier);
  return { urls: leases.map(({ url }) => url), called };
}

function urlsOf(page: string): string[] {
  return Array.from({ length: RULES }, (_, n) => `https://h.site${n}.example/${page}`);
}

function openRules(order: "fifo" | "lifo"): Promise<Frontier> {
  const rules = Array.from({ length: RULES }, (_, n) => ({
    id: `r${n}`,
    match: { domains: [`site${n}.example`] },
    order,
  }));
  return openFrontier({ clock: createVirtualClock(), rules, keepOpen: true });
}

/** Hand-outs by the kernel and readings of URLs, nothing one by one. */
const IN_BULK = new Set(["leaseShared", "gatherUrls"]);

describe("rules that take turns", () => {
  it.each(["fifo", "lifo"] as const)("hand out their last records in bulk: %s", async (order) => {
    const frontier = await openRules(order);
    for (const page of ["1", "2"]) {
      frontier.pushMany(urlsOf(page));
      expect(pollOf(frontier, RULES)).toEqual({ urls: urlsOf(page), called: IN_BULK });
      expect(frontier.pollMany(1)).toEqual([]);
    }
    await frontier.close();
  });

  it("hand out more turns than are charged at once in bulk", async () => {
    const frontier = await openRules("fifo");
    for (const page of ["1", "2", "3"]) frontier.pushMany(urlsOf(page));
    expect(pollOf(frontier, RULES)).toEqual({ urls: urlsOf("1"), called: IN_BULK });
    await frontier.close();
  });

  it("go on in their order where a rule has records of another priority left", async () => {
    const frontier = await openRules("fifo");
    frontier.pushMany(urlsOf("1"));
    frontier.push({ url: "https://h.site70.example/high", priority: 1 });
    const [low, high] = [urlsOf("1"), urlsOf("1")];
    high[70] = "https://h.site70.example/high";
    expect(pollOf(frontier, RULES).urls).toEqual(high);
    expect(pollOf(frontier, RULES).urls).toEqual([low[70]]);
    await frontier.close();
  });

  it("join anew when something comes, in their order", async () => {
    const frontier = await openRules("fifo");
    frontier.pushMany(urlsOf("1"));
    const leases = frontier.pollMany(RULES);
    leases[150]?.release();
    leases[3]?.release();
    frontier.push("https://h.site100.example/2");
    const urls = [3, 100, 150].map((n) => `https://h.site${n}.example/${n === 100 ? 2 : 1}`);
    expect(pollOf(frontier, RULES).urls).toEqual(urls);
    await frontier.close();
  });
});
