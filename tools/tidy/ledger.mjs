/**
 * The ledger's writers. Counters are read-only by their types, so that an alias does not write them either; this rule refuses what types do
 * not see, and a cast: no file but src/frontier/records/ledger.ts changes a counter of the frontier or of a rule, or a record's state, and
 * in the kernel none but assembly/records/ledger.ts (one transition is one change, one counter step, one entry, one event).
 */
import ts from "typescript";
import { lineAt, visitAll } from "./source.mjs";

const OWNER = "src/frontier/records/ledger.ts";
const KERNEL = "assembly/records/ledger.ts";
/** Fields of `Counters`, and of a rule's counts. */
const COUNTS = [
  ...["pushed", "accepted", "deferred", "duplicate", "rejected", "full", "retried", "expired"],
  ...["released", "lateResults", "leases", "pending", "waiting", "leased", "done", "failed"],
  ...["forgotten", "removed", "seen", "depths", "resting", "served"],
];
/** What holds them, by the names that they go under. */
const HOLDERS = /(^|\.)(counters|rule|sole|none|from|to|old)$|\bruleOf\w*\(.*\)$|\bruleAt\(.*\)$/;
const RULE_WORDS = /^RULE_QUEUE_(PENDING|LEASED|DONE|SERVED)_WORD$/;
const KERNEL_WORDS = /\b(RULE_QUEUE_(PENDING|LEASED|DONE|SERVED)|RECORD_STATE)_WORD\b/;
const ROOMS = /^src\/(frontier|persistence|engine|workers)\//;

export function checkLedger({ path, tree }, report) {
  if (path === OWNER || path === KERNEL) return;
  const isKernel = path.startsWith("assembly/");
  if (!isKernel && !ROOMS.test(path)) return;
  visitAll(tree, (node) => {
    const what = isKernel ? writtenInKernel(node) : written(node);
    if (what !== undefined) report("ledger", lineAt(tree, node.getStart(tree)), `writes ${what}`);
  });
}

function written(node) {
  // A name that stands for these would write where nothing here sees it.
  if (ts.isIdentifier(node) && node.text === "setRecordState") return "a record's state";
  if (ts.isIdentifier(node) && RULE_WORDS.test(node.text) && !isRead(node)) return node.text;
  const target = assigned(node);
  if (target !== undefined && ts.isPropertyAccessExpression(target)) {
    const isCount = COUNTS.includes(target.name.text) && HOLDERS.test(target.expression.getText());
    return isCount ? target.getText() : undefined;
  }
  return undefined;
}

/** Whether a word's name is imported under its own name, or what a read asks for. */
function isRead({ parent }) {
  if (ts.isImportSpecifier(parent)) return parent.propertyName === undefined;
  return ts.isCallExpression(parent) && /^(word|float)$/.test(parent.expression.getText());
}

/** Words of rules, and the word of a record that holds its state. */
function writtenInKernel(node) {
  if (ts.isImportSpecifier(node) || ts.isVariableDeclaration(node)) {
    const named = (node.propertyName ?? node.initializer)?.getText() ?? "";
    return KERNEL_WORDS.test(named) && !/\b(get|load)\b/.test(named) ? named : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const text = node.expression.getText();
  if (text !== "set" && text !== "bump" && !/^store$/.test(text)) return undefined;
  const found = node.arguments.find((each) => KERNEL_WORDS.test(each.getText()));
  // A store's value may be read from there.
  return found === undefined || /\b(get|load)\b/.test(found.getText())
    ? undefined
    : found.getText();
}

/** What an assignment or a step writes to. */
function assigned(node) {
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken;
    const isWrite = kind >= ts.SyntaxKind.FirstAssignment && kind <= ts.SyntaxKind.LastAssignment;
    return isWrite ? node.left : undefined;
  }
  const isStep =
    (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node)) &&
    (node.operator === ts.SyntaxKind.PlusPlusToken ||
      node.operator === ts.SyntaxKind.MinusMinusToken);
  return isStep ? node.operand : undefined;
}
