/**
 * Reads every message that the product can throw or print out of its sources, with placeholders for what is known at run time only.
 *
 *   new FrontierError(code, text) and the like ─┐
 *   write to standard error                    ─┴▶ their texts, evaluated ─▶ one line each ─▶ test/api/error-messages.txt
 *
 * A text is followed through constants, conditions, local functions and, for parameters, through the calls of the function around it.
 * What leads nowhere is a placeholder: `<value>`. Asserts of invariants are left out: no caller can do anything about one.
 */
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { Evaluator } from "./evaluate.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Classes of errors, and which argument is the message. The first two have a code before it. */
const ERRORS = new Map([
  ["FrontierError", 1],
  ["DownloadError", 1],
  ["UsageError", 0],
  ["TypeError", 0],
  ["Error", 0],
  ["InvariantError", 0],
]);
/** Names of errors that a command or a program shows with a text of their own. */
const TITLES = new Map([
  ["UsageError", "The command line"],
  ["TypeError", "Without a code"],
  ["Error", "Without a code"],
  ["InvariantError", "Broken invariants"],
]);
const ASSERT = "/base/assert.ts";
const PRINTED = "Printed on standard error";
const ADVICE = "Printed after an error's message";

/** All messages by the code or the place they belong to. @returns {Map<string, string[]>} */
export function readMessages(root = ROOT) {
  const { config } = ts.readConfigFile(`${ROOT}tsconfig.json`, ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);
  const files = ts.sys.readDirectory(`${root}src`, [".ts"]);
  const program = ts.createProgram(files, { ...options, noEmit: true });
  const sources = program.getSourceFiles().filter(({ fileName }) => files.includes(fileName));
  const spoken = sources.filter(({ fileName }) => !fileName.endsWith(ASSERT));
  const evaluator = new Evaluator(program.getTypeChecker(), sources);
  /** @type {Map<string, Set<string>>} */
  const found = new Map();
  const add = (/** @type {string} */ title, /** @type {string} */ text) => {
    const [line = ""] = text.trim().split("\n\n"); // what follows an empty line is the help
    const isDrawn = line.includes("\x1b") || !/[a-z]/i.test(line.replaceAll(/<[^>]*>/g, ""));
    if (isDrawn) return;
    const those = found.get(title) ?? new Set();
    found.set(title, those.add(line.replaceAll("\n", " / ")));
  };
  const visit = (/** @type {ts.Node} */ node) => {
    for (const [title, text] of messagesAt(node, evaluator)) add(title, text);
    ts.forEachChild(node, visit);
  };
  for (const source of spoken) visit(source);
  for (const advice of adviceOf(sources)) add(ADVICE, advice);
  const groups = [...found].map(([title, texts]) => /** @type {const} */ ([title, [...texts]]));
  for (const [, texts] of groups) texts.sort();
  return new Map(groups.sort(([a], [b]) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1)));
}

/** What an error that is made here, or a print, says: each with its title. @param {ts.Node} node @param {Evaluator} evaluator @returns {[string, string][]} */
function messagesAt(node, evaluator) {
  if (ts.isCallExpression(node) && isPrint(node.expression)) {
    const [text] = node.arguments;
    return text === undefined ? [] : evaluator.rowsOf([text]).map(([line = ""]) => [PRINTED, line]);
  }
  if (!ts.isNewExpression(node) || !ts.isIdentifier(node.expression)) return [];
  const at = ERRORS.get(node.expression.text);
  const message = at === undefined ? undefined : node.arguments?.[at];
  const [code] = node.arguments ?? [];
  if (message === undefined || code === undefined) return [];
  const title = TITLES.get(node.expression.text);
  if (title !== undefined) return evaluator.rowsOf([message]).map(([text = ""]) => [title, text]);
  return evaluator.rowsOf([code, message]).map(([name = "", text = ""]) => [titleOf(name), text]);
}

/** A code that its caller chooses stands for any misuse. @param {string} code */
function titleOf(code) {
  return code.startsWith("<") ? "Any code of misuse" : code;
}

/** Codes of FrontierError, those of a download, then what has none. @param {string} title */
function rankOf(title) {
  if (title === "Any code of misuse") return 0;
  return /^[A-Z_]+$/.test(title) ? 1 : /^[a-z]/.test(title) ? 2 : 3;
}

/** @param {ts.Expression} callee */
function isPrint(callee) {
  return /^(io\.err|(process\.)?stderr\.write|console\.(error|warn))$/.test(callee.getText());
}

/** The command line's `to do:` for each code. @param {readonly ts.SourceFile[]} sources */
function adviceOf(sources) {
  const source = sources.find(({ fileName }) => fileName.endsWith("cli/output/error-text.ts"));
  /** @type {string[]} */
  const lines = [];
  const visit = (/** @type {ts.Node} */ node) => {
    if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) {
      const { name, initializer } = node;
      const isAdvice = /^[A-Z_]+$/.test(name.text) && ts.isStringLiteralLike(initializer);
      if (isAdvice) lines.push(`${name.text}: to do: ${initializer.text}`);
    }
    ts.forEachChild(node, visit);
  };
  if (source !== undefined) visit(source);
  return lines;
}
