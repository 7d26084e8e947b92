/** Holds for every test file: a table without rows is an error, since its test would check nothing and be counted nowhere. */
import { describe, test } from "vitest";

interface Tables {
  each: (...table: never[]) => unknown;
  for: (...table: never[]) => unknown;
}

const isDone = Symbol.for("outrider: tables without rows are refused");

// Files of one process share these functions, which are replaced once.
const apis = isDone in test ? [] : ([test, describe] as unknown as Tables[]);
Object.assign(test, { [isDone]: true });
for (const api of apis) {
  for (const way of ["each", "for"] as const) {
    const original = api[way] as (...table: unknown[]) => unknown;
    api[way] = function (this: unknown, ...table: unknown[]): unknown {
      const [rows] = table;
      if (Array.isArray(rows) && rows.length === 0)
        throw new Error(`${way}: a table without rows (expected: at least one)`);
      return original.apply(this, table);
    };
  }
}
