/**
 * Scripts: one for each atomic step, put together from its file and the parts that it includes.
 *
 *   --- @include a b      the first line of a script: the texts of a.lua and b.lua come before it
 *   --- @const A = 1      a name in capitals for a number, a text or a key; Lua allows 200 variables, and a literal is faster
 *
 * A script is functions within functions, a level each. To make a closure, Lua searches all locals in use of the level around it for each one
 * that the closure uses, and takes those of outer levels without a search. Without levels each call took 15 µs more.
 *
 *   --- @rare             before a function that few calls of a script need: what it alone uses is made within it, where it is called
 *
 * Functions that a script does not use are left out, since each call makes all of them anew; so are comments and indentation, since the
 * server keeps each text.
 */
import { sha1 } from "../../../persistence/transfer/request-digest.ts";
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
  | "service"
  | "idle";

/** Scripts of other keys. */
const OTHER_KEYS: Partial<Record<ScriptName, number>> = Object.freeze({ service: 1, idle: 1 });

export interface Script {
  readonly text: string;
  /** The first keys of a partition, so many. */
  readonly keys: number;
  readonly sha: string;
}

const made = new Map<ScriptName, Script>();

export function scriptOf(name: ScriptName): Script {
  let script = made.get(name);
  if (script === undefined) {
    const keys = OTHER_KEYS[name] ?? KEY_COUNT;
    const text = assemble(luaText(`${name}-${keys}`));
    script = { text, keys, sha: sha1(text).toString("hex") };
    made.set(name, script);
  }
  return script;
}

/** Parts after which a new level begins, where a script includes them. A level may use at most 60 names of those around it. */
const LEVELS_AFTER = ["lib-calls", "lib-record"];

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

/** The text without functions of the outermost level that nothing names, and with those that only rare ones name within each of these. */
function withoutUnused(text: string): string {
  const rare = new Set(
    [...text.matchAll(/^--- @rare\nlocal function (\w+)/gm)].map(([, name]) => name),
  );
  const bare = text.replace(/^\s*--.*$/gm, "");
  const parts = bare.split(/^(?=local function )/m).flatMap((part) => {
    const end = /^(?:local function .* end$|end$)/m.exec(part);
    if (!part.startsWith("local function ") || end === null) return [part];
    const size = end.index + end[0].length;
    return [part.slice(0, size), part.slice(size)];
  });
  const names = parts.map((part) => /^local function (\w+)/.exec(part)?.[1]);
  const named = parts.map((part) => {
    const words = new Set(part.match(/\b[a-zA-Z_]\w*\b/g));
    return names.flatMap((name, at) => (name !== undefined && words.has(name) ? [at] : []));
  });
  /** What these parts name by themselves and by what they name, but for what is at hand, and for what only a rare function names. */
  const neededBy = (from: readonly number[], hasAlready: ReadonlySet<number>): number[] => {
    const found = new Set<number>();
    const follow = (part: number): void => {
      for (const at of named[part] as number[]) {
        if (at === part || hasAlready.has(at) || found.has(at)) continue;
        found.add(at);
        if (!rare.has(names[at])) follow(at);
      }
    };
    from.forEach(follow);
    return [...found].sort((a, b) => a - b);
  };
  const made = (at: number, hasAlready: ReadonlySet<number>): string => {
    const own = parts[at] as string;
    if (!rare.has(names[at])) return own;
    const inside = neededBy([at], new Set([...hasAlready, at]));
    const all = new Set([...hasAlready, ...inside, at]);
    const head = own.indexOf(")") + 1;
    return [own.slice(0, head), ...inside.map((one) => made(one, all)), own.slice(head)].join("\n");
  };
  const outside = parts.flatMap((_, at) => (names[at] === undefined ? [at] : []));
  const all = new Set(neededBy(outside, new Set()));
  return parts
    .map((part, at) => (names[at] === undefined ? part : all.has(at) ? made(at, all) : ""))
    .join("");
}
