/** The fields of a worker's lease equal those of the owner's lease, whatever the profile leaves in the URL. */
import { describe, expect, it } from "vitest";
import { openFrontier } from "../../../../src/engine/api/open-frontier.ts";
import { attach } from "../../../../src/workers/remote/worker-port.ts";

const URLS = [
  "http://a.test/",
  "http://a.test:80/x",
  "https://a.test:443",
  "https://a.test:80/",
  "http://user:p%40ss@B.test:8080?q=a@c.test",
  "http://[::1]:80/#top",
];

describe("a lease in a worker's thread", () => {
  it.each([
    { profile: "canonical" },
    { profile: "url" },
    { profile: "w3lib" },
    { profile: "w3lib", visit: "canonical" },
  ] as const)("names its host as the owner's does under the key %s", async (key) => {
    const options = { keepOpen: true, defaults: { key } };
    const here = await openFrontier(options);
    const there = await openFrontier(options);
    for (const frontier of [here, there]) frontier.pushMany(URLS);
    const port = attach(there.share());
    const expected = here.pollMany(URLS.length).map(({ url, host }) => [url, host]);
    expect(expected.length).toBeGreaterThan(2);
    const told: unknown[] = [];
    while (told.length < expected.length) {
      for (const { url, host } of await port.take({ max: 9 })) told.push([url, host]);
    }
    expect(told).toEqual(expected);
    await port.close();
    await there.close();
    await here.close();
  });
});
