/**
 * Scripts: one for each atomic step, put together from its file and the parts that it includes.
 *
 *   --- @include a b      the first line of a script: the texts of a.lua and b.lua come before it
 *   --- @const A = 1      a name in capitals for a number or a text; Lua allows 200 variables, and a literal is faster
 *
 * Comments and indentation are left out: the server keeps each text.
 */
import { sha1 } from "../../../persistence/transfer/sha1.ts";
import { luaText } from "./lua-files.ts";

/** Keys of every script: lua/lib-state.lua lists them. */
export const KEY_COUNT = 16;

export type ScriptName =
  | "create"
  | "push"
  | "poll"
  | "settle"
  | "deliver"
  | "outbox"
  | "report"
  | "rules"
  | "find"
  | "host"
  | "scan"
  | "edit"
  | "forget"
  | "switch"
  | "epoch";

export interface Script {
  readonly text: string;
  readonly sha: string;
}

const made = new Map<ScriptName, Script>();

export function scriptOf(name: ScriptName): Script {
  let script = made.get(name);
  if (script === undefined) {
    const text = assemble(luaText(`${name}-${KEY_COUNT}`));
    script = { text, sha: sha1(text).toString("hex") };
    made.set(name, script);
  }
  return script;
}

function assemble(own: string): string {
  const included = /^--- @include (.*)$/m.exec(own)?.[1]?.split(" ") ?? [];
  const all = [...included.map(luaText), own].join("\n");
  const constants = new Map<string, string>();
  for (const [, list = ""] of all.matchAll(/^--- @const (.*)$/gm)) {
    for (const [, name = "", value = ""] of list.matchAll(/([A-Z][A-Z_0-9]*) = ("[^"]*"|\d+)/g)) {
      constants.set(name, value);
    }
  }
  return all
    .split("\n")
    .filter((line) => !/^\s*(--|$)/.test(line))
    .map((line) =>
      line.trim().replace(/"[^"]*"|\b[A-Z][A-Z_0-9]+\b/g, (word) => constants.get(word) ?? word),
    )
    .join("\n");
}
