import { expect, it } from "vitest";
import { BATCH_OK } from "../../../../src/layout/calls/url-batch.ts";
import { batchKey, batchLoad, batchParse } from "../../../../src/url/batch/url-batch.ts";
import { registrableDomain } from "../../../../src/url/parsing/registrable-domain.ts";
import { createDomainMemo, rowDomain } from "../../../../src/url/matching/row-domain.ts";
import { rowHostText, rowStatus } from "../../../../src/url/batch/row-fields.ts";
import { fuzzUrl } from "../../../support/fuzz.ts";
import { testRandom } from "../../../support/seed.ts";
import { newBatch } from "../../../support/url-check.ts";

const HOSTS = [
  ...["www.example.com", "a.b.example.co.uk:8443", "co.uk", "localhost", "127.0.0.1:81", "[::1]"],
  ...["x.alice.github.io", "db.intra.corp-x", "a.com.a.com", "example.com.", "www.example.com.:80"],
  ...["xn--bcher-kva.example", "m.\u00fcber.example", "a_b.example.org", "1.2.3.4", "com"],
];

/** Asks every row of some URLs; the hosts that were met. */
function askAll(urls: readonly string[], memo = createDomainMemo()) {
  const batch = newBatch();
  const rows = { kernel: batch.area.kernel, offset: batch.area.header };
  const hosts = new Set<string>();
  let asked = 0;
  for (let start = 0; start < urls.length; start += batch.count) {
    batchLoad(batch, urls, start);
    const parsed = batchParse(batch);
    batchKey(parsed);
    batch.area.kernel.exports.hashBatch(batch.area.header);
    for (let row = 0; row < batch.count; row++) {
      if (rowStatus(rows, row) !== BATCH_OK) continue;
      const host = rowHostText(rows, row);
      const domain = Buffer.from(rowDomain(memo, rows, row)).toString();
      expect(domain, host).toBe(registrableDomain(host));
      hosts.add(host);
      asked++;
    }
  }
  return { memo, hosts, asked };
}

it("gives each row the range of its registrable domain, also where hosts share a place (I1)", () => {
  const random = testRandom("row domains");
  const urls = HOSTS.flatMap((host) => [`http://${host}/a`, `https://u:p@${host}/?b`]);
  for (let i = 0; i < 3_000; i++) urls.push(fuzzUrl(random), `http://h${i}.net:${i}/`);
  expect(askAll(urls).hosts.size).toBeGreaterThan(1_000);
});

it("asks the list once for a host, not for each of its URLs (I2)", () => {
  const urls = Array.from({ length: 5_000 }, (_, i) => `http://www.site-${i % 40}.org/${i}`);
  const { memo, hosts, asked } = askAll(urls);
  expect([hosts.size, asked]).toEqual([40, 5_000]);
  // Hosts that share a place would take turns: with 40 of 8,192 places that is at most rare.
  expect(memo.asked).toBeLessThan(asked / 10);
});
