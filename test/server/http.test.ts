/** The HTTP port: health, metrics, who may ask, and what the page asks for. */
import { type IncomingHttpHeaders, request } from "node:http";
import { describe, expect, it, onTestFinished } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { metricsText, observeFrontier } from "../../src/server.ts";
import { connect, found, known, serving } from "./client.ts";

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

function ask(
  port: number | undefined,
  path: string,
  headers: Record<string, string> = {},
  body?: object,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const sent = request({ host: "127.0.0.1", port, path, method, headers }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => (text += chunk));
      answer.on("end", () =>
        resolve({ status: answer.statusCode ?? 0, headers: answer.headers, text }),
      );
    });
    sent.on("error", reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The lines of a text of metrics, as a map of what stands before the number. */
function numbersOf(text: string): Map<string, number> {
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

/** What of a text breaks Prometheus' format. */
function faultsOf(text: string): string[] {
  const typed = new Set<string>();
  return text.split("\n").filter((line) => {
    if (line === "") return false;
    const type = /^# TYPE ([a-zA-Z_]+) (counter|gauge|summary)$/.exec(line);
    if (type !== null) {
      const isNew = !typed.has(type[1] as string);
      typed.add(type[1] as string);
      return !isNew;
    }
    if (/^# HELP [a-zA-Z_]+ .+$/.test(line)) return false;
    const sample = /^([a-zA-Z_]+)(\{([a-zA-Z_]+="([^"\\\n]|\\["\\n])*",?)+\})? (\S+)$/.exec(line);
    if (sample === null || Number.isNaN(Number(sample[5]))) return true;
    return (
      !typed.has((sample[1] as string).replace(/_(sum|count)$/, "")) &&
      !typed.has(sample[1] as string)
    );
  });
}

describe("the HTTP port", () => {
  it("serves health, and metrics under our names and URLFrontier's", async () => {
    const { httpPort, port } = await serving();
    const client = connect(port);
    await client.put(
      ...[1, 2, 3].map((n) => found(`http://a.com/${n}`)),
      found("http://a.com/1"),
      known("http://a.com/3", 0),
    );
    await client.get({ max_urls_per_queue: 1 });
    expect(await ask(httpPort, "/healthz")).toMatchObject({ status: 200, text: "ok\n" });
    expect(await ask(httpPort, "/readyz")).toMatchObject({ status: 200 });
    const { text, headers } = await ask(httpPort, "/metrics");
    expect(headers["content-type"]).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(faultsOf(text)).toEqual([]);
    const numbers = numbersOf(text);
    expect(
      Object.fromEntries([...numbers].filter(([name]) => name.startsWith("frontier_"))),
    ).toMatchObject({
      frontier_getURLs_calls_total: 1,
      frontier_getURLs_total: 1,
      frontier_getURLs_latency_seconds_count: 1,
      frontier_putURLs_calls_total: 1,
      frontier_putURLs_total: 5,
      'frontier_putURLs_discovered_total{discovered="true"}': 4,
      'frontier_putURLs_discovered_total{discovered="false"}': 1,
      frontier_putURLs_ignored_total: 1,
      frontier_putURLs_completed_total: 1,
    });
    expect(numbers.get("frontier_getURLs_latency_seconds_sum")).toBeGreaterThan(0);
    expect(numbers.get('outrider_records{crawl="DEFAULT",state="leased"}')).toBe(1);
    expect(numbers.get('outrider_records{crawl="DEFAULT",state="done"}')).toBe(1);
  });

  it("answers no page of another origin, and no name that leads here", async () => {
    const { httpPort, token } = await serving();
    const own = `127.0.0.1:${httpPort}`;
    const status = async (headers: Record<string, string>, path = "/metrics"): Promise<number> =>
      (await ask(httpPort, path, headers)).status;
    expect(await status({ host: own })).toBe(200);
    expect(await status({ host: `localhost:${httpPort}` })).toBe(200);
    expect(await status({ host: `[::1]:${httpPort}` })).toBe(200);
    expect(await status({ host: `evil.example:${httpPort}` })).toBe(421);
    expect(await status({ host: "127.0.0.1.evil.example" })).toBe(421);
    expect(await status({ host: own, origin: `http://${own}` })).toBe(200);
    expect(await status({ host: own, origin: "http://evil.example" })).toBe(403);
    expect(await status({ host: own, origin: "null" })).toBe(403);
    expect(await status({ host: own, "sec-fetch-site": "cross-site" })).toBe(403);
    const body = { frontier: "DEFAULT" };
    const headers = { host: own, origin: "http://evil.example", authorization: `Bearer ${token}` };
    expect((await ask(httpPort, "/api/pause", headers, body)).status).toBe(403);
  });

  it("changes nothing without the token, which is random where none is given", async () => {
    const first = await serving();
    const second = await serving();
    expect(first.token).toMatch(/^[\w-]{32}$/);
    expect(first.token).not.toBe(second.token);
    await connect(first.port).put(found("http://a.com/1"));
    const pause = (token?: string): Promise<Answer> =>
      ask(
        first.httpPort,
        "/api/pause",
        token === undefined ? {} : { authorization: `Bearer ${token}` },
        { frontier: "DEFAULT" },
      );
    expect((await pause()).status).toBe(401);
    expect((await pause(second.token)).status).toBe(401);
    expect((await pause(first.token)).status).toBe(200);
    expect(await connect(first.port).get()).toEqual([]);
  });

  it("does what the page's buttons say, and refuses what they cannot say", async () => {
    const { httpPort, port, token } = await serving();
    const client = connect(port);
    await client.put(found("http://a.com/1"), found("http://b.com/1"));
    const act = (action: string, body: object): Promise<Answer> =>
      ask(httpPort, `/api/${action}`, { authorization: `Bearer ${token}` }, body);
    const mine = { frontier: "DEFAULT", host: "a.com" };
    expect((await act("block", { ...mine, untilMs: Date.now() + 60_000 })).status).toBe(200);
    expect(await client.get()).toEqual(["http://b.com/1"]);
    expect((await act("delay", { ...mine, delayMs: 5_000 })).status).toBe(200);
    expect(JSON.parse((await act("requeue", { frontier: "DEFAULT" })).text)).toEqual({ count: 0 });
    expect((await act("resume", { frontier: "DEFAULT" })).status).toBe(200);
    expect((await act("pause", { frontier: "other" })).status).toBe(400);
    expect((await act("explode", mine)).status).toBe(400);
    expect((await act("block", { ...mine, untilMs: "now" })).status).toBe(400);
    expect((await act("block", { ...mine, text: "x".repeat(20_000) })).status).toBe(413);
    const query = new URLSearchParams({ frontier: "DEFAULT", url: "http://new.com/" });
    const answer = await ask(httpPort, `/api/explain?${query}`);
    expect(JSON.parse(answer.text)).toMatchObject({
      url: "http://new.com/",
      verdict: { status: "accepted" },
    });
  });

  it("refuses what is no path, and takes one with the address before it", async () => {
    const { httpPort } = await serving();
    const statuses = ["//", "http://[", `http://127.0.0.1:${httpPort}/healthz`].map(
      async (path) => (await ask(httpPort, path)).status,
    );
    expect(await Promise.all(statuses)).toEqual([400, 400, 200]);
  });

  it("has a page that allows nothing but its own script, and no page where none is wanted", async () => {
    const { httpPort } = await serving();
    const { headers, text } = await ask(httpPort, "/");
    const policy = String(headers["content-security-policy"]);
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self'");
    expect(policy).not.toContain("unsafe");
    expect(text).not.toMatch(/<script>|style=|onclick/);
    const bare = await serving({ ui: false });
    expect((await ask(bare.httpPort, "/")).status).toBe(404);
    expect((await ask(bare.httpPort, "/metrics")).status).toBe(200);
    const none = await serving({ httpPort: false });
    expect(none.httpPort).toBeUndefined();
  });

  it("sends a snapshot each second to those who look, and ends with the server", async () => {
    const server = await serving();
    await connect(server.port).put(found("http://a.com/<img src=x>"));
    const events = await new Promise<string>((resolve, reject) => {
      const path = "/api/events";
      const sent = request({ host: "127.0.0.1", port: server.httpPort, path }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
          if ((text.match(/^data: /gm)?.length ?? 0) === 2) void server.close();
        });
        answer.on("end", () => resolve(text));
      });
      sent.on("error", reject);
      sent.end();
    });
    const [first] = /^data: (.*)$/m.exec(events)?.slice(1) ?? [];
    expect(JSON.parse(first as string)).toMatchObject({
      frontiers: [
        { name: "DEFAULT", report: { pending: 1 }, hosts: [{ key: "a.com", why: "ready" }] },
      ],
    });
  });
});

describe("metricsText", () => {
  it("writes a report in Prometheus' format, whatever its rules are called", async () => {
    const frontier = await openFrontier({
      rules: [{ id: 'a "quoted"\n\\ rule', match: { hosts: ["a.com"] } }, { id: "b" }],
    });
    onTestFinished(() => frontier.close());
    frontier.pushMany(["http://a.com/1", "http://b.com/1", "http://a.com/1", "mailto:x"]);
    frontier.poll()?.done({ outcome: { latencyMs: 250 } });
    const text = metricsText(frontier.report(), { frontier: "mine" });
    expect(faultsOf(text)).toEqual([]);
    const numbers = numbersOf(text);
    expect(numbers.get('outrider_pushed_total{frontier="mine"}')).toBe(4);
    expect(numbers.get('outrider_records{frontier="mine",state="done"}')).toBe(1);
    expect(numbers.get('outrider_fetch_seconds{frontier="mine",quantile="0.5"}')).toBeCloseTo(
      0.25,
      2,
    );
    expect(numbers.get('outrider_fetch_seconds_count{frontier="mine"}')).toBe(1);
    expect([...numbers.keys()].filter((name) => name.includes("quoted"))[0]).toContain(
      'a \\"quoted\\"\\n\\\\ rule',
    );
    expect(metricsText(frontier.report())).toContain("\noutrider_hosts ");
  });
});

describe("observeFrontier", () => {
  it("reports through OpenTelemetry what metricsText writes, until it is ended", async () => {
    const frontier = await openFrontier();
    onTestFinished(() => frontier.close());
    frontier.pushMany(["http://a.com/1", "http://a.com/2"]);
    const seen = new Map<string, number>();
    const callbacks = new Set<(result: object) => Promise<void>>();
    const made = (name: string): object => ({ name });
    const meter = {
      createObservableCounter: made,
      createObservableGauge: made,
      addBatchObservableCallback: (one: never) => callbacks.add(one),
      removeBatchObservableCallback: (one: never) => callbacks.delete(one),
    };
    const observe = ({ name }: { name: string }, value: number, labels: object): void => {
      seen.set(`${name} ${JSON.stringify(labels)}`, value);
    };
    const stop = await observeFrontier(frontier, {
      meter: meter as never,
      attributes: { crawl: "news" },
    });
    for (const callback of callbacks) await callback({ observe });
    expect(seen.get('outrider_pushed_total {"crawl":"news"}')).toBe(2);
    expect(seen.get('outrider_records {"crawl":"news","state":"pending"}')).toBe(2);
    stop();
    expect(callbacks.size).toBe(0);
    await (await observeFrontier(frontier))(); // the global meter, which does nothing here
  });
});
