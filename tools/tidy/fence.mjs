/**
 * The fence (CONTRIBUTING.md, Rules with teeth): who may touch shared memory, WebAssembly, files, clocks and chance. Names in types
 * are allowed everywhere: a room may receive what it may not make.
 */
import ts from "typescript";
import { isInType, lineAt, PURE_ROOMS, roomOf, visitAll } from "./source.mjs";

const SHARED_ROOMS = ["memory", "kernel", "structures", "workers"];
/** A crawl's threads share one table beside the frontier's memory, which is not theirs. */
const SHARED_FILES = ["src/crawl/threads/paused-hosts.ts"];
const BASE = ["base"];
/** Rooms that ask structures and url for what the kernel does. */
const ABOVE_THE_KERNEL = ["frontier", "persistence", "engine"];
/** Rooms 5 and above wait and promise; 0–4 do not. */
const WAITING_ROOMS = [
  "persistence",
  "workers",
  "engine",
  "integrations",
  "server",
  "crawl",
  "cli",
];

/** global name: [rule, rooms that may use its value] */
const GLOBALS = new Map([
  ["Atomics", ["fence-shared", SHARED_ROOMS]],
  ["SharedArrayBuffer", ["fence-shared", SHARED_ROOMS]],
  ["DataView", ["fence-shared", SHARED_ROOMS]],
  ["WebAssembly", ["fence-webassembly", ["kernel"]]],
  ["Date", ["fence-clock", BASE]],
  ["performance", ["fence-clock", BASE]],
  ["setTimeout", ["fence-clock", BASE]],
  ["setInterval", ["fence-clock", BASE]],
  ["clearTimeout", ["fence-clock", BASE]],
  ["clearInterval", ["fence-clock", BASE]],
  ["crypto", ["fence-chance", BASE]],
  ["setImmediate", ["fence-waiting", WAITING_ROOMS]],
  ["queueMicrotask", ["fence-waiting", WAITING_ROOMS]],
  ["Promise", ["fence-waiting", WAITING_ROOMS]],
]);
/** member of a global: [rule, rooms] */
const MEMBERS = new Map([
  ["Math.random", ["fence-chance", BASE]],
  ["process.hrtime", ["fence-clock", BASE]],
  ["process.uptime", ["fence-clock", BASE]],
  ["process.nextTick", ["fence-waiting", WAITING_ROOMS]],
]);
/** member of a global, or a global: the one file that may use it, the door of all text to a terminal */
const TERMINAL = ["process.stdout", "process.stderr", "process.emitWarning", "console"];
const TERMINAL_DOOR = "src/cli/io.ts";
/** Letters that begin a terminal's command, and where they may stand. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const ESCAPES = /[\x1b\x9b\x9d]/;
const ESCAPES_HOME = "src/cli/output/terminal-text.ts";
/** Where digests and signatures are made. */
const DIGESTS = new RegExp(
  "^src/(base/|((persistence/transfer/request|crawl/archive/body)-digest|crawl/identity/ed25519" +
    "|integrations/crawlee/request-id)\\.ts$)",
);
/** Who may use files. */
const FILE_USERS = new RegExp(
  `^src/(${[
    "persistence/files",
    "engine/kernel-file",
    "integrations/redis/server/lua-files",
    "crawl/files",
    "cli/.*",
  ].join("|")})\\.ts`,
);
/** platform module: [rule, paths that may import it] */
const MODULES = new Map([
  // A terminal can be opened, and a stream written to, without the process's own names for them.
  ["tty", ["fence-terminal", /^$/]],
  ["console", ["fence-terminal", /^$/]],
  ["process", ["fence-terminal", /^$/]],
  ["fs", ["fence-files", FILE_USERS]],
  ["fs/promises", ["fence-files", /^src\/(persistence\/files\.ts|cli\/)/]],
  ["perf_hooks", ["fence-clock", /^src\/base\//]],
  ["timers", ["fence-clock", /^src\/base\//]],
  ["timers/promises", ["fence-clock", /^src\/base\//]],
  // A digest and a signature are no chance: names that other programs give, and proofs that they ask for, are made of them.
  ["crypto", ["fence-chance", DIGESTS]],
]);

/** Objects through which every global can be reached under another name. */
const GLOBAL_OBJECTS = ["globalThis", "global"];

export function checkFence(file, report) {
  if (!file.path.startsWith("src/")) return;
  const room = roomOf(file.path) ?? "entry";
  const { tree } = file;
  visitAll(tree, (node) => {
    const broken = brokenBy(file, node, room);
    if (broken === undefined) return;
    const [rule, what] = broken;
    report(rule, lineAt(tree, node.getStart(tree)), `${what} does not belong in ${room}`);
  });
}

/** [rule, name] when the node reaches over the fence. */
function brokenBy(file, node, room) {
  if (ts.isIdentifier(node) && isValueOfGlobal(node)) {
    const fence = GLOBALS.get(node.text);
    const isFree = fence?.[0] === "fence-shared" && SHARED_FILES.includes(file.path);
    if (fence !== undefined && !isFree && !fence[1].includes(room)) return [fence[0], node.text];
  }
  if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
    const name = `${node.expression.text}.${node.name.text}`;
    const fence = MEMBERS.get(name);
    if (fence !== undefined && !fence[1].includes(room)) return [fence[0], name];
  }
  const written = writtenPast(file, node);
  if (written !== undefined) return ["fence-terminal", written];
  if (isWaiting(node) && PURE_ROOMS.includes(room)) return ["fence-waiting", "waiting"];
  const line = lineBroken(node, room);
  if (line !== undefined) return line;
  const module = importedModule(node);
  const fence = module === undefined ? undefined : MODULES.get(module.replace(/^node:/, ""));
  if (fence !== undefined && !fence[1].test(file.path)) return [fence[0], module];
  return undefined;
}

/** Lines between rooms that no import shows: bytes, the kernel's exports, what the journal needs to know. */
function lineBroken(node, room) {
  if (ts.isIdentifier(node) && room === "structures" && /journal/i.test(node.text))
    return ["fence-journal", node.text];
  if (!ts.isPropertyAccessExpression(node) && !ts.isBindingElement(node)) return undefined;
  const name = ts.isBindingElement(node) ? (node.propertyName ?? node.name) : node.name;
  if (room === "frontier" && name.text === "views" && /region|store/.test(sourceOf(node)))
    return ["fence-bytes", "a view of the region"];
  if (ABOVE_THE_KERNEL.includes(room) && name.text === "exports" && /kernel/.test(sourceOf(node)))
    return ["fence-kernel", "an export of the kernel"];
  return undefined;
}

/** The text of what a member is read from. */
function sourceOf(node) {
  if (ts.isPropertyAccessExpression(node)) return node.expression.getText();
  return node.parent.parent.initializer?.getText() ?? "";
}

/** What writes to a terminal past its door. */
function writtenPast({ path }, node) {
  if (path !== TERMINAL_DOOR) {
    if (ts.isIdentifier(node) && TERMINAL.includes(node.text) && isValueOfGlobal(node))
      return node.text;
    if (ts.isPropertyAccessExpression(node) && ts.isIdentifier(node.expression)) {
      const name = `${node.expression.text}.${node.name.text}`;
      if (TERMINAL.includes(name)) return name;
    }
    if (ts.isBindingElement(node) && isOfProcess(node)) {
      const name = `process.${(node.propertyName ?? node.name).getText()}`;
      if (TERMINAL.includes(name)) return name;
    }
  }
  const isText = ts.isStringLiteralLike(node) || ts.isTemplateHead(node);
  const isRest = ts.isTemplateMiddle(node) || ts.isTemplateTail(node);
  const isEscape = (isText || isRest) && path !== ESCAPES_HOME && ESCAPES.test(node.text);
  return isEscape ? "a terminal's command" : undefined;
}

/** `const { stdout } = process`. */
function isOfProcess(node) {
  const from = node.parent.parent.initializer;
  return from !== undefined && ts.isIdentifier(from) && from.text === "process";
}

/** A use of the global's value: not a type, not a property, not a name that is declared here. */
function isValueOfGlobal(node) {
  const { parent } = node;
  if (ts.isPropertyAccessExpression(parent) && parent.name === node)
    return ts.isIdentifier(parent.expression) && GLOBAL_OBJECTS.includes(parent.expression.text);
  const named =
    (ts.isPropertyAssignment(parent) ||
      ts.isPropertySignature(parent) ||
      ts.isMethodSignature(parent) ||
      ts.isMethodDeclaration(parent) ||
      ts.isPropertyDeclaration(parent) ||
      ts.isParameter(parent)) &&
    parent.name === node;
  if (named || ts.isModuleDeclaration(parent)) return false;
  // `x instanceof Date` asks what a caller handed in, not what time it is.
  if (
    ts.isBinaryExpression(parent) &&
    parent.operatorToken.kind === ts.SyntaxKind.InstanceOfKeyword &&
    parent.right === node
  )
    return false;
  return !isInType(node);
}

function isWaiting(node) {
  if (ts.isAwaitExpression(node)) return true;
  return ts.isFunctionLike(node) && node.body !== undefined && isAsync(node);
}

const isAsync = (node) =>
  (node.modifiers ?? []).some((each) => each.kind === ts.SyntaxKind.AsyncKeyword);

function importedModule(node) {
  const named = ts.isImportDeclaration(node) || ts.isExportDeclaration(node);
  const specifier = named
    ? node.moduleSpecifier
    : ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword
      ? node.arguments[0]
      : undefined;
  return specifier !== undefined && ts.isStringLiteral(specifier) ? specifier.text : undefined;
}
