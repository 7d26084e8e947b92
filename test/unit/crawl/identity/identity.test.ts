/** What a crawl with an identity sends: verified by whoever knows the directory. */
import { createPublicKey, verify } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { crawl } from "../../../../src/crawl.ts";
import { identityOf, openIdentity, withNewKey } from "../../../../src/crawl/identity/identity.ts";
import { listen } from "../../../support/listening.ts";

it.each([0, 2])(
  "each request of a crawl on %i threads is signed for its host, after a redirect anew, in a repeated nonce never",
  async (threads) => {
    const folder = mkdtempSync(join(tmpdir(), "outrider-identity-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = await withNewKey({ keys: [] }, { agent: "https://bot.example" });
    const path = join(folder, "identity.json");
    writeFileSync(path, JSON.stringify(file));
    const { body } = (await identityOf(file)).directory(0);
    const [jwk] = (JSON.parse(body) as { keys: Array<Record<string, string>> }).keys;
    const key = createPublicKey({ key: jwk ?? {}, format: "jwk" });

    const asked: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      asked.push(request);
      const { port } = server.address() as AddressInfo;
      if (request.url === "/away")
        response.writeHead(302, { location: `http://localhost:${port}/there` });
      else response.writeHead(200, { "content-type": "text/html" });
      response.end(request.url === "/" ? "<a href=/away>away</a>" : "");
    });
    await listen(server);
    const { port } = server.address() as AddressInfo;
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    await crawl({
      ...{
        seeds: `http://127.0.0.1:${port}/`,
        scope: "any",
        delayMs: 0,
        allowPrivate: true,
        threads,
      },
      identity: path,
      headers: { signature: "sig1=:AAAA:" },
    }).finished;
    const paths = asked.map(({ url, headers }) => `${headers.host}${url}`).sort();
    const [here, there] = hosts;
    const all = [
      `${here}/`,
      `${here}/away`,
      `${here}/robots.txt`,
      `${there}/robots.txt`,
      `${there}/there`,
    ];
    expect(paths).toEqual(all.sort());
    const nonces = new Set<string>();
    for (const { headers } of asked) {
      const input = String(headers["signature-input"]).replace(/^sig1=/, "");
      const text = `"@authority": ${headers.host}\n"signature-agent";key="sig1": "https://bot.example"\n"@signature-params": ${input}`;
      const signature = Buffer.from(/:(.*):/.exec(String(headers.signature))?.[1] ?? "", "base64");
      expect([headers.host, verify(null, Buffer.from(text), key, signature)]).toEqual([
        headers.host,
        true,
      ]);
      nonces.add(/nonce="([^"]*)"/.exec(input)?.[1] ?? "");
    }
    expect(nonces.size).toBe(asked.length);
  },
);

it("a crawl with a file that is no identity asks nobody", async () => {
  const begun = crawl({ seeds: "http://127.0.0.1:9/", identity: join(tmpdir(), "none.json") });
  await expect(begun.finished).rejects.toMatchObject({ code: "OPTION_INVALID" });
  await expect(openIdentity(tmpdir())).rejects.toMatchObject({ code: "OPTION_INVALID" });
});
