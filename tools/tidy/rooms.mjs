/**
 * Where files are and how they are named (CONTRIBUTING.md, Rooms and doors).
 */
import ts from "typescript";
import { QUICK_SUITES, SLOW_SUITES } from "../suites.mjs";
import { ENTRIES, isScript, lineAt, ROOMS, roomOf, THREAD_ENTRY } from "./source.mjs";

const KEBAB = /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)*$/;
const CHECKED_FOLDER = /^(src|assembly|test|bench|examples|tools)\//;

/** Rules about one path. */
export function checkPlace({ path }, report) {
  if (CHECKED_FOLDER.test(path) && isScript(path)) {
    const crooked = path.split("/").find((part) => !KEBAB.test(part));
    if (crooked !== undefined) report("file-name", 1, `${crooked} is not in kebab-case`);
  }
  if (path.endsWith(".test.ts") && !isInSuite(path))
    report("suite", 1, "no script runs the tests of this folder");
  if (!path.startsWith("src/") || !isScript(path)) return;
  if (ENTRIES.includes(path) || THREAD_ENTRY.includes(path)) return;
  const room = roomOf(path);
  if (room === undefined || !ROOMS.includes(room))
    report("room", 1, "CONTRIBUTING.md has no such room, and tools/tidy/source.mjs no such entry");
}

function isInSuite(path) {
  return [...QUICK_SUITES, ...SLOW_SUITES].some((suite) => path.startsWith(`test/${suite}/`));
}

/** Entries only re-export; no other file only re-exports. */
export function checkBarrel({ path, tree }, report) {
  if (!/^(src|assembly)\//.test(path)) return;
  const passesOn = (statement) => ts.isExportDeclaration(statement) && statement.moduleSpecifier;
  if (ENTRIES.includes(path) || path === "assembly/index.ts") {
    for (const statement of tree.statements) {
      if (passesOn(statement)) continue;
      report("entry", lineAt(tree, statement.getStart(tree)), "an entry holds re-exports only");
    }
    return;
  }
  const { statements } = tree;
  if (statements.length > 0 && statements.every(passesOn))
    report("barrel", 1, "only the public entries pass on what others export");
}

/** test/unit mirrors src: `<room>/<name>.test.ts`, or `<name>.<aspect>.test.ts` beside it. */
export function checkMirror(files, reportFor) {
  const paths = new Set(files.map((file) => file.path));
  for (const { path } of files) {
    const match = /^test\/unit\/(.+?)(\.[a-z0-9-]+)?\.test\.ts$/.exec(path);
    if (match === null) continue;
    const source = match[1].startsWith("assembly/") ? match[1] : `src/${match[1]}`;
    if (!paths.has(`${source}.ts`))
      reportFor(path)("mirror", 1, `there is no ${source}.ts that it could be the test of`);
  }
}
