/**
 * The regular expressions of tr46 as one text, half of their bytes in the package: they hold the same long classes.
 *
 *   /[a-z]/u, named x  ─ packExpressions ─▶  [["x","[a-z]","u"]]
 *
 *   I1  What the source makes of it are the same expressions: packing fails else.
 */
import { deepStrictEqual } from "node:assert";
import { packText } from "./pack-text.mjs";

/** The source of a CommonJS module that exports them. */
export function packExpressions(expressions) {
  const rows = Object.entries(expressions).map(([name, { source, flags }]) => [
    name,
    source,
    flags,
  ]);
  const text = JSON.stringify(rows);
  deepStrictEqual(unpackExpressions(text), { ...expressions });
  return `module.exports=(${unpackExpressions})(${packText(text, 'require("node:zlib")')});`;
}

/** Its source is in the package: it uses nothing of this file. */
function unpackExpressions(text) {
  const rows = JSON.parse(text);
  return Object.fromEntries(rows.map(([name, source, flags]) => [name, new RegExp(source, flags)]));
}
