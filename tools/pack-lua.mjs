/** The scripts of Redis as the package has them: shorter texts, of which `scripts.ts` makes the same as of the files, but for spaces. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Of a line `--- @const` of a script on Redis. */
const CONSTANT = /([A-Z][A-Z_0-9]*) = ("[^"]*"|\d+)(?:, )?/g;

/** The texts by their names. */
export function packLua(folder) {
  const files = readdirSync(folder).map((file) => [
    file.replace(/\.lua$/, ""),
    readFileSync(join(folder, file), "utf8"),
  ]);
  const constants = constantsOf(files.map(([, text]) => text).join("\n"));
  return Object.fromEntries(files.map(([name, text]) => [name, spare(text, constants)]));
}

/** Numbers and texts by the names that stand for them in all scripts (`scripts.ts`). */
function constantsOf(text) {
  const constants = new Map();
  for (const [line] of text.matchAll(/^--- @const .*$/gm))
    for (const [, name, value] of line.matchAll(CONSTANT)) {
      if ((constants.get(name) ?? value) !== value) throw new Error(`${name}: two values in lua/`);
      constants.set(name, value);
    }
  return constants;
}

/**
 * Without lines that the server would not get, but for those that put scripts together. Nor with names of constants, nor with spaces around
 * operators and brackets; one stays beside `..`, which may follow a number, and beside `-`, since two of them begin a comment. Nor with spaces
 * before a line, but where a function within another one begins or ends.
 */
function spare(text, constants) {
  const lines = text.split("\n").map((line) => {
    if (line.startsWith("--- @const")) return line.replace(CONSTANT, "");
    if (line.startsWith("--- @")) return line;
    return line.replace(/"[^"]*"|\b[A-Z][A-Z_0-9]+\b/g, (word) => constants.get(word) ?? word);
  });
  const left = lines.filter((line) =>
    line.startsWith("--- @") ? line !== "--- @const " : !/^\s*(--|$)/.test(line),
  );
  return left.map(spareLine).join("\n");
}

function spareLine(line) {
  if (line.startsWith("--- @")) return line;
  const indent = /^\s+(local function|end)\b/.test(line) ? " " : "";
  const parts = line.trim().split(/("[^"]*")/);
  const squeezed = parts.map((part, at) =>
    at % 2 === 1 ? part : part.replace(/ ?(,|==|~=|<=|>=|[=+*/<>%(){}[\]]) ?/g, "$1"),
  );
  // A line ends a function by an "end" of its own or after a space.
  return indent + squeezed.join("").replace(/(?<=[)}\]])end$/, " end");
}
