import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../../src/base/clock.ts";
import { type Cookies, createCookies } from "../../../../src/crawl/http/cookie-jar.ts";
import { crawl } from "../../../../src/crawl/run/crawl.ts";
import { readSetCookie } from "../../../../src/crawl/http/set-cookie.ts";

const NOW = 1_750_000_000_000;

/** Strangers register under org, co.uk and github.io; an address is its own. */
function registered(url: string): string | undefined {
  const { hostname } = new URL(url);
  if (/^[\d.]+$|^\[/.test(hostname)) return hostname;
  return /([^.]+\.(?:org|co\.uk|github\.io))$/.exec(hostname)?.[1];
}

function jar(
  bytesMax?: number,
): Cookies & { readonly clock: ReturnType<typeof createVirtualClock> } {
  const clock = createVirtualClock(NOW);
  const bound = bytesMax === undefined ? {} : { bytesMax };
  return Object.assign(createCookies({ clock, domainOf: registered, ...bound }), { clock });
}

describe("a cookie", () => {
  it.each([
    // where it is set, what is set, where it is asked for, what is sent
    ["http://a.org/", "k=v", "http://a.org/x/y", "k=v"],
    ["http://a.org/", "k=v", "http://www.a.org/", undefined],
    ["http://a.org/", "k=v", "https://a.org:8443/", "k=v"],
    ["http://www.a.org/", "k=v; Domain=a.org", "http://b.c.a.org/", "k=v"],
    ["http://www.a.org/", "k=v; Domain=.A.org", "http://a.org/", "k=v"],
    ["http://www.a.org/", "k=v; Domain=a.org", "http://nota.org/", undefined],
    ["http://a.org/", "k=v; Domain=www.a.org", "http://www.a.org/", undefined],
    ["http://a.org/", "k=v; Domain=b.org", "http://b.org/", undefined],
    ["http://a.org/", "k=v; Domain=org", "http://a.org/", undefined],
    ["http://a.co.uk/", "k=v; Domain=co.uk", "http://b.co.uk/", undefined],
    ["http://github.io/", "k=v; Domain=github.io", "http://github.io/", "k=v"],
    ["http://github.io/", "k=v; Domain=github.io", "http://x.github.io/", undefined],
    ["http://a.org/", "k=v; Domain=", "http://a.org/", "k=v"],
    ["http://a.org/", "k=v; Domain=/", "http://a.org/", undefined],
    ["http://10.0.0.1/", "k=v", "http://10.0.0.1/", "k=v"],
    ["http://10.0.0.1/", "k=v; Domain=10.0.0.1", "http://10.0.0.1/", "k=v"],
    ["http://10.0.0.1/", "k=v; Domain=0.0.1", "http://9.0.0.1/", undefined],
    ["http://[::1]/", "k=v", "http://[::1]/", "k=v"],
    ["http://a.org/docs/page", "k=v", "http://a.org/docs/other", "k=v"],
    ["http://a.org/docs/page", "k=v", "http://a.org/docs", "k=v"],
    ["http://a.org/docs/page", "k=v", "http://a.org/docsy", undefined],
    ["http://a.org/docs/page", "k=v; Path=/", "http://a.org/", "k=v"],
    ["http://a.org/", "k=v; path=/docs/", "http://a.org/docs", undefined],
    ["http://a.org/", "k=v; path=no", "http://a.org/any", "k=v"],
    ["https://a.org/", "k=v; Secure", "http://a.org/", undefined],
    ["https://a.org/", "k=v; Secure", "https://a.org/", "k=v"],
    ["http://a.org/", "k=v; Secure", "https://a.org/", undefined],
    ["https://a.org/", "__Secure-k=v", "https://a.org/", undefined],
    ["https://a.org/", "__Host-k=v; Secure; Path=/", "https://a.org/", "__Host-k=v"],
    ["https://a.org/", "__Host-k=v; Secure; Path=/; Domain=a.org", "https://a.org/", undefined],
    ["http://a.org/", "k=v; Max-Age=0", "http://a.org/", undefined],
    ["http://a.org/", "k=v; Max-Age=-1", "http://a.org/", undefined],
    ["http://a.org/", "k=v; Max-Age=x", "http://a.org/", "k=v"],
    ["http://a.org/", "k=v; Expires=Thu, 01-Jan-1970 00:00:01 GMT", "http://a.org/", undefined],
    ["http://a.org/", "k=v; Expires=never", "http://a.org/", "k=v"],
    ["http://a.org/", "k=v; Expires=Thu, 01-Jan-70 0:0:1; Max-Age=9", "http://a.org/", "k=v"],
    ["http://a.org/", "alone", "http://a.org/", "alone"],
    ["http://a.org/", " k = a b ;x", "http://a.org/", "k=a b"],
    ["http://a.org/", "k=a=b", "http://a.org/", "k=a=b"],
    ["http://a.org/", "k=", "http://a.org/", "k="],
    ["http://a.org/", "=", "http://a.org/", undefined],
    ["http://a.org/", "", "http://a.org/", undefined],
    ["http://a.org/", "k=a\u0000b", "http://a.org/", undefined],
    ["http://a.org/", `k=${"v".repeat(4_096)}`, "http://a.org/", undefined],
    ["http://a.org/", "k=é", "http://a.org/", Buffer.from("k=é").toString("latin1")],
  ])("of %s, %j, goes to %s as %j", (from, line, to, sent) => {
    const cookies = jar();
    cookies.learn(from, [line]);
    expect(cookies.headerFor(to)).toBe(sent);
  });

  it("is told by name, path and host: another value takes its place, and the past takes it away", () => {
    const cookies = jar();
    const url = "http://a.org/x/y";
    expect(cookies.learn(url, ["k=1; Path=/", "k=2", "other=3; Path=/"])).toBe(true);
    expect(cookies.headerFor(url)).toBe("k=2; k=1; other=3");
    expect(cookies.learn(url, ["k=1; Path=/"])).toBe(false);
    expect(cookies.learn(url, ["k=4; Path=/"])).toBe(true);
    expect(cookies.headerFor(url)).toBe("k=2; k=4; other=3");
    expect(cookies.learn(url, ["k=; Path=/; Max-Age=0"])).toBe(true);
    expect(cookies.learn(url, ["k=; Path=/; Max-Age=0"])).toBe(false);
    expect(cookies.headerFor(url)).toBe("k=2; other=3");
  });

  it("lives until its time", () => {
    const cookies = jar();
    cookies.learn("http://a.org/", ["k=v; Max-Age=10"]);
    cookies.clock.advance(9_999);
    expect(cookies.headerFor("http://a.org/")).toBe("k=v");
    cookies.clock.advance(1);
    expect(cookies.headerFor("http://a.org/")).toBeUndefined();
  });

  it.each([
    ["Wed, 09 Jun 2027 10:18:14 GMT", "2027-06-09T10:18:14.000Z"],
    ["Wednesday, 09-Jun-27 10:18:14 GMT", "2027-06-09T10:18:14.000Z"],
    ["Wed Jun  9 10:18:14 2027", "2027-06-09T10:18:14.000Z"],
    ["9 june 99 1:2:3", "1999-06-09T01:02:03.000Z"],
    ["10:18:14 Jun 9 2027 +0300", "2027-06-09T10:18:14.000Z"],
    ["Jun 9 2027", undefined],
    ["10:18 9 Jun 2027", undefined],
    ["99:99:99 9 Jun 2027", undefined],
    ["", undefined],
  ])("that expires %j does so at %s, whatever time this machine has", (date, iso) => {
    const untilMs = readSetCookie(`k=v; Expires=${date}`, NOW)?.untilMs;
    expect(untilMs === undefined ? undefined : new Date(untilMs).toISOString()).toBe(iso);
  });
});

describe("cookies are bounded", () => {
  it("to fifty of a host, the first ones gone, and to so many bytes in all, the longest known first", () => {
    const cookies = jar();
    const lines = Array.from({ length: 60 }, (_, at) => `k${at}=v`);
    cookies.learn("http://a.org/", lines);
    expect(cookies.headerFor("http://a.org/")).toBe(lines.slice(10).join("; "));
    const few = jar(2_000);
    for (let at = 0; at < 1_000; at++) few.learn(`http://h${at}.org/`, ["k=v"]);
    const known = Array.from({ length: 1_000 }, (_, at) => few.headerFor(`http://h${at}.org/`));
    const count = known.filter((header) => header !== undefined).length;
    expect(count).toBeGreaterThan(5);
    expect(known.slice(0, -count).every((header) => header === undefined)).toBe(true);
  });
});

interface Site extends AsyncDisposable {
  readonly url: string;
  /** `path cookie`, in the order of asking. */
  readonly asked: string[];
}

async function openSite(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Site> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.cookie ?? "-"}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

const BASE = { allowPrivate: true, delayMs: 0, sitemaps: false } as const;

describe("a crawl", () => {
  const page = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === "/robots.txt") return void response.writeHead(404).end();
    const links = request.url === "/" ? "<a href=/1>1</a>" : "";
    response.setHeader("set-cookie", ["id=7; HttpOnly; SameSite=Strict", `at=${request.url}`]);
    response.writeHead(200, { "content-type": "text/html" }).end(links);
  };

  it("keeps none and sends none without the option", async () => {
    await using site = await openSite(page);
    await crawl({ ...BASE, seeds: site.url }).finished;
    expect(site.asked).toEqual(["/robots.txt -", "/ -", "/1 -"]);
    site.asked.length = 0;
    await crawl({ ...BASE, seeds: site.url, cookies: true }).finished;
    expect(site.asked).toEqual(["/robots.txt -", "/ -", "/1 id=7; at=/"]);
    expect(() => crawl({ cookies: "yes" as never })).toThrow(/options.cookies: "yes"/);
  });

  it("sends what a request says itself in place of what it knows", async () => {
    await using site = await openSite(page);
    const seeds = [
      { url: `${site.url}/`, priority: 1 },
      { url: `${site.url}/own`, headers: { Cookie: "mine=1" } },
    ];
    await crawl({ ...BASE, seeds, cookies: true, robots: false, concurrency: 1 }).finished;
    expect(site.asked).toContain("/own mine=1");
  });

  it("comes through a door that redirects to itself until its cookie is brought back", async () => {
    await using site = await openSite((request, response) => {
      if (request.headers.cookie === "seen=1" || request.url === "/robots.txt")
        response.writeHead(200, { "content-type": "text/html" }).end();
      else response.writeHead(302, { location: "/", "set-cookie": "seen=1" }).end();
    });
    const summary = await crawl({ ...BASE, seeds: site.url, cookies: true, robots: false })
      .finished;
    expect(summary).toMatchObject({ pages: 1, redirects: 1, failed: 0, pending: 0 });
    // Without them, or where each answer sets another, it ends as well.
    site.asked.length = 0;
    expect(await crawl({ ...BASE, seeds: site.url, robots: false }).finished).toMatchObject({
      pages: 0,
    });
    expect(site.asked).toEqual(["/ -"]);
    await using endless = await openSite((_, response) => {
      response.writeHead(302, { location: "/", "set-cookie": `n=${Math.random()}` }).end();
    });
    const ended = await crawl({ ...BASE, seeds: endless.url, cookies: true, robots: false })
      .finished;
    expect(ended).toMatchObject({ pages: 0, failures: { redirects: 1 }, pending: 0 });
  });

  it("comes through a door whose cookie is given out at another page", async () => {
    await using site = await openSite((request, response) => {
      const isSeen = request.headers.cookie === "seen=1";
      if (request.url === "/give")
        response.writeHead(302, { location: "/", "set-cookie": "seen=1" }).end();
      else if (isSeen) response.writeHead(200, { "content-type": "text/html" }).end("<a href=/in>");
      else response.writeHead(302, { location: "/give" }).end();
    });
    const options = { ...BASE, robots: false, cookies: true } as const;
    const summary = await crawl({ ...options, seeds: `${site.url}/` }).finished;
    expect(site.asked).toEqual(["/ -", "/give -", "/ seen=1", "/in seen=1"]);
    expect(summary).toMatchObject({ pages: 2, redirects: 2, failed: 0, pending: 0 });
  });

  it("ends a circle of pages that set another cookie each time, and visits no known page for a cookie alone", async () => {
    let count = 0;
    await using site = await openSite((request, response) => {
      if (request.url === "/known") return void response.writeHead(200).end();
      const location = { "/a": "/b", "/b": "/a", "/c": "/d" }[request.url ?? ""] ?? "/known";
      response.writeHead(302, { location, "set-cookie": `n=${++count}` }).end();
    });
    const options = { ...BASE, robots: false, cookies: true, types: "any" } as const;
    const circle = await crawl({ ...options, seeds: `${site.url}/a` }).finished;
    expect(circle).toMatchObject({ pages: 0, failures: { redirects: 1 }, pending: 0 });
    expect(site.asked).toHaveLength(11);
    site.asked.length = 0;
    await crawl({ ...options, seeds: [`${site.url}/known`, `${site.url}/c`] }).finished;
    expect(site.asked.filter((line) => line.startsWith("/known"))).toHaveLength(1);
  });
});
