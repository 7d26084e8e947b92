/**
 * The ledger's writers: no file but src/frontier/records/ledger.ts changes a counter of the frontier or of a rule, or a record's state, and
 * in the kernel none but assembly/records/ledger.ts (DESIGN §2: one transition is one change, one counter step, one entry, one event).
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
  const target = assigned(node);
  if (target !== undefined && ts.isPropertyAccessExpression(target)) {
    const isCount = COUNTS.includes(target.name.text) && HOLDERS.test(target.expression.getText());
    return isCount ? target.getText() : undefined;
  }
  if (!ts.isCallExpression(node)) return undefined;
  const { text } = node.expression;
  if (text === "setRecordState") return "a record's state";
  const isStore = text === "setWord" || text === "setFloat";
  const word = isStore ? node.arguments.find((each) => RULE_WORDS.test(each.text)) : undefined;
  return word?.text;
}

/** Words of rules, and the word of a record that holds its state. */
function writtenInKernel(node) {
  if (!ts.isCallExpression(node)) return undefined;
  const text = node.expression.getText();
  if (text !== "set" && text !== "bump" && !/^store$/.test(text)) return undefined;
  const found = node.arguments.find((each) =>
    /\b(RULE_QUEUE_(PENDING|LEASED|DONE|SERVED)|RECORD_STATE)_WORD\b/.test(each.getText()),
  );
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
