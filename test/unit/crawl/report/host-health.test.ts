/** The health of hosts: what counts, what does not, how long a sick host pauses, and a crawl in which one gives way. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { crawl } from "../../../../src/crawl.ts";
import { createHostHealth } from "../../../../src/crawl/report/host-health.ts";
import type { Visit } from "../../../../src/crawl/report/visit-statistics.ts";
import { createVirtualClock } from "../../../../src/index.ts";

const visit = (more: { [K in keyof Visit]?: Visit[K] | undefined }): Visit => {
  return { url: "http://a.example/x", outcome: "done", status: 200, bytes: 5, ...more } as Visit;
};
const REFUSED = { outcome: "retried", status: undefined, reason: "connect" } as const;

describe("the score of a host", () => {
  it("falls with failures, slowness and emptiness, and with nothing else", () => {
    const health = createHostHealth(createVirtualClock());
    health.visit(visit({ latencyMs: 900 }));
    health.visit(visit({ outcome: "failed", status: 404, reason: "status 404" }));
    health.visit(visit({ outcome: "failed", status: undefined, reason: "robots" }));
    health.visit(visit({ outcome: "retried", status: undefined, reason: "analyzer" }));
    health.visit(visit({ status: 304, bytes: 0 }));
    expect(health.sickest()).toEqual([]);
    health.visit(visit({ url: "http://b.example/", latencyMs: 10_000 }));
    health.visit(visit({ url: "http://c.example/", bytes: 0 }));
    health.visit(visit({ url: "http://d.example/", ...REFUSED }));
    health.visit(visit({ url: "http://d.example/", outcome: "retried", status: 503 }));
    const none = { failures: 0, slow: 0, empty: 0, pauses: 0 };
    expect(health.sickest()).toEqual([
      { host: "d.example", score: 77, visits: 2, ...none, failures: 2 },
      { host: "b.example", score: 94, visits: 1, ...none, slow: 1 },
      { host: "c.example", score: 94, visits: 1, ...none, empty: 1 },
    ]);
  });

  it("rises with visits that are well, until its host is kept no longer", () => {
    const health = createHostHealth(createVirtualClock());
    for (let at = 0; at < 8; at++) health.visit(visit(REFUSED));
    expect(health.sickest()[0]?.score).toBe(34);
    for (let at = 0; at < 8; at++) health.visit(visit({}));
    expect(health.sickest()[0]?.score).toBe(77);
    for (let at = 0; at < 24; at++) health.visit(visit({}));
    expect(health.sickest()).toEqual([]);
  });

  it("is kept of 20,000 hosts, and the ten lowest are listed", () => {
    const health = createHostHealth(createVirtualClock());
    for (let at = 0; at < 20_001; at++) {
      health.visit(visit({ ...REFUSED, url: `http://h${at}.example/` }));
    }
    health.visit(visit({ ...REFUSED, url: "http://h0.example/" }));
    const list = health.sickest();
    expect(list).toHaveLength(10);
    expect(list.every(({ visits }) => visits === 1)).toBe(true); // h0 had been dropped
  });
});

describe("a pause of a sick host", () => {
  it("comes after six failures in a row, is twice as long each time, and begins anew when it is well", () => {
    const clock = createVirtualClock(1_000);
    const health = createHostHealth(clock);
    const pauses: number[] = [];
    health.onSick = (_, until) => void pauses.push(until - clock.now());
    for (let at = 0; at < 5; at++) health.visit(visit(REFUSED));
    expect(pauses).toEqual([]);
    health.visit(visit(REFUSED));
    health.visit(visit(REFUSED)); // was under way
    expect(pauses).toEqual([30_000]);
    expect(health.sickest()[0]).toMatchObject({ pauses: 1, pausedUntil: 31_000 });
    for (let at = 0; at < 6; at++) {
      clock.advance(700_000);
      health.visit(visit(REFUSED));
    }
    expect(pauses.slice(1)).toEqual([60_000, 120_000, 240_000, 480_000, 600_000, 600_000]);
    clock.advance(700_000);
    for (let at = 0; at < 12; at++) health.visit(visit({}));
    for (let at = 0; at < 6; at++) health.visit(visit(REFUSED));
    expect(pauses.at(-1)).toBe(30_000);
  });

  it("lets the pages of others come first, and is seen at its host", async () => {
    const asked: Record<string, number> = {};
    const serve = async (name: string, answers: boolean): Promise<string> => {
      const server: Server = createServer((request, response) => {
        if (request.url === "/robots.txt") return void response.writeHead(404).end();
        asked[name] = (asked[name] ?? 0) + 1;
        if (answers) response.writeHead(200, { "content-type": "text/html" }).end("<p>well</p>");
        else request.socket.destroy();
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => {
        server.closeAllConnections();
        server.close();
      });
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    const [well, sick] = [await serve("well", true), await serve("sick", false)];
    const urls = (origin: string): string[] =>
      Array.from({ length: 40 }, (_, at) => `${origin}/${at}`);
    for (const pauseSickHosts of [true, false]) {
      for (const name of ["well", "sick"]) asked[name] = 0;
      const run = crawl({
        seeds: [...urls(sick), ...urls(well)],
        ...{ allowPrivate: true, delayMs: 0, pauseSickHosts },
        defaults: {
          maxAttempts: 1,
          politeness: { hostBackoff: { after: 1e6, baseMs: 1, maxMs: 1 } },
        },
      });
      let until = 0;
      run.on("page", () => {
        if (asked.well !== 40 || !pauseSickHosts) return;
        const { score, view, sick: lacks } = run.host(new URL(sick).host) ?? {};
        until = view?.blockedUntil ?? 0;
        expect([score, lacks?.failures]).toEqual([45, 6]);
        expect(run.host(new URL(well).host)).toMatchObject({ score: 100 });
        void run.stop();
      });
      const { pages, sickest, pending } = await run.finished;
      expect([pages, asked.sick]).toEqual([40, pauseSickHosts ? 6 : 40]);
      expect(pending).toBe(pauseSickHosts ? 34 : 0);
      expect(run.host(new URL(sick).host)).toBeUndefined(); // its frontier is closed
      const [first] = sickest;
      expect([first?.host, first?.failures]).toEqual([new URL(sick).host, asked.sick]);
      expect(until).toBe(first?.pausedUntil ?? 0);
    }
  });
});
