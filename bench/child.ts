/** The process of one observation (harness/child.ts): does what its argument says and ends. */
import { CASES } from "./cases/index.ts";
import { obey } from "./harness/child.ts";

await obey(CASES, process.argv[2] ?? "");
