/**
 * Lines of an export hold priorities from which the depth is subtracted already. Pushed into a directory with a frontier, its rule with
 * `depthPriority` subtracted the depth once more.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { openFrontier } from "../../src/index.ts";
import { exportFrontier, importFrontier } from "../../src/tools.ts";

const URLS = [
  { url: "http://a.test/rule", depth: 3 },
  { url: "http://a.test/own", depth: 2, priority: 40 },
  { url: "http://b.test/other", depth: 5, priority: 7 },
  { url: "http://b.test/top", priority: 1 },
];
const PRIORITIES = [-30, 20, 12, 1];

it.each([
  ["the same rules", [10, -1] as const],
  ["rules of the same names that subtract otherwise", [3, 0] as const],
  ["rules that subtract nothing", [0, 0] as const],
])("records imported into a frontier with %s keep their priorities", async (_, [ofA, ofB]) => {
  const folder = mkdtempSync(join(tmpdir(), "outrider-import-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const rulesOf = (a: number, b: number) => [
    { id: "a", match: { hosts: ["a.test"] }, depthPriority: a },
    { id: "b", match: { hosts: ["b.test"] }, depthPriority: b },
  ];
  const [from, to] = [join(folder, "from"), join(folder, "to")];
  {
    await using first = await openFrontier({ directory: from, rules: rulesOf(10, -1) });
    expect(first.pushMany(URLS)).toMatchObject({ accepted: URLS.length });
    await using second = await openFrontier({ directory: to, rules: rulesOf(ofA, ofB) });
    second.push("http://a.test/before");
  }
  const lines: string[] = [];
  for await (const line of exportFrontier(from)) lines.push(line);
  const options = { rules: rulesOf(ofA, ofB) };
  const result = await importFrontier(to, lines, { options });
  expect(result).toMatchObject({ kind: "requests", accepted: URLS.length });
  await using again = await openFrontier({ ...options, directory: to });
  expect(URLS.map(({ url }) => again.record(url)?.priority)).toEqual(PRIORITIES);
});
