/** A crawl over TLS from end to end, on the built package: HTTP/2 where it is offered, sitemaps on the way, a certificate of one's own. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { createSecureServer } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { crawl as crawlOfSource } from "../../src/crawl/run/crawl.ts";
import { certificateOf } from "../support/certificate.ts";
import { packageRoot } from "../support/package.ts";

const { crawl } = (await import(`${packageRoot}dist/crawl.js`)) as { crawl: typeof crawlOfSource };
const made = certificateOf("localhost");

const PAGES = ["/", "/linked", "/packed?a=1&b=2", "/plain"];
const ALL = [...PAGES, "/robots.txt", "/index.xml", "/a.xml.gz", "/b.txt"].toSorted();

/** Path and version of every request. */
const asked: Array<readonly [path: string, version: string]> = [];
const sockets = new Set<Socket>();
const folder = mkdtempSync(join(tmpdir(), "outrider-https-"));

/** What stands at a path. */
function bodyOf(path: string, origin: string): string | Buffer {
  const urls = (...list: string[]): string =>
    list.map((each) => `<url><loc>${origin}${each}</loc></url>`).join("");
  if (path === "/robots.txt") return `User-agent: *\nSitemap: ${origin}/index.xml\n`;
  if (path === "/index.xml") {
    const maps = ["/a.xml.gz", "/b.txt"].map((each) => `<sitemap><loc>${origin}${each}</loc>`);
    return `<sitemapindex>${maps.join("</sitemap>")}</sitemap></sitemapindex>`;
  }
  if (path === "/a.xml.gz") return gzipSync(`<urlset>${urls("/packed?a=1&amp;b=2", "/")}</urlset>`);
  if (path === "/b.txt") return `${origin}/plain\n`;
  return path === "/" ? '<a href="/linked">' : "";
}

const server = createSecureServer({ ...made, allowHTTP1: true }, (request, response) => {
  const { httpVersion, headers, url: path = "" } = request;
  asked.push([path, httpVersion]);
  const authority = headers[":authority"] ?? (headers as IncomingMessage["headers"]).host;
  const type = /xml|txt/.test(path) ? "application/octet-stream" : "text/html";
  response.writeHead(200, { "content-type": type });
  response.end(bodyOf(path, `https://${authority}`));
});
server.on("connection", (socket: Socket) => void sockets.add(socket));

let url = "";
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  url = `https://localhost:${(server.address() as AddressInfo).port}/`;
});
afterAll(() => {
  for (const socket of sockets) socket.destroy();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("a crawl over TLS", () => {
  it.each([
    [0, true],
    [0, false],
    [2, true],
    [2, false],
  ])("with %i threads asks everything over HTTP/2: %s", async (threads, http2) => {
    asked.length = 0;
    const options = { seeds: url, allowPrivate: true, delayMs: 0, threads, ca: made.cert };
    const summary = await crawl({ ...options, ...(http2 ? {} : { http2 }) }).finished;
    expect(summary).toMatchObject({ pages: PAGES.length, sitemaps: 3, failed: 0, pending: 0 });
    expect(asked.map(([path]) => path).toSorted()).toEqual(ALL);
    expect(new Set(asked.map(([, version]) => version))).toEqual(new Set([http2 ? "2.0" : "1.1"]));
  });

  it("is refused where nobody vouches for the certificate, and done where Node is told who does", async () => {
    const flags = ["--allow-private", "--delay", "0", "--json"];
    const run = (env: Record<string, string>): Promise<{ out: string; err: string }> =>
      new Promise((resolve) => {
        const argv = [`${packageRoot}dist/cli/main.js`, "crawl", url, ...flags];
        const child = spawn(process.execPath, argv, { env: { ...process.env, ...env } });
        const said = { out: "", err: "" };
        child.stdout.setEncoding("utf8").on("data", (text: string) => {
          said.out += text;
        });
        child.stderr.setEncoding("utf8").on("data", (text: string) => {
          said.err += text;
        });
        child.on("close", () => resolve(said));
      });
    asked.length = 0;
    const refused = await run({});
    expect(JSON.parse(refused.out)).toMatchObject({ pages: 0, pending: 0 });
    expect(refused.err).toContain("NODE_EXTRA_CA_CERTS=<file> adds yours");
    expect(asked).toEqual([]);
    const file = join(folder, "cert.pem");
    writeFileSync(file, made.cert);
    const { out } = await run({ NODE_EXTRA_CA_CERTS: file });
    expect(JSON.parse(out)).toMatchObject({ pages: PAGES.length, sitemaps: 3, failed: 0 });
    expect(asked.map(([path]) => path).toSorted()).toEqual(ALL);
  });
});
