/**
 * `pollMany` with options wrote the records of more than 1,024 leases behind their array: some leases had the URL of another record.
 * From some 120,000 on the call threw a RangeError while its leases stayed out.
 */
import { expect, it, onTestFinished } from "vitest";
import { openFrontier } from "../../src/index.ts";

it.each([1_024, 1_025, 20_000, 200_000])(
  "%d leases of their own time have their own URLs",
  async (count) => {
    const frontier = await openFrontier();
    onTestFinished(() => frontier.close());
    const urls = Array.from({ length: count }, (_, at) => `http://h${at % 7}.org/page/${at}`);
    frontier.pushMany(urls);
    const leases = frontier.pollMany(count, { leaseMs: 60_000 });
    expect(leases.map(({ url }) => url)).toStrictEqual(urls);
    expect(frontier.done(leases)).toBe(count);
  },
);

it("many leases of one host have their own URLs", async () => {
  const frontier = await openFrontier({ defaults: { politeness: { delayMs: 1_000, perHost: 1 } } });
  onTestFinished(() => frontier.close());
  const urls = Array.from({ length: 20_000 }, (_, at) => `http://one.org/page/${at}`);
  frontier.pushMany(urls);
  const leases = frontier.pollMany(urls.length, { host: "one.org" });
  expect(leases.map(({ url }) => url)).toStrictEqual(urls);
});
