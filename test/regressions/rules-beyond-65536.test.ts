/**
 * A directory kept 16 bits of a rule's index: of more than 65,536 rules, those of a set before counted, the records of the last ones
 * came back under others.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openFrontier, type Rule } from "../../src/index.ts";
import { exportFrontier, importFrontier } from "../../src/tools.ts";

function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), "rules-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const rulesOf = (from: number, count: number): Rule[] =>
  Array.from({ length: count }, (_, at) => {
    const id = `r${from + at}`;
    return { id, match: { hosts: [`${id}.org`] } };
  });

const urlsOf = (numbers: readonly number[]): string[] =>
  numbers.flatMap((n) => [`http://r${n}.org/1`, `http://r${n}.org/2`]);

/** The rule of each URL that is pending. */
async function rulesAfter(directory: string, isWhole = false): Promise<Array<[string, string]>> {
  const frontier = await openFrontier({ directory });
  if (isWhole) await frontier.snapshot({ whole: true });
  const found: Array<[string, string]> = [];
  while (frontier.report().pending > 0) {
    for (const { url, rule } of await frontier.take({ max: 1_000 })) found.push([url, rule]);
  }
  await frontier.close();
  return found.sort();
}

const expected = (urls: readonly string[]): Array<[string, string]> =>
  urls.map((url): [string, string] => [url, new URL(url).hostname.slice(0, -4)]).sort();

it("records of 66,000 rules come back under their own, by any file", async () => {
  const directory = temporary();
  const rules = rulesOf(0, 66_000).map((rule, at) =>
    at % 2 === 0 ? rule : { ...rule, politeness: { delayMs: 0, perHost: 9 } },
  );
  const urls = urlsOf([0, 1, 463, 464, 65_534, 65_535, 65_536, 65_537, 65_998, 65_999]);
  const frontier = await openFrontier({ directory, rules });
  frontier.pushMany(urls);
  for (const lease of frontier.pollMany(9)) lease.retry({ delayMs: 0 }); // an entry of another kind
  await frontier.close();
  expect(await rulesAfter(directory, true)).toEqual(expected(urls)); // journal
  const copy = temporary();
  await importFrontier(copy, exportFrontier(directory));
  expect(await rulesAfter(directory)).toEqual(expected(urls)); // snapshot
  expect(await rulesAfter(copy)).toEqual(expected(urls)); // export
});
