/**
 * Limits and bans (CONTRIBUTING.md, Rules with teeth): length, width, number of parameters, and what is not allowed.
 */
import ts from "typescript";
import { isHotFunction, lineAt, visitAll, visitComments } from "./source.mjs";

const FUNCTION_LINES_MAX = 70;
const FILE_LINES_WARN = 300;
const FILE_LINES_MAX = 500;
const COLUMNS_MAX = 100;
const PARAMETERS_MAX = 4;
/** Hot code and the kernel may not allocate, so no options object can follow the fourth one. */
const PARAMETERS_HOT_MAX = 6;

/** Files that a tool, or a worker, reads through their default export. */
const CONFIG_FILE =
  /^[^/]+\.config\.ts$|^(examples\/[a-z-]+|test\/(support|guard))\/([a-z-]+-)?visit\.m?js$/;
/** Modules whose default export a tool looks for: a worker pool its handler, vitest its reporter. */
const LOADED_FILES = ["src/thread.ts", "tools/skips.mjs"];
/** The one declaration file that may say `namespace`: the platform's own name for it. */
const NAMESPACE_FILE = "src/kernel/webassembly.d.ts";
const SUITE_WORDS = ["describe", "suite"];
const TEST_WORDS = ["describe", "suite", "it", "test", "bench"];

export function checkShape(file, report) {
  checkLines(file, report);
  checkComments(file, report);
  visitAll(file.tree, (node) => {
    if (ts.isFunctionLike(node)) checkFunction(file, node, report);
    checkBans(file, node, report);
  });
  if (file.path.startsWith("src/")) checkModuleState(file, report);
}

function checkLines({ path, lines, tree }, report) {
  const count = lines.at(-1) === "" ? lines.length - 1 : lines.length;
  if (count > FILE_LINES_MAX) {
    report("file-lines", FILE_LINES_MAX + 1, `${count} lines (at most ${FILE_LINES_MAX})`);
  } else if (count > FILE_LINES_WARN && /^(src|assembly)\//.test(path)) {
    report("file-lines-warning", 1, `${count} lines (better at most ${FILE_LINES_WARN})`);
  }
  const withCode = linesWithCode(tree);
  const literals = /^(test|bench)\//.test(path) ? longLiterals(tree) : new Set();
  lines.forEach((line, index) => {
    const columns = [...line].length;
    if (columns > COLUMNS_MAX && withCode.has(index + 1) && !literals.has(index + 1))
      report("columns", index + 1, `${columns} columns (at most ${COLUMNS_MAX})`);
  });
}

/** Lines that hold a token: tables and diagrams in comments may be wider. */
function linesWithCode(tree) {
  const lines = new Set();
  const each = (node) => {
    const children = node.getChildren(tree);
    if (children.length === 0 && node.getEnd() > node.getStart(tree)) {
      const last = lineAt(tree, node.getEnd());
      for (let line = lineAt(tree, node.getStart(tree)); line <= last; line++) lines.add(line);
    }
    for (const child of children) if (!ts.isJSDoc(child)) each(child);
  };
  each(tree);
  return lines;
}

/** Lines on which a literal stands: test data cannot be broken. */
function longLiterals(tree) {
  const lines = new Set();
  visitAll(tree, (node) => {
    const kind = node.kind;
    if (kind < ts.SyntaxKind.FirstLiteralToken || kind > ts.SyntaxKind.LastTemplateToken) return;
    if (node.getEnd() - node.getStart(tree) < COLUMNS_MAX / 4) return;
    const last = lineAt(tree, node.getEnd());
    for (let line = lineAt(tree, node.getStart(tree)); line <= last; line++) lines.add(line);
  });
  return lines;
}

/** Open work needs an issue; a remark without one is forgotten. */
function checkComments({ tree }, report) {
  visitComments(tree, (text, position) => {
    const word = /\b(TODO|FIXME|XXX|HACK)\b(?!.*#\d+)/.exec(text);
    if (word !== null)
      report("todo", lineAt(tree, position + word.index), `${word[1]} without the issue (#n)`);
  });
}

function checkFunction({ path, tree }, node, report) {
  const line = lineAt(tree, node.getStart(tree));
  const isHot = path.startsWith("assembly/") || isHotFunction(node);
  const most = isHot ? PARAMETERS_HOT_MAX : PARAMETERS_MAX;
  if (node.parameters.length > most && node.body !== undefined)
    report("parameters", line, `${node.parameters.length} parameters (at most ${most})`);
  if (/^(src|assembly)\//.test(path) && node.parameters.filter(isBoolean).length > 1)
    report("booleans", line, "two booleans say nothing at the call");
  if (node.body === undefined || (path.startsWith("test/") && isSuite(node))) return;
  const count = lineAt(tree, node.getEnd()) - line + 1;
  if (count > FUNCTION_LINES_MAX)
    report("function-lines", line, `${count} lines (at most ${FUNCTION_LINES_MAX})`);
}

const isBoolean = ({ type }) =>
  type?.kind === ts.SyntaxKind.BooleanKeyword || type?.getText() === "bool";

/** The function given to `describe` only groups tests. */
function isSuite(node) {
  if (!ts.isCallExpression(node.parent)) return false;
  return SUITE_WORDS.includes(rootName(node.parent.expression));
}

/** `describe` of `describe.each(rows)`. */
function rootName(expression) {
  let at = expression;
  while (ts.isPropertyAccessExpression(at) || ts.isCallExpression(at)) at = at.expression;
  return ts.isIdentifier(at) ? at.text : "";
}

function checkBans({ path, tree }, node, report) {
  const say = (rule, message) => report(rule, lineAt(tree, node.getStart(tree)), message);
  if (node.kind === ts.SyntaxKind.AnyKeyword) say("any", "say what it is, or unknown");
  if (ts.isEnumDeclaration(node)) say("enum", "constants or a union of strings");
  if (ts.isModuleDeclaration(node) && path !== NAMESPACE_FILE && isNamespace(node))
    say("namespace", "a file is the namespace");
  const isRead = CONFIG_FILE.test(path) || LOADED_FILES.includes(path);
  if (isDefaultExport(node) && !isRead && !isForeign(node)) say("default-export", "give it a name");
  if (ts.isHeritageClause(node) && isInheritance(node)) say("inheritance", "only from Error");
  if (path.startsWith("test/") && ts.isPropertyAccessExpression(node)) {
    const only = node.name.text === "only" && TEST_WORDS.includes(rootName(node.expression));
    if (only) say("only", "the other tests would not run");
  }
}

/** Neither `declare module "x"` nor `declare global`: both describe what others made. */
function isNamespace(node) {
  const isGlobal = (node.flags & ts.NodeFlags.GlobalAugmentation) !== 0;
  return ts.isIdentifier(node.name) && !isGlobal;
}

/** Inside of `declare module "x"`, which says what a package of others exports. */
function isForeign(node) {
  const outer = node.parent?.parent;
  return outer !== undefined && ts.isModuleDeclaration(outer) && ts.isStringLiteral(outer.name);
}

function isDefaultExport(node) {
  if (ts.isExportAssignment(node)) return !node.isExportEquals;
  if (ts.isExportSpecifier(node)) return node.name.text === "default";
  return (
    ts.canHaveModifiers(node) &&
    (ts.getModifiers(node) ?? []).some((each) => each.kind === ts.SyntaxKind.DefaultKeyword)
  );
}

function isInheritance(clause) {
  if (clause.token !== ts.SyntaxKind.ExtendsKeyword || !ts.isClassLike(clause.parent)) return false;
  return !clause.types.every((type) => /^(\w*\.)?\w*Error$/.test(type.expression.getText()));
}

/** Constants only at the top of a module: state that changes belongs to an object with an owner. */
function checkModuleState({ tree }, report) {
  for (const statement of tree.statements) {
    if (!ts.isVariableStatement(statement)) continue;
    if ((statement.declarationList.flags & ts.NodeFlags.Const) !== 0) continue;
    if (statement.modifiers?.some((each) => each.kind === ts.SyntaxKind.DeclareKeyword)) continue;
    report("global-state", lineAt(tree, statement.getStart(tree)), "no state outside of objects");
  }
}
