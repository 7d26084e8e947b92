/**
 * The mapping table of tr46 as two short texts, a third of its bytes in the package: rows follow one another, so that a row is a letter for its
 * status and how far its range goes.
 *
 *   [[0,44],2] [45,2] [46,1,"a"]   ─ packTable ─▶   rows "C18,C,B"   texts "a"
 *
 *   I1  What `unpackTable` makes of them is the table: packing fails else.
 */
import { deepStrictEqual } from "node:assert";

const FIRST_LETTER = 65;
const BETWEEN = "\n";

/** The source of a CommonJS module that exports the table. */
export function packTable(table) {
  let next = 0;
  const texts = [];
  const rows = table.map(([range, status, text]) => {
    const [first, last] = [range].flat();
    if (first !== next)
      throw new Error(`row ${first} (expected: ${next}, where the one before ends)`);
    next = (last ?? first) + 1;
    if (text !== undefined) texts.push(text);
    const letter = String.fromCharCode(FIRST_LETTER + 2 * status + (text === undefined ? 0 : 1));
    return last === undefined ? letter : letter + (last - first).toString(36);
  });
  const packed = [rows.join(), texts.join(BETWEEN)];
  deepStrictEqual(unpackTable(...packed), table);
  return `module.exports=(${unpackTable})(${packed.map((text) => JSON.stringify(text)).join()});`;
}

/** Its source is in the package: it uses nothing of this file. */
function unpackTable(rows, texts) {
  const all = texts.split("\n");
  let [first, at] = [0, 0];
  return rows.split(",").map((row) => {
    const [code, length] = [row.charCodeAt(0) - 65, Number.parseInt(row.slice(1), 36)];
    const range = row.length > 1 ? [first, first + length] : first;
    first += 1 + (length || 0);
    return code % 2 === 1 ? [range, code >> 1, all[at++]] : [range, code >> 1];
  });
}
