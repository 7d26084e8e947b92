/** The process of one observation (harness/child.ts): does what its argument says and ends. */
import { obey } from "./harness/child.ts";

await obey(process.argv[2] as string);
