/**
 * Scripts: one for each atomic step, put together from its file and the parts that it includes.
 *
 *   --- @include a b      the first line of a script: the texts of a.lua and b.lua come before it
 *   --- @const A = 1      a name in capitals for a number, a text or a key; Lua allows 200 variables, and a literal is faster
 *
 * A script is functions within functions, a level each. To make a closure, Lua searches all locals in use of the level around it for each one
 * that the closure uses, and takes those of outer levels without a search. Without levels each call took 15 µs more.
 *
 * Functions that a script does not use are left out, since each call makes all of them anew; so are comments and indentation, since the
 * server keeps each text.
 */
import { sha1 } from "../../../persistence/transfer/sha1.ts";
import { luaText } from "./lua-files.ts";

/** Keys of the scripts of a partition: lua/lib-state.lua lists them. */
const KEY_COUNT = 16;

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
  | "hosts"
  | "scan"
  | "edit"
  | "forget"
  | "switch"
  | "epoch"
  | "known"
  | "dump"
  | "restore"
  | "queue"
  | "service";

/** Scripts of other keys. */
const OTHER_KEYS: Partial<Record<ScriptName, number>> = Object.freeze({ service: 1 });

export interface Script {
  readonly text: string;
  readonly sha: string;
}

const made = new Map<ScriptName, Script>();

export function scriptOf(name: ScriptName): Script {
  let script = made.get(name);
  if (script === undefined) {
    const text = assemble(luaText(`${name}-${OTHER_KEYS[name] ?? KEY_COUNT}`));
    script = { text, sha: sha1(text).toString("hex") };
    made.set(name, script);
  }
  return script;
}

/** Parts after which a new level begins, where a script includes them. A level may use at most 60 names of those around it. */
const LEVELS_AFTER = ["lib-state", "lib-record"];

function assemble(own: string): string {
  const included = /^--- @include (.*)$/m.exec(own)?.[1]?.split(" ") ?? [];
  const inner = included.filter((name) => LEVELS_AFTER.includes(name));
  const all = [
    ...included.map((name) => luaText(name) + (inner.includes(name) ? "\nreturn (function()" : "")),
    own,
    ...inner.map(() => "end)()"),
  ].join("\n");
  const constants = new Map<string, string>();
  for (const [, list = ""] of all.matchAll(/^--- @const (.*)$/gm)) {
    for (const [, name = "", value = ""] of list.matchAll(
      /([A-Z][A-Z_0-9]*) = ("[^"]*"|\d+|KEYS\[\d+\])/g,
    )) {
      constants.set(name, value);
    }
  }
  return withoutUnused(all)
    .split("\n")
    .filter((line) => !/^\s*(--|$)/.test(line))
    .map((line) =>
      line.trim().replace(/"[^"]*"|\b[A-Z][A-Z_0-9]+\b/g, (word) => constants.get(word) ?? word),
    )
    .join("\n");
}

/** The text without functions of the outermost level that nothing names. */
function withoutUnused(text: string): string {
  const bare = text.replace(/^\s*--.*$/gm, "");
  const parts = bare.split(/^(?=local function )/m).flatMap((part) => {
    const end = /^(?:local function .* end$|end$)/m.exec(part);
    if (!part.startsWith("local function ") || end === null) return [part];
    const size = end.index + end[0].length;
    return [part.slice(0, size), part.slice(size)];
  });
  for (;;) {
    const counts = new Map<string, number>();
    for (const part of parts)
      for (const [word] of part.matchAll(/\b[a-zA-Z_]\w*\b/g))
        counts.set(word, (counts.get(word) ?? 0) + 1);
    let isSame = true;
    parts.forEach((part, at) => {
      const name = /^local function (\w+)/.exec(part)?.[1];
      if (name === undefined) return;
      const own = [...part.matchAll(new RegExp(`\\b${name}\\b`, "g"))].length;
      if (counts.get(name) !== own) return;
      parts[at] = "";
      isSame = false;
    });
    if (isSame) return parts.join("");
  }
}
