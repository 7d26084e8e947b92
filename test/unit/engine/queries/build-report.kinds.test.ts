/** Each field of the report says whether it is a counter or a gauge, and whether a restart keeps it; and that is so. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import ts from "typescript";
import { expect, it, onTestFinished } from "vitest";
import { createVirtualClock, openFrontier, type Report } from "../../../../src/index.ts";
import { readText } from "../../../support/package.ts";

const KINDS = [
  "Counter, kept over a restart.",
  "Counter since opening.",
  "Gauge, kept over a restart.",
  "Gauge of this process.",
] as const;

/** Kinds of the fields of the type, those of an object of several kinds by their path. */
function kindsOf(): Map<string, string[]> {
  const file = ts.createSourceFile(
    "report-types.ts",
    readText("src/engine/types/report-types.ts"),
    ts.ScriptTarget.Latest,
    true,
  );
  const kinds = new Map<string, string[]>();
  const look = (node: ts.Node, path: readonly string[]): void => {
    ts.forEachChild(node, (child) => {
      if (!ts.isPropertySignature(child)) return look(child, path);
      const own = [...path, child.name.getText()];
      const text = child.getFullText().slice(0, child.getLeadingTriviaWidth());
      const said = text.replaceAll(/\s*\n?\s*\*(?!\/)\s*/g, " ").replaceAll(/\s+/g, " ");
      kinds.set(
        own.join("."),
        KINDS.filter((kind) => said.includes(kind)),
      );
      look(child, own);
    });
  };
  for (const one of file.statements) {
    if (ts.isInterfaceDeclaration(one) && one.name.text === "Report") look(one, []);
  }
  return kinds;
}

/** The kind of a field, its own or that of the object that it is in. */
function kindOf(kinds: ReadonlyMap<string, string[]>, path: string): string[] {
  const own = kinds.get(path) ?? [];
  const above = path.includes(".") ? (kinds.get(path.slice(0, path.lastIndexOf("."))) ?? []) : [];
  return [...above, ...own];
}

it("every field has exactly one kind, its own or its object's", () => {
  const kinds = kindsOf();
  expect(kinds.size).toBeGreaterThan(50);
  const objects = [...kinds.keys()].filter((path) =>
    [...kinds.keys()].some((other) => other.startsWith(`${path}.`)),
  );
  for (const path of kinds.keys()) {
    const isMixed = objects.includes(path) && kinds.get(path)?.length === 0;
    if (!isMixed) expect(kindOf(kinds, path), path).toHaveLength(1);
  }
});

it("what is said to be kept is kept over a restart, and what is counted since opening begins at 0", async () => {
  const directory = mkdtempSync(join(tmpdir(), "outrider-report-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const clock = createVirtualClock(1_000_000);
  const options = {
    ...{ directory, clock, leaseMs: 1_000 },
    rules: [{ id: "a", match: { hosts: ["a.test"] }, maxDepth: 1, maxAttempts: 2 }],
  };
  const first = await openFrontier(options);
  first.pushMany(Array.from({ length: 12 }, (_, at) => `http://a.test/${at}`));
  first.pushMany(["http://a.test/1", "no URL", "http://b.test/"]);
  first.push("http://a.test/late", { notBefore: clock.now() + 1e9, epoch: "e" });
  const [a, b, c, , late] = first.pollMany(5);
  a?.done({ found: ["/deep"] });
  b?.fail("gone");
  c?.retry({ reason: "again" });
  first.remove({ pattern: "/11$" });
  clock.advance(1_000);
  first.poll();
  late?.done();
  const before = first.report();
  await first.close();
  const again = await openFrontier(options);
  const after = again.report();
  const kinds = kindsOf();
  const counted: string[] = [];
  for (const [path] of kinds) {
    const [kind = ""] = kindOf(kinds, path);
    const value = (report: Report): unknown =>
      path
        .split(".")
        .reduce<unknown>((at, name) => (at as Record<string, unknown>)?.[name], report);
    if (path.startsWith("rules.")) continue;
    // What was leased is pending again.
    if (path === "pending") expect(after.pending).toBe(before.pending + before.leased);
    else if (kind.includes("kept")) expect(value(after), path).toEqual(value(before));
    else if (kind === KINDS[1] && typeof value(after) === "number") {
      expect(value(after), path).toBe(0);
    }
    if (kind.includes("Counter, kept")) counted.push(path);
  }
  expect(counted).toContain("lateResults");
  expect(after.reasons).toEqual({ retried: {}, failed: {} });
  const { pending: _, leased: __, ...kept } = before.rules.a ?? {};
  expect(after.rules.a).toMatchObject(kept);
  expect(before).toMatchObject({
    ...{ duplicate: 1, expired: 2, lateResults: 1, failed: 1, removed: 1, waiting: 1, retried: 1 },
  });
  await again.close();
});
