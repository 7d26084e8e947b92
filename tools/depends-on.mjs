/** Whether a module of test/ imports another, itself or by way of others; what is outside test/ is not followed. */
import { existsSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Per file looked for: module → whether it imports that. */
const known = new Map();

export function dependsOn(module, file) {
  const answers = known.get(file) ?? new Map();
  known.set(file, answers);
  if (module === file) return true;
  const answer = answers.get(module);
  if (answer !== undefined) return answer;
  // For a module that imports itself in a circle.
  answers.set(module, false);
  const found = importsOf(module).some((each) => dependsOn(each, file));
  answers.set(module, found);
  return found;
}

function importsOf(module) {
  if (!existsSync(module)) return [];
  const specifiers = readFileSync(module, "utf8").matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g);
  return [...specifiers]
    .map(([, specifier]) => resolve(dirname(module), specifier))
    .filter((path) => path.includes("/test/"));
}
