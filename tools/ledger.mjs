/**
 * Prints the ledger of transitions (src/frontier/records/ledger.ts) as the table of ARCHITECTURE.md, read from the code.
 *
 *   node tools/ledger.mjs             writes it; test/tidy/ledger.test.ts fails where it is not current
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const SOURCE = fileURLToPath(new URL("../src/frontier/records/ledger.ts", import.meta.url));
const PAGE = fileURLToPath(new URL("../ARCHITECTURE.md", import.meta.url));
const BEGIN = "<!-- ledger: written by tools/ledger.mjs -->\n";
const END = "<!-- /ledger -->\n";

/**
 * Rows of a ledger's source: name, states before, state after, total, entry, event.
 *
 * @param {string} source
 * @returns {string[][]}
 */
export function rowsOf(source) {
  const tree = ts.createSourceFile("ledger.ts", source, ts.ScriptTarget.ES2023, true);
  /** @type {string[][]} */
  const rows = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isPropertyAssignment(node) && ts.isCallExpression(node.initializer)) {
      if (node.initializer.expression.getText() === "row") {
        const parts = node.initializer.arguments.map((each) => wordsOf(each.getText()));
        rows.push([node.name.getText(), ...parts]);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return rows;
}

/** `RECORD_PENDING`, `PENDING | WAITING`, `LOG_DONE`, `"done"` and `undefined` as words. @param {string} text */
function wordsOf(text) {
  if (text === "undefined" || text === "0") return "";
  const names = text.split("|").map((name) => name.trim().replace(/^(RECORD|STATE|LOG)_/, ""));
  return names.map((name) => name.replaceAll('"', "").toLowerCase()).join(", ");
}

/** The table. @param {string} source */
export function tableOf(source) {
  const head = ["transition", "from", "to", "total", "journal entry", "event"];
  const rows = [head, head.map(() => "---"), ...rowsOf(source)];
  return rows.map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

/** The page with its table made anew. @param {string} page @param {string} source */
export function withLedger(page, source) {
  const from = page.indexOf(BEGIN);
  const to = page.indexOf(END);
  if (from < 0 || to < from) throw new Error("ARCHITECTURE.md: no place for the ledger");
  return page.slice(0, from + BEGIN.length) + tableOf(source) + page.slice(to);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeFileSync(PAGE, withLedger(readFileSync(PAGE, "utf8"), readFileSync(SOURCE, "utf8")));
}
