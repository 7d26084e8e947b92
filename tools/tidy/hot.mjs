/**
 * Hot code (CONTRIBUTING.md, Rules with teeth): a function marked @hot allocates nothing and iterates by number. What only runs when
 * something is broken is free: a `throw`, and what is handed to an assert.
 */
import ts from "typescript";
import { isHotFunction, lineAt } from "./source.mjs";

const BANNED = new Map([
  [ts.SyntaxKind.ArrowFunction, "a closure"],
  [ts.SyntaxKind.FunctionExpression, "a closure"],
  [ts.SyntaxKind.SpreadElement, "a spread"],
  [ts.SyntaxKind.ForOfStatement, "an iterator"],
  [ts.SyntaxKind.BigIntLiteral, "a BigInt"],
  [ts.SyntaxKind.ObjectLiteralExpression, "an object"],
  [ts.SyntaxKind.ArrayLiteralExpression, "an array"],
  [ts.SyntaxKind.NewExpression, "an allocation"],
  [ts.SyntaxKind.TemplateExpression, "a new string"],
]);

export function checkHot({ path, tree }, report) {
  if (!path.startsWith("src/")) return;
  const each = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined && isHotFunction(node))
      checkBody(tree, node.body, report);
    ts.forEachChild(node, each);
  };
  each(tree);
}

function checkBody(tree, body, report) {
  const each = (node) => {
    if (ts.isThrowStatement(node) || isAssert(node)) return;
    const what = BANNED.get(node.kind);
    if (what === undefined) ts.forEachChild(node, each);
    else report("hot", lineAt(tree, node.getStart(tree)), `${what} in a function marked @hot`);
  };
  each(body);
}

const isAssert = (node) => ts.isCallExpression(node) && /^assert/.test(node.expression.getText());
