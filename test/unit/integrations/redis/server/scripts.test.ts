import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it, vi } from "vitest";
import { type ScriptName, scriptOf } from "../../../../../src/integrations/redis/server/scripts.ts";
import { packLua } from "../../../../../tools/pack-lua.mjs";

const LUA = new URL("../../../../../src/integrations/redis/lua/", import.meta.url);
/** Those of the outermost level in what scripts include. */
const FUNCTIONS = readdirSync(LUA)
  .filter((file) => file.startsWith("lib-"))
  .flatMap((file) =>
    [...readFileSync(new URL(file, LUA), "utf8").matchAll(/^local function (\w+)/gm)].map(
      ([, name = ""]) => name,
    ),
  );

/** How many functions are around each function of a script, by name. */
function depthsOf(text: string): Map<string, number[]> {
  const depths = new Map<string, number[]>();
  let depth = 0;
  for (const line of text.split("\n")) {
    const [, name] = /^local function (\w+)/.exec(line) ?? [];
    if (name !== undefined) depths.set(name, [...(depths.get(name) ?? []), depth]);
    for (const [word] of line
      .replace(/"[^"]*"/g, "")
      .matchAll(/\b(?:function|do|then|elseif|end)\b/g))
      depth += word === "end" || word === "elseif" ? -1 : 1;
  }
  return depths;
}

it("makes what a rare function alone needs within it, and leaves out what nothing needs", () => {
  const depths = depthsOf(scriptOf("poll").text);
  const [outside = 0] = depths.get("moveDueOf") as number[];
  expect(depths.get("leasePlain")).toEqual([outside]);
  // Leases that are over, and hosts that must be parsed.
  expect(depths.get("expireLeases")).toEqual([outside + 1]);
  expect(Math.min(...(depths.get("parseHost") as number[]))).toBeGreaterThan(outside);
  expect(depths.has("takeOutcome")).toBe(false);
  expect(depthsOf(scriptOf("settle").text).has("takeOutcome")).toBe(true);
});

/** Functions that a script calls where none of that name is in sight. */
function outOfSight(text: string): string[] {
  const names = new Set(FUNCTIONS);
  const levels: Set<string>[] = [new Set()];
  const missing: string[] = [];
  for (const line of text.split("\n")) {
    const [, made = ""] = /^local (?:function )?([\w, ]+)/.exec(line) ?? [];
    for (const name of made.split(/\W+/)) levels.at(-1)?.add(name);
    for (const [word] of line.replace(/"[^"]*"/g, "").matchAll(/(?<![.\w])[a-zA-Z_]\w*/g)) {
      if (["function", "do", "then"].includes(word)) levels.push(new Set());
      else if (word === "end" || word === "elseif") levels.pop();
      else if (names.has(word) && !levels.some((level) => level.has(word))) missing.push(word);
    }
  }
  return missing;
}

it.each(readdirSync(LUA).flatMap((file) => /^([a-z]+)-\d+\.lua$/.exec(file)?.[1] ?? []))(
  "%s calls functions that are in sight",
  (name) => {
    expect(outOfSight(scriptOf(name as ScriptName).text)).toEqual([]);
  },
);

/** Without spaces that mean nothing. */
function bare(text: string): string {
  const parts = text.split(/("[^"]*")/);
  const squeezed = parts.map((part, at) =>
    at % 2 === 1 ? part : part.replace(/\s*([^\w\s])\s*/g, "$1").replace(/\s+/g, " "),
  );
  return squeezed.join("").trim();
}

it("makes the same of the texts that are packed", async () => {
  const packed = packLua(fileURLToPath(LUA));
  vi.resetModules();
  vi.doMock("../../../../../src/integrations/redis/server/lua-files.ts", () => ({
    luaText: (name: string) => packed[name],
  }));
  const packedScripts = await import("../../../../../src/integrations/redis/server/scripts.ts");
  const names = Object.keys(packed).flatMap((name) => /^(\w+)-\d+$/.exec(name)?.[1] ?? []);
  expect(names.length).toBeGreaterThan(20);
  for (const name of names as ScriptName[])
    expect(bare(packedScripts.scriptOf(name).text)).toBe(bare(scriptOf(name).text));
});
