import {
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { readRules, watchRules } from "../../../../../src/cli/commands/crawl/rules-file.ts";
import { readText } from "../../../../support/package.ts";
import { matchesSchema } from "../../../../support/json-schema.ts";

const folder = mkdtempSync(join(tmpdir(), "outrider-rules-"));
const closers: Array<() => void> = [];
afterEach(() => {
  for (const close of closers.splice(0)) close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const rules = (id: string): string => JSON.stringify([{ id }]);
let serial = 0;

/** A watched file of rules; `told`: ids of what was read at each change, or what was wrong. */
function watched(): { path: string; told: string[] } {
  const inner = join(folder, String(++serial));
  mkdirSync(inner);
  const path = join(inner, "rules.json");
  writeFileSync(path, rules("first"));
  return { path, told: tell(path) };
}

function tell(path: string): string[] {
  const told: string[] = [];
  const note = (): void => {
    try {
      told.push(
        readRules(path)
          .rules.map(({ id }) => id)
          .join(" "),
      );
    } catch (cause) {
      told.push((cause as Error).name);
    }
  };
  closers.push(watchRules(path, note));
  return told;
}

const until = (told: string[]) => expect.poll(() => told, { interval: 20 });

describe("a file of rules that is watched", () => {
  it("is reported when it is written in place, and when an editor renames a new one to it", async () => {
    const { path, told } = watched();
    writeFileSync(path, rules("second"));
    await until(told).toEqual(["second"]);
    for (const id of ["third", "fourth"]) {
      writeFileSync(`${path}.swp`, rules(id));
      renameSync(`${path}.swp`, path);
      await until(told).toContain(id);
    }
    // As vim does: the old one is moved away first.
    renameSync(path, `${path}~`);
    writeFileSync(path, rules("fifth"));
    unlinkSync(`${path}~`);
    await until(told).toEqual(["second", "third", "fourth", "fifth"]);
  });

  it("of many quick saves the last one is reported, and none twice", async () => {
    const { path, told } = watched();
    for (let save = 0; save < 200; save++) {
      const isRename = save % 2 === 0;
      writeFileSync(isRename ? `${path}.new` : path, rules(`save-${save}`));
      if (isRename) renameSync(`${path}.new`, path);
    }
    await until(told).toContain("save-199");
    expect(told.at(-1)).toBe("save-199");
    expect(new Set(told).size).toBe(told.length);
  });

  it("one that is broken is reported once, and the next good one again, even the old one", async () => {
    const { path, told } = watched();
    writeFileSync(path, '[{ "id": ');
    await until(told).toEqual(["UsageError"]);
    writeFileSync(path, rules("first"));
    await until(told).toEqual(["UsageError", "first"]);
  });

  it("a link that is turned to another file is a change", async () => {
    const inner = join(folder, "links");
    mkdirSync(inner);
    for (const id of ["old", "new"]) writeFileSync(join(inner, `${id}.json`), rules(id));
    const path = join(inner, "rules.json");
    symlinkSync("old.json", path);
    const told = tell(path);
    symlinkSync("new.json", `${path}.tmp`);
    renameSync(`${path}.tmp`, path);
    await until(told).toEqual(["new"]);
  });

  it("a folder that is full of other changes reports nothing", async () => {
    const { path, told } = watched();
    for (let n = 0; n < 50; n++) writeFileSync(`${path}-items.jsonl`, String(n));
    writeFileSync(path, rules("first")); // touched, not changed
    writeFileSync(`${path}.other`, rules("other"));
    writeFileSync(path, rules("last"));
    await until(told).toEqual(["last"]);
  });
});

describe("a file of rules", () => {
  const schema = JSON.parse(readText("docs/rules.schema.json"));

  it.each([
    ['[{"id":"a"}]', true],
    ['{"rules":[{"id":"a"}]}', true],
    ['{"$schema":"./rules.schema.json","version":"7","rules":[]}', true],
    ['{"version":7,"rules":[{"id":"a"}],"more":1}', false],
    ['{"version":7}', false],
    ['{"rules":{}}', false],
    ["null", false],
    ["7", false],
    ['"rules"', false],
  ])("%s: the schema for editors and the command line agree", (text, isGood) => {
    const path = join(folder, "shape.json");
    writeFileSync(path, text);
    const read = (): boolean => {
      try {
        return readRules(path).rules.length >= 0;
      } catch {
        return false;
      }
    };
    expect([read(), matchesSchema(JSON.parse(text), schema)]).toEqual([isGood, isGood]);
  });
});
