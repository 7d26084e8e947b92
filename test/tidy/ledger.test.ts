import { describe, expect, it } from "vitest";
import { LEDGER, STATE_NAMES } from "../../src/frontier/records/ledger.ts";
import { rowsOf, withLedger } from "../../tools/ledger.mjs";
import { readText } from "../support/package.ts";

const source = readText("src/frontier/records/ledger.ts");

/** Names of the states in bits 1 << state. */
function namesOf(bits: number): string[] {
  const states = Object.keys(STATE_NAMES).map(Number);
  return states
    .filter((state) => (bits & (1 << state)) !== 0)
    .map((each) => STATE_NAMES[each] ?? "");
}

describe("the ledger", () => {
  it("stands in ARCHITECTURE.md as it is in the code", () => {
    const page = readText("ARCHITECTURE.md");
    expect(withLedger(page, source), "node tools/ledger.mjs").toBe(page);
  });

  it("is read from the source as the engine has it", () => {
    const read = rowsOf(source).map(([name, from = "", to]) => [name, from.split(", ").sort(), to]);
    const rows = Object.entries(LEDGER).map(([name, { from, to }]) => {
      return [name, namesOf(from).sort(), STATE_NAMES[to]];
    });
    expect(read).toEqual(rows);
  });

  it("counts as admitted what enters, and nothing else", () => {
    for (const [name, { from, total }] of Object.entries(LEDGER)) {
      const isAdmission = total === "accepted" || total === "deferred";
      expect([name, isAdmission]).toEqual([name, namesOf(from).includes("none")]);
    }
  });

  it("has an entry for every row but those that another entry covers: of a generation, or of the record that takes the place", () => {
    const silent = Object.entries(LEDGER).filter(([, { log }]) => log === 0);
    expect(silent.map(([name]) => name)).toEqual(["forget", "replace"]);
  });
});
