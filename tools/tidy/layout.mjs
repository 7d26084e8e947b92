/**
 * Layout files are bilingual: tsc and asc must read the same integers out of them.
 *
 *   export const NAME = <integer expression>;
 *
 * Every value, also of each part of an expression, is an integer that fits an i32, because asc
 * computes in i32; a result lies in [0, 2³¹). Rows `N  fieldName` of a header's table agree with the
 * constant `…_FIELD_NAME_WORD` of the same file, where there is one.
 */
import ts from "typescript";
import { lineAt } from "./source.mjs";

const NAME = /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*$/;
const I32_MIN = -(2 ** 31);
const I32_END = 2 ** 31;

const OPERATIONS = new Map([
  [ts.SyntaxKind.PlusToken, (a, b) => a + b],
  [ts.SyntaxKind.MinusToken, (a, b) => a - b],
  [ts.SyntaxKind.AsteriskToken, (a, b) => a * b],
  [ts.SyntaxKind.SlashToken, (a, b) => a / b],
  [ts.SyntaxKind.LessThanLessThanToken, (a, b) => a * 2 ** b],
  [ts.SyntaxKind.GreaterThanGreaterThanToken, (a, b) => a >> b],
  [ts.SyntaxKind.AmpersandToken, (a, b) => a & b],
  [ts.SyntaxKind.BarToken, (a, b) => a | b],
  [ts.SyntaxKind.CaretToken, (a, b) => a ^ b],
]);

export function checkLayout({ path, text, tree }, report) {
  if (!path.startsWith("src/layout/")) return;
  const values = new Map();
  for (const statement of tree.statements) {
    const wrong = addConstant(statement, values);
    if (wrong !== undefined) report("layout", lineAt(tree, statement.getStart(tree)), wrong);
  }
  checkTable(text, values, report);
}

/** Enters the statement's constant into `values`, or says what is wrong with it. */
function addConstant(statement, values) {
  const form = "not of the form export const NAME = <integer expression>;";
  if (!ts.isVariableStatement(statement)) return form;
  const { declarationList, modifiers } = statement;
  const isConst = (declarationList.flags & ts.NodeFlags.Const) !== 0;
  const isExported = modifiers?.length === 1 && modifiers[0].kind === ts.SyntaxKind.ExportKeyword;
  const [declaration, ...others] = declarationList.declarations;
  if (!isConst || !isExported || others.length > 0 || declaration.type !== undefined) return form;
  if (!ts.isIdentifier(declaration.name) || declaration.initializer === undefined) return form;
  const name = declaration.name.text;
  if (!NAME.test(name)) return `${name} is not in CAPITALS_WITH_UNITS`;
  const value = evaluate(declaration.initializer, values);
  if (value === undefined) return `${name} is not an integer expression of i32 parts`;
  if (value < 0) return `${name} = ${value} lies outside of [0, 2³¹)`;
  values.set(name, value);
  return undefined;
}

/** The value under both compilers, or undefined where they could differ. */
function evaluate(node, values) {
  const value = partOf(node, values);
  const fits = Number.isInteger(value) && value >= I32_MIN && value < I32_END;
  return fits ? value : undefined;
}

function partOf(node, values) {
  if (ts.isNumericLiteral(node)) return Number(node.text);
  if (ts.isIdentifier(node)) return values.get(node.text);
  if (ts.isParenthesizedExpression(node)) return evaluate(node.expression, values);
  if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.MinusToken)
    return -(evaluate(node.operand, values) ?? Number.NaN);
  if (!ts.isBinaryExpression(node)) return undefined;
  const left = evaluate(node.left, values);
  const right = evaluate(node.right, values);
  const operation = OPERATIONS.get(node.operatorToken.kind);
  if (left === undefined || right === undefined) return undefined;
  return operation?.(left, right);
}

function checkTable(text, values, report) {
  const rows = text.split("\n");
  rows.forEach((row, index) => {
    const match = /^ \* +(\d+) +([a-z][A-Za-z0-9]*)(?: {2}|$)/.exec(row);
    if (match === null) return;
    const field = match[2].replace(/[A-Z]/g, "_$&").toUpperCase();
    const named = [...values].filter(([name]) => name.endsWith(`_${field}_WORD`));
    if (named.length === 0 || named.some(([, value]) => value === Number(match[1]))) return;
    const [name, value] = named[0];
    report("layout-table", index + 1, `the table says ${match[1]}, ${name} is ${value}`);
  });
}
