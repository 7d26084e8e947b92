import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { RESULT_SCHEMA, SUITE_SCHEMA } from "../../bench/harness/result-file.ts";
import { removeSuperseded, supersededFiles } from "../../bench/report/retention.ts";

const RESULTS = fileURLToPath(new URL("../../bench/results", import.meta.url));
const TARGET = {
  ...{ id: "push", what: "push", target: "≥ 4 ×" },
  of: [{ case: "frontier", params: { urls: 7 }, ratio: ["outrider", "plain", "push"] }],
};

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "outrider-results-"));
  write("targets.json", { intro: [], sections: [{ title: "One", rows: [TARGET] }] });
  write("estimates.json", {});
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(name: string, value: unknown): void {
  writeFileSync(join(folder, name), JSON.stringify(value));
}

interface Conditions {
  readonly dirty?: boolean;
  readonly load?: number;
  readonly urls?: number;
}

function headOf(day: number, { dirty = false, load = 0 }: Conditions): object {
  const machine = { commit: "0123456789ab", node: "20.0.0", cpu: "", cores: 2 };
  return { at: `2026-01-0${day}T00:00:00Z`, dirty, load: [load, 0, 0], ...machine };
}

function caseOf(name: string, { urls = 1 }: Conditions): object {
  const ratio = { median: 2, low: 2, high: 2 };
  const pairs = ["push", "time"].map((phase) => {
    return { subject: "outrider", peer: "plain", phase, ratio };
  });
  const run = { params: { urls }, rounds: 3, doubt: null, ratio: pairs, observations: {} };
  return { case: name, runs: [run] };
}

/** Writes the result of one case and returns its name. */
function single(day: number, name: string, conditions: Conditions = {}): string {
  const file = `2026-01-0${day}T000000-0123456789ab-${name}.json`;
  const head = { schema: RESULT_SCHEMA, ...headOf(day, conditions) };
  write(file, { ...head, ...caseOf(name, conditions) });
  return file;
}

function suite(day: number, names: readonly string[]): string {
  const file = `2026-01-0${day}-0123456789ab.json`;
  const cases = names.map((name) => caseOf(name, {}));
  write(file, { schema: SUITE_SCHEMA, ...headOf(day, {}), cases });
  return file;
}

describe("results that are superseded", () => {
  it("are older runs of one case, and older suites", () => {
    const old = [single(1, "pool"), suite(2, ["pool", "lane"])];
    single(3, "pool");
    suite(4, ["lane"]);
    single(5, "wake");
    expect(supersededFiles(folder)).toEqual(old);
  });

  it("are older runs of cases that a later suite has, and not of others", () => {
    const pool = single(1, "pool");
    const spill = single(2, "spill");
    suite(3, ["pool", "lane"]);
    expect(supersededFiles(folder)).toEqual([pool]);
    const paths = removeSuperseded(folder);
    expect(paths).toEqual([join(folder, pool)]);
    expect(readdirSync(folder)).toContain(spill);
    expect(removeSuperseded(folder)).toEqual([]);
  });

  it("are none that a target takes its number from", () => {
    const cited = single(1, "frontier", { urls: 7 });
    single(2, "frontier");
    expect(supersededFiles(folder)).toEqual([]);
    single(3, "frontier", { urls: 7 });
    expect(supersededFiles(folder)).toEqual([cited, single(2, "frontier")]);
  });

  it("are none of calm machines that a target prefers to a later one under load", () => {
    single(1, "frontier", { urls: 7 });
    single(2, "frontier", { urls: 7, load: 9 });
    expect(supersededFiles(folder)).toEqual([]);
  });

  it("are none that README takes a number from", () => {
    single(1, "dedup", { urls: 10_000_000 });
    write("targets.json", { intro: [], sections: [] });
    const uncited = single(2, "dedup", { urls: 10 });
    suite(3, ["dedup"]);
    expect(supersededFiles(folder)).toEqual([uncited]);
  });

  it("are none of a clean tree where only a tree with changes has later ones", () => {
    single(1, "pool");
    const dirty = single(2, "pool", { dirty: true });
    expect(supersededFiles(folder)).toEqual([]);
    single(3, "pool");
    expect(supersededFiles(folder)).toContain(dirty);
  });
});

describe("bench/results", () => {
  it("holds nothing that is superseded, and no page", () => {
    expect(supersededFiles(RESULTS), "npm run bench -- report").toEqual([]);
    expect(readdirSync(RESULTS).filter((name) => name.endsWith(".html"))).toEqual([]);
  });
});
