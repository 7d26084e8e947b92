/** Where a suite's results go. */
import { join } from "node:path";
import { ROOT } from "../harness/machine.ts";
import { type SuiteObject, writeSuite } from "../harness/result-file.ts";

/** Writes everything that is made of a suite. */
export function publish(suite: SuiteObject): void {
  const path = writeSuite(join(ROOT, "bench/results"), suite);
  console.error(`\n  ${path.slice(ROOT.length)}`);
}
