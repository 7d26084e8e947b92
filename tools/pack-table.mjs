/**
 * The mapping table of tr46 as two short texts, a tenth of its bytes in the package: rows follow one another, so that a row is a letter for
 * its status and its text, and how far its range goes. Most texts are the platform's own lower case of the compatible form: these are left
 * out.
 *
 *   [[0,44],2] [45,2] [65,1,"a"] [0xdf,1,"ss"]   ─ packTable ─▶   rows "G18,G,F,E"   texts "ss"
 *
 *   I1  What `unpackTable` makes of them is the table: packing fails else.
 *   I2  The same on every Node from the oldest on: texts of characters that the oldest does not know are kept (check-package.mjs tries it).
 */
import { deepStrictEqual } from "node:assert";
import { packText } from "./pack-text.mjs";

const FIRST_LETTER = 65;
const BETWEEN = "\n";
/** Where characters with a mapping were added after Unicode 15.1, which is the oldest Node's: first and last of each range. */
const ADDED = [
  [0x1c89, 0x1c89],
  [0xa7cb, 0xa7f1],
  [0x10d50, 0x10d65],
  [0x16ea0, 0x16eb8],
  [0x1ccd6, 0x1ccf9],
];

/** The source of a CommonJS module that exports the table. */
export function packTable(table) {
  let next = 0;
  const texts = [];
  const rows = table.map(([range, status, text]) => {
    const [first, last] = [range].flat();
    if (first !== next)
      throw new Error(`row ${first} (expected: ${next}, where the one before ends)`);
    next = (last ?? first) + 1;
    const isKept = text !== undefined && (isAdded(first) || lower(first) !== text);
    if (isKept) texts.push(text);
    const kind = text === undefined ? 0 : isKept ? 1 : 2;
    const letter = String.fromCharCode(FIRST_LETTER + 3 * status + kind);
    return last === undefined ? letter : letter + (last - first).toString(36);
  });
  const packed = [rows.join(), texts.join(BETWEEN)];
  deepStrictEqual(unpackTable(...packed), table);
  const given = packed.map((text) => packText(text, 'require("node:zlib")')).join();
  return `${lower}module.exports=(${unpackTable})(${given});`;
}

function isAdded(point) {
  return ADDED.some(([first, last]) => point >= first && point <= last);
}

// The source of both is in the package: they use nothing else of this file.

function lower(point) {
  return String.fromCodePoint(point).normalize("NFKC").toLowerCase().normalize("NFKC");
}

function unpackTable(rows, texts) {
  const all = texts.split("\n");
  let [first, at] = [0, 0];
  return rows.split(",").map((row) => {
    const [code, length] = [row.charCodeAt(0) - 65, Number.parseInt(row.slice(1), 36)];
    const range = row.length > 1 ? [first, first + length] : first;
    const [status, kind] = [Math.floor(code / 3), code % 3];
    const text = kind === 1 ? all[at++] : kind === 2 ? lower(first) : undefined;
    first += 1 + (length || 0);
    return text === undefined ? [range, status] : [range, status, text];
  });
}
