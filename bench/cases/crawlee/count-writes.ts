/**
 * Writes to files, by whomever in this process: the calls of node:fs that write are counted from the first `countWrites` on, also where a module
 * has imported them by name. Call it before a package is loaded that keeps them.
 */
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

type Calls = Record<string, (...values: unknown[]) => unknown>;

const CALLBACKS = ["write", "writev", "writeFile", "appendFile"];
const SYNC = ["writeSync", "writevSync", "writeFileSync", "appendFileSync"];

/** How many writes there were so far. */
export interface Writes {
  count: number;
}

/** Counts from now on. */
export async function countWrites(): Promise<Writes> {
  const writes: Writes = { count: 0 };
  const handle = await fs.promises.open(process.execPath, "r");
  const ofHandles = Object.getPrototypeOf(handle) as unknown as Calls;
  await handle.close();
  wrap(fs as unknown as Calls, [...CALLBACKS, ...SYNC], writes);
  wrap(fs.promises as unknown as Calls, ["writeFile", "appendFile"], writes);
  wrap(ofHandles, CALLBACKS, writes);
  syncBuiltinESMExports();
  return writes;
}

function wrap(home: Calls, names: readonly string[], writes: Writes): void {
  for (const name of names) {
    const plain = home[name] as Calls[string];
    home[name] = function counted(this: unknown, ...values: unknown[]): unknown {
      writes.count += 1;
      return plain.apply(this, values);
    };
  }
}
